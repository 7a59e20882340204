"""dataset_files: what a dataset is made of; it is brought here first."""

from agent.api.datasets import DatasetFiles, FilesReply, FileView
from agent.api.methods import DATASET_FILES
from agent.control.bringing import brought
from agent.control.call import Call, verb


async def serve(call: Call, params: DatasetFiles) -> FilesReply:
    """In the order of their paths."""
    dataset = await brought(call.surface, params.dataset)
    office = call.surface.datasets
    kept = await office.kept(dataset.dataset)
    files = await office.files(dataset.dataset)
    page = files[params.first : params.first + params.limit]
    return FilesReply(
        dataset.dataset,
        kept.name if kept else "",
        dataset.dataset.startswith("tree:"),
        tuple(FileView(each.path, each.size_bytes, each.executable) for each in page),
        len(files),
        sum(each.size_bytes for each in files),
    )


VERB = verb(DATASET_FILES, serve)
