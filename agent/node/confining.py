"""How programs are confined on this machine: by its owner's rule, away from all that its agent keeps.

Where they cannot be, nothing of others begins here, and nothing at all unless the owner lets his own
work run without.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from agent.api.flock import ConfinementView
from agent.execution.children import Children
from agent.execution.confinement.proof import SORTS, Proof
from agent.execution.confinement.rule import OFF, OWN_WORK, WHEN_POSSIBLE, Confinement, read_rule
from agent.paths import Home
from agent.settings.node_settings import NodeSettings

log = logging.getLogger(__name__)


def confinement_of(
    home: Home, settings: NodeSettings, bar: Callable[[Literal["others", "all"]], object]
) -> Confinement:
    """Return the confinement of programs by this home's settings. Once it is found out, later, that
    programs cannot be confined here, ``bar`` is called with whose work may not begin then, unless
    the settings let all work run without."""

    def secrets() -> tuple[Path, ...]:
        found = (home.settings_file, *home.identity.glob("*"), *home.data.glob("*.json"))
        return tuple(each for each in found if each.is_file())

    def known(proof: Proof) -> None:
        if proof.holds:
            log.info("programs are confined by %s", ", ".join(proof.by))
            return
        log.warning("programs cannot be confined here: %s", proof.told())
        if confinement.rule != WHEN_POSSIBLE:
            bar("others" if confinement.rule == OWN_WORK else "all")

    rule = read_rule(settings.confinement)
    confinement = Confinement(rule, secrets, home.folders, place=home.scratch)
    confinement.known = known
    return confinement


async def confined(children: Children) -> ConfinementView:
    """Return what programs are kept from on this machine, tried first if it has not been yet,
    unless the settings switch confinement off."""
    rule = children.confinement.rule
    if rule == OFF:
        return ConfinementView(rule)
    proof = await children.prove()
    held = {sort: not proof.open(sort) for sort in SORTS}
    return ConfinementView(rule, proof.holds, **held, by=proof.by, error=proof.told())
