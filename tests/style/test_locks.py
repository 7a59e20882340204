"""What the two locks promise: no word of where packages come from, and lower bounds that are tried.

A lower bound that no test ever runs with is a guess. `tests/places/lowest.lock` pins what
pyproject.toml calls the oldest that works, so a bound that changes must change there too.
"""

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.style.source import REPOSITORY

LOWEST = "tests/places/lowest.lock"


@pytest.mark.parametrize("name", ["requirements.lock", LOWEST])
def test_a_lock_names_no_place_to_fetch_from(name: str) -> None:
    lock = (REPOSITORY / name).read_text("utf-8")
    assert re.findall(r"\w+://\S+|^--?\w*(?:index|find-links|host)\S*.*", lock, re.MULTILINE) == []


def test_every_lower_bound_is_what_the_lowest_lock_pins() -> None:
    pins = pinned((REPOSITORY / LOWEST).read_text("utf-8"))
    bounds = {canonicalize_name(each.name): lower_bound(each) for each in direct_dependencies()}
    assert {name: pins[name] for name in bounds if not is_lowest(pins[name], bounds[name])} == {}


def is_lowest(pin: str, bound: str) -> bool:
    """Tell whether a pin is the bound itself or a first release of it: 3.6.1 for 3.6."""
    return f"{pin}.".startswith(f"{bound}.")


def lower_bound(requirement: Requirement) -> str:
    return next(each.version for each in requirement.specifier if each.operator == ">=")


def pinned(lock: str) -> dict[str, str]:
    return dict(re.findall(r"^([\w-]+)==(\S+)", lock, re.MULTILINE))


def direct_dependencies() -> list[Requirement]:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    return [
        Requirement(each)
        for each in [*project["dependencies"], *extras["dev"], *extras["inspection"]]
    ]
