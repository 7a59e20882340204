"""Sentences of the same page: what a machine is told to do that belongs to no flock, or does not belong
any more, and what waits in a flock for an administrator, or the one who founds it."""

from __future__ import annotations

from agent.protocol.reasons import Reason

HOW_TO_JOIN = (
    "this machine belongs to no flock: join one with an invitation (`wingbeat flock join -`), ask "
    "one nearby (`wingbeat flock nearby`), or make one (`wingbeat flock create NAME`)"
)
_JOIN_AGAIN = "leave the flock (`wingbeat flock leave`) and join again with a new invitation"
SENT_AWAY = f"this machine was sent away from {{name}}: {_JOIN_AGAIN}"
BELONGING: dict[type[Reason] | str, str] = {
    "ActWaits": "{places} wants this, and another administrator has to say the same: `{name}`",
    "AuditCut": "the audit of {name} is not what it was: it had {count} entries, and some were cut off or "
    "written anew (`wingbeat audit check {name}` tells from where on)",
    "FlockHasNoActs": "{name} was made by a version without administrators, so each keeper ({places}) "
    "may do everything: update all machines, then `wingbeat flock upgrade` on the keeper that shall be "
    "the first administrator",
    "KeyInClear": "the key of the flock lies in {folder} as it is, readable by this account alone, as no "
    "key store is open here",
    "KeyLocked": "the key of the flock is in the key store of this account, which does not give it "
    "({error}): unlock it, until then this machine lets nobody in",
    "NoFlock": HOW_TO_JOIN,
    "NotRenewed": "the certificate of this machine ends on {date} and could not be renewed "
    "({error}): switch on a keeper of the flock",
    "OwnCertificateFrom": "the certificate of this machine begins only on {date}, so nobody lets it "
    f"in: if the clock here is right, one was wrong before, so {_JOIN_AGAIN}",
    "OwnCertificateFromKeeper": "the certificate of this machine begins only on {date}, so nobody "
    "lets it in: if the clock here is right, one was wrong before, so this machine, a keeper, makes "
    "itself a new one within an hour, or at once when you start its agent anew",
    "OwnCertificateUntil": "the certificate of this machine ended on {date}, so nobody lets it in: "
    f"if the clock here is right, {_JOIN_AGAIN}",
    "SentAway": SENT_AWAY,
}
