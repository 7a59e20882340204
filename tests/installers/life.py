"""What happens to the package on one machine, done as its people do it; runs inside `tests/places/fresh`.

Needs nothing but Python, as it is there before the package. What it needs from a mirror is fetched
first; everything else happens in a network of its own, with a loopback and nothing else.
"""

from __future__ import annotations

import fcntl
import os
import re
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

TOP = Path("/opt/wingbeat")
PERSON = "ant"
HOUSE = Path("/home", PERSON)
PASSING = ("/proc", "/sys", "/dev", "/tmp", "/run", "/home", "/root", "/var/log", "/var/cache")
"""Where the system itself writes whenever it likes, and where people keep what is theirs."""
CACHES = re.compile(r"/var/lib/(apt/|dpkg/[a-z]+(-old)?$)|/usr/share/mime/|/__pycache__")
LIMIT_S = 180.0
LOOPBACK_UP, INTERFACE = 0x8914, struct.pack("16sh", b"lo", 1)
LONG = """\
from pathlib import Path
import time
Path("begun").touch()
while not Path("%s").exists():
    time.sleep(0.1)
import json, decimal, sqlite3
Path("told.json").write_text(json.dumps(str(decimal.Decimal(1))))
""" % (HOUSE / "go")
NOT_FOUND = r"""
cd /opt/wingbeat/current/lib/python3/site-packages
find PySide6 shiboken6 fast_sugiyama cryptography psutil -name '*.so*' ! -name 'libqgtk3.so' |
    LD_LIBRARY_PATH=PySide6/Qt/lib:PySide6:shiboken6 xargs ldd | grep 'not found' | sort -u
"""
"""Libraries that are on no such machine: what links to them could not be loaded."""


def main() -> None:
    """Do everything, in order; raises ``AssertionError`` where something is not as it should be."""
    if sys.argv[1:] == ["apart"]:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            fcntl.ioctl(any_socket, LOOPBACK_UP, INTERFACE)
        live()
        return
    first = packages()[0]
    run("apt-get", "update", "-q")
    needs = run("dpkg-deb", "-f", str(first), "Depends").strip()
    apt = ("apt-get", "-y", "-q", "--no-install-recommends")
    took("fetching what it needs", lambda: run(*apt, "satisfy", needs))
    run(*apt, "install", "shared-mime-info", "desktop-file-utils", "man-db", "procps")
    run("useradd", "--create-home", "--shell", "/bin/sh", PERSON)
    os.execvp("unshare", ["unshare", "--net", sys.executable, __file__, "apart"])


def live() -> None:
    """From the installation to the purge, with packages that are on the disk."""
    first, second = packages()
    before = everything()
    took("installing", lambda: install(first))
    is_complete(version_of(first))
    pid = works()
    updates(second, pid)
    took("going back", lambda: install(first, "--allow-downgrades"))
    assert person("wingbeat --version") == f"wingbeat {version_of(first)}\n"
    person("wingbeat agent --background")
    took("removing", lambda: run("apt-get", "-y", "-q", "remove", "wingbeat"))
    assert not TOP.exists()
    took("until the agent has ended by itself", lambda: until(lambda: not agents()))
    run("apt-get", "-y", "-q", "purge", "wingbeat")
    changed = sorted(everything() ^ before)
    assert not changed, changed
    assert (HOUSE / ".local/share/wingbeat").is_dir()
    say("a purge leaves nothing behind; what is theirs stays with people")


def is_complete(version: str) -> None:
    """What was installed can be loaded, and is found by desktops, manuals and shells."""
    assert person("wingbeat --version") == f"wingbeat {version}\n"
    took("wingbeat --version", lambda: run("wingbeat", "--version"))
    missing = subprocess.run(["sh", "-c", NOT_FOUND], capture_output=True, text=True, check=False)
    assert not missing.stdout, missing.stdout
    assert "*.wingbeat.yaml" in Path("/usr/share/mime/globs2").read_text()
    entries = Path("/usr/share/applications/mimeinfo.cache").read_text()
    for kind in ("workflow", "invitation"):
        assert f"application/x-wingbeat-{kind}=wingbeat.desktop" in entries
    assert "wingbeat submit" in run("sh", "-c", "man --warnings wingbeat 2>&1 | col -b")
    assert "submit" in person("wingbeat completion line 'wingbeat sub'")
    line = "QT_QPA_PLATFORM=offscreen exec wingbeat-tray --background"
    tray = subprocess.Popen(["su", "-", PERSON, "-c", line], stderr=subprocess.DEVNULL)
    took("from the start of the tray to an agent that answers", lambda: until(answers))
    tray.terminate()
    until(lambda: not agents())
    say("libraries, entries, types, manual, completion and tray are there")


