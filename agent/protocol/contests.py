"""Who gets which task where the flock goes by a rule of the documents (``policy.flock_rules``).

In the source free hosts enrol for a task, and after 10 s the best of them gets it. Here every node knows
who is free, so each plays the contest through for all of them, and comes to the same end; whose view
differs for a moment is put right by the claims, which carry the same score.

* Most rules ask for the task at the head only: the best free host gets it.
* *In groups* each free host goes for whichever of the first ten tasks it suits best. Of those that go for
  one the best gets it, and the others choose again. A task at the head that was passed over 20 times is
  the only one to go for: so many tasks behind it began while it waited.
* *Reaching* (ours): hosts choose in the order in which they last, each the longest task that it should
  reach for, else the shortest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from zlib import crc32

from agent.protocol.core import Core, Part
from agent.protocol.evidence import Knowledge
from agent.protocol.news import News
from agent.protocol.policy.competition import PASSED_OVER_MAX
from agent.protocol.policy.flock_rules import past_of, waiting_of
from agent.protocol.policy.placing import Placing
from agent.protocol.policy.reaching import Lasting, reach, rounded_s
from agent.protocol.records import NodeId, TaskId, TaskSpec
from agent.protocol.seats import SeatPlan, Seats

WAITING_MAX = 100
"""Among so many tasks at the head a host reaches for one."""


class Contests(Part):
    """Deals by the rule; remembers who was passed over."""

    def __init__(self, core: Core, knowledge: Knowledge) -> None:
        super().__init__(core)
        self._knowledge = knowledge
        self.passed_over: dict[TaskId, int] = {}
        self._group: list[TaskId] = []
        self._won: dict[TaskId, NodeId] = {}
        self._highest: dict[float, float] = {}
        """How far hosts reach in the plan that is being laid."""

    def in_turn(self, plan: SeatPlan, tasks: Iterable[TaskId]) -> Iterator[TaskId]:
        """Yield the tasks in the order in which the flock's rule deals them out, as given where it
        needs no other; the caller counts a task as given before it takes the next. Those that no
        free host wants come last."""
        rule, self._won = self.core.rule.placing, {}
        grouped = rule is not None and (rule.group > 1 or isinstance(rule, Lasting))
        if rule is None or not grouped:
            yield from tasks
            return
        self._highest = {}
        most = WAITING_MAX if isinstance(rule, Lasting) else rule.group
        waiting: dict[TaskId, TaskSpec] = {}
        source, first = iter(tasks), True
        while True:
            yield from self._filled(plan, source, waiting, most)
            if first:
                self._group, first = list(waiting), False
            picked = self._picked(rule, plan, waiting)
            if picked is None:
                break
            task, seats = picked
            self._won[task] = seats.node
            del waiting[task]
            yield task
        yield from waiting
        yield from source

    def _filled(
        self,
        plan: SeatPlan,
        source: Iterator[TaskId],
        waiting: dict[TaskId, TaskSpec],
        most: int,
    ) -> Iterator[TaskId]:
        """Fill up what waits; yield on the way what goes by no rule."""
        while len(waiting) < most and (task := next(source, None)) is not None:
            spec = self.core.table.specs[task]
            if self.core.table.interactive(task) or plan.short(spec):
                yield task
            else:
                waiting[task] = spec

    def best_first(self, plan: SeatPlan, spec: TaskSpec) -> list[Seats]:
        """Return the seats that could take the task now, best first: the one that won it in
        ``in_turn``, then by the rule's score; ties by load, then by lot. Without a rule, sorted by
        node alone."""
        rule, won = self.core.rule.placing, self._won.get(spec.task)
        free = plan.room(spec)
        if rule is None or len(free) < 2:
            return free

        def rank(seats: Seats) -> tuple[bool, float, int, int]:
            lot = crc32(f"{spec.task} {seats.node}".encode())
            return seats.node != won, -self._score(rule, spec, seats), seats.level[0], lot

        return sorted(free, key=rank)

    def _score(self, rule: Placing, spec: TaskSpec, seats: Seats) -> float:
        evidence = self._knowledge.of(spec, seats.node)
        return rule.score(waiting_of(evidence), past_of(evidence))

    def _picked(
        self, rule: Placing, plan: SeatPlan, waiting: dict[TaskId, TaskSpec]
    ) -> tuple[TaskId, Seats] | None:
        """The next task that somebody goes for, and who gets it."""
        if isinstance(rule, Lasting):
            return self._reached(plan, waiting)
        group = list(waiting.values())
        if group and self.passed_over.get(group[0].task, 0) >= PASSED_OVER_MAX:
            group = group[:1]
        going: dict[TaskId, list[tuple[float, Seats]]] = {each.task: [] for each in group}
        for seats, specs in _free(plan, group):
            scored = [(self._score(rule, each, seats), each.task) for each in specs]
            score, task = max(scored, key=lambda each: each[0])  # of equals the first in order
            going[task].append((score, seats))
        task = next((each for each, those in going.items() if those), "")
        if not task:
            return None
        return task, max(going[task], key=lambda each: each[0])[1]

    def _reached(
        self, plan: SeatPlan, waiting: dict[TaskId, TaskSpec]
    ) -> tuple[TaskId, Seats] | None:
        usual_ms = self._knowledge.usual_ms
        lengths = {task: rounded_s(usual_ms(spec) / 1000) for task, spec in waiting.items()}
        free = _free(plan, waiting.values())
        if not free:
            return None
        longest = waiting[max(lengths, key=lengths.__getitem__)]
        rates = {each.node: self._rate(longest, each) for each in plan.fitting(longest)}
        if not self._highest and rates:
            work: dict[float, float] = {}
            for each_s in lengths.values():
                work[each_s] = work.get(each_s, 0.0) + each_s
            self._highest = reach(sorted(rates.values()), work)
        seats, specs = min(free, key=lambda each: rates.get(each[0].node, 0.0))
        fails = rates.get(seats.node, 0.0)
        within = [
            each.task for each in specs if fails <= self._highest.get(lengths[each.task], 0.0)
        ]
        if within:
            return max(within, key=lengths.__getitem__), seats
        return min((each.task for each in specs), key=lengths.__getitem__), seats

    def _rate(self, spec: TaskSpec, seats: Seats) -> float:
        return past_of(self._knowledge.of(spec, seats.node)).failure_rate

    def on_news(self, news: News) -> None:
        """Count that the first task of the group was passed over whenever a later one has begun,
        and forget tasks that have an owner, have ended or were removed."""
        for task, before, now in news.moved:
            began = now.owner is not None and (before is None or before.owner is None)
            if began and task in self._group[1:]:
                head = self._group[0]
                self.passed_over[head] = self.passed_over.get(head, 0) + 1
            if now.owner is not None or now.outcome is not None:
                self._forget(task)
        for task in news.forgotten_tasks:
            self._forget(task)

    def _forget(self, task: TaskId) -> None:
        self.passed_over.pop(task, None)
        if task in self._group:
            self._group.remove(task)


def _free(plan: SeatPlan, specs: Iterable[TaskSpec]) -> list[tuple[Seats, list[TaskSpec]]]:
    """The seats that are free, each with those of these tasks that could begin there now."""
    found: dict[NodeId, tuple[Seats, list[TaskSpec]]] = {}
    for spec in specs:
        for seats in plan.room(spec):
            found.setdefault(seats.node, (seats, []))[1].append(spec)
    return [found[node] for node in sorted(found)]
