"""The six promises of DESIGN 6, checked on what live nodes have written themselves.

Three sources that know nothing of each other: the journals on the nodes' disks, read after their
agents have ended; the events that the nodes told while they ran; and the evidence of the programs.
The faults are known because the soak made them. What a live check cannot see, it does not judge:
between a fault and ``AFTERMATH_S`` after it a node may have had a reason that nobody wrote down.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf

import msgspec

from agent.api import session
from agent.api.values import TaskState
from agent.protocol.records import Evicted, Failed, Life, Suspended, Terminated
from agent.storage.database import Remembered
from agent.storage.journal import Journal
from tests.hosts.host import Host
from tests.hosts.hosts import Hosts
from tests.hosts.programs import Trace, content

AFTERMATH_S = 20.0
COPIES = 2
INTERACTIVE_LEFT_S = 1.5
"""So long a plan may leave interactive work to the node that it was dealt to."""

Found = dict[str, list[str]]


@dataclass
class Fault:
    """What was done to which hosts, from when to when."""

    kind: str
    hosts: tuple[int, ...]
    since_s: float
    until_s: float = inf


@dataclass
class Books:
    """What the soak knows."""

    accepted: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Workflows that a node has acknowledged, with the names of their tasks."""
    needs: dict[str, list[str]] = field(default_factory=dict)
    carried: set[str] = field(default_factory=set)
    """Tasks that take and make datasets, and save their state."""
    interactive: set[str] = field(default_factory=set)
    faults: list[Fault] = field(default_factory=list)
    unanswered: int = 0
    memory_mb: list[float] = field(default_factory=list)


def check(hosts: Hosts, books: Books) -> dict[str, Found | dict[str, int]]:
    """Everything that is broken, by promise; the agents have ended."""
    journals = [_read(host.home.journal) for host in hosts]
    traces = hosts.traces()
    lives = {each.task: each.life for each in journals[0].lives}
    tasks = [spec for each in journals[0].workflows for spec in each.spec.tasks]
    lives |= {each.name: lives[each.task] for each in tasks if each.task in lives}
    broken: Found = {
        "1 an accepted task is never lost": list(_lost(journals, books)),
        "2 a success stays a success": list(_unmade(hosts, lives)),
        "2 an outcome changes between two successes only": list(_changed(hosts, lives)),
        "3 one start more per fault at most": list(_repeated(traces, lives, books)),
        "4 a task starts with its inputs there": list(_early(traces, books)),
        "4 inputs and saved states are whole": list(_spoilt(traces)),
        "1 what was made is there, as it was made": list(_unkept(hosts, lives, books)),
        "4 no low task before an interactive one": list(_overtaken(hosts, books)),
        "5 all replicas are equal": list(_unequal(journals)),
        "6 every accepted task ends": list(_unfinished(lives, books)),
    }
    starts = [trace for trace in traces if trace.word == "start"]
    results = _results(hosts, books)
    counts = {
        "tasks": sum(map(len, books.accepted.values())),
        "starts": len(starts),
        "tasks that started more than once": len(starts) - len({each.name for each in starts}),
        "tasks of a published program": len(_carried(books)),
        "results on one disk only": sum(len(each) < COPIES for each in results.values()),
        "attempts that went on from a saved state": sum(each.word == "resumed" for each in traces),
    }
    return {"broken": broken, "counts": counts}


def _read(folder: object) -> Remembered:
    with Journal.open(folder) as journal:  # type: ignore[arg-type]
        return journal.read()


def _lost(journals: list[Remembered], books: Books) -> Iterator[str]:
    for number, journal in enumerate(journals):
        kept = {each.spec.name for each in journal.workflows}
        yield from (f"{name} is not on host{number}" for name in books.accepted if name not in kept)


def _unmade(hosts: Hosts, lives: dict[str, Life]) -> Iterator[str]:
    for host in hosts:
        for _, moved in host.happenings(session.TaskMoved):
            if moved.before is TaskState.TERMINATED:
                yield f"{host.name} told that {moved.name} went from finished to {moved.after}"
            elif moved.after is TaskState.TERMINATED and not _successes(lives.get(moved.task)):
                yield f"{host.name} told that {moved.name} is finished, its journal does not"


def _changed(hosts: Hosts, lives: dict[str, Life]) -> Iterator[str]:
    for host in hosts:
        for _, changed in host.happenings(session.OutcomeChanged):
            if _successes(lives.get(changed.task)) < 2:
                yield f"{host.name} told that the outcome of {changed.name} changed"


def _successes(life: Life | None) -> int:
    return 0 if life is None else sum(isinstance(run.phase, Terminated) for run in life.runs)


def _repeated(traces: list[Trace], lives: dict[str, Life], books: Books) -> Iterator[str]:
    starts: dict[str, list[Trace]] = {}
    for trace in traces:
        if trace.word == "start":
            starts.setdefault(trace.name, []).append(trace)
    for name, found in starts.items():
        allowed = 1 + _excuses(found, lives.get(name), books)
        if len(found) > allowed:
            told = ", ".join(f"host{each.host} at {each.at_s:.2f}" for each in found)
            yield f"{name} was started {len(found)} times ({told}), {allowed} allowed"


