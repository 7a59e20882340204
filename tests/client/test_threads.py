"""Threads of one process that ask an agent at the same time, as those of the window do at its start.

What a type is made of, msgspec finds out when the type is first read, and keeps it with the type before
it is whole: two threads that came to it together ended the process, once in some hundred starts of the
window. So everything is found out while modules are loaded.
"""

from __future__ import annotations

import subprocess
import sys

from tests.hosts.waiting import EVENTUALLY_S_MAX

A_CLIENT = """
from __future__ import annotations
import msgspec
import msgspec._utils
from msgspec import Raw

from agent.api.methods import METHODS
from agent.api.work import Submit
from agent.client.errors import NotUnderstoodError
from agent.client.link import _decoded

class Late(msgspec.Struct):
    number: int

def never(*_):
    raise SystemError("what it is made of is found out in a thread")

def refused(kind, error, read, *told):
    try:
        read(*told)
    except error:
        return
    raise AssertionError(kind)

msgspec._utils._eval_type = never
refused("Late", SystemError, lambda: msgspec.json.decode(b"{}", type=Late))
refused("Submit", msgspec.ValidationError, msgspec.convert, {}, Submit)
for name, method in METHODS.items():
    refused(name, NotUnderstoodError, _decoded, Raw(b"[]"), method)
    refused(name, msgspec.ValidationError, method.read_params.decode, b"[]")
"""


def test_what_answers_are_made_of_is_known_before_threads_read_them() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", A_CLIENT],
        capture_output=True,
        text=True,
        timeout=EVENTUALLY_S_MAX,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
