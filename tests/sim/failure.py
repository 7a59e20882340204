"""How a run fails: which promise was broken, of which task, and the seed that repeats it."""

from __future__ import annotations


class Broken(Exception):  # noqa: N818 - a promise was broken; the name is the sentence
    """A check did not hold."""

    def __init__(self, check: str, detail: str, task: str = "") -> None:
        super().__init__(f"{check}: {detail}")
        self.check = check
        self.detail = detail
        self.task = task


class SimulationFailure(AssertionError):  # noqa: N818 - what a test reports
    """A run broke a promise. The text opens with the seed and says how to replay it."""

    def __init__(self, seed: int, kind: str, check: str, text: str) -> None:
        super().__init__(text)
        self.seed = seed
        self.kind = kind
        self.check = check
