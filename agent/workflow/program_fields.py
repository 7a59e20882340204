"""Single values of a program's description: words, lists of words, amounts of time and of memory.

Each reader says what is wrong at its place and goes on with a value that means nothing, so that
one pass finds all faults.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Mapping as Keyed

from agent.workflow.faults import Faults, either, meant, shown
from agent.workflow.yaml_nodes import Mapping, Node, Scalar, Sequence, kind_of

TEXT_LENGTH_MAX = 256
DOCS_LENGTH_MAX = 64 * 1024
WORDS_MAX = 1_000

SECONDS = {"ms": 0.001, "s": 1, "sec": 1, "min": 60, "m": 60, "h": 3_600, "d": 86_400}
SECONDS |= {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
MEGABYTES = {"kb": 0.001, "mb": 1, "gb": 1_000, "tb": 1_000_000}
MEGABYTES |= {"kib": 1.024e-3, "mib": 1.048576, "gib": 1_073.741824, "tib": 1_099_511.627776}
MEGABYTES |= {"k": 0.001, "m": 1, "g": 1_000, "t": 1_000_000}
YES, NO = frozenset({"true", "yes", "on"}), frozenset({"false", "no", "off"})

_AMOUNT = re.compile(r"([0-9]+(?:[._][0-9]+)*(?:e[0-9]+)?)\s*([a-zA-Z]*)")
AMOUNT_MAX = 10**9


class Fields:
    """The fields of one mapping, taken one by one; what is left is unknown."""

    def __init__(self, node: Mapping, known: Iterable[str], faults: Faults, where: str) -> None:
        self._faults = faults
        names = tuple(known)
        self._values: dict[str, Node] = {}
        for entry in node.entries:
            name = entry.key.text
            if name in names:
                self._values[name] = entry.value
            else:
                hint = meant(name, names) or f"; there are {either(names)}"
                faults.add(entry.key.place, f"{shown(name)} is nothing that {where} has{hint}")

    def get(self, name: str) -> Node | None:
        """What was given, if anything was."""
        node = self._values.get(name)
        return None if isinstance(node, Scalar) and node.empty else node

    def text(self, name: str, length_max: int = TEXT_LENGTH_MAX) -> str:
        """A text."""
        node = self.get(name)
        return "" if node is None else text_of(node, name, self._faults, length_max)

    def words(self, name: str) -> tuple[str, ...]:
        """A list of texts, none of them twice."""
        node = self.get(name)
        if node is None:
            return ()
        found = words_of(node, name, self._faults)
        for number, word in enumerate(found):
            if word and word in found[:number] and isinstance(node, Sequence):
                self._faults.add(node.items[number].place, f"{shown(word)} is in {name} twice")
        return tuple(word for word in found if word)

    def seconds(self, name: str) -> float:
        """A length of time."""
        return self._amount(name, SECONDS, "s", 'a time, like 90, "90 s", "5 min" or "2 h"')

    def megabytes(self, name: str) -> int:
        """An amount of memory or disk, rounded up."""
        amount = self._amount(name, MEGABYTES, "mb", 'an amount, like 500, "500 MB" or "4 GB"')
        return -int(-amount // 1)

    def count(self, name: str) -> int:
        """A number."""
        node = self.get(name)
        if node is None:
            return 0
        if isinstance(node, Scalar) and node.plain and re.fullmatch("[0-9]{1,9}", node.text):
            return int(node.text)
        self._faults.add(node.place, f"{name} has to be a number, like 2, not {kind_of(node)}")
        return 0

    def yes(self, name: str) -> bool:
        """Yes or no."""
        node = self.get(name)
        if node is None:
            return False
        word = node.text.lower() if isinstance(node, Scalar) else ""
        if word not in YES | NO:
            self._faults.add(node.place, f"{name} has to be true or false, not {kind_of(node)}")
        return word in YES

    def part(self, name: str, known: Iterable[str]) -> Fields | None:
        """The fields below a key."""
        node = self.get(name)
        names = tuple(known)
        if node is None:
            return None
        if not isinstance(node, Mapping):
            text = f"{name} has to hold {', '.join(names)}, each with its value; here it is"
            self._faults.add(node.place, f"{text} {kind_of(node)}")
            return None
        return Fields(node, names, self._faults, name)

    def _amount(self, name: str, units: Keyed[str, float], unit: str, what: str) -> float:
        node = self.get(name)
        if node is None:
            return 0.0
        found = _AMOUNT.fullmatch(node.text.strip()) if isinstance(node, Scalar) else None
        if found is None:
            self._faults.add(node.place, f"{name} has to be {what}, not {kind_of(node)}")
            return 0.0
        word = found[2].lower() or unit
        factor = units.get(word, units.get(word.removesuffix("s")))
        if factor is None:
            hint = meant(word, units) or f"; there are {either(sorted(units))}"
            self._faults.add(node.place, f"{name}: there is no unit {shown(found[2])}{hint}")
            return 0.0
        return self._bounded(name, node, found[1], factor)

    def _bounded(self, name: str, node: Node, digits: str, factor: float) -> float:
        try:
            amount = float(digits) * factor
        except ValueError:
            amount = -1.0
        if not 0 < amount <= AMOUNT_MAX:
            text = "is 0: leave it away where there is none" if not amount else "cannot be so"
            self._faults.add(node.place, f"{name} {text}")
            return 0.0
        return amount


def text_of(node: Node, name: str, faults: Faults, length_max: int = TEXT_LENGTH_MAX) -> str:
    """A text in one piece."""
    if not isinstance(node, Scalar) or node.empty:
        faults.add(node.place, f"{name} has to be a text, not {kind_of(node)}")
        return ""
    if not 0 < len(node.text) <= length_max:
        said = "is empty" if not node.text else "is too long"
        faults.add(node.place, f"{name} {said}: 1 to {length_max} characters")
        return ""
    return node.text


def words_of(node: Node, name: str, faults: Faults) -> list[str]:
    """The texts of a list, in their order; empty where one is none."""
    if not isinstance(node, Sequence):
        said = node.text.split() if isinstance(node, Scalar) else []
        hint = f"; did you mean [{', '.join(said)}]?" if said else ""
        faults.add(node.place, f"{name} has to be a list of words, not {kind_of(node)}{hint}")
        return []
    if len(node.items) > WORDS_MAX:
        faults.add(node.place, f"{name} has more than {WORDS_MAX} words")
        return []
    return [text_of(item, f"a word of {name}", faults, DOCS_LENGTH_MAX) for item in node.items]
