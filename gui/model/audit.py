"""An entry of the audit in the words of a person: who did what, to what, from where, how it ended.

An act has the name of what was asked of the agent. One of another version is shown by that name.
"""

from __future__ import annotations

from msgspec import UNSET

from agent.api.audit import CHECKPOINT, AuditChecked, AuditEntry
from agent.api.phrases import phrase_of, said, worded
from gui.model.screen import Screen
from gui.words import tr

IN_THE_FLOCK = "flock: "
"""What begins acts on the flock that were signed, here or elsewhere."""
REFUSED = "refused"
NAMES_SHOWN_MAX = 3
ACTS = {
    CHECKPOINT: said("older entries were let go"),
    "not noted": said("too many at a time to be noted"),
    "stop": said("stopped Wingbeat"),
    "submit": said("submitted a workflow"),
    "schedule": said("submitted a task"),
    "cancel": said("cancelled"),
    "retry": said("tried again"),
    "priority": said("changed the priority"),
    "gate": said("marked a step done"),
    "again": said("ran again"),
    "remove": said("removed"),
    "add_dataset": said("added a file"),
    "flock_create": said("made a flock"),
    "invite": said("made an invitation"),
    "join": said("joined by an invitation"),
    "ask": said("asked to be let in"),
    "confirm_ask": said("confirmed the code"),
    "withdraw_ask": said("asked no more to be let in"),
    "admit": said("let in"),
    "refuse": said("did not let in"),
    "expel": said("expelled"),
    "hand_over": said("handed over what only it kept"),
    "leave": said("left the flock"),
    "appoint": said("appointed, or took that back"),
    "set_role": said("changed the role"),
    "recover": said("used the recovery phrase"),
    "meet": said("asked to be one person's machine"),
    "pair": said("said that a machine is one's own"),
    "unpair": said("took a machine away from its person"),
    "upgrade_flock": said("gave the flock administrators"),
    "new_phrase": said("changed the recovery phrase"),
    "pause": said("paused"),
    "resume": said("resumed"),
    "set_volunteering": said("changed when it helps"),
    "change_settings": said("changed settings"),
    "start_anew": said("started Wingbeat anew"),
    "publish": said("published a program"),
    "accept_program": said("allowed a program"),
    "forget_program": said("forgot a program"),
    "refuse_program": said("refused a program"),
    "permit": said("answered about programs"),
    "grant": said("allowed a program more"),
    "revoke": said("took leave of a program back"),
    "distrust": said("trusted somebody's programs no more"),
    "ask_owners": said("asked owners for leave"),
    "remind_owner": said("reminded an owner"),
    "set_secret": said("kept a secret"),
    "forget_secret": said("forgot a secret"),
    "settings": said("read the settings"),
    "agent_log": said("read the log"),
    "audit": said("read this audit"),
}
"""By what was asked of an agent."""
FLOCK_ACTS = {
    "let in": said("let into the flock"),
    "expelled": said("expelled"),
    "founded": said("made the flock"),
    "role administrator": said("made an administrator"),
    "role operator": said("made an operator"),
    "role helper": said("made a helper"),
    "keeper appointed": said("made a keeper"),
    "keeper withdrawn": said("made no keeper any more"),
    "left": said("left the flock"),
    "paired": said("said that a machine is one's own"),
    "unpaired": said("took a machine away from its person"),
    "recovered": said("recovered the flock by its phrase"),
    "phrase": said("changed the recovery phrase"),
}
"""By what an act on the flock says."""


def who_text(entry: AuditEntry) -> str:
    """Return who did it: a machine without its id, the person of this computer as its owner."""
    if entry.who == "owner":
        return tr("its owner")
    return entry.who.partition(" (")[0]


def what_text(entry: AuditEntry) -> str:
    """Return what an audit entry says was done, in the window's language; as it was noted where no
    translation is known."""
    if entry.what.startswith(IN_THE_FLOCK):
        what = entry.what.removeprefix(IN_THE_FLOCK)
        known = FLOCK_ACTS.get(what) or FLOCK_ACTS.get(what.partition(" ")[0])
    else:
        what = entry.what.replace("_", " ")
        known = ACTS.get(entry.what)
    return what if known is None else worded(known, tr)


def on_text(entry: AuditEntry, screen: Screen) -> str:
    """Return what an audit entry's act was done to: workflows by name where they are known,
    machines without their ids; of more than ``NAMES_SHOWN_MAX`` the first, and how many more. Empty
    for nothing."""
    names = [_called(each, screen) for each in entry.on.split(", ") if each]
    shown = ", ".join(names[:NAMES_SHOWN_MAX])
    more = len(names) - NAMES_SHOWN_MAX
    return tr("{names} and {count} more", names=shown, count=more) if more > 0 else shown


def from_text(entry: AuditEntry) -> str:
    """Return where an audit entry's act was asked from, in the window's language: this computer,
    another one or the flock; any other place as it was noted."""
    return {
        "this machine": tr("the computer itself"),
        "this machine, typed": tr("the computer itself, typed"),
        "another machine": tr("another computer"),
        "the flock": tr("the flock"),
    }.get(entry.came_from, entry.came_from)


def is_well(entry: AuditEntry) -> bool:
    """Tell whether it was done."""
    return entry.outcome == "done" or entry.what in (CHECKPOINT, "not noted")


def outcome_text(entry: AuditEntry) -> str:
    """Return how an audit entry's act ended: done, refused or failed, any other end as it was
    noted; for acts that were not noted singly, how many there were."""
    if entry.what == "not noted":
        return tr("{count} of them", count=entry.outcome)
    if entry.outcome.startswith(REFUSED):
        return tr("refused")
    return {"done": tr("done"), "failed": tr("failed")}.get(entry.outcome, entry.outcome)


def checked_text(found: AuditChecked) -> str:
    """Return the result of checking an audit as one sentence: whole, from which entry to which, and
    where one was witnessed before, that it agrees with that; or which entry is wrong and why."""
    values = {"name": found.name, "first": found.last - found.entries + 1, "last": found.last}
    if found.broken:
        fault = None if found.fault is UNSET else phrase_of(found.fault)
        why = found.why if fault is None else worded(fault, tr)
        told = {"name": found.name, "number": found.broken, "why": why}
        return tr("Entry {number} of the audit of {name} is wrong: {why}.", **told)
    if found.witnessed:
        return tr(
            "The audit of {name} is whole, from entry {first} to {last}, and as this computer was told "
            "of entry {witnessed} before.",
            witnessed=found.witnessed,
            **values,
        )
    return tr("The audit of {name} is whole, from entry {first} to {last}.", **values)


def _called(named: str, screen: Screen) -> str:
    known = screen.workflows.get(named)
    if known is not None:
        return known.name
    members = screen.members.members if screen.members is not None else ()
    machines = {each.node: each.name for each in members}
    return machines.get(named, named.partition(" (")[0])
