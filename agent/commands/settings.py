"""`wingbeat settings`: how this node is set up."""

from __future__ import annotations

from typing import get_args

from msgspec import UNSET

from agent.api.methods import CHANGE_SETTINGS, SETTINGS
from agent.api.settings import ChangeSettings, Processor, PublishedPrograms, Settings, SettingsView
from agent.commands.asking import ask
from agent.commands.parsing import CommandParser, client_parser
from agent.commands.showing import show_lines

PROCESSOR_WORDS = {
    "spare": "what nobody else wants (spare)",
    "share": "a little in any case (share)",
}


def run(arguments: list[str]) -> int:
    """Show the settings of this node, or change those that are given; return the exit code."""
    options = _parser().parse_args(arguments)
    told = {
        "name": options.name,
        "slots": options.slots,
        "tags": options.tag and tuple(each for each in options.tag if each),
        "addresses": options.address and tuple(each for each in options.address if each),
        "published_programs": options.published_programs,
        "datasets_gb": options.datasets_gb,
        "processor": options.processor,
        "memory_gb": options.memory_gb,
        "join_requests": None if options.join_requests is None else options.join_requests == "yes",
    }
    given = {name: UNSET if value is None else value for name, value in told.items()}
    if all(value is UNSET for value in given.values()):
        return ask(options, SETTINGS, Settings(), _show)
    return ask(options, CHANGE_SETTINGS, ChangeSettings(**given), _show)


def _parser() -> CommandParser:
    parser = client_parser(
        "settings",
        "Show how this node is set up; with options, change it. What holds only after the agent\n"
        "was started anew is said. Everything else stands in the file that is named.",
        "wingbeat settings",
        "wingbeat settings --slots 4 --tag gpu --tag fast",
        "wingbeat settings --tag ''",
    )
    parser.add_argument("--name", help="what people call this machine")
    parser.add_argument("--slots", type=int, metavar="N", help="programs at a time")
    parser.add_argument("--tag", action="append", help="for requirements; all of them anew")
    parser.add_argument("--address", action="append", metavar="HOST:PORT", help="of other nodes")
    parser.add_argument(
        "--published-programs",
        choices=get_args(PublishedPrograms),
        help="whether to run programs that others publish",
    )
    parser.add_argument("--datasets-gb", type=float, metavar="GB", help="data kept for the flock")
    parser.add_argument(
        "--processor",
        choices=get_args(Processor),
        help="programs get what nobody else wants of it, or a little in any case",
    )
    parser.add_argument(
        "--memory-gb", type=float, metavar="GB", help="that one program may take; 0: the default"
    )
    parser.add_argument(
        "--join-requests",
        choices=("yes", "no"),
        help="as a keeper, let machines without an invitation ask to be let in",
    )
    return parser


def _show(view: SettingsView) -> None:
    facts = {
        "file": view.file,
        "name": view.name,
        "port": str(view.port or "any"),
        "listens on": ", ".join(view.listen) or "all addresses",
        "addresses": ", ".join(view.addresses),
        "slots": str(view.slots),
        "tags": ", ".join(view.tags),
        "published programs": view.published_programs,
        "datasets": f"{view.datasets_gb:g} GB" if view.datasets_gb else "half of the free space",
        "processor": PROCESSOR_WORDS[view.processor],
        "join requests": "" if view.join_requests else "none without an invitation",
        "memory": f"{view.memory_gb:g} GB a program" if view.memory_gb else "a part of the machine",
    }
    show_lines(f"{name:<20}{value}" for name, value in facts.items() if value)
    if view.restart:
        show_lines([f"after a restart: {', '.join(view.restart)}"])
