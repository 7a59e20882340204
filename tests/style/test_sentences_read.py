"""No sentence is read, by window, command line or agent.

A fact travels as a reason or a fault, and words are made of it where people read. A pattern counts
that is matched against a sentence: an entry of a table of such patterns, an expression with words
in it, or words that a text is asked to begin with, to end with or to contain. What a client library
or a file format says is not ours and is no sentence here.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from tests.style.source import Source, parse, sources

NOT_OURS = {"agent/api/wording.py": "msgspec's own messages"}
READ_BACK = {
    "agent/protocol/reasons.py",
    "agent/api/reasons.py",
    "agent/control/naming.py",
    "agent/control/verbs/why.py",
    "agent/net/wire.py",
}
"""Where what came from elsewhere is read."""
READ = frozenset({"compile", "fullmatch", "match", "search", "sub", "findall", "finditer"})
_WORDS = re.compile(r"[A-Za-z>)]{2,},? \(?[A-Za-z(]")


def test_no_sentence_is_read() -> None:
    found = Counter(path for each in sources("agent", "gui") for path in patterns(each))
    assert {path: count for path, count in found.items() if path not in NOT_OURS} == {}


def test_a_pattern_is_seen() -> None:
    table = 'T: Table = ((r"its owner uses it", said), (r"paused", said))'
    assert len(list(patterns(parse("gui/a.py", table)))) == 2
    plain = 're.fullmatch(r"waits for (.+)", text)\nre.compile("[a-z]+")'
    assert len(list(patterns(parse("gui/a.py", plain)))) == 1
    part = 's.rstrip(".").endswith("attach it")\ns.startswith(("a", "no file"))\n"is not" not in s'
    assert len(list(patterns(parse("gui/a.py", part)))) == 3
    none = 's.endswith(".py") or "no file" in ("no file", x)'
    assert list(patterns(parse("gui/a.py", none))) == []


def patterns(source: Source) -> Iterator[str]:
    """The path of the source, once for each pattern that reads a sentence."""
    for node in source.nodes:
        match node:
            case ast.AnnAssign(annotation=annotation, value=ast.Tuple(elts=rows)) if (
                "Table" in ast.unparse(annotation)
            ):
                yield from (source.path for row in rows if isinstance(row, ast.Tuple))
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re"), attr=attr),
                args=[ast.Constant(value=str(text)), *_],
            ) if attr in READ and _WORDS.search(text):
                yield source.path
            case (
                ast.Call(func=ast.Attribute(attr="startswith" | "endswith"), args=[part, *_])
                | ast.Compare(
                    left=part,
                    ops=[ast.In() | ast.NotIn()],
                    comparators=[ast.Name() | ast.Attribute() | ast.Call()],
                )
            ) if _has_words(part):
                yield source.path
            case _:
                pass


def _has_words(part: ast.expr) -> bool:
    texts = (each.value for each in ast.walk(part) if isinstance(each, ast.Constant))
    return any(isinstance(text, str) and _WORDS.search(text) for text in texts)


def test_nothing_that_arises_here_travels_without_a_type() -> None:
    """``Opaque`` is for what others say: an older agent, a cause of a later version."""
    found = {
        source.path
        for source in sources("agent", "gui")
        for node in source.nodes
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Opaque")
    }
    assert found == READ_BACK
