"""`wingbeat flock appoint`, `role`, `expel`, `recover`, `phrase`, `upgrade`: what administrators do.

The recovery phrase is read from standard input, never from the command line, where other accounts could
read it; it is asked for when the agent says that it is wanted.
"""

from __future__ import annotations

import getpass
from collections.abc import Callable
from typing import TypeVar

from msgspec.structs import replace

from agent.api.administration import (
    APPOINT,
    NEW_PHRASE,
    RECOVER,
    SET_ROLE,
    UPGRADE_FLOCK,
    Acted,
    Appoint,
    NewPhrase,
    PhraseShown,
    Recover,
    SetRole,
    UpgradeFlock,
)
from agent.api.flock import EXPEL, Expel, Expelled
from agent.api.people import Unpair
from agent.api.rpc import ErrorCode, Method, R
from agent.client import BlockingClient, ClientError, RequestError
from agent.commands.asking import fail, tell, with_client
from agent.commands.parsing import Options, argument, command, misuse
from agent.commands.showing import confirm, is_typed, phrase_lines, show_lines, typed_line

PHRASE = argument(
    "--phrase",
    action="store_true",
    help="read the recovery phrase from standard input, where an administrator is missing",
)
MEMBER = argument("member", metavar="MEMBER", help="its name or id")
_Signed = TypeVar("_Signed", Appoint, SetRole, Expel, NewPhrase, Unpair)


@command(
    "flock appoint",
    "Make a machine an administrator, who lets in, expels and appoints, or a keeper, which holds the\n"
    "flock's key. That takes two administrators, who say the same; where there is only one, the\n"
    "recovery phrase is the other.",
    "wingbeat flock appoint birch --administrator",
    "wingbeat flock appoint birch --keeper",
    "wingbeat flock appoint birch --keeper --withdraw",
    MEMBER,
    argument("--administrator", action="store_true", help="it may act on the flock"),
    argument("--keeper", action="store_true", help="it holds the flock's key"),
    argument("--withdraw", action="store_true", help="not any more"),
    PHRASE,
    node=False,
)
def appoint(options: Options) -> int:
    """Make a member an administrator or keeper, or with ``--withdraw`` end that; return the exit
    code, that of misuse unless exactly one of both roles is chosen."""
    if options.administrator == options.keeper:
        return misuse("give one of --administrator and --keeper")
    what = "keeper" if options.keeper else "administrator"
    wanted = Appoint(options.member, "keeper" if options.keeper else "administrator")
    wanted = replace(wanted, withdraw=options.withdraw)
    is_now = (
        f"is {'no' if options.withdraw else 'a'} {what} {'any more' if options.withdraw else 'now'}"
    )
    if what == "administrator" and not options.withdraw:
        is_now = "is an administrator now"
    return signed(options, APPOINT, wanted, lambda acted: _told(acted, is_now))


@command(
    "flock role",
    "Make a machine an operator, which may submit and read its own work, or a helper, which only runs\n"
    "what others submit.",
    "wingbeat flock role render-3 helper",
    "wingbeat flock role render-3 operator",
    MEMBER,
    argument("role", choices=("operator", "helper"), help="what it is from now on"),
    PHRASE,
    node=False,
)
def role(options: Options) -> int:
    """Give a member a role; return the exit code."""
    wanted = SetRole(options.member, options.role)
    is_now = f"is {'an operator' if options.role == 'operator' else 'a helper'} now"
    return signed(options, SET_ROLE, wanted, lambda acted: _told(acted, is_now))


@command(
    "flock expel",
    "Send a machine away, for ever: it can join again only as another one. An administrator does; one\n"
    "of an administrator, or a keeper, takes two.",
    "wingbeat flock expel birch",
    MEMBER,
    PHRASE,
    node=False,
)
def expel(options: Options) -> int:
    """Expel a member; return the exit code."""
    return signed(options, EXPEL, Expel(options.member), _expelled)


def _expelled(done: Expelled) -> list[str]:
    if done.agreed:
        return waits(done.name, done.agreed)
    gone = f"{done.name} ({done.node}) does not belong any more"
    return [gone, *([f"warning: {done.warning}"] if done.warning else [])]


