"""At 200 and 250 % a usual screen has a quarter of its room or less: nothing may lie outside of it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.desktop.office import Office, Window
from tests.desktop.virtual_desktop import PANEL_HEIGHT, VirtualDesktop, virtual_desktop

if sys.platform == "win32":
    pytest.skip("the desktop that these runs start is one of X11", allow_module_level=True)

EDGE = 1
"""What rounding to whole pixels makes of a scaled edge."""

pytestmark = pytest.mark.xdist_group("desktop")


@pytest.mark.parametrize(
    ("size", "factor"), [((1920, 1080), 2.0), ((2560, 1440), 2.5)], ids=["200 %", "250 %"]
)
def test_the_window_fits_the_screen_and_can_be_used(
    tmp_path: Path, size: tuple[int, int], factor: float
) -> None:
    with virtual_desktop(tmp_path, size) as desktop:
        office = Office(tmp_path, desktop)
        with office.window(QT_SCALE_FACTOR=str(factor)) as window:
            window.desktop.sees(lambda: window.tells("Ready to help"), "the agent is heard")
            _on_screen(desktop, window.frame, size)
            _on_screen(desktop, _dialog(desktop, "Welcome"), size)
            assert window.part("firstRunNext").enabled
            desktop.keys("Escape")
            _whole(window, factor)
            desktop.keys("ctrl+comma")
            _on_screen(desktop, _dialog(desktop, "Settings"), size)


def _dialog(desktop: VirtualDesktop, title: str) -> str:
    desktop.sees(lambda: desktop.in_front().startswith(title), f"{title} is in front")
    return desktop.windows("--name", f"^{title}")[-1]


def _on_screen(desktop: VirtualDesktop, frame: str, size: tuple[int, int]) -> None:
    """Where the window manager leaves it: it may still be on its way there."""

    def inside() -> bool:
        left, top, width, height = desktop.extents(frame)
        return (
            min(left, top) >= 0
            and min(width, height) > 0
            and left + width <= size[0]
            and top + height <= size[1] - PANEL_HEIGHT
        )

    desktop.sees(inside, f"it is on the screen as a whole, and not {desktop.extents(frame)}")


def _whole(window: Window, factor: float) -> None:
    """What stands at the edges; a screen reader is told places in pixels of 100 %."""
    left, top, width, height = (each / factor for each in window.desktop.extents(window.frame))
    for name in ("workflowsFilter", "settingsButton", "pauseButton", "presenceSentence"):
        x, y, wide, high = window.part(name).extents
        assert min(wide, high) > 0, name
        assert x >= left - EDGE, name
        assert y >= top - EDGE, name
        assert x + wide <= left + width + EDGE, name
        assert y + high <= top + height + EDGE, name
