"""What a task needs of others: ``task``, ``task/output`` and ``task/*``, looked up.

An output is named as its program or gate declares it, or by its number from 0. Of a fan-out,
``*`` means every run; without it, the run of the same value is meant, which only a task of the
same fan-out has.
"""

from __future__ import annotations

from collections.abc import Mapping as Map
from dataclasses import dataclass, field

from agent.api.work import Input
from agent.protocol.phrases import said
from agent.protocol.sanity import circles
from agent.workflow.faults import Faults, Place, shown
from agent.workflow.kinds import Word, must_be
from agent.workflow.records import Values
from agent.workflow.tables import OUTPUT_MAX
from agent.workflow.templates import Template

EVERY = "*"
_NO_OUTPUT = -1


@dataclass(frozen=True, slots=True)
class Reference:
    """One thing that is needed, as it was written."""

    place: Place
    task: str
    every: bool = False
    output: str = ""
    workflow: str = ""


def input_reference(given: object, faults: Faults) -> Reference | None:
    """Return the reference that a word or mapping under ``inputs`` makes, not looked up yet. None
    for a word that cannot be read, which adds a fault, and for a mapping without a task."""
    if isinstance(given, Values):
        task, output = given.get("task"), given.get("output", "")
        workflow = str(given.get("workflow", ""))
        return Reference(task.place, str(task), False, str(output), workflow) if task else None
    return _parsed(given, faults) if isinstance(given, Word) else None


def _parsed(word: Word, faults: Faults) -> Reference | None:
    task, slash, rest = str(word).partition("/")
    first, _, second = rest.partition("/")
    every = first == EVERY
    output = second if every else rest
    if not task or (slash and not rest) or "/" in output or (every and rest == "*/"):
        wanted = ("task", "task/output", "task/*")
        must_be("inputs", wanted, shown(word), word.place, faults)
        return None
    return Reference(word.place, task, every, output)


