"""What a hostile program tries with calls that few programs make; see ``attacks``."""

import ctypes
import fcntl
import mmap
import os
import resource
import signal
import socket
import struct

from tests.security.attacks import attack, call, libc, read, told

HERE = -100
LEASE, NOTIFY = 1024, 1026
PUSH_INPUT = 0x5412
FAMILIES = range(47)
KINDS = (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET)
OTHER_NUMBERS = bytes.fromhex("b814000000cd80c3")
"""``mov eax, 20; int 0x80; ret``: asks for its process number as programs of 32 bits do."""


def _is_open(file: int) -> bool:
    try:
        os.fstat(file)
    except OSError:
        return False
    return True


OPEN_AT_ITS_START = [each for each in range(3, 1_024) if _is_open(each)]


def machine(number: int, on_arm: int) -> int:
    return on_arm if os.uname().machine == "aarch64" else number


# -- watching --------------------------------------------------------------------------------------


@attack
def watches_the_home_of_the_owner() -> object:
    watching = libc.inotify_init()
    if watching < 0:
        raise OSError(ctypes.get_errno(), "refused")
    if libc.inotify_add_watch(watching, os.fsencode(told["owner"] + "/.ssh"), 0xFFF) < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return True


@attack
def watches_files_with_fanotify() -> object:
    return call(machine(300, 262), 0, 0)


@attack
def hears_of_changes_in_a_folder() -> object:
    folder = os.open("/usr", os.O_RDONLY)
    return fcntl.fcntl(folder, NOTIFY, 0x1) == 0


@attack
def makes_the_owner_wait_to_write() -> object:
    return fcntl.fcntl(os.open(told["input"], os.O_RDONLY), LEASE, fcntl.F_RDLCK) == 0


@attack
def reads_attributes_of_files_of_the_owner() -> object:
    os.listxattr(told["owner"] + "/.bashrc")
    return True


@attack
def watches_what_processors_do() -> object:
    event = struct.pack("=IIQ", 1, 112, 0) + bytes(96)
    return call(machine(298, 241), event, 0, -1, -1, 0)


@attack
def reads_messages_of_the_kernel() -> object:
    return call(machine(103, 116), 3, ctypes.create_string_buffer(64), 64)


# -- ways around names -----------------------------------------------------------------------------


@attack
def opens_a_file_by_its_handle() -> object:
    handle = ctypes.create_string_buffer(struct.pack("=Ii", 128, 0) + bytes(128))
    path = os.fsencode(told["owner"] + "/.ssh/id")
    call(machine(303, 264), HERE, path, handle, ctypes.byref(ctypes.c_int()), 0)
    disk = os.open(".", os.O_RDONLY)
    return os.read(call(machine(304, 265), disk, handle, os.O_RDONLY) - 1, 10)


@attack
def reads_by_the_root_of_its_keeper() -> object:
    return read(f"/proc/{os.getppid()}/root{told['owner']}/.ssh/id")


@attack
def lists_files_of_its_keeper() -> object:
    return os.listdir(f"/proc/{os.getppid()}/fd")


@attack
def finds_files_that_were_left_open() -> object:
    return OPEN_AT_ITS_START


@attack
def mounts_the_home_of_the_owner_in_its_folder() -> object:
    os.mkdir("mounted")
    path = os.fsencode(told["owner"])
    if libc.mount(path, b"mounted", None, 0x1000, None) < 0:
        raise OSError(ctypes.get_errno(), "refused")
    found = read("mounted/.ssh/id")
    libc.umount2(b"mounted", 2)
    return found


@attack
def makes_a_mount_writable_again() -> object:
    tree = call(428, HERE, os.fsencode(told["owner"]), 1) - 1
    return call(442, tree, b"", 0x1000, struct.pack("=QQQQ", 0, 1, 0, 0), 32)


@attack
def changes_its_root() -> object:
    done = os.fork()
    if not done:
        os._exit(0 if libc.chroot(os.fsencode(told["owner"])) == 0 else 1)
    if os.waitpid(done, 0)[1]:
        raise OSError("refused")
    return True


# -- others ----------------------------------------------------------------------------------------


@attack
def writes_memory_of_agent() -> object:
    space = ctypes.create_string_buffer(b"of the agent")
    here = struct.pack("PL", ctypes.addressof(space), 8)
    there = struct.pack("PL", told["address"], 8)
    return call(machine(311, 271), told["agent"], here, 1, there, 1, 0)


@attack
def compares_itself_with_the_agent() -> object:
    return call(machine(312, 272), os.getpid(), told["agent"], 1, 0, 0)


@attack
def makes_a_socket_of_any_family() -> object:
    for family in FAMILIES:
        for kind in KINDS:
            made = libc.socket(family, kind, 0)
            if made >= 0:
                os.close(made)
                return family
    raise OSError("refused")


@attack
def types_into_a_terminal() -> object:
    """One that it makes itself, so that nobody's is typed into."""
    terminal = os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
    fcntl.ioctl(terminal, PUSH_INPUT, b"x")
    return True


@attack
def sends_a_message_by_a_queue() -> object:
    queue = call(machine(240, 180), b"wingbeat", os.O_CREAT | os.O_RDWR, 0o600, None)
    call(machine(241, 181), b"wingbeat")
    return queue


@attack
def reads_keys_of_the_session() -> object:
    return call(machine(250, 219), 0, -3, 1)


# -- more than its share ---------------------------------------------------------------------------


@attack
def takes_the_disk_at_once() -> object:
    file = os.open("large", os.O_CREAT | os.O_RDWR, 0o600)
    return call(machine(285, 47), file, 0, 0, 1 << 20)


@attack
def takes_places_for_work_of_the_disk() -> object:
    return call(machine(206, 0), 1_000, ctypes.byref(ctypes.c_long(0)))


@attack
def goes_first_at_the_disk() -> object:
    return call(machine(251, 30), 1, 0, 2 << 13)


@attack
def goes_before_all_others() -> object:
    done = os.fork()
    if not done:
        try:
            resource.setrlimit(resource.RLIMIT_RTPRIO, (99, 99))
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        except (OSError, ValueError):
            os._exit(1)
        os._exit(0)
    if os.waitpid(done, 0)[1]:
        raise OSError("refused")
    return True


@attack
def would_be_ended_last_without_memory() -> object:
    with open("/proc/self/oom_score_adj", "r+") as file:
        now = int(file.read())
        file.write(str(now - 1))
    return True


@attack
def raises_the_number_of_its_files() -> object:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most + 1))
    return True


@attack
def calls_by_other_numbers() -> object:
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(OTHER_NUMBERS)
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    done = os.fork()
    if not done:
        signal.signal(signal.SIGSEGV, signal.SIG_DFL)
        os._exit(0 if ctypes.CFUNCTYPE(ctypes.c_int)(address)() == os.getpid() else 1)
    if os.waitpid(done, 0)[1]:
        raise OSError("refused")
    return True


@attack
def loads_code_into_the_kernel() -> object:
    return call(machine(321, 280), 0, struct.pack("=IIII", 2, 4, 8, 1) + bytes(56), 72)
