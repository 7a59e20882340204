"""Which records of this node's runs are told at once, and which with others in a moment.

All are on disk at once, and a record that somebody may act on is told at once. But a word to each peer
costs each of them a look at its table and a commit, and where many tasks of one length end together
that is most of what the machines do before the next ones run. So a word waits that tells nobody
what to do:

* the end of a task whose successors this node goes on with, and the begin of those, are told
  together a moment later (``untold.KEPT_BACK_S``): nobody else could have run them meanwhile;
* the end of a short task for which nothing waits, while more of its row are here;
* the begin of a short task, which is told with its end. Until then each peer keeps the task promised
  to this node, so that nobody reaches for it. Where the end takes longer than was said, peers are
  told of the begin after all, well before any promise to it runs out.

If this node dies meanwhile, the flock runs again what it had not heard of, as it does after any
death: the links tell that the node is gone, and with it the end of its promises.
"""

from __future__ import annotations

from agent.protocol.core import Core
from agent.protocol.records import Life, Run, Running, Scheduled, TaskId, TaskLife, Terminated

STARTED = 2
"""The revision that says so, of a run that was won and started."""


def write_run(
    core: Core, task: TaskId, run: Run, *, generation: int = 0, in_a_row: bool = False
) -> None:
    """Write a record of this node's run and decide when peers are told: at once, or together with
    more. ``in_a_row``: short tasks that were claimed with it wait here."""
    lives = [TaskLife(task, Life(generation, runs=(run,)))]
    waited_for = bool(core.table.dependants(task))
    if waited_for and isinstance(run.phase, Terminated):
        core.untold.kept_back[task] = None
        core.write(lives=lives, hurried=False)
    elif _begins_in_row(core, task, run, in_a_row=in_a_row):
        core.write_in_row(lives)
    elif _goes_on(core, task, run) or (in_a_row and not waited_for and _begins_or_ends(run)):
        core.write(lives=lives, hurried=False)
    else:
        core.write(lives=lives)


def _goes_on(core: Core, task: TaskId, run: Run) -> bool:
    """It begins right after an end that is kept back."""
    begins = isinstance(run.phase, Scheduled | Running)
    return begins and any(each in core.untold.kept_back for each in core.table.producers[task])


def _begins_in_row(core: Core, task: TaskId, run: Run, *, in_a_row: bool) -> bool:
    """Won or started for the first time. What starts at once is told with its start."""
    started = isinstance(run.phase, Running) and run.revision == STARTED
    if not (isinstance(run.phase, Scheduled) or (in_a_row and started)) or core.stopping:
        return False
    short = core.table.specs[task].expected_ms < core.settings.short_task_ms
    return short and not core.table.interactive(task)


def _begins_or_ends(run: Run) -> bool:
    return isinstance(run.phase, Running | Terminated)
