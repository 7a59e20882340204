"""The nodes of an XML workflow and what flows between them, with the language's rules of types.

What a node returns must be of the type that the port takes which it flows to; every port gets one
thing, and a pool has one port, which takes an Array, as its reducer does.
"""

from __future__ import annotations

import graphlib
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from agent.workflow.faults import Faults, Place, either, shown
from agent.workflow.xml_elements import TYPES
from agent.workflow.xml_nodes import Element

Port = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Job:
    """A function to be called. ``ports`` are name and type, in their order."""

    name: str
    place: Place
    source: str
    returns: str
    ports: tuple[Port, ...]


@dataclass(slots=True)
class GraphNode:
    """A value, a job, or a pool, and what flows into its ports."""

    name: str
    place: Place
    returns: str
    ports: tuple[Port, ...] = ()
    value: Element | None = None
    job: Job | None = None
    processor: Job | None = None
    reducer: Job | None = None
    inputs: dict[str, GraphNode] = field(default_factory=dict)
    misled: bool = False
    """An edge that leads here is wrong, which was told: a port may well be empty."""


@dataclass(slots=True)
class Graph:
    """All nodes by their names. ``order``: each after those that it needs; empty in a circle."""

    nodes: dict[str, GraphNode]
    final: GraphNode | None
    order: tuple[str, ...]


def read_graph(root: Element, faults: Faults) -> Graph:
    """The nodes and edges of a document whose elements were checked alone."""
    nodes: dict[str, GraphNode] = {}
    inner: dict[str, str] = {}
    taken: dict[str, Place] = {}
    for section in root.named("nodes"):
        for element in section.children:
            node = _node(element, faults)
            for name, each in [(node.name, element), *_inside(element)]:
                if name in taken:
                    said = f"the id {shown(name)} is taken in line {taken[name].line}"
                    faults.add(each.place, said)
                taken.setdefault(name, each.place)
            inner.update({name: node.name for name, _ in _inside(element)})
            nodes.setdefault(node.name, node)
    edges = [edge for section in root.named("edges") for edge in section.named("edge")]
    _connect(nodes, inner, edges, faults)
    _unconnected(nodes.values(), faults)
    return Graph(nodes, _final(root, nodes, inner, faults), _order(nodes, faults))


def _inside(element: Element) -> list[tuple[str, Element]]:
    inner = [*element.named("processor"), *element.named("reducer")]
    return [(each.attributes.get("id", ""), each) for each in inner if each.attributes.get("id")]


def _node(element: Element, faults: Faults) -> GraphNode:
    name, returns = element.attributes.get("id", ""), element.attributes.get("returntype", "")
    node = GraphNode(name, element.place, returns, _ports(element, faults))
    if element.name == "value":
        node.value = element
        if ("value" in element.attributes) == ("src" in element.attributes):
            faults.add(element.place, f"{name}: a value has either value or src")
    elif element.name == "job":
        node.job = _job(element, faults)
    elif element.name == "pool":
        _pool(node, element, faults)
    return node


def _ports(element: Element, faults: Faults) -> tuple[Port, ...]:
    ports: dict[str, str] = {}
    for section in element.named("parameters")[:1]:
        for each in section.named("parameter"):
            name, kind = each.attributes.get("id", ""), each.attributes.get("paramtype", "")
            if name in ports:
                faults.add(each.place, f"there are two ports {shown(name)}")
            ports[name] = kind
    return tuple(ports.items())


def _job(element: Element, faults: Faults) -> Job:
    given = element.attributes
    if given.get("jobtype") == "webcl":
        said = "no machine runs WebCL, which no browser has any more: make it javascript"
        faults.add(element.place, f"{given.get('id', '')}: {said}")
    ports = _ports(element, faults)
    source, returns = given.get("src", ""), given.get("returntype", "")
    return Job(given.get("id", ""), element.place, source, returns, ports)


def _pool(node: GraphNode, element: Element, faults: Faults) -> None:
    for each in element.named("processor")[:1]:
        node.processor = _job(each, faults)
        _one_port(node.processor, "processor", faults)
    for each in element.named("reducer")[:1]:
        node.reducer = _job(each, faults)
        _one_port(node.reducer, "reducer", faults, "Array")
        if node.reducer.returns != node.returns and node.returns and node.reducer.returns:
            said = f"returns {node.returns}, but its reducer returns {node.reducer.returns}"
            faults.add(node.place, f"{node.name} {said}")
    _one_port(Job(node.name, node.place, "", "", node.ports), "pool", faults, "Array")


def _one_port(job: Job, what: str, faults: Faults, kind: str = "") -> None:
    if len(job.ports) != 1:
        said = f"a {what} has exactly one parameter, and {job.name} has {len(job.ports)}"
        faults.add(job.place, said)
    elif kind and job.ports[0][1] not in (kind, ""):
        said = f"the parameter of a {what} must be of the type {kind}, not {job.ports[0][1]}"
        faults.add(job.place, said)


