"""What happens to setup and MSI on one machine under Wine; runs inside `tests/places/fresh wine`.

Needs nothing but Python, Wine and a virtual screen, in a network of its own. What Wine cannot show, other
sessions and elevated accounts among it, stands in RELEASING as a list for a real machine. With ``times``
it only installs, updates and removes, for how long that takes:

    DIST=FOLDER sh tests/places/fresh wine python3 -m tests.installers.windows_life times

where the folder has one for each of two versions, with setup and MSI in it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from tests.installers.life import loopback_up, run, say, took, until

PREFIX = Path("/root/windows")
DRIVE = PREFIX / "drive_c"
FOLDER = DRIVE / "Program Files/Wingbeat"
ELSEWHERE = DRIVE / "elsewhere"
OTHER = {"WINGBEAT_HOME": r"C:\work\other"}
LAID_DOWN = DRIVE / "ProgramData/Wingbeat"
SERVICE_FOLDER = LAID_DOWN / "service"
HOME = DRIVE / "users/root/AppData/Local/wingbeat"
WORK = DRIVE / "work"
UNINSTALL = r"HKLM\Software\Microsoft\Windows\CurrentVersion\Uninstall"
RUN = r"HKLM\Software\Microsoft\Windows\CurrentVersion\Run"
SETTINGS = {
    "HOME": "/root",
    "WINEPREFIX": str(PREFIX),
    "WINEARCH": "win64",
    "WINEDEBUG": "-all",
    "WINEDLLOVERRIDES": "mscoree=;mshtml=",
    "XDG_RUNTIME_DIR": "/tmp/runtime",
    "DISPLAY": ":9",
}
LONG = """\
from pathlib import Path
import time
Path("begun").touch()
while not Path(r"C:\\work\\go").exists():
    time.sleep(0.1)
