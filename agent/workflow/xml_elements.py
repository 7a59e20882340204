"""The elements of the XML workflow language: which attributes and children each may have.

The language is that of reference 001, section 3.4: values, jobs and pools as nodes with typed
ports, edges between them, and one final node. ``jobtype`` may be missing, as in the language's own
examples: it is ``javascript`` then.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent.protocol.phrases import said
from agent.workflow.faults import Faults, shown
from agent.workflow.xml_nodes import Element

TYPES = ("Number", "String", "Boolean", "Array", "Object", "undefined", "null")


@dataclass(frozen=True, slots=True)
class Rule:
    """``children`` are name and least and greatest number."""

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    children: tuple[tuple[str, int, int], ...] = ()


_MANY = 1_000_000
_JOB = ("id", "src", "returntype")
_PARAMETERS = (("parameters", 0, 1),)
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
_WORDS = {
    "returntype": TYPES,
    "paramtype": TYPES,
    "jobtype": ("javascript", "webcl"),
}


def check(element: Element, faults: Faults) -> None:
    """Add a fault for all that is wrong with an element and those in it, as far as it shows without
    the rest of the file."""
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
