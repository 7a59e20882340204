"""One machine, one agent: a service that everybody on its machine reaches, each with rights of their own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent.api.methods import METHODS
from agent.api.presence_reasons import NoScreen
from agent.api.session import CONTROL_FILE, ControlFile
from agent.api.volunteering import AT_HAND, VOLUNTEERING, AtHand, Volunteering
from agent.client import BlockingClient
from agent.control.doorkeeping import FOR_PERSONS, Person
from agent.paths import Home
from agent.presence.readings import Kind, Seen, Sessions
from agent.presence.sources import Asked, SightError, Sources, blind
from agent.presence.words import Desktop, ToldSessions, Words
from agent.settings.node_settings import NodeSettings
from gui.ending import end_all
from tests.hosts.machine import Machine
from tests.hosts.waiting import EVENTUALLY_S_MAX, ended, wait_for
from tests.style.source import REPOSITORY

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a service of Linux")
COUNT = 'echo "$(id -un)" > who.txt; echo TERMINATED who.txt\n'
NOBODY = 65_534


class Served:
    """A service with a home of its own, and a person's home that heeds it."""

    def __init__(self, folder: Path) -> None:
        self.run, self.folder = folder / "run", folder
        self.run.mkdir(mode=0o755)
        self.socket = self.run / "control.socket"
        self.service, self.person = Machine(folder / "service"), Machine(folder / "person")
        self.service.settle(listen=["127.0.0.1"], port=0, published_programs="always")

    @contextmanager
    def agent(self) -> Iterator[subprocess.Popen[bytes]]:
        environment = {
            **self.service.environment,
            "WINGBEAT_SERVICE": str(self.socket),
            "RUNTIME_DIRECTORY": str(self.run),
        }
        with (self.folder / "output").open("ab") as output:
            started = subprocess.Popen(
                [sys.executable, "-m", "agent", "agent"],
                cwd=REPOSITORY,
                env=environment,
                stdout=output,
                stderr=output,
            )
        with ended(started) as process:
            wait_for(self.socket.exists, EVENTUALLY_S_MAX, "the service listens", self.last_words)
            wait_for(lambda: self.ask("status").returncode == 0, EVENTUALLY_S_MAX, "it answers")
            yield process

    def ask(self, *words: str, told: str = "") -> subprocess.CompletedProcess[str]:
        """A command of the person."""
        return subprocess.run(
            [sys.executable, "-m", "agent", *words],
            cwd=REPOSITORY,
            env={**self.person.environment, "WINGBEAT_SERVICE": str(self.socket)},
            input=told,
            capture_output=True,
            text=True,
            timeout=EVENTUALLY_S_MAX,
            check=False,
        )

    @property
    def home(self) -> Home:
        environment = {**self.person.environment, "WINGBEAT_SERVICE": str(self.socket)}
        return Home.of(environment)

    def last_words(self) -> str:
        return (self.folder / "output").read_text()[-2000:] + self.service.last_words()


@pytest.fixture
def served() -> Iterator[Served]:
    """In a folder that other accounts may enter."""
    with tempfile.TemporaryDirectory(prefix="wingbeat-") as folder:
        Path(folder).chmod(0o755)
        yield Served(Path(folder))


def test_whoever_has_no_agent_reaches_the_service_and_starts_none_beside_it(served: Served) -> None:
    script = served.folder / "count.sh"
    script.write_text(COUNT)
    with served.agent():
        assert not (served.person.home.data / "control.json").exists()
        done = served.ask("submit", str(script), "--wait")
        assert done.returncode == 0, done.stderr
        fetched = served.ask("fetch", "count/count", "--into", str(served.folder / "made"))
        assert fetched.returncode == 0, fetched.stderr
        beside = served.ask("agent")
        assert beside.returncode == 1
        assert "runs as a service" in beside.stderr
        assert beside.stderr.count("\n") == 1
    gone = served.ask("status")
    assert "no agent runs here" in gone.stderr


