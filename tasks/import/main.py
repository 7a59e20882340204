"""Checks raw measurements and converts them. The library is beside this file or installed with Wingbeat."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from tasks.inspection.conversation import main
    from tasks.inspection.importing import do

    main(do)
