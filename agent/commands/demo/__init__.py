"""`wingbeat demo`: a temporary flock of real agents that works, loses a machine, and recovers.

Somebody who has one machine wants to see what several would do. So several agents are started here,
each a process with a home of its own, on loopback addresses; they make a flock by invitation, as
machines of an office do. They are given an inspection: raw measurements of a power line in which
plants were set too near to the wires, at places that only the generator and the check at the end
know; where a package has left the inspection out, they count primes. One agent is killed in the middle. What comes of it is compared with what was planted.

==============  ============================================================================
``machines``    the agents: started, joined, killed, ended
``leftovers``   what a killed demo leaves, and how it is removed
``work``        what the machines are given to do:
``inspection``  the survey, the programs, and what has to be found
``primes``      the same without the inspection
``real``        the same on the scans of a real flight
``playing``     the course of it, told as it happens
``screen``      the same for a person at a terminal
``lines``       what is told, as values, as plain lines, or as JSON for scripts
==============  ============================================================================

Nothing is left behind, whatever happens: processes are ended by their ids, the folder is deleted.
When the demo itself is killed, its agents end by themselves and the next demo deletes the folder.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from agent.client import ClientError
from agent.commands import exits
from agent.commands.asking import fail
from agent.commands.demo.inspection import Inspection, place_of_inspection
from agent.commands.demo.leftovers import new_folder, remove, remove_leftovers
from agent.commands.demo.lines import Tell, tell_json, tell_lines
from agent.commands.demo.machines import DemoError, Machines, keep_logs
from agent.commands.demo.playing import Playing
from agent.commands.demo.primes import Primes
from agent.commands.demo.real import Real
from agent.commands.demo.screen import screen
from agent.commands.demo.work import Work
from agent.commands.drawing import on_terminal
from agent.commands.parsing import Options, argument, command, number_of
from agent.workflow.faults import FaultsError

ENDING = ("SIGINT", "SIGTERM", "SIGHUP")
SEED_MAX = 10**9
MACHINES_MIN, MACHINES_MAX = 3, 9
SAID = {"crs": "EPSG:28992", "heights": "EPSG:5709", "target": "EPSG:28992"}
"""What scans may leave unsaid, with an example."""


@command(
    "demo",
    "Start a temporary flock of real agents on this machine, have it inspect a power line, kill\n"
    "one of the agents in the middle, and check what the others found. The landscape is made; with\n"
    "--real it is a flight of yours. Needs no set-up, touches no agent that runs here, and leaves\n"
    "nothing behind. Takes less than a minute.",
    "wingbeat demo",
    "wingbeat demo --keep results     # report.html, the tables and the agents' logs",
    "wingbeat demo --json | jq .what",
    "wingbeat demo --real flights/line-7 --crs EPSG:28992 --heights EPSG:5709",
    argument(
        "--seed", type=number_of("number", 0, SEED_MAX), default=1, help="draws the landscape"
    ),
    argument(
        "--machines",
        type=number_of("number", MACHINES_MIN, MACHINES_MAX),
        default=5,
        help=f"how many agents, {MACHINES_MIN} to {MACHINES_MAX} (5)",
    ),
    argument(
        "--real", type=Path, metavar="FOLDER", help="inspect the real scans there; takes longer"
    ),
    *(argument(f"--{name}", default="", help=f"of these, as {how}") for name, how in SAID.items()),
    argument("--keep", type=Path, metavar="FOLDER", help="keep results and logs there"),
    node=False,
)
def run(options: Options) -> int:
    """Play the demo, wait for its end and return the exit code: 0 only if everything was found.
    Nothing of it stays, also when it is interrupted, but with ``--keep`` results and logs in that
    new folder. An ``OSError`` without a file, as of output that nobody reads, comes through."""
    if options.keep is not None and options.keep.exists():
        return fail(options, f"{options.keep} is there already: name a new folder to keep it in")
    try:
        if options.keep is not None:  # whether that can be is not learnt at the end
            options.keep.mkdir(parents=True)
        return asyncio.run(_until_ended(options, new_folder()))
    except (DemoError, ClientError) as error:
        return fail(options, str(error))
    except OSError as error:
        if error.filename is None:
            raise  # whoever was to read what is told cannot be told
        return fail(options, f"{error.filename} cannot be used: {error.strerror}")
    except FaultsError as error:
        return fail(options, error.faults[0].sentence())
    except asyncio.CancelledError:
        return exits.INTERRUPTED


async def _until_ended(options: Options, folder: Path) -> int:
    """A signal that ends this process ends the play, and that cleans up.

    A second one, of somebody who does not want to wait for it, kills the agents that still run; the
    folder is removed all the same.
    """
    machines = Machines(folder, options.machines)
    playing = asyncio.ensure_future(_play(options, folder, machines))
    asked = False

    def end() -> None:
        """Have the play end; the second time, kill the agents that still run."""
        nonlocal asked
        if asked:
            machines.kill_all()
        else:
            playing.cancel()
        asked = True

    for name in ENDING:
        if number := getattr(signal, name, None):
            _on_signal(number, end)
    return await playing


def _on_signal(number: signal.Signals, act: Callable[[], None]) -> None:
    """In the loop; on Windows, whose loop does not know signals, by way of Python's own handlers."""
    loop = asyncio.get_running_loop()
    try:
        loop.add_signal_handler(number, act)
    except NotImplementedError:
        with suppress(OSError, ValueError):
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(act))


async def _play(options: Options, folder: Path, machines: Machines) -> int:
    playing = Playing(machines, _work(folder, options), options.keep)
    try:
        with _audience(options) as tell:
            good = await playing.play(tell)
    finally:
        await asyncio.shield(machines.end())
        try:
            if options.keep is not None:
                keep_logs(machines.all, options.keep / "logs")
        finally:
            remove(folder)
            remove_leftovers()  # by now their agents have had time to end
    return exits.DONE if good else exits.WORK_FAILED


def _work(folder: Path, options: Options) -> Work:
    if options.real is not None:
        told = {name: getattr(options, name) for name in SAID if getattr(options, name)}
        return Real(folder / "plan", options.real, told)
    place = place_of_inspection()
    if place is None:
        return Primes(folder / "primes", options.seed)
    return Inspection(folder / "survey", options.seed, place)


@contextmanager
def _plain(tell: Tell) -> Iterator[Tell]:
    yield tell
    sys.stdout.flush()


def _audience(options: Options) -> AbstractContextManager[Tell]:
    if options.json:
        return _plain(tell_json)
    if on_terminal() and os.environ.get("TERM") != "dumb":
        return screen()
    return _plain(tell_lines)
