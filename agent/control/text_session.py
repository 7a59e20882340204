"""The text protocol for one client: wishes of lines become requests, and progress comes back.

A task's progress is told when the client subscribes, whenever it changes, and every few seconds
while it runs. Changes are not queued: who reads slowly hears the latest state of each task. The
age in a PROGRESS line is the seconds since the attempt that counts was begun, 0 before the first.

A cancelled task is told as such when nothing of it runs any more, which may be after later
answers; everything else is answered in the order in which it was said.

What a person types at a terminal are lines of the source's table 3.3, read into wishes:

=============  ==========================================================================
line           meaning
=============  ==========================================================================
``PROVE``      ``nonce``: on a port, have the agent prove that it is this account's
``TOKEN``      ``t``: proof that one may read the owner's files; the first line else
``SCHEDULE``   ``program priority [-p path] [-a task n]... [-x file]``: run a program
``SUBSCRIBE``  ``task...``: tell how far these tasks are, now and as they go on
``CANCEL``     ``task``: cancel it, with all that depends on it
``HELP``       what there is
``QUIT``       end the connection
=============  ==========================================================================

The first two and the last two are ours: the document has no word for them. Outputs count from 1, as
its "nth output" says; JSON counts from 0. A word with spaces stands in quotes. Backslashes mean
nothing, because paths of Windows have them.
"""

from __future__ import annotations

import asyncio
import shlex
import uuid
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from msgspec import structs

from agent import __version__
from agent.api.errors import ServiceError
from agent.api.values import PRIORITY_NAMES
from agent.api.wording import suggestion
from agent.api.work import TaskView
from agent.control.fitting import seen
from agent.control.naming import find_task, task_id
from agent.control.own_folders import refuse_own
from agent.control.port import Notice
from agent.control.request_context import RequestContext
from agent.control.wishes import TO_BE_NAMED, wish
from agent.protocol import events, records
from agent.protocol.effects import CancelFinished, TaskMoved, TaskProgressed, Verdict
from agent.protocol.identity import carried, content_of, workflow_id
from agent.protocol.records import ENDED, TaskId, TaskState
from agent.regular_files import open_regular

LINE_WORDS_MAX = 4_096
OUTPUT_NUMBER_MAX = 10_000
PRIORITIES = ("low", "interactive")
PROGRESS_EVERY_S = 5.0
SUBSCRIBED_MAX = 100_000
PARAMETERS_BYTES_MAX = 65_536
Tell = Callable[[bytes], Awaitable[None]]


class TextError(ServiceError):
    """One sentence: what is wrong with the line."""


class Rule(NamedTuple):
    """How many words stand behind the first one, and what is said where it is another number."""

    usage: str
    least: int
    most: int
    wrong: str


RULES = {
    "PROVE": Rule("PROVE nonce", 1, 1, "takes one word behind it"),
    "TOKEN": Rule("TOKEN token", 1, 1, "takes one word behind it"),
    "SCHEDULE": Rule(
        "SCHEDULE program low|interactive [-p path] [-a task output]... [-x file]",
        2,
        LINE_WORDS_MAX,
        "needs a program and a priority",
    ),
    "SUBSCRIBE": Rule("SUBSCRIBE task...", 1, LINE_WORDS_MAX, "names no task"),
    "CANCEL": Rule("CANCEL task", 1, 1, "takes one word behind it"),
    "HELP": Rule("HELP", 0, 0, "takes nothing behind it"),
    "QUIT": Rule("QUIT", 0, 0, "takes nothing behind it"),
}
ONE_OF = f"say one of {', '.join(RULES)}"
SCHEDULE = RULES["SCHEDULE"].usage


def read_line(line: bytes) -> tuple[str, list[str]]:
    """Return the first word of a line, in large letters, and those behind it. Raises ``TextError``
    with what to say instead where the line is empty or cannot be read, its first word is unknown,
    or the words behind that are too few, too many, or begin with an empty one."""
    first, *told = _words(line)
    rule = RULES.get(first.upper())
    if rule is None:
        raise TextError(f"there is no {first[:40]}: {ONE_OF}")
    if not rule.least <= len(told) <= rule.most or told[:1] == [""]:
        raise TextError(f"{first.upper()} {rule.wrong}: {rule.usage}")
    return first.upper(), told


def _words(line: bytes) -> list[str]:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TextError(f"the line is not UTF-8 (byte {error.start})") from error
    unseen = next((letter for letter in text if letter != "\t" and not letter.isprintable()), None)
    if unseen is not None:
        raise TextError(f"the line has a character that cannot be seen (code {ord(unseen)})")
    lexer = shlex.shlex(text, posix=True)
    lexer.whitespace_split, lexer.escape, lexer.commenters = True, "", ""
    try:
        words = list(lexer)
    except ValueError as error:
        raise TextError("a quotation mark is not closed") from error
    if not words or not words[0]:
        raise TextError(f"the line says nothing: {ONE_OF}")
    if len(words) > LINE_WORDS_MAX:
        raise TextError(f"the line has more than {LINE_WORDS_MAX} words")
    return words


@dataclass(frozen=True, slots=True)
class Schedule:
    """Run a program. ``inputs``: task and number of its output, from 1."""

    program: str
    priority: str
    raw: str
    inputs: tuple[tuple[str, int], ...]
    parameters_file: str


