"""Who is at the other end of a connection of this machine, and what shows that it may come in.

On a socket the system tells the account, and the client says the token. On a pipe or a port anybody
might listen in the place of an agent that was killed, so nobody ever says it there: both sides prove
that they hold it (``agent.client.proof``).

An agent that is a service is everybody's on its machine. Whom the system names may submit, see, and act
on what they have submitted themselves; acts on the flock and settings are for administrators: root, and
the groups that the settings name; on Windows whoever has the rights of an administrator at that moment.
Nobody has it read or write files by their paths, which it would do
with rights of its own, not theirs.
"""

from __future__ import annotations

import os
from collections.abc import Collection

from agent.client.proof import new_nonce, proof_of, same
from agent.host.private_windows import Caller

ROOT = 0
Account = int | str
"""As the system numbers it; a text on Windows."""
FOR_PERSONS = frozenset(
    [
        "hello",
        "events",
        "submit",
        "cancel",
        "retry",
        "priority",
        "gate",
        "status",
        "show",
        "meant",
        "again",
        "why",
        "plan",
        "peers",
        "members",
        "doctor",
        "pause",
        "resume",
        "volunteering",
        "settings",
        "programs",
        "permissions",
        "datasets",
        "begin_upload",
        "upload_chunk",
        "end_upload",
        "dataset_files",
        "read_dataset",
        "task_log",
        "runs",
        "history",
        "statistics",
        "past",
        "ask_owners",
        "remind_owner",
        "at_hand",
    ]
)
"""What an agent that is a service does for everybody on its machine."""
OWN_ONLY = {
    "cancel": "workflow",
    "retry": "workflow",
    "priority": "workflow",
    "again": "workflow",
    "gate": "task",
}
"""Of these, what is done only to work of the same person, and the parameter that names it."""


class Neighbour:
    """Who has connected at ``place``; ``account`` is its number, None where the system does not tell
    it, as for members that ask from other machines, who show nothing here."""

    def __init__(self, token: str, place: str = "", account: Account | None = None) -> None:
        self._token, self._place, self.account = token, place, account
        self._wanted = token if account is not None else ""

    def prove(self, asked: str) -> tuple[str, str]:
        """Draw a nonce and return it with the agent's proof, for the client's nonce (``asked``) and
        this one, that it knows the token; over a port or pipe the client has to show its own proof
        next."""
        answered = new_nonce()
        if self.account is None:
            self._wanted = proof_of(self._token, "client", self._place, asked, answered)
        return answered, proof_of(self._token, "agent", self._place, asked, answered)

    def may_enter(self, shown: str) -> bool:
        """Tell whether the client has shown what it has to, the token or its proof; a proof can be
        tried once."""
        wanted = self._wanted
        if self.account is None:
            self._wanted = ""
        return bool(wanted) and same(shown, wanted)


class Person(Neighbour):
    """Somebody who has come to an agent that is a service; ``name`` is what the system calls the
    account, or its number."""

    def __init__(self, caller: int | Caller, administrators: Collection[str]) -> None:
        if isinstance(caller, Caller):
            super().__init__("", "", caller.account)
            self.name, self.administers = caller.name, caller.administers
            return
        super().__init__("", "", caller)
        self.name, groups = _known(caller)
        self.administers = caller in (ROOT, os.geteuid()) or bool(groups & set(administrators))

    def may_enter(self, shown: str) -> bool:  # noqa: ARG002 - nothing has to be shown
        """Whoever it is: the system has told."""
        return True

    def may(self, method: str) -> bool:
        """Whether this is done for them at all."""
        return self.administers or method in FOR_PERSONS


def _known(account: int) -> tuple[str, set[str]]:
    """The name of an account and of its groups; a system that knows none has no administrators."""
    import grp
    import pwd

    try:
        known = pwd.getpwuid(account)
        numbers = os.getgrouplist(known.pw_name, known.pw_gid)
    except (KeyError, OSError):
        return str(account), set()
    groups: set[str] = set()
    for number in numbers:
        try:
            groups.add(grp.getgrgid(number).gr_name)
        except KeyError:
            continue
    return known.pw_name, groups
