"""XML workflows to the same model as all others: jobs become tasks of the program ``javascript``.

A value is no task: it stands in the parameters of whoever takes it. A pool over a value is as wide
as the value is long, which is known here, so it becomes that many tasks and a reducer, on as many
machines as there are. How wide a pool over the result of a job is, nobody knows before that job
has run; such a pool is one task, which runs processor and reducer itself.

Code is looked for beside the workflow file: ``src="Add"`` is ``Add`` or ``Add.js``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping as Map
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agent.api.values import NAME_CHARACTERS_MAX, Requirements
from agent.api.work import Input, Submit, Task
from agent.protocol.phrases import said
from agent.workflow.faults import Faults, FaultsError, Place, sendable, shown
from agent.workflow.kinds import Word
from agent.workflow.local_files import LocalFiles
from agent.workflow.model import KnownProgram, LocalProgram, Workflow
from agent.workflow.program_description import PROGRAM_YAML
from agent.workflow.tables import (
    PARAMETERS_CHARACTERS_MAX,
    TASK_CHARACTERS_MAX,
    TASK_NAME,
    TASK_NAME_WANTED,
    TASKS_MAX,
)
from agent.workflow.xml_graph import Graph, GraphNode, Job, check, read_graph, type_of, value_of
from agent.workflow.xml_nodes import read_xml
from agent.workflow.yaml_nodes import read_bytes

PROGRAM = "javascript"
SHIPPED = Path(__file__).resolve().parents[2] / "tasks" / PROGRAM
TAG = "node"
ENTRY = "weevil_main"
CODE_CHARACTERS_MAX = 1024 * 1024
VALUE_CHARACTERS_MAX = 16 * 1024 * 1024
_CODE_SUFFIXES = ("", ".js", ".mjs", ".cjs")
_VALUE_SUFFIXES = ("", ".json", ".txt")
_FUNCTION = re.compile(rf"\bfunction\s+{ENTRY}\s*\(([^)]*)\)")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def read_xml_workflow(
    path: Path,
    name: str = "",
    programs: Map[str, KnownProgram] | None = None,
    granted: tuple[Path, ...] = (),
) -> Workflow:
    """Return the workflow in a file, called ``name`` or else like the file; what is ``granted`` may
    lie elsewhere. Raises ``FaultsError``
    with all that is wrong, also where the file cannot be read.

    Where ``programs`` are given and have no ``javascript``, the one that comes with Wingbeat, if it
    is there, goes with the workflow to be published.
    """
    faults = Faults(str(path))
    data = read_bytes(path, faults)
    if data is None:
        raise FaultsError(faults.listing())
    workflow = read_xml_text(data, path, name, granted)
    if programs is None or PROGRAM in programs or not (SHIPPED / PROGRAM_YAML).is_file():
        return workflow
    return replace(workflow, programs={PROGRAM: LocalProgram(PROGRAM, SHIPPED)})


def read_xml_text(
    data: bytes, path: Path, name: str = "", granted: tuple[Path, ...] = ()
) -> Workflow:
    """Return the workflow that these bytes would be in that file, beside which code and values are
    looked up. It is called ``name``; without one, what the file is called without its endings.
    Raises ``FaultsError`` with all that is wrong."""
    faults = Faults(str(path))
    root = read_xml(data, faults)
    workflow: Workflow | None = None
    if root is not None and root.name != "workflow":
        hint = said("a program is described by <task>") if root.name == "task" else None
        faults.at(root.place).said(
            "the document must be a <workflow>, not a <{name}>", name=root.name, hint=hint
        )
    elif root is not None:
        check(root, faults)
        graph = read_graph(root, faults)
        own = path.name.removesuffix(".xml").removesuffix(".wingbeat")
        name = name or own[:NAME_CHARACTERS_MAX]
        workflow = _Maker(graph, LocalFiles(path.parent, faults, granted=granted)).workflow(name)
    if faults or workflow is None:
        raise FaultsError(faults.listing())
    return workflow


@dataclass(frozen=True, slots=True)
class _Constant:
    """What is known before anything runs."""

    value: Any


@dataclass(frozen=True, slots=True)
class _Result:
    """The result of a task."""

    task: str


class _Maker:
    """Makes tasks of the nodes, each after what it needs."""

    def __init__(self, graph: Graph, files: LocalFiles) -> None:
        self._graph, self._files, self._faults = graph, files, files.faults
        self._made: dict[str, _Constant | _Result] = {}
        self._sources: dict[str, Path | None] = {}
        self._code: dict[str, str | None] = {}
        self._tasks: list[Task] = []

    def workflow(self, name: str) -> Workflow | None:
        """Make the tasks and return the whole workflow, once only; None where there is no final
        node or anything is wrong, also more tasks than allowed."""
        self._names()
        for node in self._graph.nodes.values():
            if node.value is not None:
                self._made[node.name] = self._value(node)
            for job in (node.job, node.processor, node.reducer):
                if job is not None:
                    self._source(job)
        final = self._graph.final
        if self._faults or final is None:
            return None
        for each in self._graph.order:
            self._make(self._graph.nodes[each])
        made = self._made[final.name]
        if isinstance(made, _Constant):
            self._tasks.append(self._constant_task(final.name, made.value))
        if self._too_many(len(self._tasks), final.place):
            return None
        last = made.task if isinstance(made, _Result) else final.name
        submit = sendable(Submit(name, tuple(self._tasks)), self._faults)
        if submit is None:
            return None
        files = self._files
        read = (tuple(files.texts), tuple(files.outside))
        return Workflow(submit, files.files, {}, (), last, *read)

    def _names(self) -> None:
        for node in self._graph.nodes.values():
            for name in [node.name, *(job.name for job in (node.processor, node.reducer) if job)]:
                fits = re.fullmatch(TASK_NAME, name) and len(name) <= TASK_CHARACTERS_MAX
                if name and not fits:
                    self._faults.at(node.place).said(
                        "{name} is no name for a node: {wanted}",
                        name=shown(name),
                        wanted=TASK_NAME_WANTED,
                    )

    def _too_many(self, count: int, place: Place) -> bool:
        if count > TASKS_MAX:
            self._faults.at(place).said(
                "a workflow has at most {most} tasks: this one makes it {count}",
                most=TASKS_MAX,
                count=count,
            )
        return count > TASKS_MAX

    def _make(self, node: GraphNode) -> None:
        given = [(port, self._made[node.inputs[port].name]) for port, _ in node.ports]
        if node.job is not None:
            self._job(node.name, node.job, given)
            self._made[node.name] = _Result(node.name)
        elif node.processor is not None and node.reducer is not None:
            self._pool(node, node.processor, node.reducer, given[0][1])
            self._made[node.name] = _Result(node.reducer.name)

    def _pool(
        self, node: GraphNode, processor: Job, reducer: Job, given: _Constant | _Result
    ) -> None:
        if isinstance(given, _Result):
            self._whole_pool(processor, reducer, given)
            return
        values = given.value
        self._elements(node, processor, values)
        if self._too_many(len(self._tasks) + len(values) + 1, node.place):
            return
        port = processor.ports[0][0]
        names = [f"{processor.name}.{number}" for number in range(len(values))]
        for name, value in zip(names, values, strict=True):
            self._job(name, processor, [(port, _Constant(value))])
        gathered = [{"name": reducer.ports[0][0], "gathered": len(names)}]
        self._task(reducer.name, [reducer], {"arguments": gathered, **_call(reducer)}, names)

    def _elements(self, node: GraphNode, processor: Job, values: list[Any]) -> None:
        wanted = processor.ports[0][1]
        for number, value in enumerate(values):
            if type_of(value) != wanted and wanted != "undefined":
                self._faults.at(node.place).said(
                    "entry {number} of what flows into {name} is {given}, but {other} takes {wanted}",
                    number=number,
                    name=node.name,
                    given=type_of(value),
                    other=processor.name,
                    wanted=wanted,
                )
                return

    def _whole_pool(self, processor: Job, reducer: Job, given: _Result) -> None:
        pool = {"processor": _call(processor), "reducer": _call(reducer)}
        self._task(reducer.name, [processor, reducer], {"pool": pool}, [given.task])

    def _job(self, name: str, job: Job, given: list[tuple[str, _Constant | _Result]]) -> None:
        arguments: list[dict[str, Any]] = []
        needs: list[str] = []
        for port, each in given:
            if isinstance(each, _Constant):
                arguments.append({"name": port, "value": each.value})
            else:
                arguments.append({"name": port, "input": len(needs)})
                needs.append(each.task)
        self._task(name, [job], {"arguments": arguments, **_call(job)}, needs)

    def _constant_task(self, name: str, value: Any) -> Task:
        parameters = json.dumps({"constant": value}, ensure_ascii=False)
        return Task(name, PROGRAM, parameters=parameters, requirements=Requirements(tags=(TAG,)))

    def _task(self, name: str, jobs: list[Job], told: dict[str, Any], needs: list[str]) -> None:
        parameters = json.dumps(told, ensure_ascii=False)
        if len(parameters) > PARAMETERS_CHARACTERS_MAX:
            self._faults.at(jobs[0].place).said(
                "the values that flow into {name} may have at most {most} characters as JSON",
                name=name,
                most=PARAMETERS_CHARACTERS_MAX,
            )
        paths = [path for job in jobs if (path := self._sources[job.source]) is not None]
        task = Task(
            name,
            PROGRAM,
            tuple(Input(need) for need in needs),
            tuple(self._files.dataset(path) for path in paths),
            parameters=parameters,
            requirements=Requirements(tags=(TAG,)),
        )
        self._tasks.append(task)

    def _value(self, node: GraphNode) -> _Constant:
        assert node.value is not None
        given = node.value.attributes
        text = given.get("value")
        if text is None:
            path = self._beside(given.get("src", ""), _VALUE_SUFFIXES, node.place)
            word = Word.at(node.place, "" if path is None else self._files.relative(path))
            text = self._files.text(word, VALUE_CHARACTERS_MAX, node.place) if path else None
        if text is None:
            return _Constant(None)
        return _Constant(value_of(text, node.returns, node.name, node.place, self._faults))

    def _source(self, job: Job) -> None:
        if not job.source:
            return
        if job.source not in self._sources:
            self._sources[job.source] = path = self._beside(job.source, _CODE_SUFFIXES, job.place)
            if path is not None:
                word = Word.at(job.place, self._files.relative(path))
                self._code[job.source] = self._files.text(word, CODE_CHARACTERS_MAX, job.place)
        code, found = self._code.get(job.source), self._sources[job.source]
        if code is not None and found is not None:
            self._function(code, job, found.name)

    def _function(self, text: str, job: Job, file: str) -> None:
        found = _FUNCTION.search(_COMMENT.sub("", text))
        if found is None:
            self._faults.at(job.place).said(
                "{file} has no function {name}, which is what a job runs", file=file, name=ENTRY
            )
            return
        names = [word.strip() for word in found[1].split(",") if word.strip()]
        for port, _ in job.ports:
            if port not in names:
                hint = self._faults.hint(port, names)
                if not hint:
                    taken = ", ".join(names)
                    hint = said("it takes {names}", names=taken) if names else said("it takes none")
                self._faults.at(job.place).said(
                    "{function} in {file} has no parameter {name}",
                    function=ENTRY,
                    file=file,
                    name=shown(port),
                    hint=hint,
                )

    def _beside(self, name: str, suffixes: tuple[str, ...], place: Place) -> Path | None:
        for suffix in suffixes:
            path = self._files.folder / f"{name}{suffix}"
            try:
                if path.is_file():
                    return path
            except (OSError, ValueError):
                break
        if name:
            self._files.one(Word.at(place, f"{name}{suffixes[1]}"))
        return None


def _call(job: Job) -> dict[str, Any]:
    return {"entry": ENTRY, "parameters": [port for port, _ in job.ports], "returns": job.returns}
