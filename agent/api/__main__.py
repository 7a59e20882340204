"""`python -m agent.api` prints the client contract, for whoever writes a client of their own."""

import sys

import msgspec

from agent.api.schema import document


def main() -> int:
    """Print the contract as an OpenRPC document."""
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(document()), indent=2).decode() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
