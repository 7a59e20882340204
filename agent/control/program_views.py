"""Programs as clients see them: as described here, or by another machine that has them.

What programs of other machines do is asked of the machines that have them. A node tells its peers the names of its programs only; what they take and make stands in their
descriptions, and is asked for when a client wants to know. Few are asked (one of those that have
the same program), at the same time, and nobody is waited for long: what a machine does not say in
time is missing, and said to be. Answers are kept while the machine has the same programs.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import structs

from agent.api.errors import RefusedError, ServiceError
from agent.api.flock import PeerView
from agent.api.programs import PROGRAMS, Decision, Programs, ProgramView
from agent.api.rpc import ErrorCode
from agent.client.errors import ClientError
from agent.control.fitting import seen
from agent.control.members import Members
from agent.control.port import NodePort, Snapshot
from agent.control.program_rooms import ProgramRoom
from agent.control.views import dataset_view
from agent.protocol.phrases import said
from agent.protocol.records import Dataset, NodeId
from agent.protocol.table import Table
from agent.workflow.faults import FaultsError
from agent.workflow.program_description import ProgramDescription
from agent.workflow.program_folder import read_program

ANSWER_S = 0.9
ALL_ANSWERS_S = 2.0
"""Whoever looks at a dry run does not want to wait longer for what is only said better."""
ASKED_AT_ONCE_MAX = 8
KEPT_S = 300.0
"""A description may be changed without the program getting another name."""
SILENT_S = 10.0
"""Who did not answer is left alone for so long."""
FOLDERS_MAX = 1_000
Published = dict[str, tuple[Dataset, str]]
Described = dict[str, ProgramDescription]


@dataclass(frozen=True, slots=True)
class ProgramAnswers:
    """What programs of other machines do, and who did not say it: machines by program."""

    views: Mapping[str, ProgramView] = field(default_factory=dict)
    silent: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def missing(self, wanted: Collection[str]) -> tuple[str, ...]:
        """Return a sentence for each of these programs of which nothing is known because its
        machines did not answer; empty when there is none."""
        return tuple(
            f"what {program} makes and how long it takes is not known: {' and '.join(machines)} "
            f"{'does' if len(machines) == 1 else 'do'} not answer"
            for program, machines in sorted(self.silent.items())
            if program in wanted
        )


@dataclass(frozen=True, slots=True)
class _Kept:
    programs: tuple[str, ...]
    at_s: float
    views: Mapping[str, ProgramView] | None
    """None: it did not answer."""


class FlockPrograms:
    """Asks other machines what their programs do, and keeps the answers for a while."""

    def __init__(self, node: NodePort, members: Members) -> None:
        self._node, self._members = node, members
        self._kept: dict[NodeId, _Kept] = {}
        self._asking = asyncio.Lock()

    async def answers(self, own: Collection[str]) -> ProgramAnswers:
        """Return what other machines say of their installed programs (published ones left out),
        without those in ``own``, and who did not answer. They are asked only for what is not kept
        from a while ago, and nobody is waited for longer than two seconds in all."""
        peers = self._node.now().peers
        wanted = {name for peer in peers for name in installed(peer)}.difference(own)
        try:
            async with asyncio.timeout(ALL_ANSWERS_S), self._asking:
                self._forget(peers)
                while chosen := self._to_ask(peers, wanted):
                    await asyncio.gather(*(self._ask(peer) for peer in chosen))
        except TimeoutError:
            pass  # what is there by now has to do
        views = self._views(peers, wanted)
        return ProgramAnswers(views, dict(self._silent(peers, wanted.difference(views))))

    def _forget(self, peers: Iterable[PeerView]) -> None:
        """What is old, and of machines that have other programs now or are not seen."""
        now_s = time.monotonic()
        programs = {peer.node: peer.capabilities.programs for peer in peers}
        for node, kept in list(self._kept.items()):
            age_max_s = SILENT_S if kept.views is None else KEPT_S
            if programs.get(node) != kept.programs or now_s - kept.at_s > age_max_s:
                del self._kept[node]

    def _to_ask(self, peers: Iterable[PeerView], wanted: set[str]) -> list[PeerView]:
        """So few that all which is not known yet is asked for once."""
        unknown = wanted.difference(self._views(peers, wanted))
        open_peers = [peer for peer in peers if peer.node not in self._kept]
        chosen: list[PeerView] = []
        while unknown and open_peers and len(chosen) < ASKED_AT_ONCE_MAX:
            best = max(open_peers, key=lambda peer: len(unknown.intersection(installed(peer))))
            if unknown.isdisjoint(installed(best)):
                break
            open_peers.remove(best)
            unknown.difference_update(installed(best))
            chosen.append(best)
        return chosen

    async def _ask(self, peer: PeerView) -> None:
        views: dict[str, ProgramView] | None = None
        try:
            async with asyncio.timeout(ANSWER_S):
                reply = await self._members.ask(peer.node, PROGRAMS, Programs(own=True))
            views = {each.name: each for each in reply.programs if each.here == "installed"}
        except (TimeoutError, ServiceError, ClientError):
            pass  # it is kept that it did not answer
        self._kept[peer.node] = _Kept(peer.capabilities.programs, time.monotonic(), views)

    def _views(self, peers: Iterable[PeerView], wanted: set[str]) -> dict[str, ProgramView]:
        found: dict[str, ProgramView] = {}
        for peer in peers:
            kept = self._kept.get(peer.node)
            for name, view in (kept.views or {}).items() if kept else ():
                if name in wanted:
                    found.setdefault(name, view)
        return found

    def _silent(
        self, peers: Iterable[PeerView], unknown: set[str]
    ) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Programs of which nothing is known because those who have them did not answer."""
        answered = {node for node, kept in self._kept.items() if kept.views is not None}
        for program in unknown:
            holders = [peer for peer in peers if program in peer.capabilities.programs]
            names = tuple(peer.name for peer in holders if peer.node not in answered)
            if names:
                yield program, names


