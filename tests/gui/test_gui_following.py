"""What the bridge asks an agent and when, told by a script; time passes at once when all wait.

No thread and no window here: the follower alone, with a client that answers from a table and notes
each question with its moment.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, cast

import pytest
from msgspec.structs import replace

from agent.api import admission, flock, permissions, programs, session, settings, work
from agent.api.history import STATISTICS, Statistics
from agent.api.methods import AnyMethod
from agent.api.presence_reasons import HeldByInput
from agent.api.reasons import as_why
from agent.api.rpc import ErrorCode, Problem
from agent.api.session import Event, Welcome
from agent.api.values import Position, TaskState
from agent.api.volunteering import VolunteeringView
from agent.client import (
    ClientError,
    DisconnectedError,
    EventsLostError,
    Home,
    NoAgentError,
    RequestError,
)
from gui.bridge import following
from gui.bridge.following import Attention, Follower, _weightiest
from gui.model import notices
from gui.model.notices import Absence, Absent, Notice
from gui.wording import sentence_of
from tests.gui.values import LOG, moved, node, peer, task, volunteering, workflow

POSITION = Position(LOG, 0)
FLOCK = ["peers", "members", "programs", "permissions", "settings"]
JOINING = ["requests", "asked"]


class JumpingLoop(asyncio.SelectorEventLoop):
    """Its clock stands while there is something to do, and then jumps to what is due next."""

    _now_s = 0.0

    def time(self) -> float:
        return self._now_s

    def _run_once(self) -> None:
        if not self._ready:  # type: ignore[attr-defined]
            due = [each.when() for each in self._scheduled if not each.cancelled()]  # type: ignore[attr-defined]
            self._now_s = max(self._now_s, min(due, default=0.0))
        super()._run_once()  # type: ignore[misc]


class Script:
    """An agent by a table; stands where the client's class does."""

    welcome = Welcome(1, "1", "n1", "acor", POSITION)

    def __init__(self) -> None:
        self.asked: list[tuple[float, str]] = []
        self.params: list[object] = []
        self.told: list[tuple[float, Notice]] = []
        self.events_left: list[tuple[float, object]] = []
        self.greetings: list[Exception] = []
        self.replies: dict[str, Callable[[Any], object]] = {
            "status": lambda _: work.StatusReply(node(), (), 0, POSITION),
            "show": lambda wish: work.ShowReply(workflow(wish.workflow), (), wish.first, POSITION),
            "volunteering": lambda _: volunteering(),
            "peers": lambda _: flock.PeersReply(node(), ()),
            "members": lambda _: flock.MembersReply("office", (), ()),
            "programs": lambda _: programs.ProgramsReply(()),
            "permissions": lambda _: permissions.PermissionsReply(()),
            "settings": lambda _: settings.SettingsView("a", "b", 1, (), (), 2, ()),
            "requests": lambda _: admission.RequestsReply((), True),
            "asked": lambda _: admission.AskView("none"),
            "alive": lambda _: None,
        }

    async def connect(self, *_: object) -> Self:
        self.note("hello", None)
        if self.greetings:
            raise self.greetings.pop(0)
        return self

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    def note(self, name: str, params: object) -> None:
        self.asked.append((round(asyncio.get_running_loop().time(), 3), name))
        self.params.append(params)

    async def call(self, method: AnyMethod, params: object) -> Any:
        self.note(method.name, params)
        reply = self.replies[method.name](params)
        return await cast("Awaitable[object]", reply) if asyncio.iscoroutine(reply) else reply

    async def greet_again(self) -> None:
        self.note("alive", None)
        reply = self.replies["alive"](None)
        if asyncio.iscoroutine(reply):
            await reply

    async def events(self, *_: object, **__: object) -> AsyncGenerator[Event, None]:
        while self.events_left:
            at_s, happening = self.events_left.pop(0)
            await asyncio.sleep(at_s - asyncio.get_running_loop().time())
            if isinstance(happening, Exception):
                raise happening
            yield Event(1, 0, happening)  # type: ignore[arg-type]
        await asyncio.Event().wait()

    def tell(self, notice: Notice) -> None:
        self.told.append((round(asyncio.get_running_loop().time(), 3), notice))

    # -- for tests ---------------------------------------------------------------------------

    def absences(self) -> list[tuple[float, Absence, str]]:
        return [(at, n.why, n.sentence) for at, n in self.told if isinstance(n, Absent)]

    def when(self, name: str) -> list[float]:
        return [at_s for at_s, each in self.asked if each == name]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    made = Script()
    monkeypatch.setattr(following, "Client", made)
    return made


Act = Callable[[Follower], Awaitable[object]]


