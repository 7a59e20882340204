"""The nodes of an XML workflow and what flows between them, with the language's rules of types.

What a node returns must be of the type that the port takes which it flows to; every port gets one
thing, and a pool has one port, which takes an Array, as its reducer does.

Before that each element is checked alone: which attributes and children it may have. The language is
that of reference 001, section 3.4: values, jobs and pools as nodes with typed
ports, edges between them, and one final node. ``jobtype`` may be missing, as in the language's own
examples: it is ``javascript`` then.
"""

from __future__ import annotations

import graphlib
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from agent.protocol.phrases import said
from agent.workflow.faults import Faults, Place, shown
from agent.workflow.xml_nodes import Element

TYPES = ("Number", "String", "Boolean", "Array", "Object", "undefined", "null")
_MANY = 1_000_000
_JOB = ("id", "src", "returntype")
_PARAMETERS = (("parameters", 0, 1),)
_WORDS = {
    "returntype": TYPES,
    "paramtype": TYPES,
    "jobtype": ("javascript", "webcl"),
}
Port = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Rule:
    """``children`` are name and least and greatest number."""

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    children: tuple[tuple[str, int, int], ...] = ()


RULES = {
    "workflow": Rule(children=(("nodes", 1, 1), ("edges", 1, 1), ("finalnode", 1, 1))),
    "nodes": Rule(children=(("value", 0, _MANY), ("job", 0, _MANY), ("pool", 0, _MANY))),
    "edges": Rule(children=(("edge", 0, _MANY),)),
    "finalnode": Rule(("id",)),
    "value": Rule(("id", "returntype"), ("value", "src")),
    "job": Rule(_JOB, ("jobtype",), _PARAMETERS),
    "pool": Rule(
        ("id", "returntype"), (), (("parameters", 1, 1), ("processor", 1, 1), ("reducer", 1, 1))
    ),
    "processor": Rule(_JOB, ("jobtype",), _PARAMETERS),
    "reducer": Rule(_JOB, ("jobtype",), _PARAMETERS),
    "parameters": Rule(children=(("parameter", 0, _MANY),)),
    "parameter": Rule(("id", "paramtype")),
    "edge": Rule(("source", "dest"), ("id", "paramdest")),
}


def check(element: Element, faults: Faults) -> None:
    """Add a fault for all that is wrong with an element and the known ones in it, as far as it
    shows without the rest of the file. Raises ``KeyError`` where ``RULES`` do not know the element
    itself."""
    rule = RULES[element.name]
    _attributes(element, rule, faults)
    text = element.text.strip()
    if text:
        faults.at(element.place).said(
            "<{name}> holds no text, so {given} means nothing", name=element.name, given=shown(text)
        )
    names = [name for name, _, _ in rule.children]
    for child in element.children:
        if child.name in names:
            check(child, faults)
        else:
            hint = faults.hint(child.name, names)
            faults.at(child.place).said(
                "<{name}> holds no <{other}>", name=element.name, other=child.name, hint=hint
            )
    for name, least, most in rule.children:
        _number(element, name, least, most, faults)


def _attributes(element: Element, rule: Rule, faults: Faults) -> None:
    known = rule.required + rule.optional
    for name, value in element.attributes.items():
        if name not in known:
            hint = faults.hint(name, known)
            owner = f"<{element.name}>"
            faults.at(element.place).said(
                "{owner} has no attribute {name}", owner=owner, name=shown(name), hint=hint
            )
            continue
        words = _WORDS.get(name, ())
        if words and value not in words:
            hint = faults.hint(value, words) or said("there are {names}", names=words)
            faults.at(element.place).said(
                "{name} cannot be {value}", name=name, value=shown(value), hint=hint
            )
    for name in rule.required:
        if not element.attributes.get(name):
            faults.at(element.place).said(
                "{owner} needs the attribute {name}", owner=f"<{element.name}>", name=name
            )


def _number(element: Element, name: str, least: int, most: int, faults: Faults) -> None:
    found = element.named(name)
    if len(found) < least:
        faults.at(element.place).said("<{name}> needs a <{other}>", name=element.name, other=name)
    for child in found[most:]:
        faults.at(child.place).said(
            "<{name}> holds <{other}> only once", name=element.name, other=name
        )


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
    """Return the graph of a document whose elements were checked alone: its nodes, joined by its
    edges, the final one, and an order in which each comes after what it needs. What is wrong goes
    to the faults: an edge without a node or port at an end joins nothing, of two nodes of one id
    the first counts, and ``final`` is None where it names no node."""
    nodes: dict[str, GraphNode] = {}
    inner: dict[str, str] = {}
    taken: dict[str, Place] = {}
    for section in root.named("nodes"):
        for element in section.children:
            node = _node(element, faults)
            for name, each in [(node.name, element), *_inside(element)]:
                if name in taken:
                    faults.at(each.place).said(
                        "the id {name} is taken in line {line}",
                        name=shown(name),
                        line=taken[name].line,
                    )
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
            faults.at(element.place).said("{name}: a value has either value or src", name=name)
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
                faults.at(each.place).said("there are two ports {name}", name=shown(name))
            ports[name] = kind
    return tuple(ports.items())