def read_schedule(told: list[str]) -> Schedule:
    """Return what the words behind ``SCHEDULE``, at least two, ask for: program, priority and
    options. Raises ``TextError`` for a program that begins with a dash, a wrong priority, an
    unknown or repeated option, and one that lacks its words or number."""
    program, priority, *options = told
    if program.startswith("-"):
        raise TextError(f"SCHEDULE {RULES['SCHEDULE'].wrong}: {SCHEDULE}")
    if priority not in PRIORITIES:
        raise TextError(f'the priority is low or interactive, not "{priority[:40]}": {SCHEDULE}')
    raw = parameters_file = ""
    inputs: list[tuple[str, int]] = []
    while options:
        option = options.pop(0)
        match option:
            case "-p":
                raw = _value(option, raw, options)
            case "-x":
                parameters_file = _value(option, parameters_file, options)
            case "-a":
                inputs.append(_input(options))
            case _:
                raise TextError(f'SCHEDULE knows no "{option[:40]}": {SCHEDULE}')
    return Schedule(program, priority, raw, tuple(inputs), parameters_file)


def _value(option: str, before: str, options: list[str]) -> str:
    if before:
        raise TextError(f"{option} stands twice: {SCHEDULE}")
    if not options or not options[0]:
        raise TextError(f"{option} needs a word behind it: {SCHEDULE}")
    return options.pop(0)


def _input(options: list[str]) -> tuple[str, int]:
    if len(options) < 2 or not options[0]:
        raise TextError(f"-a needs a task and the number of its output: {SCHEDULE}")
    task, number = options.pop(0), options.pop(0)
    if not (number.isascii() and number.isdecimal() and len(number) <= len(str(OUTPUT_NUMBER_MAX))):
        raise TextError(f'the output of -a is a number from 1, not "{number[:40]}"')
    if not 1 <= int(number) <= OUTPUT_NUMBER_MAX:
        raise TextError(f"the output of -a is a number from 1 to {OUTPUT_NUMBER_MAX}, not {number}")
    return task, int(number)


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
        """Do what a line asks and tell the client the answer; return False after ``QUIT``, when the
        conversation is over, else True. A refusal (``ServiceError``) is told as an ``ERROR`` line;
        ``OSError`` of the connection, or of a file behind ``-p``, is raised."""
        try:
            return await self._answer(line)
        except ServiceError as error:
            await self._say("ERROR", str(error))
        return True

    async def tell_progress(self) -> None:
        """Tell the client of tasks it has subscribed to, at each change and, while they run, every
        few seconds, and of tasks it has cancelled when they have stopped; goes on until it is
        cancelled, or raises ``OSError`` when the connection is lost."""
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
        verb, told = read_line(line)
        match verb:
            case "PROVE":
                await self._say("PROOF", *told, *self._call.neighbour.prove(*told))
            case "TOKEN":
                await self._say("WELCOME", self._call.now.name, __version__)
            case "SCHEDULE":
                await self._say("SCHEDULED", await self._schedule(read_schedule(told)))
            case "SUBSCRIBE":
                await self._subscribe(dict.fromkeys(told))
            case "CANCEL":
                await self._cancel(*told)
            case "HELP":
                for rule in RULES.values():
                    await self._say("HELP", rule.usage)
            case _:
                return False
        return True

    async def _schedule(self, told: Schedule) -> TaskId:
        self._check_program(told.program)
        inputs = tuple(self._input(*each) for each in told.inputs)
        parameters = await asyncio.to_thread(_read_parameters, told.parameters_file)
        raw = await self._raw(told.raw)
        key = uuid.uuid4().hex
        name = f"{told.program[:100]}-{key[:8]}"
        spec = records.TaskSpec(
            *(told.program, told.program, told.program, inputs, raw), parameters=parameters
        )
        submitter, priority = self._call.now.name, PRIORITY_NAMES[told.priority]
        content = content_of(name, (spec,))
        workflow = workflow_id(submitter, key, content, self._call.now.node)
        spec = structs.replace(spec, task=task_id(workflow, told.program))
        more = carried(key, content)
        event = events.Submit(
            *(TO_BE_NAMED, workflow, name, submitter, priority, (spec,)), more=more
        )
        await wish(self._call, event)
        return spec.task

    def _check_program(self, program: str) -> None:
        machines = seen(self._call.now)
        known = dict.fromkeys(each for one in machines for each in one.capabilities.programs)
        if program not in known:
            meant = suggestion(program, known)
            raise TextError(f'no machine that is seen has the program "{program[:80]}"{meant}')

    def _input(self, task: str, number: int) -> records.InputRef:
        return records.InputRef(find_task(self._call.now.table, task, typed=True).task, number - 1)

    async def _raw(self, text: str) -> tuple[records.Dataset, ...]:
        """A file or folder of this machine becomes a dataset; anything else stays what it is."""
        if not text:
            return ()
        if await asyncio.to_thread(_is_here, text):
            await asyncio.to_thread(refuse_own, Path(text))
            return (await self._call.rooms.datasets.add(Path(text)),)
        if len(text) > records.SHORT_TEXT_MAX:
            raise TextError(f"-p is longer than {records.SHORT_TEXT_MAX} characters")
        return (records.Dataset(text, external=True),)

    async def _subscribe(self, named: Iterable[str]) -> None:
        table = self._call.now.table
        tasks = [find_task(table, each, typed=True).task for each in named]
        if len(self._subscribed) + len(tasks) > SUBSCRIBED_MAX:
            raise TextError(f"more than {SUBSCRIBED_MAX} tasks are subscribed by this connection")
        await self._say("SUBSCRIBED", *tasks)
        self._subscribed.update(dict.fromkeys(tasks))
        self._due.update(dict.fromkeys(tasks))
        self._news.set()

    async def _cancel(self, named: str) -> None:
        table = self._call.now.table
        task = find_task(table, named, typed=True).task
        reading = table.reading(task)
        if reading is not None and reading.state in ENDED:
            raise TextError(
                f"{table.specs[task].name} has ended already: it is {reading.state.value}"
            )
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
        await self._tell(" ".join(" ".join(words).split()).encode() + b"\n")


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
        with open_regular(path) as file:
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
