"""What is in a program that asks to be run here, beside what was in the version that was allowed last."""

from __future__ import annotations

from agent.api.permissions import AskedProgram, Change, Script
from agent.data.node_datasets import NodeDatasets
from agent.protocol.records import DatasetId

FILES_MAX = 200
TEXT_BYTES_MAX = 128 * 1024
"""Of a file; a longer one is named with its size, and can be fetched like any dataset."""
ALL_TEXT_BYTES_MAX = 512 * 1024
Contents = dict[str, tuple[int, bytes | None]]
"""By its path the size of each file, and what it contains, None where that is too much."""


async def program_files(datasets: NodeDatasets, asked: AskedProgram) -> list[Script]:
    """Return the files of a program, by path, each with how it differs from the version that was
    allowed last, then those that it no longer has; fetch it first if it is not here. Of each
    version at most 200 files count; the text of a long file, or behind many others, is left out.
    Raise ``OSError`` where it cannot be had. An earlier version that cannot be read counts as
    none."""
    await datasets.bring(asked.folder.dataset)
    now = await _contents(datasets, asked.folder.dataset)
    before: Contents = {}
    if asked.before:
        try:
            before = await _contents(datasets, asked.before)
        except OSError:
            before = {}
    gone = [path for path in before if path not in now]
    return [_script(asked.program, path, now.get(path), before.get(path)) for path in (*now, *gone)]


async def _contents(datasets: NodeDatasets, dataset: DatasetId) -> Contents:
    found, left = Contents(), ALL_TEXT_BYTES_MAX
    for file in (await datasets.files(dataset))[:FILES_MAX]:
        content: bytes | None = None
        if file.size_bytes <= min(left, TEXT_BYTES_MAX):
            content = await datasets.read(dataset, file.path, 0, TEXT_BYTES_MAX)
            left -= len(content)
        found[file.path] = file.size_bytes, content
    return found


def _script(
    program: str,
    path: str,
    now: tuple[int, bytes | None] | None,
    before: tuple[int, bytes | None] | None,
) -> Script:
    change: Change = (
        "same" if now == before and now is not None and now[1] is not None else "changed"
    )
    if before is None:
        change = "new"
    elif now is None:
        change = "gone"
    size = now[0] if now is not None else 0
    return Script(program, path, size, change, _text(now), _text(before))


def _text(found: tuple[int, bytes | None] | None) -> str | None:
    """As people read it; None for what is no text."""
    content = found[1] if found is not None else None
    if content is None or b"\0" in content:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None
