"""Help in narrow terminals: nothing but what people copy is wider than the window."""

from __future__ import annotations

import pytest

from agent.cli import COMMANDS, main
from agent.commands.folding import folded, wrapped_lines

INDENTED = "  "


@pytest.mark.parametrize("columns", [50, 80])
@pytest.mark.parametrize("command", ["", *sorted(COMMANDS)])
def test_help_fits_the_window(
    command: str, columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    with pytest.raises(SystemExit) as ended:
        main([*command.split(), "--help"])
    said = capsys.readouterr().out
    assert ended.value.code == 0
    wide = [line for line in said.splitlines() if len(line) > columns]
    assert [line for line in wide if not line.startswith(INDENTED)] == []
    assert said.count("exit codes:") == 1


def test_paragraphs_are_filled_and_lists_keep_their_columns() -> None:
    text = (
        "Show what goes on,\nuntil somebody ends it.\n\nexamples:\n"
        "  wingbeat show a-very-long-name-of-a-workflow\n\nexit codes:\n"
        "  0   done\n  10  it was told something that makes no sense"
    )
    assert list(folded(text, 34)) == [
        "Show what goes on, until somebody",
        "ends it.",
        "",
        "examples:",
        "  wingbeat show a-very-long-name-of-a-workflow",
        "",
        "exit codes:",
        "  0   done",
        "  10  it was told something that",
        "      makes no sense",
    ]


def test_sentences_break_between_words_and_points_stay_points() -> None:
    lines = [
        "copy has all that it needs; no machine helps now",
        "- alder could run it, and its slot is taken",
        "  12:00  Running on birch (the program started again)",
        "a time that is long  it breaks as it comes",
        "",
        "sha256:" + "0" * 40,
    ]
    assert list(wrapped_lines(lines, 30)) == [
        "copy has all that it needs; no",
        "machine helps now",
        "- alder could run it, and its",
        "  slot is taken",
        "  12:00  Running on birch (the",
        "         program started",
        "         again)",
        "a time that is long  it breaks",
        "as it comes",
        "",
        "sha256:" + "0" * 40,
    ]
