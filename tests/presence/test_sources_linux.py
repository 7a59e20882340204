"""Sources of Linux on files like those of the kernel, and on processes that are really there."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from agent.api.presence_reasons import SystemSays
from agent.presence.looking import last_of, running_programs
from agent.presence.readings import LastInput, Reading, Seen, Sessions, Unseen
from agent.presence.sources import TRY_BETTER_EVERY_S, FirstThatSees, Source, blind
from agent.presence.sources.linux import (
    LinuxOwnTime,
    linux_mains,
    linux_names,
    linux_names_of_person,
    terminal_last_input,
)
from agent.presence.sources.processor import CountedOwnTime, free_memory
from agent.presence.sources.programs import ExclusivePrograms, names_to_choose, own_processes
from tests.certain import certain, of_kind
from tests.hosts.waiting import wait_for
from tests.presence.clocks import Clock

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="these sources read files of the Linux kernel"
)


@pytest.mark.parametrize(
    ("supplies", "expected"),
    [
        ([], True),
        ([{"type": "Mains", "online": "1"}, {"type": "Battery", "status": "Full"}], True),
        ([{"type": "Mains", "online": "0"}, {"type": "Battery", "status": "Discharging"}], False),
        ([{"type": "Mains", "online": "0"}, {"type": "Battery", "status": "Unknown"}], False),
        ([{"type": "Battery", "status": "Charging"}], True),
        ([{"type": "Battery", "status": "Discharging", "scope": "Device"}], True),
        ([{"type": "USB", "online": "1"}, {"type": "Battery", "status": "Charging"}], True),
        ([{"type": "USB", "online": "0"}, {"type": "Battery", "status": "Discharging"}], False),
        (
            [{"type": "Battery", "status": "Full"}, {"type": "Battery", "status": "Discharging"}],
            False,
        ),
    ],
)
def test_mains(tmp_path: Path, supplies: list[dict[str, str]], expected: bool) -> None:
    for number, supply in enumerate(supplies):
        folder = tmp_path / f"supply{number}"
        folder.mkdir()
        for name, value in supply.items():
            (folder / name).write_text(f"{value}\n")
    assert linux_mains(tmp_path).read() == Seen(expected, "the kernel")


def test_a_machine_that_knows_of_no_supplies_is_on_mains(tmp_path: Path) -> None:
    assert linux_mains(tmp_path / "none").read() == Seen(value=True, by="the kernel")


def test_the_newest_input_of_all_terminals_counts(tmp_path: Path) -> None:
    pseudo, console = tmp_path / "pts", tmp_path / "active"
    pseudo.mkdir()
    for name, at_s in (("0", 1_000), ("3", 1_600), ("ptmx", 1_900)):
        (pseudo / name).touch()
        os.utime(pseudo / name, (at_s, 1_950))
    (tmp_path / "tty1").touch()
    os.utime(tmp_path / "tty1", (1_500, 1_500))
    console.write_text("tty1\n")
    source = terminal_last_input(Clock(50_000), lambda: 2_000.0, pseudo, console, tmp_path)
    assert source.read() == Seen(LastInput(49_600, None, "pts/3"), "terminals")
    os.utime(tmp_path / "tty1", (1_990, 1_500))
    assert source.read() == Seen(LastInput(49_990, None, "tty1"), "terminals")


def test_without_terminals_nobody_typed(tmp_path: Path) -> None:
    source = terminal_last_input(Clock(), time.time, tmp_path / "a", tmp_path / "b", tmp_path)
    assert source.read() == Seen(LastInput(float("-inf")), "terminals")


def test_typing_in_a_real_terminal_is_seen_and_printing_is_not(tmp_path: Path) -> None:
    try:
        upper, lower = pty.openpty()
    except OSError as error:
        pytest.skip(f"no terminal can be made here: {error}")
    try:
        path = Path(os.ttyname(lower))
        if path.parent != Path("/dev/pts") or not path.exists():
            pytest.skip("this system shows no pseudo terminals under /dev/pts")
        an_hour_ago_s = time.time() - 3_600
        os.utime(path, (an_hour_ago_s, an_hour_ago_s))
        os.write(lower, b"a program prints\n")
        assert time.time() - path.stat().st_atime > 3_000
        os.write(upper, b"somebody types\n")
        os.read(lower, 100)
        found = of_kind(Seen, terminal_last_input(time.monotonic).read())
        assert time.monotonic() - found.value.at_s < 30
    finally:
        os.close(upper)
        os.close(lower)


# -- the last input, put together ----------------------------------------------------------------

EARLY, LATE = Seen(LastInput(10.0)), Seen(LastInput(20.0, None, "pts/1"))
BLIND = Unseen(SystemSays("it is dark"))


@pytest.mark.parametrize(
    ("screen", "terminal", "sessions", "expected"),
    [
        (EARLY, LATE, BLIND, LATE),
        (LATE, EARLY, BLIND, LATE),
        (EARLY, BLIND, BLIND, EARLY),
        (BLIND, LATE, BLIND, BLIND),
        (BLIND, LATE, Seen(Sessions()), BLIND),
        (BLIND, LATE, Seen(Sessions(nobody=True)), LATE),
        (
            BLIND,
            BLIND,
            Seen(Sessions(nobody=True), "logind"),
            Seen(LastInput(float("-inf")), "logind"),
        ),
    ],
)
def test_terminals_alone_do_not_do_while_somebody_may_be_at_a_screen(
    screen: Reading[LastInput],
    terminal: Reading[LastInput],
    sessions: Reading[Sessions],
    expected: Reading[LastInput],
) -> None:
    assert last_of(screen, terminal, sessions) == expected


class Sometimes(Source[str]):
    """A source of which a test decides whether it sees."""

    def __init__(self, value: str, *, sees: bool) -> None:
        self.value, self.sees, self.reads = value, sees, 0

    def read(self) -> Reading[str]:
        self.reads += 1
        return Seen(self.value) if self.sees else Unseen(SystemSays(f"{self.value} is blind"))


def test_the_first_that_sees_is_asked_and_better_ones_are_tried_again_now_and_then() -> None:
    clock = Clock()
    best, second = Sometimes("best", sees=False), Sometimes("second", sees=True)
    source = FirstThatSees([best, second], clock)
    assert source.read() == Seen("second")
    best.sees = True
    assert source.read() == Seen("second")
    assert best.reads == 1
    clock.pass_s(TRY_BETTER_EVERY_S)
    assert source.read() == Seen("best")
    best.sees = False
    assert source.read() == Seen("second"), "who goes blind is left at once"
    second.sees = False
    assert source.read() == Unseen(SystemSays("best is blind"), SystemSays("second is blind"))
    assert blind(SystemSays("it is dark")).read() == BLIND


# -- the processor -------------------------------------------------------------------------------


BURN = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass\n"


def test_what_children_use_is_counted_as_own_also_after_they_have_ended() -> None:
    own = LinuxOwnTime()
    before_s = own.read()
    script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BURN.format(0.3)!r}])"
    subprocess.run([sys.executable, "-c", script], check=True)
    assert own.read() - before_s >= 0.3


SPAWNING = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BURN.format(60)!r}])"
ABANDONED = f"(exec setsid {sys.executable} -c '{BURN.format(60)}' &); exec sleep 60"
GUARDIAN = f"""\
import os, signal, subprocess, sys
from agent.execution.keeper import become_subreaper
from agent.execution.process_tree import end_tree
become_subreaper()
program = subprocess.Popen(['sh', '-c', {ABANDONED!r}], start_new_session=True)
sys.stdin.read()
end_tree(os.getpid())
"""


@pytest.mark.parametrize(
    ("kind", "program", "guarded"),
    [
        pytest.param(LinuxOwnTime, SPAWNING, False, id="living grandchildren"),
        pytest.param(LinuxOwnTime, GUARDIAN, True, id="who is abandoned, below the guardian"),
        pytest.param(CountedOwnTime, BURN.format(60), False, id="elsewhere, who has ended stays"),
    ],
)
def test_what_programs_use_is_counted_as_own(
    kind: type[LinuxOwnTime | CountedOwnTime], program: str, guarded: bool
) -> None:
    own = kind()
    before_s = own.read()
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, start_new_session=True
    )
    try:
        wait_for(lambda: own.read() - before_s > 0.2, 60, "its time is counted")
    finally:
        if not guarded:
            os.killpg(child.pid, 9)
        child.communicate()
    if kind is CountedOwnTime:
        assert own.read() - before_s > 0.2


# -- programs and memory -------------------------------------------------------------------------


def test_a_program_is_found_by_its_name_unless_it_is_one_of_ours(tmp_path: Path) -> None:
    name = f"a{os.getpid()}-Very-Long-Program-Name"  # another run of these has another one
    script = tmp_path / name.lower()
    script.write_text("#!/bin/sh\necho here\nread line\n")
    script.chmod(0o700)
    source = ExclusivePrograms(linux_names, frozenset)
    source.watch((name, "no-such-program"))
    assert source.read() == Seen(())
    child = subprocess.Popen([script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        certain(child.stdout).readline()
        assert source.read() == Seen((name,))
        ours = ExclusivePrograms(linux_names, own_processes)
        ours.watch((name.lower(),))
        assert ours.read() == Seen(())
        mine = list(linux_names_of_person())
        assert (child.pid, name.lower()[:15]) in mine
        assert not {pid for pid, _ in mine} & kernel_threads()
        assert name.lower()[:15] in names_to_choose(mine, ())
        assert name.lower()[:15] not in running_programs(), "it is one of ours"
    finally:
        child.communicate()


def kernel_threads() -> set[int]:
    """What the kernel runs for itself is of nobody, or has no program."""
    return {each.pid for each in psutil.process_iter() if each.ppid() == 2 or each.pid == 2}


def test_programs_of_other_people_are_not_to_choose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = tmp_path / "10"
    theirs.mkdir()
    (theirs / "comm").write_text("zoom")
    (theirs / "exe").symlink_to("/bin/sh")
    assert list(linux_names_of_person(tmp_path)) == [(10, "zoom")]
    somebody_else = os.getuid() + 1
    with monkeypatch.context() as patched:
        patched.setattr(os, "getuid", lambda: somebody_else)
        assert list(linux_names_of_person(tmp_path)) == []
    (theirs / "exe").unlink()  # as of the kernel's
    assert list(linux_names_of_person(tmp_path)) == []


def test_a_list_of_programs_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    source = ExclusivePrograms(lambda: linux_names(tmp_path / "none"), frozenset)
    source.watch(("zoom",))
    assert isinstance(source.read(), Unseen)


def test_some_memory_is_free() -> None:
    assert of_kind(Seen, free_memory().read()).value > 0