def installed(peer: PeerView) -> list[str]:
    """Return the names of the programs that have a description on that machine, published ones left
    out."""
    return [name for name in peer.capabilities.programs if "@" not in name]


def descriptions(folder: Path) -> tuple[Described, list[tuple[str, str]]]:
    """Read the programs in the first ``FOLDERS_MAX`` folders of this one; return them by their
    names, of two of one name the first, and the folders that are none with what is wrong. Both are
    empty where the folder cannot be read."""
    found: Described = {}
    broken: list[tuple[str, str]] = []
    try:
        folders = sorted(each for each in folder.iterdir() if each.is_dir())[:FOLDERS_MAX]
    except OSError:
        return found, broken
    for each in folders:
        try:
            described = read_program(each)
        except FaultsError as error:
            broken.append((each.name, str(error)))
        else:
            found.setdefault(described.name, described)
    return found, broken


def program_views(
    now: Snapshot, room: ProgramRoom, described: Described, told: ProgramAnswers
) -> tuple[ProgramView, ...]:
    """Return all programs that some machine can run or unfinished work brings along, in the order
    of names: as described here, else as another machine told, else with no more than is seen of
    them."""
    holders: dict[str, list[str]] = {}
    for machine in seen(now):
        for name in machine.capabilities.programs:
            holders.setdefault(name, []).append(machine.name)
    published = published_programs(now.table)
    for name in published:
        holders.setdefault(name, [])
    asked = {each.program for each in room.waiting()}

    def here(name: str) -> Decision | None:
        if name not in published and "@" not in name:
            return "installed" if name in described else None
        decision = room.decision(name)  # of what nothing that is to be done brings, nobody is asked
        return None if decision == "waiting" and name not in asked else decision

    return tuple(
        _view(here(name), name, nodes, described.get(name), published.get(name), told)
        for name, nodes in sorted(holders.items())
    )


def published_programs(table: Table) -> Published:
    """Return by name the programs that unfinished work brings along, each with its dataset and who
    submitted the first work with it."""
    found = Published()
    for task, folder, submitter in table.bringing():
        found.setdefault(task.program, (folder, submitter))
    return found


def find_published(table: Table, room: ProgramRoom, reference: str) -> str:
    """Return the name of the published program that is called so, or the only one whose name begins
    so; the reference itself where none does, as those who decide know more. Raises ``RefusedError``
    where several do."""
    known = [
        *published_programs(table),
        *(each.program for each in room.waiting()),
    ]
    found = sorted({name for name in known if name.startswith(reference)})
    if reference in found or not found:
        return reference
    if len(found) > 1:
        raise RefusedError(
            ErrorCode.AMBIGUOUS,
            said(
                '"{reference}" may mean the programs {names}: write more of it',
                reference=reference,
                names=", ".join(found[:4]),
            ),
        )
    return found[0]


def _view(
    here: Decision | None,
    name: str,
    nodes: list[str],
    described: ProgramDescription | None,
    published: tuple[Dataset, str] | None,
    told: ProgramAnswers,
) -> ProgramView:
    elsewhere = told.views.get(name)
    if described is None and elsewhere is not None:
        return structs.replace(elsewhere, nodes=tuple(nodes), here=here)
    if described is None:
        dataset, publisher = published or (None, "")
        folder = None if dataset is None else dataset_view(dataset)
        return ProgramView(name, tuple(nodes), here, published=folder, publisher=publisher)
    return ProgramView(
        name,
        tuple(nodes),
        here,
        described.docs,
        tuple(each.name for each in described.inputs),
        described.outputs or (),
        described.expected_ms / 1000,
    )
