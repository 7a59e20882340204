"""What happens to the packages on one machine, done as its people do it; runs inside `tests/places/fresh`.

Needs nothing but Python, as it is there before the package. What it needs from a mirror is fetched
first; everything else happens in a network of its own, with a loopback and nothing else.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import resource
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

TOP = Path("/opt/wingbeat")
REPOSITORY, KEY = Path("/srv/wingbeat"), Path("/etc/apt/keyrings/wingbeat.asc")
SOURCE = Path("/etc/apt/sources.list.d/wingbeat.list")
THIS_SOURCE = (f"Dir::Etc::sourcelist={SOURCE}", "Dir::Etc::sourceparts=-")
PERSON, COLLEAGUE = "ant", "bee"
HOUSE = Path("/home", PERSON)
LAID_DOWN = Path("/etc/wingbeat")
PASSING = ("/proc", "/sys", "/dev", "/tmp", "/run", "/home", "/root", "/srv")
"""Where the system itself writes whenever it likes, and where people keep what is theirs."""
CACHES = re.compile(
    r"/var/lib/(apt/|dpkg/[a-z]+(-old)?$)|/var/log/(apt|dpkg|alternatives)|/usr/share/mime/|/__pycache__"
    r"|/var/cache/(apt|man|debconf|ldconfig|fontconfig)|^[a-z]+:x:.*:/home/"
)
LIMIT_S = 180.0
NO_PAGE = "url-homepage-missing"
"""It has no page on the web that could be named."""
APT = ("apt-get", "-y", "-q", "--no-install-recommends")
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
cd /opt/wingbeat/libraries/*
find PySide6 shiboken6 fast_sugiyama cryptography psutil -name '*.so*' ! -name 'libqgtk3.so' |
    LD_LIBRARY_PATH=PySide6/Qt/lib:PySide6:shiboken6 xargs ldd | grep 'not found' | sort -u
"""
"""Libraries that are on no such machine: what links to them could not be loaded."""


def main() -> None:
    """Do everything, in order; raises ``AssertionError`` where something is not as it should be."""
    if sys.argv[1:] == ["apart"]:
        loopback_up()
        live()
        return
    first = next((repositories()[0]).glob("wingbeat_*.deb"))
    run("apt-get", "update", "-q")
    needs = run("dpkg-deb", "-f", str(first), "Depends").strip()
    took("fetching what it needs", lambda: run(*APT, "satisfy", needs))
    run(
        *APT,
        "install",
        "shared-mime-info",
        "desktop-file-utils",
        "appstream",
        "man-db",
        "procps",
        "debconf-utils",
    )
    for name in (PERSON, COLLEAGUE):
        run("useradd", "--create-home", "--shell", "/bin/sh", name)
    os.execvp("unshare", ["unshare", "--net", sys.executable, __file__, "apart"])


