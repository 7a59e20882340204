"""The filter of system calls, assembled from a table into what the kernel executes at each call.

Landlock holds files; this holds what Landlock has no word for: sockets of any kind, tracing, new
namespaces, mounts, kernel interfaces with a history of faults, and calls that reach other
processes of the same account by their number; and of files what Landlock passes over: watching any
folder, and attributes. A denied call answers that it is not permitted; some answer that there is no
such call, or not for this file, because then programs take the older one, which can be looked at
(``clone3``), look now and then (``tail -f``), write block by block, or do without.

Only the interface that the filter was made for may be used: another one (32 bit programs, x32) has other
numbers, and with it the process would pass by the table.
"""

from __future__ import annotations

import errno
import struct
from dataclasses import dataclass
from functools import cache

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
PLACE = {"x86_64": 0, "aarch64": 1}
X32_BIT = 0x40000000
ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
LOAD, JUMP, JUMP_EQUAL, JUMP_AT_LEAST, AND, RETURN = 0x20, 0x05, 0x15, 0x35, 0x54, 0x06
NUMBER_AT, ARCH_AT, ARGUMENTS_AT = 0, 4, 16
NEW_NAMESPACES = 0x7E020000
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
STREAM, SEQUENCES, TYPE_BITS = 1, 5, 0xF
ANY, TCP, UDP = 0, 6, 17
"""Protocols; of sockets to the kernel 0 tells of addresses and routes, and no other does."""
SETS_LEASE, NOTIFIES = 1024, 1026
IDLE_IO, CLASS_OF_IO = 3 << 13, 0xE000
PUSHES_INPUT, OF_CONSOLE = 0x5412, 0x541C
SETS_FLAGS, SETS_PROJECT = 0x40086602, 0x401C5820

# fmt: off
_NOT_PERMITTED = """
ptrace 101 117|process_vm_readv 310 270|process_vm_writev 311 271|kcmp 312 272|pidfd_getfd 438 438
process_madvise 440 440|process_mrelease 448 448|migrate_pages 256 238|move_pages 279 239
mount 165 40|umount2 166 39|pivot_root 155 41|chroot 161 51|open_tree 428 428|move_mount 429 429
fsopen 430 430|fsconfig 431 431|fsmount 432 432|fspick 433 433|mount_setattr 442 442|open_tree_attr 467 467
unshare 272 97|setns 308 268|kexec_load 246 104|kexec_file_load 320 294|bpf 321 280
perf_event_open 298 241|userfaultfd 323 282|keyctl 250 219|add_key 248 217|request_key 249 218
init_module 175 105|finit_module 313 273|delete_module 176 106|swapon 167 224|swapoff 168 225
reboot 169 142|acct 163 89|quotactl 179 60|quotactl_fd 443 443|open_by_handle_at 304 265
fanotify_init 300 262|lookup_dcookie 212 18|syslog 103 116|sethostname 170 161|setdomainname 171 162
settimeofday 164 170|clock_settime 227 112|clock_adjtime 305 266|adjtimex 159 171|vhangup 153 58
iopl 172 -|ioperm 173 -|modify_ldt 154 -
shmget 29 194|shmat 30 196|shmctl 31 195|semget 64 190|semctl 66 191|semop 65 193|semtimedop 220 192
msgget 68 186|msgsnd 69 189|msgrcv 70 188|msgctl 71 187|mq_open 240 180|mq_unlink 241 181
"""
_NOT_THERE = """
clone3 435 435|io_uring_setup 425 425|io_uring_enter 426 426|io_uring_register 427 427
memfd_create 319 279|memfd_secret 447 447|io_setup 206 0
inotify_init 253 -|inotify_init1 294 26|inotify_add_watch 254 27
"""
_NOT_SUPPORTED = """
getxattr 191 8|lgetxattr 192 9|listxattr 194 11|llistxattr 195 12|getxattrat 464 464|listxattrat 465 465
fallocate 285 47
"""
_NO_NETWORK = "connect 42 203|bind 49 200|listen 50 201|accept 43 202|accept4 288 242"
_NO_METADATA = """
chmod 90 -|fchmod 91 52|fchmodat 268 53|fchmodat2 452 452|chown 92 -|fchown 93 55|lchown 94 -
fchownat 260 54|utime 132 -|utimes 235 -|futimesat 261 -|utimensat 280 88|setxattr 188 5
lsetxattr 189 6|fsetxattr 190 7|removexattr 197 14|lremovexattr 198 15|fremovexattr 199 16
setxattrat 463 463|removexattrat 466 466|file_setattr 469 469|truncate 76 45
"""
# fmt: on


