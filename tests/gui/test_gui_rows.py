"""What the model keeps and puts in order, row by row: tray, screen, news, queue.

As with its words, values lie on both sides of each bound, so that one that moves is seen.
"""

from __future__ import annotations

from msgspec.structs import replace

from agent.api import admission, session
from agent.api.flock import MembersReply
from agent.api.permissions import PermissionAsked, PermissionsReply
from agent.api.presence_reasons import HelpsSoon
from agent.api.programs import ProgramsReply, ProgramView
from agent.api.reasons import as_why
from agent.api.settings import SettingsView
from agent.api.values import TaskState
from agent.api.volunteering import Pause
from gui.model.early import EarlyPause
from gui.model.news import News, NewsKind, kind_words, news_of
from gui.model.notices import (
    Absence,
    Absent,
    Answering,
    Notice,
)
from gui.model.queue import ROWS_MAX, Queue, QueueRow
from gui.model.screen import Changes, Screen
from gui.model.tray import Act, TrayState, pause_entries, sentence_of, state_of, tray_of
from gui.model.trouble import Remedy, Trouble, agent_trouble, flock_trouble, programs_trouble
from gui.views.columns import queue_name, queue_note
from tests.certain import certain
from tests.gui.values import (
    NOW_S,
    chain,
    connected,
    current,
    happened,
    moved,
    peer,
    peers,
    shown,
    status,
    task,
    volunteering,
    workflow,
)

NOW_MS = int(NOW_S * 1000)
S = TaskState
GATE = workflow(counts={S.WAITING: 1})
ASKS = admission.JoinRequestView("r", "milhafre", "ana", "10.0.0.9", "AB", "acor", 1, 2)
JOINING = admission.RequestsReply((ASKS, replace(ASKS, admitted=True)), True)
PROGRAMS = ProgramsReply(
    (ProgramView("map@1", ("acor",), "waiting"), ProgramView("cut@1", ("acor",)))
)
PERMISSIONS = PermissionsReply((PermissionAsked("x", "line 44", "ana", "acor", "n1", 1, ()),))


# -- tray ------------------------------------------------------------------------------------


def test_what_the_tray_says() -> None:
    own = (
        current(permille=319),
        current("detect", expected_end_ms=NOW_MS + 30_000),
        current("report"),
    )
    held = tuple(replace(each, state=S.SUSPENDED) for each in own)
    mouse = "Paused: you moved the mouse 12 s ago"
    away = volunteering(volunteering=False, reason=mouse)
    until = volunteering(paused=True, paused_until_ms=NOW_MS + 90_000)
    finishing = volunteering(finishing=True)
    rows: list[tuple[list[Notice], str]] = [
        ([status(tasks=own[:1])], "Running segment for line-42, 31 %"),
        ([status(tasks=own[1:2])], "Running detect for line-42, 30 s left"),
        ([status(tasks=own[2:])], "Running report for line-42"),
        ([status(tasks=own)], "Running 3 tasks for the flock"),
        ([status(tasks=held)], "Holding segment: you need this computer"),
        ([status(tasks=(*held[:1], own[1]))], "Running 2 tasks for the flock"),
        ([status()], "Ready to help; nothing to do at the moment"),
        ([status(volunteering=False)], "Does not help at the moment"),
        ([status(), volunteering(paused=True)], "Paused until you resume"),
        ([status(), until], "Paused, 1:30 left"),
        (
            [status(tasks=own[:1]), finishing],
            "Running segment for line-42, 31 %; pauses after that",
        ),
        ([status(volunteering=False), away], mouse),
        ([status(volunteering=True), away], mouse),  # read before that
    ]
    assert [sentence_of(connected(*told), NOW_S) for told, _ in rows] == [said for _, said in rows]
    starting = Screen()
    assert sentence_of(starting, NOW_S) == "Starting …"
    starting.early = EarlyPause(Pause(), 0)
    assert sentence_of(starting, NOW_S) == "Starting …; pauses as soon as it is up"
    assert state_of(starting) is TrayState.PAUSED
    assert pause_entries(starting, NOW_S)[0].text == "Resume"
    before = volunteering(paused=True, paused_until_ms=NOW_MS + 61_000)
    again = connected(status(), before, Absent(Absence.STARTING))
    again.early = EarlyPause(Pause(), 0)
    assert pause_entries(again, NOW_S)[0].text == "Resume"


