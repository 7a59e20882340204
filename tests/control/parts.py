"""Parts of a node for the server to serve: presence and datasets as plain values in memory."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import structs

from agent.api.administration import Acted, PhraseShown
from agent.api.admission import AskView, JoinRequestView, NearbyFlock, NearbyReply
from agent.api.audit import AuditEntry
from agent.api.datasets import DatasetsReply, DatasetView, FileView
from agent.api.errors import MembershipError, ServiceError, WantsPhraseError
from agent.api.flock import HandedOver
from agent.api.people import MeReply, Met, OwnMachine, Paired
from agent.api.permissions import AskedProgram, OwnerAnswer, PermissionAsked, Script
from agent.api.programs import Decision
from agent.api.session import ProgramWaiting
from agent.api.update import StartAnew
from agent.api.values import Dataset as Folder
from agent.api.volunteering import VolunteerRules
from agent.presence.sources import Sources
from agent.presence.watching import PresenceWatcher
from agent.protocol.people import NO_PEOPLE
from agent.protocol.phrases import Phrase, said
from agent.protocol.reasons import Reason
from agent.protocol.records import Dataset, DatasetId, NodeId, Run, TaskId
from agent.storage.datasets.errors import DatasetMissing
from agent.storage.kept_logs import Kept
from agent.wording.run_ends import run_id

WAITING = JoinRequestView(
    "0123456789abcdef",
    "elder",
    "ada",
    "192.0.2.7",
    "418 230",
    "alder",
    9 * 10**11,
    10**12,
    False,
)


class FakeAdmission:
    """Satisfies ``OwnRequest``, and half of ``FlockRoom``: a flock nearby that answers nothing, and two
    machines that call themselves the same and ask to be let in."""

    def __init__(self) -> None:
        self.facts = AskView("none")
        self.waiting = [WAITING, structs.replace(WAITING, request="f" * 16, code="902 114")]

    async def nearby(self) -> NearbyReply:
        return NearbyReply((NearbyFlock("moorflock", "moor", 3, askable=True),), "no network is up")

    async def ask(self, reference: str) -> AskView:
        if reference != "moor":
            raise MembershipError("the clock of this machine is 2 h ahead of the flock's")
        self.facts = AskView("waiting", "moor", "heron", "418 230", 10**12)
        return self.facts

    def asked(self) -> AskView:
        return self.facts

    def confirm(self, code: str) -> AskView:
        if code != self.facts.code:
            raise ServiceError("That is not the code of this request.")
        self.facts = structs.replace(self.facts, confirmed=True)
        return self.facts

    async def withdraw(self) -> AskView:
        self.facts = structs.replace(self.facts, state="ended", reason="it was withdrawn here")
        return self.facts

    def requests(self) -> list[JoinRequestView]:
        return self.waiting

    async def decide(self, request: str, code: str, *, admit: bool) -> JoinRequestView:
        found = next(each for each in self.waiting if each.request == request)
        if code and code != found.code:
            raise ServiceError(f"{found.name} shows another code, {found.code}: compare again")
        self.waiting.remove(found)
        return structs.replace(found, admitted=admit)


ASKED = PermissionAsked(
    *("survey", "survey", "ana", "", "birchnode", 1_000),
    (AskedProgram("count@0123456789ab", Folder("tree:0123456789ab", 12)),),
)


@dataclass
class FakePublished:
    """Satisfies ``ProgramRoom``."""

    datasets: FakeDatasets
    folder: Path
    decided: dict[str, Decision] = field(default_factory=dict)
    asked: PermissionAsked | None = ASKED
    digests: dict[str, str] = field(default_factory=dict)
    looked_for: set[str] = field(default_factory=set)
    trusted: dict[str, str] = field(default_factory=dict)

    async def contents(self, names: Iterable[str]) -> dict[str, str]:
        return {name: self.digests[name] for name in names if name in self.digests}

    async def look_for(self, tags: Iterable[str]) -> None:
        self.looked_for |= set(tags)

    async def publish(self, folder: Path, *, with_work: bool = False) -> tuple[str, Dataset]:
        dataset = await self.datasets.add(folder)
        name = f"{folder.name}@{dataset.dataset.partition(':')[2][:12]}"
        self.decided[name] = "waiting" if with_work else "accepted"
        return name, dataset

    async def confirm(self, names: Iterable[str]) -> None:
        self.decided |= dict.fromkeys(names, "accepted")

    def questions(self) -> list[PermissionAsked]:
        return [] if self.asked is None else [self.asked]

    async def permit(self, workflow: str, answer: OwnerAnswer, name: str = "") -> None:
        if self.asked is None:
            raise ServiceError(f"Nobody asks for {workflow} here: see what is asked.")
        if answer == "machine":
            self.trusted[self.asked.node] = name
        self.asked = None

    async def distrust(self, node: str) -> None:
        del self.trusted[node]

    async def scripts(self, workflow: str) -> tuple[PermissionAsked, tuple[Script, ...]]:
        if self.asked is None:
            raise ServiceError(f"Nobody asks for {workflow} here: see what is asked.")
        script = Script("count", "count.sh", 12, "changed", "wc -l\n", "wc\n")
        return self.asked, (script,)

    def remind(self, workflow: str) -> bool:
        return self.asked is not None and bool(workflow)

    def waiting(self) -> list[ProgramWaiting]:
        return [
            ProgramWaiting(name, "alder")
            for name, decision in self.decided.items()
            if decision == "waiting"
        ]

    def decision(self, name: str) -> Decision:
        return self.decided.get(name, "waiting")

    async def accept(self, name: str, decision: Decision = "accepted") -> None:
        if name not in self.decided:
            raise ServiceError(f"No published program is called {name}: see which there are.")
        self.decided[name] = decision

    async def refuse(self, name: str) -> None:
        await self.accept(name, "refused")

    async def forget(self, name: str, *, trial: bool) -> int:
        await self.accept(name, self.decision(name))
        if not trial:
            del self.decided[name]
        return 5


def presence_of(folder: Path) -> PresenceWatcher:
    """The real one, which was not started: it watches nothing."""
    return PresenceWatcher(
        folder,
        VolunteerRules(),
        lambda _: None,
        starts_paused=False,
        running=lambda: 0,
        hand=lambda *_: None,
        make_sources=lambda: Sources({}, lambda _: None),
    )


class FakeUpdates:
    """Satisfies ``UpdateRoom``: another version is installed."""

    def __init__(self) -> None:
        self.wanted: list[StartAnew] = []

    def start_anew(self, wanted: StartAnew) -> str:
        self.wanted.append(wanted)
        return "9.9.9"


@dataclass
class FakeCopies:
    """Satisfies ``CopyRoom``."""

    logs: dict[tuple[TaskId, str], Kept] = field(default_factory=dict)

    async def kept(self, task: TaskId, run: Run, offset: int, limit: int) -> Kept | None:
        """From its beginning on; that a part is asked for is tried where they are kept."""
        kept = self.logs.get((task, run_id(run)))
        skipped = 0 if kept is None else min(max(0, offset - kept.begins), len(kept.data))
        return kept and kept._replace(
            data=kept.data[skipped:][:limit], offset=kept.begins + skipped
        )

    def keepers(self, host: NodeId, nodes: Iterable[NodeId]) -> list[NodeId]:
        del host
        return list(nodes)

    async def size_of(self, tasks: Collection[TaskId]) -> int:
        return sum(len(kept.data) for (task, _), kept in self.logs.items() if task in tasks)

    async def let_go(self, tasks: Collection[TaskId]) -> None:
        self.logs = {key: kept for key, kept in self.logs.items() if key[0] not in tasks}


@dataclass
class FakeDatasets:
    """Satisfies ``DatasetRoom``."""

    me: NodeId
    contents: dict[DatasetId, tuple[str, dict[str, bytes]]] = field(default_factory=dict)
    added: list[Path] = field(default_factory=list)
    delivered: dict[str, Path] = field(default_factory=dict)

    async def deliver(self, workflow: str, folder: Path) -> None:
        self.delivered[workflow] = folder

    async def add(self, path: Path, name: str = "", *, move: bool = False) -> Dataset:
        self.added.append(path)
        dataset = self.put(path, name)
        if move:
            await asyncio.to_thread(path.rename, path.with_name("moved"))
        return dataset

    def may_have(self, *_: object, **__: object) -> bool:
        return True

    def brought(self, *_: object, **__: object) -> None:
        pass

    async def not_for(self, *_: object, **__: object) -> None:
        return None

    async def shown(self, *_: object, **__: object) -> bytes:
        return b""

    def put(self, path: Path, name: str) -> Dataset:
        """A file or folder of this machine."""
        if path.is_dir():
            files = {
                each.relative_to(path).as_posix(): each.read_bytes()
                for each in sorted(path.rglob("*"))
                if each.is_file()
            }
            digest = hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()
            dataset = f"tree:{digest}"
        else:
            files = {"": path.read_bytes()}
            dataset = f"sha256:{hashlib.sha256(files['']).hexdigest()}"
        self.contents[dataset] = (name or path.name, files)
        return Dataset(dataset, sum(map(len, files.values())))

    async def hand_over(self, within_s: float) -> HandedOver:
        assert within_s >= 0
        return HandedOver(len(self.contents), 0, 0)

    async def bring(self, dataset: DatasetId) -> None:
        if dataset not in self.contents:
            raise DatasetMissing("nobody who is seen has it")

    async def named(self, dataset: DatasetId) -> str:
        return self.contents[dataset][0]

    async def files(self, dataset: DatasetId) -> tuple[FileView, ...]:
        _, files = self.contents[dataset]
        return tuple(FileView(path, len(data)) for path, data in sorted(files.items()))

    async def read(self, dataset: DatasetId, path: str, offset: int, limit: int) -> bytes:
        return self.contents[dataset][1][path][offset : offset + limit]

    async def listing(self) -> DatasetsReply:
        views = tuple(
            DatasetView(
                dataset,
                sum(map(len, files.values())),
                name=name,
                folder=dataset.startswith("tree:"),
                here=True,
                needed=True,
                kept_since_ms=10**12,
            )
            for dataset, (name, files) in self.contents.items()
        )
        return DatasetsReply(views, len(views), 5, 10_000, 9_995)

    async def only_of(self, workflows: Collection[str]) -> dict[DatasetId, int]:
        return dict.fromkeys(self.contents, 5) if workflows else {}

    async def let_go(self, datasets: Collection[DatasetId]) -> None:
        for each in datasets:
            del self.contents[each]

    def holders(self, dataset: DatasetId) -> tuple[NodeId, ...]:
        return ("aldernode",) if dataset in self.contents else ()


PHRASE = "of nine words"


class FakeAudit:
    """Satisfies ``AuditRoom``: keeps what is noted, and tells of one entry that is whole."""

    def __init__(self) -> None:
        self.noted: list[tuple[str, ...]] = []

    def note(self, who: str, what: str, on: str, came_from: str, outcome: str = "done") -> None:
        self.noted.append((who, what, on, came_from, outcome))

    async def entries(self, first: int, limit: int) -> tuple[tuple[AuditEntry, ...], int]:
        del limit
        entry = AuditEntry(1, 10**12, "owner", "cancel", "survey", "this machine")
        return ((entry,) if first < 2 else ()), 1

    def first_broken(
        self, entries: Iterable[AuditEntry], witnessed: Mapping[int, str]
    ) -> tuple[int, Phrase | None]:
        del witnessed
        return (0, None) if list(entries) else (1, said("there is none"))


class FakeAdministration:
    """Satisfies ``AdministrationRoom``: of a flock with one more administrator, who says nothing."""

    async def appoint(self, member: str, what: str, phrase: str, *, withdraw: bool) -> Acted:
        if what == "administrator" and not phrase:
            raise WantsPhraseError
        return Acted(member, member, ("aldernode",) if withdraw else ())

    async def set_role(self, member: str, role: str, phrase: str) -> Acted:
        del role, phrase
        return Acted(member, member)

    async def recover(self, phrase: str, *, check: bool) -> str:
        del check
        if phrase != PHRASE:
            raise ServiceError("this is not the recovery phrase")
        return "meadow"

    async def upgrade(self) -> PhraseShown:
        return PhraseShown("meadow", PHRASE)

    async def renew_phrase(self, phrase: str) -> PhraseShown:
        return PhraseShown("meadow", "" if phrase else PHRASE)

    def waiting(self) -> Iterable[Reason]:
        return ()


class FakePairing:
    """Satisfies ``PairingRoom``: of somebody with one more machine."""

    people = NO_PEOPLE

    def mine(self) -> MeReply:
        machines = (OwnMachine("aldernode", "alder", False), OwnMachine("birchnode", "birch", True))
        return MeReply("alder", "aldernode", machines)

    async def show(self) -> Paired:
        return Paired(self.mine(), "dabol kitur fasim lonog", 10**12)

    async def typed(self, code: str) -> bytes:
        return code.encode()

    def consent(self, shown_on: str, met: Met) -> bytes:
        return met.proof if shown_on == met.person else b""

    async def meet(self, asking: str, tag: bytes, consent: bytes) -> Met:
        del asking, consent
        return Met("aldernode", tag)

    async def settled(self, person: str) -> Paired:
        del person
        return Paired(self.mine())

    async def unpair(self, member: str, phrase: str) -> Acted:
        del phrase
        return Acted(member, member)
