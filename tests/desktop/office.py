"""What a person of an office has: a flock of two machines, and the window of one of them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from agent.api.values import TaskState
from agent.api.volunteering import VOLUNTEERING, Volunteering, VolunteeringView
from agent.api.work import SHOW, STATUS, Show, Status, TaskView
from agent.client import BlockingClient
from agent.client.errors import ClientError
from tests.desktop.desktop import END_S_MAX, Desktop
from tests.desktop.screen_reader import Part, ScreenReader
from tests.desktop.virtual_desktop import VirtualDesktop
from tests.hosts.machine import TOLD_MAX, Machine

TASKS_MAX = 100
CLASS = "^wingbeat$"
ICON_MAX = 64
PROGRAM = """\
import pathlib
import sys

print("reading the flight lines", flush=True)
if not pathlib.Path({needed!r}).exists():
    print("ERROR the calibration is missing", flush=True)
    sys.exit(3)
pathlib.Path("result.las").write_text("points")
print("TERMINATED result.las", flush=True)
"""
WORKFLOW = """\
name: {name}
tasks:
  survey: {{program: survey, expected: 1s, retries: 0}}
  report: {{program: survey, inputs: survey, expected: 1s, retries: 0}}
"""


class Office:
    """The machines, and what makes their tasks succeed."""

    def __init__(self, folder: Path, desktop: Desktop, answer: str = "always") -> None:
        self.desktop = desktop
        self.folder = folder
        self.calibration = folder / "calibration"
        self.calibration.touch()
        self.own, self.other = (
            Machine(folder / name, answer=answer) for name in ("acor", "cagarro")
        )
        for machine in (self.own, self.other):
            machine.settle(listen=["127.0.0.1"], port=0, name=machine.name)
            machine.install("survey", PROGRAM.format(needed=str(self.calibration)))

    @contextmanager
    def open(self) -> Iterator[Office]:
        """Two agents of one flock, until the end of the block."""
        with self.other.agent(), self.own.agent():
            self.own.said("flock", "create", "survey office")
            self.other.said("flock", "join", self.own.answer("flock", "invite")["text"])
            yield self

    def signal_agent(self, number: signal.Signals) -> None:
        """Kill it, stop it, or let it go on."""
        os.kill(self.own.process_id, number)

    def bring_back(self, done: signal.Signals) -> None:
        """After that signal the agent goes on, or is started again."""
        if done is signal.SIGKILL:
            self.own.wait()
            self.own.start()
            self.own.up()
        else:
            self.signal_agent(signal.SIGCONT)

    def file(self, name: str, folder: Path) -> Path:
        """A workflow of two tasks."""
        path = folder / f"{name}.wingbeat.yaml"
        path.write_text(WORKFLOW.format(name=name), "utf-8")
        return path

    def workflows(self) -> dict[str, str]:
        """As the agent has them: the identifiers, by name."""
        with BlockingClient(self.own.home) as client:
            return {each.name: each.workflow for each in client.call(STATUS, Status()).workflows}

    def tasks(self, workflow: str) -> dict[str, TaskView]:
        """As the agent has them, by name; none before it has the workflow."""
        with contextlib.suppress(ClientError), BlockingClient(self.own.home) as client:
            reply = client.call(SHOW, Show(workflow, limit=TASKS_MAX))
            return {each.name: each for each in reply.tasks}
        return {}

    def states(self, workflow: str) -> list[TaskState]:
        """Of all tasks."""
        return [each.state for each in self.tasks(workflow).values()]

    def volunteering(self) -> VolunteeringView:
        """Whether the window's machine helps, by its agent."""
        with BlockingClient(self.own.home) as client:
            return client.call(VOLUNTEERING, Volunteering())

    @contextmanager
    def window(self, *arguments: str, **more: str) -> Iterator[Window]:
        """The program with tray and window, as its own process."""
        with self.read_window(*arguments, **more) as read:
            yield Window(self, read.program, read.reader)

    @contextmanager
    def read_window(self, *arguments: str, **more: str) -> Iterator[ReadWindow]:
        """The same on a desktop whose mouse is nobody's."""
        with ExitStack() as stack:
            program = stack.enter_context(self.start_window(*arguments, **more))
            reader = ScreenReader(self.desktop.bus_address, program.pid)
            stack.callback(reader.close)
            yield ReadWindow(self, program, reader)

    def start_window(
        self, *arguments: str, **more: str
    ) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
        """Without looking at it."""
        home = {"WINGBEAT_HOME": str(self.own.folder), "PYTHONWARNINGS": "error", **more}
        command = (sys.executable, "-X", "faulthandler", "-m", "gui")
        return self.desktop.program(*command, *arguments, **home)


