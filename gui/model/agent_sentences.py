"""The agent's sentences by kind: what they look like, and how they are said here.

Each pattern stands for one sentence of the agent; the more particular ones come first. A test walks
through the agent's own sentences and holds that each is found here.
"""

from __future__ import annotations

from collections.abc import Callable

from gui.words import tr

Table = tuple[tuple[str, Callable[[], str]], ...]

WORK: Table = (
    (
        r"cancelled; still being stopped on (?P<hosts>.+)",
        lambda: tr("cancelled; still being stopped on {hosts}"),
    ),
    (
        r"(?P<task>.+) is cancelled, still being stopped on (?P<hosts>.+)",
        lambda: tr("{task} was cancelled, and is still being stopped on {hosts}"),
    ),
    (r"an agent died running it", lambda: tr("an agent died running it")),
    (r"(?P<count>\d+) agents died running it", lambda: tr("{count} agents died running it")),
    (
        r"needs output (?P<place>\d+) of (?P<task>.+), which delivered (?P<count>\d+)",
        lambda: tr("needs output {place} of {task}, which delivered {count}"),
    ),
    (
        r"waits for (?P<task>.+), not known here yet",
        lambda: tr("waits for {task}, not known here yet"),
    ),
    (r"waits for what it needs", lambda: tr("waits for what it needs")),
    (r"needs (?P<task>.+), which was given up", lambda: tr("needs {task}, which was given up")),
    (r"needs (?P<task>.+), which was cancelled", lambda: tr("needs {task}, which was cancelled")),
    (r"waits for (?P<task>.+)", lambda: tr("waits for {task}")),
    (
        r"(?P<task>.+?) has all that it needs; (?P<why>.+)",
        lambda: tr("{task} has all that it needs; {why}"),
    ),
    (
        r"no machine helps now \(this one: (?P<why>.+)\)",
        lambda: tr("no machine helps now (this one: {why})"),
    ),
    (
        r"(?P<count>\d+) of (?P<every>\d+) machines? helps? now, none has taken it yet",
        lambda: tr("machines that help now: {count} of {every}; none has taken it yet"),
    ),
    (
        r"none of the machines that could run it has taken it yet",
        lambda: tr("none of the machines that could run it has taken it yet"),
    ),
    (
        r"it waits until somebody accepts its program (?P<program>.+) on (?P<hosts>.+)",
        lambda: tr("it waits until somebody accepts its program {program} on {hosts}"),
    ),
    (r"no machine that helps now can run it", lambda: tr("no machine that helps now can run it")),
    (
        r"(?P<hosts>.+?) runs? (?P<programs>.+) only when somebody there accepts (?:it|them): `.+`",
        lambda: tr("Somebody on {hosts} has to allow {programs} first"),
    ),
)

FITTING: Table = (
    (
        r"(?:(?P<host>.+?) )?has no program (?P<program>.+)",
        lambda: tr("{host} has no program {program}"),
    ),
    (
        r"(?:(?P<host>.+?) )?does not take the published program (?P<program>[^:]+)(?:: `.+` there lets it)?",
        lambda: tr(
            "{host} does not take the published program {program} until it is allowed there"
        ),
    ),
    (
        r"(?:(?P<host>.+?) )?runs (?P<given>.+), needed is (?P<needed>.+)",
        lambda: tr("{host} runs {given}, needed is {needed}"),
    ),
    (
        r"(?:(?P<host>.+?) )?is (?P<given>.+), needed is (?P<needed>.+)",
        lambda: tr("{host} is {given}, needed is {needed}"),
    ),
    (
        r"(?:(?P<host>.+?) )?has (?P<given>\d+) MB of memory, needed are (?P<needed>\d+)",
        lambda: tr("{host} has {given} MB of memory, needed are {needed}"),
    ),
    (
        r"(?:(?P<host>.+?) )?has (?P<given>\d+) MB of disk, needed are (?P<needed>\d+)",
        lambda: tr("{host} has {given} MB of disk, needed are {needed}"),
    ),
    (
        r"(?:(?P<host>.+?) )?has (?P<given>\d+) cores, needed are (?P<needed>\d+)",
        lambda: tr("{host} has {given} cores, needed are {needed}"),
    ),
    (r"(?:(?P<host>.+?) )?has no tag (?P<tag>.+)", lambda: tr("{host} has no tag {tag}")),
    (
        r"(?P<host>.+) could run it and does not help: (?P<why>.+)",
        lambda: tr("{host} could run it and does not help: {why}"),
    ),
    (r"it says no reason", lambda: tr("it says no reason")),
    (
        r"(?P<host>.+) could run it, and failed at it before",
        lambda: tr("{host} could run it, and failed at it before"),
    ),
    (
        r"(?P<host>.+) could run it, and its slot is taken",
        lambda: tr("{host} could run it, and is busy"),
    ),
    (
        r"(?P<host>.+) could run it, and all its (?P<slots>\d+) slots are taken",
        lambda: tr("{host} could run it, and is busy with {slots} tasks"),
    ),
    (r"(?P<host>.+) could run it", lambda: tr("{host} could run it")),
)

PRESENCE: Table = (
    (r"its owner uses it", lambda: tr("its owner uses it")),
    (
        r"it cannot be seen whether somebody uses it",
        lambda: tr("it cannot be seen whether somebody uses it"),
    ),
    (r"other programs are busy on it", lambda: tr("other programs are busy on it")),
    (r"it runs on battery", lambda: tr("it runs on battery")),
    (r"it is short of memory", lambda: tr("it is short of memory")),
    (r"paused", lambda: tr("paused")),
)

SIGHT: Table = ()

REFUSALS: Table = (
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

CAUSES: dict[str, Callable[[], str]] = {
    "a machine came": lambda: tr("a machine came"),
    "a machine went away": lambda: tr("a machine went away"),
    "the agent started": lambda: tr("the agent started"),
    "the inputs are there": lambda: tr("the inputs are there"),
    "the program started": lambda: tr("the program started"),
    "the program ended well": lambda: tr("the program ended well"),
    "the program failed": lambda: tr("the program failed"),
    "the program was stopped": lambda: tr("the program was stopped"),
    "the outputs are kept safe": lambda: tr("the outputs are kept safe"),
    "what it needs is there": lambda: tr("what it needs is there"),
    "a machine began or stopped to help": lambda: tr("a machine began or stopped to help"),
    "submitted": lambda: tr("submitted"),
    "a person cancelled": lambda: tr("a person cancelled"),
    "a person had it tried again": lambda: tr("a person had it tried again"),
    "a person marked a gate done": lambda: tr("a person marked a gate done"),
    "a person changed the priority": lambda: tr("a person changed the priority"),
    "another machine told it": lambda: tr("another machine told it"),
    "a message was lost on its way": lambda: tr("a message was lost on its way"),
    "it was time": lambda: tr("it was time"),
    "the disk does not take data": lambda: tr("the disk does not take data"),
    "the disk takes data again": lambda: tr("the disk takes data again"),
    "the programs of a machine changed": lambda: tr("the programs of a machine changed"),
    "the members of the flock changed": lambda: tr("the members of the flock changed"),
    "an input could not be fetched": lambda: tr("an input could not be fetched"),
    "the program could not be started": lambda: tr("the program could not be started"),
    "the program told how far it is": lambda: tr("the program told how far it is"),
    "the program saved its state": lambda: tr("the program saved its state"),
    "datasets came or went": lambda: tr("datasets came or went"),
    "an agent was stopped": lambda: tr("an agent was stopped"),
}
