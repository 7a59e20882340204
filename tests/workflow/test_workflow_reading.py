"""Files that are right: what they mean."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from agent.api.values import Dataset, Limits, Requirements
from agent.api.work import Input, Submit, Task
from agent.workflow.faults import FaultsError
from agent.workflow.model import KnownProgram, Workflow
from agent.workflow.reading import Asked, describe
from tests.workflow.whole import read_workflow_file

DOCUMENTS = Path(__file__).parent / "documents"
PROGRAMS = {"split": KnownProgram(("a", "b"), 12.5), "work": KnownProgram(("out",))}


def read(text: str, folder: Path, **variables: str) -> Workflow:
    asked = Asked(variables, None, start=folder)
    return read_workflow_file(folder / "survey.wingbeat.yaml", asked, text.encode())


def tasks_of(text: str, folder: Path, **variables: str) -> dict[str, Task]:
    return {task.id: task for task in read(text, folder, **variables).submit.tasks}


def test_a_file_without_a_name_is_called_as_it_is(tmp_path: Path) -> None:
    workflow = read("tasks: {a: {program: import}}", tmp_path)
    assert workflow.submit == Submit("survey", (Task("a", "import"),))


LOOK = Task("look", inputs=(Input("check"),), gate=True, asks="Look at it", attach=("corrected",))


def test_everything_that_a_task_may_say(tmp_path: Path) -> None:
    (tmp_path / "scan.las").touch()
    text = """
name: line 42
priority: interactive
tasks:
  import: {program: import, data: [scan.las, id: DB-7, 'id:DB-8']}
  check:
    program: check
    inputs: [import, import/3, {workflow: earlier, task: model, output: 2}]
    after: [import]
    parameters: --fast
    requirements: {system: linux, architecture: x86_64, memory: 2 GB, cores: 2, tags: gpu}
    limits: {memory: 500 MB, disk: 1 GiB, wall: 2 h, silent: 90}
    retries: 0
    expected: 5 min
gates:
  look: {asks: Look at it, inputs: [check], attach: [corrected]}
"""
    workflow = read(text, tmp_path)
    gathered = Dataset("pending:1"), Dataset("DB-7", external=True), Dataset("DB-8", external=True)
    assert workflow.submit == Submit(
        "line 42",
        (
            Task("import", "import", raw=gathered),
            Task(
                "check",
                "check",
                (Input("import"), Input("import", 3), Input("model", 2, "earlier")),
                after=("import",),
                parameters="--fast",
                requirements=Requirements("linux", "x86_64", 2_000, 0, 2, ("gpu",)),
                expected_s=300.0,
                failures_max=1,
                limits=Limits(500, 7_200.0, 90.0, 1_074),
            ),
            LOOK,
        ),
        "interactive",
    )
    assert workflow.files == {"pending:1": tmp_path / "scan.las"}


@pytest.mark.parametrize(
    ("deliver", "folder"),
    [
        ("~/lines/{name}", "/home/ana/lines/line_42"),
        ("results", "{beside}/results"),
        ("../${part}/{name}", "{above}/north/line_42"),
    ],
)
def test_results_go_into_a_folder_of_this_computer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deliver: str, folder: str
) -> None:
    monkeypatch.setenv("HOME", "/home/ana")
    text = f"name: line/42\ndeliver: {deliver}\nvariables: {{part: {{default: north}}}}\n"
    text += "tasks: {a: {program: import, parameters: '${part}'}}\n"
    expected = folder.format(beside=tmp_path, above=tmp_path.parent)
    assert read(text, tmp_path).submit.deliver == expected


def test_outputs_by_name_and_what_programs_say_of_themselves(tmp_path: Path) -> None:
    text = """
