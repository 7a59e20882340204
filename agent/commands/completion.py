"""`wingbeat completion`: what a shell needs to complete commands, options and names.

The script that a shell reads asks this command for the words that fit, so that it stays right when
commands change, and can name workflows and tasks. Nothing is printed when the agent cannot be
asked: who presses a key wants no error there.

Commands and options are known from the tables of the commands; what is here are names that the agent
knows, and the few words that a command takes for values. Codes of machines that ask to be let in are
not offered: a code is to come from the other machine's screen, and not from this one.

Each script asks `wingbeat completion words` for words. Names may have spaces and whatever else shells take for their own signs. zsh, fish and PowerShell
say which words were typed and put their own quotation marks around what is offered; bash cuts words
at colons too and quotes nothing, so it hands over the whole line and is told what to write.

Where nothing is offered, the shell goes on to file names, as it does by itself: workflow files and
paths are what stands there then.
"""

from __future__ import annotations

import importlib
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping

from agent.api.admission import NEARBY, REQUESTS, Nearby, Requests
from agent.api.flock import PEERS, Peers
from agent.api.permissions import PERMISSIONS, Permissions
from agent.api.programs import PROGRAMS, Programs
from agent.api.work import SHOW, STATUS, Show, Status
from agent.client import BlockingClient, ClientError
from agent.commands import exits
from agent.commands.choosing import Command, loaded
from agent.commands.parsing import Argument, CommandLine, Options, argument, command

BASH = """\
# Completion of wingbeat for bash; made by `wingbeat completion bash`.
_wingbeat() {
    mapfile -t COMPREPLY < <(
        "${COMP_WORDS[0]}" completion line "${COMP_LINE:0:COMP_POINT}" 2>/dev/null
    )
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]]; then
        compopt -o nospace
    fi
}
complete -o default -F _wingbeat wingbeat
"""

ZSH = """\
#compdef wingbeat
# Completion of wingbeat for zsh; made by `wingbeat completion zsh`.
_wingbeat() {
    local -a found
    found=("${(@f)$("${words[1]}" completion words "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    found=("${(@)found:#}")
    if (( ${#found} )); then
        compadd -S '' -- "${(@M)found:#*/}"
        compadd -- "${(@)found:#*/}"
    else
        _files
    fi
}
if [[ "${funcstack[1]}" == "_wingbeat" ]]; then
    _wingbeat "$@"
else
    compdef _wingbeat wingbeat
fi
"""

FISH = """\
# Completion of wingbeat for fish; made by `wingbeat completion fish`.
function __wingbeat_words
    set -l line (commandline -opc | string unescape) (commandline -ct | string unescape)
    wingbeat completion words $line[2..-1] 2>/dev/null
end
complete -c wingbeat -f -n '__wingbeat_words | count >/dev/null' -a '(__wingbeat_words)'
"""

POWERSHELL = """\
# Completion of wingbeat for PowerShell; made by `wingbeat completion powershell`.
Register-ArgumentCompleter -Native -CommandName wingbeat -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $line = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
    if (-not $wordToComplete) { $line += '""' }
    & wingbeat completion words @line 2>$null | ForEach-Object {
        $text = if ($_ -match "[^\\w./@:+=-]") { "'" + $_.Replace("'", "''") + "'" } else { $_ }
        [System.Management.Automation.CompletionResult]::new($text, $_, 'ParameterValue', $_)
    }
}
"""

SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH, "powershell": POWERSHELL}


NAMES_MAX = 500
PRIORITIES = ("low", "interactive")
Source = Callable[[BlockingClient, list[str], str], list[str]]
"""What fits at a place: who is asked, the words before it behind the command, how it begins."""
OWN_WORDS: Mapping[tuple[str, int], tuple[str, ...]] = {
    ("programs", 0): ("publish", "accept", "refuse", "forget"),
    ("permissions", 0): (
        *("show", "allow-once", "trust-machine", "allow-programs", "never"),
        *("ask-owners", "distrust"),
    ),
    ("datasets", 0): ("add",),
    ("pause", 0): ("15m", "1h", "tomorrow"),
    ("priority", 1): PRIORITIES,
}
"""Of commands, with so many words before: they need no agent."""
OWN_VALUES: Mapping[str, tuple[str, ...]] = {"--priority": PRIORITIES}
"""Likewise of options."""
WORDS, LINE = "words", "line"
GROUPS = ("flock", "program")
"""Commands that have commands of their own."""
ALONE = ("--help", "--version")
"""What `wingbeat` takes without a command; a group takes the first."""
BASH_BREAKS = ":="
_STRANGE = re.compile(r"[^\w@%+=:,./-]")


