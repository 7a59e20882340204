"""What acts on the flock amount to: its administrators, keepers, roles, and who is out.

The acts are a set that only grows, and joins by union; what they amount to is worked out of the whole
set by one function, the same for everybody who has the same acts. They are gone through in one order
(each after those that it stands on), and each counts if whoever signed it had the right by then:

* An administrator's word is enough to expel a member, and to make it a helper or an operator.
* What concerns an administrator, a keeper or the phrase takes two administrators other than the one
  concerned: the same act, signed by both. Where there is only one other, the phrase is the second
  voice; where there is none, it is enough. So a stolen machine cannot forbid its own expulsion.
* The phrase alone makes one machine the only administrator (``recovered``): the way back when all are
  lost. Whoever has it has the flock; two administrators can replace it, and then it does nothing.
* Everybody may leave, and lay down what he was given.

**People.** Administrators are people, and a person may have several machines (``protocol.people``): any of
them signs for him, and all are one voice. A machine becomes a person's by the word of one that is his, with
its own consent in it: so nobody takes a machine of others, nor gets into another's person, and no voice is
added by it. It must be a member, so that all see who speaks for whom, and have been nobody's before, and no administrator: persons do not merge, and an act of
before cannot be said again. Any of his machines takes another one away, or administrators do, as they
expel; that is for ever for its key, as being expelled is. Two that take away each other at one moment: the
first in the order of acts counts. A person whose last machine is gone has no voice any more.

Who lost a right may have the key still, and could sign acts that stand on the time before. What he
signed counts only where those knew it who took the right, or where it stands on that and he was given
the right anew. So an act that takes a right is looked at first, and what it voids is left out when all
is gone through once more, until nothing is voided any more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from msgspec.msgpack import encode
from msgspec.structs import replace

from agent.api.errors import MembershipError
from agent.net.acts import (
    ADMINISTRATOR,
    APPOINTED,
    EXPELLED,
    FOUNDED,
    HEADS_MAX,
    HELPER,
    KEEPER,
    LEFT,
    OF_PEOPLE,
    OPERATOR,
    PAIRED,
    PHRASE,
    RECOVERED,
    ROLE,
    UNPAIRED,
    WITHDRAWN,
    Act,
    act_id,
    has_consented,
    has_founded,
    is_signed,
    name_of,
    sealed_in,
)
from agent.net.authority import KEPT_STATEMENTS_MAX, Flock
from agent.net.rights import Departed, Pending, Rights
from agent.protocol.people import alone

ACTS_MAX = 2_000
ACTS_OF_ONE_MAX = 400
OF_ONE_MEMBER_MAX = 40
"""Of somebody who may sign nothing but which machines are his."""
MEMBERS_BYTES_MAX = 200_000
"""Of the acts of all these who belong together, and as much of those who did: some 600 machines."""

Heads = tuple[bytes, ...]
_Matter = tuple[str, str, str, bytes]
"""What several sign together: kind, whom, value, data."""


class Charter:
    """The acts of one flock. Never changed: joining makes another one."""

    def __init__(self, flock: Flock, acts: Iterable[tuple[bytes, Act]] = ()) -> None:
        self._flock = flock
        self._acts = dict(acts)
        """Each behind all on which it stands."""
        self._order = self._ordered()
        self.rights = self._worked_out()

    def __bool__(self) -> bool:
        return bool(self._acts)

    @property
    def acts(self) -> tuple[Act, ...]:
        """All acts, each behind those on which it stands, alike for everybody who has the same."""
        return tuple(self._acts[each] for each in self._order)

    @property
    def heads(self) -> Heads:
        """Return the names, sorted, of the newest acts, on which no other act stands, 64 at most; not
        those by which machines left, and not those that older versions may lack."""
        acts = {name: act for name, act in self._stood_on() if not self._is_new(act)}
        stood_on = {each for act in acts.values() for each in act.stands_on}
        return tuple(sorted(acts.keys() - stood_on))[:HEADS_MAX]

    def standing(self, act: Act) -> Act:
        """Return the act, not signed yet, with the names of the newest acts known filled in, so
        that it stands on all of them."""
        known = {each for _, act in self._stood_on() for each in act.knows}
        new = {name for name, act in self._stood_on() if self._is_new(act)}
        also = tuple(sorted(new - known))[:KEPT_STATEMENTS_MAX]
        return replace(act, stands_on=self.heads, kept_statements=also)

    def _stood_on(self) -> Iterator[tuple[bytes, Act]]:
        """Nothing stands on the word of who left."""
        return ((name, act) for name, act in self._acts.items() if act.kind != LEFT)

    def _is_new(self, act: Act) -> bool:
        """A version before may lack it: it is about people, or of a person's second machine."""
        return act.kind in OF_PEOPLE or self.rights.ever.get(act.by, act.by) != act.by

    def joined(
        self, acts: Iterable[Act], may_found: Callable[[Act], bool], is_known: Callable[[str], bool]
    ) -> Charter:
        """Return the charter with those of these acts added that may come in, itself where none is
        new; what its signer may not sign or signed too often, and what stands on unknown acts, is
        left out. ``may_found`` says whose founding counts where there is none yet, ``is_known`` who
        is or was a member. Raise ``MembershipError`` for an act that is not signed by whom it names,
        and for too many in all."""
        offered = {
            name: act
            for act in acts
            if (name := act_id(self._flock.flock_id, act)) not in self._acts
        }
        found = self
        while offered:
            taken = list(found._takes(offered, may_found, is_known))
            if not taken:
                break
            for name, _ in taken:
                del offered[name]
            found = Charter(self._flock, [*found._acts.items(), *taken])
        counted = (each for each in found._acts.values() if each.kind != LEFT)
        if sum(not found._is_plain(each) for each in counted) > ACTS_MAX:
            raise MembershipError(
                f"the flock would have more than {ACTS_MAX} acts: make a new flock"
            )
        return found

    # -- what may come in -----------------------------------------------------------------------

    def _takes(
        self,
        offered: dict[bytes, Act],
        may_found: Callable[[Act], bool],
        is_known: Callable[[str], bool],
    ) -> Iterator[tuple[bytes, Act]]:
        """Those of the offered that may come in now, on which others may stand then."""
        present = dict(self._acts)
        count = Counter(each.by for each in present.values())
        left = {each.by for each in present.values() if each.kind == LEFT}
        plain = _Plain(self._is_plain, self.rights.departed, present.values())
        needed = cache(lambda: self._needed(offered))
        for name, act in offered.items():
            if act.kind == FOUNDED:
                awaited = not present and may_found(act) and has_founded(self._flock, act)
            elif not all(each in present and present[each].kind != LEFT for each in act.knows):
                awaited = False
            elif act.kind == LEFT:
                awaited = act.whom == act.by and act.by not in left and is_known(act.by)
            elif self._is_plain(act):
                awaited = count[act.by] < OF_ONE_MEMBER_MAX and is_known(act.by)
                awaited = awaited and _may_pair(act, present)
                awaited = awaited and (plain.has_room(act) or name in needed())
            else:
                awaited = count[act.by] < ACTS_OF_ONE_MAX and self._may_sign(act, present)
            if not (awaited and (act.stands_on or act.kind == FOUNDED)):
                continue
            if act.kind == PAIRED and not (
                is_known(act.by) and is_known(act.whom) and has_consented(self._flock.flock_id, act)
            ):
                continue
            if not is_signed(self._flock.flock_id, act):
                raise MembershipError("an act on the flock is not signed by whom it names")
            present[name] = act
            count[act.by] += 1
            plain.add(act)
            left.update([act.by] if act.kind == LEFT else [])
            yield name, act
            if act.kind == FOUNDED:
                return

    def _is_plain(self, act: Act) -> bool:
        """It is about people, by one who may sign nothing else."""
        return act.kind in OF_PEOPLE and act.by not in self.rights.signers

    def _may_sign(self, act: Act, present: dict[bytes, Act]) -> bool:
        """Whether the signer had a right by what it stands on, whatever is known besides: else one
        would refuse what another has, and all that honestly stands on it."""
        if act.by in self.rights.signers:
            return True
        found = _closure(act.knows, present)
        then = Charter(self._flock, [each for each in present.items() if each[0] in found])
        return act.by in then.rights.signers

    def _needed(self, offered: dict[bytes, Act]) -> set[bytes]:
        """Those on which administrators' acts stand, which come in whatever room they take."""
        signed = [
            act
            for act in offered.values()
            if act.by in self.rights.signers and is_signed(self._flock.flock_id, act)
        ]
        return _closure((each for act in signed for each in act.knows), offered)

    # -- what they amount to --------------------------------------------------------------------

    def _ordered(self) -> list[bytes]:
        """Each behind those on which it stands; what knows of no recovery before all recoveries, so
        that a phrase that was replaced does nothing, whatever time it names."""
        place: dict[bytes, tuple[int, int]] = {}
        for name, act in self._acts.items():
            below = [place[each] for each in act.knows]
            recoveries = max((each for each, _ in below), default=0)
            depth = 1 + max((each for _, each in below), default=0)
            place[name] = (recoveries + (act.kind == RECOVERED), depth)
        return sorted(self._acts, key=lambda name: (place[name], name))

    def _worked_out(self) -> Rights:
        places = {name: place for place, name in enumerate(self._order)}
        known: list[int] = []
        """Of each act, itself and all on which it stands, a bit for each."""
        for place, name in enumerate(self._order):
            bits = 1 << place
            for each in self._acts[name].knows:
                bits |= known[places[each]]
            known.append(bits)
        acts = [self._acts[name] for name in self._order]
        signers = [act.by for act in acts]
        void = 0
        while True:
            replay = _Replay(acts, signers, known)
            replay.run(void)
            more = next(filter(None, (replay.voided_by(each, void) for each in replay.taken)), 0)
            if not more:
                return replay.rights
            void |= more