def test_the_menu_of_the_tray_line_by_line() -> None:
    own = (
        current(permille=319, expected_end_ms=NOW_MS + 30_000),
        *(current(f"t{each}") for each in range(5)),
    )
    screen = connected(status(GATE, tasks=own), JOINING, PERMISSIONS)
    told = tray_of(screen, NOW_S)
    assert (told.state, told.permille) == (TrayState.NEEDS_YOU, 53)
    lines = [(each.act, each.text, each.enabled) for each in told.entries]
    assert lines == [
        (Act.OPEN, "Open Wingbeat", True),
        (Act.SEPARATOR, "", True),
        (Act.NOTHING, "Running 6 tasks for the flock", False),
        (Act.OPEN, "1 step wait for you", True),
        (Act.OPEN, "1 machine want to join the flock", True),
        (Act.OPEN, "segment (line-42) · 31 % · 30 s left", True),
        *((Act.OPEN, f"t{each} (line-42)", True) for each in range(4)),
        (Act.OPEN, "and 1 more", True),
        (Act.OPEN, "1 workflow wait for your permission", True),
        (Act.SEPARATOR, "", True),
        (Act.NOTHING, "Pause", True),
        (Act.SUBMIT, "Submit a workflow …", True),
        (Act.SEPARATOR, "", True),
        (Act.QUIT, "Quit …", True),
    ]
    leads = {each.text: each.leads_to for each in told.entries if each.leads_to is not None}
    assert leads == {
        "1 machine want to join the flock": NewsKind.JOIN,
        "1 workflow wait for your permission": NewsKind.PROGRAM,
    }
    few = [each.text for each in tray_of(connected(status(tasks=own[:2])), NOW_S).entries]
    assert few[3:5] == ["segment (line-42) · 31 % · 30 s left", "t0 (line-42)"]
    alone = [each.text for each in tray_of(connected(status(tasks=own[:1])), NOW_S).entries]
    assert alone[3:5] == ["", "Pause"]
    five = tray_of(connected(status(tasks=own[:5])), NOW_S).entries
    assert not any(each.text.startswith("and ") for each in five)
    gone = connected(status(), Absent(Absence.NO_AGENT))
    assert [each.text for each in tray_of(gone, NOW_S).entries if not each.enabled] == [
        sentence_of(gone, NOW_S), "Pause", "Submit a workflow …",
    ]  # fmt: skip


def test_the_pauses_that_are_offered() -> None:
    rows = [(each.act, each.length_s, each.text, each.enabled) for each in
            pause_entries(connected(status(tasks=(current(),))), NOW_S)]  # fmt: skip
    assert rows == [
        (Act.PAUSE, 900, "For 15 minutes", True),
        (Act.PAUSE, 3600, "For 1 hour", True),
        (Act.PAUSE, 14_400, "For 4 hours", True),
        (Act.PAUSE_TOMORROW, 0, "Until tomorrow", True),
        (Act.PAUSE_OPEN_ENDED, 0, "Until I resume", True),
        (Act.SEPARATOR, 0, "", True),
        (Act.FINISH, 0, "Finish what runs, then pause", True),
    ]

    def last(*told: object) -> bool:
        return pause_entries(connected(*told), NOW_S)[-1].enabled

    assert not last(status())
    assert not last(status(tasks=(current(),)), volunteering(finishing=True))
    assert not last(status(tasks=(current(),)), Absent(Absence.SILENT))
    assert last(status(tasks=(current(),)), Absent(Absence.STARTING))
    until = volunteering(paused=True, paused_until_ms=NOW_MS + 61_000)
    (resume,) = pause_entries(connected(status(), until), NOW_S)
    assert (resume.text, resume.enabled) == ("Resume (1:01 left)", True)