def test_an_agent_of_a_person_hands_over_when_a_service_comes(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WINGBEAT_SERVICE", str(served.socket))
    with served.person.agent("--port", "0") as own, served.agent():
        assert own.wait(EVENTUALLY_S_MAX) == 0
        assert "hands over to it" in served.person.log()
        node = served.ask("status", "--json")
        assert node.returncode == 0


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root acts as others")
def test_a_person_may_submit_and_pause_and_leaves_the_rest_to_administrators(
    served: Served,
) -> None:
    with served.agent():
        served.service.said("submit", _script(served), "--name", "others")
        told = _as_nobody(served, ACTS)
    assert told == {
        "pause": "done",
        "resume": "done",
        "submit": "nobody",
        "cancel own": "done",
        "cancel others": "refused: others is work of root: they decide, or an administrator of this machine",
        "change_settings": "refused",
        "flock_create": "refused",
        "stop": "refused",
        "add_dataset": "refused",
        "deliver": "refused: deliver: an agent that is a service writes into no folders of people; "
        "fetch results",
        "deliver again": "refused",
    }, told


def test_removing_ones_own_leaves_the_service_alone(served: Served) -> None:
    """Also where an agent of one's own was killed, and has left its file."""
    home = served.home
    home.prepare()
    left = ControlFile("/nowhere", "t" * 16, 2_147_483_000)
    (home.data / CONTROL_FILE).write_bytes(msgspec.json.encode(left))
    with served.agent() as service:
        assert end_all(home, within_s=5.0) == ""
        removed = served.ask("uninstall", "--yes", "--data", "delete")
        assert removed.returncode == 0, removed.stderr
        assert not home.data.exists()
        assert served.ask("status").returncode == 0
        assert service.poll() is None


def test_what_the_command_of_the_service_sends_lies_in_no_folder_that_is_never_sent() -> None:
    told = (REPOSITORY / "installers/linux/wingbeat-night").read_text()
    words = dict(re.findall(r"\b([A-Z_]+)=(/\S+)", told))
    packed = Path(words["TMPDIR"], "wingbeat-packed", "count")
    home = Home.of(words)
    assert home.data == Path("/var/lib/wingbeat/data")
    assert home.own_folder(packed) is None
    assert packed.is_relative_to("/var/lib/wingbeat"), "the service has a /tmp of its own"


def _script(served: Served) -> str:
    script = served.folder / "others.sh"
    script.write_text("sleep 600\n")
    return str(script)


ACTS = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
from msgspec.structs import replace
from agent.api.datasets import ADD_DATASET, AddDataset
from agent.api.flock import FLOCK_CREATE, FlockCreate
from agent.api.session import STOP, Stop
from agent.api.settings import CHANGE_SETTINGS, ChangeSettings
from agent.api.volunteering import PAUSE, RESUME, Pause, Resume
from agent.api.again import AGAIN, Again
from agent.api.work import (CANCEL, SHOW, SUBMIT, Cancel, Show, Submit, Task)
from agent.client import BlockingClient, Home, RequestError
told = {}
def tried(name, act, brief=True):
    try:
        told[name] = act() or "done"
    except RequestError as error:
        told[name] = "refused" if brief else f"refused: {error}"
work = Submit("mine", (Task("step", gate=True, asks="look"),), submitter="root", key="one")
with BlockingClient(Home.of()) as client:
    tried("pause", lambda: client.call(PAUSE, Pause()) and None)
    tried("resume", lambda: client.call(RESUME, Resume()) and None)
    client.call(SUBMIT, work)
    tried("submit", lambda: client.call(SHOW, Show("mine")).workflow.submitter)
    tried("cancel own", lambda: client.call(CANCEL, Cancel("mine")) and None)
    tried("cancel others", lambda: client.call(CANCEL, Cancel("others")) and None, False)
    tried("change_settings", lambda: client.call(CHANGE_SETTINGS, ChangeSettings(slots=2)))
    tried("flock_create", lambda: client.call(FLOCK_CREATE, FlockCreate("mine")))
    tried("stop", lambda: client.call(STOP, Stop()))
    tried("add_dataset", lambda: client.call(ADD_DATASET, AddDataset("/etc/hostname")))
    delivered = replace(work, deliver="/tmp/x", key="two")
    tried("deliver", lambda: client.call(SUBMIT, delivered), False)
    tried("deliver again", lambda: client.call(AGAIN, Again("mine", delivered)))
print(json.dumps(told))
"""


def _as_nobody(served: Served, lines: str) -> dict[str, Any]:
    """What these lines print, run by the account ``nobody``, which reads the sources by root's leave."""
    packages = [each for each in sys.path if each.endswith("site-packages")]
    environment = {
        "WINGBEAT_HOME": "/nonexistent/home",
        "WINGBEAT_SERVICE": str(served.socket),
        "PYTHONPATH": os.pathsep.join(packages),
    }

    def drop() -> None:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)

    done = subprocess.run(
        ["/usr/bin/env", "python3", "-c", lines, str(REPOSITORY)],
        env={**os.environ, **environment},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=EVENTUALLY_S_MAX,
        check=False,
        preexec_fn=drop,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_a_service_is_told_who_is_here_and_is_blind_when_it_is_told_no_more(served: Served) -> None:
    served.service.settle(
        volunteer="when idle",
        presence={"on_mains_only": False, "others_cpu_percent": 100, "free_memory_mb": 0},
    )
    with served.agent(), BlockingClient(served.home) as client:
        _sees(client, False, "nobody tells")
        client.call(AT_HAND, AtHand(idle_ms=600_000, locked=True))
        _sees(client, True, "it is told")
        client.call(AT_HAND, AtHand(idle_ms=None))
        _sees(client, False, "one that cannot see is somebody present")
        client.call(AT_HAND, AtHand(idle_ms=600_000))
        _sees(client, True, "it is seen again")
        _sees(client, False, "the word is old")


def test_a_desktop_that_sees_nothing_says_that_somebody_is_there() -> None:
    blind_one = Desktop(
        Sources({kind: (blind(NoScreen()), blind(NoScreen())) for kind in Kind}, lambda _: None)
    )
    assert blind_one.word() == AtHand(None, locked=False, filled=True)
    blind_one.close()


def test_of_several_people_the_busiest_counts_and_strangers_stay_others() -> None:
    now_s = [100.0]
    words = Words(lambda: now_s[0])
    words.hear("ada", AtHand(idle_ms=60_000, locked=True))
    words.hear("bob", AtHand(idle_ms=1_000, locked=False, filled=True))
    assert words.last_input().at_s == 99.0
    assert words.filling() is not None
    there = Asked(lambda: Sessions(others=("ada", "bob", "eve")))
    told = ToldSessions(there, words).read()
    assert isinstance(told, Seen)
    assert (told.value.others, told.value.locked) == (("eve",), False)
    words.hear("bob", AtHand(idle_ms=1_000, locked=True))
    both = ToldSessions(Asked(lambda: Sessions(others=("ada", "bob"))), words).read()
    assert isinstance(both, Seen)
    assert both.value == Sessions(locked=True)
    now_s[0] += 5.1
    with pytest.raises(SightError):
        words.last_input()
    assert ToldSessions(there, words).read() == there.read()


def _sees(client: BlockingClient, wanted: bool, why: str) -> None:
    """Whoever asks twice within a second is told the same."""

    def is_so() -> bool:
        view = client.call(VOLUNTEERING, Volunteering())
        return wanted is next(each.sees for each in view.sources if each.source == "last input")

    wait_for(is_so, EVENTUALLY_S_MAX, why)


def test_each_verb_is_for_everybody_or_for_administrators() -> None:
    assert set(METHODS) >= FOR_PERSONS
    owners = {name for name, method in METHODS.items() if not method.by_members}
    assert owners & FOR_PERSONS == {"at_hand", "pause", "resume", "volunteering"}, (
        "of what is an owner's, no more"
    )


def test_administrators_are_root_and_the_groups_that_the_settings_name() -> None:
    groups = NodeSettings().administrators
    assert groups == ("sudo", "wheel")
    assert Person(0, ()).administers
    assert Person(os.geteuid(), ()).administers
    nobody = Person(NOBODY, groups)
    assert not nobody.administers
    assert nobody.may("submit")
    assert not nobody.may("stop")
    assert Person(1_234_567, groups).name == "1234567"


def test_a_tray_attaches_to_the_service_and_tells_it_who_is_here(served: Served) -> None:
    environment = {
        **served.person.environment,
        "WINGBEAT_SERVICE": str(served.socket),
        "QT_QPA_PLATFORM": "offscreen",
        "PYTHONWARNINGS": "",
    }
    words = [sys.executable, "-m", "gui", "--background"]
    with (
        served.agent(),
        ended(subprocess.Popen(words, cwd=REPOSITORY, env=environment)) as tray,
        BlockingClient(served.home) as client,
    ):
        wait_for(served.person.home.window_lock.exists, EVENTUALLY_S_MAX, "the tray is there")

        def is_told() -> bool:
            """This tray has no desktop, so it says that somebody is there."""
            view = client.call(VOLUNTEERING, Volunteering())
            full = next(each for each in view.sources if each.source == "full screen")
            return full.sees and "by the tray" in full.text

        wait_for(is_told, EVENTUALLY_S_MAX, "the service is told")
        assert not (served.person.home.data / "control.json").exists(), "no agent of its own"
        assert tray.poll() is None
