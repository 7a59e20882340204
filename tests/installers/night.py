"""The service on a machine that boots, tried as its administrator would; runs inside that machine.

Packages are installed on its disk before it boots, as an emulated processor takes minutes to compile
them. It boots twice: the first time the service is enabled and works; the second time it has to be
there by itself, hands over when it is stopped, and goes without a trace.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import threading
import time
import traceback
from importlib import import_module
from pathlib import Path
from pwd import getpwnam

sys.path.insert(0, str(Path(__file__).resolve().parent))

TELLS, PASSED, FAILED = "TRIAL:", "passed", "failed"
UNIT, ACCOUNT = "wingbeat-night", "wingbeat"
PERSON = "ant"
AS_PERSON = ("runuser", "-u", PERSON, "--", "env", f"HOME=/home/{PERSON}", "wingbeat")
TRIAL, WORK = Path("/srv/trial"), Path("/srv/work")
SCORE_MAX = 3.0
CONFINED = r"confined by Landlock \d+, seccomp, own mounts, own process numbers"
"""What the agent has to say of itself: all of that has room inside the unit."""
ROOM = '''\
"""What a confined program has inside the service: no namespaces of its own, no homes, and Node."""
import ctypes, json, os, subprocess
def works(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    return done.stderr.strip() if done.returncode else "works"
libc = ctypes.CDLL(None, use_errno=True)
LANDLOCK_CREATE_RULESET, VERSION = 444, 1
found = {
    "proc": works("unshare", "-Urpf", "--mount-proc", "true"),
    "net": works("unshare", "-Urn", "true"),
    "mount": works("unshare", "-Urm", "sh", "-c", "mount -t tmpfs none /mnt && touch /mnt/x"),
    "landlock": libc.syscall(LANDLOCK_CREATE_RULESET, None, 0, VERSION),
    "node": works("node", "-e", "process.exit(0)"),
    "home": os.path.exists("/home/ant"),
    "seccomp": [each for each in open("/proc/self/status") if each.startswith("Seccomp:")][0].split()[1],
}
json.dump(found, open("told.json", "w"))
'''
LONG = """\
import time
for second in range(600):
    time.sleep(1)
    print("PROGRESS", second // 6, flush=True)
open("told.txt", "w").write("done")
"""
WORKFLOW = "programs: {%(name)s: %(name)s.py}\ntasks: {one: {program: %(name)s}}\n"


def main() -> None:
    """Do the part of this boot, and say at the end how it went."""
    second = TRIAL / "second"
    if sys.argv[1:] == ["install"]:
        install()
        return
    try:
        if second.exists():
            second_boot()
            say(PASSED)
            run("systemctl", "--no-block", "poweroff")
        else:
            first_boot()
            second.touch()
            run("systemctl", "--no-block", "reboot")
    except BaseException:  # noqa: BLE001 - whatever it is, it is told
        for line in (traceback.format_exc() + log_of_service()).splitlines()[-60:]:
            say(f"| {line}")
        say(FAILED)
        run("systemctl", "--no-block", "poweroff")


def install() -> None:
    """From the repository; what there was before is kept in a file."""
    life = import_module("life")
    run("useradd", "--create-home", PERSON)
    life.offer(min((TRIAL / "dist").iterdir(), key=lambda each: len(each.name)))
    files, answers = life.everything()
    (TRIAL / "before.json").write_text(json.dumps([sorted(files), answers]))
    run("apt-get", "-y", "-q", "install", "wingbeat")


def first_boot() -> None:
    is_hardened()
    assert "Name=Wingbeat" in Path("/etc/xdg/autostart/wingbeat.desktop").read_text()
    assert run("systemctl", "is-enabled", UNIT, good=None).strip() == "disabled"
    assert run("systemctl", "is-active", UNIT, good=None).strip() == "inactive"
    Path("/etc/wingbeat").mkdir(exist_ok=True)
    Path("/etc/wingbeat/settings.toml").write_text(
        'volunteer = "always"\npublished_programs = "always"\n'
    )
    took("enabling", "systemctl", "enable", "--now", UNIT)
    until(answers_clients, "the service answers")
    works()
    has_room()
    computes_in_javascript()
    is_reached()


def second_boot() -> None:
    until(answers_clients, "the service answers after a reboot, and nobody has logged in")
    assert "words" in service("status", "words"), "the past is there"
    say("it knows after a reboot what it did before")
    hands_over()
    purges()


def is_hardened() -> None:
    run("systemd-analyze", "verify", "--man=no", f"{UNIT}.service")
    told = run("systemd-analyze", "security", "--no-pager", f"{UNIT}.service")
    found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", told)
    assert found, told
    assert float(found[1]) <= SCORE_MAX, told
    say(f"systemd-analyze: verify is clean, exposure {found[1]}")


def works() -> None:
    """A workflow, submitted by the administrator; when it helps was laid down."""
    assert "always" in service("volunteering")
    WORK.mkdir()
    shutil.chown(WORK, ACCOUNT, ACCOUNT)
    service("new", "words")
    service("submit", "words/words.wingbeat.yaml", "--wait")
    service("fetch", "words/top")
    assert (WORK / "top/top.txt").read_text().split()[:2] == ["13", "the"]
    say("a workflow has run in the service")


def has_room() -> None:
    submit("room", ROOM, "--wait")
    service("fetch", "room/one")
    told = json.loads((WORK / "one/told.json").read_text())
    say(f"inside the unit: {told}")
    assert told["node"] == "works", told
    assert "works" not in {told[each] for each in ("proc", "net", "mount")}, told
    assert re.search(CONFINED, log_of_service()), log_of_service()
    assert told["landlock"] > 0, told
    assert told["home"] is False
    assert told["seccomp"] == "2"


def computes_in_javascript() -> None:
    shutil.copytree(TRIAL / "documents", WORK / "documents")
    service("submit", "documents/computed.xml", "--wait")
    say("a job in JavaScript has run in the service")


def is_reached() -> None:
    """By everybody on the machine; a person submits, and has no say in how it is set."""
    script = Path("/home", PERSON, "count.sh")
    script.write_text("echo counted > count.txt\n")
    run(*AS_PERSON, "submit", str(script), "--wait")
    assert "1 done" in run(*AS_PERSON, "status", "count")
    refused = subprocess.run(
        [*AS_PERSON, "settings", "--name", "mine"], capture_output=True, text=True, check=False
    )
    assert refused.returncode, refused
    say(f"a person has submitted to the service, and may not rename it: {refused.stderr.strip()}")
    run("wingbeat", "settings", "--name", "night")
    say("root may")


def hands_over() -> None:
    submit("long", LONG)
    until(lambda: "running" in service("status", "long").lower(), "a long task runs")
    took("systemctl stop, while a task runs", "systemctl", "stop", UNIT)
    assert run("systemctl", "show", "-p", "Result", UNIT).strip() == "Result=success"
    assert not processes(), processes()
    say("stopped, it leaves no process; the last it said: " + log_of_service().splitlines()[-1])


def purges() -> None:
    life = import_module("life")
    run("systemctl", "start", UNIT)
    until(answers_clients, "the service runs again")
    took("removing, while it runs", "apt-get", "-y", "-q", "remove", "wingbeat")
    assert not processes(), processes()
    run("apt-get", "-y", "-q", "purge", "wingbeat")
    files, answers = life.everything()
    before_files, before_answers = json.loads((TRIAL / "before.json").read_text())
    left = sorted(each for each in files ^ set(before_files) if not PASSING.search(each))
    assert not left, left
    assert answers == before_answers, answers
    say("a purge leaves no file, user or unit")


PASSING = re.compile(
    r"/var/(tmp|log|lib/(systemd|dbus|logrotate))/|/etc/(machine-id|mtab)|/lost\+found|/run|/srv/"
    r"|/\.updated$|/private$"
)
"""What a system makes of itself when it boots."""


def processes() -> list[str]:
    """Those of the service's account."""
    number = getpwnam(ACCOUNT).pw_uid
    return [each.name for each in Path("/proc").glob("[0-9]*") if each.stat().st_uid == number]


def submit(name: str, script: str, *words: str) -> None:
    (WORK / f"{name}.py").write_text(script)
    (WORK / f"{name}.wingbeat.yaml").write_text(WORKFLOW % {"name": name})
    service("submit", f"{name}.wingbeat.yaml", *words)


def service(*words: str) -> str:
    """What the service answers to a command of its administrator."""
    return run(UNIT, *words)


def answers_clients() -> bool:
    words = [UNIT, "settings"]
    return not subprocess.run(words, cwd="/", capture_output=True, check=False).returncode


def log_of_service() -> str:
    log = Path("/var/log/wingbeat/agent.log")
    return log.read_text() if log.exists() else run("journalctl", "-u", UNIT, good=None)


def run(*words: str, good: int | None = 0) -> str:
    folder = WORK if WORK.exists() else Path("/")
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder)
    assert good is None or done.returncode == good, (words, done.stdout, done.stderr)
    return done.stdout


def until(true: object, what: str, limit_s: float = 240.0) -> None:
    """Wait until something is true, and say it."""
    began_s = time.monotonic()
    while not true():  # type: ignore[operator]
        assert time.monotonic() - began_s < limit_s, what
        threading.Event().wait(0.5)
    say(f"{what} ({time.monotonic() - began_s:.1f} s)")


def took(what: str, *words: str) -> None:
    began_s = time.monotonic()
    run(*words)
    say(f"{what}: {time.monotonic() - began_s:.1f} s, emulated")


def say(text: str) -> None:
    print(f"{TELLS} {text}", flush=True)


if __name__ == "__main__":
    main()
