"""`wingbeat doctor --bundle`: enough to help from afar, and no secret in it, whatever runs or does not."""

from __future__ import annotations

import json
import os
import signal
import stat
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from agent.client import firewall, support
from agent.client.link import read_control_file
from agent.client.support import support_files, without_secrets
from agent.commands import doctor, exits
from agent.paths import MachineFiles
from tests.hosts.machine import Machine

PASSWORD = "geheim-77"
FILES = {
    "READ ME FIRST.txt",
    "platform.json",
    "settings.json",
    "laid down.json",
    "files.json",
    "agent.json",
    "agent.log",
}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path / "ant")
    machine.settle(listen=["127.0.0.1"], tags=["gpu"])
    return machine


def test_all_is_in_it_and_no_secret(machine: Machine, tmp_path: Path) -> None:
    file = tmp_path / "help.zip"
    with machine.agent("--port", "0"):
        machine.said("flock", "create", "office")
        invitation = machine.answer("flock", "invite")["text"]
        token = read_control_file(machine.home).token
        with machine.home.settings_file.open("a") as settings:
            settings.write(f'datasets = "postgresql://ada:{PASSWORD}@shelf/wingbeat"\n')
        with (machine.home.log / "agent.log").open("a") as log:
            log.write(f"[2026-01-01 10:00:00]: <info> {invitation} {token} password={PASSWORD}\n")
        told = machine.answer("doctor", "--bundle", str(file))
    assert set(told["contents"]) == FILES
    with zipfile.ZipFile(file) as packed:
        texts = {name: packed.read(name).decode() for name in packed.namelist()}
    assert set(texts) == FILES
    whole = "".join(texts.values())
    key = next(machine.home.identity.rglob("*key*")).read_text(errors="replace").split()[5]
    for secret in (PASSWORD, invitation, token, key):
        assert secret not in whole
    agent, about = json.loads(texts["agent.json"]), json.loads(texts["platform.json"])
    assert agent["members"]["members"][0]["own"]
    assert [each["source"] for each in agent["presence"]["sources"]]
    assert agent["work"]["node"]["flock"] == "office"
    assert "workflows" not in agent["work"]
    assert about["packages"]["msgspec"]
    assert json.loads(texts["settings.json"])["tags"] == ["gpu"]
    assert json.loads(texts["settings.json"])["datasets"] == support.GONE
    assert "runs as" in texts["agent.log"]
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = file.read_bytes()
    assert "is there already: name another file" in machine.refused("doctor", "--bundle", str(file))
    assert file.read_bytes() == before


def test_what_administrators_have_laid_down_is_in_it(machine: Machine, tmp_path: Path) -> None:
    laid_down = MachineFiles(tmp_path / "etc")
    laid_down.folder.mkdir()
    laid_down.policy.write_text(f'published_programs = "ask"\nproxy = "{PASSWORD}"\n')
    texts = support_files(replace(machine.home, machine=laid_down))
    assert json.loads(texts["laid down.json"]) == {
        str(laid_down.defaults): {},
        str(laid_down.policy): {"published_programs": "ask", "proxy": support.GONE},
    }


def test_it_is_made_where_no_agent_runs_and_can_be_read_first(machine: Machine) -> None:
    told = machine.said("doctor", "--bundle", "-")
    assert told.count("=====") == len(FILES)
    assert "no agent runs here" in told
    nowhere = str(machine.folder / "not there" / "help.zip")
    assert "cannot be written: No such file" in machine.refused("doctor", "--bundle", nowhere)


@pytest.mark.skipif(os.name != "posix", reason="nobody can halt a process there by a signal")
def test_an_agent_that_hangs_is_told_of(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(support, "ANSWER_S_MAX", 0.5)
    with machine.agent("--port", "0") as process:
        process.send_signal(signal.SIGSTOP)
        files = support_files(machine.home)
        process.send_signal(signal.SIGCONT)
    assert "did not answer within" in json.loads(files["agent.json"])["error"]
    assert "runs as" in files["agent.log"]


@pytest.mark.parametrize(
    "text",
    [
        "join with wingbeat-abcd efgh2 ijkl3 mnop4 qrst5",
        "-----BEGIN PRIVATE KEY-----\nabcd efgh2\n-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nabcd efgh2 cut off",
        "to postgresql://ada:efgh2@shelf/data",
        '{"token": "efgh2"}',
        "Password=efgh2",
    ],
)
def test_what_looks_like_a_secret_goes(text: str) -> None:
    assert "efgh2" not in without_secrets(f"before {text} after")
    assert without_secrets(f"before {text}").startswith("before ")


def test_the_firewall_is_opened_by_a_command_that_is_shown_first(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ports: list[int] = []

    def opening(port: int, *, root: bool) -> firewall.Opening:
        del root
        ports.append(port)
        return firewall.Opening(f"sudo open {port}", ("pkexec", "open"))

    monkeypatch.setenv("WINGBEAT_HOME", str(machine.folder))
    with machine.agent("--port", "0"):
        alone = machine.run("doctor", "--open-firewall")
        assert (alone.code, "has no port yet" in alone.err) == (exits.FAILED, True)
        machine.said("flock", "create", "office")
        monkeypatch.setattr(doctor, "opening", opening)
        monkeypatch.setattr(doctor, "open_firewall", lambda _: pytest.fail("nobody said yes"))
        assert doctor.run(["--open-firewall"]) == exits.DONE
        assert capsys.readouterr().out == f"sudo open {ports[0]}\n"
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        monkeypatch.setattr(doctor, "confirm", lambda _: True)
        monkeypatch.setattr(doctor, "open_firewall", lambda _: ("dismissed", ""))
        assert doctor.run(["--open-firewall"]) == exits.DONE
        assert "nobody allowed it" in capsys.readouterr().out
        monkeypatch.setattr(doctor, "open_firewall", lambda _: ("failed", "no rules"))
        assert doctor.run(["--open-firewall"]) == exits.FAILED
        assert "no rules" in capsys.readouterr().err
        monkeypatch.setattr(doctor, "opening", lambda *_, **__: None)
        assert doctor.run(["--open-firewall"]) == exits.FAILED
        assert "let TCP" in capsys.readouterr().err
