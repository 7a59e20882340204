"""`python -m agent` is the command `wingbeat`, for places where no script was installed."""

import sys

from agent.cli import main

if __name__ == "__main__":
    sys.exit(main())
