"""What `wingbeat.exe` and `wingbeat-tray.exe` run, each by its own name, in the folder of the package.

Whatever starts a Python by ``sys.executable`` gets the one of the package. The folder is nobody's to
write to, so what Python compiles is kept among what the person's own agent keeps. A program without a
console has no place to print to; what is written there goes nowhere rather than into a fault.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

own = Path(sys.executable)
sys.executable = str(own.with_name("python.exe"))
sys.argv[0] = own.stem
if kept := os.environ.get("LOCALAPPDATA"):
    sys.pycache_prefix = str(Path(kept, "wingbeat", "Cache", "bytecode"))
if sys.stderr is None:
    sys.stdout = sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - as long as the process lives

if own.stem.lower() == "wingbeat-tray":
    from gui.__main__ import main
else:
    from agent.__main__ import main

sys.exit(main())
