"""The agent of this machine itself: `wingbeat agent` runs it here, `stop` ends it, `telnet` tells how
to talk to it by hand.

The first is no client: it starts what clients talk to (``agent.node.hosting``).
"""

from __future__ import annotations

import argparse

from msgspec import Struct

from agent.api.session import STOP, Stop
from agent.client import BlockingClient, ClientError, NoAgentError
from agent.client.link import read_control_file
from agent.commands import exits
from agent.commands.asking import fail, tell, with_client
from agent.commands.parsing import PORT_MAX, Options, argument, command, number_of
from agent.commands.showing import show_json, show_lines, show_verbatim
from agent.wording.english import HOW_TO_ANSWER

NAME_LENGTH_MAX = 60
STOPPED_S_MAX = 30.0
BY_HAND = """\
Tell where the agent of this machine listens and which line opens it, for telnet or netcat. Then:

  SCHEDULE program low|interactive [-p path] [-a task output]... [-x file]   ->  SCHEDULED task
  SUBSCRIBE task...  ->  SUBSCRIBED task..., then PROGRESS task age state percent
  CANCEL task        ->  CANCELLED task, once nothing of it runs any more
  HELP, QUIT

Whatever cannot be done is answered with ERROR and a sentence. Outputs count from 1; the age is the
seconds since the attempt was begun. A file or folder of this machine behind -p becomes a dataset."""


def _name(text: str) -> str:
    if not text.strip() or not text.isprintable() or len(text) > NAME_LENGTH_MAX:
        raise argparse.ArgumentTypeError(f"a name has 1 to {NAME_LENGTH_MAX} letters")
    return text.strip()


@command(
    "agent",
    "Run the agent of this machine here, without a window, until Ctrl-C or `wingbeat stop`;\n"
    "with --background until `wingbeat stop` or the end of the session.\n"
    "WINGBEAT_HOME names a folder to keep everything in, so that several can run at once.",
    "wingbeat agent",
    "wingbeat agent --background",
    "wingbeat agent --name workshop-3 --port 29500",
    "WINGBEAT_HOME=/tmp/second wingbeat agent --name second",
    argument("--name", type=_name, help="what people call this machine; kept in settings.toml"),
    argument(
        "--port",
        type=number_of("port", 0, PORT_MAX),
        help="where others reach it, or the next one that is free; 0 for any; kept in settings.toml",
    ),
    argument("--foreground", action="store_true", help="stay here; it does anyway"),
    argument(
        "--background",
        action="store_true",
        help="come back as soon as it runs, and let it go on without this terminal",
    ),
    argument(
        "--until-input-ends",
        action="store_true",
        help="end when standard input does, so with whoever holds its other end",
    ),
    node=False,
)
def run(options: Options) -> int:
    """Run the agent of this machine here until Ctrl-C, `wingbeat stop`, logoff or shutdown, or with
    ``--until-input-ends`` until standard input ends; with ``--background`` start it as a process of
    its own and wait until it answers. Return the exit code, that of a failure where
    it cannot be started; where one runs already, starting it in the background is a success."""
    from agent.node import hosting

    def started(running: hosting.Running) -> None:
        flock = f"in flock {running.flock}" if running.flock else "in no flock"
        lines = [f"{running.name} runs {flock}; its log is in {running.log_folder}"]
        if not running.answered:
            lines.append(HOW_TO_ANSWER)
        if options.background:
            lines.append("it goes on in the background: `wingbeat stop` ends it")
        tell(options, running, lines)

    try:
        if options.background:
            started(hosting.run_in_background(options.name, options.port))
            return exits.DONE
        reason = hosting.run(
            options.name, options.port, started, until_input_ends=options.until_input_ends
        )
    except hosting.RunsAlreadyError as error:
        if options.background and options.name is None and options.port is None:
            return tell(options, Already(str(error)), [str(error)])
        return fail(options, str(error))
    except hosting.NotStartedError as error:
        return fail(options, str(error))
    if not options.json:
        show_lines([f"ended: {reason}"])
    return exits.DONE


class Already(Struct, frozen=True):
    """What `agent --background --json` answers where one runs already."""

    already: str


@command(
    "stop",
    "End the agent of this machine. It hands back what it runs and says goodbye first.",
    "wingbeat stop",
    node=False,
)
@with_client
def stop(options: Options, client: BlockingClient) -> int:
    """End the agent of this machine and wait until it has ended; return the exit code, that of a
    failure where it still runs after ``STOPPED_S_MAX``."""
    stopping = client.call(STOP, Stop("wingbeat stop"))
    if not client.wait_ended(STOPPED_S_MAX):
        return fail(options, f"the agent still runs after {STOPPED_S_MAX:g} seconds: see its log")
    return tell(options, stopping, ["the agent has ended"])


class Opening(Struct, frozen=True):
    """Where to talk to an agent by hand, and what to say first."""

    address: str
    port: int
    line: str


@command(
    "telnet",
    BY_HAND,
    "wingbeat telnet",
    "(wingbeat telnet --line; cat) | nc $(wingbeat telnet --place)",
    argument("--line", action="store_true", help="only the line that opens it"),
    argument("--place", action="store_true", help="only address and port"),
    node=False,
)
def telnet(options: Options) -> int:
    """Print how to talk to the agent by hand, by what it left on disk: the command and the first
    line to type, or with ``--line`` or ``--place`` only that line, which is a secret of this
    account, or address and port. Whether the agent still runs is not looked at. Return the exit
    code: ``NO_AGENT`` where it left nothing, that of a failure for what another version left."""
    try:
        control = read_control_file()
    except ClientError as error:
        code = exits.NO_AGENT if isinstance(error, NoAgentError) else exits.FAILED
        return fail(options, str(error), code)
    opening = Opening(control.address, control.port, f"TOKEN {control.token}")
    if options.json:
        show_json(opening)
    elif options.line or options.place:
        show_verbatim([opening.line] if options.line else [f"{opening.address} {opening.port}"])
    else:
        show_verbatim([f"telnet {opening.address} {opening.port}", opening.line])
    return exits.DONE