class _Plain:
    """The room that acts of plain members take, which leaves that of administrators alone: however many
    keys somebody has, and signs with, also of those who were expelled."""

    def __init__(
        self, is_plain: Callable[[Act], bool], departed: Container[str], acts: Iterable[Act]
    ) -> None:
        self._is_plain, self._departed = is_plain, departed
        self._bytes = Counter[bool]()
        for act in acts:
            self.add(act)

    def add(self, act: Act) -> None:
        """Count an act, if it is one of those."""
        if self._is_plain(act):
            self._bytes[act.by in self._departed] += len(encode(act))

    def has_room(self, act: Act) -> bool:
        """Tell whether there is room for this one besides."""
        return len(encode(act)) <= MEMBERS_BYTES_MAX - self._bytes[act.by in self._departed]


def _may_pair(act: Act, present: dict[bytes, Act]) -> bool:
    """Whether a machine that is taken away by one without rights was paired to the same person, by what it
    stands on."""
    if act.kind == PAIRED:
        return True
    known = [present[each] for each in _closure(act.knows, present)]
    paired = [each for each in known if each.kind == PAIRED]
    of_both = (
        {each.value for each in paired if node in (each.whom, each.value)}
        for node in (act.by, act.whom)
    )
    return bool(set.intersection(*of_both))