def _connect(
    nodes: dict[str, GraphNode], inner: dict[str, str], edges: Iterable[Element], faults: Faults
) -> None:
    names: dict[str, Place] = {}
    for edge in edges:
        name = edge.attributes.get("id", "")
        if name and name in names:
            said = f"the edge {shown(name)} is there in line {names[name].line} already"
            faults.add(edge.place, said)
        names[name] = edge.place
        source = _end(edge, "source", nodes, inner, faults)
        target = _end(edge, "dest", nodes, inner, faults)
        if source is not None and target is not None:
            _flow(edge, source, target, faults)
        elif target is not None:
            target.misled = True


def _end(
    edge: Element, which: str, nodes: dict[str, GraphNode], inner: dict[str, str], faults: Faults
) -> GraphNode | None:
    name = edge.attributes.get(which, "")
    if not name or name in nodes:
        return nodes.get(name)
    if name in inner:
        hint = f"; it is inside the pool {inner[name]}, so write that"
    else:
        hint = faults.hint(name, nodes)
    faults.add(edge.place, f"{which}: there is no node {shown(name)}{hint}")
    return None


def _flow(edge: Element, source: GraphNode, target: GraphNode, faults: Faults) -> None:
    port = edge.attributes.get("paramdest")
    ports = dict(target.ports)
    if target.value is not None:
        faults.add(edge.place, f"{target.name} is a value: nothing flows into it")
        return
    if port is None and len(ports) == 1:
        port = next(iter(ports))
    target.misled |= port not in ports
    if port is None:
        choices = f": write paramdest with {either(ports)}" if ports else ": it has no parameters"
        faults.add(edge.place, f"which port of {target.name} is meant is not said{choices}")
        return
    if port not in ports:
        hint = faults.hint_or_all(port, ports)
        faults.add(edge.place, f"{target.name} has no port {shown(port)}{hint}")
        return
    if port in target.inputs:
        other = target.inputs[port].name
        faults.add(edge.place, f"the port {port} of {target.name} gets {other} already")
        return
    target.inputs[port] = source
    known = source.returns in TYPES and ports[port] in TYPES
    if known and source.returns != ports[port]:
        said = f"{source.name} returns {source.returns}, but the port {port} of {target.name}"
        faults.add(edge.place, f"{said} takes {ports[port]}")


def _unconnected(nodes: Iterable[GraphNode], faults: Faults) -> None:
    for node in nodes:
        for port, _ in node.ports:
            if port not in node.inputs and not node.misled:
                faults.add(node.place, f"nothing flows into the port {port} of {node.name}")


def _final(
    root: Element, nodes: dict[str, GraphNode], inner: dict[str, str], faults: Faults
) -> GraphNode | None:
    for element in root.named("finalnode")[:1]:
        name = element.attributes.get("id", "")
        if name in nodes or not name:
            return nodes.get(name)
        if name in inner:
            said = f"the final node cannot be {name}, which is inside a pool: write {inner[name]}"
            faults.add(element.place, said)
        else:
            hint = faults.hint(name, nodes)
            faults.add(element.place, f"finalnode: there is no node {shown(name)}{hint}")
    return None


def _order(nodes: dict[str, GraphNode], faults: Faults) -> tuple[str, ...]:
    """Every node after those that it needs."""
    needs = {name: [each.name for each in node.inputs.values()] for name, node in nodes.items()}
    try:
        return tuple(graphlib.TopologicalSorter(needs).static_order())
    except graphlib.CycleError as error:
        way: list[str] = error.args[1]
        faults.add(nodes[way[0]].place, f"nodes need each other in a circle: {' → '.join(way)}")
        return ()


def value_of(text: str, kind: str, name: str, place: Place, faults: Faults) -> Any:
    """A value of that type, as JSON has it."""
    if kind == "String":
        return text
    if kind in ("undefined", "null"):
        return None
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        value = _NONE
    fits = {
        "Number": isinstance(value, int | float) and not isinstance(value, bool),
        "Boolean": isinstance(value, bool),
        "Array": isinstance(value, list),
        "Object": isinstance(value, dict),
    }
    if not fits.get(kind, True) or (isinstance(value, float) and not math.isfinite(value)):
        faults.add(place, f"{name} is no {kind}: {shown(text)}")
        return None
    return value


_NONE = object()


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def type_of(value: Any) -> str:
    """The type of a value as the language names it."""
    match value:
        case bool():
            return "Boolean"
        case int() | float():
            return "Number"
        case str():
            return "String"
        case list():
            return "Array"
        case None:
            return "null"
        case _:
            return "Object"
