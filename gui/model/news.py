"""What is worth telling a person who does not look: few things, each of a kind that one can mute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from msgspec import Raw

from agent.api import admission, session
from agent.api.presence_reasons import HelpsSoon
from agent.api.programs import bare_name
from agent.api.reasons import reason_of
from agent.api.work import WorkflowView
from gui.wording import explained
from gui.words import tr, tr_n


class NewsKind(Enum):
    """Each can be switched off by itself."""

    ENDED = "ended"
    FAILED = "failed"
    GATE = "gate"
    FLOCK = "flock"
    JOIN = "join"
    PROGRAM = "program"
    SOON = "soon"


@dataclass(frozen=True, slots=True)
class News:
    """A title, a sentence, and where a click leads: a workflow, or a place."""

    kind: NewsKind
    title: str
    sentence: str
    workflow: str = ""
    task: str = ""


def kind_words(kind: NewsKind) -> str:
    """Return what the switch that mutes this kind of news says."""
    return {
        NewsKind.ENDED: tr("A workflow is done"),
        NewsKind.FAILED: tr("A workflow failed"),
        NewsKind.GATE: tr("A step waits for you"),
        NewsKind.FLOCK: tr("A machine joined or left the flock"),
        NewsKind.JOIN: tr("A machine wants to join the flock"),
        NewsKind.PROGRAM: tr("A program waits for your permission"),
        NewsKind.SOON: tr("This computer is about to work for others"),
    }[kind]


def news_of(event: session.Event, workflows: Mapping[str, WorkflowView]) -> Iterator[News]:
    """Yield the news that an event is worth, none for most: a workflow is done or failed (not
    cancelled), a step or a program waits, a machine asks to join, this one is let in, the flock has
    changed (not if it was left). A workflow that is not in ``workflows`` is called as the event
    says, else by its id."""
    match event.happening:
        case session.WorkflowEnded(workflow, state, counts, told):
            name = workflows[workflow].name if workflow in workflows else told or workflow
            yield from _ended(workflow, name, state, sum(counts.values()))
        case session.GateWaiting(task, name, workflow, asks, told):
            where = workflows[workflow].name if workflow in workflows else told or workflow
            yield News(
                NewsKind.GATE,
                tr("{workflow} waits for you", workflow=where),
                f"{name}: {asks}" if asks else name,
                workflow,
                task,
            )
        case session.ProgramWaiting(program, publisher, _, name):
            yield News(
                NewsKind.PROGRAM,
                tr("May {program} run here?", program=name or bare_name(program)),
                tr(
                    "{publisher} published it. Nothing of it runs here until you allow it.",
                    publisher=publisher or tr("Somebody"),
                ),
            )
        case admission.JoinRequested(_, name, user, code, keeper):
            yield _asks_to_join(name, user, code, keeper)
        case admission.AskChanged("admitted", flock):
            yield News(
                NewsKind.JOIN,
                tr("{flock} lets this computer in", flock=flock),
                tr("Open the flock, and confirm that the code is the same."),
            )
        case session.FlockChanged(flock):
            if flock:
                yield News(
                    NewsKind.FLOCK,
                    tr("The flock {flock} has changed", flock=flock),
                    tr("A machine joined it or left it. Open the flock to see which."),
                )
        case _:
            pass


def is_soon(why: Raw) -> bool:
    """Tell whether this reason is the warning before this computer works for others."""
    return isinstance(reason_of(why, ""), HelpsSoon)


def soon_news(why: Raw, reason: str) -> News:
    """Return the news that this computer is about to work for others, and how to say no."""
    return News(
        NewsKind.SOON,
        explained(why, reason),
        tr("Use it, or choose Not now in Wingbeat's menu, and it waits."),
    )


def _asks_to_join(name: str, user: str, code: str, keeper: str) -> News:
    asks = tr("{user} at {name}", user=user, name=name) if user else name
    return News(
        NewsKind.JOIN,
        tr("{name} wants to join the flock", name=name),
        tr("{who} asks {keeper}, with the code {code}.", who=asks, keeper=keeper, code=code),
    )


def _ended(workflow: str, name: str, state: str, tasks: int) -> Iterator[News]:
    if state == "failed":
        yield News(
            NewsKind.FAILED,
            tr("{workflow} failed", workflow=name),
            tr("Open it to see which step, and to try it again."),
            workflow,
        )
    elif state == "finished":
        yield News(
            NewsKind.ENDED,
            tr("{workflow} is done", workflow=name),
            tr_n("%n task(s) ended well.", "", tasks),
            workflow,
        )
