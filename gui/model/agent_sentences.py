"""The agent's sentences by kind: what they look like, and how they are said here.

Each pattern stands for one sentence of the agent; the more particular ones come first. A test walks
through the agent's own sentences and holds that each is found here.
"""

from __future__ import annotations

from collections.abc import Callable

from gui.words import tr

Table = tuple[tuple[str, Callable[[], str]], ...]

REFUSALS: Table = (
    (
        r"(?P<task>.+) needs (?P<what>.+) of (?P<gate>.+): attach it\.?",
        lambda: tr("{task} needs {what} of {gate}: attach it."),
    ),
    (
        r"(?P<host>.+) is stopping; ask another machine",
        lambda: tr("{host} is stopping; ask another machine"),
    ),
    (
        r"(?P<host>.+) has a full disk; (?:ask|submit on) another machine",
        lambda: tr("{host} has a full disk; ask another machine"),
    ),
    (
        r"workflow (?P<workflow>.+) is finished and was cleaned up",
        lambda: tr("{workflow} is finished and was cleaned up"),
    ),
    (
        r"no workflow (?P<workflow>.+) is known on (?P<host>.+)",
        lambda: tr("No workflow {workflow} is known on {host}"),
    ),
    (
        r"workflow (?P<workflow>.+) has no task (?P<task>.+)",
        lambda: tr("{workflow} has no task {task}"),
    ),
    (
        r"nothing to cancel in (?P<workflow>.+): all of it has ended",
        lambda: tr("Nothing to cancel in {workflow}: all of it has ended"),
    ),
    (
        r"nothing to retry in (?P<workflow>.+): no task of it failed or was cancelled",
        lambda: tr("Nothing to retry in {workflow}: no task of it failed or was cancelled"),
    ),
    (
        r"workflow (?P<workflow>.+) has ended; its priority moves nothing",
        lambda: tr("{workflow} has ended; its priority moves nothing"),
    ),
    (
        r"(?P<task>.+) is no manual step known on (?P<host>.+)",
        lambda: tr("{task} is no manual step known on {host}"),
    ),
    (r"(?P<task>.+) is marked done already", lambda: tr("{task} is marked done already")),
    (
        r"(?P<task>.+) cannot be marked done yet: it is (?P<state>.+)",
        lambda: tr("{task} cannot be marked done yet: it is {state}"),
    ),
)
