"""All that is wrong with a description, a line each, as compilers write it."""

from __future__ import annotations

import argparse
import sys

from agent.commands import exits
from agent.commands.asking import fail
from agent.commands.showing import plain
from agent.workflow.faults import FaultsError


def tell_faults(options: argparse.Namespace, error: FaultsError) -> int:
    """Print the faults of a description on standard error, or as JSON; return the exit code of a
    failure."""
    told = [fault.sentence() for fault in error.faults]
    if options.json:
        return fail(options, "; ".join(told))
    sys.stderr.writelines(f"{plain(line)}\n" for line in told)
    return exits.FAILED
