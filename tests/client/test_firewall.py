"""What opens a firewall: the line that is shown is the one that is run, and nothing else is in it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from agent.client.firewall import Opening, open_firewall, opening


def having(*names: str) -> Callable[[str], str | None]:
    return lambda name: f"/usr/sbin/{name}" if name in names else None


UFW = "/usr/sbin/ufw allow 29464/tcp && /usr/sbin/ufw allow 5353/udp"
PORTS = "--add-port=29464/tcp --add-port=5353/udp"
FIREWALLD = f"/usr/sbin/firewall-cmd {PORTS} && /usr/sbin/firewall-cmd --permanent {PORTS}"


@pytest.mark.parametrize(
    ("installed", "line", "first"),
    [
        (("ufw", "pkexec"), UFW, "/usr/sbin/pkexec"),
        (("ufw",), UFW, ""),
        (("firewall-cmd", "ufw", "pkexec"), FIREWALLD, "/usr/sbin/pkexec"),
    ],
)
def test_on_linux_what_is_shown_is_what_is_run(
    installed: tuple[str, ...], line: str, first: str
) -> None:
    found = opening(29464, "linux", having(*installed))
    assert found == Opening(f"sudo sh -c '{line}'", (first, "/bin/sh", "-c", line) if first else ())
    rooted = opening(29464, "linux", having(*installed), root=True)
    assert rooted is not None
    assert rooted.words == ("/bin/sh", "-c", line)


def test_where_no_firewall_is_known_nothing_is_offered() -> None:
    assert opening(29464, "linux", having("pkexec")) is None


@pytest.mark.parametrize("port", [0, -1, 65_536])
def test_what_is_no_port_is_in_no_command(port: int) -> None:
    with pytest.raises(ValueError, match="is no port"):
        opening(port, "linux", having("ufw"))


def test_programs_of_the_person_who_asks_are_not_run_as_administrator(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ufw", "firewall-cmd", "pkexec"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = opening(29464, "linux")
    assert found is None or str(tmp_path) not in found.line + " ".join(found.words)


def test_on_windows_two_rules_are_made_for_networks_that_are_not_public(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SYSTEMROOT", r"C:\Windows")
    found = opening(29500, "win32")
    assert found is not None
    assert found.line.count("New-NetFirewallRule") == 2
    assert "-Protocol TCP -LocalPort 29500;" in found.line
    assert found.line.endswith("-Protocol UDP -LocalPort 5353")
    assert found.line.count("-Profile Private,Domain") == 2
    calls: list[tuple[str, str]] = []
    answers = [42, 5]

    def elevated(program: str, words: str) -> int:
        calls.append((program, words))
        return answers.pop(0)

    told = [open_firewall(found, "win32", elevated=elevated) for _ in range(2)]
    assert told == [("asked", ""), ("dismissed", "")]
    program, words = calls[0]
    assert program == r"C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe"
    assert words == f'-NoProfile -NonInteractive -Command "{found.line}"'


@pytest.mark.parametrize(
    ("code", "said", "outcome"),
    [
        (0, b"Rule added\n", ("opened", "Rule added")),
        (126, b"Error: dismissed\n", ("dismissed", "")),
        (127, b"", ("dismissed", "")),
        (
            1,
            b"first\nERROR: Could not load logging rules\n\n",
            ("failed", "ERROR: Could not load logging rules"),
        ),
    ],
)
def test_what_came_of_it_is_told(code: int, said: bytes, outcome: tuple[str, str]) -> None:
    ran: list[tuple[str, ...]] = []

    def run(words: tuple[str, ...], **_: Any) -> SimpleNamespace:
        ran.append(words)
        return SimpleNamespace(returncode=code, stdout=said)

    wanted = Opening("line", ("/usr/bin/pkexec", "/bin/sh", "-c", "line"))
    assert open_firewall(wanted, "linux", run) == outcome
    assert ran == [wanted.words]


def test_who_never_answers_is_not_waited_for_for_ever() -> None:
    def run(*_: Any, timeout: float, **__: Any) -> Any:
        raise subprocess.TimeoutExpired("pkexec", timeout)

    outcome, said = open_firewall(Opening("line", ("pkexec",)), "linux", run)
    assert (outcome, "timed out" in said) == ("failed", True)
