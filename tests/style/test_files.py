"""How large a file and a function may be, how a module opens, and what a test must not do.

These are the habits that no linter of the trade checks. Each check lists all that is wrong.
"""

import ast
import re

import pytest

from tests.style.source import CODE_FOLDERS, REPOSITORY, Source, parse, sources

FILE_LINES_MAX = 499
FUNCTION_LINES_MAX = 40
SMALL_FILE_LINES_MAX = 30
SMALL_FILES_MAX = 25
"""As many as there are: what is read together is one file. It may become fewer, never more."""
# A name that says nothing about what is inside, alone or as a part: `net_utils`, `TaskManager`.
EMPTY_NAMES = frozenset({"util", "utils", "helper", "helpers", "misc", "common", "manager"})

NAMED = re.compile(r"`([\w/.-]+\.(?:py|nsi|wxs))`")
"""A file, as pages name it: from the top, from `agent/`, or beside the one named before it."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@pytest.fixture(scope="module")
def code() -> list[Source]:
    return sources(*CODE_FOLDERS)


@pytest.fixture(scope="module")
def tests() -> list[Source]:
    return sources("tests")


def test_files_are_short(code: list[Source], tests: list[Source]) -> None:
    lengths = {source.path: source.text.count("\n") for source in code + tests}
    assert {path: lines for path, lines in lengths.items() if lines > FILE_LINES_MAX} == {}


def test_small_files_do_not_become_more(code: list[Source]) -> None:
    small = [each.path for each in code if 0 < each.text.count("\n") <= SMALL_FILE_LINES_MAX]
    assert len(small) <= SMALL_FILES_MAX, small


def test_functions_are_short(code: list[Source], tests: list[Source]) -> None:
    assert [found for source in code + tests for found in long_functions(source)] == []


def test_names_say_what_is_inside(code: list[Source], tests: list[Source]) -> None:
    assert [source.path for source in code + tests if empty_names(source.path)] == []


def test_modules_open_with_their_reason(code: list[Source]) -> None:
    assert [source.path for source in code if not ast.get_docstring(source.tree)] == []


def test_pages_name_files_that_are_there() -> None:
    missing = []
    for page in sorted(REPOSITORY.glob("*.md")):
        before = REPOSITORY
        for name in NAMED.findall(page.read_text("utf-8")):
            places = (REPOSITORY / name, REPOSITORY / "agent" / name, before.parent / name)
            there = next((each for each in places if each.is_file()), None)
            before = there or before
            missing += [] if there else [f"{page.name}: {name}"]
    assert missing == []


def test_tests_never_sleep(tests: list[Source]) -> None:
    assert [found for source in tests for found in sleeps(source)] == []


def test_what_is_read_was_known_while_modules_were_loaded(code: list[Source]) -> None:
    """Threads that have msgspec find out at once what a type is made of end the process."""
    assert [place for each in code for place in types_read_late(each)] == []
    assert types_read_late(parse("agent/a.py", "json.decode(data, type=Submit)"))


def test_folders_of_tests_are_not_packages(tests: list[Source]) -> None:
    assert [source.path for source in tests if source.path.endswith("__init__.py")] == []


def test_a_long_function_is_seen() -> None:
    body = '    """Told."""\n' + "    pass\n" * FUNCTION_LINES_MAX
    assert long_functions(parse("agent/a.py", f"def f():\n{body}")) == []
    assert long_functions(parse("agent/a.py", f"async def f():\n{body}    pass\n")) != []


@pytest.mark.parametrize(
    "text",
    [
        "import time\ntime.sleep(1)",
        "import time as clock\nclock.sleep(1)",
        "from time import sleep",
        "from time import sleep as rest",
    ],
)
def test_a_sleep_is_seen(text: str) -> None:
    assert sleeps(parse("tests/test_a.py", text))


@pytest.mark.parametrize("path", ["agent/utils.py", "agent/net_helpers/a.py", "gui/misc.py"])
def test_an_empty_name_is_seen(path: str) -> None:
    assert empty_names(path)


def long_functions(source: Source) -> list[str]:
    return [
        f"{source.path}:{node.lineno} {node.name} has {body_lines(node)} lines"
        for node in source.nodes
        if isinstance(node, Function) and body_lines(node) > FUNCTION_LINES_MAX
    ]


def body_lines(function: Function) -> int:
    """The lines of a function below its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    if not body:
        return 0
    return (body[-1].end_lineno or 0) - body[0].lineno + 1


def empty_names(path: str) -> set[str]:
    return set(re.split(r"[/._]", path)) & EMPTY_NAMES


def types_read_late(source: Source) -> list[str]:
    return [
        f"{source.path}:{node.lineno}"
        for node in source.nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "decode"
        and any(each.arg == "type" for each in node.keywords)
    ]


def sleeps(source: Source) -> list[str]:
    """Where a test takes `sleep` from the module `time`, under whatever name."""
    clocks = {
        alias.asname or alias.name
        for node in source.nodes
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == "time"
    }
    found: list[str] = []
    for node in source.nodes:
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr="sleep") if name in clocks:
                found.append(f"{source.path}:{node.lineno} sleeps")
            case ast.ImportFrom(module="time", names=names):
                if any(alias.name == "sleep" for alias in names):
                    found.append(f"{source.path}:{node.lineno} sleeps")
            case _:
                pass
    return found