def _excuses(starts: list[Trace], life: Life | None, books: Books) -> int:
    """Faults that touched one of its owners since it started there, and what was given back."""
    first = {trace.host: trace.at_s for trace in reversed(starts)}
    faults = sum(
        fault.until_s + AFTERMATH_S >= at_s
        for fault in books.faults
        for host, at_s in first.items()
        if host in fault.hosts and fault.since_s <= starts[-1].at_s
    )
    given_back = 0 if life is None else sum(map(_was_given_back, life.runs))
    return faults + given_back


def _was_given_back(run: object) -> bool:
    phase = getattr(run, "phase", None)
    return isinstance(phase, Evicted | Failed) or (isinstance(phase, Suspended) and phase.offered)


def _early(traces: list[Trace], books: Books) -> Iterator[str]:
    """All hosts of the run read the same clock."""
    ended: dict[str, float] = {}
    for trace in traces:
        if trace.word == "end":
            ended.setdefault(trace.name, trace.at_s)
        elif trace.word == "start":
            for needed in books.needs.get(trace.name, ()):
                if ended.get(needed, inf) > trace.at_s:
                    yield f"{trace.name} started on host{trace.host} before {needed} had ended"


def _spoilt(traces: list[Trace]) -> Iterator[str]:
    for trace in traces:
        if trace.word in ("missing", "wrong"):
            yield f"{trace.name} on host{trace.host} found something {trace.word}"


def _carried(books: Books) -> list[str]:
    accepted = (name for tasks in books.accepted.values() for name in tasks)
    return sorted(name for name in accepted if name in books.carried)


def _unkept(hosts: Hosts, lives: dict[str, Life], books: Books) -> Iterator[str]:
    for name in _carried(books):
        digest = hashlib.sha256(content(name)).hexdigest()
        life = lives.get(name)
        made = {
            each.dataset
            for run in (life.runs if life is not None else ())
            if isinstance(run.phase, Terminated)
            for each in run.phase.outputs
        }
        if made - {f"sha256:{digest}"}:
            yield f"{name} made {sorted(made)}, not sha256:{digest}"
    for name, holders in _results(hosts, books).items():
        if not holders:
            yield f"what {name} made is on no host"


def _results(hosts: Hosts, books: Books) -> dict[str, list[str]]:
    """Which hosts have what was made. What another task took is no result: when the workflow is
    done, it may go. A host that was alone when it made a result may keep it alone."""
    taken = {needed for needs in books.needs.values() for needed in needs}
    digests = {
        name: hashlib.sha256(content(name)).hexdigest()
        for name in _carried(books)
        if name not in taken
    }
    return {
        name: [host.name for host in hosts if _holds(host, digest)]
        for name, digest in digests.items()
    }


def _holds(host: Host, digest: str) -> bool:
    return (host.home.data / "datasets" / "objects" / digest[:2] / digest).exists()


def _overtaken(hosts: Hosts, books: Books) -> Iterator[str]:
    """By each node's own view, where no fault is near."""
    for host in hosts:
        ready: dict[str, float] = {}
        for at_s, moved in host.happenings(session.TaskMoved):
            if moved.name in books.interactive:
                if moved.after is TaskState.READY:
                    ready[moved.name] = at_s
                else:
                    ready.pop(moved.name, None)
            elif moved.after is TaskState.RUNNING and moved.host == host.name:
                for name, since_s in ready.items():
                    if at_s - since_s > INTERACTIVE_LEFT_S and _calm(books, since_s, at_s):
                        waited_s = at_s - since_s
                        yield f"{host.name} began {moved.name}, {name} waited for {waited_s:.1f} s"


def _calm(books: Books, since_s: float, until_s: float) -> bool:
    return not any(
        fault.since_s <= until_s and fault.until_s + AFTERMATH_S >= since_s
        for fault in books.faults
    )


def _unequal(journals: list[Remembered]) -> Iterator[str]:
    first = _records(journals[0])
    for number, journal in enumerate(journals[1:], 1):
        other = _records(journal)
        for key in sorted(first.keys() | other.keys()):
            if first.get(key) != other.get(key):
                yield f"{key} differs between host0 and host{number}"


def _records(journal: Remembered) -> dict[str, bytes]:
    encode = msgspec.msgpack.Encoder(order="deterministic").encode
    return {
        **{f"workflow {each.spec.workflow}": encode(each) for each in journal.workflows},
        **{
            f"life {each.task}": encode(sorted(map(encode, each.life.runs)))
            + encode((each.life.generation, each.life.floor, each.life.cancel))
            for each in journal.lives
        },
        **{f"pruning {each.workflow}": encode(each) for each in journal.prunings},
    }


def _unfinished(lives: dict[str, Life], books: Books) -> Iterator[str]:
    for tasks in books.accepted.values():
        for name in tasks:
            if not _successes(lives.get(name)):
                yield f"{name} has no outcome"
