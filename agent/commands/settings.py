"""`wingbeat settings`: how this node is set up."""

from __future__ import annotations

from typing import Any, get_args

from agent.api.settings import (
    CHANGE_SETTINGS,
    SETTINGS,
    ChangeSettings,
    Origin,
    Processor,
    PublishedPrograms,
    Rules,
    Settings,
    SettingsView,
)
from agent.api.update import Updates
from agent.commands.asking import ask
from agent.commands.parsing import PORT_MAX, Options, argument, command, number_of
from agent.commands.showing import show_lines, size
from agent.wording.rules import rules_said

PROCESSOR_WORDS = {
    "spare": "what nobody else wants (spare)",
    "share": "a little in any case (share)",
}


@command(
    "settings",
    "Show how this node is set up; with options, change it. What holds only after the agent\n"
    "was started anew is said. Everything else stands in the file that is named.",
    "wingbeat settings",
    "wingbeat settings --slots 4 --tag gpu --tag fast",
    "wingbeat settings --tag ''",
    "wingbeat settings --policy BFGCE",
    argument("--name", help="what people call this machine"),
    argument(
        "--port",
        type=number_of("port", 0, PORT_MAX),
        metavar="N",
        help="where others reach it, 0 for any; another one is taken where it is used",
    ),
    argument("--slots", type=int, metavar="N", help="programs at a time"),
    argument(
        "--tag",
        dest="tags",
        metavar="TAG",
        action="append",
        help="for requirements; all of them anew",
    ),
    argument(
        "--address",
        dest="addresses",
        action="append",
        metavar="HOST:PORT",
        help="of other nodes",
    ),
    argument(
        "--published-programs",
        choices=get_args(PublishedPrograms),
        help="whether to run programs that others publish",
    ),
    argument("--datasets-gb", type=float, metavar="GB", help="data kept for the flock"),
    argument(
        "--processor",
        choices=get_args(Processor),
        help="programs get what nobody else wants of it, or a little in any case",
    ),
    argument(
        "--memory-gb", type=float, metavar="GB", help="that one program may take; 0: the default"
    ),
    argument(
        "--policy",
        dest="rules",
        choices=get_args(Rules),
        help="by which rules the whole flock decides who runs what, on all its machines at once",
    ),
    argument(
        "--history-days",
        type=int,
        metavar="DAYS",
        help="how long finished work is remembered; 0: for ever",
    ),
    argument(
        "--logs-mb",
        type=float,
        metavar="MB",
        help="of the end of each task's log, kept on another machine, too; 0: nothing",
    ),
    argument(
        "--copies",
        type=int,
        metavar="N",
        help="disks that results are on before their task has ended; 0: as many as are advised",
    ),
    argument(
        "--updates",
        choices=get_args(Updates),
        help="begin with a version that is installed when nothing runs here, or ask",
    ),
    argument(
        "--join-requests",
        choices=("yes", "no"),
        help="as a keeper, let machines without an invitation ask to be let in",
    ),
    argument(
        "--keep-awake",
        choices=("yes", "no"),
        help="no sleep while a program runs here and this machine is on mains",
    ),
    argument(
        "--wakeable",
        choices=("yes", "no"),
        help="let peers wake this machine for work that only it can take; it sleeps again after",
    ),
    argument(
        "--shared-with",
        action="append",
        metavar="MACHINE",
        help="whose people may cancel, retry and read what is submitted here: a machine, operators "
        "or everybody; '' for nobody",
    ),
    argument(
        "--telnet",
        choices=("yes", "no"),
        help="a port of loopback for `wingbeat telnet`, beside the socket",
    ),
)
def run(options: Options) -> int:
    """Show the settings of this node, after changing those that are given (an empty word empties a
    list); return the exit code."""
    told = {name: getattr(options, name, None) for name in ChangeSettings.__struct_fields__}
    given: dict[str, Any] = {
        name: [each for each in value if each] if isinstance(value, list) else value
        for name, value in told.items()
        if value is not None
    }
    for name in {"join_requests", "keep_awake", "telnet", "wakeable"} & set(given):
        given[name] = given[name] == "yes"
    if not given:
        return ask(options, SETTINGS, Settings(), _show)
    return ask(options, CHANGE_SETTINGS, ChangeSettings(**given), _show)


def _port(view: SettingsView) -> str:
    said = str(view.port or "any")
    if view.listening in (0, view.port):
        return said
    used = "" if view.port == 0 or "port" in view.restart else "it is used by another program, "
    return f"{said} ({used}{view.listening} now)"


ORIGINS: dict[Origin, str] = {"policy": "fixed by the policy", "machine": "default of this machine"}
"""What is said behind what is not the owner's own word."""
KEYS = {
    "listens on": "listen",
    "published programs": "published_programs",
    "datasets": "datasets_gb",
    "join requests": "join_requests",
    "memory": "memory_gb",
    "logs kept elsewhere": "logs_mb",
    "history": "history_days",
    "sleep": "keep_awake",
    "copies of results": "copies",
    "shared with": "shared_with",
    "waking": "wakeable",
}
"""Names of settings that are shown under other words."""


def _whose(view: SettingsView, name: str) -> str:
    whose = ORIGINS.get(view.origins.get(KEYS.get(name, name), "owner"), "")
    return f"  ({whose})" if whose else ""


def _show(view: SettingsView) -> None:
    facts = {
        "file": view.file,
        "name": view.name,
        "port": _port(view),
        "listens on": ", ".join(view.listen) or "all addresses",
        "addresses": ", ".join(view.addresses),
        "slots": str(view.slots),
        "tags": ", ".join(view.tags),
        "published programs": view.published_programs,
        "datasets": f"{view.datasets_gb:g} GB" if view.datasets_gb else "half of the free space",
        "processor": PROCESSOR_WORDS[view.processor],
        "join requests": "" if view.join_requests else "none without an invitation",
        "shared with": ", ".join(view.shared_with),
        "telnet": "by a port of loopback too" if view.telnet else "",
        "sleep": "" if view.keep_awake else "also while a program runs here",
        "waking": "by peers, for work that only it can take" if view.wakeable else "",
        "memory": f"{view.memory_gb:g} GB a program" if view.memory_gb else "a part of the machine",
        "logs kept elsewhere": f"the last {view.logs_mb:g} MB of each" if view.logs_mb else "none",
        "logs of others here": size(view.kept_logs_bytes) if view.kept_logs_bytes else "",
        "updates": "" if view.updates == "by itself" else "ask before a new version begins",
        "copies of results": str(view.copies or "as many as are advised"),
        "rules of the flock": f"{view.rules}: {rules_said(view.rules)}".rstrip(": "),
        "history": f"{view.history_days} days" if view.history_days else "for ever",
    }
    show_lines(f"{name:<20}{value}{_whose(view, name)}" for name, value in facts.items() if value)
    origins = view.origins.values()
    files: dict[Origin, str] = {"policy": view.policy, "machine": view.machine}
    show_lines(f"{ORIGINS[each]}: {file}" for each, file in files.items() if each in origins)
    show_lines(f"warning: {each}" for each in view.wrong)
    if view.restart:
        show_lines([f"after a restart: {', '.join(view.restart)}"])