def loopback_up() -> None:
    """Switch on the loopback of this network, which has nothing else."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, LOOPBACK_UP, INTERFACE)


def live() -> None:
    """From the installation to the purge, with packages that are on the disk."""
    first, second = repositories()
    offer(first)
    before = everything()
    took("installing", lambda: run(*APT, "install", "wingbeat"))
    is_complete(version_of(first))
    inspects()
    pid = works()
    updates(second, pid)
    took("going back", lambda: goes_back(first))
    assert person("wingbeat --version") == f"wingbeat {version_of(first)}\n"
    person("wingbeat agent --background")
    took("removing", lambda: run(*APT, "remove", "wingbeat"))
    assert not TOP.exists()
    assert not agents(), "a removal has ended what ran"
    purges(before)
    joins_by_itself()
    leaves()
    purges(before)


def purges(before: tuple[set[str], str]) -> None:
    """A purge leaves of the system what there was before, and to people what is theirs."""
    run(*APT, "purge", "wingbeat", "wingbeat-inspection")
    until(lambda: not agents())
    (files, answers), (files_before, answers_before) = everything(), before
    assert files == files_before, sorted(files ^ files_before)
    assert answers == answers_before, answers
    assert (HOUSE / ".local/share/wingbeat").is_dir()
    say("a purge leaves nothing behind; what is theirs stays with people")


def offer(repository: Path) -> None:
    """Make this the repository that the machine installs from; a first time, as INSTALLING says."""
    shutil.rmtree(REPOSITORY, ignore_errors=True)
    for known in Path("/var/lib/apt/lists").glob(f"*{str(REPOSITORY).replace('/', '_')}*"):
        known.unlink()
    shutil.copytree(repository, REPOSITORY)
    KEY.parent.mkdir(exist_ok=True)
    shutil.copy(REPOSITORY / KEY.name, KEY)
    SOURCE.write_text(f"deb [signed-by={KEY}] file:{REPOSITORY} ./\n")
    listing = ("apt-get", "-q", *(f"-o{each}" for each in THIS_SOURCE), "update")
    packages = REPOSITORY / "Packages"
    told = packages.read_text()
    packages.write_text(told.replace("Priority: optional", "Priority: required"))
    failed = subprocess.run(listing, capture_output=True, text=True, check=False)
    assert failed.returncode, "what was changed after it was signed is taken"
    packages.write_text(told)
    run(*listing)


def inspects() -> None:
    """Without the second package the demo names it, with it the demo inspects a line, and agents
    have its programs."""
    told = person("wingbeat demo")
    assert "the package wingbeat-inspection" in told, told
    assert "right: there are" in told, told
    run(*APT, "install", "wingbeat-inspection")
    told = person("wingbeat demo")
    assert "right: all plants too near to a wire were found" in told, told
    person("wingbeat agent --background")
    assert "georeferencing" in person("wingbeat programs")
    person("wingbeat stop")
    say("the demo counts primes, and with the second package inspects a line")


def joins_by_itself() -> None:
    """What is answered beforehand is asked nobody: a colleague's agent joins by the invitation, and
    helps when the administrator has said so."""
    offer(repositories()[0])
    run(*APT, "install", "wingbeat")
    for house in (HOUSE, Path("/home", COLLEAGUE)):
        (house / ".config/wingbeat").mkdir(parents=True, exist_ok=True)
        (house / ".config/wingbeat/settings.toml").write_text('listen = ["127.0.0.1"]\nport = 0\n')
    founded = person("wingbeat agent --background && wingbeat flock create office")
    (phrase,) = re.findall("recovery phrase is: (.+)", founded)
    (HOUSE / "phrase.txt").write_text(phrase)
    person("wingbeat flock invite --file office.wingbeat-invitation")
    laid = (HOUSE / "office.wingbeat-invitation").read_text()
    invitation = re.findall(r"wingbeat-[a-z2-7]{20,}", laid)[0]
    preset = (
        f"wingbeat wingbeat/invitation password {invitation}\nwingbeat wingbeat/help select idle\n"
    )
    subprocess.run(["debconf-set-selections"], input=preset, text=True, check=True)
    run("sh", "-c", "umask 077; dpkg-reconfigure --frontend=noninteractive wingbeat")
    assert invitation in (LAID_DOWN / "invitation").read_text()
    assert invitation not in Path("/var/cache/debconf/passwords.dat").read_text()
    assert 'volunteer = "when idle"' in (LAID_DOWN / "settings.toml").read_text()
    run("su", "-", COLLEAGUE, "-c", "wingbeat agent --background")
    took("until a colleague's agent has joined", lambda: until(lambda: "linked" in peers()))
    assert "when idle" in run("su", "-", COLLEAGUE, "-c", "wingbeat volunteering")
    run("su", "-", COLLEAGUE, "-c", "wingbeat stop")
    person("wingbeat stop")
    (LAID_DOWN / "settings.toml").unlink()
    run("dpkg-reconfigure", "--frontend=noninteractive", "wingbeat")
    assert not (LAID_DOWN / "settings.toml").exists(), "an answer is laid down once"


def leaves() -> None:
    """What was made here is on another machine after a removal, which does not miss this one. That
    machine is a colleague with an installation elsewhere, and a keeper too: the only one would stay."""
    elsewhere = Path("/srv/elsewhere")
    shutil.copytree(TOP, elsewhere, symlinks=True)
    version = (TOP / "current").readlink()
    for each in elsewhere.rglob("libraries.pth"):
        each.write_text(each.read_text().replace(str(TOP), str(elsewhere)))
    other = f"cd /; {elsewhere / version}/bin/python3 -I -m agent"

    def colleague(line: str) -> str:
        return run("su", "-", COLLEAGUE, "-c", f"{other} {line}")

    def there() -> dict[str, list[dict[str, object]]]:
        found: dict[str, list[dict[str, object]]] = json.loads(colleague("flock members --json"))
        return found

    person("wingbeat agent --background && wingbeat volunteering --mode always")
    person("wingbeat submit words/words.wingbeat.yaml --again --wait")
    colleague("agent --background")
    until(lambda: "linked" in peers())
    (own,) = [each["node"] for each in there()["members"] if each["own"]]
    person(f"wingbeat flock appoint {own} --keeper --phrase <phrase.txt")
    said = took("removing a machine of a flock", lambda: run(*APT, "remove", "wingbeat"))
    assert f"{PERSON}: has left the flock office" in said, said
    assert not agents()
    members = there()
    assert (len(members["members"]), len(members["departures"])) == (1, 1), members
    colleague("fetch words/top --into /home/bee/fetched")
    assert list(Path("/home", COLLEAGUE, "fetched").rglob("top.txt"))
    colleague("stop")
    shutil.rmtree(elsewhere)
    say("what was made is on another machine after a removal, which does not miss this one")


def peers() -> str:
    """What the person's agent says of others, one line for each."""
    return "".join(each for each in person("wingbeat peers").splitlines() if "0 of" not in each)


