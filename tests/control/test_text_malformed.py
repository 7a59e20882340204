"""Every way to type a line of the text protocol wrongly, with the sentence that answers it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.control.serving import LineClient, Serving, workflow

SCHEDULE = "SCHEDULE program low|interactive [-p path] [-a task output]... [-x file]"
ONE_OF = "say one of TOKEN, SCHEDULE, SUBSCRIBE, CANCEL, HELP, QUIT"
NEEDED = f"SCHEDULE needs a program and a priority: {SCHEDULE}"
NUMBER = "the output of -a is a number from 1"
ABSENT = "no machine that is seen has the program"
COPY = "SCHEDULE copy low"

CASES: list[tuple[str | bytes, str]] = [
    ("hello", f"there is no hello: {ONE_OF}"),
    ("status", f"there is no status: {ONE_OF}"),
    ("SHEDULE copy low", f"there is no SHEDULE: {ONE_OF}"),
    ("SCHEDULED copy", f"there is no SCHEDULED: {ONE_OF}"),
    ("PROGRESS 4", f"there is no PROGRESS: {ONE_OF}"),
    ("ERROR no", f"there is no ERROR: {ONE_OF}"),
    ("GET / HTTP/1.1", f"there is no GET: {ONE_OF}"),
    ("x" * 60, f"there is no {'x' * 40}: {ONE_OF}"),
    ("é", f"there is no é: {ONE_OF}"),
    ('""', f"the line says nothing: {ONE_OF}"),
    ("''", f"the line says nothing: {ONE_OF}"),
    ('"" SCHEDULE', f"the line says nothing: {ONE_OF}"),
    (b"SCHEDULE \xff low", "the line is not UTF-8 (byte 9)"),
    (b"\xc3\x28", "the line is not UTF-8 (byte 0)"),
    (b"\xff\xfb\x1f", "the line is not UTF-8 (byte 0)"),
    ("\x00\x01", "the line has a character that cannot be seen (code 0)"),
    ("CANCEL \x1b[2J", "the line has a character that cannot be seen (code 27)"),
    ("CANCEL a\u202eb", "the line has a character that cannot be seen (code 8238)"),
    ("SUBSCRIBE a\x7f", "the line has a character that cannot be seen (code 127)"),
    ('CANCEL "a', "a quotation mark is not closed"),
    ("SCHEDULE 'copy low", "a quotation mark is not closed"),
    ("a " * 4_097, "the line has more than 4096 words"),
    ("TOKEN", "TOKEN takes one word behind it: TOKEN token"),
    ("TOKEN a b", "TOKEN takes one word behind it: TOKEN token"),
    ('TOKEN ""', "TOKEN takes one word behind it: TOKEN token"),
    ("HELP me", "HELP takes nothing behind it: HELP"),
    ("HELP SCHEDULE", "HELP takes nothing behind it: HELP"),
    ("QUIT now", "QUIT takes nothing behind it: QUIT"),
    ("SUBSCRIBE", "SUBSCRIBE names no task: SUBSCRIBE task..."),
    ("subscribe", "SUBSCRIBE names no task: SUBSCRIBE task..."),
    ("SUBSCRIBE nothing", 'no task is called "nothing"'),
    ("SUBSCRIBE mergee", 'no task is called "mergee"; did you mean merge?'),
    ("SUBSCRIBE survey/nothing", 'no task of survey is called "nothing"'),
    ("SUBSCRIBE nowhere/copy", 'no workflow is called "nowhere"'),
    ("SUBSCRIBE copy nothing", 'no task is called "nothing"'),
    (
        "SUBSCRIBE twin",
        '"twin" may mean the tasks survey/twin-one, survey/twin-two: write more of it',
    ),
    ("CANCEL", "CANCEL takes one word behind it: CANCEL task"),
    ("CANCEL a b", "CANCEL takes one word behind it: CANCEL task"),
    ('CANCEL ""', "CANCEL takes one word behind it: CANCEL task"),
    ("CANCEL nothing", 'no task is called "nothing"'),
    ("CANCEL 00000000-0000-0000-0000-000000000000", 'no task is called "00000000-0000-0000-0000-000000000000"'),
    ("CANCEL survey/", '"" may mean the tasks survey/check, survey/copy, survey/merge, survey/spare or others: write more of it'),
    ("SCHEDULE", NEEDED),
    ("SCHEDULE copy", NEEDED),
    ('SCHEDULE "" low', NEEDED),
    ("SCHEDULE -p /tmp low", NEEDED),
    ("SCHEDULE -x low", NEEDED),
    ("SCHEDULE copy high", f'the priority is low or interactive, not "high": {SCHEDULE}'),
    ("SCHEDULE copy LOW", f'the priority is low or interactive, not "LOW": {SCHEDULE}'),
    ("SCHEDULE copy 50", f'the priority is low or interactive, not "50": {SCHEDULE}'),
    ("SCHEDULE copy -p low", f'the priority is low or interactive, not "-p": {SCHEDULE}'),
    ('SCHEDULE copy ""', f'the priority is low or interactive, not "": {SCHEDULE}'),
    ("SCHEDULE low copy", f'the priority is low or interactive, not "copy": {SCHEDULE}'),
    (f"{COPY} now", f'SCHEDULE knows no "now": {SCHEDULE}'),
    (f"{COPY} -i 4", f'SCHEDULE knows no "-i": {SCHEDULE}'),
    (f"{COPY} -P /tmp", f'SCHEDULE knows no "-P": {SCHEDULE}'),
    (f"{COPY} --help", f'SCHEDULE knows no "--help": {SCHEDULE}'),
    (f'{COPY} ""', f'SCHEDULE knows no "": {SCHEDULE}'),
    (f"{COPY} -p", f"-p needs a word behind it: {SCHEDULE}"),
    (f'{COPY} -p ""', f"-p needs a word behind it: {SCHEDULE}"),
    (f"{COPY} -p a -p b", f"-p stands twice: {SCHEDULE}"),
    (f"{COPY} -p {'x' * 257}", "-p is longer than 256 characters"),
    (f"{COPY} -x", f"-x needs a word behind it: {SCHEDULE}"),
    (f"{COPY} -x /nowhere/a -x /nowhere/b", f"-x stands twice: {SCHEDULE}"),
    (f"{COPY} -x parameters.xml", '-x takes a whole path, not "parameters.xml": the agent is in another folder'),
    (f"{COPY} -x /nowhere/p.xml", "/nowhere/p.xml cannot be read: No such file or directory"),
    (f"{COPY} -a", f"-a needs a task and the number of its output: {SCHEDULE}"),
    (f"{COPY} -a copy", f"-a needs a task and the number of its output: {SCHEDULE}"),
    (f'{COPY} -a "" 1', f"-a needs a task and the number of its output: {SCHEDULE}"),
    (f"{COPY} -a copy one", f'{NUMBER}, not "one"'),
    (f"{COPY} -a copy -1", f'{NUMBER}, not "-1"'),
    (f"{COPY} -a copy 1.5", f'{NUMBER}, not "1.5"'),
    (f"{COPY} -a copy ²", f'{NUMBER}, not "²"'),
    (f"{COPY} -a copy 0", f"{NUMBER} to 10000, not 0"),
    (f"{COPY} -a copy 10001", f"{NUMBER} to 10000, not 10001"),
    (f"{COPY} -a copy 123456789", f'{NUMBER}, not "123456789"'),
    (f"{COPY} -a nothing 1", 'no task is called "nothing"'),
    (f"{COPY} -a copy 1 -a nothing 1", 'no task is called "nothing"'),
    (f"{COPY} -a survey/no 1", 'no task of survey is called "no"'),
    ("SCHEDULE cpy low", f'{ABSENT} "cpy"; did you mean copy?'),
    ("SCHEDULE import low", f'{ABSENT} "import"'),
    ("SCHEDULE ../copy low", f'{ABSENT} "../copy"; did you mean copy?'),
    ("schedule Copy interactive", f'{ABSENT} "Copy"; did you mean copy?'),
    ('SCHEDULE "copy low"', NEEDED),
]  # fmt: skip


@pytest.mark.parametrize(("line", "sentence"), CASES)
async def test_a_line_typed_wrongly_is_answered_with_one_sentence(
    there: Serving, client: LineClient, line: str | bytes, sentence: str
) -> None:
    told = workflow()
    told["tasks"] += [{"id": name, "program": "copy"} for name in ("twin-one", "twin-two")]
    await client.result("submit", told)
    client.send(line)
    assert (await client.line()).decode() == f"ERROR {sentence}"
    await client.result("status")
    assert list(there.node.table.workflows) == ["survey"]


async def test_parameters_that_are_no_text_or_too_many_are_refused(
    there: Serving, client: LineClient, tmp_path: Path
) -> None:
    binary, large = tmp_path / "binary.xml", tmp_path / "large.xml"
    binary.write_bytes(b"<a>\xff</a>")
    large.write_bytes(b" " * 65_537)
    client.send(f"{COPY} -x {binary}")
    assert await client.line() == f"ERROR {binary} is not UTF-8 (byte 3)".encode()
    client.send(f"{COPY} -x {large}")
    assert await client.line() == f"ERROR {large} is larger than 65536 bytes".encode()


def test_enough_ways_to_type_wrongly_are_known() -> None:
    assert len(CASES) >= 80
