"""The colours, as plain values, so that their contrast can be tested without a screen.

State colours are Okabe and Ito's, who chose them so that colour-blind people tell them apart;
in light they are darkened, in dark lightened, until text of their colour has a contrast of 4.5 : 1.
State is told by shape first: colour only repeats it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

TEXT_CONTRAST_MIN = 4.5


@dataclass(frozen=True, slots=True)
class Colours:
    """``surface``: lists and sheets; ``backdrop``: side bar and bars; ``raised``: hover, headers."""

    dark: bool
    surface: str
    backdrop: str
    raised: str
    selected: str
    line: str
    text: str
    quiet: str
    accent: str
    on_accent: str
    waiting: str
    ready: str
    running: str
    suspended: str
    person: str
    person_edge: str
    done: str
    failed: str
    cancelled: str
    warning_back: str
    warning_text: str
    track: str


LIGHT = Colours(
    dark=False,
    surface="#ffffff",
    backdrop="#f3f4f6",
    raised="#e9ebee",
    selected="#dbe7f5",
    line="#d5d8dd",
    text="#1b1f24",
    quiet="#57606a",
    accent="#0b63b0",
    on_accent="#ffffff",
    waiting="#68707a",
    ready="#0a70a8",
    running="#0068a8",
    suspended="#996300",
    person="#f0e442",
    person_edge="#6b6100",
    done="#007a58",
    failed="#bd4800",
    cancelled="#68707a",
    warning_back="#fdf1dc",
    warning_text="#5c3d00",
    track="#dfe2e6",
)

DARK = Colours(
    dark=True,
    surface="#1f2226",
    backdrop="#17191c",
    raised="#2b2f35",
    selected="#26405c",
    line="#383d44",
    text="#e8eaed",
    quiet="#a9b0ba",
    accent="#6cb3f0",
    on_accent="#0c1a27",
    waiting="#a2a9b3",
    ready="#56b4e9",
    running="#5fb0e6",
    suspended="#e69f00",
    person="#f0e442",
    person_edge="#f0e442",
    done="#2fc79a",
    failed="#ff8a4c",
    cancelled="#a2a9b3",
    warning_back="#3d3015",
    warning_text="#f5d79b",
    track="#3a4047",
)

STRONG_LIGHT = replace(
    LIGHT,
    backdrop="#ffffff",
    raised="#e4e6e9",
    selected="#bcd9f7",
    line="#4b5158",
    text="#000000",
    quiet="#24292f",
    accent="#00468a",
    waiting="#3d444d",
    ready="#004f78",
    running="#004a80",
    suspended="#6b4200",
    person_edge="#3d3700",
    done="#00563d",
    failed="#8f2f00",
    cancelled="#3d444d",
    warning_text="#3d2800",
    track="#b8bdc4",
)
STRONG_DARK = replace(
    DARK,
    surface="#000000",
    backdrop="#000000",
    raised="#26292e",
    selected="#123a63",
    line="#b4bac2",
    text="#ffffff",
    quiet="#e2e5e9",
    accent="#9ccfff",
    on_accent="#00182e",
    waiting="#d0d5db",
    ready="#9bd6fb",
    running="#a3d3f7",
    suspended="#ffc34d",
    done="#74ecc6",
    failed="#ffb08a",
    cancelled="#d0d5db",
    warning_back="#2b2005",
    warning_text="#ffe9bd",
    track="#565d66",
)
"""Where the system asks for high contrast: no grey on grey, lines that are seen."""

WORKFLOW_HUES = (
    ("#0068a8", "#5fb0e6"),
    ("#007a58", "#2fc79a"),
    ("#bd4800", "#ff8a4c"),
    ("#9a4a7d", "#d993bd"),
    ("#996300", "#e69f00"),
    ("#0a70a8", "#56b4e9"),
    ("#68707a", "#a2a9b3"),
)
"""For the time line, where colour tells workflows apart; (light, dark)."""


def contrast(one: str, other: str) -> float:
    """Return the ratio of luminances of two colours as WCAG 2 defines it, from 1 to 21."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def readable_accent(wanted: str, colours: Colours) -> str:
    """Return the wanted accent, that of the system, if text in it can be read on our surfaces, else
    our own."""
    surfaces = (colours.surface, colours.backdrop)
    fits = all(contrast(wanted, each) >= TEXT_CONTRAST_MIN for each in surfaces)
    return wanted if fits else colours.accent


def text_on(back: str) -> str:
    """Return black or white, whichever reads better on this colour."""
    return max("#ffffff", "#101418", key=lambda each: contrast(each, back))


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(int(colour[place : place + 2], 16)) for place in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: int) -> float:
    share = channel / 255
    return share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)
