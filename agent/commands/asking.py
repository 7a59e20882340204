"""How commands ask: a client for the time of one command, and an exit code for whatever happens."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

from agent.api.reasons import NO_WHY
from agent.api.rpc import ErrorCode, Method, P, R
from agent.api.work import MEANT, Meant
from agent.client import (
    BlockingClient,
    Client,
    ClientError,
    Home,
    NoAgentError,
    RequestError,
)
from agent.client.link import service_of
from agent.client.own_agent import own_name
from agent.commands import exits
from agent.commands.columns import complain
from agent.commands.parsing import PROGRAM, Options, Use
from agent.commands.showing import plain, show_json, show_lines


class _Failure(Struct, frozen=True):
    """What `--json` shows when there is no answer; ``reason`` is the name of the code."""

    error: str
    code: int | None = None
    reason: str | None = None


def with_client(use: Callable[[Options, BlockingClient], int]) -> Use:
    """Make the function below it one that connects a client, to the member that ``--node`` names if
    any, for as long as it takes. In the options a name that several workflows have gives way to the
    id of the one that is meant, which is said. A ``ClientError`` is told in one sentence and
    becomes the exit code, ``NO_AGENT`` where none runs; other exceptions come through."""

    def connected(options: Options) -> int:
        """Connect a client, use it, and return the exit code."""
        try:
            node = getattr(options, "node", "")
            with BlockingClient(name=f"{PROGRAM} command", node=node) as client:
                _find_meant(options, client)
                return use(options, client)
        except NoAgentError as error:
            return fail(options, str(error), exits.NO_AGENT)
        except RequestError as error:
            return fail(options, str(error), kind=error.code)
        except ClientError as error:
            return fail(options, str(error))

    return connected


def _find_meant(options: Options, client: BlockingClient) -> None:
    """Put the id in the place of a name that several workflows have, and say which of them is meant:
    the newest, of this person's own if there are any. What means nothing stays as it was typed; so
    does all where an agent of before answers, which knows no two of one name."""
    for place, kinds in getattr(options, "references", {}).items():
        word = getattr(options, place)
        if isinstance(word, str) and word:
            setattr(options, place, _meant(options, client, word, kinds))
        elif word and kinds == (False,):  # tasks beside a workflow are of that one
            setattr(options, place, [_meant(options, client, each, kinds) for each in word])


def _meant(options: Options, client: BlockingClient, word: str, kinds: tuple[bool, ...]) -> str:
    for task in kinds:
        try:
            told = client.call(MEANT, Meant(word, task, own_name()))
        except RequestError:
            continue
        if told.why == NO_WHY:
            break
        setattr(options, MEANT.name, told.why)
        options.typed = {**getattr(options, "typed", {}), told.id: word}
        if not options.json:
            complain(f"{PROGRAM}: {plain(told.text)}.")
        return told.id
    return word


def typed_for(options: Options, word: str) -> str:
    """Return what was typed where this stands now: the name in the place of which an id was put."""
    return str(getattr(options, "typed", {}).get(word, word))


def with_loop(use: Callable[[Options, Client], Coroutine[Any, Any, int]]) -> Use:
    """Make the coroutine below it a function that connects a client and waits for its end, and
    tells what goes wrong, as those of ``with_client`` do."""
    return with_client(lambda options, client: client.run(partial(use, options)))


def is_far(options: Options) -> bool:
    """Tell whether the agent that answers cannot read files of this account: that of another machine,
    or one that is a service."""
    return bool(getattr(options, "node", "")) or service_of(Home.of()) is not None


def ask(
    options: Options,
    method: Method[P, R],
    params: P,
    show: Callable[[R], None],
    bad: Callable[[R], bool] = lambda _: False,
) -> int:
    """Ask the agent one question and show the answer, as JSON where that is wanted, else by
    ``show``; return the exit code, that of a failure for a ``bad`` answer. A ``ClientError`` is
    told, not raised."""

    def asked(_: Options, client: BlockingClient) -> int:
        """Ask the question, show the answer, and return the exit code."""
        answer = client.call(method, params)
        if options.json:
            show_json(answer, options)
        else:
            show(answer)
        return exits.FAILED if bad(answer) else exits.DONE

    return with_client(asked)(options)


def tell(options: Options, answer: Struct, lines: Iterable[str]) -> int:
    """Show what was done, as JSON where that is wanted, else in these lines; return the exit code
    of success."""
    show_json(answer, options) if options.json else show_lines(lines)
    return exits.DONE


def fail(options: Options, sentence: str, code: int = exits.FAILED, kind: int | None = None) -> int:
    """Tell why it was not done, as JSON on standard output where that is wanted, else on standard
    error; return ``code``. ``kind`` is the agent's code of the error, which only JSON tells, None
    where the agent did not refuse."""
    if options.json:
        name = next((each.name for each in ErrorCode if each == kind), None)
        sys.stdout.write(msgspec.json.encode(_Failure(sentence, kind, name)).decode() + "\n")
    else:
        said = plain(sentence).rstrip(".")
        complain(f"{PROGRAM}: {said}{'' if said.endswith('?') else '.'}")
    return code