def play(
    script: Script, length_s: float, *, attention: Attention | None = None, act: Act | None = None
) -> None:
    """So long a time of a window that is looked at."""

    async def whole() -> None:
        home = cast("Home", None)
        follower = Follower(home, script.tell, attention or Attention(seen=True))
        running = asyncio.ensure_future(follower.run())
        if act is not None:
            await act(follower)
        await asyncio.wait([running], timeout=length_s)
        running.cancel()
        await asyncio.wait([running])

    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        runner.run(whole())


def refused(code: ErrorCode) -> RequestError:
    return RequestError(Problem(code, "no"))


def raising(error: Exception) -> Callable[[object], object]:
    def call(_: object) -> object:
        raise error

    return call


def silent(_: object) -> object:
    return asyncio.sleep(60)


def test_what_is_asked_first_and_how_often_after_that(script: Script) -> None:
    play(script, 2.0)
    assert [name for _, name in script.asked[:2]] == ["hello", "status"]
    first = [name for at_s, name in script.asked if at_s == 0.0]
    assert sorted(first[2:]) == sorted(["volunteering", *FLOCK, *JOINING])
    assert script.asked[len(first) :] == [(1.05, "alive")]
    assert script.params[1] == work.Status(limit=400)
    kinds = {type(each) for _, each in script.told}
    assert kinds == {
        *(Welcome, notices.StatusPage, VolunteeringView, flock.PeersReply),
        *(flock.MembersReply, programs.ProgramsReply, settings.SettingsView),
        permissions.PermissionsReply,
        *(admission.RequestsReply, admission.AskView),
    }
    assert [type(each) for _, each in script.told[:2]] == [Welcome, notices.StatusPage]


def test_all_pages_of_workflows_and_tasks_are_read(script: Script) -> None:
    views = [workflow(f"w{each}", state=state, tasks=1) for each, state in
             enumerate(("waiting", "finished", "running"))]  # fmt: skip
    views[2] = replace(views[2], tasks=2001)
    pages = {0: tuple(views[:2]), 2: tuple(views[2:])}
    script.replies["status"] = lambda wish: work.StatusReply(node(), pages[wish.first], 3, POSITION)
    script.replies["show"] = lambda wish: work.ShowReply(
        next(each for each in views if each.workflow == wish.workflow), (), wish.first, POSITION
    )
    play(script, 0.5)
    asked = [each for each in script.params if isinstance(each, work.Status | work.Show)]
    assert asked == [
        work.Status(limit=400),
        work.Status(2, 400),
        work.Show("w0"),
        work.Show("w2"),
        work.Show("w2", 1000),
        work.Show("w2", 2000),
    ]
    pages_told = [each for _, each in script.told if isinstance(each, notices.StatusPage)]
    assert [each.first for each in pages_told] == [0, 2]
    assert sum(isinstance(each, work.ShowReply) for _, each in script.told) == 4


def test_what_somebody_wants_to_see_goes_before_the_rest(script: Script) -> None:
    many = tuple(workflow(f"w{each}", tasks=1) for each in range(20))
    script.replies["status"] = lambda _: work.StatusReply(node(), many, 20, POSITION)

    async def want(follower: Follower) -> None:
        await asyncio.sleep(0.002)
        follower.want("a")
        follower.want("b")

    play(script, 0.5, act=want)
    names = [each.workflow for each in script.params if isinstance(each, work.Show)]
    assert names == [*(f"w{each}" for each in range(8)), "b", "a",
                     *(f"w{each}" for each in range(8, 20))]  # fmt: skip
    times = script.when("show")
    assert times == [0.0] * 8 + [0.004, 0.008] + [0.012] * 8 + [0.016] * 4


def test_a_workflow_that_was_cleaned_up_is_none(script: Script) -> None:
    script.replies["show"] = raising(refused(ErrorCode.UNKNOWN))

    async def want(follower: Follower) -> None:
        await asyncio.sleep(0.1)
        follower.want("gone")

    play(script, 0.5, act=want)
    assert script.when("show") == [0.1]
    assert script.absences() == []


def test_an_agent_that_is_being_started_is_no_trouble_and_tried_often(script: Script) -> None:
    attention = Attention(seen=True, awaited=True)
    script.greetings = [NoAgentError("no")] * 3
    play(script, 0.5, attention=attention)
    assert script.when("hello") == [0.0, 0.1, 0.2, 0.3]
    assert {why for _, why, _ in script.absences()} == {Absence.STARTING}
    assert not attention.awaited


def test_an_agent_that_hangs_is_told_of_and_heard_again(script: Script) -> None:
    script.replies["alive"] = silent

    async def wake(_: Follower) -> None:
        await asyncio.sleep(2.0)
        script.replies["alive"] = lambda _: None

    play(script, 3.0, act=wake)
    assert script.absences() == [(1.95, Absence.SILENT, ""), (2.85, Absence.SILENT, "")]
    again = [at_s for at_s, each in script.told if isinstance(each, notices.Answering)]
    assert again == [2.85]
    assert script.when("alive") == [1.05, 1.95, 2.85, 3.9, 4.95]