@command(
    "flock recover",
    "Make this machine the flock's only administrator and a keeper, by its recovery phrase: the way back\n"
    "when the others are lost. They are operators then. The phrase is read from standard input.",
    "wingbeat flock recover",
    "wingbeat flock recover --check",
    argument("--check", action="store_true", help="only tell whether it is the phrase"),
    node=False,
)
@with_client
def recover(options: Options, client: BlockingClient) -> int:
    """Take the flock by its phrase, which is read from standard input, or only check that; before
    the first a person at a terminal is asked, except with ``--json``. Return the exit code, that of
    a failure where the person says no or gives no phrase."""
    question = "make this machine the flock's only administrator, and all others operators?"
    asks = is_typed() and not options.check and not options.json
    if asks and not confirm(question):
        return fail(options, "nothing was done")
    phrase = _read_phrase()
    recovered = client.call(RECOVER, Recover(phrase, options.check))
    said = f"this machine is the administrator of {recovered.flock} now; the others are operators"
    if options.check:
        said = f"this is the recovery phrase of {recovered.flock}"
    return tell(options, recovered, [said])


@command(
    "flock phrase",
    "Draw another recovery phrase, in place of one that was lost or seen by others, or agree to one that\n"
    "another administrator has drawn. That takes two administrators, or one and the old phrase.",
    "wingbeat flock phrase",
    PHRASE,
    node=False,
)
def phrase(options: Options) -> int:
    """Draw another phrase and show it; return the exit code."""
    return signed(options, NEW_PHRASE, NewPhrase(), _new_phrase)


def _new_phrase(shown: PhraseShown) -> list[str]:
    lines = phrase_lines(shown.phrase) if shown.phrase else ["the new phrase counts now"]
    return [*lines, *(waits("the new phrase", shown.agreed) if shown.agreed else [])]


@command(
    "flock upgrade",
    "Give a flock of a version before administrators: this machine, a keeper, is the first, and its only\n"
    "keeper. Update all machines before; older ones take no notice of what administrators do.",
    "wingbeat flock upgrade",
    node=False,
)
@with_client
def upgrade(options: Options, client: BlockingClient) -> int:
    """Upgrade the flock and show its recovery phrase; return the exit code."""
    shown = client.call(UPGRADE_FLOCK, UpgradeFlock())
    made = f"this machine is the first administrator of {shown.flock}, and its only keeper"
    return tell(options, shown, [made, *phrase_lines(shown.phrase)])


def signed(
    options: Options, method: Method[_Signed, R], wanted: _Signed, lines: Callable[[R], list[str]]
) -> int:
    """Ask the agent for an act on the flock, with ``--phrase`` with the recovery phrase, which is
    read from standard input; else again with that if the agent wants it and a person is there to
    type it. Print ``lines`` of the answer, or JSON, and return the exit code."""

    def asked(_: Options, client: BlockingClient) -> int:
        """Ask for the act, show the answer, and return the exit code."""
        asking = wanted
        if options.phrase:
            asking = replace(wanted, phrase=_read_phrase())
        try:
            answer = client.call(method, asking)
        except RequestError as error:
            if error.code != ErrorCode.PHRASE_WANTED or options.phrase or not is_typed():
                raise
            show_lines([str(error)])
            answer = client.call(method, replace(wanted, phrase=_read_phrase()))
        return tell(options, answer, lines(answer))

    return with_client(asked)(options)


def _read_phrase() -> str:
    """Raises ``ClientError`` for an empty one: the agent could only say that it is not the phrase."""
    phrase = getpass.getpass("recovery phrase: ")[:200] if is_typed() else typed_line()
    if not phrase.strip():
        raise ClientError("no recovery phrase was given: it is a line of standard input")
    return phrase.strip()


def _told(acted: Acted, is_now: str) -> list[str]:
    return waits(acted.name, acted.agreed) if acted.agreed else [f"{acted.name} {is_now}"]


def waits(name: str, agreed: tuple[str, ...]) -> list[str]:
    """Return the lines that say who wants something that takes one more."""
    wants = "wants" if len(agreed) == 1 else "want"
    said = f"{name}: {', '.join(agreed)} {wants} this"
    return [f"{said}; another administrator has to say the same before it is done"]
