"""A workflow as a picture: boxes in layers from left to right, arrows named by what flows.

Fan-outs are folded: tasks that run the same program and stand in the same place of the graph (what
they need and what needs them are alike, all the way) become one box "×240" with a bar of their
states. Alike is found by refining classes until nothing changes, so whole chains inside a fan-out
fold too. Where the boxes stand is worked out by Sugiyama's algorithm (``fast_sugiyama``); it
depends only on the shape, so colours change live without anything moving.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agent.api.programs import bare_name
from agent.api.work import TaskView
from gui.model.marks import Mark, mark_of_task
from gui.model.times import size

FOLD_MIN = 5
"""So many alike are one box; fewer are told apart more easily by eye than by number."""
BOX_WIDTH, BOX_HEIGHT = 144.0, 54.0
LAYER_GAP, ROW_GAP = 66.0, 22.0
CLOSE_GAP = 26.0
"""Between layers where there is little room: enough for an arrow, not for a name on it."""
BENDS_MAX = 2_000
"""Lines that pass many layers bend in each; of more bends the layout would take seconds, so the
longest lines go straight."""


@dataclass(frozen=True, slots=True)
class Box:
    """One task, or many alike. ``x`` and ``y`` are its upper left corner."""

    key: str
    tasks: tuple[str, ...]
    title: str
    x: float = 0.0
    y: float = 0.0


@dataclass(frozen=True, slots=True)
class Arrow:
    """What flows from one box to another, and where its line bends on the way."""

    source: str
    target: str
    label: str
    bends: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """Boxes and arrows with their places; ``shape`` changes only when they have to be laid anew."""

    boxes: tuple[Box, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    shape: tuple[tuple[str, tuple[str, ...]], ...] = ()
    box_of: Mapping[str, str] = field(default_factory=dict)


def shape_of(tasks: Iterable[TaskView]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return what the layout depends on: the tasks and what each needs."""
    return tuple((task.task, task.needs) for task in tasks)


def draw(tasks: Sequence[TaskView]) -> Picture:
    """Return the picture of these tasks: ``FOLD_MIN`` or more that are alike folded into one box,
    boxes and arrows laid out; what is needed from outside these tasks has no arrow."""
    groups = _folded(tasks)
    box_of = {task: key for key, members in groups.items() for task in members}
    by_id = {task.task: task for task in tasks}
    boxes = {key: _box(key, members, by_id) for key, members in groups.items()}
    edges = _edges(tasks, box_of, by_id)
    places, bends = _layout(list(boxes), list(edges))
    placed = tuple(
        Box(each.key, each.tasks, each.title, *places[each.key]) for each in boxes.values()
    )
    arrows = tuple(
        Arrow(source, target, label, bends.get((source, target), ()))
        for (source, target), label in edges.items()
    )
    return Picture(placed, arrows, shape_of(tasks), box_of)


def closer(picture: Picture) -> Picture:
    """Return a picture that ``draw`` has made with less room between the layers, so that it can be
    shown larger."""
    nearer = (BOX_WIDTH + CLOSE_GAP) / (BOX_WIDTH + LAYER_GAP)
    boxes = tuple(replace(box, x=box.x * nearer) for box in picture.boxes)
    half = BOX_WIDTH / 2
    arrows = tuple(
        replace(arrow, bends=tuple(((x - half) * nearer + half, y) for x, y in arrow.bends))
        for arrow in picture.arrows
    )
    return replace(picture, boxes=boxes, arrows=arrows)


def count_marks(box: Box, tasks: Mapping[str, TaskView]) -> Counter[Mark]:
    """Return how many tasks of a box have which mark; those that were not read do not count."""
    return Counter(mark_of_task(tasks[task]) for task in box.tasks if task in tasks)


# -- folding -------------------------------------------------------------------------------


def _folded(tasks: Sequence[TaskView]) -> dict[str, list[str]]:
    """Boxes by the id of their first task, in the author's order."""
    classes = _alike(tasks)
    members: dict[int, list[str]] = defaultdict(list)
    for task in tasks:
        members[classes[task.task]].append(task.task)
    groups: dict[str, list[str]] = {}
    for task in tasks:
        own = members[classes[task.task]]
        if len(own) < FOLD_MIN:
            groups[task.task] = [task.task]
        elif own[0] == task.task:
            groups[task.task] = own
    return groups


