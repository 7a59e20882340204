"""Joining without an invitation, from both sides: this machine asks a flock nearby to let it in
(`wingbeat flock ask`), and a flock's people answer who asks them (`requests`, `admit`, `refuse`).
"""

from __future__ import annotations

from agent.api.admission import (
    ADMIT,
    ASK,
    ASKED,
    CONFIRM_ASK,
    REFUSE,
    REQUESTS,
    WITHDRAW_ASK,
    Admit,
    Answered,
    Ask,
    Asked,
    AskView,
    ConfirmAsk,
    JoinRequestView,
    Refuse,
    Requests,
    RequestsReply,
    WithdrawAsk,
)
from agent.client import BlockingClient
from agent.commands import exits
from agent.commands.asking import ask, fail, tell, with_client
from agent.commands.parsing import PROGRAM, Options, argument, command, misuse
from agent.commands.showing import ago, confirm, moment, show_json, show_lines, show_rows
from agent.commands.waiting import follow_until

OPEN = ("waiting", "admitted", "joining")


# -- this machine asks -------------------------------------------------------------------------------


@command(
    "flock ask",
    "Ask a flock nearby to let this machine in, without an invitation. A code is shown here\n"
    "and at a keeper of the flock. This machine joins when somebody has let it in there\n"
    "(`wingbeat flock admit`) and you have said here that both codes are the same.",
    "wingbeat flock ask workshop",
    "wingbeat flock ask 192.0.2.17",
    'wingbeat flock ask --confirm "418 230"',
    argument(
        "flock",
        nargs="?",
        default="",
        metavar="NAME",
        help="its name or id, as `wingbeat flock nearby` tells, or the address of a keeper",
    ),
    argument(
        "--no-wait", action="store_true", help="only ask; say --confirm when you have compared"
    ),
    argument("--confirm", default="", metavar="CODE", help="the codes are the same"),
    argument("--withdraw", action="store_true", help="ask no more"),
    argument("--state", action="store_true", help="show what has become of it"),
    node=False,
)
def run(options: Options) -> int:
    """Ask a flock to let this machine in, have a person compare the code, and wait for the answer
    (with ``--json`` or ``--no-wait`` only ask); or confirm, withdraw or show a request, as an
    option says. Return the exit code: of misuse unless exactly one of these is wanted, of a failure
    where the codes differ, which withdraws the request, or this machine did not join."""
    chosen = [options.flock, options.confirm, options.withdraw, options.state]
    if sum(map(bool, chosen)) != 1:
        return misuse(
            "give the name of a flock, or one of --confirm, --withdraw and --state "
            f"(`{PROGRAM} flock ask --help` tells what there is)"
        )
    return _do(options)


@with_client
def _do(options: Options, client: BlockingClient) -> int:
    if options.withdraw:
        return _told(options, client.call(WITHDRAW_ASK, WithdrawAsk()))
    if options.state:
        return _told(options, client.call(ASKED, Asked()))
    if options.confirm:
        return _confirm(options, client, options.confirm)
    asked = client.call(ASK, Ask(options.flock))
    tell(options, asked, _instructions(asked))
    return exits.DONE if options.json or options.no_wait else _compared(options, client, asked)


def _instructions(asked: AskView) -> list[str]:
    until = moment(asked.expires_ms)
    return [
        f"asked {asked.keeper} of the flock {asked.flock}; the code of this request is {asked.code}",
        f"somebody has to let this machine in at a keeper of {asked.flock}, until {until}; there,",
        "`wingbeat flock requests` and the window show the code, too",
    ]


def _compared(options: Options, client: BlockingClient, asked: AskView) -> int:
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


def _confirm(options: Options, client: BlockingClient, code: str) -> int:
    client.call(CONFIRM_ASK, ConfirmAsk(code))
    if not options.json:
        show_lines(["waiting until somebody there lets this machine in; Ctrl-C leaves it asking"])
    view = client.run(
        lambda inside: follow_until(inside, ASKED, Asked(), lambda view: view.state not in OPEN)
    )
    return _told(options, view)


