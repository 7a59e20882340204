"""`wingbeat retry`: what failed, once more; `again`: any past workflow, with other values or scripts.

Whoever has mended a script wants the mended one, and whoever has edited another step meanwhile may not:
so what differs from what ran is always said, with the way to have it otherwise.
"""

from __future__ import annotations

from pathlib import Path

from agent.api.again import AgainReply, Step
from agent.api.rpc import ErrorCode
from agent.api.work import RETRY, STATUS, Retry, Status
from agent.client import Client, RequestError
from agent.client.own_agent import own_name
from agent.commands import exits
from agent.commands.asking import fail, tell, with_loop
from agent.commands.columns import complain
from agent.commands.parsing import PROGRAM, Options, argument, command
from agent.commands.questions import TASKS, WORKFLOW
from agent.commands.showing import clock, counted, show_json, show_lines
from agent.commands.submit import name_of_workflow, setting
from agent.commands.waiting import wait_for
from agent.wording.speech import Speech
from agent.workflow.again import Changes, Looked, look_again, run_again

NAMED_MAX = 4
WHAT = {
    "new": "is new",
    "program": "has another script",
    "data": "has other data",
    "parameters": "has other parameters",
    "inputs": "needs something else",
    "step": "asks something else",
}
ALL = argument("--all", action="store_true", help="run the steps too that are as they were")
AS_IT_WAS = argument(
    "--as-it-was", action="store_true", help="with the scripts and files that it had"
)


@command(
    "retry",
    "Try failed and cancelled tasks again, with what they need of other such tasks. What finished\n"
    "is kept. Where a script or a file has changed since, that is said: if only scripts of failed\n"
    "steps have, these run as they are now, as another workflow that keeps what has not changed;\n"
    "else all runs as it was, unless --now is said.",
    "wingbeat retry survey",
    "wingbeat retry survey merge",
    "wingbeat retry survey --now",
    WORKFLOW,
    TASKS,
    argument("--now", action="store_true", help="with the scripts and files as they are now"),
    AS_IT_WAS,
)
@with_loop
async def retry(options: Options, client: Client) -> int:
    """Try what failed again, as it was or with its scripts as they are now, and say which; return
    the exit code, that of a failure where it is to run as it is now and cannot be read."""
    looked = await _looked(options, client) if not options.as_it_was else None
    if looked is not None and looked.trouble is not None:
        if options.now:
            return fail(options, _unreadable(looked))
        complain(f"{PROGRAM}: {_unreadable(looked)}; it is tried as it was.")
    differing = looked.differing if looked is not None else ()
    if looked is not None and differing and (options.now or (looked.mended and not options.tasks)):
        reply = await run_again(client, looked, _changes(options), now=True, anew=False)
        lines = [f"{_differ(differing)}: it runs as it is now; --as-it-was tries the old one"]
        return tell(options, reply, [*lines, *_told(reply)])
    wished = await client.call(RETRY, Retry(options.workflow, tuple(options.tasks)))
    told = [f"{wished.name or wished.workflow}: {wished.text}"]
    if differing:
        told.append(f"{_differ(differing)}, and it runs as it was; --now runs it as it is now")
    return tell(options, wished, told)


