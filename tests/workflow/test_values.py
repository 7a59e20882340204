"""Values as they are written, read and handed on: types, amounts, parameters, text beside a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.workflow.faults import Faults, Place
from agent.workflow.kinds import Word
from agent.workflow.local_files import LocalFiles
from agent.workflow.parameters import parameters_text
from agent.workflow.schema import text_of
from agent.workflow.variables import guessed_type
from agent.workflow.xml_graph import type_of, value_of
from agent.workflow.yaml_nodes import Mapping, Node, read_yaml

HERE = Place(3, 4)


def value_in(yaml: str, faults: Faults) -> Node:
    read = read_yaml(f"x: {yaml}".encode(), faults)
    assert isinstance(read, Mapping)
    return read.entries[0].value


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("7", "Number", 7),
        ("-0.5e1", "Number", -5.0),
        ("7", "String", "7"),
        ("true", "Boolean", True),
        ("[1, [2]]", "Array", [1, [2]]),
        ('{"a": null}', "Object", {"a": None}),
        ("anything", "undefined", None),
        ("anything", "null", None),
        ("[7]", "", [7]),
    ],
)
def test_a_value_of_its_type(text: str, kind: str, value: Any) -> None:
    faults = Faults("w.xml")
    assert value_of(text, kind, "v", HERE, faults) == value
    assert not faults.listing()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("true", "Number"),
        ("1e400", "Number"),
        ("NaN", "Number"),
        ("-Infinity", "Number"),
        ("1", "Boolean"),
        ("{}", "Array"),
        ("[]", "Object"),
        ("[", "Array"),
        ("[" * 100_000, "Array"),
        ('"7"', "Number"),
    ],
)
def test_a_value_of_another_type(text: str, kind: str) -> None:
    faults = Faults("w.xml")
    assert value_of(text, kind, "v", HERE, faults) is None
    (fault,) = faults.listing()
    assert fault.sentence().startswith(f"w.xml:3:4: v is no {kind}: ")


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, "Boolean"),
        (1, "Number"),
        (0.5, "Number"),
        ("", "String"),
        ([], "Array"),
        (None, "null"),
        ({}, "Object"),
    ],
)
def test_the_name_of_a_type(value: Any, kind: str) -> None:
    assert type_of(value) == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("true", "flag"),
        ("7", "whole"),
        ("-7", "whole"),
        ("7.5", "number"),
        ("1e3", "number"),
        ("7 m", "text"),
        ("", "text"),
    ],
)
def test_what_is_not_said_is_guessed(text: str, kind: str) -> None:
    assert guessed_type(text) == kind


@pytest.mark.parametrize(
    ("yaml", "form", "text"),
    [
        ("", "json", ""),
        ("just words", "json", "just words"),
        ("{a: 1, b: [true, null, 'x', 1.5, 1e999]}", "json", None),
        ("{a: 1, b: two words, c: [1, 2]}", "arguments", "--a 1 --b 'two words' --c 1 --c 2"),
        ("{a: true, b: false, c: , d: 'true'}", "arguments", "--a --c --d true"),
        ("[one, 'two words', [three], '']", "arguments", "one 'two words' three ''"),
        ("[{a: 1}, b]", "arguments", "--a 1 b"),
        ("[~, null, a]", "arguments", "'' '' a"),
        ("{a: 1, b: [x, y]}", "xml", "<parameters><a>1</a><b>x</b><b>y</b></parameters>"),
        (
            "{a: {b: 'x < y'}, c: }",
            "xml",
            "<parameters><a><b>x &lt; y</b></a><c></c></parameters>",
        ),
        (
            "[1, [2]]",
            "xml",
            "<parameters><item>1</item><item><item>2</item></item></parameters>",
        ),
    ],
)
def test_parameters_in_their_forms(yaml: str, form: str, text: str | None) -> None:
    faults = Faults("w.yaml")
    node = value_in(yaml, faults)
    wanted = '{"a": 1, "b": [true, null, "x", 1.5, "1e999"]}' if text is None else text
    assert parameters_text(node, form, faults) == wanted
    assert not faults.listing()


@pytest.mark.parametrize(
    ("yaml", "form", "sentence"),
    [
        ("{a: {b: 1}}", "arguments", "w.yaml:1:8: --a cannot have a mapping as its argument"),
        ("{a b: 1}", "xml", 'w.yaml:1:5: "a b" is no name that XML allows'),
    ],
)
def test_parameters_that_a_form_does_not_have(yaml: str, form: str, sentence: str) -> None:
    faults = Faults("w.yaml")
    parameters_text(value_in(yaml, faults), form, faults)
    assert [each.sentence() for each in faults.listing()] == [sentence]


# -- files beside the workflow -----------------------------------------------------------------


def word(text: str) -> Word:
    return Word.at(HERE, text)


def said(faults: Faults, folder: Path) -> list[str]:
    return [each.words().replace(str(folder), "FOLDER") for each in faults.listing()]


@pytest.mark.parametrize(
    ("content", "limit", "text", "sentence"),
    [
        (b"seven", 5, "seven", None),
        (b"seven", 4, None, '"f.txt" is too long: at most 4 characters fit'),
        ("äöü€".encode(), 4, "äöü€", None),
        ("😀😀".encode(), 2, "😀😀", None),
        (b"\xef\xbb\xbfone", 3, "one", None),
        (b"\xff", 9, None, '"f.txt" is no text in UTF-8'),
    ],
)
def test_the_text_of_a_file(
    tmp_path: Path, content: bytes, limit: int, text: str | None, sentence: str | None
) -> None:
    (tmp_path / "f.txt").write_bytes(content)
    faults = Faults("w.yaml")
    assert LocalFiles(tmp_path, faults).text(word("f.txt"), limit, HERE) == text
    assert said(faults, tmp_path) == ([sentence] if sentence else [])


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("folder", '"folder" cannot be read: Is a directory'),
        ("f.text", 'there is no file "f.text" in "FOLDER"; did you mean f.txt?'),
        ("FOLDER/f.text", 'there is no file "FOLDER/f.text"; did you mean f.txt?'),
        ("dangling", '"dangling" is a link to something that is not there'),
        ("x" * 300, f'"{"x" * 300}" cannot be looked at: File name too long'),
        ("a\0b", '"a<U+0000>b" is no name that a file can have'),
        ("f.txt/b", 'there is no file "f.txt/b" in "FOLDER"'),
    ],
)
def test_text_that_is_not_there(
    tmp_path: Path, name: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.workflow.faults.SHOWN_CHARACTERS_MAX", 1_000)
    (tmp_path / "f.txt").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    faults = Faults("w.yaml")
    name = name.replace("FOLDER", str(tmp_path))
    assert LocalFiles(tmp_path, faults).text(word(name), 9, HERE) is None
    assert said(faults, tmp_path) == [sentence]


def test_how_its_author_calls_a_file(tmp_path: Path) -> None:
    files = LocalFiles(tmp_path / "here", Faults("w.yaml"))
    assert files.relative(tmp_path / "here" / "a" / "b.txt") == "a/b.txt"
    assert files.relative(tmp_path / "c.txt") == (tmp_path / "c.txt").as_posix()


def test_a_pattern_does_not_follow_a_circle_of_links(tmp_path: Path) -> None:
    (tmp_path / "one.las").touch()
    (tmp_path / "loop.las").symlink_to(tmp_path / "loop.las")
    faults = Faults("w.yaml")
    found = LocalFiles(tmp_path, faults).named(word("*.las"))
    assert [each.name for each in found if each.exists()] == ["one.las"]


def test_a_schema_is_published_as_people_read_it() -> None:
    assert text_of({"a": ["ä"]}) == '{\n  "a": [\n    "ä"\n  ]\n}\n'
