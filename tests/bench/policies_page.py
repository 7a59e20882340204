"""``agent/protocol/policy/README.md`` and its picture, from what the benchmarks of policies have kept.

``python -m tests.bench report`` writes both: nothing of the page's figures is typed. ``policies`` gives the
documents' settings, ``policies_nodes`` the cell through the real nodes, ``live_policies`` nine real agents. What
misses its limit stands there as it is, with the reason where one is known.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from agent.wording.rules import RULES
from tests.bench import late_claims, live_policies, load, policies, policies_nodes
from tests.bench.report import Figures, Sheet, Verdict
from tests.sim.queues import LENGTHS, MIXES, STABLE_SHARES
from tests.style.source import REPOSITORY

FIGURES: Final = Path(__file__).parent / "figures"
ROOM: Final = REPOSITORY / "agent" / "protocol" / "policy"
PAGE, PICTURE = ROOM / "README.md", ROOM / "policies.svg"
BENCHES: Final = (policies, late_claims, load, policies_nodes, live_policies)
FOR_WHOM: Final = {
    "look-ahead": "any office, and the one to begin with: it knows workflows, speeds of machines, where "
    "data lie and when owners come back",
    "reaching": "many machines that come and go, tasks without order among them, of very different lengths",
    "WQR-2": "machines of which nobody knows anything, with more of them than work",
    "WQR-4": "the same, where power costs nothing",
    "WQR-FA-2": "more machines than work, where some leave soon",
    "WQR-FA-4": "the same, where power costs nothing",
    "FCFS": "machines that hardly ever go, or people who want to foresee what is next",
    "EC": "where a task that was lost is dear and order matters more than time",
    "EGC": "the same, where machines differ much in how long they stay",
    "BFC": "machines that differ much in how long they stay, in order of submission",
    "BFGC": "unstable machines and tasks of different lengths that were told rightly",
    "BFGCE": "the same where lengths are guesses: the fewest tasks are given up for being told too short",
    "late-claims": "few tasks on machines of which the good ones come late, or programs that save their state",
    "late-claims-among-3": "the same, for comparison with the source",
    "late-claims-unasked": "the same, where every message counts and work that comes a moment later does no harm",
}
REASONS: Final = {
    "executions": "the source does not say how the first times up of its hosts are drawn",
    "BFGC over FCFS": "the source's makespans hold overheads and an end of the work that it does not "
    "publish, and FCFS loses more by them",
    "ours to BFGCE": "sooner than BFGCE in every cell, here by less than 3 %: without saved states most of "
    "the rest is runs that any rule loses, and the end of the longest tasks",
    "ours with saved states": "the end of the last long tasks is what is left over the bound",
    "lengths told wrongly": "one task in one of 15 cells (unstable, medium, up to three times as long as "
    "told), where the other rules give up 6 to 8",
    "late claims, ours to the optimum": "one packet of ten is lost, and what is lost is sent again after 0.2 s at "
    "the soonest: a claim asks all, so most tasks of 10 s begin so much later",
    "variance": "how well off a machine is, and how old its news are, is not in the source",
    "messages": "what a job costs besides the rounds is not in the source",
    "time to loss": "how often objects are read, and how many there are, is not in the source",
    "to the best of the documents' rules": "one cell, one seed: where a long task is lost late decides "
    "when all of it ends",
}
MINE, THEIRS, SPOT = "#2a6f97", "#9db4c0", "#1b263b"
ROW, LABEL, PANEL, GAP, HEAD = 18, 92, 250, 26, 64


def keep(name: str, figures: Figures) -> None:
    """Keep the figures of a benchmark for the page."""
    FIGURES.mkdir(exist_ok=True)
    (FIGURES / f"{name}.json").write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


def kept(name: str) -> Figures | None:
    """Return what a benchmark has kept; None where it has not yet."""
    path = FIGURES / f"{name}.json"
    found: Figures | None = json.loads(path.read_text("utf-8")) if path.exists() else None
    return found


def write() -> None:
    """Write the page and its picture, as far as figures were kept."""
    PAGE.write_text(page(), "utf-8")
    if (figures := kept("policies")) is not None:
        PICTURE.write_text(picture(figures["rules"]), "utf-8")


def page() -> str:
    """Return the page."""
    parts = ["# Which rules for which office", OPENING, _chosen()]
    for bench in BENCHES:
        figures = kept(bench.__name__.rpartition(".")[2])
        if figures is None:
            continue
        if bench is policies:
            parts += [
                "## The documents' settings",
                "![Makespan and work thrown away](policies.svg)",
            ]
        else:
            parts.append(f"## {bench.WHAT[0].upper()}{bench.WHAT[1:]}")
        sheets: Iterable[Sheet] = bench.sheets(figures)
        parts += [part for sheet in sheets for part in _table(sheet)]
        parts += _verdicts(bench.judge(figures))
    parts += ["## In fresh scenarios of the simulator", IN_SCENARIOS, _in_scenarios()]
    return "\n\n".join(parts) + "\n"


def _in_scenarios() -> str:
    counts = kept(SCENARIOS) or {}
    rows = [[name, *counts[name]] for name in RULES if name in counts]
    return _lines(["rules", "scenarios", "promise broken"], rows)


SCENARIOS: Final = "scenarios"
IN_SCENARIOS = """Random flocks, work, owners, deaths, cuts and clocks, with every promise of the protocol checked at every
step: `python -m tests.sim --seeds N --first M --policy NAME --keep-going --keep`, each time with seeds that were not drawn before."""
OPENING = """Who runs what can be decided by several rules. An administrator chooses one for the whole flock,
with `wingbeat settings --policy NAME` or in the window under Flock; it holds at once, on all machines, also on
those that were switched off then. The classes are in this folder, each with its source in its first lines,
and are the same in the simulators and on a live node. *Ours* in the documents' settings is `reaching`, for
their tasks have no order among them; `look-ahead` is for workflows, and is measured with real nodes. This page is written by `python -m tests.bench report`
from what `policies`, `late_claims`, `load`, `policies_nodes` and `live_policies` have measured. FR is measured
only: it needs to know of every host how often it failed, and here nobody tells that of others."""


def _chosen() -> str:
    rows = [[name, said, FOR_WHOM[name]] for name, said in RULES.items()]
    return _lines(["rules", "what they do", "for whom"], rows)


def _table(sheet: Sheet) -> Iterator[str]:
    yield f"**{sheet.title}**"
    yield _lines(sheet.columns, sheet.rows)
    if sheet.note:
        yield sheet.note


def _verdicts(verdicts: Iterable[Verdict]) -> Iterator[str]:
    rows = []
    for each in verdicts:
        what, measured, limit, said = map(str, each.row())
        why = "" if each.kept else next((w for key, w in REASONS.items() if key in what), "")
        rows.append(
            [what, limit, measured, "" if said == "kept" else f"missed: {why}".rstrip(": ")]
        )
    yield _lines(["against the source, or of ours", "to reach", "measured", ""], rows)


def _lines(columns: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    columns = list(columns)
    head = ["| " + " | ".join(map(str, columns)) + " |", "|" + "---|" * len(columns)]
    return "\n".join([*head, *("| " + " | ".join(map(_cell, each)) + " |" for each in rows)])


def _cell(value: object) -> str:
    return "" if value is None else str(value).replace("|", "\\|")


# -- the picture ---------------------------------------------------------------------------


def picture(rows: list[dict[str, Any]]) -> str:
    """Return a drawing of two rows of panels: how long all of the work took, and how much work was
    thrown away, for each rule, where hosts are stable, mixed and unstable; a bar for the mean of three
    mixes of lengths, a dot for each."""
    found = [each for each in rows if each["manner"] == "exponential"]
    names = [(rule, 0.0) for rule in policies.RULES] + [("ours", policies.SAVES_EVERY_S)]
    height = len(names) * ROW
    drawn = []
    for line, (title, value) in enumerate(((TIME, _time), (WASTE, _waste))):
        top = HEAD + line * (height + 58)
        most = max(value(each) for each in found)
        drawn.append(_text(8, top - 34, title, 13, weight="600"))
        for place, share in enumerate(STABLE_SHARES):
            left = LABEL + 16 + place * (PANEL + GAP)
            drawn.append(_text(left, top - 14, f"{share} hosts", 12))
            for number, (rule, saves) in enumerate(names):
                those = [
                    value(each)
                    for each in found
                    if (each["share"], each["rule"], each["saves_every_s"]) == (share, rule, saves)
                ]
                drawn += _bar(left, top + number * ROW, those, most, rule)
        drawn += [
            _text(LABEL + 8, top + number * ROW + 12, _name(*each), 11, anchor="end")
            for number, each in enumerate(names)
        ]
    width, bottom = LABEL + 16 + 3 * (PANEL + GAP), HEAD + 2 * height + 58
    drawn.append(_text(8, bottom + 22, LEGEND, 11))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom + 36}" '
        f'font-family="sans-serif" role="img"><title>{escape(TITLE)}</title>'
        f'<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(drawn) + "\n</svg>\n"
    )


def _time(row: dict[str, Any]) -> float:
    return float(row["makespan_s"]) / policies.WORK_S


def _waste(row: dict[str, Any]) -> float:
    lengths = [sum(LENGTHS[each]) / 2 for each in "SML"]
    mix = MIXES[row["kind"]]
    mean_s = sum(share * each for share, each in zip(mix, lengths, strict=True)) / sum(mix)
    return float(100 * row["wasted_s"] / mean_s)


TIME = "How long all of the work took: 1 is the least, with hosts that never fail"
WASTE = "Work that was thrown away, in percent of the work that was wanted"
TITLE = "Makespan and work thrown away, by rule and stability of hosts"
LEGEND = (
    "Bars: mean of three mixes of lengths; dots: mostly short, medium and long tasks. Dark: ours. "
    "Written by python -m tests.bench report."
)


def _name(rule: str, saves: float) -> str:
    return f"{rule}, saved" if saves else rule


def _bar(left: float, top: float, values: list[float], most: float, rule: str) -> Iterator[str]:
    scale = (PANEL - 44) / most
    mean, colour = fmean(values), MINE if rule == "ours" else THEIRS
    yield (
        f'<rect x="{left}" y="{top + 3}" width="{mean * scale:.1f}" height="{ROW - 6}" '
        f'fill="{colour}"/>'
    )
    for each in values:
        yield f'<circle cx="{left + each * scale:.1f}" cy="{top + 9}" r="2.2" fill="{SPOT}"/>'
    told = f"{mean:.2f}" if mean < 10 else f"{mean:.0f}"
    yield _text(left + max(*values, mean) * scale + 6, top + 13, told, 10)


def _text(
    x: float, y: float, text: str, size: int, *, anchor: str = "start", weight: str = "400"
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
        f'font-weight="{weight}" fill="{SPOT}">{escape(text)}</text>'
    )
