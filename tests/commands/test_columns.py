"""Tables in windows: what is short stays whole, what is long gives way, and nothing is lost."""

from __future__ import annotations

import pytest

from agent.commands.columns import column_widths, stacked_rows


@pytest.mark.parametrize(
    ("natural", "window", "widths"),
    [
        ([28, 10, 5], 200, [28, 10, 5]),
        ([28, 10, 5], 47, [28, 10, 5]),
        ([28, 10, 5], 46, [27, 10, 5]),
        ([28, 10, 5, 13, 18, 70], 80, [14, 10, 5, 13, 14, 14]),
        ([33, 7, 4, 8, 14, 4, 5], 80, [26, 7, 4, 8, 14, 4, 5]),
        ([33, 7, 4, 8, 14, 4, 5], 50, None),
        ([4], 80, [4]),
        ([], 80, []),
    ],
)
def test_widths(natural: list[int], window: int, widths: list[int] | None) -> None:
    assert column_widths(natural, window) == widths


def test_where_a_table_is_too_wide_rows_are_told_line_by_line() -> None:
    header = ("TASK", "STATE", "REASON")
    rows = [("first", "Terminated", ""), ("check", "Waiting", "look at the pylons of the line")]
    assert list(stacked_rows(header, rows, 30)) == [
        "first",
        "  STATE   Terminated",
        "",
        "check",
        "  STATE   Waiting",
        "  REASON  look at the pylons",
        "          of the line",
    ]
