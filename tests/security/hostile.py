"""The hostile program: started as ``hostile.py -x JSON``, it tries everything that ``attacks`` has.

It prints ``GOT name`` for each that went; the JSON is what the attacks are told.
"""

import json
import subprocess
import sys

from tests.security import attacks_beyond_files, attacks_on_the_kernel  # noqa: F401 - they name themselves
from tests.security.attacks import ATTACKS, told


def main(words: list[str]) -> None:
    told.update(json.loads(words[words.index("-x") + 1]))
    for name, function in ATTACKS.items():
        try:
            if function():
                print("GOT", name, flush=True)
        except (OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
            print("refused", name, error, flush=True)
    print("tried all", flush=True)


if __name__ == "__main__":
    main(sys.argv)
