"""`wingbeat audit`: who did what on a machine, as signed and chained entries, and whether they are whole."""

from __future__ import annotations

import sys

import msgspec

from agent.api.audit import (
    AUDIT,
    CHECK_AUDIT,
    Audit,
    AuditChecked,
    AuditEntry,
    AuditReply,
    CheckAudit,
)
from agent.client import BlockingClient
from agent.commands import exits
from agent.commands.asking import ask, with_client
from agent.commands.parsing import ALL, Options, argument, command, misuse
from agent.commands.showing import moment, show_lines, show_rows

LATEST, PAGE = 50, 1_000


@command(
    "audit",
    "Show who did what on this machine, to what, asked from where, and how it ended: the latest, or\n"
    "`--all`; with `--json` all of it, an entry a line. Each has the hash of the one before and the\n"
    "machine's signature: `check` finds the first that was changed, taken out or put in, here or on\n"
    "another machine, and compares with what that one said of its end before.",
    "wingbeat audit",
    "wingbeat audit --json > audit.jsonl",
    "wingbeat audit check",
    "wingbeat audit check birch",
    argument("action", nargs="?", choices=("check",), help="check instead of showing"),
    argument("member", nargs="?", default="", metavar="MEMBER", help="whose is checked"),
    ALL,
)
def run(options: Options) -> int:
    """Show the latest entries of the audit, or all with ``--all`` or ``--json``, or check one;
    return the exit code: of a failure where an entry is wrong, of misuse for a check with
    ``--node``."""
    if options.action == "check":
        if options.node:
            return misuse("check a machine from here: `wingbeat audit check MEMBER`")
        wanted = CheckAudit(options.member)
        return ask(options, CHECK_AUDIT, wanted, _show_checked, lambda found: found.broken > 0)
    if options.json or options.all:
        return _all(options)
    return ask(options, AUDIT, Audit(limit=LATEST), _show)


@with_client
def _all(options: Options, client: BlockingClient) -> int:
    first = 1
    while True:
        reply = client.call(AUDIT, Audit(first, PAGE))
        if options.json:
            for each in reply.entries:
                sys.stdout.write(msgspec.json.encode(each).decode() + "\n")
        else:
            _show(reply)
        if not reply.entries or reply.entries[-1].number >= reply.last:
            return exits.DONE
        first = reply.entries[-1].number + 1


def _show(reply: AuditReply) -> None:
    if not reply.entries:
        show_lines(["nothing was done here yet"])
        return
    show_rows(
        reply.entries,
        NUMBER=lambda each: str(each.number),
        WHEN=lambda each: moment(each.at_ms),
        WHO=lambda each: each.who,
        WHAT=_what,
        ON=lambda each: each.on,
        FROM=lambda each: each.came_from,
    )


def _what(entry: AuditEntry) -> str:
    what = entry.what.replace("_", " ")
    return what if entry.outcome == "done" else f"{what} ({entry.outcome})"


def _show_checked(found: AuditChecked) -> None:
    checked = f"{found.entries:,} entr{'y' if found.entries == 1 else 'ies'} of {found.name}"
    if found.broken:
        show_lines([f"{checked} were read; entry {found.broken} is wrong: {found.why}"])
        return
    known = f", and as this machine was told of number {found.witnessed}" if found.witnessed else ""
    show_lines([f"{checked} are whole, up to number {found.last}{known}"])