@command(
    "again",
    "Run a past workflow again, as another one: with its scripts and files as they are now, and\n"
    "with other values of its variables, if you like. Steps that are as they were keep what they\n"
    "have made, which is said; --all runs them too.",
    "wingbeat again survey",
    "wingbeat again survey --set flight=8 --name survey-8",
    "wingbeat again survey --step check",
    "wingbeat again survey --as-it-was --all --wait",
    WORKFLOW,
    argument("--name", type=name_of_workflow, help="under this name, not its own"),
    argument(
        "--set",
        action="append",
        default=[],
        type=setting,
        metavar="NAME=VALUE",
        help="another value of a variable of the workflow; may be given again",
    ),
    argument(
        "--step",
        action="append",
        default=[],
        metavar="NAME",
        help="do this step once more, as a gate with something else attached, and what needs it; "
        "may be given again",
    ),
    ALL,
    AS_IT_WAS,
    argument("--dry-run", action="store_true", help="tell what would run; run nothing"),
    argument("--wait", action="store_true", help="until it has ended"),
)
@with_loop
async def again(options: Options, client: Client) -> int:
    """Run a past workflow again as another one, or in a dry run tell what would run; with
    ``--wait`` wait until it has ended, which the exit code then tells. Return that code: of a
    failure where the workflow was to be changed and its file cannot be read here, ``--as-it-was``
    is given with a change, or the agent is too old for this."""
    changed = bool(options.set or options.name)
    if options.as_it_was and changed:
        return fail(options, "what is to be as it was has the values and the name that it had")
    looked = await _looked(options, client)
    if looked is None:
        return fail(options, "the agent is of a version that runs nothing again: update it")
    if changed and looked.wanted is None:
        return fail(options, _unreadable(looked))
    if looked.trouble is not None and not options.as_it_was:
        complain(f"{PROGRAM}: {_unreadable(looked)}; it runs as it was.")
    position = (await client.call(STATUS, Status(limit=1))).position
    now = looked.wanted is not None and not options.as_it_was
    if options.dry_run:
        would = looked.now if now and looked.now is not None else looked.was
        return tell(options, would, _steps(would, anew=options.all))
    reply = await run_again(client, looked, _changes(options), now=now, anew=options.all)
    if options.json and not options.wait:
        show_json(reply, options)
    elif not options.json:
        differing = looked.differing if now else ()
        show_lines([*([_differ(differing)] if differing else []), *_told(reply)])
    if not options.wait:
        return exits.DONE
    return await wait_for(client, reply.workflow, position, as_json=options.json)


async def _looked(options: Options, client: Client) -> Looked | None:
    """None where an agent of before answers, which compares nothing."""
    try:
        return await look_again(client, options.workflow, _changes(options))
    except RequestError as error:
        if error.code != ErrorCode.NO_SUCH_METHOD:
            raise
        return None


def _changes(options: Options) -> Changes:
    return Changes(
        dict(getattr(options, "set", ())),
        getattr(options, "name", None) or "",
        own_name(),
        tuple(getattr(options, "step", ())),
    )


def _unreadable(looked: Looked) -> str:
    origin, error = looked.was.origin, looked.trouble
    if origin is None:
        return f"where {looked.was.name} was read is not known"
    if error is None:
        return f"{looked.was.name} was read on {looked.was.host}, and can be read anew only there"
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"{Path(origin.path).name} cannot be read as it is now ({why})"


def _differ(steps: tuple[Step, ...]) -> str:
    shown = [f"{step.name} {WHAT.get(step.differs[0], 'differs')}" for step in steps[:NAMED_MAX]]
    more = len(steps) - len(shown)
    return ", ".join([*shown, *([f"{counted(more, 'step')} more differ"] if more else [])])


def _told(reply: AgainReply) -> list[str]:
    kept = sum(step.kept for step in reply.steps)
    lines = [f"{reply.name} is accepted as {reply.workflow}"]
    if kept:
        steps = f"{kept} of {counted(len(reply.steps), 'step')}"
        lines.append(f"{steps} are unchanged and kept; `wingbeat again --all` runs them all")
    return [*lines, *reply.waits]


def _steps(reply: AgainReply, *, anew: bool) -> list[str]:
    lines = []
    for step in reply.steps:
        how = "kept" if step.kept and not anew else "runs"
        why = ", ".join(WHAT.get(each, "differs") for each in step.differs)
        lines.append(f"{step.name} {how}{f': it {why}' if why else ''}")
    length_s, basis = (reply.all_s, reply.all_lasts) if anew else (reply.lasts_s, reply.lasts)
    long = []
    if basis is not None and length_s:
        about = f"about {clock(length_s)}" if length_s >= 1 else "less than a second"
        told = (about, Speech().basis(basis))
        long = [f"what runs takes {', '.join(filter(None, told))}"]
    return [*lines, *(f"{name} is gone" for name in reply.gone), *long]