def test_who_is_warned_can_say_not_now() -> None:
    soon = as_why(HelpsSoon(NOW_MS + 22_000))
    screen = connected(
        status(volunteering=False, why=soon), volunteering(volunteering=False, why=soon)
    )
    tray = tray_of(screen, NOW_S)
    assert [each for each in tray.entries if each.act is Act.NOT_NOW] == list(
        pause_entries(screen, NOW_S)
    )
    assert pause_entries(screen, NOW_S)[0].length_s == 3_600
    assert not [each for each in tray.entries if each.text == "Pause"]


def test_the_warning_is_told_once_and_only_while_work_is_left() -> None:
    soon, later = (as_why(HelpsSoon(NOW_MS + each)) for each in (30_000, 31_000))

    def news(state: str) -> list[str]:
        screen = connected(status(workflow(state=state)), volunteering())
        return [
            each.title
            for number, why in enumerate((soon, later), 1)
            for each in screen.fold(
                [happened(number, session.VolunteeringChanged(False, True, "", False, why=why))]
            ).news
        ]

    (title,) = news("running")
    assert title.startswith("Works for others in")
    assert news("finished") == []


def test_the_badge_of_the_tray() -> None:
    present = {"volunteering": False, "owner_present": True}
    rows: list[tuple[list[Notice], TrayState]] = [
        ([status(), JOINING], TrayState.NEEDS_YOU),
        ([status(**present)], TrayState.OWNER),
        ([status(owner_present=True)], TrayState.IDLE),
        ([status(), volunteering(owner_present=True)], TrayState.IDLE),
        ([status(**present), volunteering(**present)], TrayState.OWNER),
        ([status(**present), volunteering()], TrayState.IDLE),
        ([status(), peers(peer("a", state="away"), peer("b"))], TrayState.IDLE),
        ([status(), peers()], TrayState.IDLE),
        ([status(), peers(flock="")], TrayState.ALONE),
        ([status(), peers(peer("a"))], TrayState.IDLE),
        ([status(), peers(peer("a", state="away"))], TrayState.ALONE),
        ([status(flock="")], TrayState.ALONE),
        ([status(tasks=(current(),))], TrayState.RUNNING),
        ([status(), volunteering(paused=True)], TrayState.PAUSED),
        ([status(), volunteering(**present)], TrayState.OWNER),
        ([status(GATE, tasks=(current(),))], TrayState.NEEDS_YOU),
        ([status(), Absent(Absence.SILENT)], TrayState.TROUBLE),
    ]
    assert [state_of(connected(*told)) for told, _ in rows] == [state for _, state in rows]


def test_troubles_with_their_remedies() -> None:
    def of(why: Absence, sentence: str = "") -> tuple[str, Remedy, str]:
        told = certain(agent_trouble(Absent(why, sentence)))
        return told.sentence[:30], told.remedy, told.button

    assert of(Absence.NO_AGENT) == (
        "The agent of this computer doe",
        Remedy.START_AGENT,
        "Start it",
    )
    assert of(Absence.SILENT) == ("The agent does not answer. It ", Remedy.RESTART_AGENT, "Start it anew")  # fmt: skip
    assert of(Absence.REFUSED, "Too old.") == ("Too old.", Remedy.NONE, "")
    assert of(Absence.REFUSED) == ("The agent refuses this window.", Remedy.NONE, "")
    assert agent_trouble(None) is None
    assert agent_trouble(Absent(Absence.STARTING)) is None
    assert flock_trouble(Screen()) is None
    assert flock_trouble(connected(status(), peers(peer("a")))) is None
    lost = connected(status(workflow()), peers(peer("a"), peer("b", state="away")))
    assert flock_trouble(lost) == Trouble(
        "1 machine cannot be reached; work there may run twice.", Remedy.DOCTOR, "Find out why"
    )
    lost.fold([Absent(Absence.NO_AGENT)])
    assert list(lost.workflows) == ["line-42"]
    lost.fold([Answering()])
    assert lost.absence is None
    alone = certain(flock_trouble(connected(status(flock=""))))
    assert (alone.remedy, alone.button) == (Remedy.JOIN, "Join or create a flock")
    assert programs_trouble(Screen()) is None
    assert programs_trouble(connected(status(), PermissionsReply(()))) is None
    assert programs_trouble(connected(status(), PERMISSIONS)) == Trouble(
        "1 workflow of others wait for your permission to run here.",
        Remedy.OPEN_PROGRAMS,
        "Decide",
    )


