"""What is told to a person in one sentence, from whichever room it comes."""

from __future__ import annotations


class ServiceError(Exception):
    """One sentence for a person: what is wrong, where, and what to do."""
