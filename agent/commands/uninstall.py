"""`wingbeat uninstall`: this machine leaves, and nothing of Wingbeat runs or starts here any more."""

from __future__ import annotations

import asyncio

from msgspec import Struct

from agent.api.flock import HandedOver
from agent.api.session import STOP, Stop
from agent.client import Client, ClientError, Home, NoAgentError
from agent.client.link import read_control_file, service_of
from agent.client.own_agent import OwnAgent, host
from agent.client.removal import (
    STANDS_STILL_S,
    STOPPED_S_MAX,
    OnlyHereError,
    delete_home,
    end_windows,
    forget_login,
    hand_over_and_leave,
)
from agent.commands.asking import fail, tell
from agent.commands.parsing import Options, argument, command, number_of
from agent.commands.showing import is_typed, show_lines

PATIENCE_S_MAX = 86_400
QUESTION = "Remove Wingbeat from this machine: hand over, leave the flock, end the agent? [y/N] "
ABOUT_DATA = "Delete its data here too: settings, logs, datasets, the table of work? [y/N] "
DATA = ("keep", "delete")
PACKAGE = (
    "what is left is the package: `pipx uninstall wingbeat`, `uv tool uninstall wingbeat` or "
    "`pip uninstall wingbeat`, whichever has installed it"
)


class Removed(Struct, frozen=True):
    """What was done: ``login``, whether the tray was started at login; ``data``, where data is kept
    that was not deleted, empty where none is."""

    flock: str
    warning: str
    login: bool
    data: tuple[str, ...]


@command(
    "uninstall",
    "Remove Wingbeat from this machine, up to the package itself: what only this machine keeps is\n"
    "given to others, what it runs is handed back, it leaves the flock, the agent ends and starts\n"
    "at login no more. What is asked can be answered by --yes and --data.",
    "wingbeat uninstall",
    "wingbeat uninstall --yes --data delete",
    argument("--yes", action="store_true", help="do not ask whether to do it"),
    argument("--data", choices=DATA, help="what becomes of settings, logs and datasets here"),
    argument(
        "--patience",
        type=number_of("number of seconds", 1, PATIENCE_S_MAX),
        default=round(STANDS_STILL_S),
        metavar="SECONDS",
        help="how long to wait for somebody who takes what only this machine keeps",
    ),
    argument(
        "--even-so",
        action="store_true",
        help="although results are only here, or nobody could let machines in after that",
    ),
    node=False,
)
def run(options: Options) -> int:
    """Remove this machine from its flock and Wingbeat from this machine, with its data if that is
    wanted, after asking what ``--yes`` and ``--data`` do not answer; return the exit code, that of
    a failure where nobody can be asked, a person says no, or something would be lost."""
    asks = is_typed() and not options.json
    if not asks and not (options.yes and options.data):
        return fail(options, "nobody can be asked here: say --yes, and --data keep or delete")
    if not options.yes and not _yes(QUESTION):
        return fail(options, "nothing was done")
    delete = options.data == "delete" if options.data else _yes(ABOUT_DATA)
    home = Home.of()
    try:
        flock, warning = _leave(options, home)
        login = forget_login()
    except OnlyHereError as error:
        return fail(options, f"{error}; or leave all the same with --even-so")
    except ClientError as error:
        return fail(options, str(error))
    except OSError as error:
        return fail(options, f"{error.filename}: {error.strerror}")
    kept = delete_home(home) if delete else [each for each in home.folders if each.exists()]
    removed = Removed(flock, warning, login, tuple(map(str, kept)))
    return tell(options, removed, _lines(removed, delete=delete))


def _yes(question: str) -> bool:
    try:
        return input(question).strip().casefold() in ("y", "yes")
    except EOFError:
        return False


def _lines(removed: Removed, *, delete: bool) -> list[str]:
    kept = ", ".join(removed.data)
    lines = [
        f"this machine has left the flock {removed.flock}" if removed.flock else "",
        f"warning: {removed.warning}" if removed.warning else "",
        "it does not start at login any more" if removed.login else "",
        f"{'could not be deleted' if delete else 'kept'}: {kept}"
        if kept
        else "its data is deleted",
        PACKAGE,
    ]
    return [each for each in lines if each]


def _leave(options: Options, home: Home) -> tuple[str, str]:
    """By the agent that runs, or one that is started for it where this machine belongs to a flock;
    it has ended on return, and a window with it. Raises ``ClientError``."""
    inside: OwnAgent | None = None
    try:
        own = service_of(home) is None and _answers(home)  # never the machine's in its place
        process = read_control_file(home).process if own else 0
        if not process and home.identity.is_dir():
            inside = host(home)
        left = ("", "")
        if process or inside is not None:
            left = asyncio.run(_leave_by(options, home, process))
    finally:
        if inside is not None:
            inside.stop("wingbeat uninstall", STOPPED_S_MAX)
    end_windows(home, process)
    return left


def _answers(home: Home) -> bool:
    async def greet() -> None:
        async with await Client.connect(home, "wingbeat command"):
            pass

    try:
        asyncio.run(greet())
    except NoAgentError:
        return False
    return True


async def _leave_by(options: Options, home: Home, process: int) -> tuple[str, str]:
    def told(left: HandedOver) -> None:
        if left.datasets and not options.json:
            size = f"{left.size_bytes / 1e6:.1f} MB"
            show_lines([f"handing over what only this machine keeps: {left.datasets}, {size}"])

    async with await Client.connect(home, "wingbeat command") as client:
        left = await hand_over_and_leave(
            client, told, even_so=options.even_so, stands_still_s=options.patience
        )
        if process:
            await client.call(STOP, Stop("wingbeat uninstall"))
            await client.wait_ended(STOPPED_S_MAX)
    return left