def _job(element: Element, faults: Faults) -> Job:
    given = element.attributes
    if given.get("jobtype") == "webcl":
        faults.at(element.place).said(
            "{name}: no machine runs WebCL, which no browser has any more: make it javascript",
            name=given.get("id", ""),
        )
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
            faults.at(node.place).said(
                "{name} returns {kind}, but its reducer returns {given}",
                name=node.name,
                kind=node.returns,
                given=node.reducer.returns,
            )
    _one_port(Job(node.name, node.place, "", "", node.ports), "pool", faults, "Array")


def _one_port(job: Job, what: str, faults: Faults, kind: str = "") -> None:
    if len(job.ports) != 1:
        faults.at(job.place).said(
            "a {kind} has exactly one parameter, and {name} has {count}",
            kind=what,
            name=job.name,
            count=len(job.ports),
        )
    elif kind and job.ports[0][1] not in (kind, ""):
        faults.at(job.place).said(
            "the parameter of a {kind} must be of the type {wanted}, not {given}",
            kind=what,
            wanted=kind,
            given=job.ports[0][1],
        )


def _connect(
    nodes: dict[str, GraphNode], inner: dict[str, str], edges: Iterable[Element], faults: Faults
) -> None:
    names: dict[str, Place] = {}
    for edge in edges:
        name = edge.attributes.get("id", "")
        if name and name in names:
            faults.at(edge.place).said(
                "the edge {name} is there in line {line} already",
                name=shown(name),
                line=names[name].line,
            )
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
    hint = faults.hint(name, nodes)
    if name in inner:
        hint = said("it is inside the pool {name}, so write that", name=inner[name])
    faults.at(edge.place).said(
        "{end}: there is no node {name}", end=which, name=shown(name), hint=hint
    )
    return None


def _flow(edge: Element, source: GraphNode, target: GraphNode, faults: Faults) -> None:
    port = edge.attributes.get("paramdest")
    ports = dict(target.ports)
    if target.value is not None:
        faults.at(edge.place).said("{name} is a value: nothing flows into it", name=target.name)
        return
    if port is None and len(ports) == 1:
        port = next(iter(ports))
    target.misled |= port not in ports
    if port is None:
        unclear = said("{name} has no parameters for anything to flow into", name=target.name)
        if ports:
            unclear = said(
                "which port of {name} is meant is not said: write paramdest with {ports}",
                name=target.name,
                ports=tuple(ports),
            )
        faults.add(edge.place, unclear)
        return
    if port not in ports:
        hint = faults.hint_or_all(port, ports)
        faults.at(edge.place).said(
            "{owner} has no port {name}", owner=target.name, name=shown(port), hint=hint
        )
        return
    if port in target.inputs:
        other = target.inputs[port].name
        faults.at(edge.place).said(
            "the port {port} of {name} gets {other} already",
            port=port,
            name=target.name,
            other=other,
        )
        return
    target.inputs[port] = source
    _same_type(edge, source, target, port, faults)


def _same_type(
    edge: Element, source: GraphNode, target: GraphNode, port: str, faults: Faults
) -> None:
    wanted = dict(target.ports)[port]
    if source.returns in TYPES and wanted in TYPES and source.returns != wanted:
        faults.at(edge.place).said(
            "{source} returns {given}, but the port {port} of {name} takes {wanted}",
            source=source.name,
            given=source.returns,
            port=port,
            name=target.name,
            wanted=wanted,
        )


def _unconnected(nodes: Iterable[GraphNode], faults: Faults) -> None:
    for node in nodes:
        for port, _ in node.ports:
            if port not in node.inputs and not node.misled:
                faults.at(node.place).said(
                    "nothing flows into the port {port} of {name}", port=port, name=node.name
                )


def _final(
    root: Element, nodes: dict[str, GraphNode], inner: dict[str, str], faults: Faults
) -> GraphNode | None:
    for element in root.named("finalnode")[:1]:
        name = element.attributes.get("id", "")
        if name in nodes or not name:
            return nodes.get(name)
        if name in inner:
            faults.at(element.place).said(
                "the final node cannot be {name}, which is inside a pool: write {how}",
                name=name,
                how=inner[name],
            )
        else:
            hint = faults.hint(name, nodes)
            faults.at(element.place).said(
                "{end}: there is no node {name}", end="finalnode", name=shown(name), hint=hint
            )
    return None


def _order(nodes: dict[str, GraphNode], faults: Faults) -> tuple[str, ...]:
    """Every node after those that it needs."""
    needs = {name: [each.name for each in node.inputs.values()] for name, node in nodes.items()}
    try:
        return tuple(graphlib.TopologicalSorter(needs).static_order())
    except graphlib.CycleError as error:
        way: list[str] = error.args[1]
        faults.at(nodes[way[0]].place).said(
            "nodes need each other in a circle: {way}", way=" → ".join(way)
        )
        return ()


def value_of(text: str, kind: str, name: str, place: Place, faults: Faults) -> Any:
    """Return the text as a value of that type of the XML language: as it is for ``String``, None
    for ``null`` and ``undefined``, else read as JSON. None, and a fault that calls it ``name``,
    where it is none."""
    if kind == "String":
        return text
    if kind in ("undefined", "null"):
        return None
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        value = None
    unlike = kind in TYPES and type_of(value) != kind
    if unlike or (isinstance(value, float) and not math.isfinite(value)):
        faults.at(place).said(
            "{name} is no {kind}: {given}", name=name, kind=kind, given=shown(text)
        )
        return None
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def type_of(value: Any) -> str:
    """Return the name of the type that a value of JSON has in the XML language, None that of
    ``null``; never ``undefined``."""
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