def _machines(client: BlockingClient, _: list[str], __: str) -> list[str]:
    return [peer.name for peer in client.call(PEERS, Peers()).peers]


def _flocks(client: BlockingClient, _: list[str], __: str) -> list[str]:
    found = client.call(NEARBY, Nearby()).flocks
    return [each.name or each.flock for each in found if each.askable and not each.own]


def _askers(client: BlockingClient, _: list[str], __: str) -> list[str]:
    return [each.name for each in client.call(REQUESTS, Requests()).requests]


def _workflows(client: BlockingClient, _: list[str], __: str) -> list[str]:
    workflows = client.call(STATUS, Status(limit=NAMES_MAX)).workflows
    return list(dict.fromkeys(each.name for each in workflows))


def _workflow_alone(client: BlockingClient, before: list[str], begun: str) -> list[str]:
    return [] if before else _workflows(client, before, begun)


def _tasks(client: BlockingClient, before: list[str], begun: str) -> list[str]:
    """Workflows first; behind a slash, the tasks of that one."""
    workflow, slash, _ = begun.rpartition("/")
    if not slash:
        return [f"{name}/" for name in _workflows(client, before, begun)]
    reply = client.call(SHOW, Show(workflow, limit=NAMES_MAX))
    return [f"{workflow}/{task.name}" for task in reply.tasks]


def _workflow_or_task(client: BlockingClient, before: list[str], begun: str) -> list[str]:
    if "/" in begun:
        return _tasks(client, before, begun)
    return _workflows(client, before, begun)


def _workflow_then_tasks(client: BlockingClient, before: list[str], begun: str) -> list[str]:
    if not before:
        return _workflows(client, before, begun)
    return [task.name for task in client.call(SHOW, Show(before[0], limit=NAMES_MAX)).tasks]


def _programs(client: BlockingClient, _: list[str], __: str) -> list[str]:
    return [each.name for each in client.call(PROGRAMS, Programs()).programs]


def _programs_decided(client: BlockingClient, before: list[str], begun: str) -> list[str]:
    """Behind `publish` there is a folder, and the shell knows which there are."""
    return [] if before[:1] in ([], ["publish"]) else _programs(client, before, begun)


def _permitted(client: BlockingClient, before: list[str], begun: str) -> list[str]:
    """Of others, what waits for a word here; of one's own, what may wait for others."""
    if before == ["ask-owners"]:
        return _workflows(client, before, begun)
    told = client.call(PERMISSIONS, Permissions())
    if before == ["distrust"]:
        return [each.name for each in told.trusted]
    return [each.name for each in told.asked] if len(before) == 1 else []


PLACES: Mapping[str, Source] = {
    **dict.fromkeys(("status", "watch", "history", "remove"), _workflows),
    **dict.fromkeys(("cancel", "retry"), _workflow_then_tasks),
    "fetch": _workflow_or_task,
    **dict.fromkeys(("why", "show", "logs", "done"), _tasks),
    **dict.fromkeys(("priority", "again"), _workflow_alone),
    "programs": _programs_decided,
    "permissions": _permitted,
    "datasets": _workflow_alone,
    "flock ask": _flocks,
    "flock admit": _askers,
    "flock refuse": _askers,
    "me": lambda client, before, begun: (
        _machines(client, before, begun) if before == ["unpair"] else []
    ),
    **dict.fromkeys(("flock expel", "flock appoint", "flock role"), _machines),
}
VALUES: Mapping[str, Source] = {
    "--shared-with": _machines,
    "--node": _machines,
    "--on": _machines,
    "--program": _programs,
}
"""Of options, in whatever command."""


class _Completion(CommandLine):
    """Answers the scripts, too: with the words that fit, whatever those are."""

    def __call__(self, arguments: list[str]) -> int:
        asked, rest = arguments[:1], arguments[1:]
        if asked not in ([WORDS], [LINE]):
            return super().__call__(arguments)
        fitting = words(rest) if asked == [WORDS] else for_line(" ".join(rest))
        sys.stdout.writelines(f"{word}\n" for word in fitting)
        return exits.DONE


@command(
    "completion",
    "Print a script that makes a shell complete commands, options and names.",
    "wingbeat completion bash > ~/.local/share/bash-completion/completions/wingbeat",
    "wingbeat completion zsh > ~/.zfunc/_wingbeat",
    "wingbeat completion fish > ~/.config/fish/completions/wingbeat.fish",
    "wingbeat completion powershell >> $PROFILE",
    argument("shell", choices=SCRIPTS, help="for which one"),
    node=False,
    kind=_Completion,
)
def run(options: Options) -> int:
    """Print the completion script of the shell that is named, and return the exit code."""
    sys.stdout.write(SCRIPTS[options.shell])
    return exits.DONE