# -- screen ----------------------------------------------------------------------------------


def flags(changes: Changes) -> set[str]:
    names = ("flock", "node", "volunteering", "programs", "settings", "connection", "everything")
    return {name for name in names if getattr(changes, name)}


def test_each_notice_says_what_it_changed_and_only_once() -> None:
    screen = connected(status(workflow()))
    view = SettingsView("a", "b", 1, (), (), 2, ())
    rows: list[tuple[Notice, set[str]]] = [
        (peers(peer("a")), {"flock"}),
        (peers(peer("a")), set()),
        (peers(peer("a"), slots=3), {"flock", "node"}),
        (volunteering(), {"volunteering"}),
        (volunteering(), set()),
        (MembersReply("office", (), ()), {"flock"}),
        (PROGRAMS, {"programs"}),
        (PERMISSIONS, {"programs"}),
        (view, {"settings"}),
        (JOINING, {"flock"}),
        (JOINING, set()),
        (admission.AskView("none"), {"flock"}),
        (admission.AskView("none"), set()),
        (Absent(Absence.SILENT), {"connection"}),
        (Absent(Absence.SILENT), set()),
        (Answering(), {"connection"}),
        (Answering(), set()),
        (happened(1, session.PeerChanged("n")), {"flock"}),
        (happened(1, session.FlockChanged("office")), {"flock"}),
        (happened(1, session.ProgramWaiting("map@1", "ana")), {"programs"}),
        (
            happened(1, session.VolunteeringChanged(False, True, "why", True)),
            {"node", "volunteering"},
        ),
        (happened(1, session.WorkflowSafe("line-42")), set()),
        (status(workflow()), {"node", "everything"}),
    ]
    for notice, wanted in rows:
        changes = screen.fold([notice])
        assert flags(changes) == wanted, notice
        assert changes.anything == bool(wanted), notice
    assert (screen.settings, screen.volunteering and screen.volunteering.reason) == (view, "why")
    assert screen.volunteering is not None
    assert (screen.volunteering.paused, screen.volunteering.owner_present) == (True, True)
    assert not screen.volunteering.volunteering
    assert [each.request for each in screen.join_requests()] == ["r"]
    assert screen.asked == admission.AskView("none")


def test_what_is_removed_on_another_machine_leaves_the_list() -> None:
    screen = connected(status(workflow(), workflow("line-43")))
    assert flags(screen.fold([happened(1, session.WorkflowGone("line-42"))])) == {"everything"}
    assert ([*screen.workflows], screen.total) == (["line-43"], 1)
    assert flags(screen.fold([happened(2, session.WorkflowGone("line-42"))])) == set()


def test_changes_of_a_bundle_are_those_of_all_in_it() -> None:
    screen = connected(status())
    twice: list[Notice] = [
        peers(peer("a")),
        peers(peer("a")),
        volunteering(),
        volunteering(),
        JOINING,
        JOINING,
    ]
    assert flags(screen.fold(twice)) == {"flock", "volunteering"}
    assert flags(screen.fold([Absent(Absence.SILENT), Absent(Absence.SILENT)])) == {"connection"}
    assert flags(screen.fold([Answering(), Answering()])) == {"connection"}
    assert screen.fold([]).anything is False


def test_who_may_not_admit_is_not_asked_to() -> None:
    others = admission.RequestsReply((ASKS,), False, ("cagarro",))
    assert connected(status(), others).join_requests() == ()


def test_tasks_of_further_pages_join_the_first() -> None:
    view = workflow()
    screen = connected(status(view), shown(view, *chain()[:2]))
    more = shown(view, *chain()[2:])
    screen.fold([replace(more, first=2)])
    assert [each.task for each in screen.tasks_of("line-42")] == ["import", "segment", "report"]
    screen.fold([shown(view)])  # a page without tasks of a workflow that has some
    assert len(screen.tasks_of("line-42")) == 3
    assert screen.tasks_of("elsewhere") == []


