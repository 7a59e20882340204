"""What a hostile program tries: each function one thing; it returns what it got or raises ``OSError``.

``told`` names what lies on the machine (see ``scene``). Nothing here harms a machine on which it
succeeds, but for what the scene has made for it. These are the attacks on files.
"""

import ctypes
import os
import subprocess
from collections.abc import Callable
from typing import Any

libc = ctypes.CDLL(None, use_errno=True)
told: dict[str, Any] = {}
ATTACKS: dict[str, Callable[[], object]] = {}


def attack(function: Callable[[], object]) -> Callable[[], object]:
    ATTACKS[function.__name__] = function
    return function


def call(number: int, *arguments: Any) -> int:
    """A number is handed over whole: of a shorter one on the stack, the upper half is anything."""
    whole = (ctypes.c_long(each) if isinstance(each, int) else each for each in arguments)
    result = libc.syscall(number, *whole)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(result) + 1


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(10) or b"it is empty"


def append(path: str) -> int:
    with open(path, "ab") as file:
        return file.write(b"#")


# -- files -----------------------------------------------------------------------------------------


@attack
def reads_identity_key() -> object:
    return read(told["identity"] + "/node.key")


@attack
def reads_authority_key() -> object:
    return read(told["identity"] + "/authority.key")


@attack
def reads_control_token() -> object:
    return read(told["data"] + "/control.json")


@attack
def reads_settings() -> object:
    return read(told["settings"])


@attack
def reads_journal_folder() -> object:
    return os.listdir(told["data"])


@attack
def reads_private_key_of_owner() -> object:
    return read(told["owner"] + "/.ssh/id")


@attack
def reads_by_a_link() -> object:
    os.symlink(told["owner"] + "/.ssh/id", "looks-mine")
    return read("looks-mine")


@attack
def reads_by_a_path_out_of_its_folder() -> object:
    return read(os.path.relpath(told["owner"] + "/.ssh/id"))


@attack
def reads_by_proc_root() -> object:
    return read("/proc/self/root" + told["owner"] + "/.ssh/id")


@attack
def reads_by_a_child() -> object:
    done = subprocess.run(
        ["/bin/cat", told["owner"] + "/.ssh/id"], capture_output=True, check=False
    )
    return done.stdout


@attack
def reads_shadow_or_other_private_files_of_the_system() -> object:
    return read(told["private"])


@attack
def lists_home() -> object:
    return os.listdir(told["owner"])


@attack
def appends_to_bashrc() -> object:
    return append(told["owner"] + "/.bashrc")


@attack
def plants_autostart() -> object:
    with open(told["owner"] + "/autostart/evil.desktop", "x") as file:
        return file.write("x")


@attack
def writes_by_a_link() -> object:
    os.symlink(told["owner"] + "/.bashrc", "log")
    return append("log")


@attack
def links_a_file_of_the_owner_into_its_folder() -> object:
    os.link(told["owner"] + "/linked", "mine")
    return read("mine")


@attack
def renames_a_file_of_the_owner() -> object:
    os.rename(told["owner"] + "/renamed", told["owner"] + "/other")
    return True


@attack
def takes_a_file_of_the_owner_away() -> object:
    os.rename(told["owner"] + "/taken", "taken")
    return True


@attack
def deletes_a_file_of_the_owner() -> object:
    os.unlink(told["owner"] + "/deleted")
    return True


@attack
def truncates_a_file_of_the_owner() -> object:
    os.truncate(told["owner"] + "/truncated", 0)
    return True


@attack
def truncates_by_opening() -> object:
    os.close(os.open(told["owner"] + "/truncated", os.O_RDONLY | os.O_TRUNC))
    return True


@attack
def opens_the_home_for_everybody() -> object:
    os.chmod(told["owner"], 0o777)
    return True


@attack
def makes_files_of_the_owner_unreadable() -> object:
    os.chmod(told["owner"] + "/.bashrc", 0)
    return True


@attack
def changes_modes_by_an_open_path() -> object:
    file = os.open(told["owner"] + "/.bashrc", os.O_PATH)
    os.chmod(f"/proc/self/fd/{file}", 0o666)
    return True


@attack
def changes_times_of_the_owner() -> object:
    os.utime(told["owner"] + "/.bashrc", (1, 1))
    return True


@attack
def marks_files_of_the_owner() -> object:
    os.setxattr(told["owner"] + "/.bashrc", "user.wingbeat", b"x")
    return True


@attack
def makes_a_device() -> object:
    os.mknod("disk", 0o600 | 0o060000, os.makedev(254, 0))
    return read("disk")


@attack
def writes_beside_its_folder() -> object:
    with open("../beside", "x") as file:
        return file.write("x")


@attack
def moves_its_own_folder() -> object:
    os.rename(os.getcwd(), os.path.dirname(os.getcwd()) + "/elsewhere")
    os.rename(os.path.dirname(os.getcwd()) + "/elsewhere", told["work"])
    return True


@attack
def writes_into_its_program() -> object:
    return append(os.path.abspath(__file__))


@attack
def changes_modes_of_its_program() -> object:
    os.chmod(os.path.abspath(__file__), 0o777)
    return True


@attack
def writes_into_its_input() -> object:
    os.chmod(told["input"], 0o600)
    return append(told["input"])


@attack
def changes_modes_of_its_input() -> object:
    os.chmod(told["input"], 0o600)
    return True


@attack
def changes_modes_of_its_input_by_a_file() -> object:
    with open(told["input"], "rb") as file:
        os.fchmod(file.fileno(), 0o600)
    return True


@attack
def replaces_its_input() -> object:
    with open("other", "x") as file:
        file.write("x")
    os.rename("other", told["input"])
    return True


@attack
def links_its_input_to_write_it_there() -> object:
    os.link(told["input"], "linked")
    os.chmod("linked", 0o600)
    return append("linked")


@attack
def reads_other_scratch() -> object:
    return read(told["other"] + "/secret")


@attack
def writes_other_scratch() -> object:
    return append(told["other"] + "/secret")


@attack
def closes_other_scratch() -> object:
    os.chmod(told["other"], 0o500)
    os.chmod(told["other"], 0o700)
    return True


@attack
def lists_all_scratch() -> object:
    return os.listdir("../..")


@attack
def leaves_something_in_tmp() -> object:
    with open(f"/tmp/wingbeat-left-{os.getpid()}", "x") as file:
        file.write("x")
    os.unlink(f"/tmp/wingbeat-left-{os.getpid()}")
    return True


@attack
def leaves_something_in_shared_memory() -> object:
    with open(f"/dev/shm/{told['mark']}", "x") as file:
        return file.write("x")
