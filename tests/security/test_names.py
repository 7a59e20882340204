"""Names that say something else than they are: refused where they are new, shown as they are where
they are old."""

from __future__ import annotations

import argparse
import logging
import unicodedata
from pathlib import Path

import msgspec
import pytest

from agent.api.phrases import worded
from agent.api.reasons import Opaque
from agent.api.volunteering import VolunteerRules
from agent.api.work import Submit, Task
from agent.commands.agent import _name as name_of_machine
from agent.commands.submit import name_of_workflow
from agent.control.estimates import TaskProgress
from agent.control.verbs.submitting import submission
from agent.control.views import Views
from agent.host.logs import LineFormatter
from agent.presence.rules import faults
from agent.protocol.admission import fault_of
from agent.protocol.names import NAME_CHARACTERS_MAX, fault_of_name, visible
from agent.protocol.phrases import said
from agent.protocol.records import PriorityWish, TaskSpec, Workflow, WorkflowSpec
from agent.protocol.settings import Settings
from agent.protocol.table import Table
from agent.settings.node_settings import read_value
from agent.wording.speech import english
from agent.workflow.one_program import Alone, describe_file
from agent.workflow.program_yaml import wrong_name as wrong_program
from agent.workflow.reading import Asked
from tests.control.serving import Serving, greeted, workflow

HIDDEN = {
    "bidi override": "report\u202egpj.exe",
    "isolate": "a\u2066b",
    "escape": "red\x1b[31m",
    "bell": "ring\x07",
    "line end": "two\nlines",
    "zero width": "ad\u200bmin",
    "joiner": "ad\u200dmin",
    "byte order mark": "\ufeffadmin",
    "tag": "admin\U000e0041",
    "filler": "ad\u3164min",
    "line separator": "two\u2028lines",
}
FINE = ["survey", "Vermessung Süd", "調査 3", "flight-7 (final)", "❤\ufe0f", "x" * 200]
each_hidden = pytest.mark.parametrize("name", HIDDEN.values(), ids=HIDDEN)


@each_hidden
def test_control_and_bidi_names_refused_everywhere(name: str, tmp_path: Path) -> None:
    """In a file, in what a client sends, and where it would become a record."""
    fault = fault_of_name(name)
    assert fault is not None
    assert "cannot be seen" in worded(fault)
    assert worded(fault).isprintable()
    for told in (
        Submit(name, (Task("a", "copy"),)),
        Submit("w", (Task(name, "copy"),)),
        Submit("w", (Task("a", name),)),
    ):
        wrong = fault_of(submission(told, "ann", "node", {}), Table(Settings()))
        assert wrong is not None, told
        assert "cannot be seen" in worded(wrong)
    path = tmp_path / "w.wingbeat.yaml"
    if "\n" not in name and "\u2028" not in name:
        path.write_bytes(msgspec.json.encode({"name": name, "tasks": {"a": {"program": "copy"}}}))
        found = describe_file(path, Asked({}), Alone())
        assert found.workflow is None
        assert all(each.sentence().isprintable() for each in found.faults)


@each_hidden
async def test_a_client_is_told_in_one_plain_sentence(there: Serving, name: str) -> None:
    async with greeted(there) as client:
        for wanted in (workflow(name), workflow(submitter=name)):
            _, sentence = await client.refusal("submit", wanted)
            assert "cannot be seen" in sentence
            assert sentence.isprintable()
    assert there.node.table.workflows == {}


@each_hidden
def test_machines_tags_and_programs_have_such_names_neither(name: str) -> None:
    for key, value in (("name", name), ("tags", [name])):
        with pytest.raises(ValueError, match="cannot be seen") as wrong:
            read_value(key, value)
        assert str(wrong.value).isprintable()
    for typed in (name_of_machine, name_of_workflow):
        with pytest.raises(argparse.ArgumentTypeError, match="cannot be seen"):
            typed(name)
    assert wrong_program(f"p{name}p") is not None
    assert faults(VolunteerRules(people=(name,))) != []


def test_what_is_typed_in_parts_of_letters_is_put_together() -> None:
    parts = unicodedata.normalize("NFD", "Süd")
    assert (read_value("name", parts), name_of_machine(parts)) == ("Süd", "Süd")
    assert (read_value("tags", [parts]), name_of_workflow(parts)) == (("Süd",), "Süd")
    assert wrong_program(parts) is not None


@pytest.mark.parametrize("name", FINE)
def test_other_names_are_names(name: str) -> None:
    assert fault_of_name(name) is None
    assert visible(name) == name
    event = submission(Submit(name, (Task("a", "copy"),)), "ann", "node", {})
    assert fault_of(event, Table(Settings())) is None


def test_names_are_short_and_of_whole_letters() -> None:
    long, parts = fault_of_name("x" * (NAME_CHARACTERS_MAX + 1)), fault_of_name("Su\u0308d")
    assert long is not None
    assert "more than 200 characters" in worded(long)
    assert parts is not None
    assert "whole letters (NFC)" in worded(parts)


def test_a_file_named_in_parts_of_letters_has_a_name(tmp_path: Path) -> None:
    path = tmp_path / "Su\u0308d.wingbeat.yaml"
    path.write_text("tasks: {a: {program: copy}}\n")
    found = describe_file(path, Asked({}), Alone()).workflow
    assert found is not None
    assert found.submit.name == "S\u00fcd"


@each_hidden
async def test_records_of_older_versions_are_kept_and_shown(there: Serving, name: str) -> None:
    """As a peer tells them: another one would have other replicas."""
    spec = WorkflowSpec("w" * 32, name, (1, 0), "node", name, (TaskSpec("t" * 32, name, "copy"),))
    there.node.table.join([Workflow(spec, PriorityWish(0, "node", 50))])
    view = Views(there.node.now(), TaskProgress())
    shown = view.workflow(there.node.table.workflows["w" * 32])
    assert shown.name.isprintable()
    assert "<U+" in shown.name


def test_sentences_and_logs_show_what_cannot_be_seen() -> None:
    name = HIDDEN["bidi override"]
    assert worded(said("there is no {name}", name=name)) == "there is no report<U+202E>gpj.exe"
    assert english(Opaque(f"because of {name}")) == "because of report<U+202E>gpj.exe"
    record = logging.LogRecord("w", logging.INFO, "", 1, "%s\tends", (HIDDEN["escape"],), None)
    record.severity = "info"
    assert "\x1b" not in LineFormatter().format(record)
    assert "red<U+001B>[31m" in LineFormatter().format(record)