@dataclass(slots=True)
class Links:
    """The tasks that can be referred to, and who needs whom."""

    templates: Map[str, Template]
    outputs: Map[str, tuple[str, ...] | None]
    """The names of what each task has for others; None where nobody knows."""
    faults: Faults
    needs: dict[str, dict[str, Place]] = field(default_factory=dict)
    _runs: dict[str, list[str]] = field(default_factory=dict)
    _owners: dict[str, str] = field(default_factory=dict)
    _open: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for name, template in self.templates.items():
            self._runs[name] = template.names()
            if template.fan is not None:
                self._owners.update(dict.fromkeys(self._runs[name], name))

    def inputs(self, reference: Reference, own: Template, run: int) -> list[Input]:
        """Note that ``own`` needs this, and return the inputs that a reference means for its run of
        that number. Empty where it means none, or is wrong: that is a fault now, or was or will be
        told. A task of another workflow is not looked up."""
        if reference.workflow:
            output = self._elsewhere(reference)
            return [Input(reference.task, output, reference.workflow)] if output >= 0 else []
        runs = self._meant(reference, own, run, every=reference.every)
        template = self._template(reference.task)
        if not runs or template is None or template.left_out:
            return []
        if reference.every and template.fan is None and template.for_each is not None:
            return []  # what is wrong with that fan-out was told
        if reference.every and template.fan is None and not reference.output:
            return [Input(runs[0], number) for number in self._all_outputs(reference, template)]
        output = self._output(reference, template)
        return [Input(each, output) for each in runs] if output >= 0 else []

    def after(self, word: Word, own: Template, run: int) -> list[str]:
        """Note that ``own`` has to wait for the task in ``word``, and return the names of the runs
        to wait for: all of that task's, or in the same fan-out the one of the same value, unless
        the word asks for all (``task/*``, as ``EVERY``); of a gate
        that is left out, those that it would wait for. Empty where the word is wrong, which adds a
        fault, or means ``own`` itself."""
        task, slash, rest = str(word).partition("/")
        if slash and rest != EVERY:
            self.faults.at(word.place).said(
                "after takes the name of a task, not {given}", given=shown(word)
            )
            return []
        reference = Reference(word.place, task, every=slash != "")
        target = self._template(task)
        every = reference.every or (target is not None and not _paired(target, own))
        meant = self._meant(reference, own, run, every=every)
        if target is None or not target.left_out:
            return meant
        return self._behind(target, own, run)

    def _behind(self, gate: Template, own: Template, run: int) -> list[str]:
        """What a gate that is left out waits for: whatever waits for it does so instead."""
        if gate.name in self._open:
            return []  # gates that wait for each other: nobody does now
        self._open.add(gate.name)
        given = [input_reference(each, self.faults) for each in gate.fixed.get("inputs", ())]
        words = [Word.at(each.place, each.task) for each in given if each and not each.workflow]
        words += gate.fixed.get("after", ())
        found = [name for each in words for name in self.after(each, own, run)]
        self._open.discard(gate.name)
        return found

    def _template(self, task: str) -> Template | None:
        return self.templates.get(self._owners.get(task, task))

    def _meant(self, reference: Reference, own: Template, run: int, *, every: bool) -> list[str]:
        """The names of the runs that are meant."""
        template = self._template(reference.task)
        if template is None:
            hint = self.faults.hint_or_all(reference.task, self.templates)
            self.faults.at(reference.place).said(
                "there is no task {name}", name=shown(reference.task), hint=hint
            )
            return []
        self.needs.setdefault(own.name, {}).setdefault(template.name, reference.place)
        if template is own:
            return []  # told as a circle
        runs = self._runs[template.name]
        if reference.task != template.name:
            return [reference.task]
        if template.fan is None or every:
            return runs
        if _paired(template, own):
            return [runs[run]]
        if template.for_each is not None:
            name, how = template.name, f"{template.name}/*"
            many = said(
                "{task} is run for each value: write {how} for all of them", task=name, how=how
            )
            if len(runs) != 1:
                many = said(
                    "{task} is run {count} times: write {how} for all of them",
                    task=name,
                    count=len(runs),
                    how=how,
                )
            self.faults.add(reference.place, many)
        return []

    def _elsewhere(self, reference: Reference) -> int:
        if not reference.output:
            return 0
        number = _number(reference.output)
        if number == _NO_OUTPUT:
            self.faults.at(reference.place).said(
                "an output of another workflow is a number, not {given}",
                given=shown(reference.output),
            )
        return number

    def _all_outputs(self, reference: Reference, template: Template) -> range:
        names = self.outputs.get(template.name)
        if names is None:
            self.faults.at(reference.place).said(
                "{task} is no fan-out, and how many outputs it has is not known: write {how} for the "
                "first",
                task=template.name,
                how=f"{template.name}/0",
            )
        return range(len(names or ()))

    def _output(self, reference: Reference, template: Template) -> int:
        """The number of the output that is meant; negative after a fault."""
        names, name = self.outputs.get(template.name), reference.output
        if names is None:
            number = _number(name) if name else 0
            if number == _NO_OUTPUT:
                self.faults.at(reference.place).said(
                    "which outputs {task} has is not known: write a number from 0, not {given}",
                    task=template.name,
                    given=shown(name),
                )
            return number
        if not name:
            if len(names) > 1:
                self.faults.at(reference.place).said(
                    "{task} has {count} outputs: write {ways}",
                    task=template.name,
                    count=len(names),
                    ways=tuple(f"{template.name}/{each}" for each in names),
                )
                return _NO_OUTPUT
            name = "0"
        if name in names:
            return names.index(name)
        number = _number(name)
        if 0 <= number < len(names):
            return number
        self._no_output(reference, template, names, name)
        return _NO_OUTPUT

    def _no_output(
        self, reference: Reference, template: Template, names: tuple[str, ...], name: str
    ) -> None:
        if not names:
            nothing = said("{task} has no outputs: use after instead", task=template.name)
            if template.gate:
                nothing = said(
                    "{task} has nothing to attach: use after instead", task=template.name
                )
            self.faults.add(reference.place, nothing)
            return
        hint = self.faults.hint(name, names) or said("it has {names}", names=names)
        self.faults.at(reference.place).said(
            "{task} has no output {name}", task=template.name, name=shown(name), hint=hint
        )

    def circle(self) -> None:
        """Add a fault for each circle among the needs noted so far, as a task that needs itself
        directly or through others; do nothing without circles."""
        for way in circles(self.needs):
            place = self.needs[way[-2]][way[-1]]
            if len(way) == 2:
                self.faults.at(place).said("{task} needs itself", task=way[0])
            else:
                path = " → ".join(way)
                self.faults.at(place).said("tasks need each other in a circle: {way}", way=path)


def _paired(template: Template, own: Template) -> bool:
    both = template.fan is not None and own.fan is not None
    return both and template.fan is own.fan


def _number(text: str) -> int:
    if text.isascii() and text.isdecimal() and len(text) <= 5 and int(text) <= OUTPUT_MAX:
        return int(text)
    return _NO_OUTPUT
