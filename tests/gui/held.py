"""An agent that answers when the test says so: behind the real bridge, in the place of its client.

What keeps the screen up to date is answered at once; every question of the window is held until it
is released, with a good reply or a failure. Logs tell one part and then wait for more, as real ones
do. Both threads use it, so all that it knows lies behind one lock, and answers are futures that any
thread may give.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Self

from agent.api import (
    administration,
    admission,
    again,
    audit,
    datasets,
    flock,
    history,
    logs,
    past,
    people,
    permissions,
    programs,
    settings,
    work,
)
from agent.api.methods import AnyMethod
from agent.api.secrets import SecretView
from agent.api.session import Event, Welcome
from agent.api.update import StartingAnew
from agent.api.values import Dataset, Position, TaskState
from agent.api.volunteering import ProgramsRunning, VolunteeringView, VolunteerRules
from agent.client import ClientError, Home
from agent.client.inspecting import Flight
from gui.bridge.bridge import Bridge, Task
from tests.gui.values import LOG, NOW_S, current, node, past_workflow, peer, task, workflow
from tests.hosts.waiting import EVENTUALLY_S_MAX

GATE = task("look", TaskState.WAITING, gate=True, asks="look at the wires")
RUNNING = task("segment", TaskState.RUNNING, attempt=1, host="acor")
DONE = task("import", TaskState.TERMINATED, attempt=1, outputs=(Dataset("sha256:ab", 4),))
TASKS = (DONE, RUNNING, GATE)
WORKFLOW = workflow(
    state="running",
    gates=1,
    counts=dict.fromkeys((TaskState.TERMINATED, TaskState.RUNNING, TaskState.WAITING), 1),
)
NODE = node(tasks=(current(),), running=1)
VOLUNTEERING = VolunteeringView(True, False, "", VolunteerRules())
SETTINGS = settings.SettingsView("wingbeat.toml", "acor", 1, (), (), 2, ())
ASKING = admission.AskView("waiting", "office", "cagarro", "AB-12", 9)
JOINED = flock.Joined("office", "n1", "acor")
WISHED = work.Wished("line-42", "done")
POSITION = Position(LOG, 0)

PAST = past.PastReply(
    (past_workflow("line-41"),),
    1,
    (past.PastDay(round(NOW_S * 1000) // 86_400_000 * 86_400_000, 1),),
    since_ms=1,
)
PERMISSION = permissions.PermissionAsked(
    *("line-44", "line 44", "ana", "garajau", "id-garajau", 1),
    (permissions.AskedProgram("map@1", Dataset("tree:1", 5)),),
)
BACKGROUND: dict[str, object] = {
    "status": work.StatusReply(NODE, (WORKFLOW,), 1, POSITION),
    "show": work.ShowReply(WORKFLOW, TASKS, 0, POSITION),
    "volunteering": VOLUNTEERING,
    "peers": flock.PeersReply(NODE, (peer("garajau"),)),
    "members": flock.MembersReply(
        "office", (flock.MemberView("n1", "acor", True, True, 9, "administrator"),), ()
    ),
    "programs": programs.ProgramsReply((programs.ProgramView("map@1", ("acor",), "waiting"),)),
    "permissions": permissions.PermissionsReply(
        (PERMISSION,),
        (permissions.TrustedMachine("id-garajau", "garajau"),),
        (
            permissions.WantingProgram("measure@1", (permissions.AskedFor("network", "lan"),)),
            permissions.WantingProgram(
                "store@1", (permissions.AskedFor("secret", "survey-db", True),)
            ),
        ),
    ),
    "settings": SETTINGS,
    "requests": admission.RequestsReply(
        (admission.JoinRequestView("r1", "milhafre", "ana", "10.0.0.9", "AB-12", "acor", 1, 9),),
        True,
    ),
    "asked": admission.AskView("none"),
}
REPLIES: dict[str, object] = {
    "set_role": administration.Acted("id-garajau", "garajau"),
    "pair": people.Paired(people.MeReply("garajau", "id-garajau", ()), "dabol kitur fasim lonog", 1),
    "add_dataset": datasets.DatasetAdded(Dataset("sha256:cd", 4), "scan.las"),
    "audit": audit.AuditReply("n1", "acor", (audit.AuditEntry(1, 1, "owner", "pause"),), 1),
    "check_audit": audit.AuditChecked("n1", "acor", 1, 1),
    "admit": admission.Answered("r1", "milhafre", "AB-12", True),
    "agent_log": logs.AgentLogReply((logs.LogLine(1, "info", "begun"),), "1"),
    "ask": ASKING,
    "ask_owners": permissions.OwnersAsked(("garajau",), ("milhafre",)),
    "again": again.AgainReply("line-42", "line-42", (again.Step("import"),)),
    "begin_upload": datasets.UploadBegun("u1"),
    "change_settings": SETTINGS,
    "confirm_ask": ASKING,
    "dataset_files": datasets.FilesReply("sha256:ab", "points", False, (datasets.FileView("", 4),), 1, 4),
    "datasets": datasets.DatasetsReply((datasets.DatasetView("sha256:ab", 4, name="points"),), 1),
    "editor": [],
    "end_upload": datasets.DatasetAdded(Dataset("sha256:cd", 4), "scan.las"),
    "expel": flock.Expelled("id-garajau", "garajau"),
    "flock_create": JOINED,
    "gate": WISHED,
    "grant": permissions.Granted("measure@1", (permissions.AskedFor("network", "lan", True),)),
    "inspected": (Flight(), ""),
    "invite": flock.Invitation("wingbeat-1", "wingbeat-1", "office", 1, 9),
    "join": JOINED,
    "leave": flock.Left("office"),
    "start_anew": StartingAnew("0.1.0"),
    "nearby": admission.NearbyReply((admission.NearbyFlock("f1", "office", 2, True),)),
    "past": PAST,
    "plan": work.PlanReply(False, (), (), 1, int(NOW_S * 1000)),
    "read_dataset": datasets.DatasetPiece(b"4 4 ", 0, 4),
    "refuse": admission.Answered("r1", "milhafre", "AB-12", False),
    "permit": permissions.Permitted("line-44", "line 44", "once"),
    "distrust": permissions.Distrusted("garajau"),
    "scripts": permissions.ScriptsReply(
        PERMISSION,
        (permissions.Script("map", "map.sh", 5, "changed", "ls\nwc\n", "ls\n"),),
    ),
    "revoke": permissions.Granted("store@1", (permissions.AskedFor("secret", "survey-db"),)),
    "running_programs": ProgramsRunning(("blender", "zoom")),
    "show": work.ShowReply(workflow("line-41", state="finished"), (), 0, POSITION),
    "runs": history.RunsReply((), 0),
    "set_secret": SecretView("survey-db", "file"),
    "set_volunteering": VOLUNTEERING,
    "statistics": history.StatisticsReply((history.WeekView(1, 2.0, 3, 4, 0, 0, 1.0, 2.0),), 1, 2.0, 3, 4, (history.BalanceView(7, 12.0, 0.5, 30.0), history.BalanceView(30, 40.0, 0.0, 0.0))),
    "submit": work.Submitted("line-43", False, 1),
    "task_log": logs.TaskLogPart("t1", "r", "acor", "reading", 0, 7, 7, False),
    "upload_chunk": datasets.ChunkTaken(4),
    "why": work.Story(RUNNING, "runs on acor", (work.Move(1, "it was submitted", "by ana"),)),
    "withdraw_ask": admission.AskView("ended"),
}  # fmt: skip
FAILURE = "The agent ended the connection."
ENDLESS = {"agent_log", "task_log"}


@dataclass(slots=True, eq=False)
class Wish:
    """A question, and what will be its answer; cancelled when it is called off."""

    method: str
    params: object
    answer: concurrent.futures.Future[Any] = field(default_factory=concurrent.futures.Future)


class HeldAgent:
    """Stands where the client's class does."""

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._wishes: list[Wish] = []
        self._told: set[str] = set()
        self._greeted: list[tuple[str, str]] = []
        self._outcome: bool | None = None
        self.closed = 0

    # -- the client's side -------------------------------------------------------------------

    welcome = Welcome(1, "1", "n1", "acor", POSITION)

    async def connect(self, _: Home, name: str, node_: str = "") -> Self:
        with self._lock:
            self._greeted.append((name, node_))
        return self

    def __call__(self, _: Home, name: str) -> Self:
        """Stand for a client that greets when it is first asked."""
        self._greeted.append((name, ""))
        return self

    async def close(self) -> None:
        self.closed += 1

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        pass

    async def events(self, *_: object, **__: object) -> AsyncGenerator[Event, None]:
        await asyncio.Event().wait()
        yield Event(0, 0, None)  # type: ignore[arg-type]

    async def greet_again(self) -> None:
        """It is there."""

    async def call(self, method: AnyMethod, params: object) -> Any:
        known = BACKGROUND.get(method.name)
        if isinstance(params, work.Show) and params.workflow == PAST.workflows[0].workflow:
            known = None
        return known if known is not None else await self.hold(method.name, params)

    async def hold(self, name: str, params: object = None) -> Any:
        """Until it is released; also for what no agent is asked for."""
        wish = Wish(name, params)
        with self._lock:
            self._wishes.append(wish)
            if self._outcome is not None:
                self._answer(wish, self._outcome)
            self._lock.notify_all()
        return await asyncio.wrap_future(wish.answer)

    # -- the test's side ---------------------------------------------------------------------

    def waiting(self) -> list[str]:
        """What is asked and neither answered nor called off."""
        with self._lock:
            return [each.method for each in self._wishes if not each.answer.done()]

    def greeted(self) -> list[tuple[str, str]]:
        """Who greeted it, and whom they wanted to speak to."""
        with self._lock:
            return list(self._greeted)

    def params(self) -> list[object]:
        """With what the questions were asked that wait."""
        with self._lock:
            return [each.params for each in self._wishes if not each.answer.done()]

    def called_off(self) -> set[str]:
        """What was, so far."""
        with self._lock:
            return {each.method for each in self._wishes if each.answer.cancelled()}

    def answer(self, name: str, reply: object = None) -> None:
        """These and no others, once they were asked: what one has to hear to come to the next."""

        def asked() -> list[Wish]:
            return [each for each in self._wishes if each.method == name and not each.answer.done()]

        with self._lock:
            assert self._lock.wait_for(asked, EVENTUALLY_S_MAX), f"{name} was not asked"
            for each in asked():
                each.answer.set_result(REPLIES[name] if reply is None else reply)

    def release(self, *, good: bool) -> None:
        """All that wait, and all that come."""
        with self._lock:
            self._outcome = good
            for each in self._wishes:
                self._answer(each, good)

    def wait_for(self, true: Callable[[], bool], within_s: float) -> bool:
        """Without a turn of Qt's loop, so that what is told there stays on its way."""
        with self._lock:
            return self._lock.wait_for(true, within_s)

    def stir(self, _: object) -> None:
        """Something else that may be waited for has happened."""
        with self._lock:
            self._lock.notify_all()

    def _answer(self, wish: Wish, good: bool) -> None:
        if wish.answer.done() or (good and wish.method in self._told & ENDLESS):
            return  # called off, or a log that says no more for now
        if not wish.answer.set_running_or_notify_cancel():
            return  # called off this very moment, by the loop of the bridge
        self._told.add(wish.method)
        if good:
            wish.answer.set_result(REPLIES[wish.method])
        else:
            wish.answer.set_exception(ClientError(FAILURE))


