"""The manual pages of `wingbeat`, `wingbeat-tray` and `wingbeat-night`, made from the tables that the commands are read by."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from agent import __version__
from agent.cli import COMMANDS
from agent.commands.choosing import Command, loaded
from agent.commands.parsing import Argument, CommandLine

TRAY = """\
.TH WINGBEAT-TRAY 1 {day} "Wingbeat {version}" "User commands"
.SH NAME
wingbeat\\-tray \\- the tray icon and the window of Wingbeat
.SH SYNOPSIS
.B wingbeat\\-tray
[\\fB\\-\\-background\\fR] [\\fB\\-\\-quit\\fR] [\\fB\\-\\-leave\\fR] [\\fIFILE\\fR ...]
.SH DESCRIPTION
Shows what the flock works on, and runs the agent of this computer unless it runs already. A second
start brings the first to front. A workflow file opens the sheet that submits it, an invitation
begins to join.
.TP
.B \\-\\-background
do not open the window
.TP
.B \\-\\-quit
have the tray that runs quit, and its agent hand back what it runs, and wait until both have ended; 1
where that takes longer than 75 seconds
.TP
.B \\-\\-leave
the same for good: before, have others take what only this machine keeps, and leave the flock
.SH SEE ALSO
.BR wingbeat (1)
"""
NIGHT = """\
.TH WINGBEAT-NIGHT 8 {day} "Wingbeat {version}" "System administration"
.SH NAME
wingbeat\\-night \\- speaks for the service of Wingbeat, on machines without a login
.SH SYNOPSIS
.B wingbeat\\-night
\\fICOMMAND\\fR [\\fIARGUMENTS\\fR]
.SH DESCRIPTION
The service is an agent of this machine that runs from its boot on, as the user wingbeat, after
.B systemctl enable \\-\\-now wingbeat\\-night
and not before. Root gives it any command of
.BR wingbeat (1)
by this one, as in
.BR "wingbeat\\-night flock join" .
.SH FILES
.TP
.I /etc/wingbeat/settings.toml, /etc/wingbeat/policy.toml
what administrators have set for all agents of this machine
.TP
.I /var/lib/wingbeat, /var/log/wingbeat, /var/cache/wingbeat
what the service keeps, its logs, and where its programs work
.SH SEE ALSO
.BR wingbeat (1),
.BR systemctl (1)
"""
HEAD = """\
.TH WINGBEAT 1 {day} "Wingbeat {version}" "User commands"
.SH NAME
wingbeat \\- turns the workstations of an office LAN into one flock that executes workflows
.SH SYNOPSIS
.B wingbeat
\\fICOMMAND\\fR [\\fIARGUMENTS\\fR]
.SH DESCRIPTION
Every workstation runs the same agent; there is no server. Each command asks the agent of this
computer, and with \\fB\\-\\-node\\fR \\fINAME\\fR that of another one. The beginning of a command is
enough where no other has it.
.SH COMMANDS
"""
FEET = """\
.SH ENVIRONMENT
.TP
.B WINGBEAT_HOME
a folder for everything that an agent keeps, in place of the four in FILES
.SH FILES
.TP
.I ~/.config/wingbeat/settings.toml
settings; those for all users of a computer are in \\fI/etc/wingbeat/settings.toml\\fR
.TP
.I ~/.local/share/wingbeat
tables, results, programs and the identity of this computer
.TP
.I ~/.local/state/wingbeat/log
logs
.TP
.I ~/.cache/wingbeat
where programs work
.SH EXIT STATUS
0 when it is done, 2 for arguments that make no sense, else 1; `wingbeat \\-\\-help` tells more.
.SH SEE ALSO
.BR wingbeat\\-tray (1)
"""


def write_manual(folder: Path, seconds: int) -> None:
    """Write the pages into folders of this one, compressed, with the day of this time."""
    day = datetime.fromtimestamp(seconds, UTC).date().isoformat()
    whole = HEAD + "".join(map(_told, _all())) + FEET
    pages = {"wingbeat.1": whole, "wingbeat-tray.1": TRAY, "wingbeat-night.8": NIGHT}
    for name, text in pages.items():
        page = text.replace("{day}", day).replace("{version}", __version__)
        packed = gzip.compress(page.encode(), mtime=0)
        place = folder / f"man{name[-1]}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{name}.gz").write_bytes(packed)


def _all(commands: dict[str, Command] | None = None) -> list[CommandLine]:
    """The commands in the order of the help text, those of a group in its place."""
    found: list[CommandLine] = []
    for each in (commands or dict(COMMANDS)).values():
        run = loaded(*each.place)
        if isinstance(run, CommandLine):
            found.append(run)
        elif isinstance(run, partial):
            found += _all(dict(run.args[1]))
    return found


def _told(line: CommandLine) -> str:
    places = " ".join(f"\\fI{_name(each)}\\fR" for each in line.arguments if _is_place(each))
    text = f".SS wingbeat {line.name} {places}\n{_plain(line.description)}\n"
    for each in line.arguments:
        if each.shown:
            names = ", ".join(f"\\fB{_plain(name)}\\fR" for name in each.names)
            value = f" \\fI{_name(each)}\\fR" if each.takes_value else ""
            text += f".TP\n{names}{value}\n{_plain(str(each.told.get('help', '')))}\n"
    if line.examples:
        text += ".PP\n.nf\n" + "".join(f"{_plain(each)}\n" for each in line.examples) + ".fi\n"
    return text


def _is_place(each: Argument) -> bool:
    return not each.names[0].startswith("-")


def _name(each: Argument) -> str:
    shown = each.told.get("metavar") or each.names[-1].lstrip("-").upper()
    return _plain("|".join(each.choices) if each.choices else str(shown))


def _plain(text: str) -> str:
    """Text in which troff sees no command."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("%%", "%")
    return "\n".join(
        ("\\&" if each.startswith((".", "'")) else "") + each for each in escaped.splitlines()
    )
