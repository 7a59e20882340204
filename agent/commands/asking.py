"""How commands ask: a client for the time of one command, and an exit code for whatever happens."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from agent.api.methods import Method
from agent.client import (
    BlockingClient,
    Client,
    ClientError,
    NoAgentError,
    RequestError,
)
from agent.commands import exits
from agent.commands.complaining import complain
from agent.commands.parsing import PROGRAM
from agent.commands.showing import plain, show_json

P = TypeVar("P", bound=Struct)
R = TypeVar("R", bound=Struct)


class _Failure(Struct, frozen=True):
    """What `--json` shows when there is no answer."""

    error: str
    code: int | None = None


def ask_with(
    options: argparse.Namespace,
    use: Callable[[Client], Coroutine[Any, Any, int]],
) -> int:
    """Connect a client, await ``use`` with it, and return the exit code; what goes wrong is told in
    one sentence."""
    return with_client(options, lambda client: client.run(use))


def ask(
    options: argparse.Namespace,
    method: Method[P, R],
    params: P,
    show: Callable[[R], int | None],
) -> int:
    """Ask the agent one question and show the answer, as JSON where that is wanted, else by
    ``show``, which may return an exit code of its own; return the exit code."""

    def asked(client: BlockingClient) -> int:
        answer = client.call(method, params)
        if options.json:
            show_json(answer)
            return exits.DONE
        return show(answer) or exits.DONE

    return with_client(options, asked)


def with_client(options: argparse.Namespace, use: Callable[[BlockingClient], int]) -> int:
    """Connect a client for as long as ``use`` needs it and return the exit code; what goes wrong is
    told in one sentence."""
    try:
        node = getattr(options, "node", "")
        with BlockingClient(name=f"{PROGRAM} command", node=node) as client:
            return use(client)
    except NoAgentError as error:
        return fail(options, str(error), exits.NO_AGENT)
    except RequestError as error:
        return fail(options, str(error), exits.FAILED, error.code)
    except ClientError as error:
        return fail(options, str(error))


def fail(
    options: argparse.Namespace, sentence: str, code: int = exits.FAILED, kind: int | None = None
) -> int:
    """Tell why it was not done, as JSON where that is wanted, else on standard error; return
    ``code``. ``kind``: the agent's code of the error."""
    if options.json:
        sys.stdout.write(msgspec.json.encode(_Failure(sentence, kind)).decode() + "\n")
    else:
        said = plain(sentence).rstrip(".")
        complain(f"{PROGRAM}: {said}{'' if said.endswith('?') else '.'}")
    return code
