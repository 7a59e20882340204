"""Where boxes stand: few lines cross, none lies on another, and each step right of what it needs."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations, pairwise
from random import Random
from time import thread_time

import pytest

from agent.api.work import TaskView
from gui.model.graph import BOX_HEIGHT, BOX_WIDTH, ROW_GAP, Picture, draw
from tests.gui.values import task

Needs = dict[str, tuple[str, ...]]


def steps(needs: Needs) -> list[TaskView]:
    """Of a program each, so that none is folded."""
    return [task(name, program=name, needs=of) for name, of in needs.items()]


def ladder(length: int) -> Needs:
    """Each needs the one before it and one far before it: many lines are long."""
    return {
        f"a{each}": (f"a{each - 1}", f"a{each * 2 // 3}") if each > 2 else ()
        for each in range(length)
    }


def drawn(seed: int, length: int = 40, reach: int = 12) -> Needs:
    draw_lots, needs = Random(seed), Needs()
    for each in range(length):
        count = draw_lots.randint(0, 2) if each else 0
        found = {draw_lots.randrange(max(0, each - reach), each) for _ in range(count)}
        needs[f"t{each}"] = tuple(f"t{need}" for need in sorted(found))
    return needs


def mosaic(images: int) -> Needs:
    """As astronomers put images together: each is projected, neighbours are compared, all is one."""
    needs: Needs = {f"project {each}": () for each in range(images)}
    pairs = [(a, b) for a, b in combinations(range(images), 2) if b - a in (1, 4)]
    needs |= {f"compare {a} {b}": (f"project {a}", f"project {b}") for a, b in pairs}
    needs["model"] = tuple(f"compare {a} {b}" for a, b in pairs)
    needs |= {f"level {each}": (f"project {each}", "model") for each in range(images)}
    needs["mosaic"] = tuple(f"level {each}" for each in range(images))
    return needs


def crossings(picture: Picture) -> int:
    gaps: defaultdict[tuple[float, float], list[tuple[float, float]]] = defaultdict(list)
    centre = {b.key: (b.x + BOX_WIDTH / 2, b.y + BOX_HEIGHT / 2) for b in picture.boxes}
    for arrow in picture.arrows:
        line = [centre[arrow.source], *arrow.bends, centre[arrow.target]]
        for (x, y), (to_x, to_y) in pairwise(line):
            gaps[x, to_x].append((y, to_y))
    lines = (pair for each in gaps.values() for pair in combinations(each, 2))
    return sum((a - c) * (b - d) < 0 for (a, b), (c, d) in lines)


# How many lines crossed as igraph 1.0 laid the same steps, by which this was done before.
CROSSED: dict[str, tuple[Needs, int]] = {
    "ladder of 20": (ladder(20), 14),
    "ladder of 60": (ladder(60), 61),
    "mosaic of 8": (mosaic(8), 138),
    "mosaic of 12": (mosaic(12), 347),
    **{f"drawn {seed}": (drawn(seed), was) for seed, was in enumerate((34, 29, 8, 48, 0, 3))},
}


@pytest.mark.parametrize("name", CROSSED)
def test_no_more_lines_cross_than_ever(name: str) -> None:
    needs, most = CROSSED[name]
    picture = draw(steps(needs))
    assert len(picture.boxes) == len(needs)
    assert crossings(picture) <= most


@pytest.mark.parametrize("seed", range(40))
def test_no_box_lies_on_another_and_lines_lead_to_the_right(seed: int) -> None:
    picture = draw(steps(drawn(seed, length=3 + 2 * seed, reach=2 + seed)))
    columns: defaultdict[float, list[float]] = defaultdict(list)
    for box in picture.boxes:
        columns[box.x].append(box.y)
    for column in columns.values():
        gaps = [below - above for above, below in pairwise(sorted(column))]
        assert all(gap >= BOX_HEIGHT + ROW_GAP - 0.01 for gap in gaps)
    stands = {box.key: box.x for box in picture.boxes}
    for arrow in picture.arrows:
        way = [stands[arrow.source], *(x for x, _ in arrow.bends), stands[arrow.target]]
        assert way == sorted(way)


def test_the_same_steps_are_laid_alike() -> None:
    assert draw(steps(drawn(7))) == draw(steps(drawn(7)))


def test_what_hangs_together_stays_together_in_the_order_of_its_author() -> None:
    chains = {
        f"{chain}{place}": (f"{chain}{place - 1}",) * (place > 0)
        for chain in "abc"
        for place in range(3)
    }
    picture = draw(steps(chains | {"alone": ()}))
    rows = {box.key: round(box.y / (BOX_HEIGHT + ROW_GAP)) for box in picture.boxes}
    assert rows == {**{name: "abc".index(name[0]) for name in chains}, "alone": 3}


def test_what_its_author_wrote_first_stands_above() -> None:
    needs: Needs = {"begin": (), **{f"step {each}": ("begin",) for each in range(4)}}
    needs |= {f"then {each}": (f"step {each}",) for each in range(4)}
    needs["end"] = tuple(f"then {each}" for each in range(4))
    rows = {box.key: box.y for box in draw(steps(needs)).boxes}
    for kind in ("step", "then"):
        column = [rows[f"{kind} {each}"] for each in range(4)]
        assert column == sorted(column)


def test_a_thousand_steps_are_laid_while_nobody_notices() -> None:
    many = steps(drawn(1, length=1_000, reach=60))
    draw(many[:9])  # what is loaded with the first is not counted
    began_s = thread_time()
    draw(many)
    assert (
        thread_time() - began_s < 1.0
    )  # 0.1 s on a quiet machine; what others took is not counted


def test_steps_that_wait_for_each_other_are_drawn_all_the_same() -> None:
    """Nobody honest submits them; a picture that cannot be made would take the window with it."""
    picture = draw(steps({"a": ("b",), "b": ("a",), "c": ("b",)}))
    assert [box.key for box in picture.boxes] == ["a", "b", "c"]
