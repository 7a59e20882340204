"""What an administrator says at the installation, laid down for everybody; run by setup and MSI alike.

The folder in `%ProgramData%` is made such that administrators alone may write to it: there everybody
may make files otherwise, and the agent would rightly take no notice of them. A file that is there already
keeps what it says about everything else. The way to the commands and the rules of the firewall are here
too, because neither NSIS nor an MSI made on Linux can write them without harm: a PATH longer than its
strings would be cut off. The service (`service.c`) is entered here for the same reason: both do it alike.

    python.exe administer.py lay-down [--invitation FILE] [--help-others idle|never] [--firewall 1] [--service 0|1]
    python.exe administer.py take-away [--purge 1]
"""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import tomlkit

from agent.host.deleting import delete_tree
from agent.host.private_windows import WindowsGuard, service_identifier
from agent.paths import INVITATION_FILE, SETTINGS_FILE

HELP = {"idle": "when idle", "never": "not now"}
SYSTEM, ADMINISTRATORS, EVERYBODY = "*S-1-5-18", "*S-1-5-32-544", "*S-1-5-32-545"
PROGRAMS = ("wingbeat.exe", "wingbeat-tray.exe")
RULE = SERVICE = "Wingbeat"
SERVICE_PROGRAM, SERVICE_ACCOUNT = "wingbeat-service.exe", rf"NT SERVICE\{SERVICE}"
"""Windows makes the account for it: no password, no right but to what is granted to it."""
DESCRIPTION = "Helps the flock of this network also while nobody is logged in."
SESSIONS = r"HKLM\Software\Wingbeat\Sessions"
"""Where `sessions.exe` keeps who is to get a tray back."""
ENVIRONMENT = r"SYSTEM\CurrentControlSet\Control\Session Manager\Environment"
SETTING_CHANGED, EVERY_WINDOW, ABORT_IF_HUNG, WAIT_MS = 0x1A, 0xFFFF, 2, 1_000
Run = Callable[[Sequence[str]], int | None]
"""A command of the system, which returns its exit code."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments say for the folder that this file lies in; return 0, or 1 after a
    sentence where the system refuses."""
    options = _options(arguments)
    own, run = Path(__file__).parent, _run
    try:
        if options.act == "lay-down":
            lay_down(options, machine_folder(), run)
            if options.firewall == "1":
                let_in(own, run)
            if options.service == "1":
                serve(own, machine_folder(), run)
            elif options.service == "0":
                serve_no_more(run)
        else:
            run(rule("delete"))
            serve_no_more(run)
            run(["reg", "delete", SESSIONS, "/f", "/reg:64"])
            for each in own.rglob("__pycache__"):
                shutil.rmtree(each, ignore_errors=True)
            if options.purge == "1":
                purge(machine_folder(), run)
        find_commands(own, there=options.act == "lay-down")
    except OSError as error:
        sys.stderr.write(f"{error.filename}: {error.strerror}.\n")
        return 1
    except ValueError as error:
        sys.stderr.write(f"{machine_folder() / SETTINGS_FILE} is not TOML: {error}.\n")
        return 1
    return 0


