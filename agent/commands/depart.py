"""`wingbeat depart`: what a package has done before it is removed, for one account or for all.

Nobody can be asked then, and the package may come back: so data, settings and the start at login stay,
and what nobody takes does not hold the removal up, but is told. An agent belongs to an account and
answers that one; so whoever removes a package for all has a command of each account ask its own.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from agent.api.session import STOP, Stop
from agent.client import Client, ClientError, Home, NoAgentError
from agent.client.link import read_control_file, service_of
from agent.client.own_agent import own_command
from agent.client.removal import PLACES, STOPPED_S_MAX, Parting, end_windows, part
from agent.commands import exits
from agent.commands.asking import fail, tell
from agent.commands.parsing import Options, argument, command, number_of

WITHIN_S, WITHIN_S_MAX = 90, 3_600
REST_S = 120.0
"""What leaving and ending may take beyond the handing over."""
ACCOUNTS_MAX = 256
STAYING = {
    "alone": "no other machine belongs to {flock}: it is kept with the data",
    "unreached": "no machine of {flock} is reached: it still lists this one, expel it there",
    "refused": "still a member of {flock}: {warning}",
}


class Departed(Struct, frozen=True):
    """Of one account: what became of its place and its results, where its data is kept, and whether
    anything of it ran. ``error``: what could not be done."""

    parting: Parting = Parting()
    data: str = ""
    account: str = ""
    error: str = ""
    ran: bool = False


_read = msgspec.json.Decoder(Departed)


class AllDeparted(Struct, frozen=True):
    """All accounts of which something ran."""

    accounts: tuple[Departed, ...]


class Account(Struct, frozen=True):
    """Of whom something runs, and the words by which it finds its home."""

    user: int
    group: int
    environment: tuple[tuple[str, str], ...]


@command(
    "depart",
    "Hand over what only this machine keeps and what it runs, leave the flock, and end agent and\n"
    "tray, without a question: packages do it before they are removed. Data, settings and the start\n"
    "at login stay.",
    "wingbeat depart",
    "sudo wingbeat depart --everybody /opt/wingbeat",
    argument(
        "--everybody",
        metavar="FOLDER",
        default="",
        help="as root, of all accounts whose agent or tray runs from there, the service among them",
    ),
    argument(
        "--within",
        type=number_of("number of seconds", 1, WITHIN_S_MAX),
        default=WITHIN_S,
        metavar="SECONDS",
        help=f"how long handing over may take (default {WITHIN_S})",
    ),
    node=False,
)
def run(options: Options) -> int:
    """Have this home's agent, or as root with ``--everybody`` all that run from a folder, hand
    over, leave their flocks and end. Return the exit code, that of a failure where that cannot be
    done; with ``--everybody`` it is done for all others first, and with ``--json`` the answer says
    of each account what failed."""
    if not options.everybody:
        try:
            done = _depart(Home.of(), options.within)
        except ClientError as error:
            return fail(options, str(error))
        return tell(options, done, _lines(done))
    if sys.platform == "win32" or os.geteuid() != 0:
        return fail(
            options,
            "only root speaks for everybody: sudo wingbeat depart --everybody /opt/wingbeat",
        )
    found = tuple(_all_departed(accounts(Path(options.everybody)), options.within))
    lines = [f"{each.account}: {line}" for each in found for line in _lines(each)]
    code = tell(options, AllDeparted(found), lines)
    wrong = [f"{each.account}: {each.error}" for each in found if each.error]
    if wrong and options.json:
        return exits.FAILED
    return fail(options, "; ".join(wrong)) if wrong else code


def _depart(home: Home, within_s: float) -> Departed:
    """Of this account, and no other's: what answers may be the machine's agent."""
    parting, process = Parting(), 0
    if service_of(home) is None:
        try:
            process = read_control_file(home).process
            parting = asyncio.run(_part(home, within_s))
        except NoAgentError:
            process = 0  # what has left its file may be another program by now
    ran = end_windows(home, process)
    return Departed(parting, str(home.data), ran=ran)


async def _part(home: Home, within_s: float) -> Parting:
    async with await Client.connect(home, "wingbeat depart") as client:
        parting = await part(client, within_s)
        await client.call(STOP, Stop("Wingbeat is removed from this machine"))
        await client.wait_ended(STOPPED_S_MAX)  # who has not by then is ended with the windows
    return parting


def _lines(done: Departed) -> list[str]:
    parting = done.parting
    lines = [
        f"handed over, because only this machine kept them: {parting.handed_over}"
        if parting.handed_over
        else "",
        f"nobody takes them, so they are only here, in {done.data}: {parting.only_here}"
        if parting.only_here
        else "",
    ]
    if parting.stays:
        lines.append(STAYING[parting.stays].format(flock=parting.flock, warning=parting.warning))
    elif parting.flock:
        lines += [f"has left the flock {parting.flock}", parting.warning]
    return [each for each in lines if each] or ["has ended" if done.ran else "nothing ran"]


# -- everybody ------------------------------------------------------------------------------------


def accounts(folder: Path, processes: Path = Path("/proc")) -> list[Account]:
    """Return the accounts of which an agent or a tray runs from this folder, in the same file
    system as this process, at most ``ACCOUNTS_MAX``, one of several homes once for each; what ends
    meanwhile or cannot be read is left out."""
    found = set()
    for each in processes.glob("[0-9]*"):
        try:
            words = _words(each / "cmdline")
            if _is_ours(words, folder) and os.path.samestat(
                (each / "root").stat(), Path("/").stat()
            ):
                user, group = _numbers(each / "status")
                told = dict(word.partition("=")[::2] for word in _words(each / "environ"))
                kept = tuple((name, told[name]) for name in PLACES if name in told)
                found.add(Account(user, group, kept))
        except (OSError, ValueError):
            continue
    return sorted(found, key=lambda each: (each.user, each.environment))[:ACCOUNTS_MAX]


def _numbers(status: Path) -> tuple[int, ...]:
    """The numbers of account and group: those of a process's folder may be root's."""
    lines = dict(line.partition(":")[::2] for line in status.read_text().splitlines())
    return tuple(int(lines[name].split()[0]) for name in ("Uid", "Gid"))


def _words(file: Path) -> list[str]:
    return file.read_bytes().decode("utf-8", "surrogateescape").split("\0")


def _is_ours(words: list[str], folder: Path) -> bool:
    """`wingbeat agent`, a tray, or either as `python -m`; not another command."""
    tray = any(Path(word).name in ("wingbeat-tray", "gui") for word in words)
    told = words[words.index("-m") + 2 :] if "-m" in words else words[1:]
    return words[0].startswith(f"{folder}/") and (tray or "agent" in told)


def _all_departed(found: Iterable[Account], within_s: float) -> Iterator[Departed]:
    """Each as its own account, one after the other: who leaves later is handed what the earlier ones
    kept, and hands it on to who stays. The time is that of all."""
    ends_s = time.monotonic() + within_s
    for account in found:
        left_s = max(1, round(ends_s - time.monotonic()))
        words = [*own_command("agent", "-I"), "depart", "--json", f"--within={left_s}"]
        process, err = _begun(words, account), b""
        try:
            out, err = process.communicate(timeout=left_s + REST_S)
            told = _read.decode(out)  # a refusal has an error, too
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            told = Departed(error="does not end")
        except msgspec.MsgspecError:
            told = Departed(error=err.decode("utf-8", "replace").strip() or "does not answer")
        yield replace(told, account=_name(account.user))


def _begun(words: list[str], account: Account) -> subprocess.Popen[bytes]:
    """Nothing of this account's goes along, and nothing of theirs but where their home is."""
    environment: Mapping[str, str] = {"PATH": os.defpath, **dict(account.environment)}
    return subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd="/",
        env=environment,
        user=account.user,
        group=account.group,
        extra_groups=[],
        start_new_session=True,
    )


def _name(user: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)