def test_whoever_tells_something_again_is_not_silent_any_more(script: Script) -> None:
    script.replies["alive"] = silent
    script.events_left = [(2.0, session.WorkflowSafe("w"))]
    play(script, 3.0)
    again = [at_s for at_s, each in script.told if isinstance(each, notices.Answering)]
    assert ([at_s for at_s, _, _ in script.absences()], again) == ([1.95], [2.0])


def test_what_an_agent_does_not_serve_is_asked_once(script: Script) -> None:
    for name in ("volunteering", "programs"):
        script.replies[name] = raising(refused(ErrorCode.NO_SUCH_METHOD))
    script.replies["members"] = raising(refused(ErrorCode.NO_FLOCK))

    async def again(follower: Follower) -> None:
        await asyncio.sleep(1.5)
        follower.want_flock()

    play(script, 1.0, act=again)
    counts = {
        name: len(script.when(name))
        for name in ("volunteering", "programs", "members", "peers", "asked")
    }
    assert counts == {"volunteering": 1, "programs": 1, "members": 2, "peers": 2, "asked": 2}
    assert script.when("status") == [0.0]


@pytest.mark.parametrize(
    ("happening", "asked"),
    [
        (session.PeerChanged("n"), FLOCK),
        (session.FlockChanged("office"), FLOCK),
        (session.PeerChanged("n", peer("n")), []),
        (session.PeerChanged("n", own=node()), []),
        (session.ProgramWaiting("map@1", "ana"), ["programs", "permissions"]),
        (moved("a", TaskState.READY, TaskState.RUNNING), ["peers"]),
        (moved("a", TaskState.RUNNING, TaskState.TERMINATED), ["peers"]),
        (replace(moved("a", None, TaskState.RUNNING), rows=(task("a"),)), []),
        (moved("a", None, TaskState.READY), []),
        (admission.JoinRequested("r", "a", "b", "c", "d"), JOINING),
        (admission.JoinRequestEnded("r", "a", "refused"), JOINING),
        (admission.AskChanged("joined", "office"), JOINING),
        (session.WorkflowSafe("line-42"), []),
    ],
)
def test_what_an_event_has_read_again(script: Script, happening: object, asked: list[str]) -> None:
    script.events_left = [(2.05, happening)]
    play(script, 2.5)
    assert [name for at_s, name in script.asked if at_s == 2.05] == asked
    told = [at_s for at_s, each in script.told if isinstance(each, Event)]
    assert told == [2.05]


def test_of_several_troubles_the_one_that_helps_most_is_told() -> None:
    other, none, cut = ClientError("a"), NoAgentError("b"), DisconnectedError("c")
    lost = EventsLostError(Problem(ErrorCode.EVENTS_LOST, "d"))

    def of(first: ClientError, *rest: ClientError) -> ClientError:
        told: list[Any] = [first]
        if rest:
            told.append(ExceptionGroup("inner", rest))
        return _weightiest(ExceptionGroup("outer", told))

    assert of(other, none, lost) is lost
    assert of(cut, other, none) is none
    assert of(cut, other) is cut
    assert of(other) is other


SEEN, UNSEEN = {"seen": True}, {"seen": False}
HELP = session.VolunteeringChanged(False, True, "why", False)
ASKS = admission.JoinRequested("r", "a", "b", "c", "d")
PRESENT: dict[str, Any] = {"owner_present": True}
ONCE_A_SECOND = [0.0, 1.5, 2.5, 3.5]


def often(happening: object) -> list[tuple[float, object]]:
    return [(1.5 + each / 20, happening) for each in range(40)]


@dataclass
class Watched:
    """For how long, by whom, what is told meanwhile, and when what is asked."""

    length_s: float
    when: dict[str, list[float]]
    attention: dict[str, bool] = field(default_factory=lambda: SEEN)
    events: list[tuple[float, object]] = field(default_factory=list)
    view: dict[str, Any] = field(default_factory=dict)
    greetings: Sequence[Exception] = ()
    silent: str = ""
    absences: list[tuple[float, Absence, str]] = field(default_factory=list)


