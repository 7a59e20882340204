"""Where the agent of this home is, as its control file tells."""

from __future__ import annotations

import msgspec

from agent.api.session import CONTROL_FILE, ControlFile
from agent.client.errors import NoAgentError, NotUnderstoodError
from agent.paths import Home

NO_AGENT = "no agent runs here: start one with `wingbeat agent`"


def read_control_file(home: Home | None = None) -> ControlFile:
    """Return where the agent of this home (default: this user's) listens, and its token, by the
    file that it left; whether it still runs is not looked at. Raises ``NoAgentError`` where there is
    no file or it cannot be read, ``NotUnderstoodError`` where another version wrote it."""
    home = home or Home.of()
    path = home.data / CONTROL_FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=ControlFile)
    except FileNotFoundError:
        raise NoAgentError(NO_AGENT) from None
    except OSError as error:
        reason = "the agent runs under another account"
        if isinstance(error, NotADirectoryError):
            reason = "WINGBEAT_HOME has to name a folder"
        raise NoAgentError(f"{path} cannot be read ({error.strerror}): {reason}") from error
    except msgspec.MsgspecError as error:
        raise NotUnderstoodError(
            f"{path} is not what an agent of this version writes: update Wingbeat on both sides"
        ) from error
