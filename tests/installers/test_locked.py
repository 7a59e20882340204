"""What is brought along: of the lock what runs, for the inspection what its extra names."""

from __future__ import annotations

import pytest

from installers.making.inspection import EXTRA, PYTHONS
from installers.making.locked import NEVER_LOADED, extra, runtime


@pytest.mark.parametrize("python", PYTHONS)
def test_each_python_has_one_version_of_each_library_of_the_inspection(python: str) -> None:
    found = extra(EXTRA, python)
    names = [each.name for each in found]
    assert {"numpy", "scipy", "laspy", "lazrs", "pyproj", "rasterio", "pillow"} <= set(names)
    assert len(names) == len(set(names))
    assert not any("win32" in each.marker for each in found)


def test_pythons_that_need_others_have_others() -> None:
    old, new = (
        {each.name: each.version for each in extra(EXTRA, each)} for each in ("3.11", "3.13")
    )
    assert old["numpy"] != new["numpy"]
    assert old["shapely"] == new["shapely"]


def test_what_agents_need_is_none_of_the_inspection_and_nothing_that_is_never_loaded() -> None:
    own = {each.name for each in runtime()}
    assert {"msgspec", "rich", "cryptography"} <= own
    assert not own & (NEVER_LOADED | {"numpy", "scipy", "pillow"})
