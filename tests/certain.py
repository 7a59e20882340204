"""What a test is certain of: said where a value is taken, so that it is what it has to be from there on."""

from typing import TypeVar

T = TypeVar("T")


def certain(value: T | None) -> T:
    """Return what is there; whoever finds nothing fails."""
    assert value is not None
    return value


def of_kind(kind: type[T], value: object) -> T:
    """Return what is of this kind; whoever finds something else fails."""
    assert isinstance(value, kind), value
    return value
