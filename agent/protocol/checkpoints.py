"""What an earlier attempt has saved, and whether the next one may begin with it.

A program that works for long may save its state; whoever takes the task after its machine was given
back, switched off or lost then goes on from there instead of from the start. A checkpoint is a
dataset like any other, kept on two disks where there are two, and it is a help, never a need: one
that cannot be had is left out.

Rules: it counts only for the same inputs and the same generation, because a person who retries
wants a fresh start; and never from a run that failed, because the state may be what made it fail.
"""

from __future__ import annotations

from collections.abc import Callable

from agent.protocol.records import Dataset, DatasetId, Failed, Life, Run


def newest_checkpoint(life: Life, run: Run, reachable: Callable[[DatasetId], bool]) -> DatasetId:
    """Return the dataset that the run may begin with: what the latest of the earlier attempts saved
    that suits and can be reached; empty when there is none."""
    for earlier in reversed(life.runs):
        saved = _saved_for(run, earlier)
        if saved is not None and reachable(saved.dataset):
            return saved.dataset
    return ""


def _saved_for(run: Run, earlier: Run) -> Dataset | None:
    same_work = earlier.generation == run.generation and earlier.inputs == run.inputs
    if not same_work or isinstance(earlier.phase, Failed):
        return None
    return earlier.checkpoint
