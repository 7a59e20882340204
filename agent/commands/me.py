"""`wingbeat me`: for whom this machine speaks in the flock, and which others are the same person's."""

from __future__ import annotations

from agent.api.administration import Acted
from agent.api.people import ME, PAIR, UNPAIR, Me, MeReply, Pair, Paired, Unpair
from agent.commands.asking import ask
from agent.commands.flock.administering import PHRASE, signed, waits
from agent.commands.parsing import Options, argument, command, misuse
from agent.commands.showing import is_typed, moment, show_lines, show_verbatim, typed_line

CODE_LENGTH_MAX = 200
STANDARD_INPUT = "-"


@command(
    "me",
    "Show which machines are yours in the flock. `pair` shows a code; typed on another machine, behind\n"
    "`pair` there, it makes that one yours too: what you submit on either you act on from both, and both\n"
    "are one voice where administrators are asked. Nobody else's machine becomes yours without its word,\n"
    "and none of yours another's. `unpair` takes a lost machine away from you, for ever under its key:\n"
    "what was submitted there stays yours. Administrators take others' machines away so.",
    "wingbeat me",
    "wingbeat me pair",
    "wingbeat me pair dabol kitur fasim lonog",
    "wingbeat me unpair old-laptop",
    argument("action", nargs="?", choices=("pair", "unpair"), help="what to do"),
    argument(
        "words",
        nargs="*",
        metavar="CODE|-|MACHINE",
        help="the code that the other machine shows, or - to read it from standard input, where other "
        "accounts do not see it; or which machine is taken away",
    ),
    PHRASE,
    node=False,
)
def run(options: Options) -> int:
    """Show a person's machines, pair this one, or take one away. To pair show a code, or take one
    that was typed, for ``-`` a line of standard input, at a terminal after a prompt. Return the
    exit code, that of misuse where no machine is named that is to be taken away, or what was typed
    is no code."""
    text = " ".join(options.words)
    if options.action == "unpair":
        if len(options.words) != 1:
            return misuse("unpair which machine? (`wingbeat me` shows them)")
        return signed(options, UNPAIR, Unpair(text), _unpaired)
    if options.action is None:
        return ask(options, ME, Me(), _show)
    if text == STANDARD_INPUT:
        if is_typed():
            show_lines(["type the code, then press Enter:"])
        text = typed_line(CODE_LENGTH_MAX)
    if len(text) > CODE_LENGTH_MAX or (options.words and not text.strip()):
        return misuse("this is no code: it is four words of five letters")
    return ask(options, PAIR, Pair(text), _paired)


def _show(me: MeReply) -> None:
    others = [each.name for each in me.machines if not each.own]
    own = next((each.name for each in me.machines if each.own), "this machine")
    if not others:
        show_lines([f"{own} is your only machine here; `wingbeat me pair` adds another one"])
        return
    show_lines([f"you are {me.name} in the flock, on {own} and {', '.join(others)}"])


def _paired(done: Paired) -> None:
    if not done.code:
        _show(done.me)
        return
    show_lines([f"until {moment(done.expires_ms)}, once; on your other machine:"])
    show_verbatim([f"wingbeat me pair {done.code}"])


def _unpaired(done: Acted) -> list[str]:
    if done.agreed:
        return waits(done.name, done.agreed)
    lost = f"if it is lost, have it sent away too: `wingbeat flock expel {done.name}`"
    return [f"{done.name} speaks for nobody else any more; {lost}"]
