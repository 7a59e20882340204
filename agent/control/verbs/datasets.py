"""datasets: what is kept, where, and what made it."""

from dataclasses import dataclass, field

from agent.api.datasets import Datasets, DatasetsReply, DatasetView
from agent.api.methods import DATASETS
from agent.control.call import Call, verb
from agent.control.naming import find_workflow
from agent.control.surface import Surface
from agent.data.datasets import DatasetFacts
from agent.protocol.records import Dataset, TaskSpec


@dataclass(slots=True)
class _Known:
    """What the table knows of a dataset."""

    dataset: Dataset
    maker: TaskSpec | None = None
    inputs: tuple[str, ...] = ()
    workflow: str = ""
    at_ms: int = field(default=0)


async def serve(call: Call, params: Datasets) -> DatasetsReply:
    """Those of the table and those on this disk, the newest first."""
    surface = call.surface
    office = surface.datasets
    only = find_workflow(surface.table, params.workflow).spec.workflow if params.workflow else ""
    here = {each.kept.dataset: each for each in await office.listing()}
    known = _known(surface, only)
    names = dict.fromkeys([*known, *(() if only else here)])
    views = [_view(surface, name, known.get(name), here.get(name)) for name in names]
    views.sort(key=lambda view: (-view.kept_since_ms, view.dataset))
    quota = await office.quota()
    page = views[params.first : params.first + params.limit]
    return DatasetsReply(
        tuple(page), len(views), quota.used_bytes, quota.quota_bytes, max(0, quota.free_bytes)
    )


def _known(surface: Surface, only: str) -> dict[str, _Known]:
    table, found = surface.table, dict[str, _Known]()
    for workflow in table.workflows.values():
        name, submitted_ms = workflow.spec.workflow, workflow.spec.submitted[0]
        if only not in ("", name):
            continue
        for spec in workflow.spec.tasks:
            for given in spec.raw if spec.published is None else (*spec.raw, spec.published):
                found.setdefault(given.dataset, _Known(given, workflow=name, at_ms=submitted_ms))
            reading = table.reading(spec.task)
            if reading is None or reading.outcome is None:
                continue
            run = reading.outcome
            for made in reading.outputs:
                found[made.dataset] = _Known(made, spec, run.inputs, name, run.stamp[0])
    return found


def _view(
    surface: Surface, name: str, known: _Known | None, here: DatasetFacts | None
) -> DatasetView:
    kept = here.kept if here else None
    nodes = here.nodes if here else surface.datasets.holders(name)
    dataset = known.dataset if known else Dataset(name, kept.size_bytes if kept else 0)
    maker = known.maker if known else None
    return DatasetView(
        name,
        dataset.size_bytes or (kept.size_bytes if kept else 0),
        dataset.external,
        kept.name if kept else "",
        kept.folder if kept else name.startswith("tree:"),
        kept is not None,
        tuple(surface.name_of(node) for node in nodes),
        known.workflow if known else "",
        maker.name if maker else "",
        maker.program if maker else "",
        known.inputs if known else (),
        here.needed if here else False,
        round(kept.added_s * 1000) if kept else known.at_ms if known else 0,
    )


VERB = verb(DATASETS, serve)
