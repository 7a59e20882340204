"""A package is removed: every account's agent hands over, leaves and ends, and nobody is asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from agent import cli
from agent.commands import depart, exits
from agent.commands.depart import Account, Departed, accounts
from agent.paths import VARIABLE
from tests.hosts.machine import Machine
from tests.hosts.waiting import EVENTUALLY_S_MAX, ended, wait_for
from tests.live.test_uninstall import LIMIT_S, office

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def test_what_a_package_takes_along_was_handed_over_and_its_flock_knows(tmp_path: Path) -> None:
    with office(tmp_path) as (ant, bee):
        ant.said("flock", "join", bee.answer("flock", "invite")["text"])
        said = ant.answer("depart")
        assert said["parting"]["flock"] == "office"
        assert said["parting"]["only_here"] == 0
        assert said["parting"]["stays"] == ""
        assert ant.wait() == 0
        assert ant.home.settings_file.exists()
        wait_for(lambda: "ant" not in bee.said("peers"), LIMIT_S, "ant has left")
        (gone,) = bee.answer("flock", "members")["departures"]
        assert (gone["name"], gone["expelled"]) == ("ant", False)
        bee.said("fetch", "count/count", "--into", str(tmp_path / "fetched"))
        (kept,) = (each for each in (tmp_path / "fetched").rglob("*") if each.is_file())
        assert kept.read_text() == "only here\n"


def test_who_is_alone_in_a_flock_ends_and_keeps_it(tmp_path: Path) -> None:
    with office(tmp_path) as (ant, bee):
        assert "no other machine belongs to office" in bee.said("depart")
        assert bee.wait() == 0
        assert ant.said("depart") == "has ended\n"
        assert ant.said("depart") == "nothing ran\n"
        bee.start("--port", "0")
        bee.up()
        assert "office" in bee.said("flock", "members")


def test_nobody_leaves_whom_nobody_hears(tmp_path: Path) -> None:
    """The data comes back with the package; the flock is told by a person meanwhile."""
    with office(tmp_path) as (ant, bee):
        ant.said("flock", "join", bee.answer("flock", "invite")["text"])
        wait_for(lambda: _state(ant) == "linked", LIMIT_S, "they are linked")
        bee.kill()
        wait_for(lambda: _state(ant) == "away", LIMIT_S, "bee is missed")
        said = ant.said("depart", "--within", "2")
        assert "no machine of office is reached" in said
        assert "only here" in said
        assert ant.wait() == 0
        assert (ant.home.identity).is_dir()


def _state(machine: Machine) -> str:
    return "".join(each["state"] for each in machine.answer("peers")["peers"])


@contextmanager
def installed(folder: Path) -> Iterator[Path]:
    """A folder of a package, of which agents run: the environment of this Python, under another name."""
    top = folder / "opt"
    (top / "bin").mkdir(parents=True)
    (top / "bin/python3").symlink_to(sys.executable)
    (top / "lib").symlink_to(Path(sys.prefix, "lib"))
    (top / "pyvenv.cfg").write_text(Path(sys.prefix, "pyvenv.cfg").read_text())
    folder.chmod(0o755)
    yield top


@linux
@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root acts as others")
def test_root_has_every_account_depart_and_none_of_another_folder(tmp_path: Path) -> None:
    with office(tmp_path) as (ant, bee), installed(tmp_path) as top, ExitStack() as stack:
        invited = bee.answer("flock", "invite", "--uses", "2")["text"]
        ant.said("flock", "join", invited)
        ant.said("stop")
        ant.wait()
        homes = [Machine(tmp_path / "cat"), ant]
        homes[0].settle(listen=["127.0.0.1"], name="cat", port=0)
        own = [str(top / "bin/python3"), "-I", "-m", "agent"]
        for each in homes:
            output = stack.enter_context((tmp_path / f"{each.name}.out").open("wb"))
            process = subprocess.Popen(
                [*own, "agent"], env=each.environment, cwd="/", stdout=output, stderr=output
            )
            stack.enter_context(ended(process))
        wait_for(
            lambda: ant.run("peers").code == 0 and _state(ant) == "linked", LIMIT_S, "it is back"
        )
        wait_for(lambda: homes[0].run("settings").code == 0, LIMIT_S, "the other one answers")
        done = subprocess.run(
            [*own, "depart", "--json", "--everybody", str(top)],
            capture_output=True,
            text=True,
            timeout=EVENTUALLY_S_MAX,
            check=False,
        )
        assert done.returncode == 0, done
        told = {each["data"]: each for each in json.loads(done.stdout)["accounts"]}
        assert set(told) == {str(each.home.data) for each in homes}
        assert told[str(ant.home.data)]["parting"]["flock"] == "office"
        assert told[str(ant.home.data)]["account"] == "root"
        assert told[str(homes[0].home.data)]["parting"]["flock"] == ""
        assert bee.alive, "it runs from elsewhere"
        assert accounts(top) == []
        wait_for(lambda: "ant" not in bee.said("peers"), LIMIT_S, "ant has left")


@linux
@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root acts as others")
def test_the_service_of_a_machine_leaves_too_and_is_not_taken_for_a_persons_agent(
    tmp_path: Path,
) -> None:
    with office(tmp_path) as (_, bee), installed(tmp_path) as top, ExitStack() as stack:
        run, state = tmp_path / "run", tmp_path / "state"
        run.mkdir()
        (state / "config").mkdir(parents=True, mode=0o700)
        (state / "config/settings.toml").write_text('listen = ["127.0.0.1"]\nport = 0\n')
        person = {"HOME": str(tmp_path / "home"), "WINGBEAT_SERVICE": str(run / "control.socket")}
        service = person | {"STATE_DIRECTORY": str(state), "RUNTIME_DIRECTORY": str(run)}
        service |= {f"{each}_DIRECTORY": str(tmp_path / each) for each in ("LOGS", "CACHE")}
        own = [str(top / "bin/python3"), "-I", "-m", "agent"]

        def said(*words: str, told: str = "", **environment: str) -> str:
            done = subprocess.run(
                [*own, *words],
                input=told,
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            )
            return done.stdout

        output = stack.enter_context((tmp_path / "service.out").open("wb"))
        process = subprocess.Popen([*own, "agent"], env=service, stdout=output, stderr=output)
        stack.enter_context(ended(process))
        wait_for((run / "control.socket").exists, LIMIT_S, "the service listens")
        wait_for((state / "data/control.json").exists, LIMIT_S, "it takes its own account")
        invited = bee.answer("flock", "invite")["text"]
        said("flock", "join", "-", told=invited, **service)
        assert json.loads(said("depart", "--json", **person))["parting"]["flock"] == ""
        assert process.poll() is None, "it is not this person's to end"
        found = json.loads(said("depart", "--json", "--everybody", str(top)))["accounts"]
        (told,) = (each for each in found if each["data"] == str(state / "data"))
        assert (told["parting"]["flock"], told["parting"]["stays"]) == ("office", "")
        assert process.wait(EVENTUALLY_S_MAX) == 0
        wait_for(lambda: bee.answer("peers")["peers"] == [], LIMIT_S, "it has left")


@linux
def test_only_agents_and_trays_of_that_folder_count(tmp_path: Path) -> None:
    def process(number: int, words: str, environment: str) -> None:
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "cmdline").write_bytes(words.replace(" ", "\0").encode())
        (folder / "environ").write_bytes(environment.replace(" ", "\0").encode())
        (folder / "status").write_text("Name:\tx\nUid:\t1000\t0\t0\t0\nGid:\t1001\t0\t0\t0\n")
        (folder / "root").symlink_to("/")

    process(1, "/opt/w/1/bin/python3 -I /usr/bin/wingbeat agent", "HOME=/home/a SECRET=1")
    process(2, "/opt/w/1/bin/python3 -I /usr/bin/wingbeat-tray", "HOME=/home/a")
    process(3, "/opt/w/1/bin/python3 -I /usr/bin/wingbeat status", "HOME=/home/b")
    process(4, "/opt/www/bin/python3 -I /usr/bin/wingbeat agent", "HOME=/home/c")
    process(5, "/opt/w/1/bin/python3 -m agent agent", f"{VARIABLE}=/srv/own")
    process(6, "/opt/w/1/bin/python3 -I -m agent depart", "HOME=/home/d")
    (tmp_path / "7").mkdir()
    found = accounts(Path("/opt/w"), tmp_path)
    assert found == [
        Account(1000, 1001, (("HOME", "/home/a"),)),
        Account(1000, 1001, ((VARIABLE, "/srv/own"),)),
    ]


@linux
def test_who_did_not_depart_is_told_by_the_exit_code_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(depart, "accounts", lambda _: [])
    for error, code in (("", exits.DONE), ("does not answer", exits.FAILED)):
        done = [Departed(account="ada"), Departed(account="bea", error=error)]
        monkeypatch.setattr(depart, "_all_departed", lambda *_, done=done: iter(done))
        for words in (["--json"], []):
            assert cli.main(["depart", "--everybody", "/opt/wingbeat", *words]) == code
            told = capsys.readouterr()
            assert error in (told.out if words else told.err)
            if words:
                assert [each["error"] for each in json.loads(told.out)["accounts"]] == ["", error]