@dataclass(frozen=True, slots=True)
class Where:
    """An argument, of which these bits have to be one of the values, or none of them."""

    argument: int
    values: tuple[int, ...]
    bits: int = 0xFFFFFFFF
    forbidden: bool = False


OWN = Where(0, (0,))
PINS = "sched_setaffinity 203 122"
_LOOKED_AT = {
    "clone 56 220": (Where(0, (0,), NEW_NAMESPACES),),
    "socketpair 53 199": (Where(0, (AF_UNIX,)), Where(1, (STREAM, SEQUENCES), TYPE_BITS)),
    "prlimit64 302 261": (OWN,),
    "setpriority 141 140": (Where(0, (0, 1)), Where(1, (0,))),
    "ioprio_set 251 30": (Where(0, (1, 2)), Where(1, (0,)), Where(2, (IDLE_IO,), CLASS_OF_IO)),
    "fcntl 72 25": (Where(1, (SETS_LEASE, NOTIFIES), forbidden=True),),
    PINS: (OWN,),
    "sched_setscheduler 144 119": (OWN,),
    "sched_setparam 142 118": (OWN,),
    "sched_setattr 314 274": (OWN,),
}
"""Other processes of the account are reached by number in most of these; 0 is the caller itself. Its
turn at the disk nobody raises, and nobody has to ask a program before writing what that reads."""


@cache
def assembled(machine: str, *, network: bool, metadata: bool, pinned: bool = False) -> bytes:
    """Return the filter for a kind of processor, as the kernel wants it: with ``network`` sockets to
    other machines may be made, with ``metadata`` modes, owners and times of files be changed;
    ``pinned`` ones stay on the processors that they were given. Raise ``KeyError`` for a processor
    that is not in the table."""
    at = PLACE[machine]
    families = (AF_INET, AF_INET6, AF_NETLINK) if network else ()
    looked_at = dict(_LOOKED_AT)
    looked_at["socket 41 198"] = (Where(0, families), Where(2, (ANY, TCP, UDP)))
    commands = (PUSHES_INPUT, OF_CONSOLE) + (() if metadata else (SETS_FLAGS, SETS_PROJECT))
    looked_at["ioctl 16 29"] = (Where(1, commands, forbidden=True),)
    if pinned:
        looked_at.pop(PINS)
    code = _begin(machine)
    for name, conditions in looked_at.items():
        code += _rule(_numbers(name, at)[0], conditions)
    denied = f"{_NOT_PERMITTED}|{PINS}" if pinned else _NOT_PERMITTED
    denied += ("" if network else f"|{_NO_NETWORK}") + ("" if metadata else f"|{_NO_METADATA}")
    code += _denials(_numbers(denied, at), errno.EPERM)
    code += _denials(_numbers(_NOT_THERE, at), errno.ENOSYS)
    code += _denials(_numbers(_NOT_SUPPORTED, at), errno.EOPNOTSUPP)
    return b"".join([*code, _step(RETURN, ALLOW)])


def _numbers(table: str, at: int) -> list[int]:
    words = [each.split() for each in table.replace("\n", "|").split("|") if each.strip()]
    return [int(each[1 + at]) for each in words if each[1 + at] != "-"]


def _begin(machine: str) -> list[bytes]:
    code = [
        _step(LOAD, ARCH_AT),
        _step(JUMP_EQUAL, AUDIT_ARCH[machine], 1, 0),
        _step(RETURN, KILL),
        _step(LOAD, NUMBER_AT),
    ]
    if machine == "x86_64":
        code += [_step(JUMP_AT_LEAST, X32_BIT, 0, 1), _step(RETURN, ERRNO | errno.ENOSYS)]
    return code


def _rule(number: int, conditions: tuple[Where, ...]) -> list[bytes]:
    """Deny the call where a condition does not hold, allow it where all do."""
    block: list[bytes] = []
    for each in conditions:
        block += [_step(LOAD, ARGUMENTS_AT + 8 * each.argument), _step(AND, each.bits)]
        if each.forbidden:
            for value in each.values:
                block += [_step(JUMP_EQUAL, value, 0, 1), _step(RETURN, ERRNO | errno.EPERM)]
            continue
        for place, value in enumerate(each.values):
            block.append(_step(JUMP_EQUAL, value, len(each.values) - place, 0))
        block.append(_step(RETURN, ERRNO | errno.EPERM))
    block.append(_step(RETURN, ALLOW))
    return [_step(JUMP_EQUAL, number, 0, len(block)), *block]


def _denials(numbers: list[int], number: int) -> list[bytes]:
    last = len(numbers)
    jumps = [_step(JUMP_EQUAL, each, last - at, 0) for at, each in enumerate(numbers)]
    return [*jumps, _step(JUMP, 1), _step(RETURN, ERRNO | number)]


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
