"""`wingbeat flock requests`: which machines ask to be let in."""

from __future__ import annotations

from agent.api.admission import JoinRequestView, Requests, RequestsReply
from agent.api.methods import REQUESTS
from agent.commands.asking import ask
from agent.commands.parsing import client_parser
from agent.commands.showing import ago, moment, show_lines, show_table


def run(arguments: list[str]) -> int:
    """Show which machines ask to be let in; return the exit code."""
    parser = client_parser(
        "flock requests",
        "Show which machines ask to be let in. Name and user are what they say of themselves; let\n"
        "one in only when it shows the same code.",
        "wingbeat flock requests",
    )
    return ask(parser.parse_args(arguments), REQUESTS, Requests(), _show)


def _show(reply: RequestsReply) -> None:
    if not reply.requests:
        show_lines(["no machine asks to be let in"])
        return
    rows = [
        (
            each.code,
            each.name,
            each.user,
            each.address,
            ago(each.asked_ms),
            moment(each.expires_ms),
            _state(each),
        )
        for each in reply.requests
    ]
    show_table(("CODE", "NAME", "USER", "ADDRESS", "ASKED", "UNTIL", "STATE"), rows)
    if reply.may_admit:
        show_lines(
            ["`wingbeat flock admit CODE` lets one in, `wingbeat flock refuse CODE` does not"]
        )
    else:
        show_lines([f"only a keeper lets machines in: {', '.join(reply.keepers)}"])


def _state(request: JoinRequestView) -> str:
    return "let in, has not come yet" if request.admitted else "waiting"
