"""The start of the command `wingbeat`, and of `python -m agent` where no script was installed.

Apart from the command itself (``agent.cli``), so that little is loaded before Ctrl-C ends it quietly.
"""

import sys

from agent import __version__

OBJECTS_BEFORE_A_SEARCH = 10_000
"""Python's own figure is 700. Nearly all that a short command makes stays to its end, and looking
through that for garbage, again and again and once more at the end, is a fifth of its time."""


def main() -> int:
    """Run the command named in the arguments of this process and return its exit code; raise
    ``SystemExit`` as ``agent.cli.main`` does. Ctrl-C ends the process without a word before and
    after the command itself. With ``--version`` alone nothing else is loaded."""
    if sys.argv[1:] == ["--version"] and _told(f"wingbeat {__version__}\n"):
        return 0
    import gc

    from agent.commands.exits import end_at_once

    gc.set_threshold(OBJECTS_BEFORE_A_SEARCH)
    end_at_once()
    from agent.cli import main as run

    code = run()
    end_at_once()
    gc.freeze()
    return code


def _told(line: str) -> bool:
    """What cannot be written is said by the command itself."""
    try:
        sys.stdout.write(line)
        sys.stdout.flush()
    except (OSError, AttributeError):
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