def _alike(tasks: Sequence[TaskView]) -> dict[str, int]:
    """The class of each task: alike in program, and in the classes before and after."""
    known = {task.task for task in tasks}
    before = {task.task: [each for each in task.needs if each in known] for task in tasks}
    after: dict[str, list[str]] = defaultdict(list)
    for task, needs in before.items():
        for each in needs:
            after[each].append(task)
    numbers: dict[object, int] = {}
    classes = {
        task.task: numbers.setdefault((task.gate, task.program), len(numbers)) for task in tasks
    }
    count = len(numbers)
    while True:
        numbers = {}
        classes = {
            task: numbers.setdefault(
                (
                    classes[task],
                    frozenset(classes[each] for each in before[task]),
                    frozenset(classes[each] for each in after[task]),
                ),
                len(numbers),
            )
            for task in classes
        }
        if len(numbers) == count:
            return classes
        count = len(numbers)


def _box(key: str, members: list[str], by_id: Mapping[str, TaskView]) -> Box:
    first = by_id[key]
    title = first.name if len(members) == 1 else (bare_name(first.program) or first.name)
    return Box(key, tuple(members), title)


def _edges(
    tasks: Sequence[TaskView],
    box_of: Mapping[str, str],
    by_id: Mapping[str, TaskView],
) -> dict[tuple[str, str], str]:
    edges: dict[tuple[str, str], str] = {}
    for task in tasks:
        for need in task.needs:
            if need not in box_of or box_of[need] == box_of[task.task]:
                continue
            pair = box_of[need], box_of[task.task]
            if pair not in edges:
                edges[pair] = label_of(by_id[need])
    return edges


def label_of(producer: TaskView) -> str:
    """Return what flows out of a task: the name of its first output, or where it has none its size;
    and how many more there are. Empty without outputs."""
    if not producer.outputs:
        return ""
    said = output_name(producer, 0) or size(producer.outputs[0].size_bytes)
    more = len(producer.outputs) - 1
    return f"{said} +{more}" if more else said


def output_name(task: TaskView, place: int) -> str:
    """Return what an output of a task is called: by its program, by the step that a person did, or
    in somebody's database; empty where nobody gave it a name. Raises ``IndexError`` where the task
    has no output at this place."""
    names, output = task.output_names or task.attach, task.outputs[place]
    named = names[place] if place < len(names) else ""
    return named or (output.dataset if output.external else "")


# -- layout --------------------------------------------------------------------------------

_Places = dict[str, tuple[float, float]]
_Bends = dict[tuple[str, str], tuple[tuple[float, float], ...]]


def _layout(keys: list[str], edges: list[tuple[str, str]]) -> tuple[_Places, _Bends]:
    """Layers to the right, places within a layer downwards."""
    if not keys:
        return {}, {}
    number = {key: place for place, key in enumerate(keys)}
    layers = _layers(keys, edges)
    points, routes = _sugiyama(
        [(number[a], number[b]) for a, b in edges], [layers[key] for key in keys]
    )
    across = [_corner(point) for point in points]
    places = {key: across[number[key]] for key in keys}
    bends = {
        edge: tuple(_centre(points[dummy]) for dummy in route)
        for edge, route in zip(edges, routes, strict=True)
        if route
    }
    return places, bends


def _sugiyama(
    edges: list[tuple[int, int]], layers: list[int]
) -> tuple[list[tuple[float, float]], list[list[int]]]:
    """Points (layer, place) of the vertices and of the bends, which follow them."""
    long = [(a, b) for a, b in edges if layers[b] - layers[a] > 1]
    long.sort(key=lambda edge: layers[edge[1]] - layers[edge[0]])
    bent: dict[tuple[int, int], list[int]] = {}
    all_edges = [(a, b) for a, b in edges if layers[b] - layers[a] <= 1]
    all_layers = list(layers)
    for a, b in long:
        if len(all_layers) - len(layers) + layers[b] - layers[a] > BENDS_MAX:
            break
        chain = []
        for layer in range(layers[a] + 1, layers[b]):
            chain.append(len(all_layers))
            all_layers.append(layer)
        bent[a, b] = chain
        all_edges += list(zip([a, *chain], [*chain, b], strict=True))
    parts = (_upright(each, layers) for each in _parts(all_edges, len(all_layers)))
    points = _below_each_other(list(parts), all_layers)
    return points, [bent.get(edge, []) for edge in edges]


