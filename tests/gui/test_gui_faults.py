"""What is wrong with files, in both languages: every sentence is held, and every template known.

``malformed/portuguese.txt`` has each fault of the tables of wrong files in English, and indented
below it what the window says. Run as a program this writes it anew.
"""

from __future__ import annotations

import ast
import asyncio
import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from msgspec import Raw
from msgspec.structs import replace
from PySide6.QtWidgets import QApplication

import agent
import gui.translations
from agent.api.phrases import as_raw, worded
from agent.api.rpc import ErrorCode, Problem
from agent.api.work import PlanReply
from agent.client import RequestError
from agent.client.inspecting import look_at_flight
from agent.protocol.phrases import Phrase, hinted, said
from gui import words
from gui.model.planning import refusals
from gui.translations import speak
from gui.wording import error_text
from gui.words import tr
from tests.workflow.malformed_table import TABLES, cases, faults_of, furnish, shortened

PORTUGUESE = TABLES[0].with_name("portuguese.txt")
AGENT = Path(next(iter(agent.__path__)))
CATALOGUE = Path(next(iter(gui.translations.__path__))) / "wingbeat_pt.ts"
HOLE = re.compile(r"(?<!\{)\{(\w+)\}")


@pytest.fixture(autouse=True)
def portuguese(qapp: QApplication) -> Iterator[None]:
    speak("pt")
    yield
    words.install(None)


def in_both_languages() -> str:
    with TemporaryDirectory() as made:  # its name is short, so that no sentence is cut
        folder = Path(made)
        furnish(folder)
        faults = [fault for case in cases() for fault in faults_of(case, folder)]
    told = {shortened(each.words(), folder): shortened(each.words(tr), folder) for each in faults}
    return "".join(f"{english}\n    {ours}\n" for english, ours in sorted(told.items()))


def test_every_fault_is_said_so_in_both_languages() -> None:
    assert in_both_languages() == PORTUGUESE.read_text("utf-8")


def templates_of(code: Path) -> Iterator[tuple[str, ast.Call]]:
    """Every template that the agent's code has, by the name that the translators' tool looks for."""
    texts = {path: path.read_text("utf-8") for path in sorted(code.rglob("*.py"))}
    for path, text in texts.items():
        for node in ast.walk(ast.parse(text)) if "said(" in text else ():
            if isinstance(node, ast.Call) and "said" in (
                getattr(node.func, "id", ""),
                getattr(node.func, "attr", ""),
            ):
                yield f"{path.relative_to(code)}:{node.lineno}", node


TEMPLATES = list(templates_of(AGENT))
"""Read while there is one thread: before Python 3.12, two at a time disturb each other's parsing."""


def test_templates_are_constants_and_their_holes_are_filled() -> None:
    wrong = []
    for place, call in TEMPLATES:
        template = ast.literal_eval(call.args[0])
        given = {each.arg for each in call.keywords} - {"hint"}
        # Those of tables are filled when they are told: whose it is, in which line it begins.
        if given != {*HOLE.findall(template)} - (set() if given else {"owner", "line"}):
            wrong.append(place)
    assert wrong == []


def test_every_template_has_its_portuguese_with_the_same_holes() -> None:
    ours = {
        message.findtext("source"): message.findtext("translation") or ""
        for message in ET.parse(CATALOGUE).iter("message")
    }
    found = [ast.literal_eval(call.args[0]) for _, call in TEMPLATES]
    assert len(found) > 150
    assert [each for each in found if not ours.get(each)] == []
    assert [each for each in found if {*HOLE.findall(each)} != {*HOLE.findall(ours[each])}] == []


def test_what_another_agent_says_is_shown_as_it_came() -> None:
    strange = Phrase("of a {later} version, {of.none:9999} {!r}", {"later": "better"})
    assert worded(strange, tr) == "of a better version,  "
    assert worded(Phrase("one } too many"), tr) == "one } too many"
    hint = said("known: {names}", names="a, b")
    assert worded(hinted(Phrase("of 2035"), hint), tr) == "of 2035; conhecidos: a, b"


def test_alternatives_and_parts_are_said_in_our_language() -> None:
    wanted = (said("a mapping"), said("a list"), "x or y")
    fault = said("{owner} must be {wanted}, not {given}", owner="a or b", wanted=wanted, given=7)
    assert worded(fault) == "a or b must be a mapping, a list or x or y, not 7"
    assert worded(fault, tr) == "a or b deve ser um mapa, uma lista ou x or y, não 7"


def test_what_a_node_would_refuse_is_said_in_our_words() -> None:
    wrong = said("task {task} names no program", task='"a"')
    told = PlanReply(False, (worded(wrong),), (), 0, 0)
    assert refusals(replace(told, wrong=(as_raw(wrong),))) == ['a tarefa "a" não diz o programa']
    assert refusals(told) == ['task "a" names no program'], "an agent of before"
    later = Raw(b'{"template":"{n} tasks","values":{"n":1.5}}')
    assert refusals(replace(told, wrong=(later,))) == ['task "a" names no program']
    assert refusals(None) == []


def test_a_refused_submission_is_said_in_our_words() -> None:
    wrong = said("task {task} names no program", task='"a"')
    refused = Problem(ErrorCode.REFUSED, worded(wrong), as_raw(wrong))
    assert error_text(RequestError(refused)) == 'a tarefa "a" não diz o programa'
    before = msgspec.json.decode(b'{"code": 1, "message": "no"}', type=Problem)
    assert error_text(RequestError(before)) == "no"
    assert error_text(OSError("no")) == "no"


def test_what_stands_against_a_plan_is_said_in_the_language_of_the_person(tmp_path: Path) -> None:
    """The program that plans knows no catalogue: it tells what its sentences are made of."""
    flight = tmp_path / "line 7"
    flight.mkdir()
    (flight / "a.las").write_bytes(b"nothing")
    (flight / "way.gpx").write_text("<gpx></gpx>")
    (flight / "b.las").write_bytes(b"")
    found = asyncio.run(look_at_flight(flight, {}))
    assert [worded(each) for each in found.said] == [*found.faults]
    assert found.faults_in(tr) == (
        "a.las: começa por b'noth'; esperava-se b'LASF'; não é um ficheiro LAS nem LAZ",
        "b.las: está vazio; esperava-se um ficheiro LAS ou LAZ; copie-o de novo de onde veio",
        (
            "way.gpx: não tem nenhum lugar com tempo; esperava-se uma trajetória; "
            "copie-o de novo de onde veio"
        ),
    )
    no_route = "no route was named: tiles lie along the principal axis"
    lived_with = replace(found, survived={no_route: 1, "lines that cannot be read": 3})
    assert lived_with.lived_with_in(tr) == (
        "não foi indicado percurso: os blocos seguem o eixo principal",
        "linhas que não se conseguem ler: 3",
    )


if __name__ == "__main__":
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    QApplication([])
    speak("pt")
    PORTUGUESE.write_text(in_both_languages(), "utf-8")