def _closure(names: Iterable[bytes], acts: dict[bytes, Act]) -> set[bytes]:
    """These acts, and all of the given on which they stand."""
    wanted = list(names)
    found = set(wanted)
    for name in wanted:
        fresh = {each for each in acts[name].knows if each not in found} if name in acts else set()
        found |= fresh
        wanted += fresh
    return found


@dataclass(frozen=True, slots=True)
class _Taken:
    """Somebody lost a right: by the act at this place, and what those knew who took it. ``wholly``: also
    his word on which machines are his."""

    name: str
    place: int
    knew: int
    wholly: bool


def _stays(act: Act, taken: _Taken) -> bool:
    """Which machines are his is no matter of the right that he lost."""
    return act.kind in OF_PEOPLE and not taken.wholly


class _Replay:
    """Goes through all acts once."""

    def __init__(self, acts: list[Act], signers: list[str], known: list[int]) -> None:
        self._acts, self._signers, self._known = acts, signers, known
        self.rights = Rights()
        self.taken: list[_Taken] = []
        self._voices: dict[_Matter, dict[str, int]] = {}

    def run(self, void: int) -> None:
        """Apply all acts in their order, but those in ``void`` (a bit for each), then note which
        wait for further voices."""
        for place, act in enumerate(self._acts):
            if not void >> place & 1:
                self._hear(place, act)
        rights = self.rights
        rights.pending = tuple(
            Pending(self._acts[max(voices.values())], by)
            for matter, voices in self._voices.items()
            if (by := rights.voices(matter[1], voices)) and matter[1] not in rights.departed
        )

    def voided_by(self, taken: _Taken, void: int) -> int:
        """Return, as a bit for each, the acts that do not count any more because of something taken
        from their signer, which the signer did not know of."""
        bits = 0
        for place, signer in enumerate(self._signers):
            act = self._acts[place]
            consents = taken.wholly and act.kind == PAIRED and act.whom == taken.name
            if not consents and (signer != taken.name or _stays(act, taken)):
                continue
            if (taken.knew | void) >> place & 1:
                continue
            if not self._known[place] >> taken.place & 1:
                bits |= 1 << place
        return bits

    def _hear(self, place: int, act: Act) -> None:
        signer, rights = self._signers[place], self.rights
        if act.kind == FOUNDED:
            self._found(act)
        elif act.kind == LEFT:
            if signer == act.whom:
                self._depart(place, act, frozenset(act.kept), self._known[place])
        elif act.kind == RECOVERED:
            whom = act.whom
            if (
                signer == rights.recovery
                and whom not in rights.departed
                and not rights.is_lost(whom)
            ):
                self._recover(place, act)
        elif act.kind == PAIRED:
            self._pair(act, signer)
        elif act.kind == UNPAIRED and rights.may_unpair(signer, act.whom):
            self._unpair(act.whom, place, self._known[place])
        elif act.kind in (ROLE, KEEPER, EXPELLED, PHRASE, UNPAIRED):
            self._weigh(place, act, signer)

    def _weigh(self, place: int, act: Act, signer: str) -> None:
        rights, matter = self.rights, (act.kind, act.whom, act.value, act.data)
        gone = rights.departed.get(act.whom)
        if gone is not None and not (act.kind == EXPELLED and gone.kind == LEFT):
            return
        if not rights.has_voice(signer) or (
            act.value == ADMINISTRATOR and rights.is_lost(act.whom)
        ):
            return
        voices = self._voices.setdefault(matter, {})
        voices[signer] = place
        if not rights.is_agreed(act.kind, act.whom, act.value, voices):
            return
        del self._voices[matter]
        knew, kept = 0, frozenset[str]()
        for each in voices.values():
            knew |= self._known[each]
            kept |= frozenset(self._acts[each].kept)
        self._do(place, act, kept, knew)

    def _do(self, place: int, act: Act, kept: frozenset[str], knew: int) -> None:
        rights, whom = self.rights, act.whom
        if act.kind == EXPELLED:
            self._depart(place, act, kept, knew)
        elif act.kind == UNPAIRED:
            if len(rights.machines(rights.person(whom))) > 1:
                self._unpair(whom, place, knew)
        elif act.kind == PHRASE:
            self._take(rights.recovery, place, knew)
            self._seal(act)
        elif act.kind == KEEPER:
            if act.value == APPOINTED:
                rights.keepers[whom] = None
            elif act.value == WITHDRAWN and whom in rights.keepers:
                rights.keepers[whom] = kept
        elif act.value == ADMINISTRATOR:
            self._appoint(whom)
        elif act.value in (OPERATOR, HELPER):
            rights.roles[whom] = act.value
            self._dismiss(rights.person(whom), place, knew)

    def _found(self, act: Act) -> None:
        rights = self.rights
        rights.founder, rights.founded_s = act.whom, act.time_s
        rights.before, kept = frozenset(act.kept), frozenset(act.kept)
        rights.statements_before = frozenset(act.kept_statements)
        self._seal(act)
        if rights.sealed is not None:
            rights.keepers = dict.fromkeys(rights.sealed.keepers_before, kept)
        rights.keepers[act.whom] = None
        self._appoint(act.whom)

    def _seal(self, act: Act) -> None:
        """What cannot be read of a later version is passed on, and opens nothing here."""
        try:
            self.rights.sealed = sealed_in(act)
            self.rights.recovery = name_of(self.rights.sealed.recovery)
        except MembershipError:
            self.rights.sealed, self.rights.recovery = None, ""
        else:
            self.rights.signers.add(self.rights.recovery)

    def _pair(self, act: Act, signer: str) -> None:
        """Whose word it is was the person's by then; the machine was nobody's, and has agreed."""
        rights, machine, person = self.rights, act.whom, act.value
        if rights.person(signer) != person or signer == machine or person == alone(signer):
            return
        if {signer, machine} & rights.departed.keys() or machine in rights.ever:
            return
        if machine in rights.administrators:
            return
        for each in (machine, signer):
            rights.now[each] = rights.ever[each] = person
        if person in rights.administrators:
            rights.signers.add(machine)

    def _unpair(self, machine: str, place: int, knew: int) -> None:
        self.rights.now[machine] = alone(machine)
        self._take(machine, place, knew, wholly=True)

    def _appoint(self, whom: str) -> None:
        rights, person = self.rights, self.rights.person(whom)
        rights.administrators.add(person)
        rights.signers.update(rights.machines(person))
        rights.roles.pop(whom, None)

    def _dismiss(self, person: str, place: int, knew: int) -> None:
        if person in self.rights.administrators:
            self.rights.administrators.discard(person)
            for each in self.rights.machines(person):
                self._take(each, place, knew)

    def _take(self, name: str, place: int, knew: int, *, wholly: bool = False) -> None:
        self.taken.append(_Taken(name, place, knew, wholly))

    def _depart(self, place: int, act: Act, kept: frozenset[str], knew: int) -> None:
        """What a person has besides the machine stays."""
        rights, whom = self.rights, act.whom
        person = rights.person(whom)
        if rights.machines(person) == [whom]:
            self._dismiss(person, place, knew)
        if whom in rights.ever:
            self._unpair(whom, place, knew)
        rights.departed[whom] = Departed(act.kind, act.time_s, kept)
        if whom in rights.keepers:
            rights.keepers[whom] = kept

    def _recover(self, place: int, act: Act) -> None:
        for each in sorted(self.rights.administrators - {self.rights.person(act.whom)}):
            for machine in self.rights.machines(each):
                self.rights.roles[machine] = OPERATOR
            self._dismiss(each, place, self._known[place])
        self._appoint(act.whom)
        self.rights.keepers[act.whom] = None
