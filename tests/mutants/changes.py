"""The small changes that a check must notice: each breaks one place of a module a little.

Most are cosmic-ray's. What it does not know is in REWRITING: a constant doubled, membership turned,
a condition forced or turned, a call left out, None for what was returned. Left out is what no test can see
(annotations, log lines, how a value is printed) and what changes nothing.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from parso import parse

TURNED = {
    "Eq": "NotEq",
    "NotEq": "Eq",
    "Lt": "LtE GtE",
    "LtE": "Lt Gt",
    "Gt": "GtE LtE",
    "GtE": "Gt Lt",
    "Is": "IsNot",
    "IsNot": "Is",
}
EXCHANGED = "Add_Sub Sub_Add Mul_Div Div_Mul FloorDiv_Mul Mod_Mul BitOr_BitAnd BitAnd_BitOr"
COSMIC_RAY = (
    *(f"ReplaceComparisonOperator_{a}_{b}" for a, to in TURNED.items() for b in to.split()),
    *(f"ReplaceBinaryOperator_{pair}" for pair in EXCHANGED.split()),
    *("ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceAndWithOr", "ReplaceOrWithAnd"),
    *("ReplaceUnaryOperator_Delete_Not", "NumberReplacer", "ReplaceContinueWithBreak"),
)
# What no test can see starts like this: log lines and classes' promises to whoever writes code.
STARTS = {
    "atom_expr": re.compile(r"(await )?(log|logger|logging)\.\w+\(|assert_never\("),
    "argument": re.compile(r"(frozen|slots|kw_only|gc|weakref|repr|eq)="),
    "if_stmt": re.compile(r"if (TYPE_CHECKING|sys\.platform)"),
    "assert_stmt": re.compile(r"assert sys\.platform"),
    "expr_stmt": re.compile(r"__all__"),
}


@dataclass(frozen=True)
class Change:
    """One change of a module: the so-manieth place where this operator finds something to do."""

    operator: str
    occurrence: int
    line: int

    def apply(self, source: str) -> str | None:
        """Return the changed module, or None when it means the same or is no Python any more."""
        changed = mutate_code(source, operators()[self.operator], self.occurrence)
        try:
            same = changed is None or _meaning(changed) == _meaning(source)
        except SyntaxError:
            return None
        return None if same else changed


@dataclass(frozen=True)
class Rewriting:
    """An operator in the manner of cosmic-ray, from what may stand in a node's place."""

    instead: Callable[[Any], tuple[str, ...]]

    def mutation_positions(self, node: Any) -> Iterator[tuple[Any, Any]]:
        for _ in self.instead(node):
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        return parse(node.get_first_leaf().prefix + self.instead(node)[index])


def changes_of(source: str) -> Iterator[Change]:
    """Tell all changes of a module of which a test could see something."""
    found: Counter[str] = Counter()
    for node in ast_nodes(get_ast(source)):
        for name, operator in operators().items():
            for _ in operator.mutation_positions(node):
                if _is_worth_it(name, node) and not any(map(_is_unseen, _upwards(node))):
                    yield Change(name, found[name], node.start_pos[0])
                found[name] += 1


def operators() -> dict[str, Any]:
    """Return all operators by their names."""
    if not _operators:
        _operators.update((name, get_operator(f"core/{name}")()) for name in COSMIC_RAY)
        _operators.update((name, Rewriting(instead)) for name, instead in REWRITING.items())
    return _operators


_operators: dict[str, Any] = {}


def _meaning(source: str) -> str:
    return ast.dump(ast.parse(source))


def _upwards(node: Any) -> Iterator[Any]:
    while node is not None:
        yield node
        node = node.parent


def _is_unseen(node: Any) -> bool:
    """Whether nothing in this node can be noticed by running it."""
    parent = node.parent
    if parent is not None and parent.type in ("annassign", "tfpdef", "funcdef"):
        annotation = parent.annotation if parent.type == "funcdef" else parent.children[1]
        if node is annotation or parent.type == "tfpdef":
            return True
    if node.type == "funcdef":
        return bool(node.name.value == "__repr__")
    start = STARTS.get(node.type)
    return start is not None and start.match(node.get_code(include_prefix=False)) is not None


def _is_worth_it(operator: str, node: Any) -> bool:
    """Whether a change is another one than the rest: large numbers are doubled, not counted up."""
    if operator == "NumberReplacer":
        return ast.literal_eval(node.value) in (0, 1)
    if operator.startswith("ReplaceBinaryOperator_Bit"):  # elsewhere it joins types
        return any(part.type in ("funcdef", "lambdef") for part in _upwards(node))
    if operator.startswith("ReplaceBinaryOperator"):  # nor is the mark between parameters one
        return bool(node.parent.type not in ("parameters", "lambdef"))
    return True


def _doubled(node: Any) -> tuple[str, ...]:
    number = ast.literal_eval(node.value) if node.type == "number" else 0
    return () if number in (0, 1) else (repr(number * 2),)


def _left_out(node: Any) -> tuple[str, ...]:
    is_call = node.type == "atom_expr" and node.children[-1].get_code().startswith("(")
    return ("pass",) if is_call and node.parent.type in ("simple_stmt", "suite") else ()


def _returned(node: Any) -> tuple[str, ...]:
    value = node.children[1].get_code() if node.type == "return_stmt" else "None"
    return () if value.strip() == "None" else ("return None",)


def _condition(node: Any) -> tuple[str, ...]:
    before = node.get_previous_sibling() if node.parent else None
    if before is None or getattr(before, "value", "") not in ("if", "elif", "while"):
        return ()
    condition = node.get_code(include_prefix=False)
    forced = ("False",) if before.value == "while" else ("True", "False")
    return forced if condition.startswith("not ") else (*forced, f"not ({condition})")


def _membership(node: Any) -> tuple[str, ...]:
    if node.type == "comp_op":
        return ("in",) if node.get_code().split() == ["not", "in"] else ()
    in_comparison = node.parent is not None and node.parent.type == "comparison"
    return ("not in",) if in_comparison and getattr(node, "value", "") == "in" else ()


REWRITING: dict[str, Callable[[Any], tuple[str, ...]]] = {
    "number doubled": _doubled,
    "call left out": _left_out,
    "None returned": _returned,
    "condition forced or turned": _condition,
    "membership turned": _membership,
}
