"""`wingbeat flock ask`: this machine asks a flock nearby to let it in."""

from __future__ import annotations

import argparse

from agent.api.admission import Ask, Asked, AskView, ConfirmAsk, WithdrawAsk
from agent.api.methods import ASK, ASKED, CONFIRM_ASK, WITHDRAW_ASK
from agent.client import BlockingClient
from agent.commands import exits
from agent.commands.asking import fail, with_client
from agent.commands.following import follow_until
from agent.commands.parsing import CommandParser, command_parser
from agent.commands.showing import confirm, moment, show_json, show_lines

OPEN = ("waiting", "admitted", "joining")


def run(arguments: list[str]) -> int:
    """Ask a flock to let this machine in, have a person compare the code, and wait, or do what an
    option says; return the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    chosen = [options.flock, options.confirm, options.withdraw, options.state]
    if sum(map(bool, chosen)) != 1:
        parser.error("give the name of a flock, or one of --confirm, --withdraw and --state")
    return with_client(options, lambda client: _do(options, client))


def _parser() -> CommandParser:
    parser = command_parser(
        "flock ask",
        "Ask a flock nearby to let this machine in, without an invitation. A code is shown here\n"
        "and at a keeper of the flock. This machine joins when somebody has let it in there\n"
        "(`wingbeat flock admit`) and you have said here that both codes are the same.",
        "wingbeat flock ask workshop",
        "wingbeat flock ask 192.0.2.17",
        'wingbeat flock ask --confirm "418 230"',
    )
    parser.add_argument(
        "flock",
        nargs="?",
        default="",
        metavar="NAME",
        help="its name or id, as `wingbeat flock nearby` tells, or the address of a keeper",
    )
    parser.add_argument(
        "--no-wait", action="store_true", help="only ask; say --confirm when you have compared"
    )
    parser.add_argument("--confirm", default="", metavar="CODE", help="the codes are the same")
    parser.add_argument("--withdraw", action="store_true", help="ask no more")
    parser.add_argument("--state", action="store_true", help="show what has become of it")
    return parser


def _do(options: argparse.Namespace, client: BlockingClient) -> int:
    if options.withdraw:
        return _told(options, client.call(WITHDRAW_ASK, WithdrawAsk()))
    if options.state:
        return _told(options, client.call(ASKED, Asked()))
    if options.confirm:
        return _confirm(options, client, options.confirm)
    asked = client.call(ASK, Ask(options.flock))
    if options.json:
        show_json(asked)
        return exits.DONE
    show_lines(_instructions(asked))
    if options.no_wait:
        return exits.DONE
    return _compared(options, client, asked)


def _instructions(asked: AskView) -> list[str]:
    until = moment(asked.expires_ms)
    return [
        f"asked {asked.keeper} of the flock {asked.flock}; the code of this request is {asked.code}",
        f"somebody has to let this machine in at a keeper of {asked.flock}, until {until}; there,",
        "`wingbeat flock requests` and the window show the code, too",
    ]


def _compared(options: argparse.Namespace, client: BlockingClient, asked: AskView) -> int:
    same = confirm(f"do they see {asked.code} there, too?")
    if same is None:
        show_lines([f'when they do: wingbeat flock ask --confirm "{asked.code}"'])
        return exits.DONE
    if same:
        return _confirm(options, client, asked.code)
    client.call(WITHDRAW_ASK, WithdrawAsk())
    return fail(
        options,
        "withdrawn: another code means that they look at another machine's request, or that "
        "somebody stands between; ask again, or join with an invitation",
    )


def _confirm(options: argparse.Namespace, client: BlockingClient, code: str) -> int:
    view = client.call(CONFIRM_ASK, ConfirmAsk(code))
    if not options.json:
        show_lines(["waiting until somebody there lets this machine in; Ctrl-C leaves it asking"])
    view = client.run(lambda inside: follow_until(inside, ASKED, Asked(), _over))
    return _told(options, view)


def _over(view: AskView) -> bool:
    return view.state not in OPEN


def _told(options: argparse.Namespace, view: AskView) -> int:
    code = exits.FAILED if view.state == "refused" or _failed(options, view) else exits.DONE
    if options.json:
        show_json(view)
    elif code == exits.FAILED:
        return fail(
            options, f"{view.flock} was asked, and this machine did not join: {view.reason}"
        )
    else:
        show_lines([_state(view)])
    return code


def _failed(options: argparse.Namespace, view: AskView) -> bool:
    return view.state == "ended" and not options.withdraw and not options.state


def _state(view: AskView) -> str:
    return {
        "none": "this machine asks no flock",
        "waiting": f"{view.flock} is asked, code {view.code}; nobody there has answered yet",
        "admitted": f"{view.flock} lets this machine in: compare the code {view.code}, then say "
        f'`wingbeat flock ask --confirm "{view.code}"`',
        "joining": f"this machine is joining {view.flock}",
        "joined": f"this machine belongs to the flock {view.flock} now",
        "refused": f"{view.flock} did not let this machine in: {view.reason}",
        "ended": f"the request to {view.flock} is over: {view.reason}",
    }[view.state]