def machine_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of what holds for all users of this machine."""
    return Path(environment.get("PROGRAMDATA", r"C:\ProgramData"), "Wingbeat")


def lay_down(options: argparse.Namespace, folder: Path, run: Run) -> None:
    """Make the folder, which only administrators may change, with the invitation and the yes or no
    to helping others that were given; without any do nothing. Raises ``OSError``, ``ValueError`` for
    settings that are there and cannot be read."""
    if not options.invitation and not options.help_others:
        return
    make_folder_for_all(folder, run)
    invitation, settings = folder / INVITATION_FILE, folder / SETTINGS_FILE
    if options.invitation:
        given = Path(options.invitation).read_bytes()  # as shells write it, PowerShell in UTF-16
        invitation.write_bytes(given)
    if options.help_others:
        told = tomlkit.parse(settings.read_text("utf-8-sig") if is_ours(settings) else "")
        told["volunteer"] = HELP[options.help_others]
        settings.write_text(tomlkit.dumps(told), "utf-8", newline="\n")
    for each, written in ((invitation, options.invitation), (settings, options.help_others)):
        if written:
            run(["icacls", str(each), "/setowner", ADMINISTRATORS, "/q"])


def is_ours(path: Path) -> bool:
    """Tell whether there is such a file or folder, and nobody but administrators can have made it."""
    return path.exists() and (os.name != "nt" or not WindowsGuard().alterable(path))


def make_folder_for_all(folder: Path, run: Run) -> None:
    """Make the folder of the machine, in which everybody may read. Windows lets everybody make one of that
    name: then it is set aside, with whatever they have laid down there. Raises ``OSError``."""
    if folder.exists() and not is_ours(folder):
        folder.rename(folder.with_name(f"{folder.name}.{secrets.token_hex(4)}"))
    make_folder(folder, f"{EVERYBODY}:(OI)(CI)RX", run)


def make_folder(folder: Path, right: str, run: Run) -> None:
    """Make a folder that belongs to administrators and the system, with this right for somebody else.
    Raises ``OSError``."""
    folder.mkdir(parents=True, exist_ok=True)
    rights = [f"{ADMINISTRATORS}:(OI)(CI)F", f"{SYSTEM}:(OI)(CI)F", right]
    run(["icacls", str(folder), "/setowner", ADMINISTRATORS, "/q"])
    run(["icacls", str(folder), "/reset", "/q"])
    run(["icacls", str(folder), "/inheritance:r", "/grant:r", *rights, "/q"])


def serve(own: Path, folder: Path, run: Run) -> None:
    """Enter the service, or what is new of it, give its account a folder of its own, and start it.
    Raises ``OSError`` where Windows refuses."""
    make_folder_for_all(folder, run)
    act = "create" if run(["sc", "query", SERVICE]) else "config"
    program = f'"{own / SERVICE_PROGRAM}"'
    words = ["binPath=", program, "obj=", SERVICE_ACCOUNT, "start=", "auto"]
    if code := run(["sc", act, SERVICE, *words, "DisplayName=", SERVICE]):
        raise OSError(code, f"Windows enters no service (sc {act} says {code})", SERVICE)
    run(["sc", "description", SERVICE, DESCRIPTION])
    again = "restart/5000/restart/60000/restart/600000"
    run(["sc", "failure", SERVICE, "reset=", "86400", "actions=", again])
    run(["sc", "failureflag", SERVICE, "1"])
    make_folder(folder / "service", f"*{service_identifier(SERVICE)}:(OI)(CI)F", run)
    run(["sc", "start", SERVICE])


def serve_no_more(run: Run) -> None:
    """Have the service stop and be none; what it keeps stays."""
    if not run(["sc", "query", SERVICE]):
        run(["net", "stop", SERVICE])  # waits, unlike sc
        run(["sc", "delete", SERVICE])


def purge(folder: Path, run: Run) -> None:
    """Delete what is laid down, and what the service has kept for itself alone."""
    run(["icacls", str(folder), "/setowner", ADMINISTRATORS, "/t", "/c", "/q"])
    run(["icacls", str(folder), "/reset", "/t", "/c", "/q"])
    delete_tree(folder)
    if sys.platform == "win32":
        import ctypes

        with contextlib.suppress(AttributeError):  # Wine has no such call, and no such profile
            ctypes.windll.userenv.DeleteProfileW(service_identifier(SERVICE), None, None)


def let_in(own: Path, run: Run) -> None:
    """Have the firewall let others of the local network in to our programs, not those of a public
    one; rules of an earlier installation go before."""
    run(rule("delete"))
    for name in PROGRAMS:
        words = ["dir=in", "action=allow", "profile=domain,private", f"program={own / name}"]
        run(rule("add", *words))


def rule(act: str, *words: str) -> list[str]:
    """Return the command that adds or deletes our rules of the firewall."""
    return ["netsh", "advfirewall", "firewall", act, "rule", f"name={RULE}", *words]


def with_folder(path: str, folder: str, *, there: bool) -> str:
    """Return a search path with this folder at its end, or without it; all else stays as it is."""
    kept = [each for each in path.split(";") if each.rstrip("\\").lower() != folder.lower()]
    if not there:
        return ";".join(kept)
    return ";".join([*([each for each in kept if each] if path else []), folder])


def find_commands(own: Path, *, there: bool) -> None:
    """Have shells that are opened from now on find our commands, or not any more; on other systems do
    nothing."""
    if sys.platform == "win32":
        import ctypes
        import winreg

        access = winreg.KEY_READ | winreg.KEY_WRITE
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, ENVIRONMENT, 0, access) as key:
            try:
                path, kind = winreg.QueryValueEx(key, "Path")
            except FileNotFoundError:
                path, kind = "", winreg.REG_EXPAND_SZ
            changed = with_folder(path, str(own), there=there)
            if changed == path:
                return
            winreg.SetValueEx(key, "Path", 0, kind, changed)
        answer = ctypes.c_size_t()
        ctypes.windll.user32.SendMessageTimeoutW(
            *(EVERY_WINDOW, SETTING_CHANGED, 0, "Environment", ABORT_IF_HUNG, WAIT_MS),
            ctypes.byref(answer),
        )


def _run(words: Sequence[str]) -> int:
    """By full path, so that no program of the same name is; what one refuses the next may allow."""
    tool = Path(os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32", f"{words[0]}.exe")
    flags = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    words = [str(tool), *words[1:]]
    return subprocess.run(words, creationflags=flags, check=False, capture_output=True).returncode


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("administer")
    parser.add_argument("act", choices=("lay-down", "take-away"))
    parser.add_argument("--invitation", default="")
    parser.add_argument("--help-others", choices=("", *HELP), default="")
    parser.add_argument("--firewall", default="")
    parser.add_argument("--service", choices=("", "0", "1"), default="")
    parser.add_argument("--purge", default="")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
