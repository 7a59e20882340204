"""A workflow file to the workflow that it means, or to all that is wrong with it.

    found = describe(path, Asked({"line": "42"}, programs))

Everything is found in one pass: a wrong field does not hide the fault of the next, and what would
only follow from a fault that was told is not told too. Nothing is sent, run or written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from collections.abc import Mapping as Map
from dataclasses import dataclass
from pathlib import Path

from agent.api.phrases import LEFT_OPEN
from agent.api.values import NAME_CHARACTERS_MAX, Limits, NamedPriority, Requirements
from agent.api.wording import near, plain
from agent.api.work import Input, Submit, Task
from agent.protocol.names import composed
from agent.protocol.phrases import said
from agent.workflow.faults import Fault, Faults, FaultsError, Place, sendable, shown
from agent.workflow.kinds import Word
from agent.workflow.local_files import LocalFiles
from agent.workflow.model import KnownProgram, Workflow
from agent.workflow.parameters import parameters_text
from agent.workflow.programs_beside import ProgramsBeside
from agent.workflow.records import Values
from agent.workflow.references import Links, input_reference
from agent.workflow.tables import (
    LINKS_MAX,
    PARAMETERS_CHARACTERS_MAX,
    PATH,
    PRIORITY,
    TASKS_MAX,
    WORKFLOW,
    megabytes,
    requirements_of,
)
from agent.workflow.templates import Template, is_empty, read_templates
from agent.workflow.variables import (
    Variable,
    bind,
    fill,
    read_variables,
    report_unused,
)
from agent.workflow.yaml_nodes import Mapping, Node, kind_of, read_yaml, read_yaml_file

SUFFIX = ".wingbeat.yaml"
RETRIES = 2
_LATER = ("name", "priority", "deliver", "variables", "defaults", "programs", "tasks", "gates")

Known = Map[str, KnownProgram]


@dataclass(frozen=True, slots=True)
class Asked:
    """What whoever submits a workflow says beside its file.

    ``programs`` are those that the flock has, None where that is not known; ``start`` is where
    names of files given for variables begin; ``granted`` are files and folders beyond that of the
    workflow that may be sent, with all that lies below.
    """

    variables: Map[str, str]
    programs: Known | None = None
    name: str = ""
    start: Path | None = None
    granted: tuple[Path, ...] = ()

    def granted_in(self, folder: Path) -> tuple[Path, ...]:
        """Return what the person has named, so that it need not be confirmed: what was confirmed
        before, and what is given for variables, wherever that may begin."""
        starts = (folder, self.start or Path.cwd())
        given = [part.strip() for each in self.variables.values() for part in each.split(",")]
        named = (start / each for each in given if each for start in starts)
        return (*self.granted, *named)


@dataclass(frozen=True, slots=True)
class Description:
    """What a file says: what it wants to be told, and its workflow or all that is wrong with it."""

    variables: tuple[Variable, ...] = ()
    workflow: Workflow | None = None
    faults: tuple[Fault, ...] = ()


def describe(path: Path, asked: Asked, data: bytes | None = None) -> Description:
    """Read a file once, or ``data`` as what would be in it (an ``.xml`` file is read in any case);
    return its variables, of which XML has none, and either its workflow or its faults, for whoever
    shows both. Faults are not raised, also where the file cannot be read."""
    if path.suffix.lower() == ".xml":
        from agent.workflow.xml_workflow import read_xml_workflow

        try:
            return Description(
                workflow=read_xml_workflow(path, asked.name, asked.programs, asked.granted)
            )
        except FaultsError as error:
            return Description(faults=error.faults)
    faults = Faults(str(path))
    node = read_yaml_file(path, faults) if data is None else read_yaml(data, faults)
    workflow: Workflow | None = None
    variables: tuple[Variable, ...] = ()
    if isinstance(node, Mapping):
        reader = _Reader(node, path, asked, faults)
        workflow, variables = reader.workflow(), reader.variables
    elif node is not None:
        faults.at(node.place).said(
            "a workflow is a mapping with tasks, not {given}", given=kind_of(node)
        )
    if faults or workflow is None:
        return Description(variables, faults=tuple(faults.listing()))
    return Description(variables, workflow)


class _Reader:
    """One file, from its sections to the tasks."""

    def __init__(self, node: Mapping, path: Path, asked: Asked, faults: Faults) -> None:
        self._node, self._path, self._asked, self._faults = node, path, asked, faults
        self._files = LocalFiles(path.parent, faults, granted=asked.granted_in(path.parent))
        self._sections = self._known_sections()
        self.variables = read_variables(self._sections.get("variables"), faults)
        self._scope = bind(self.variables, asked.variables, asked.start or Path.cwd(), faults)
        self._programs = ProgramsBeside(self._sections.get("programs"), self._scope, self._files)
        self._links = 0

    def workflow(self) -> Workflow | None:
        """Return the whole workflow, with those programs beside the file that it uses; None where
        anything is wrong with the file, found now or before."""
        templates = self._templates()
        if self._too_many(templates):
            return None
        used = self._used_programs(templates.values())
        self._programs.report_unused(used)
        links = Links(templates, self._outputs(templates), self._faults)
        tasks = self._tasks(templates, links)
        links.circle()
        name, priority = self._name(), self._priority()
        deliver = self._deliver(name)
        report_unused(self._scope, self._faults)
        if self._faults:
            return None
        programs = {
            each: self._programs.local[each] for each in sorted(used & {*self._programs.local})
        }
        submit = sendable(Submit(name, tuple(tasks), priority, deliver=deliver), self._faults)
        if submit is None:
            return None
        files = self._files
        read = (tuple(files.texts), tuple(files.outside))
        return Workflow(submit, files.files, programs, self.variables, "", *read)

    def _known_sections(self) -> dict[str, Node]:
        found: dict[str, Node] = {}
        for entry in self._node.entries:
            name = entry.key.text
            if name not in _LATER:
                hint = self._faults.hint_or_all(name, _LATER)
                self._faults.at(entry.key.place).said(
                    "a workflow has no {name}", name=shown(name), hint=hint
                )
            elif is_empty(entry.value):
                self._faults.at(entry.value.place).said(
                    "there is nothing under {name}: remove it", name=name
                )
            else:
                found[name] = entry.value
        return found

    def _templates(self) -> dict[str, Template]:
        sections = {key: node for key, node in self._sections.items() if key in ("tasks", "gates")}
        defaults = self._sections.get("defaults")
        if not any(name in ("tasks", "gates") for name in (e.key.text for e in self._node.entries)):
            meant = [e.key for e in self._node.entries if near(e.key.text, ("tasks", "gates"))]
            if not meant:
                self._faults.at(self._node.place).said("a workflow needs tasks: there are none")
        return read_templates(sections, defaults, self._scope, self._files)

    def _name(self) -> str:
        given = self._sections.get("name")
        kind = WORKFLOW.field("name")
        name: str | None = None
        if given is not None and kind is not None:
            name = kind.kind.read(fill(given, self._scope, self._faults), "name", self._faults)
        elif not self._asked.name:
            base = self._path.name
            base = base.removesuffix(SUFFIX) if base.endswith(SUFFIX) else self._path.stem
            name = composed(base)[:NAME_CHARACTERS_MAX]
        return self._asked.name or str(name or "-")

    def _priority(self) -> NamedPriority:
        given = self._sections.get("priority")
        if given is None:
            return "low"
        read = PRIORITY.read(fill(given, self._scope, self._faults), "priority", self._faults)
        told = _priority(read)
        return "low" if told is None else told

    def _deliver(self, name: str) -> str:
        """Where results go: beside the file, if it says no more."""
        given = self._sections.get("deliver")
        if given is None:
            return ""
        told = str(PATH.read(fill(given, self._scope, self._faults), "deliver", self._faults) or "")
        try:
            folder = Path(told.replace("{name}", plain(name))).expanduser()
        except RuntimeError:
            self._faults.at(given.place).said("deliver: there is no home folder {path}", path=told)
            return ""
        return os.path.normpath(self._path.parent.absolute() / folder)

    def _used_programs(self, templates: Iterable[Template]) -> set[str]:
        used: set[str] = set()
        for template in templates:
            program = template.fixed.get("program")
            if isinstance(program, Word):
                used.add(program)
                self._known_program(program)
            elif "program" in template.fixed:
                used.update(
                    self._programs.names
                )  # it depends on the fan-out, and is looked at there
        return used

    def _known_program(self, program: Word) -> None:
        installed = self._asked.programs
        if program in self._programs.names or installed is None or program in installed:
            return
        known = [*self._programs.names, *installed]
        hint = self._faults.hint_or_all(program, known)
        if "/" in program or program.endswith((".sh", ".py")):
            hint = said("list a script of your own under programs")
        self._faults.at(program.place).said(
            "no machine has the program {name}", name=shown(program), hint=hint
        )

    def _outputs(self, templates: Map[str, Template]) -> dict[str, tuple[str, ...] | None]:
        outputs: dict[str, tuple[str, ...] | None] = {}
        for name, template in templates.items():
            if template.gate:
                attach = template.fixed.get("attach", ())
                outputs[name] = tuple(str(each).removesuffix(LEFT_OPEN) for each in attach)
            else:
                known = self._program(template.fixed.get("program"))
                outputs[name] = None if known is None else known.outputs
        return outputs

    def _program(self, name: str | None) -> KnownProgram | None:
        if name is None:
            return None
        return self._programs.known.get(name) or (self._asked.programs or {}).get(name)

    def _tasks(self, templates: Map[str, Template], links: Links) -> list[Task]:
        tasks: list[Task] = []
        names: dict[str, Place] = {}
        for template in (each for each in templates.values() if not each.left_out):
            for run, name in enumerate(template.names()):
                if names.setdefault(name, template.place) is not template.place:
                    self._faults.at(template.place).said(
                        "two tasks are called {name}", name=shown(name)
                    )
                tasks.append(self._task(template, name, run, links))
                if self._too_much(tasks[-1], template):
                    return tasks
        return tasks

    def _too_many(self, templates: Map[str, Template]) -> bool:
        """Whether there are more tasks than fit; said before any of them is made."""
        count = 0
        for template in templates.values():
            count += 1 if template.fan is None else len(template.fan.instances)
            if count > TASKS_MAX:
                self._faults.at(template.place).said(
                    "a workflow has at most {most} tasks: this one makes it more", most=TASKS_MAX
                )
                return True
        return False

    def _too_much(self, task: Task, template: Template) -> bool:
        self._links += len(task.inputs) + len(task.after) + len(task.raw)
        if self._links <= LINKS_MAX:
            return False
        self._faults.at(template.place).said(
            "all tasks together have more than {most} inputs: gather them in steps", most=LINKS_MAX
        )
        return True

    def _task(self, template: Template, name: str, run: int, links: Links) -> Task:
        instance = template.fan.instances[run] if template.fan else None
        values = template.values(instance, self._scope, self._faults)
        if template.varying and isinstance(program := values.get("program"), Word):
            self._known_program(program)
        inputs, after = self._needs(template, values, run, links)
        if template.gate:
            asks = str(values.get("asks", ""))
            attach = tuple(map(str, values.get("attach", ())))
            return Task(name, inputs=inputs, after=after, gate=True, asks=asks, attach=attach)
        known = self._program(values.get("program"))
        words = values.get("data", ())
        raw = [each for word in words for each in self._files.datasets(_datum(word))]
        return Task(
            name,
            str(values.get("program", "")),
            inputs,
            tuple(raw),
            after,
            self._parameters(values),
            joint_requirements(requirements_of(values.get("requirements")), known),
            _expected_s(values.get("expected"), known),
            values.get("retries", RETRIES) + 1,
            limits=limits_of(values.get("limits")),
            published=None if known is None else known.published,
            priority=_priority(values.get("priority")),
            once=values.get("once", known is not None and known.once),
        )

    def _needs(
        self, template: Template, values: Values, run: int, links: Links
    ) -> tuple[tuple[Input, ...], tuple[str, ...]]:
        inputs: list[Input] = []
        for given in values.get("inputs", ()):
            reference = input_reference(given, self._faults)
            if reference is not None:
                inputs += links.inputs(reference, template, run)
        after = [
            name for word in values.get("after", ()) for name in links.after(word, template, run)
        ]
        return tuple(inputs), tuple(dict.fromkeys(after))

    def _parameters(self, values: Values) -> str:
        node, path = values.get("parameters"), values.get("parameters_file")
        form = values.get("parameters_as")
        if path is not None:
            if node is not None:
                self._faults.at(values.place_of("parameters_file")).said(
                    "there are parameters already: remove one of the two"
                )
            return self._parameters_file(path)
        if node is None:
            return ""
        if isinstance(node, Word):
            return str(node)
        text = parameters_text(node, str(form or "json"), self._faults)
        if len(text) > PARAMETERS_CHARACTERS_MAX:
            self._faults.at(values.place_of("parameters")).said(
                "parameters have at most {most} characters as text, and these {given}",
                most=PARAMETERS_CHARACTERS_MAX,
                given=len(text),
            )
        return text

    def _parameters_file(self, word: Word) -> str:
        text = self._files.text(word, PARAMETERS_CHARACTERS_MAX, word.place) or ""
        if word.lower().endswith(".xml") and text:
            from agent.workflow.xml_nodes import read_xml

            inner = Faults(str(self._files.folder / word))
            read_xml(text.encode(), inner)
            for fault in inner.listing():
                self._faults.take(fault)
        return text


def _priority(word: str | None) -> NamedPriority | None:
    """What is written there; None where nothing is."""
    if word is None:
        return None
    return "interactive" if word == "interactive" else int(word) if word.isdecimal() else "low"


def _datum(given: object) -> Word:
    """What stands under ``data``, as one word."""
    if isinstance(given, Word):
        return given
    assert isinstance(given, Values)
    identifier = given.get("id")
    if identifier is not None:
        return Word.at(identifier.place, f"id:{identifier}")
    return given.get("file") or Word.at(given.place, ".")


def _expected_s(given: float | None, known: KnownProgram | None) -> float:
    if given is not None:
        return given
    return max(0.0, known.expected_s) if known is not None else 0.0


def joint_requirements(own: Requirements, known: KnownProgram | None) -> Requirements:
    """Return what the task and its program ask for together: a word or seat of the task goes before
    one of the program, the larger number counts, tags and programs add up. Of a program that is not
    known nothing is added."""
    if known is None or known.requirements == Requirements():
        return own
    needs = known.requirements
    return Requirements(
        own.system or needs.system,
        own.architecture or needs.architecture,
        max(own.memory_mb, needs.memory_mb),
        max(own.disk_mb, needs.disk_mb),
        max(own.cores, needs.cores),
        tuple(dict.fromkeys((*own.tags, *needs.tags))),
        tuple(dict.fromkeys((*own.programs, *needs.programs))),
        tuple({each.name: each for each in (*needs.seats, *own.seats)}.values()),
    )


def limits_of(values: Values | None) -> Limits:
    """Return the limits as a client says them, memory and disk in whole MB, rounded up; those that
    are not given are 0, so that the program or the machine says them."""
    if values is None:
        return Limits()
    return Limits(
        memory_mb=megabytes(values.get("memory")),
        wall_s=values.get("wall", 0.0),
        silent_s=values.get("silent", 0.0),
        disk_mb=megabytes(values.get("disk")),
    )
