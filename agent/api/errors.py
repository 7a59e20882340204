"""What is told to a person in one sentence, from whichever room it comes."""

from __future__ import annotations


class ServiceError(Exception):
    """One sentence for a person: what is wrong, where, and what to do."""


class MembershipError(ServiceError):
    """It is wrong with the flock, its members or its keepers."""


class NotKeptError(MembershipError):
    """The own disk does not take something: nobody else's fault, and worth trying again."""