class ReadWindow:
    """What a person sees of it, and does with the keyboard."""

    def __init__(
        self, office: Office, program: subprocess.Popen[bytes], reader: ScreenReader
    ) -> None:
        self.office, self.program, self.reader = office, program, reader

    @property
    def desktop(self) -> Desktop:
        """Where it is."""
        return self.office.desktop

    def part(self, name: str) -> Part:
        """Wait until something of this object name is seen."""
        return self._finds(lambda: self.reader.found(name), f"{name} is seen")

    def called(self, name: str, role: str = "") -> Part:
        """Wait until something that is read out like this is seen."""
        return self._finds(
            lambda: next(iter(self.reader.named(name, role)), None), f"{name!r} is seen"
        )

    def _finds(self, find: Callable[[], Part | None], told: str) -> Part:
        def found() -> Part | None:
            assert self.program.poll() is None, f"before {told}, it ended: {self._last_words()}"
            return find()

        return self.desktop.finds(found, told, lambda: (self.reader.told(), self._last_words()))

    def _last_words(self) -> str:
        """The end of what it printed; where it runs on, it is ended and says what it was doing."""
        if self.program.poll() is None:
            self.program.send_signal(signal.SIGABRT)
            self.program.wait(END_S_MAX)
        printed = self.desktop.output(sys.executable).read_text(errors="replace")
        return f"exit code {self.program.returncode}, printed {printed[-TOLD_MAX:]}"

    def tells(self, text: str) -> bool:
        """Whether it stands somewhere in what is seen."""
        return any(text in each for each in self.reader.told())

    def troubled(self) -> bool:
        """Whether it says that something is wrong with the agent."""
        return self.reader.found("agentTroubleSentence") is not None

    def trouble(self) -> tuple[str, str]:
        """The sentence, and what stands on the button beside it."""
        return self.part("agentTroubleSentence").name, self.part("agentTroubleHelp").name

    def to_front(self) -> None:
        """The window is there and has the keyboard."""
        self.part("workflowsFilter")
        self.desktop.sees(lambda: self.desktop.in_front() == "Wingbeat", "it is in front")


class Window(ReadWindow):
    """The same with a mouse, and with an icon in a panel."""

    @property
    def desktop(self) -> VirtualDesktop:
        """One that has them."""
        assert isinstance(self.office.desktop, VirtualDesktop)
        return self.office.desktop

    def click(self, part: Part, button: int = 1) -> None:
        """In its middle."""
        self.desktop.click(part.middle, button)

    @property
    def frame(self) -> str:
        """The window as the window manager knows it, once it does.

        A screen reader may be told of it before; the icon in the tray has the same name.
        """

        def widest() -> str | None:
            width = {
                each: self.desktop.extents(each)[2]
                for each in self.desktop.windows("--name", "^Wingbeat$")
            }
            return max(
                (each for each in width if width[each] > ICON_MAX),
                key=lambda each: width[each],
                default=None,
            )

        return self.desktop.finds(widest, "the window is on the screen")

    def drop(
        self, start: tuple[int, int], held: Callable[[], object], dragged: Callable[[], bool]
    ) -> None:
        """Drag what is there onto this window, wait until it says what will happen, let go."""
        left, top, width, height = self.desktop.extents(self.frame)
        end = (left + width * 2 // 3, top + height // 2)
        self.desktop.drag(start, end, held, dragged)

        def taken() -> bool:
            self.desktop.jiggle(end)
            return self.tells("Drop to submit")

        self.desktop.sees(taken, "it takes the file")
        self.desktop.release()

    # -- the tray ----------------------------------------------------------------------------

    def click_tray(self, button: int) -> None:
        """Once the icon is in the panel."""
        self.desktop.click(self.desktop.finds(self.icon, "the icon is in the tray"), button)

    def open_tray_menu(self) -> None:
        """By a right click; it has the keyboard then."""
        before = set(self.desktop.windows("--class", CLASS))
        self.click_tray(3)
        self.desktop.sees(
            lambda: bool(set(self.desktop.windows("--class", CLASS)) - before), "the menu is open"
        )

    def icon(self) -> tuple[int, int] | None:
        """Its middle, once it is where the panel shows it: at its right end. Before, it is in the
        panel's other corner, or in the screen's."""
        panels = map(self.desktop.extents, self.desktop.windows("--class", "tint2"))
        panel = max(panels, key=lambda extents: extents[2])
        for each in self.desktop.windows("--class", CLASS):
            left, top, width, height = self.desktop.extents(each)
            placed = left > panel[0] + panel[2] // 2 and top >= panel[1]
            if placed and 1 < width <= ICON_MAX and 1 < height <= ICON_MAX:
                return left + width // 2, top + height // 2
        return None
