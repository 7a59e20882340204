"""Which records of this node's runs are told at once, and which with others in a moment.

All are on disk at once, and a record that somebody may act on is told at once. But a word to each peer
costs each of them a look at its table and a commit, and where many tasks of one length end together
that is most of what the machines do before the next ones run. So a word waits that tells nobody
what to do:

* the end of a task whose successors this node goes on with, and the begin of those, are told
  together a moment later (``core.KEPT_BACK_S``): nobody else could have run them meanwhile;
* begin and end of a short task for which nothing waits, while more of its row are here.

If this node dies meanwhile, the flock runs again what it had not heard of, as it does after any
death: the links tell that the node is gone, and with it the end of its promises.
"""

from __future__ import annotations

from agent.protocol.core import Core
from agent.protocol.records import Life, Run, Running, Scheduled, TaskId, TaskLife, Terminated


def write_run(
    core: Core, task: TaskId, run: Run, *, generation: int = 0, in_a_row: bool = False
) -> None:
    """Write a run of this node. ``in_a_row``: short tasks that were claimed with it wait here."""
    lives = [TaskLife(task, Life(generation, runs=(run,)))]
    waited_for = bool(core.table.dependants(task))
    if waited_for and isinstance(run.phase, Terminated):
        core.kept_back[task] = None
        core.write_unhurried(lives)
    elif _goes_on(core, task, run) or (in_a_row and not waited_for and _begins_or_ends(run)):
        core.write_unhurried(lives)
    else:
        core.write(lives=lives)


def _goes_on(core: Core, task: TaskId, run: Run) -> bool:
    """It begins right after an end that is kept back."""
    begins = isinstance(run.phase, Scheduled | Running)
    return begins and any(each in core.kept_back for each in core.table.producers[task])


def _begins_or_ends(run: Run) -> bool:
    return isinstance(run.phase, Running | Terminated)