def test_events_of_tasks_that_are_not_known() -> None:
    view = workflow(counts={S.READY: 2}, tasks=3)
    own = (task("a", S.READY), task("b", S.READY))
    screen = connected(status(view, sequence=4), shown(view, *own, sequence=4))
    new = screen.fold([happened(5, moved("c", None, S.READY))])
    assert (screen.workflows["line-42"].counts, new.tasks) == ({S.READY: 3}, set())
    full = screen.fold([happened(6, moved("d", None, S.READY))])
    assert (full.wanted, full.workflows) == ({"line-42"}, set())
    known = screen.fold([happened(7, moved("a", None, S.WAITING))])
    assert screen.workflows["line-42"].counts == {S.READY: 2, S.WAITING: 1}
    assert (known.stale, known.flock) == ({"line-42"}, False)
    ended = screen.fold([happened(8, moved("a", S.RUNNING, S.TERMINATED))])
    assert ended.flock
    old = screen.fold([happened(4, moved("a", S.READY, S.WAITING))])
    assert not old.anything
    far = session.TaskProgressed("x", "x", "line-42", "acor", 1, 1)
    assert not screen.fold([happened(9, far)]).anything


# -- news ------------------------------------------------------------------------------------


def test_what_is_told_to_who_does_not_look() -> None:
    known = {"w": replace(workflow("w"), name="line 42")}
    opened = "Open it to see which step, and to try it again."
    joined = "A machine joined it or left it. Open the flock to see which."
    allow = "published it. Nothing of it runs here until you allow it."
    wants = "milhafre wants to join the flock"
    rows: list[tuple[object, list[News]]] = [
        (session.WorkflowEnded("w", "finished", {S.TERMINATED: 1}),
         [News(NewsKind.ENDED, "line 42 is done", "1 task ended well.", "w")]),
        (session.WorkflowEnded("x", "failed", {}), [News(NewsKind.FAILED, "x failed", opened, "x")]),
        (session.WorkflowEnded("w", "cancelled", {}), []),
        (session.GateWaiting("g", "look", "w", "at the wires"),
         [News(NewsKind.GATE, "line 42 waits for you", "look: at the wires", "w", "g")]),
        (session.GateWaiting("g", "look", "x", ""),
         [News(NewsKind.GATE, "x waits for you", "look", "x", "g")]),
        (session.ProgramWaiting("map@1", "ana"),
         [News(NewsKind.PROGRAM, "May map run here?", f"ana {allow}")]),
        (session.ProgramWaiting("map@1", "ana", "x", "line 44"),
         [News(NewsKind.PROGRAM, "May line 44 run here?", f"ana {allow}")]),
        (session.ProgramWaiting("map@1", ""),
         [News(NewsKind.PROGRAM, "May map run here?", f"Somebody {allow}")]),
        (admission.JoinRequested("r", "milhafre", "ana", "AB", "acor"),
         [News(NewsKind.JOIN, wants, "ana at milhafre asks acor, with the code AB.")]),
        (admission.JoinRequested("r", "milhafre", "", "AB", "acor"),
         [News(NewsKind.JOIN, wants, "milhafre asks acor, with the code AB.")]),
        (admission.AskChanged("admitted", "office"),
         [News(NewsKind.JOIN, "office lets this computer in",
               "Open the flock, and confirm that the code is the same.")]),
        (admission.AskChanged("waiting", "office"), []),
        (session.FlockChanged("office"),
         [News(NewsKind.FLOCK, "The flock office has changed", joined)]),
        (session.FlockChanged(""), []),
        (session.WorkflowSafe("w"), []),
    ]  # fmt: skip
    for happening, wanted in rows:
        assert list(news_of(happened(1, happening), known)) == wanted  # type: ignore[arg-type]
    assert [kind_words(each) for each in NewsKind] == [
        *("A workflow is done", "A workflow failed", "A step waits for you"),
        *("A machine joined or left the flock", "A machine wants to join the flock"),
        *("A program waits for your permission", "This computer is about to work for others"),
    ]


def test_a_pause_that_was_asked_for_early_is_as_long_as_is_left_of_it() -> None:
    asked = EarlyPause(Pause(for_s=60.0), 100.0)
    assert [asked.due(100.0 + each) for each in (0, 59, 59.5)] == [
        *(Pause(for_s=60.0), Pause(for_s=1.0), None),
    ]
    assert EarlyPause(Pause(until_tomorrow=True), 0).due(1e6) == Pause(until_tomorrow=True)