def works() -> str:
    """A person's agent does what the README shows; return its process."""
    person("wingbeat agent --background && wingbeat new words")
    person("wingbeat submit words/words.wingbeat.yaml --wait && wingbeat fetch words/top")
    assert (HOUSE / "top/top.txt").read_text().split()[:2] == ["13", "the"]
    say("an agent of an ordinary user has done a workflow")
    return agents()


def updates(second: Path, pid: str) -> None:
    """A task that runs goes on above its own files, and ends right; then the agent starts anew, as the
    new one, in the same process."""
    (HOUSE / "long.py").write_text(LONG)
    (HOUSE / "long.wingbeat.yaml").write_text(
        "programs: {long: long.py}\ntasks: {one: {program: long}}\n"
    )
    ended: list[str] = []
    waiting = threading.Thread(
        target=lambda: ended.append(person("wingbeat submit long.wingbeat.yaml --wait"))
    )
    waiting.start()
    until(lambda: any((HOUSE / ".cache/wingbeat/scratch").rglob("begun")))
    old, new = (TOP / "current").readlink(), version_of(second)
    took("updating while a task runs", lambda: install(second))
    assert (agents(), str((TOP / "current").readlink())) == (pid, version_of(second))
    assert (TOP / old / "bin/wingbeat").exists()
    (HOUSE / "go").touch()
    waiting.join(LIMIT_S)
    assert "1 done" in "".join(ended), ended
    maps = Path(f"/proc/{pid}/maps")
    took(
        "until the agent is the new one", lambda: until(lambda: f"{TOP}/{new}/" in maps.read_text())
    )
    until(answers)
    assert agents() == pid
    person("wingbeat fetch long/one")
    assert (HOUSE / "one/told.json").read_text() == '"1"'
    person("wingbeat stop")
    say("a task outlived an update and ended right; then the agent was the new version")


def packages() -> list[Path]:
    """The older and the newer package."""
    return sorted(Path("dist").resolve().glob("*.deb"), key=lambda each: len(version_of(each)))


def version_of(package: Path) -> str:
    return package.name.split("_")[1]


def install(package: Path, *options: str) -> None:
    run("apt-get", "-y", "-q", "--no-install-recommends", *options, "install", str(package))


def everything() -> set[str]:
    """The name of each file of the system, with its kind and where it leads, if it is a link."""
    found: set[str] = set()
    for top, folders, files in os.walk("/"):
        folders[:] = [each for each in folders if os.path.join(top, each) not in PASSING]  # noqa: PTH118
        for name in (*folders, *files):
            file = Path(top, name)
            if not CACHES.search(str(file)):
                found.add(f"{file} -> {file.readlink()}" if file.is_symlink() else str(file))
    return found


def agents() -> str:
    """The processes of agents and trays of the person, one a line."""
    words = ["pgrep", "--euid", PERSON, "--full", "/opt/wingbeat/.* (-m agent|.*wingbeat-tray)"]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()


def answers() -> bool:
    """Whether an agent of the person runs and can be asked."""
    words = ["su", "-", PERSON, "-c", "wingbeat settings >/dev/null 2>&1"]
    return not subprocess.run(words, check=False).returncode


def person(line: str) -> str:
    """What a shell of the person prints for this line."""
    return run("su", "-", PERSON, "-c", line)


def run(*words: str) -> str:
    """What a command prints; shows it and fails where it fails."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env=environment, timeout=600
    )
    assert done.returncode == 0, f"{' '.join(words)}: {done.stdout}{done.stderr}"
    return done.stdout


def until(true: Callable[[], object]) -> None:
    """Wait until something is true; fails where it does not become so."""
    deadline_s = time.monotonic() + LIMIT_S
    while not true():
        assert time.monotonic() < deadline_s
        threading.Event().wait(0.2)


def took(what: str, act: Callable[[], object]) -> None:
    started_s = time.monotonic()
    act()
    say(f"{what}: {time.monotonic() - started_s:.2f} s")


def say(text: str) -> None:
    print(f"  {text}", flush=True)


if __name__ == "__main__":
    main()