TURNS = 3
"""Of a loop, until what was called off has heard of it."""


class WatchedBridge(Bridge):
    """The real one; knows besides which of its work has not ended, and where it was asked for."""

    def __init__(self, home: Home, agent: HeldAgent) -> None:
        super().__init__(home)
        self._agent = agent
        self._begun: list[concurrent.futures.Future[None]] = []
        self.sites: set[str] = set()

    def work(self, *arguments: Any, **named: Any) -> Task:
        self.sites.add(_site())
        return super().work(*arguments, **named)

    def _submit(self, work: Coroutine[Any, Any, None]) -> concurrent.futures.Future[None]:
        future = super()._submit(work)
        self._begun.append(future)
        future.add_done_callback(self._agent.stir)
        return future

    def under_way(self) -> int:
        """How much work was begun and has not ended."""
        return sum(not each.done() for each in self._begun)

    def is_settled(self) -> bool:
        """Whether all work has ended or waits for an answer."""
        return self.under_way() == len(self._agent.waiting())

    def settle(self, within_s: float = 20.0) -> None:
        """Wait for that without a turn of Qt's loop. What was called off still waits at the agent
        until the bridge's own loop has turned, and would stand for what nobody has heard yet."""

        async def turns() -> None:
            for _ in range(TURNS):
                await asyncio.sleep(0)

        asyncio.run_coroutine_threadsafe(turns(), self._loop).result(within_s)
        assert self._agent.wait_for(self.is_settled, within_s), self._agent.waiting()


def _site() -> str:
    """The view and its method that ask; nothing where it is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.parent.name == "views" and path.name != "view_context.py":
            return ".".join(frame.f_code.co_qualname.split(".")[:2])
        frame = frame.f_back
    return ""