def _told(options: Options, view: AskView) -> int:
    ended = view.state == "ended" and not options.withdraw and not options.state
    if not ended and view.state != "refused":
        return tell(options, view, [_state(view)])
    if options.json:
        show_json(view)
        return exits.FAILED
    return fail(options, f"{view.flock} was asked, and this machine did not join: {view.reason}")


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


# -- who asks, and is answered -----------------------------------------------------------------------


@command(
    "flock requests",
    "Show which machines ask to be let in. Name and user are what they say of themselves; let\n"
    "one in only when it shows the same code.",
    "wingbeat flock requests",
)
def requests(options: Options) -> int:
    """Show which machines ask to be let in, or that none does, and how to answer them; return the
    exit code."""
    return ask(options, REQUESTS, Requests(), _show_requests)


def _show_requests(reply: RequestsReply) -> None:
    if not reply.requests:
        show_lines(["no machine asks to be let in"])
        return
    show_rows(
        reply.requests,
        CODE=lambda each: each.code,
        NAME=lambda each: each.name,
        USER=lambda each: each.user,
        ADDRESS=lambda each: each.address,
        ASKED=lambda each: ago(each.asked_ms),
        UNTIL=lambda each: moment(each.expires_ms),
        STATE=lambda each: "let in, has not come yet" if each.admitted else "waiting",
    )
    how = f"only an administrator lets machines in: {', '.join(reply.keepers)}"
    if reply.may_admit:
        how = "`wingbeat flock admit CODE` lets one in, `wingbeat flock refuse CODE` does not"
    show_lines([how])


@command(
    "flock admit",
    "Let a machine in that asks. It gets what an invitation gives. Give the code that it\n"
    "shows, as its user tells you; with its name, you are asked to compare.",
    'wingbeat flock admit "418 230"',
    "wingbeat flock admit laptop-7",
    argument("who", nargs="+", metavar="CODE|NAME", help="the code it shows, or its name"),
    node=False,
)
@with_client
def admit(options: Options, client: BlockingClient) -> int:
    """Let a machine in that asks: by its code or with ``--json`` at once, by its name after a
    person has said that the codes are the same. Return the exit code, that of a failure if nobody
    says so."""
    wanted = " ".join(options.who)
    asking = client.call(REQUESTS, Requests()).requests
    named = [each for each in asking if each.name.casefold() == wanted.casefold()]
    if len(named) != 1 or options.json:  # the agent takes no name alone, and says so
        return _admitted(options, client.call(ADMIT, Admit(wanted)))
    if not confirm(_question(named[0])):
        return fail(options, f"{wanted} was not let in; `wingbeat flock refuse` says so to it")
    return _admitted(options, client.call(ADMIT, Admit(named[0].request, named[0].code)))


def _question(request: JoinRequestView) -> str:
    user = f" of {request.user}" if request.user else ""
    return f"does {request.name}{user}, at {request.address}, show the code {request.code}?"


def _admitted(options: Options, answered: Answered) -> int:
    who = answered.name
    line = f"{who} is let in; it joins as soon as its user has compared the code too"
    return tell(options, answered, [line])


@command(
    "flock refuse",
    "Do not let a machine in that asks. It is told so, and may ask again.",
    'wingbeat flock refuse "418 230"',
    "wingbeat flock refuse laptop-7",
    argument("who", nargs="+", metavar="CODE|NAME", help="its code, or its name"),
    node=False,
)
def refuse(options: Options) -> int:
    """Refuse a machine that asks to be let in, by its code or name, and say so; return the exit
    code."""
    return ask(
        options,
        REFUSE,
        Refuse(" ".join(options.who)),
        lambda answered: show_lines([f"{answered.name} is not let in"]),
    )
