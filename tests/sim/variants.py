"""Broken variants of the protocol: the proof that the checks of the simulator can fail.

A simulator that finds nothing may be blind. So each rule of DESIGN 3.1 to 3.3 is switched off here
alone, and the simulator must notice, by the promise that the rule is there for and within a stated
number of seeds, about three times as many as it took when the number was written down.
"""

from __future__ import annotations

from tests.sim import variants_claims, variants_nodes, variants_table
from tests.sim.variants_rewriting import Variant

VARIANTS: tuple[Variant, ...] = (
    *variants_table.VARIANTS,
    *variants_claims.VARIANTS,
    *variants_nodes.VARIANTS,
)
