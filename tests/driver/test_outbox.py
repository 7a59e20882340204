"""Effects and commits: what waits for what."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import msgspec
import pytest

from agent.driver.outbox import Outbox
from agent.protocol.effects import (
    Answer,
    Effect,
    Persist,
    ResumeChild,
    Send,
    StopChild,
    SuspendChild,
    TaskMoved,
    Verdict,
)
from agent.protocol.messages import (
    ClaimAnswers,
    ClaimName,
    ClaimOffer,
    Enqueue,
    KnownLife,
    Release,
    State,
    Stored,
    TryDequeue,
)
from agent.protocol.records import (
    NO_LIFE,
    Claim,
    Life,
    PriorityWish,
    TaskState,
    Workflow,
    WorkflowSpec,
)
from agent.storage.errors import JournalFull
from tests.driver.worlds import RUN, answer, persist, start_child


class Desk:
    """An outbox with its commits in the hands of the test."""

    def __init__(self) -> None:
        self.commits: list[Future[None]] = []
        self.done: list[Effect] = []
        self.refused: list[tuple[Persist, tuple[Effect, ...]]] = []
        self.box = Outbox(self._do, self._submit, self._refuse, self._later)
        self.gathers = False

    def _do(self, effect: Effect, links_made: int) -> None:
        del links_made
        self.done.append(effect)

    def _submit(self, wanted: Persist) -> Future[None]:
        del wanted
        self.commits.append(Future())
        return self.commits[-1]

    def _refuse(self, wanted: Persist, dropped: tuple[Effect, ...], error: BaseException) -> None:
        assert isinstance(error, JournalFull)
        self.refused.append((wanted, dropped))

    def _later(self) -> None:
        if not self.gathers:
            self.box.submit()

    # -- the steps of a story --------------------------------------------------------------

    def gather(self) -> None:
        """From now on records wait until they are asked for, or somebody waits for them."""
        self.gathers = True

    def submit(self) -> None:
        self.box.submit()

    def close(self) -> None:
        self.box.discard()

    def put(self, *effects: Effect) -> None:
        self.box.put(effects, 0)

    def commit(self, number: int) -> None:
        self.commits[number].set_result(None)
        self.box.advance()

    def fail(self, number: int) -> None:
        self.commits[number].set_exception(JournalFull("no room"))
        self.box.advance()

    def has_done(self, *effects: Effect) -> None:
        assert self.done == list(effects)

    def has_refused(self, wanted: Persist, *dropped: Effect) -> None:
        assert self.refused == [(wanted, dropped)]

    def waits_for(self, commits: int) -> None:
        self.has_submitted(commits)
        assert bool(len(self.box)) == bool(commits)

    def has_submitted(self, commits: int) -> None:
        assert sum(not each.done() for each in self.commits) == commits


ONE, TWO, THREE, FOUR = (answer(name) for name in ("one", "two", "three", "four"))
NAME = ClaimName("t", Claim(1, (1, 0), "ant"))
SUSPEND, RESUME, STOP = SuspendChild("t", RUN), ResumeChild("t", RUN), StopChild("t", RUN, "why")
START, BEGUN = start_child(), Life(2)
RELEASE, STORED = Send(("bee",), Release((NAME,))), Send(("bee",), Stored(("w",)))
CONSENT = Send(("ant",), ClaimAnswers(consents=(NAME,)))
TOLD, QUEUED = Send(("ant", "bee"), State()), Send(("ant", "bee"), Enqueue(()))
CLAIM = Send(("ant", "bee"), TryDequeue((ClaimOffer("t", NAME.claim, NO_LIFE),)))
CLAIM_BEGUN = Send(("bee",), TryDequeue((ClaimOffer("t", NAME.claim, BEGUN),)))
KNOWN_BEGUN = Send(("ant",), ClaimAnswers(known=(KnownLife("t", NAME.claim, BEGUN),)))
TOLD_DOG, ELSEWHERE = Send(("dog",), State()), Send(("cat",), Release((NAME,)))
SPEC = WorkflowSpec("w", "w", (1, 0), "ant", "ana", ())
WORK = msgspec.structs.replace(persist(1), workflows=(Workflow(SPEC, PriorityWish(1, "ant", 50)),))
STORED_W, STORED_V = Send(("ant",), Stored(("w",))), Send(("ant",), Stored(("v",)))
AGAIN = Answer("again", Verdict.ALREADY_KNOWN)

MOVED = TaskMoved("t", None, TaskState.RUNNING, "why")

STORIES: dict[str, list[tuple[Any, ...]]] = {
    "without a record everything is done at once": [("put", ONE, TWO), ("has_done", ONE, TWO)],
    "what stands behind a record waits for its commit": [
        ("put", ONE, persist(), TWO, THREE),
        ("has_done", ONE),
        ("commit", 0),
        ("has_done", ONE, TWO, THREE),
    ],
    "several commits are under way and their order stays": [
        ("put", persist(1), ONE),
        ("put", persist(2), TWO),
        ("waits_for", 2),
        ("commit", 1),
        ("has_done",),
        ("commit", 0),
        ("has_done", ONE, TWO),
    ],
    "a later event without a record waits for earlier ones, which it may tell of": [
        ("put", persist(), ONE),
        ("put", TWO),
        ("has_done",),
        ("commit", 0),
        ("has_done", ONE, TWO),
    ],
    "suspending and stopping wait for no disk": [
        ("put", persist(1), ONE),
        ("put", SUSPEND, persist(2), TWO),
        ("put", STOP, persist(3), THREE),
        ("has_done", SUSPEND, STOP),
    ],
    "what is about to start is not suspended before it starts": [
        ("put", persist(1), START),
        ("put", SUSPEND, persist(2), ONE),
        ("has_done",),
        ("commit", 0),
        ("has_done", START, SUSPEND),
    ],
    "the last word about a run stays the last": [
        ("put", SUSPEND),
        ("put", persist(1), RESUME),
        ("put", SUSPEND, persist(2), ONE),
        ("commit", 0),
        ("has_done", SUSPEND, RESUME, SUSPEND),
    ],
    "another run waits for nothing": [
        ("put", persist(1), start_child("other")),
        ("put", STOP),
        ("has_done", STOP),
    ],
    "behind a refused record nothing is done and all is handed back": [
        ("put", ONE, persist(1), TWO, THREE),
        ("put", persist(2), FOUR),
        ("fail", 0),
        ("has_refused", persist(1), TWO, THREE),
        ("commit", 1),
        ("has_done", ONE, FOUR),
        ("waits_for", 0),
    ],
    "words about claims do not wait for what is merely learned": [
        ("put", persist(), STORED, ONE),
        ("put", CONSENT),
        ("has_done", CONSENT),
        ("commit", 0),
        ("has_done", CONSENT, STORED, ONE),
    ],
    "words about claims overtake news of runs": [
        ("put", persist(), TOLD),
        ("put", RELEASE, CLAIM),
        ("has_done", RELEASE, CLAIM),
        ("commit", 0),
        ("has_done", RELEASE, CLAIM, TOLD),
    ],
    "a word about claims that tells of a life overtakes nothing, nor do later ones it": [
        ("put", persist(), TOLD_DOG),
        ("put", CLAIM_BEGUN, KNOWN_BEGUN, ELSEWHERE),
        ("has_done", ELSEWHERE),
        ("put", RELEASE),
        ("has_done", ELSEWHERE),
        ("commit", 0),
        ("has_done", ELSEWHERE, TOLD_DOG, CLAIM_BEGUN, KNOWN_BEGUN, RELEASE),
    ],
    "words about claims come behind the workflow": [
        ("put", persist(), QUEUED),
        ("put", RELEASE),
        ("has_done",),
        ("commit", 0),
        ("has_done", QUEUED, RELEASE),
    ],
    "what was refused stands in no way any more": [
        ("put", persist(), QUEUED),
        ("fail", 0),
        ("put", persist()),
        ("put", RELEASE),
        ("has_done", RELEASE),
    ],
    "records for which only notices wait are submitted together": [
        ("gather",),
        ("put", persist(1), MOVED),
        ("put", persist(2), MOVED),
        ("has_submitted", 0),
        ("submit",),
        ("has_submitted", 2),
        ("commit", 0),
        ("has_done", MOVED),
        ("commit", 1),
        ("has_done", MOVED, MOVED),
    ],
    "what somebody waits for is submitted at once, with all before it": [
        ("gather",),
        ("put", persist(1), MOVED),
        ("put", persist(2), START),
        ("has_submitted", 2),
        ("put", persist(3), MOVED),
        ("has_submitted", 2),
        ("put", ONE),
        ("has_submitted", 3),
    ],
    "what was not submitted is at the end": [
        ("gather",),
        ("put", persist(1), MOVED),
        ("close",),
        ("has_submitted", 1),
        ("has_done",),
    ],
    "what was refused is vouched for by nothing said meanwhile": [
        ("put", WORK, ONE),
        ("put", persist(2), STORED_W, STORED_V, AGAIN, TWO),
        ("fail", 0),
        ("commit", 1),
        ("has_refused", WORK, ONE, STORED_W, AGAIN),
        ("has_done", STORED_V, TWO),
    ],
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_what_waits_for_what(story: list[tuple[Any, ...]]) -> None:
    desk = Desk()
    for act, *given in story:
        getattr(desk, act)(*given)
