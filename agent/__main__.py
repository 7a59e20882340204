"""The start of the command `wingbeat`, and of `python -m agent` where no script was installed.

Apart from the command itself (``agent.cli``), so that little is loaded before Ctrl-C ends it quietly.
"""

import sys

from agent.commands.exits import end_at_once


def main() -> int:
    """Run the command named in the arguments of this process and return its exit code; Ctrl-C ends
    the process without a word while it is being loaded and after it has ended."""
    end_at_once()
    from agent.cli import main as run

    code = run()
    end_at_once()
    return code


if __name__ == "__main__":
    sys.exit(main())
