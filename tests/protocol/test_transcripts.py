"""Golden transcripts: whole conversations as text, as a person would retell them.

Each scene of ``test_scenarios_*.py`` is played on the stage, asserts its own point in code, and is
compared with ``transcripts/<scene>.txt``. After an intended change of the protocol they are written
anew by ``WINGBEAT_REGENERATE=1 python -m pytest tests/protocol/test_transcripts.py`` and read.

A line is a time in seconds, who speaks (and to whom), and what. Heartbeats, digests, statuses and
elections are left out unless the scene is about them. "acor 2.001" names a claim of acor and its
stamp, "1.2 pato" attempt 2 of generation 1 on pato, "acor'" the second start of acor.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, get_args

import pytest

from agent.api.phrases import worded
from agent.protocol import effects as fx
from agent.protocol import messages as msg
from agent.protocol import records as rec
from agent.protocol.evidence import LIKE_ANY
from agent.wording.speech import english
from tests.protocol import (
    test_scenarios_claims,
    test_scenarios_election,
    test_scenarios_faults,
    test_scenarios_giving_way,
    test_scenarios_submission,
    test_scenarios_wishes,
)
from tests.protocol.stage import Stage
from tests.protocol.stage_machines import Entry

Scene = Callable[[], Stage]
TRANSCRIPTS = Path(__file__).parent / "transcripts"
SCENES: dict[str, Scene] = {
    name.removeprefix("scene_"): scene
    for module in (
        test_scenarios_submission,
        test_scenarios_claims,
        test_scenarios_election,
        test_scenarios_faults,
        test_scenarios_wishes,
        test_scenarios_giving_way,
    )
    for name, scene in vars(module).items()
    if name.startswith("scene_")
}
TABLES = {"DIGEST", "BUCKET_LIST", "ASK_RECORDS", "HOLDINGS"}
MASTERS = {"WHO_IS_MASTER", "START_ELECTION", "TRY_TO_BE_MASTER", "NEW_MASTER"}
QUIET = {"HELLO", "HB", "STATUS", "ASK_STATUS", "PROGRESS"} | TABLES | MASTERS


@pytest.mark.parametrize("name", SCENES)
def test_scene(name: str) -> None:
    told = Writer(SCENES[name]()).text()
    path = TRANSCRIPTS / f"{name}.txt"
    if os.environ.get("WINGBEAT_REGENERATE"):
        path.write_text(told, "utf-8")
    golden = path.read_text("utf-8") if path.exists() else ""
    if golden != told:
        texts = golden.splitlines(), told.splitlines()
        lines = difflib.unified_diff(*texts, "golden", "now", n=2, lineterm="")
        pytest.fail("\n".join([f"{name} goes otherwise:", *lines]), pytrace=False)


def test_every_transcript_has_a_scene() -> None:
    assert {path.stem for path in TRANSCRIPTS.iterdir()} == SCENES.keys()


def test_every_message_can_be_retold() -> None:
    assert set(Writer(Stage()).words) >= set(get_args(msg.Message))


class Writer:
    """Retells what happened on a stage."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self._quiet = QUIET - set(stage.shows)
        self._masters_told: dict[str, str] = {}
        self.words: dict[type, Callable[[Any], str]] = {
            **self._words_of_work(),
            **self._words_of_claims(),
            **self._words_of_tables(),
            **self._words_of_masters(),
            **self._words_of_effects(),
        }

    def text(self) -> str:
        """The transcript."""
        lines = [line for entry in self.stage.entries for line in self._lines(entry)]
        return "\n".join([*lines, "", "-- at the end", *self._standings()]).strip("\n") + "\n"

    def _lines(self, entry: Entry) -> list[str]:
        if not entry.who:
            return ["", f"-- {entry.what}"]
        what = self._what(entry)
        if what is None:
            return []
        arrow = " <- " if entry.note == "late" else " -> "
        who = arrow.join([entry.who, ", ".join(entry.to)] if entry.to else [entry.who])
        note = f" ({entry.note})" if entry.note else ""
        return [f"{entry.at_s:8.3f}  {who:<28}  {what}{note}".rstrip()]

    def _what(self, entry: Entry) -> str | None:
        """None when it is not worth a line."""
        what = entry.what
        if isinstance(what, str):
            return what
        words = self.words.get(type(what))
        if words is None:
            return None
        if not isinstance(what, msg.Message):
            return words(what)
        tag = str(what.__struct_config__.tag)
        if tag in self._quiet or what == msg.Records() or self._told_already(entry):
            return None
        return f"{tag} {words(what)}".rstrip()

    def _told_already(self, entry: Entry) -> bool:
        """Of heartbeats only those that tell of another master are worth a line."""
        if not isinstance(entry.what, msg.Heartbeat):
            return False
        told = self._masters_told.get(entry.who)
        self._masters_told[entry.who] = entry.what.master
        return told == entry.what.master

    def _standings(self) -> list[str]:
        """How each task reads, and for whom, if not for all alike."""
        lines: list[str] = []
        living = self.stage.living()
        for task in dict.fromkeys(task for node in living.values() for task in node.table.specs):
            standings: dict[str, list[str]] = {}
            for name, node in living.items():
                reading = node.table.reading(task)
                state = "not known" if reading is None else reading.state.value
                runs = self._life(node.table.life(task))
                standings.setdefault(f"{state} ({runs})", []).append(name)
            lines += [f"{task} for {', '.join(who)}: {how}" for how, who in standings.items()]
        return lines

    # -- messages ------------------------------------------------------------------------

    def _words_of_work(self) -> dict[type, Callable[[Any], str]]:
        return {
            msg.Enqueue: lambda m: (
                self._records(m.workflows, m.lives) + ", please confirm" * m.receipt
            ),
            msg.Stored: lambda m: ", ".join(m.workflows),
            msg.State: lambda m: self._records(m.workflows, m.lives, m.prunings),
            msg.Progress: lambda m: ", ".join(
                f"{item.task} {item.permille / 10:g} %" for item in m.items
            ),
            msg.GetTask: lambda m: m.task,
            msg.DoYouKnow: lambda m: m.task,
            msg.Known: lambda m: m.task,
            msg.TakeTask: lambda m: self._records([m.workflow], m.lives),
            msg.AlreadyFinished: lambda m: f"{m.task}; {self._records(prunings=[m.pruning])}",
            msg.Goodbye: lambda m: m.reason,
            msg.WokenForWork: lambda _: "",
        }

    def _words_of_claims(self) -> dict[type, Callable[[Any], str]]:
        return {
            msg.TryDequeue: lambda m: "; ".join(
                f"{o.task} by {self._claim(o.claim)}, known: {self._life(o.life)}" for o in m.claims
            ),
            msg.ClaimAnswers: self._answers,
            msg.Release: lambda m: ", ".join(
                f"{n.task} by {self._claim(n.claim)}" for n in m.claims
            ),
        }

    def _answers(self, answers: msg.ClaimAnswers) -> str:
        words = [f"consent: {n.task} by {self._claim(n.claim)}" for n in answers.consents]
        words += [f"busy: {n.task} by {self._claim(n.claim)} waits" for n in answers.busy]
        words += [f"better: {b.task} by {self._claim(b.claim)}" for b in answers.better]
        words += [f"known: {k.task} has {self._life(k.life)}" for k in answers.known]
        return "; ".join(words)

    def _words_of_tables(self) -> dict[type, Callable[[Any], str]]:
        return {
            msg.TasksTransfer: lambda _: "please",
            msg.Records: lambda m: (
                self._records(m.workflows, m.lives, m.prunings) + " and that is all" * m.last
            ),
            msg.Digest: lambda _: "of the table",
            msg.BucketList: lambda m: ", ".join(r.key for r in m.records) or "nothing",
            msg.AskRecords: lambda m: ", ".join(m.keys),
            msg.Holdings: lambda m: (
                ", ".join([*(f"+{each}" for each in m.added), *(f"-{each}" for each in m.removed)])
                or "nothing"
            ),
        }

    def _words_of_masters(self) -> dict[type, Callable[[Any], str]]:
        return {
            msg.Hello: lambda m: (
                f"I am {self._incarnation(m.name, m.incarnation)}, my table is "
                + ("complete" if m.has_table else "not complete yet")
            ),
            msg.Heartbeat: lambda m: f"master {m.master}, elected {self._stamp(m.elected)}",
            msg.Status: lambda m: (
                ("willing" if m.willing else f"not willing: {m.reason}")
                + f", neighbours: {', '.join(m.neighbours) or 'none'}"
            ),
            msg.AskStatus: lambda _: "please",
            msg.WhoIsMaster: lambda _: "",
            msg.StartNewMasterElection: lambda _: "",
            msg.TryToBeMaster: lambda m: (
                f"reputation {m.reputation}, tasks {m.tasks}, "
                f"stamp {self._stamp(m.stamp)}, name {m.name}"
            ),
            msg.NewMaster: lambda m: f"{m.master}, elected {self._stamp(m.elected)}",
        }

    # -- effects -------------------------------------------------------------------------

    def _words_of_effects(self) -> dict[type, Callable[[Any], str]]:
        return {
            fx.Persist: self._persist,
            fx.Unlink: lambda e: f"closes its link to {e.peer}: {english(e.why)}",
            fx.Fetch: lambda e: (
                "fetches "
                + ", ".join(f"{name} from {' or '.join(holders)}" for name, holders in e.inputs)
            ),
            fx.StartChild: lambda e: (
                f"STARTS {e.task}, run {self._run_name(e.run)}"
                + (f", from {e.checkpoint}" if e.checkpoint else "")
            ),
            fx.SuspendChild: lambda e: f"suspends {e.task}",
            fx.ResumeChild: lambda e: f"resumes {e.task}",
            fx.StopChild: lambda e: f"STOPS {e.task}: {e.reason}",
            fx.CopyOutputs: lambda e: f"copies output of {e.task} to {e.peers[0]}",
            fx.CopyCheckpoint: lambda e: f"copies the state of {e.task} to {e.peers[0]}",
            fx.Answer: self._answer,
            fx.OutcomeChanged: lambda e: (
                f"notice: the outcome of {e.task} was "
                f"{self._run_name(e.before)}, is {self._run_name(e.after)}"
            ),
            fx.WorkflowSafe: lambda e: f"notice: {e.workflow} is safe",
            fx.WorkflowGone: lambda e: f"notice: {e.workflow.spec.workflow} is gone",
            fx.CancelFinished: lambda e: f"notice: {e.task} is cancelled",
            fx.Stopped: lambda _: "may exit",
        }

    def _persist(self, effect: fx.Persist) -> str:
        what = [workflow.spec.workflow for workflow in effect.workflows]
        what += [part.task for part in effect.lives]
        what += [f"pruning of {pruning.workflow}" for pruning in effect.prunings]
        what += [f"forget {name}" for name in effect.forgotten_workflows + effect.forgotten_tasks]
        return f"[disk] {', '.join(what) or 'identity'}"

    def _answer(self, effect: fx.Answer) -> str:
        fault = worded(effect.fault) if effect.fault else effect.text
        words = [effect.verdict.value, fault, f"disks: {effect.disks}" * bool(effect.disks)]
        return f"answers: {', '.join(word for word in words if word)}"

    # -- records -------------------------------------------------------------------------

    def _records(
        self,
        workflows: Iterable[rec.Workflow] = (),
        lives: Iterable[rec.TaskLife] = (),
        prunings: Iterable[rec.Pruning] = (),
    ) -> str:
        words = [self._workflow(workflow) for workflow in workflows]
        words += [f"{part.task} {self._life(part.life)}" for part in lives]
        words += [f"{each.workflow} pruned up to generation {each.generation}" for each in prunings]
        return "; ".join(words) or "nothing"

    def _workflow(self, workflow: rec.Workflow) -> str:
        tasks = ", ".join(spec.task for spec in workflow.spec.tasks)
        generation = f", generation {workflow.generation}" * (workflow.generation > 1)
        return f"{workflow.spec.workflow} of {tasks}{generation}"

    def _life(self, life: rec.Life) -> str:
        words = [f"generation {life.generation}"] if life.generation > 1 else []
        words += [f"floor {life.floor}"] if life.floor else []
        words += [f"cancel {life.cancel}"] if life.cancel else []
        words += [f"{self._run_name(rec.run_name(r))} {_phase(r.phase)}" for r in life.runs]
        return ", ".join(words) or "no run"

    def _run_name(self, name: rec.RunName) -> str:
        generation, attempt, host, incarnation = name
        return f"{generation}.{attempt} {self._incarnation(host, incarnation)}"

    def _incarnation(self, host: str, incarnation: int) -> str:
        return host + "'" * self.stage.actors[host].incarnations.index(incarnation)

    def _claim(self, claim: rec.Claim) -> str:
        score = f" of score {claim.score}" * (claim.score != LIKE_ANY)
        return f"{claim.host} {self._stamp(claim.stamp)}{score}"

    def _stamp(self, stamp: rec.Stamp) -> str:
        wall_ms, counter = stamp
        return f"{(wall_ms - self.stage.origin_ms) / 1000:.3f}" + f"+{counter}" * bool(counter)


def _phase(phase: rec.Phase) -> str:
    match phase:
        case rec.Failed(text) | rec.Evicted(text) | rec.Yielded(text):
            return f"{type(phase).__name__} ({text})"
        case rec.Suspended(offered=True):
            return "Suspended and offered"
        case rec.Lost(ran=False):
            return "Lost before it ran"
        case _:
            return type(phase).__name__
