"""A call is somebody there: what records is told by the sound server, the kernel, or Windows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.api.presence_reasons import CameraUsed, Meeting, MicrophoneUsed
from agent.presence.readings import Seen, Unseen
from agent.presence.sources.meeting import (
    _asked_server,
    consent_store,
    linux_meeting,
    windows_meeting,
)

Stream = dict[str, object]


def stream(app: str = "Zoom", *, corked: bool = False, facts: Stream | None = None) -> Stream:
    told = {"application.name": app, **(facts or {})}
    return {"index": 7, "corked": corked, "properties": told}


def card(folder: Path, state: str, way: str = "c") -> Path:
    place = folder / "card0" / f"pcm0{way}" / "sub0"
    place.mkdir(parents=True)
    (place / "status").write_text(state)
    return folder


@pytest.mark.parametrize(
    ("streams", "used"),
    [
        ([], None),
        ([stream()], MicrophoneUsed("Zoom")),
        ([stream(corked=True)], None),
        ([stream("Volume Control", facts={"media.name": "Peak detect"})], None),
        ([stream("OBS", facts={"stream.monitor": "true"})], None),
        ([stream(corked=True), stream("Firefox")], MicrophoneUsed("Firefox")),
        ([stream("", facts={"application.process.binary": "arecord"})], MicrophoneUsed("arecord")),
        ([{"corked": False}], MicrophoneUsed("")),
        ([stream("a\x1b[31m\u202eb" + "c" * 100)], MicrophoneUsed("a[31mb" + "c" * 54)),
    ],
)
def test_the_sound_server_names_who_records(
    streams: list[Stream], used: Meeting | None, tmp_path: Path
) -> None:
    told = json.dumps(streams).encode()
    source = linux_meeting({}, lambda: told, card(tmp_path, "state: RUNNING\n"), tmp_path)
    assert source.read() == Seen(used)


@pytest.mark.parametrize("answer", [None, b"no JSON", OSError("it hangs")])
@pytest.mark.parametrize(
    ("state", "way", "used"),
    [
        ("closed\n", "c", None),
        ("state: RUNNING\nowner_pid   : 7\n", "c", MicrophoneUsed("")),
        ("state: RUNNING\n", "p", None),  # somebody listens to music
    ],
)
def test_without_it_the_kernel_tells(
    answer: bytes | OSError | None, state: str, way: str, used: Meeting | None, tmp_path: Path
) -> None:
    def ask() -> bytes | None:
        if isinstance(answer, OSError):
            raise answer
        return answer

    assert linux_meeting({}, ask, card(tmp_path, state, way), tmp_path).read() == Seen(used)


def test_a_machine_without_anything_to_record_with_is_in_no_call(tmp_path: Path) -> None:
    nothing = tmp_path / "nothing"
    assert linux_meeting({}, None, nothing, nothing, nothing).read() == Seen(None)


@pytest.mark.skipif(os.geteuid() == 0 if os.name == "posix" else True, reason="root reads all")
def test_a_card_that_does_not_tell_is_unseen(tmp_path: Path) -> None:
    cards = card(tmp_path, "closed")
    (cards / "card0" / "pcm0c" / "sub0" / "status").chmod(0)
    assert isinstance(linux_meeting({}, lambda: None, cards, tmp_path).read(), Unseen)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="what processes have open")
def test_a_camera_that_a_program_has_open_is_in_use(tmp_path: Path) -> None:
    (tmp_path / "video0").touch()
    source = linux_meeting({}, lambda: None, tmp_path / "none", tmp_path)
    assert source.read() == Seen(None)
    words = ["sh", "-c", "exec 3< video0; echo open; read end"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, cwd=tmp_path, stdin=pipe, stdout=pipe) as program:
        assert program.stdout is not None
        assert program.stdin is not None
        assert program.stdout.readline() == b"open\n"
        assert source.read() == Seen(CameraUsed("sh"))
        program.stdin.close()
    assert source.read() == Seen(None)


@pytest.mark.skipif(os.name != "posix", reason="a tool of Linux")
def test_the_tool_is_asked_only_where_a_server_listens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "pactl"
    tool.write_text('#!/bin/sh\necho "[]"; echo "$@" >> "$0.asked"\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert _asked_server({}) is None
    assert _asked_server({"XDG_RUNTIME_DIR": str(tmp_path)}) is None
    (tmp_path / "pulse").mkdir()
    (tmp_path / "pulse" / "native").touch()
    assert _asked_server({"XDG_RUNTIME_DIR": str(tmp_path)}) == b"[]\n"
    assert (tmp_path / "pactl.asked").read_text() == "--format=json list source-outputs\n"
    tool.write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(OSError, match="exit status 1"):
        _asked_server({"XDG_RUNTIME_DIR": str(tmp_path)})


def test_windows_notes_who_uses_them() -> None:
    stopped = 133_000_000_000_000_000
    noted = {
        "webcam": [("C:#Program Files#Zoom#bin#Zoom.exe", stopped)],
        "microphone": [("MSTeams_8wekyb3d8bbwe", stopped), ("C:#Zoom#bin#Zoom.exe", 0)],
    }
    source = windows_meeting(noted.__getitem__)
    assert source.read() == Seen(MicrophoneUsed("Zoom.exe"), "Windows")
    noted["webcam"] = [("MSTeams_8wekyb3d8bbwe", 0)]
    assert source.read() == Seen(CameraUsed("MSTeams_8wekyb3d8bbwe"), "Windows")
    noted["webcam"] = noted["microphone"] = []
    assert source.read() == Seen(None, "Windows")


@pytest.mark.skipif(sys.platform == "win32", reason="there it has such a list")
def test_without_such_a_list_it_is_unseen() -> None:
    assert isinstance(windows_meeting(consent_store).read(), Unseen)
