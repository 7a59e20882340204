"""`wingbeat telnet`: how to talk to the agent by hand, line by line."""

from __future__ import annotations

from msgspec import Struct

from agent.client import ClientError, NoAgentError
from agent.client.agent_here import read_control_file
from agent.commands import exits
from agent.commands.asking import fail
from agent.commands.parsing import command_parser
from agent.commands.showing import show_json, show_verbatim

DESCRIPTION = """\
Tell where the agent of this machine listens and which line opens it, for telnet or netcat. Then:

  SCHEDULE program low|interactive [-p path] [-a task output]... [-x file]   ->  SCHEDULED task
  SUBSCRIBE task...  ->  SUBSCRIBED task..., then PROGRESS task age state percent
  CANCEL task        ->  CANCELLED task, once nothing of it runs any more
  HELP, QUIT

Whatever cannot be done is answered with ERROR and a sentence. Outputs count from 1; the age is the
seconds since the attempt was begun. A file or folder of this machine behind -p becomes a dataset."""


class Opening(Struct, frozen=True):
    """Where, and what to say first."""

    address: str
    port: int
    line: str


def run(arguments: list[str]) -> int:
    """Print how to talk to the agent by hand; the line is a secret of this account. Return the exit
    code."""
    parser = command_parser(
        "telnet",
        DESCRIPTION,
        "wingbeat telnet",
        "(wingbeat telnet --line; cat) | nc $(wingbeat telnet --place)",
    )
    parser.add_argument("--line", action="store_true", help="only the line that opens it")
    parser.add_argument("--place", action="store_true", help="only address and port")
    options = parser.parse_args(arguments)
    try:
        control = read_control_file()
    except NoAgentError as error:
        return fail(options, str(error), exits.NO_AGENT)
    except ClientError as error:
        return fail(options, str(error))
    opening = Opening(control.address, control.port, f"TOKEN {control.token}")
    if options.json:
        show_json(opening)
    elif options.line or options.place:
        show_verbatim([opening.line] if options.line else [f"{opening.address} {opening.port}"])
    else:
        show_verbatim([f"telnet {opening.address} {opening.port}", opening.line])
    return exits.DONE
