"""The simulator notices every rule that is missing, and nothing where none is.

Each broken variant of the protocol is run on fixed seeds until a check fails, which must be one of
those that the rule is there for; the very seed that caught it must then pass with the rule back.
"""

from __future__ import annotations

import pytest

from agent.protocol import pending_news, table
from agent.protocol.claims import Claims
from agent.protocol.records import join_lives
from tests.sim.classes import CLASSES
from tests.sim.failure import SimulationFailure
from tests.sim.run import run_seed
from tests.sim.variants import VARIANTS
from tests.sim.variants_rewriting import Rewrite, Variant, nothing
from tests.sim.variants_scenes import SCENES, staged

LOOKED_IN = sorted({kind for variant in VARIANTS for kind in variant.classes})
SEEDS_UNBROKEN = 8
NO_PROMISES = ("no exception", "no storm")
"""A variant may stumble before it breaks a promise; that proves nothing of the checks."""


def caught(variant: Variant) -> tuple[int, str, SimulationFailure] | None:
    """The first seed on which a promise is broken, with its class."""
    for seed in range(variant.first_seed, variant.first_seed + variant.seeds):
        for kind in variant.classes:
            try:
                with variant.broken():
                    run_seed(seed, only_class=kind)
            except SimulationFailure as failure:
                if failure.check not in NO_PROMISES:
                    return seed, kind, failure
    return None


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name.replace(" ", "-"))
def test_a_broken_rule_is_noticed(variant: Variant) -> None:
    print(f"{variant.name}: without {variant.stands}: {variant.rule}")
    print(f"{variant.seeds} seeds from {variant.first_seed} of {variant.classes}")
    with staged():
        found = caught(variant)
        assert found is not None, f"nothing was noticed in {variant.seeds} seeds"
        seed, kind, failure = found
        print(f"seed {seed} of {kind}: {failure.check}")
        assert failure.check in variant.checks, str(failure)
        with variant.only_beneath():
            run_seed(seed, only_class=kind)


@pytest.mark.parametrize("kind", LOOKED_IN)
def test_the_whole_protocol_keeps_every_promise_there(kind: str) -> None:
    print(f"seeds 0 to {SEEDS_UNBROKEN - 1} of {kind}")
    with staged():
        for seed in range(SEEDS_UNBROKEN):
            run_seed(seed, only_class=kind)


def test_a_rewrite_is_undone_and_reaches_every_name() -> None:
    right = Claims.on_tick
    with Rewrite(join_lives, nothing).made(), Rewrite(Claims.on_tick, nothing).made():
        assert vars(table)["join_lives"] is vars(pending_news)["join_lives"] is not join_lives
        assert Claims.on_tick is not right
    assert vars(table)["join_lives"] is vars(pending_news)["join_lives"] is join_lives
    assert Claims.on_tick is right


def test_a_rewrite_of_what_is_not_in_the_protocol_is_an_error() -> None:
    with pytest.raises(LookupError), Rewrite(run_seed, nothing).made():
        pass


def test_variants_are_told_apart_and_scenes_leave_the_classes_alone() -> None:
    assert len({variant.name for variant in VARIANTS}) == len(VARIANTS) >= 15
    assert set(LOOKED_IN) <= set(CLASSES) | set(SCENES)
    with staged():
        assert set(SCENES) <= set(CLASSES)
    assert not set(SCENES) & set(CLASSES)