tasks:
  s: {program: split}
  w: {program: work, inputs: [s/b, s/0], expected: 1}
  x: {program: work, inputs: [s/*, w]}
"""
    (tmp_path / "w.wingbeat.yaml").write_text(text)
    split, work, rest = read_workflow_file(
        tmp_path / "w.wingbeat.yaml", Asked({}, PROGRAMS)
    ).submit.tasks
    assert (split.expected_s, work.expected_s, rest.expected_s) == (12.5, 1.0, 0.0)
    assert work.inputs == (Input("s", 1), Input("s", 0))
    assert rest.inputs == (Input("s", 0), Input("s", 1), Input("w", 0))


def test_gates_hand_on_what_is_attached(tmp_path: Path) -> None:
    text = """
tasks: {use: {program: work, inputs: [look/note, look/0]}}
gates: {look: {asks: Look, attach: [fixed, note]}}
"""
    tasks = tasks_of(text, tmp_path)
    assert tasks["use"].inputs == (Input("look", 1), Input("look", 0))
    assert tasks["look"].attach == ("fixed", "note")


def test_defaults_give_way_to_what_a_task_says(tmp_path: Path) -> None:
    text = """
defaults: {program: p, retries: 5, limits: {wall: 10, memory: 5}, requirements: {cores: 2}}
tasks:
  a: {}
  b: {program: q, retries: 0, limits: {wall: 20}}
"""
    a, b = read(text, tmp_path).submit.tasks
    assert (a.program, a.failures_max, a.limits) == ("p", 6, Limits(5, 10.0))
    assert (b.program, b.failures_max, b.limits) == ("q", 1, Limits(5, 20.0))
    assert a.requirements == b.requirements == Requirements(cores=2)


def test_variables_are_put_in_before_anything_is_read(tmp_path: Path) -> None:
    text = """
name: line ${line}
variables:
  line: {type: whole}
  again: 3
  bands: [red, green]
  mode: {choices: [fast, exact], default: fast}
tasks:
  a:
    program: p
    retries: ${again}
    parameters: {line: "${line}", bands: "${bands}", mode: "${mode}", shell: "$${HOME}"}
"""
    workflow = read(text, tmp_path, line="42", mode="exact")
    task = workflow.submit.tasks[0]
    assert workflow.submit.name == "line 42"
    assert task.failures_max == 4
    expected = {"line": 42, "bands": ["red", "green"], "mode": "exact", "shell": "${HOME}"}
    assert json.loads(task.parameters) == expected
    assert [each.name for each in workflow.variables] == ["line", "again", "bands", "mode"]


def test_a_window_can_ask_for_variables_before_all_is_right(tmp_path: Path) -> None:
    path = tmp_path / "w.wingbeat.yaml"
    path.write_text("variables: {line: {type: whole, says: which}}\ntasks: {a: {}}\n")
    (line,) = describe(path, Asked({})).variables
    assert (line.name, line.type, line.says, line.default) == ("line", "whole", "which", None)


def test_given_files_begin_where_they_were_typed(tmp_path: Path) -> None:
    (tmp_path / "scan.las").touch()
    text = "variables: {scan: {type: file}}\ntasks: {a: {program: p, data: '${scan}'}}\n"
    workflow = read(text, tmp_path, scan="scan.las")
    assert list(workflow.files.values()) == [tmp_path / "scan.las"]


@pytest.mark.parametrize(
    ("declared", "given", "sentence"),
    [
        ("{}", {"x": "1"}, 'there is no variable "x"; it has none'),
        ("{line: 1}", {"x": "1"}, 'there is no variable "x"; there are line'),
        ("{line: 1}", {"lime": "1"}, 'there is no variable "lime"; did you mean line?'),
        ("{line: 1}", {"line": "x"}, 'the value given for line must be a whole number, not "x"'),
    ],
)
def test_a_value_for_no_variable_and_one_that_does_not_fit(
    declared: str, given: dict[str, str], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(FaultsError) as found:
        read(f"variables: {declared}\ntasks: {{a: {{program: p}}}}\n", tmp_path, **given)
    assert sentence in [each.words() for each in found.value.faults]


def test_a_list_is_given_with_commas(tmp_path: Path) -> None:
    text = "variables: {bands: [1]}\ntasks: {a: {program: p, parameters: {b: '${bands}'}}}\n"
    (task,) = read(text, tmp_path, bands=" red,, green ").submit.tasks
    assert json.loads(task.parameters) == {"b": ["red", "green"]}


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("json", '{"band": 3, "fast": true, "files": ["a", "b"], "rest": {"x": null}}'),
        (
            "xml",
            (
                "<parameters><band>3</band><fast>true</fast><files>a</files><files>b</files>"
                "<rest><x></x></rest></parameters>"
            ),
        ),
    ],
)
def test_parameters_of_several_values(form: str, text: str, tmp_path: Path) -> None:
    given = "{band: 3, fast: true, files: [a, b], rest: {x: null}}"
    told = f"tasks: {{a: {{program: p, parameters_as: {form}, parameters: {given}}}}}"
    assert tasks_of(told, tmp_path)["a"].parameters == text


def test_parameters_as_arguments(tmp_path: Path) -> None:
    given = "{band: 3, fast: true, slow: false, files: [a, b c], name: 'x'}"
    told = f"tasks: {{a: {{program: p, parameters_as: arguments, parameters: {given}}}}}"
    words = "--band 3 --fast --files a --files 'b c' --name x"
    assert tasks_of(told, tmp_path)["a"].parameters == words


def test_parameters_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "p.xml").write_text("<parameters>\n  <band>3</band>\n</parameters>\n")
    told = "tasks: {a: {program: p, parameters_file: p.xml}}"
    assert "<band>3</band>" in tasks_of(told, tmp_path)["a"].parameters


def test_words_that_yaml_readers_disagree_about_stay_words(tmp_path: Path) -> None:
    told = "name: no\ntasks: {on: {program: yes, parameters: 1.10}, 010: {program: off}}"
    workflow = read(told, tmp_path)
    assert workflow.submit.name == "no"
    assert [(task.id, task.program) for task in workflow.submit.tasks] == [
        ("on", "yes"),
        ("010", "off"),
    ]
    assert workflow.submit.tasks[0].parameters == "1.10"


def test_map_and_reduce_over_the_files_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "tiles").mkdir()
    for name in ("b.las", "a.las", ".hidden"):
        (tmp_path / "tiles" / name).touch()
    text = """
tasks:
  segment: {program: p, for_each: {tile: tiles}, data: "${tile}", parameters: "${tile.stem}"}
  detect: {program: p, for_each: segment, inputs: [segment], parameters: "${tile.number}"}
  merge: {program: p, inputs: [detect/*], after: [segment]}
"""
    tasks = tasks_of(text, tmp_path)
    assert list(tasks) == ["segment.a", "segment.b", "detect.a", "detect.b", "merge"]
    assert tasks["detect.b"].inputs == (Input("segment.b"),)
    assert tasks["detect.b"].parameters == "1"
    assert tasks["segment.a"].parameters == "a"
    assert tasks["merge"].inputs == (Input("detect.a"), Input("detect.b"))
    assert tasks["merge"].after == ("segment.a", "segment.b")


def test_every_combination_of_several_values(tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("one\n\ntwo\n")
    text = """
variables: {bands: [red, green]}
tasks:
  a:
    program: p
    for_each: {band: "${bands}", n: {from: 1, to: 2}, line: {lines: lines.txt}}
    parameters: ${band} ${n} ${line}
  one: {program: p, inputs: [a.red.2.two]}
"""
    tasks = tasks_of(text, tmp_path)
    assert len(tasks) == 9
    assert tasks["a.green.1.two"].parameters == "green 1 two"
    assert tasks["one"].inputs == (Input("a.red.2.two"),)


def test_values_that_look_alike_are_told_apart(tmp_path: Path) -> None:
    text = "tasks: {a: {program: p, for_each: {x: ['a b', 'a/b', 'a_b']}, parameters: '${x}'}}"
    tasks = tasks_of(text, tmp_path)
    assert list(tasks) == ["a.0", "a.1", "a.2"]
    assert tasks["a.1"].parameters == "a/b"


def test_programs_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "count.sh").write_text("#!/bin/sh\nwc -l\n")
    (tmp_path / "merge").mkdir()
    (tmp_path / "merge" / "merge.py").write_text("pass\n")
    (tmp_path / "merge" / "program.yaml").write_text(
        'name: merge\ncommand: ["{python}", merge.py]\noutputs: [all.txt]\nexpected: 9 s\n'
        "requirements: {cores: 2}\n"
    )
    text = """
programs:
  count: {run: count.sh, outputs: [count.txt], expected: 3 s}
  merge: merge
tasks:
  a: {program: count}
  b: {program: merge, inputs: [a/count.txt], requirements: {memory: 5}}
"""
    workflow = read(text, tmp_path)
    a, b = workflow.submit.tasks
    assert (a.expected_s, b.expected_s) == (3.0, 9.0)
    assert b.requirements == Requirements(memory_mb=5, cores=2)
    assert workflow.programs["merge"].path == tmp_path / "merge"
    described = workflow.programs["count"].description
    assert 'command: ["sh", "count.sh"]' in described
    assert 'outputs: ["count.txt"]' in described


def test_ten_thousand_tasks_are_one_message(tmp_path: Path) -> None:
    text = "tasks: {a: {program: p, for_each: {n: {from: 1, to: 10000}}, parameters: '${n}'}}"
    submit = read(text, tmp_path).submit
    assert len(submit.tasks) == 10_000
    assert msgspec.json.decode(msgspec.json.encode(submit), type=Submit) == submit


def test_a_file_of_windows(tmp_path: Path) -> None:
    for encoding in ("utf-16", "utf-8-sig"):
        data = "name: Föhr\r\ntasks:\r\n  a: {program: p}\r\n".encode(encoding)
        workflow = read_workflow_file(tmp_path / "w.wingbeat.yaml", Asked({}), data)
        assert workflow.submit.name == "Föhr"


def test_anchors_and_merged_keys(tmp_path: Path) -> None:
    text = """
tasks:
  a: &base {program: p, retries: 7}
  b: {<<: *base, retries: 1}
"""
    a, b = read(text, tmp_path).submit.tasks
    assert (a.failures_max, b.program, b.failures_max) == (8, "p", 2)


@pytest.mark.parametrize("figure", ["figure_1_1", "figure_1_3"])
def test_the_inspection_of_a_power_line(figure: str) -> None:
    workflow = read_workflow_file(
        DOCUMENTS / f"{figure}.wingbeat.yaml", Asked({}, {"stage": KnownProgram()})
    )
    tasks = {task.id: task for task in workflow.submit.tasks}
    machines = [name for name, task in tasks.items() if not task.gate]
    chain = "import, georeferencing, features, points of interest, aggregation, report"
    assert ", ".join(machines) == chain
    waits = {each.task for each in tasks["points of interest"].inputs}
    assert ("validation" in waits) is (figure == "figure_1_1")
    assert tasks["report"].after == ("annotation",)
    assert list(workflow.files.values()) == [DOCUMENTS / "inspection"]


def test_a_value_of_a_fan_out_counts_for_what_it_is_alone(tmp_path: Path) -> None:
    text = """
tasks:
  a: {program: p, for_each: {x: ['null', 7, 'true']}, parameters: {m: '${x}', n: '${x}5'}}
  b: {program: q, inputs: ['a/*']}
"""
    told = [json.loads(task.parameters) for task in read(text, tmp_path).submit.tasks[:3]]
    assert told == [{"m": "null", "n": "null5"}, {"m": 7, "n": "75"}, {"m": True, "n": "true5"}]


GATED = """
variables: {gates: {choices: [all, none], default: all}}
tasks:
  cut: {program: mill, for_each: {tile: [a, b]}}
  look: {program: mill, for_each: cut, inputs: [cut/0, check/patch]}
  sum: {program: mill, inputs: ["look/*"], after: [agree]}
  draw: {program: mill, for_each: cut, inputs: [cut/0], asked: "${gates}"}
gates:
  check: {asks: Check it, for_each: cut, inputs: [cut/0], attach: [patch], asked: "${gates}"}
  agree: {asks: Agree, inputs: ["look/*", "draw/*"], after: [check], asked: "${gates}"}
"""


def test_gates_at_which_nobody_is_asked_are_left_out_and_work_waits_for_what_they_waited_for(
    tmp_path: Path,
) -> None:
    """Both orders of one file: with the steps of persons, and all automatic first."""
    file = tmp_path / "line.wingbeat.yaml"
    file.write_text(GATED)
    asked = {each.id: each for each in read_workflow_file(file, Asked({})).submit.tasks}
    assert {name for name, each in asked.items() if each.gate} == {"check.a", "check.b", "agree"}
    assert asked["look.b"].inputs == (Input("cut.b", 0), Input("check.b", 0))
    assert asked["sum"].after == ("agree",)
    assert set(asked["agree"].inputs) >= {Input("draw.a", 0), Input("draw.b", 0)}
    alone = read_workflow_file(file, Asked({"gates": "none"})).submit.tasks
    found = {each.id: each for each in alone}
    assert list(found) == ["cut.a", "cut.b", "look.a", "look.b", "sum"]
    assert found["look.b"].inputs == (Input("cut.b", 0),)
    assert set(found["sum"].after) == {"look.a", "look.b", "cut.a", "cut.b"}


def test_gates_that_wait_for_each_other_and_are_left_out_are_waited_for_by_nobody(
    tmp_path: Path,
) -> None:
    file = tmp_path / "line.wingbeat.yaml"
    file.write_text(
        "tasks: {t: {program: mill, after: [a]}}\n"
        "gates: {a: {asks: A, after: [b], asked: no}, b: {asks: B, after: [a], asked: no}}\n"
    )
    (told,) = read_workflow_file(file, Asked({})).submit.tasks
    assert told.after == ()