def is_complete(version: str) -> None:
    """What was installed can be loaded, and is found by desktops, manuals and shells."""
    assert person("wingbeat --version") == f"wingbeat {version}\n"
    took("wingbeat --version", lambda: run("wingbeat", "--version"))
    missing = subprocess.run(["sh", "-c", NOT_FOUND], capture_output=True, text=True, check=False)
    assert not missing.stdout, missing.stdout
    assert "*.wingbeat.yaml" in Path("/usr/share/mime/globs2").read_text()
    autostart, entry = (
        "/etc/xdg/autostart/wingbeat.desktop",
        "/usr/share/applications/wingbeat.desktop",
    )
    run("desktop-file-validate", autostart, entry)
    metainfo = "/usr/share/metainfo/wingbeat.metainfo.xml"
    assert f'<release version="{version}"' in Path(metainfo).read_text()
    words = ["appstreamcli", "validate", "--no-net", metainfo]
    told = subprocess.run(words, capture_output=True, text=True, check=False).stdout.splitlines()
    wrong = [each for each in told if each.startswith(("E:", "W:")) and NO_PAGE not in each]
    assert told, "appstreamcli says something"
    assert not wrong, wrong
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
    offer(second)
    took("updating while a task runs", lambda: run(*APT, "upgrade"))
    assert (agents(), str((TOP / "current").readlink())) == (pid, version_of(second))
    assert (TOP / old / "bin/wingbeat").exists()
    (HOUSE / "go").touch()
    waiting.join(LIMIT_S)
    assert "1 done" in "".join(ended), ended
    line = Path(f"/proc/{pid}/cmdline")
    took(
        "until the agent is the new one", lambda: until(lambda: f"{TOP}/{new}/" in line.read_text())
    )
    until(answers)
    assert agents() == pid
    person("wingbeat fetch long/one")
    assert (HOUSE / "one/told.json").read_text() == '"1"'
    person("wingbeat stop")
    say("a task outlived an update and ended right; then the agent was the new version")


def repositories() -> list[Path]:
    """That of the older version and that of the newer one."""
    return sorted(Path("dist").resolve().iterdir(), key=lambda each: len(version_of(each)))


def version_of(repository: Path) -> str:
    return repository.name


def goes_back(repository: Path) -> None:
    """To an older version; what must not lie above it has to be named too."""
    offer(repository)
    wanted = (f"{each}={version_of(repository)}" for each in ("wingbeat", "wingbeat-inspection"))
    run(*APT, "install", "--allow-downgrades", *wanted)


def everything() -> tuple[set[str], str]:
    """What there is of the system: the name of each file, where it leads if it is a link, and the
    users; and the answers that it keeps."""
    files = everywhere()
    for people in ("passwd", "group"):
        files |= set(Path("/etc", people).read_text().splitlines())
    return files, run("sh", "-c", "debconf-get-selections | grep wingbeat || true")


def everywhere() -> set[str]:
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


def until(true: Callable[[], object], limit_s: float = LIMIT_S) -> None:
    """Wait until something is true; fails where it does not become so."""
    deadline_s = time.monotonic() + limit_s
    while not true():
        assert time.monotonic() < deadline_s
        threading.Event().wait(0.2)


def took(what: str, act: Callable[[], str | object]) -> str:
    """Do something and tell how long that took, and how much of the processor, which others may have
    taken meanwhile; what it returned, as a text."""
    started_s, before_s = time.monotonic(), computed_s()
    done = act()
    took_s, of_it_s = time.monotonic() - started_s, computed_s() - before_s
    say(f"{what}: {took_s:.2f} s ({of_it_s:.1f} s of the processor, load {os.getloadavg()[0]:.0f})")
    return str(done)


def computed_s() -> float:
    """What commands that were waited for have taken of the processor."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def say(text: str) -> None:
    print(f"  {text}", flush=True)


if __name__ == "__main__":
    main()