def words(line: list[str]) -> list[str]:
    """Return what may stand in place of the last of these words, which stand behind `wingbeat`, at
    most ``NAMES_MAX``; empty where nothing fits, or the agent, where it has to be asked, does not
    answer or refuses."""
    *before, last = line or [""]
    begun = last.strip("\"'")  # a shell may have to write the empty word so
    named = [each for each in before if not each.startswith("-")]
    commands, depth = _commands(named)
    if len(named) < depth:
        alone = ALONE[:1] if named else ALONE
        return _fitting(alone if begun.startswith("-") else commands, begun)
    known = _arguments(commands, named[depth - 1])
    options = {each.names[-1]: each for each in known if each.shown}
    placed = _placed(options, before[before.index(named[depth - 1]) + 1 :])
    option = options.get(before[-1])
    if option is not None and option.takes_value:
        return _fitting(_values(option, before[-1], placed, begun), begun)
    if begun.startswith("-"):
        return _fitting(sorted({*options, "--help"}), begun)
    return _fitting(_at_place(" ".join(named[:depth]), known, placed, begun), begun)


def for_line(line: str) -> list[str]:
    """Return what bash is to write in place of the last word of a line, quoted as bash needs it. As
    bash ends words at a colon or ``=``, only the part behind the last one is returned; where the
    word stands in quotation marks already, all of it as it is."""
    typed, quoted = _typed(line)
    known = words(typed[1:] or [""])
    end = max((typed[-1].rfind(sign) for sign in BASH_BREAKS), default=-1) + 1 if typed else 0
    return [word if quoted else _STRANGE.sub(r"\\\g<0>", word[end:]) for word in known]


def _typed(line: str) -> tuple[list[str], bool]:
    """The words of a line that may break off anywhere, and whether that is inside of quotes."""
    for end in ("", '"', "'"):
        lexer = shlex.shlex(line + end, posix=True, punctuation_chars=False)
        lexer.whitespace_split, lexer.commenters = True, ""
        try:
            found = list(lexer)
        except ValueError:
            continue
        if not end and line[-1:].isspace() and not line.endswith("\\ "):
            found.append("")
        return found, bool(end)
    return [], False


def _commands(named: list[str]) -> tuple[Mapping[str, Command], int]:
    """The commands at this place, and how many words it takes to name one."""
    from agent.cli import COMMANDS

    if named[:1] and named[0] in GROUPS:
        group: Mapping[str, Command] = importlib.import_module(
            f"agent.commands.{named[0]}"
        ).COMMANDS
        return group, 2
    return COMMANDS, 1


def _arguments(commands: Mapping[str, Command], word: str) -> tuple[Argument, ...]:
    """What may stand behind a command; of one that is not known, nothing."""
    if word not in commands:
        return ()
    line = loaded(*commands[word].place)
    return line.arguments if isinstance(line, CommandLine) else ()


def _at_place(
    name: str, known: tuple[Argument, ...], placed: list[str], begun: str
) -> Iterable[str]:
    own, source = OWN_WORDS.get((name, len(placed)), ()), PLACES.get(name)
    if source:
        return [*own, *_asked(source, placed, begun)]
    choices = (each.choices for each in known if not each.names[0].startswith("-"))
    return own or ([] if placed else next(choices, ()))


def _values(option: Argument, name: str, placed: list[str], begun: str) -> Iterable[str]:
    """What an option takes."""
    source = VALUES.get(name)
    if option.choices or source is None:
        return option.choices or OWN_VALUES.get(name, ())
    return _asked(source, placed, begun)


def _placed(options: Mapping[str, Argument], behind: list[str]) -> list[str]:
    """Of the words behind a command, those that are neither options nor values of such."""
    before = ["", *behind]
    return [
        word
        for word, previous in zip(behind, before, strict=False)
        if not word.startswith("-") and not (previous in options and options[previous].takes_value)
    ]


def _fitting(known: Iterable[str], begun: str) -> list[str]:
    return [each for each in known if each.startswith(begun) and each.isprintable()][:NAMES_MAX]


def _asked(source: Source, placed: list[str], begun: str) -> list[str]:
    try:
        with BlockingClient(name="completion") as client:
            return source(client, placed, begun)
    except ClientError:
        return []