# -- queue -----------------------------------------------------------------------------------


def test_places_in_the_queue_count_what_is_not_shown() -> None:
    low = workflow("low", submitted_ms=1)
    high = workflow("high", priority=100, submitted_ms=9)
    later = workflow("later", submitted_ms=2)
    ended = workflow("ended", state="finished")
    ready = [task(f"r{each}", S.READY, program="cut", host="garajau") for each in range(2)]
    tasks = {
        "low": {each.task: each for each in (*ready, task("g", S.WAITING), task("d", S.TERMINATED))},
        "high": {"h": task("h", S.SUBMITTED), "s": task("s", S.SUSPENDED)},
        "later": {"l": task("l", S.READY), "c": task("c", S.SCHEDULED)},
        "ended": {"e": task("e", S.READY)},
    }  # fmt: skip
    workflows = {each.workflow: each for each in (low, high, later, ended)}
    queue = Queue()

    def found(typed: str = "") -> list[tuple[str, int]]:
        return [(each.task.name, each.place) for each in queue.rows(workflows, tasks, typed)]

    assert found() == [("c", 1), ("s", 2), ("g", 3), ("r0", 4), ("r1", 5), ("l", 6), ("h", 7)]
    assert found("CUT low") == [("r0", 4), ("r1", 5)]
    assert found("garajau r1") == [("r1", 5)]
    assert found("low cut nothing") == []
    assert queue.total == 7
    del workflows["low"]
    assert found() == [("c", 1), ("s", 2), ("l", 3), ("h", 4)]
    assert queue.total == 4


def test_a_fan_out_that_waits_is_one_row_as_in_the_graph() -> None:
    """What runs of it stands by itself, and whoever types sees each."""
    steps = [task("split", S.RUNNING, program="split@1")]
    steps += [
        task(f"t{n}", S.SUBMITTED, program="tile@1", needs=("split",), reason="waits for split")
        for n in range(240)
    ]
    steps += [
        task(f"f{n}", S.SUBMITTED, program="fit", needs=(f"t{n}",), reason=f"waits for t{n}")
        for n in range(5)
    ]
    steps += [task(f"few{n}", S.SUBMITTED, program="few", needs=("split",)) for n in range(4)]
    steps += [task("next", S.READY, program="tile@1")]
    queue, tasks = Queue(), {"line-42": {each.task: each for each in steps}}

    def said(row: QueueRow) -> str:
        return queue_name(row).replace("\u00d7", "*")

    def shown(typed: str = "") -> list[tuple[str, int]]:
        rows = queue.rows({"line-42": workflow()}, tasks, typed)
        return [(said(row), row.place) for row in rows]

    few = [(f"few{n}", 248 + n) for n in range(4)]
    assert shown() == [("split", 1), ("next", 2), ("tile *240", 3), ("fit *5", 243), *few]
    assert queue.total == 251
    assert shown("t17") == [("t17", 20), *((f"t{n}", n + 3) for n in range(170, 180))]
    first = queue.rows({"line-42": workflow()}, tasks)
    assert queue.rows({"line-42": workflow()}, tasks, "", set())[2] is first[2]
    notes = {said(row): queue_note(row, NOW_S) for row in first}
    assert (notes["tile *240"], notes["fit *5"]) == (
        "waits for split",
        "each waits for what is before it",
    )
    for each in range(6):
        tasks["line-42"][f"t{each}"] = task(f"t{each}", S.READY, program="tile@1", needs=("split",))
    assert shown()[1:4] == [("tile *6", 2), ("next", 8), ("tile *234", 9)]


def test_no_more_rows_than_anybody_scrolls_through() -> None:
    own = {str(each): task(str(each), S.READY, program=f"p{each}") for each in range(ROWS_MAX + 1)}
    queue = Queue()
    assert len(queue.rows({"line-42": workflow()}, {"line-42": own})) == ROWS_MAX == 1000
    assert queue.total == ROWS_MAX + 1