@pytest.mark.parametrize(
    "watched",
    [
        pytest.param(
            Watched(
                2.0,
                {"hello": [0.0, 0.1, 0.3, 0.7, 1.1, 1.5, 1.9]},
                greetings=[
                    *[NoAgentError("no")] * 4,
                    DisconnectedError("x"),
                    ClientError("too old"),
                ],
                absences=[
                    *((each, Absence.NO_AGENT, "") for each in (0.0, 0.1, 0.3, 0.7, 1.1)),
                    (1.5, Absence.REFUSED, "too old"),
                ],
            ),
            id="why there is no conversation, and when it is tried again",
        ),
        pytest.param(
            Watched(
                0.5,
                {"hello": [0.0, 0.25]},
                events=[(0.25, EventsLostError(Problem(ErrorCode.EVENTS_LOST, "lost")))],
            ),
            id="lost events begin the conversation anew at once",
        ),
        pytest.param(
            Watched(
                40.0,
                {"hello": [0.0, 30.1]},
                silent="status",
                absences=[(30.0, Absence.SILENT, "")],
            ),
            id="an agent that never answers is silent",
        ),
        pytest.param(
            Watched(12.0, {"alive": [5.0, 10.0], "volunteering": [0.0]}, UNSEEN),
            id="nobody looks, so less is asked",
        ),
        pytest.param(
            Watched(
                3.6,
                {"alive": [3.55]},
                events=[(0.5 * each, session.WorkflowSafe("w")) for each in range(1, 6)],
            ),
            id="who tells something is not asked whether it is there",
        ),
        pytest.param(
            Watched(4.0, {"peers": ONCE_A_SECOND}, events=often(session.PeerChanged("n"))),
            id="however much machines say, they are read once a second",
        ),
        pytest.param(
            Watched(4.0, {"requests": ONCE_A_SECOND, "asked": ONCE_A_SECOND}, events=often(ASKS)),
            id="however often strangers ask to join, they are read once a second",
        ),
        pytest.param(
            Watched(
                3.0,
                {"volunteering": [0.0, 0.7]},
                UNSEEN,
                [(0.1, HELP), (1.0, replace(HELP, view=volunteering()))],
            ),
            id="a change of helping is asked about soon",
        ),
        pytest.param(
            Watched(70.0, {"peers": [0.0, 30.0, 60.0]}),
            id="links are looked at now and then while somebody looks",
        ),
        *(
            pytest.param(
                Watched(2.0, {"volunteering": times}, attention, view=view),
                id=f"presence is read on while it changes with time: {case}",
            )
            for case, attention, view, times in (
                ("nobody is there", SEEN, {}, [0.0]),
                ("its sources are looked at", {**SEEN, "sources": True}, {}, [0.0, 0.7, 1.4]),
                ("its owner is there", SEEN, PRESENT, [0.0, 0.7, 1.4]),
                ("it pauses", SEEN, {**PRESENT, "paused": True}, [0.0]),
                ("a moment is told", SEEN, {**PRESENT, "why": as_why(HeldByInput(5))}, [0.0]),
                ("nobody looks", {"sources": True}, PRESENT, [0.0]),
            )
        ),
    ],
)
def test_when_what_is_asked(script: Script, watched: Watched) -> None:
    script.events_left, script.greetings = list(watched.events), list(watched.greetings)
    script.replies["volunteering"] = lambda _: volunteering(**watched.view)
    if watched.silent:
        script.replies[watched.silent] = silent
    play(script, watched.length_s, attention=Attention(**watched.attention))
    assert {name: script.when(name) for name in watched.when} == watched.when
    assert script.absences() == watched.absences


def test_the_outlook_of_a_workflow_is_read_without_its_tasks(script: Script) -> None:
    async def want(follower: Follower) -> None:
        await asyncio.sleep(0.1)
        follower.want_outlook("a")

    play(script, 0.5, act=want)
    assert [each for each in script.params if isinstance(each, work.Show)] == [
        work.Show("a", limit=1)
    ]


def test_a_question_has_an_answer_or_a_sentence(script: Script) -> None:
    heard: list[object] = []

    async def ask(follower: Follower) -> None:
        for wait_s, within_s in ((0.0, 30.0), (1.0, 30.0), (0.0, 2.5)):
            if wait_s:
                await asyncio.sleep(wait_s)
            try:
                heard.append(await follower.ask(STATISTICS, Statistics(4), within_s))
            except ClientError as error:
                heard.append(f"{type(error).__name__}: {error}")

    script.replies["statistics"] = silent
    play(script, 0.1, act=ask)
    assert heard[0] == ("NoAgentError: the agent is not there at the moment: try again when it is")
    rest = "whether it did what you asked is not known, so look before you ask again"
    assert heard[1:] == [
        f"DisconnectedError: the agent has not answered for 30 s; {rest}",
        f"DisconnectedError: the agent has not answered for 2 s; {rest}",
    ]


def test_failures_are_sentences() -> None:
    said = ("the agent is gone", " what? ", "It is so!", "done.")
    assert [sentence_of(ClientError(each)) for each in said] == [
        *("The agent is gone.", "What?", "It is so!", "Done."),
    ]
    told = (OSError("no such driver"), OSError(), OSError(13, "Not allowed", "a.csv"))
    wanted = ["no such driver.", "OSError.", "a.csv: Not allowed."]
    assert list(map(sentence_of, told)) == wanted
