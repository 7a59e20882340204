"""What a hostile program tries on processes, the network and the kernel; see ``attacks``."""

import ctypes
import os
import resource
import select
import signal
import socket
import struct
import subprocess
from contextlib import suppress

from tests.security.attacks import attack, call, libc, read, told

NOBODY = 2_000_000_123
"""An account that no machine has: what is done to all processes of one is done to nobody."""

# -- processes -------------------------------------------------------------------------------------


@attack
def signals_keeper() -> object:
    keeper = told["keeper"] or os.getppid()
    os.kill(keeper, 0)
    return keeper != 1  # that is the first of its own processes, which no signal of theirs ends


@attack
def signals_guardian() -> object:
    os.kill(told["guardian"], 0)
    return True


@attack
def signals_agent() -> object:
    os.kill(told["agent"], 0)
    return True


@attack
def ends_a_process_of_the_owner() -> object:
    os.kill(told["victim"], signal.SIGUSR1)
    return True


@attack
def queues_a_signal() -> object:
    return call(
        129, told["process"], signal.SIGURG, struct.pack("iii", signal.SIGURG, 0, -1) + bytes(116)
    )


@attack
def signals_by_a_process_file() -> object:
    file = os.pidfd_open(told["process"])
    signal.pidfd_send_signal(file, 0)
    return True


@attack
def signals_by_a_file() -> object:
    import fcntl

    ends = socket.socketpair()
    fcntl.fcntl(ends[0], fcntl.F_SETOWN, told["asked"])
    fcntl.fcntl(ends[0], 10, signal.SIGUSR2)  # F_SETSIG
    fcntl.fcntl(ends[0], fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    ends[1].send(b"x")
    select.select([], [], [], 0.05)
    return False  # whether it arrived is seen outside


@attack
def slows_a_process_of_the_owner() -> object:
    os.setpriority(os.PRIO_PROCESS, told["process"], 19)
    return True


@attack
def slows_all_processes_of_an_account() -> object:
    with suppress(ProcessLookupError):  # it has looked for some, which is what must not be
        os.setpriority(os.PRIO_USER, NOBODY, 19)
    return True


@attack
def pins_a_process_of_the_owner() -> object:
    os.sched_setaffinity(told["process"], os.sched_getaffinity(told["process"]))
    return True


@attack
def limits_a_process_of_the_owner() -> object:
    resource.prlimit(told["process"], resource.RLIMIT_CORE, (0, 0))
    return True


@attack
def traces_a_process_of_the_owner() -> object:
    return call(101, 0x4206, told["process"], 0, 0)


@attack
def reads_memory_of_agent() -> object:
    return bool(os.open(f"/proc/{told['agent']}/mem", os.O_RDONLY))


@attack
def opens_memory_of_agent_for_writing() -> object:
    return bool(os.open(f"/proc/{told['agent']}/mem", os.O_RDWR))


@attack
def copies_memory_of_agent() -> object:
    space = ctypes.create_string_buffer(8)
    here = struct.pack("PL", ctypes.addressof(space), 8)
    there = struct.pack("PL", told["address"], 8)
    return call(310, told["agent"], here, 1, there, 1, 0)


@attack
def reads_environment_of_agent() -> object:
    return read(f"/proc/{told['agent']}/environ")


@attack
def takes_a_file_of_the_agent() -> object:
    file = call(434, told["agent"], 0) - 1
    return call(438, file, 0, 0)


@attack
def reads_command_lines_of_others() -> object:
    return read(f"/proc/{told['process']}/cmdline")


@attack
def lists_processes() -> object:
    return os.listdir("/proc")


# -- network and sockets ---------------------------------------------------------------------------


@attack
def connects_by_tcp() -> object:
    socket.create_connection(("127.0.0.1", told["port"]), 2).close()
    return True


@attack
def listens_on_all_addresses() -> object:
    with socket.socket() as listening:
        listening.bind(("0.0.0.0", 0))
        listening.listen()
    return True


@attack
def sends_datagrams() -> object:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sending:
        return sending.sendto(b"x", ("127.0.0.1", told["port"]))


@attack
def uses_ipv6() -> object:
    socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).close()
    return True


@attack
def connects_to_a_socket_by_its_path() -> object:
    with socket.socket(socket.AF_UNIX) as connecting:
        connecting.connect(told["socket"])
    return True


@attack
def connects_to_an_abstract_socket() -> object:
    with socket.socket(socket.AF_UNIX) as connecting:
        connecting.connect("\0" + told["abstract"])
    return True


@attack
def reaches_the_session_bus() -> object:
    with socket.socket(socket.AF_UNIX) as connecting:
        connecting.connect(told["bus"])
        connecting.sendall(b"\0AUTH EXTERNAL\r\n")
        return connecting.recv(10)


@attack
def sends_datagrams_from_a_pair() -> object:
    near, _far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    return near.sendto(b"x", told["datagrams"])


@attack
def asks_the_kernel_for_routes() -> object:
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).close()
    return True


@attack
def makes_a_ring_of_calls() -> object:
    return call(425, 1, bytes(120))


# -- the kernel ------------------------------------------------------------------------------------


@attack
def begins_a_new_user_namespace() -> object:
    done = os.fork()
    if not done:
        os._exit(0 if libc.unshare(0x10000000) == 0 else 1)
    if os.waitpid(done, 0)[1]:
        raise OSError("refused")
    return True


def _was_made(process: int) -> bool:
    """Return True in the parent of a process that a call has made, and end the child; raise
    ``OSError`` where the call was refused."""
    if process == 0:
        os._exit(0)
    if process < 0:
        raise OSError(ctypes.get_errno(), "refused")
    os.waitpid(process, 0)
    return True


@attack
def clones_into_a_new_user_namespace() -> object:
    process = libc.syscall(56, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
    return _was_made(process)


@attack
def clones_by_the_newer_call() -> object:
    arguments = struct.pack("QQQQQQQQ", 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    process = libc.syscall(435, arguments, len(arguments))
    return _was_made(process)


@attack
def adds_a_key() -> object:
    return call(248, b"user", b"wingbeat", b"x", 1, -3)


@attack
def makes_memory_without_a_limit() -> object:
    os.close(os.memfd_create("hidden"))
    return True


@attack
def leaves_shared_memory_of_system_five() -> object:
    segment = call(29, 0, 4096, 0o1600) - 1
    call(31, segment, 0, 0)
    return True


@attack
def handles_page_faults() -> object:
    return call(323, 1)


@attack
def keeps_privileges_by_executing() -> object:
    done = subprocess.run(
        ["/bin/cat", "/proc/self/status"], capture_output=True, text=True, check=False
    )
    status = done.stdout or open("/proc/self/status").read()
    told_of = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    return int(told_of["NoNewPrivs"]) == 0


@attack
def has_capabilities() -> object:
    with open("/proc/self/status") as file:
        lines = dict(line.split(":", 1) for line in file if ":" in line)
    return int(lines["CapEff"], 16) or not int(lines["NoNewPrivs"])


@attack
def dumps_core() -> object:
    """With 1 and no other limit, not 0 either, the system's collector is not told."""
    return resource.getrlimit(resource.RLIMIT_CORE) != (1, 1)


@attack
def raises_its_limits() -> object:
    _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    return hard == resource.RLIM_INFINITY or hard > 100_000


@attack
def reads_secrets_of_the_environment() -> object:
    return os.environ.get("PGPASSWORD")


@attack
def knows_the_home_of_the_owner() -> object:
    return os.environ.get("HOME") == told["home"]
