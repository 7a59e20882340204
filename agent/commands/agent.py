"""The agent of this machine itself: `wingbeat agent` runs it here, `stop` ends it, `telnet` tells how
to talk to it by hand.

The first is no client: it starts what clients talk to (``agent.node.hosting``).
"""

from __future__ import annotations

import argparse
import shlex

from msgspec import Struct
from msgspec.structs import replace

from agent.api.phrases import composed, wrong_name
from agent.api.session import STOP, Stop
from agent.api.update import START_ANEW, StartAnew
from agent.client import BlockingClient, ClientError, NoAgentError
from agent.client.link import read_control_file
from agent.client.own_agent import start_anew
from agent.client.proof import new_nonce, proof_of, same
from agent.commands import exits
from agent.commands.asking import fail, tell, with_client
from agent.commands.parsing import PORT_MAX, Options, argument, command, number_of
from agent.commands.showing import show_json, show_lines, show_verbatim
from agent.wording.english import HOW_TO_ANSWER

NAME_LENGTH_MAX = 60
STOPPED_S_MAX = 30.0
PIPES = "\\\\.\\pipe\\"
NO_PORT = "no port is switched on: `wingbeat settings --telnet yes`, then start the agent anew"
BY_HAND = """\
Tell where the agent of this machine listens and which line opens it, for netcat, or telnet where a
port is switched on: there the agent proves first that it is yours, and what `--answer` prints proves
that you are its owner; a secret is never said on a port. Then:

  SCHEDULE program low|interactive [-p path] [-a task output]... [-x file]   ->  SCHEDULED task
  SUBSCRIBE task...  ->  SUBSCRIBED task..., then PROGRESS task age state percent
  CANCEL task        ->  CANCELLED task, once nothing of it runs any more
  HELP, QUIT

Whatever cannot be done is answered with ERROR and a sentence. Outputs count from 1; the age is the
seconds since the attempt was begun. A file or folder of this machine behind -p becomes a dataset."""


def _name(text: str) -> str:
    if not text.strip() or len(text) > NAME_LENGTH_MAX:
        raise argparse.ArgumentTypeError(f"a name has 1 to {NAME_LENGTH_MAX} letters")
    name = composed(text.strip())
    if set(name) & set("/\\"):
        raise argparse.ArgumentTypeError("/ and \\ have no place in the name of a machine")
    if wrong := wrong_name(name):
        raise argparse.ArgumentTypeError(wrong)
    return name


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
    its own and wait until it answers. Return the exit code, that of a failure where it cannot be
    started; where one runs already, starting it in the background, without a name or port, is a
    success. An agent that ended for another version is started anew, in the place of this process
    where the system can do that."""
    from agent.node import hosting

    def started(running: hosting.Running) -> None:
        """Print that the agent runs, and what there is to know of it."""
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
        ended = hosting.run(
            options.name, options.port, started, until_input_ends=options.until_input_ends
        )
    except hosting.RunsAlreadyError as error:
        if options.background and options.name is None and options.port is None:
            return tell(options, Already(str(error)), [str(error)])
        return fail(options, str(error))
    except hosting.NotStartedError as error:
        return fail(options, str(error))
    if not options.json:
        show_lines([f"ended: {ended.reason}"])
    if ended.anew:
        start_anew(_again(options))
    return exits.DONE


def _again(options: Options) -> list[str]:
    """What was kept in the settings is not said again: it may have been changed since."""
    kept = {"--json": options.json, "--until-input-ends": options.until_input_ends}
    return ["agent", *(word for word, wanted in kept.items() if wanted)]


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


@command(
    "restart",
    "Have the agent of this machine start anew with the version that is installed now, when what\n"
    "runs here has ended. It does so by itself unless the settings say otherwise (`wingbeat settings\n"
    "--updates ask`). Settings that hold only after a restart hold then, too.",
    "wingbeat restart",
    "wingbeat restart --now",
    argument("--now", action="store_true", help="hand back what runs here first, and do not wait"),
    node=False,
)
@with_client
def restart(options: Options, client: BlockingClient) -> int:
    """Ask the agent to start anew with the installed version, and return the exit code at once,
    that of a failure where no other version is installed and no setting waits for a restart."""
    told = client.call(START_ANEW, StartAnew(options.now))
    when = "now" if options.now else "when what runs here has ended"
    return tell(options, told, [f"Wingbeat {told.installed} starts {when}"])


class Opening(Struct, frozen=True):
    """Where to talk to an agent by hand, and what to say first: at ``place``, and by a port, where
    the owner has switched that on."""

    place: str
    line: str
    address: str = ""
    port: int = 0
    prove: str = ""


class Answer(Struct, frozen=True):
    """What to say next to an agent that has proven who it is."""

    line: str


@command(
    "telnet",
    BY_HAND,
    "wingbeat telnet",
    '(wingbeat telnet --line; cat) | nc -U "$(wingbeat telnet --place)"',
    "wingbeat settings --telnet yes    # a port too, from the next start of the agent on",
    argument("--line", action="store_true", help="only the line that opens it"),
    argument("--place", action="store_true", help="only the socket or pipe"),
    argument("--port", action="store_true", help="only address and port"),
    argument(
        "--answer",
        metavar="PROOF",
        help="check the agent's proof, as it told it; print what to say",
    ),
    node=False,
)
def telnet(options: Options) -> int:
    """Print how to talk to the agent by hand, by what it left on disk: the command and the first
    line to type, or one of them; with ``--answer`` check the agent's proof and print what to say
    next. Whether the agent still runs is not looked at. Return the exit code: ``NO_AGENT`` where it
    left nothing, that of a failure for what another version left, and for a proof that is none or a
    port that is not switched on."""
    try:
        control = read_control_file()
    except ClientError as error:
        code = exits.NO_AGENT if isinstance(error, NoAgentError) else exits.FAILED
        return fail(options, str(error), code)
    place = f"{control.address}:{control.port}"
    if options.answer is not None:
        return _answered(options, control.token, place)
    if options.port and not control.port:
        return fail(options, NO_PORT)
    opening = Opening(control.place, f"TOKEN {control.token}")
    if control.port:
        prove = f"PROVE {new_nonce()}"
        opening = replace(opening, address=control.address, port=control.port, prove=prove)
    if options.json:
        show_json(opening)
    else:
        show_verbatim(_chosen(options, opening))
    return exits.DONE


def _chosen(options: Options, opening: Opening) -> list[str]:
    by_port = f"{opening.address} {opening.port}"
    if options.line or options.place or options.port:
        return [opening.line if options.line else opening.place if options.place else by_port]
    lines = [f"nc -U {shlex.quote(opening.place)}", opening.line]
    if opening.place.startswith(PIPES):
        lines = [] if opening.port else [NO_PORT]
    if opening.port:
        lines += [f"telnet {by_port}", opening.prove, "wingbeat telnet --answer 'PROOF …'"]
    return lines


def _answered(options: Options, token: str, place: str) -> int:
    """The nonces in the line are the agent's affair: it takes each proof once."""
    words = options.answer.split()
    asked, drawn, shown = words[1:] if len(words) == 4 and words[0] == "PROOF" else ("", "", "")
    if not asked or not same(shown, proof_of(token, "agent", place, asked, drawn)):
        return fail(
            options,
            f"that is not said by the agent of this account at {place}: say nothing there; what it "
            f"tells begins with PROOF and has three words behind it",
        )
    line = f"TOKEN {proof_of(token, 'client', place, asked, drawn)}"
    if options.json:
        show_json(Answer(line))
    else:
        show_verbatim([line])
    return exits.DONE
