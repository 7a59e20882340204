"""The text protocol for one client: wishes of lines become requests, and progress comes back.

A task's progress is told when the client subscribes, whenever it changes, and every few seconds
while it runs. Changes are not queued: who reads slowly hears the latest state of each task. The
age in a PROGRESS line is the seconds since the attempt that counts was begun, 0 before the first.

A cancelled task is told as such when nothing of it runs any more, which may be after later
answers; everything else is answered in the order in which it was said.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path

from agent import __version__
from agent.api.errors import ServiceError
from agent.api.rpc import ErrorCode
from agent.api.values import PRIORITY_NAMES
from agent.api.wording import suggestion
from agent.api.work import TaskView
from agent.control.machines import seen
from agent.control.naming import find_task, readable, task_id
from agent.control.port import Notice
from agent.control.refusal import RefusedError
from agent.control.request_context import RequestContext
from agent.control.text_words import (
    USAGE,
    Cancel,
    Help,
    Quit,
    Schedule,
    Subscribe,
    TextError,
    Token,
    read_line,
)
from agent.control.wishes import TO_BE_NAMED, wish
from agent.protocol import events, records
from agent.protocol.effects import CancelFinished, TaskMoved, TaskProgressed, Verdict
from agent.protocol.records import ENDED, TaskId, TaskState

PROGRESS_EVERY_S = 5.0
SUBSCRIBED_MAX = 100_000
PARAMETERS_BYTES_MAX = 65_536
NAMES_TRIED_MAX = 8

Tell = Callable[[bytes], Awaitable[None]]


class TextSession:
    """From the first line that is none of JSON, to the end of the connection."""

    def __init__(self, call: RequestContext, tell: Tell) -> None:
        self._call, self._tell = call, tell
        self._subscribed: dict[TaskId, None] = {}
        self._due: dict[TaskId, None] = {}
        self._cancelling: dict[TaskId, None] = {}
        self._cancelled: list[TaskId] = []
        self._news = asyncio.Event()
        self._unsubscribe = call.node.subscribe(self._noticed)

    async def answer(self, line: bytes) -> bool:
        """Answer a line; return whether the conversation goes on after it. A refusal is told as an
        error, not raised."""
        try:
            return await self._answer(line)
        except ServiceError as error:
            await self._say("ERROR", str(error))
        return True

    async def tell_progress(self) -> None:
        """Tell the client of tasks it has subscribed to, at each change and every few seconds; ends
        by being cancelled."""
        while True:
            try:
                async with asyncio.timeout(PROGRESS_EVERY_S):
                    await self._news.wait()
            except TimeoutError:
                self._due.update(dict.fromkeys(filter(self._running, self._subscribed)))
            self._news.clear()
            due, self._due = self._due, {}
            for task in due:
                await self._progress(task)
            cancelled, self._cancelled = self._cancelled, []
            for task in cancelled:
                await self._say("CANCELLED", task)

    def end(self) -> None:
        """Stop listening to the node, for the client is gone."""
        self._unsubscribe()

    # -- what is said ----------------------------------------------------------------------

    async def _answer(self, line: bytes) -> bool:
        match read_line(line):
            case Token():
                await self._say("WELCOME", self._call.now.name, __version__)
            case Schedule() as told:
                await self._say("SCHEDULED", await self._schedule(told))
            case Subscribe(named):
                await self._subscribe(named)
            case Cancel(named):
                await self._cancel(named)
            case Help():
                for usage in USAGE.values():
                    await self._say("HELP", usage)
            case Quit():
                return False
        return True

    async def _schedule(self, told: Schedule) -> TaskId:
        self._check_program(told.program)
        inputs = tuple(self._input(*each) for each in told.inputs)
        parameters = await asyncio.to_thread(_read_parameters, told.parameters_file)
        raw = await self._raw(told.raw)
        name = self._free_name(told.program)
        spec = records.TaskSpec(
            task_id(name, told.program),
            told.program,
            told.program,
            inputs,
            raw,
            parameters=parameters,
        )
        submitter, priority = self._call.now.name, PRIORITY_NAMES[told.priority]
        event = events.Submit(TO_BE_NAMED, name, name, submitter, priority, (spec,))
        await wish(self._call, event)
        return spec.task

    def _check_program(self, program: str) -> None:
        machines = seen(self._call.now)
        known = dict.fromkeys(each for one in machines for each in one.capabilities.programs)
        if program not in known:
            meant = suggestion(program, known)
            raise TextError(f'no machine that is seen has the program "{program[:80]}"{meant}')

    def _input(self, task: str, number: int) -> records.InputRef:
        return records.InputRef(find_task(self._call.now.table, task).task, number - 1)

    async def _raw(self, text: str) -> tuple[records.Dataset, ...]:
        """A file or folder of this machine becomes a dataset; anything else stays what it is."""
        if not text:
            return ()
        if await asyncio.to_thread(_is_here, text):
            return (await self._call.rooms.datasets.add(Path(text)),)
        if len(text) > records.SHORT_TEXT_MAX:
            raise TextError(f"-p is longer than {records.SHORT_TEXT_MAX} characters")
        return (records.Dataset(text, external=True),)

    def _free_name(self, program: str) -> str:
        """A workflow of its own, whose name tells what it runs."""
        for _ in range(NAMES_TRIED_MAX):
            name = f"{program[:100]}-{uuid.uuid4().hex[:8]}"
            if name not in self._call.now.table.workflows:
                return name
        raise RefusedError(ErrorCode.AGENT_FAILED, "no free name was found: try again")

    async def _subscribe(self, named: tuple[str, ...]) -> None:
        table = self._call.now.table
        tasks = [find_task(table, each).task for each in named]
        if len(self._subscribed) + len(tasks) > SUBSCRIBED_MAX:
            raise TextError(f"more than {SUBSCRIBED_MAX} tasks are subscribed by this connection")
        await self._say("SUBSCRIBED", *tasks)
        self._subscribed.update(dict.fromkeys(tasks))
        self._due.update(dict.fromkeys(tasks))
        self._news.set()

    async def _cancel(self, named: str) -> None:
        table = self._call.now.table
        task = find_task(table, named).task
        reading = table.reading(task)
        if reading is not None and reading.state in ENDED:
            raise TextError(f"{task} has ended already: it is {reading.state.value}")
        self._cancelling[task] = None
        event = events.Cancel(TO_BE_NAMED, table.workflow_of[task], (task,))
        try:
            answer = await wish(self._call, event)
        except BaseException:
            self._cancelling.pop(task, None)
            raise
        if answer.verdict is not Verdict.CANCELLING:
            self._cancelling.pop(task, None)
            await self._say("CANCELLED", task)

    # -- what happens ----------------------------------------------------------------------

    def _noticed(self, notice: Notice) -> None:
        match notice:
            case TaskMoved(task) | TaskProgressed(task):
                if task in self._subscribed:
                    self._due[task] = None
                    self._news.set()
            case CancelFinished(task):
                if task in self._cancelling:
                    del self._cancelling[task]
                    self._cancelled.append(task)
                    self._news.set()
            case _:
                pass

    def _running(self, task: TaskId) -> bool:
        reading = self._call.now.table.reading(task)
        return reading is not None and reading.state is TaskState.RUNNING

    async def _progress(self, task: TaskId) -> None:
        spec = self._call.now.table.specs.get(task)
        if spec is None:
            self._subscribed.pop(task, None)
            await self._say("ERROR", f"{task} was cleaned up")
            return
        view = self._call.views.task(spec)
        percent = view.permille // 10
        await self._say("PROGRESS", task, str(self._age_s(view)), view.state.value, str(percent))

    def _age_s(self, view: TaskView) -> int:
        if not view.begun_ms:
            return 0
        until_ms = view.ended_ms or self._call.views.now_ms()
        return max(0, until_ms - view.begun_ms) // 1000

    async def _say(self, *words: str) -> None:
        text = readable(" ".join(words), self._call.now.table) if words[0] == "ERROR" else ""
        line = text or " ".join(words)
        await self._tell(" ".join(line.split()).encode() + b"\n")


def _is_here(text: str) -> bool:
    try:
        return Path(text).is_absolute() and Path(text).exists()
    except (OSError, ValueError):
        return False


def _read_parameters(text: str) -> str:
    if not text:
        return ""
    path = Path(text)
    if not path.is_absolute():
        raise TextError(f'-x takes a whole path, not "{text[:80]}": the agent is in another folder')
    try:
        with path.open("rb") as file:
            content = file.read(PARAMETERS_BYTES_MAX + 1)
        parameters = content.decode("utf-8")
    except OSError as error:
        raise TextError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise TextError(f"{path} is not UTF-8 (byte {error.start})") from error
    except ValueError as error:
        raise TextError(f"{text[:80]!r} is no path") from error
    if len(content) > PARAMETERS_BYTES_MAX:
        raise TextError(f"{path} is larger than {PARAMETERS_BYTES_MAX} bytes")
    return parameters