Path("told.txt").write_text("right")
"""
COMPLAINT = re.compile(
    "Traceback|Exception ignored|was destroyed|never (retrieved|awaited)|ResourceWarning"
)
"""What Python and asyncio print of work that was left lying."""
PASSING = re.compile(r"drive_c/(users|windows|ProgramData/Microsoft/Windows/Start Menu$)")
"""What Wine and its people write whenever they like; what a package leaves there is looked at apart."""


def main() -> None:
    """Do everything, in order; raises ``AssertionError`` where something is not as it should be."""
    if sys.argv[1:2] != ["apart"]:
        words = ["-m", "tests.installers.windows_life", "apart", *sys.argv[1:]]
        os.execvp("unshare", ["unshare", "--net", sys.executable, *words])
    loopback_up()
    os.environ.update(SETTINGS)
    Path(SETTINGS["XDG_RUNTIME_DIR"]).mkdir(mode=0o700)
    first, second = sorted(Path("dist").resolve().iterdir())
    kept = [subprocess.Popen(["Xvfb", ":9", "-screen", "0", "1200x800x24", "-nolisten", "tcp"])]
    took("making a Windows", lambda: (run("wineboot", "--init"), run("wineserver", "--wait")))
    kept.append(subprocess.Popen(["wine", "explorer", "/desktop=shell,1100x700"]))
    until(lambda: "explorer.exe" in processes())
    try:
        (times if sys.argv[2:] == ["times"] else live)(first, second)
    finally:
        for each in reversed(kept):
            each.kill()
            each.wait()


def live(first: Path, second: Path) -> None:
    """From the installation to the purge."""
    before = everything()
    WORK.mkdir()
    (WORK / "office.txt").write_text("no invitation")
    refuses(first / "wingbeat-setup.exe")
    told = ("/HELP=never", "/FIREWALL=1", r"/INVITATIONFILE=C:\work\office.txt")
    took("installing by setup", lambda: wine(first / "wingbeat-setup.exe", "/S", *told))
    is_complete(first.name)
    works()
    updates(second)
    took("an MSI over the setup", lambda: msi("/i", second))
    stays_once(second.name)
    took("a setup over the MSI", lambda: setup(second))
    stays_once(second.name)
    leaves()
    is_gone()
    assert LAID_DOWN.is_dir(), "what an administrator laid down stays"
    took("installing by MSI", lambda: msi("/i", first, "AUTOSTART=0", "SERVICE=1"))
    assert "Wingbeat" not in registry(RUN)
    serves(first.name)
    # Wine does not tell an older MSI that it is upgraded (UPGRADINGPRODUCTCODE), so that takes its service along.
    took("a newer MSI over it", lambda: msi("/i", second, "SERVICE=1"))
    assert "Wingbeat" not in registry(RUN), "what was said once holds"
    serves(second.name)
    took("removing and purging the MSI", lambda: msi("/x", second, "PURGE=1"))
    is_gone()
    shutil.rmtree(WORK)
    changed = sorted(everything() ^ before)
    assert not changed, changed
    assert HOME.is_dir()
    say("a purge leaves nothing behind; what is theirs stays with people")


def times(first: Path, second: Path) -> None:
    """What has limits in seconds, and nothing else."""
    WORK.mkdir()
    for kind, install in (("setup", setup), ("MSI", partial(msi, "/i"))):
        took(f"installing by {kind}", partial(install, first))
        took(f"updating by {kind}", partial(install, second))
        assert command("wingbeat.exe", "--version") == f"wingbeat {second.name}"
        removing = quiet_uninstall if kind == "setup" else partial(msi, "/x", second)
        took(f"removing the {kind}", removing)
        is_gone()


def refuses(program: Path) -> None:
    """What makes no sense is refused before anything is changed, and nothing waits for a click."""
    for word in ("/SERVICE", "/SERVICE=yes", "/HELP=maybe", r"/INVITATIONFILE=C:\nowhere.txt"):
        done = subprocess.run(["wine", str(program), "/S", word], check=False, timeout=60)
        assert done.returncode == 3, word
    assert not FOLDER.exists()


def is_complete(version: str) -> None:
    """What was installed runs under its own name, and is found by menu, shells and file types."""
    assert command("wingbeat.exe", "--version") == f"wingbeat {version}"
    took("wingbeat --version", lambda: command("wingbeat.exe", "--version"))
    assert 'volunteer = "not now"' in (LAID_DOWN / "settings.toml").read_text()
    assert (LAID_DOWN / "invitation").read_text() == "no invitation"
    assert list(DRIVE.glob("ProgramData/**/Programs/Wingbeat.lnk"))
    assert "--at-login" in registry(RUN)
    assert "wingbeat-tray.exe" in registry(r"HKLM\Software\Classes\Wingbeat.Workflow")
    assert "Wingbeat.Invitation" in registry(r"HKLM\Software\Classes\.wingbeat-invitation")
    path = r"HKLM\SYSTEM\CurrentControlSet\Control\Session Manager\Environment"
    assert registry(path).count(r"Program Files\Wingbeat") == 1
    took("until the tray's agent answers", tray_up)
    assert "wingbeat-tray.exe" in processes()
    say("programs, entries, file types, what was laid down and the tray are there")


def tray_up() -> None:
    subprocess.Popen(["wine", str(FOLDER / "wingbeat-tray.exe")])
    until(answers)


def works() -> None:
    """The window is drawn, five agents show a workflow, and a person's own one does what the README
    shows."""
    until(lambda: colours() > 100)
    say("the window is drawn")
    words = ["wine", str(FOLDER / "wingbeat.exe"), "demo", "--keep", "kept"]
    done = subprocess.run(words, cwd=WORK, capture_output=True, text=True, check=False, timeout=600)
    assert "everything is right" in done.stdout, done
    printed = [each.read_text() for each in WORK.glob("kept/logs/*/output")]
    assert len(printed) == 5, "of each agent what it printed is kept"
    complaints = [each for each in (done.stderr, *printed) if COMPLAINT.search(each)]
    assert not complaints, complaints
    say("the demo ran right with five agents, and nothing complains at its end")
    command("wingbeat.exe", "new", "words")
    command("wingbeat.exe", "submit", r"words\words.wingbeat.yaml", "--wait")
    command("wingbeat.exe", "fetch", "words/top")
    assert (WORK / "top/top.txt").read_text().split()[:2] == ["13", "the"]
    say("an agent of a person has done a workflow")


def updates(second: Path) -> None:
    """What ran is handed back, no process goes on above new files, and the tray comes back and goes
    on with the work."""
    (WORK / "long.py").write_text(LONG)
    (WORK / "long.wingbeat").write_text(
        "programs: {long: long.py}\ntasks: {one: {program: long}}\n"
    )
    command("wingbeat.exe", "submit", "long.wingbeat")
    until(lambda: list((HOME / "Cache/scratch").rglob("begun")))
    took("updating while a task runs", lambda: setup(second))
    stays_once(second.name)
    until(answers)
    (WORK / "go").touch()
    command("wingbeat.exe", "submit", "long.wingbeat", "--wait")
    command("wingbeat.exe", "fetch", "long/one")
    assert (WORK / "one/told.txt").read_text() == "right"
    say("a task outlived an update and ended right")


def leaves() -> None:
    """Removed, it has left its flock before, whose other machine is a copy of the folder."""
    shutil.copytree(FOLDER, ELSEWHERE)
    WORK.joinpath("other").mkdir()
    for home in (HOME, WORK / "other/config"):
        home.mkdir(exist_ok=True)
        settings = home / "settings.toml"
        told = settings.read_text() if settings.exists() else ""
        settings.write_text(f'listen = ["127.0.0.1"]\nport = 0\n{told}')
    wine(FOLDER / "wingbeat-tray.exe", "--quit")
    tray_up()
    environment = {**os.environ, **OTHER}
    words = ["wine", str(ELSEWHERE / "wingbeat.exe"), "agent"]
    said = WORK / "other.txt"
    with said.open("w") as printed:
        agent = subprocess.Popen(words, env=environment, stdout=printed, stderr=printed)
    until((WORK / "other/data/control.json").exists)
    other("flock", "create", "office")
    invited = json.loads(other("flock", "invite", "--json"))
    command("wingbeat.exe", "flock", "join", invited["text"])
    took("removing the setup of a machine of a flock", quiet_uninstall)
    members = json.loads(other("flock", "members", "--json"))
    assert (len(members["members"]), len(members["departures"])) == (1, 1), members
    other("fetch", "words/top", "--into", "handed")
    assert list(WORK.glob("handed/**/top.txt")), "its results were handed over"
    other("stop")
    agent.wait(60)
    assert not COMPLAINT.search(said.read_text()), said.read_text()
    shutil.rmtree(ELSEWHERE)
    say("a machine that is removed has left its flock")


def serves(version: str) -> None:
    """The agent of the machine runs as a service; commands and tray of a person reach it, and there is no
    other. Wine keeps services and people in one session, so it sees their input itself."""
    until(lambda: "RUNNING" in service())
    until(answers)
    own = SERVICE_FOLDER / "data/control.json"
    told = json.loads(own.read_text())
    name = f"by{version.replace('.', '-')}"
    command("wingbeat.exe", "new", name)
    command("wingbeat.exe", "submit", rf"{name}\{name}.wingbeat.yaml")
    until(lambda: name in command("wingbeat.exe", "permissions"))
    command("wingbeat.exe", "permissions", "allow-once", name)  # as an administrator
    until(lambda: "3/3" in command("wingbeat.exe", "status"))
    command("wingbeat.exe", "fetch", f"{name}/top", "--into", name)
    tray = subprocess.Popen(["wine", str(FOLDER / "wingbeat-tray.exe"), "--background"])
    until(lambda: (HOME / "window.lock").exists() and "wingbeat-tray.exe" in processes())
    assert not (HOME / "control.json").exists(), "no agent of a person is begun beside it"
    refused = subprocess.run(
        ["wine", str(FOLDER / "wingbeat.exe"), "agent"], capture_output=True, text=True, check=False
    )
    assert "runs as a service" in refused.stderr, refused
    wine(FOLDER / "wingbeat-tray.exe", "--quit")
    tray.wait(60)
    assert json.loads(own.read_text()) == told, "the service goes on without a tray"
    say("the service has done a workflow of a person, and their tray reaches it")


def service() -> str:
    done = subprocess.run(["wine", "sc", "query", "Wingbeat"], capture_output=True, check=False)
    return done.stdout.decode(errors="replace")


def other(*words: str) -> str:
    """What a command says to the agent of another machine, which is none of the package."""
    return command(str(ELSEWHERE / "wingbeat.exe"), *words, **OTHER)


def stays_once(version: str) -> None:
    """One entry among the installed programs, the files of this version, and the tray is back."""
    assert registry(UNINSTALL).count("DisplayName    REG_SZ    Wingbeat") == 1
    assert command("wingbeat.exe", "--version") == f"wingbeat {version}"
    assert not FOLDER.with_name("Wingbeat.old").exists()
    until(lambda: "wingbeat-tray.exe" in processes())


def is_gone() -> None:
    """Nothing runs, and nothing is left but what an administrator laid down."""
    until(lambda: not FOLDER.exists())
    assert "wingbeat" not in processes()
    whole = registry("HKLM\\Software") + registry("HKLM\\SYSTEM\\CurrentControlSet\\Control")
    assert "wingbeat" not in whole.lower()
    assert "Wingbeat" not in service()


def quiet_uninstall() -> None:
    """As tools of administrators do it: by the words that stand in the registry."""
    (line,) = re.findall(r"QuietUninstallString +REG_SZ +(.*)", registry(UNINSTALL))
    script = WORK / "remove.bat"
    script.write_text(f"{line.strip()}\r\n")
    wine("cmd", "/d", "/c", r"C:\work\remove.bat")


def setup(of: Path) -> None:
    wine(of / "wingbeat-setup.exe", "/S")


def msi(act: str, of: Path, *words: str) -> None:
    package = f"Z:{of / 'wingbeat-x64.msi'}".replace("/", "\\")
    wine("msiexec", act, package, "/qn", *words)


def wine(program: Path | str, *words: str) -> None:
    """Run a program that others may outlive: they would hold a pipe open, which is read to its end."""
    with tempfile.TemporaryFile("w+") as said:
        done = subprocess.run(
            ["wine", str(program), *words], stdout=said, stderr=said, check=False, timeout=600
        )
        said.seek(0)
        assert done.returncode == 0, f"{program} {words}: {done.returncode} {said.read()}"


def command(name: str, *words: str, **environment: str) -> str:
    """What one of our programs prints, run in the folder of a person's work."""
    done = subprocess.run(
        ["wine", str(FOLDER / name), *words],
        cwd=WORK,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert done.returncode == 0, f"{name} {words}: {done.stdout}{done.stderr}"
    return done.stdout.strip()


def answers() -> bool:
    words = ["wine", str(FOLDER / "wingbeat.exe"), "settings"]
    return not subprocess.run(words, check=False, capture_output=True).returncode


def processes() -> str:
    """Read from a file: what is begun beside the first question holds its pipe open."""
    with tempfile.TemporaryFile("w+") as said:
        subprocess.run(["wine", "tasklist"], stdout=said, stderr=said, check=False, timeout=60)
        said.seek(0)
        return said.read()


def registry(key: str) -> str:
    words = ["wine", "reg", "query", key, "/s"]
    return subprocess.run(
        words, capture_output=True, text=True, errors="replace", check=False
    ).stdout


def colours() -> int:
    """How many colours the screen shows: a bare one has few."""
    drawn = subprocess.Popen(["import", "-window", "root", "png:-"], stdout=subprocess.PIPE)
    told = subprocess.run(
        ["identify", "-format", "%k", "png:-"], stdin=drawn.stdout, capture_output=True, check=False
    )
    drawn.wait()
    return int(told.stdout or 0)


def everything() -> set[str]:
    """The files and folders of the drive, but for those of Wine and of people."""
    found = {each.relative_to(PREFIX).as_posix() for each in DRIVE.rglob("*")}
    return {each for each in found if not PASSING.match(each)}


if __name__ == "__main__":
    started_s = time.monotonic()
    main()
    say(f"all of it: {time.monotonic() - started_s:.0f} s")