def _parts(edges: list[tuple[int, int]], count: int) -> list[dict[int, float]]:
    """The places within their layers of the vertices of each part that hangs together, in the order
    of their first vertices; whoever has no edge is a part. Each edge leads to the next layer here,
    so the shortest lines, which are asked for, leave every vertex in its layer."""
    from fast_sugiyama import from_edges  # only who looks at a graph pays for it

    found: list[dict[int, float]] = []
    if edges:
        laid = from_edges(
            edges,
            vertex_spacing=1,
            dummy_vertices=False,
            ranking_type="minimize",
            crossing_minimization="median",
            transpose=True,
        )
        found = [{int(vertex): float(x) for vertex, (x, _) in part[0]} for part in laid]
    alone = set(range(count)).difference(*found)
    return sorted([*found, *({each: 0.0} for each in alone)], key=min)


def _upright(part: dict[int, float], layers: list[int]) -> dict[int, float]:
    """The part as it is or upside down, which crosses as few lines: what its author wrote first
    stands above what came later in its layer, on the whole."""
    own: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for vertex, place in part.items():
        if vertex < len(layers):
            own[layers[vertex]].append((vertex, place))
    falls = 0.0
    for layer in own.values():
        middle = sum(vertex for vertex, _ in layer) / len(layer)
        falls += sum((vertex - middle) * place for vertex, place in layer)
    return part if falls >= 0 else {vertex: -place for vertex, place in part.items()}


def _below_each_other(
    parts: list[dict[int, float]], layers: list[int]
) -> list[tuple[float, float]]:
    """Points (layer, place) of all vertices: each part as near to those before it as it can be,
    without a box on another."""
    points = [(0.0, 0.0)] * len(layers)
    taken: dict[int, float] = {}
    for part in parts:
        first: dict[int, float] = {}
        for vertex, place in part.items():
            first[layers[vertex]] = min(place, first.get(layers[vertex], place))
        beside = [taken[layer] + 1 - place for layer, place in first.items() if layer in taken]
        down = max(beside, default=-min(first.values()))
        for vertex, place in part.items():
            layer = layers[vertex]
            points[vertex] = (float(layer), place + down)
            taken[layer] = max(place + down, taken.get(layer, place + down))
    lowest = min(place for _, place in points)
    return [(layer, place - lowest) for layer, place in points]


def _layers(keys: list[str], edges: list[tuple[str, str]]) -> dict[str, int]:
    """The longest way from a beginning; whoever starts late stands right before who needs it."""
    before: dict[str, list[str]] = {key: [] for key in keys}
    after: dict[str, list[str]] = {key: [] for key in keys}
    for source, target in edges:
        before[target].append(source)
        after[source].append(target)
    layers: dict[str, int] = {}
    open_needs = {key: len(before[key]) for key in keys}
    ready = [key for key in keys if not open_needs[key]]
    for key in ready:
        layers[key] = max((layers[each] + 1 for each in before[key]), default=0)
        for each in after[key]:
            open_needs[each] -= 1
            if not open_needs[each]:
                ready.append(each)
    for key in keys:
        layers.setdefault(key, 0)
    for key in reversed(ready):
        if not before[key] and after[key]:
            layers[key] = max(0, min(layers[each] for each in after[key]) - 1)
    return layers


def _corner(point: tuple[float, float]) -> tuple[float, float]:
    layer, place = point
    return layer * (BOX_WIDTH + LAYER_GAP), place * (BOX_HEIGHT + ROW_GAP)


def _centre(point: tuple[float, float]) -> tuple[float, float]:
    x, y = _corner(point)
    return x + BOX_WIDTH / 2, y + BOX_HEIGHT / 2
