"""What a broken variant of the protocol is, and how one rule is switched off and on again.

A variant rewrites a few functions of ``agent.protocol`` for as long as a run takes. Each rewrite is
told the function that it stands in for, so that it only says what is wrong in it. A name that the
protocol does not have any more is an error, never a variant that silently breaks nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from tests.sim import world

PROTOCOL = "agent.protocol"
EVENTS_MAX = 200_000
"""No run of the right protocol comes near it; what a broken one does without end stops here."""

Wrong = Callable[..., Any]
"""The wrong version of a function. Its first argument is the right one, the rest are those."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A method of a class of the protocol, or a function wherever it is imported."""

    right: Callable[..., Any]
    wrong: Wrong

    @contextmanager
    def made(self) -> Iterator[None]:
        """The wrong version is in force."""
        right, wrong = self.right, self.wrong

        def replacement(*arguments: Any, **named: Any) -> Any:
            return wrong(right, *arguments, **named)

        places = _places_of(right)
        if not places:
            raise LookupError(f"{right} is nowhere in {PROTOCOL}")
        for owner, name in places:
            setattr(owner, name, replacement)
        try:
            yield
        finally:
            for owner, name in places:
                setattr(owner, name, right)


def _places_of(right: Callable[..., Any]) -> list[tuple[object, str]]:
    """All names in modules and classes of the protocol under which the function is looked up."""
    if not isinstance(right, FunctionType):
        raise TypeError(f"{right} is no function")
    modules = [m for name, m in sorted(sys.modules.items()) if name.startswith(PROTOCOL)]
    owners: dict[int, object] = {id(module): module for module in modules}
    for module in modules:
        classes = [each for each in vars(module).values() if isinstance(each, type)]
        owners.update((id(c), c) for c in classes if c.__module__.startswith(PROTOCOL))
    return [
        (owner, name)
        for owner in owners.values()
        for name, value in list(vars(owner).items())
        if value is right
    ]


@dataclass(frozen=True, slots=True)
class Variant:
    """The protocol with one rule switched off.

    ``rule`` says in a sentence what holds no more, ``stands`` where DESIGN says it. It must be
    caught in one of the ``classes`` of scenarios within so many ``seeds`` of each, counted from
    ``first_seed`` (where that takes long, a little before one that catches it), by one of the
    ``checks``. What would hide the loss of this rule is switched off too, ``beneath`` it; the
    protocol must pass without that alone.
    """

    name: str
    rule: str
    stands: str
    rewrites: tuple[Rewrite, ...]
    classes: tuple[str, ...]
    checks: tuple[str, ...]
    seeds: int
    first_seed: int = 0
    beneath: tuple[Rewrite, ...] = ()

    @contextmanager
    def broken(self) -> Iterator[None]:
        """The protocol without the rule."""
        with made(self.beneath + self.rewrites), _ended_early():
            yield

    @contextmanager
    def only_beneath(self) -> Iterator[None]:
        """The protocol with the rule, and without what would hide its loss."""
        with made(self.beneath):
            yield


@contextmanager
def made(rewrites: tuple[Rewrite, ...]) -> Iterator[None]:
    """All these are in force; they end in reverse, so that one may stand on another."""
    with ExitStack() as stack:
        for rewrite in rewrites:
            stack.enter_context(rewrite.made())
        yield


@contextmanager
def _ended_early() -> Iterator[None]:
    known, world.EVENTS_MAX = world.EVENTS_MAX, EVENTS_MAX
    try:
        yield
    finally:
        world.EVENTS_MAX = known


def nothing(_right: Wrong, *_arguments: Any, **_named: Any) -> None:
    """What should be done is not done."""


def never(_right: Wrong, *_arguments: Any, **_named: Any) -> bool:
    """What should be asked is not asked."""
    return False


def always(_right: Wrong, *_arguments: Any, **_named: Any) -> bool:
    """The same, with the opposite answer."""
    return True
