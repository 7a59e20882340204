"""Programs that come with the work: taken, asked about, refused, and only under their true names."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pytest

from agent.api.errors import ServiceError
from agent.api.session import ProgramWaiting
from agent.data.leave import NotAcceptedError
from agent.execution.grants import Grants
from agent.execution.programs import ProgramError
from agent.node.agent import Agent
from agent.paths import Home
from agent.protocol.records import Dataset, TaskSpec, TaskState
from agent.wording.speech import Speech
from tests.datasets.nodes import SCRIPT, install_shout, submit, until
from tests.driver.nodes import QUIET, flock_of, home_of, in_state, reading, services


def a_program(folder: Path) -> Path:
    install_shout(folder)
    return folder / "shout"


def task(program: str, published: Dataset, notes: Path) -> TaskSpec:
    return TaskSpec("a", "a", program, parameters=str(notes), published=published)


async def test_a_published_program_runs_where_it_was_published_and_where_all_are_taken(
    tmp_path: Path,
) -> None:
    async with (
        services(tmp_path, "ant", volunteer="paused") as (ant,),
        services(tmp_path, "bee", published_programs="always") as (bee,),
    ):
        await flock_of(ant, bee)
        name, dataset = await ant.live.published.publish(a_program(tmp_path / "mine"))
        assert name == f"shout@{dataset.dataset.removeprefix('tree:')[:12]}"
        assert name in ant.live.look_for_programs()
        await submit(ant, "w", task(name, dataset, tmp_path / "notes"))
        await until(lambda: in_state([ant, bee], "a", TaskState.TERMINATED))
        outcome = reading(ant, "a").outcome
        assert outcome is not None
        assert outcome.host == bee.node_id
        assert (tmp_path / "notes").read_text() == "a\n"


async def test_a_program_waits_for_the_owner_and_the_decision_is_kept(tmp_path: Path) -> None:
    home = home_of(tmp_path, "bee")
    async with services(tmp_path, "ant", volunteer="paused") as (ant,):
        bee = await Agent.start(home, QUIET)
        offered: list[str] = []
        bee.subscribe(
            lambda n: offered.append(n.program) if isinstance(n, ProgramWaiting) else None
        )
        await flock_of(ant, bee)
        name, dataset = await ant.live.published.publish(a_program(tmp_path / "mine"))
        await submit(ant, "w", task(name, dataset, tmp_path / "notes"))
        await until(lambda: offered == [name])
        assert [each.program for each in bee.live.published.waiting()] == [name]
        assert reading(bee, "a").state is TaskState.READY
        await bee.live.published.accept(name)
        assert bee.live.published.waiting() == []
        await until(lambda: in_state([ant, bee], "a", TaskState.TERMINATED))
        await bee.stop("restarted")
        again = await Agent.start(Home.at(tmp_path / "bee"), QUIET)
        assert name in again.live.look_for_programs()
        await again.live.published.refuse(name)
        assert name not in again.live.look_for_programs()
        with pytest.raises(ServiceError, match="No published program"):
            await again.live.published.accept("other@000000000000")
        await again.stop("the test is over")


async def test_what_is_decided_holds_only_where_it_can_be_written(tmp_path: Path) -> None:
    async with services(tmp_path, "ant") as (ant,):
        published, decisions = ant.live.published, ant.home.data / "published.json"
        decisions.mkdir()
        with pytest.raises(OSError, match=r"published\.json"):
            await published.publish(a_program(tmp_path / "mine"))
        assert not [each for each in ant.live.look_for_programs() if each.startswith("shout")]
        decisions.rmdir()
        name, _ = await published.publish(tmp_path / "mine" / "shout")
        decisions.unlink()
        decisions.mkdir()
        for change in (published.refuse(name), published.forget(name, trial=False)):
            with pytest.raises(OSError, match=r"published\.json"):
                await change
            assert name in ant.live.look_for_programs()
            assert published.decision(name) == "accepted"
        decisions.rmdir()
        await published.refuse(name)
        decisions.unlink()
        decisions.mkdir()
        with pytest.raises(OSError, match=r"published\.json"):
            await published.accept(name)
        assert name not in ant.live.look_for_programs()
        assert published.decision(name) == "refused"


async def test_where_its_leave_stays_written_what_is_refused_does_not_run_and_is_forgotten_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with services(tmp_path, "ant") as (ant,):
        published = ant.live.published
        name, _ = await published.publish(a_program(tmp_path / "mine"))
        await published.accept(name)
        assert name in ant.live.look_for_programs()
        stays = Mock(side_effect=PermissionError("it stays"))
        with monkeypatch.context() as patch:
            patch.setattr(Grants, "revoke", stays)
            for change in (published.refuse, partial(published.forget, trial=False)):
                with pytest.raises(PermissionError, match="it stays"):
                    await change(name)
                assert name not in ant.live.look_for_programs()
        assert await published.forget(name, trial=False) > 0


async def test_what_is_published_at_once_all_arrives_and_is_kept(tmp_path: Path) -> None:
    """As it is when many files are dropped; some of them bring the same script."""
    folders = [a_program(tmp_path / f"from {number}") for number in range(24)]
    for number, folder in enumerate(folders):
        (folder / "shout.py").write_text(f"# {number % 8}\n{SCRIPT}")
    ant = await Agent.start(home_of(tmp_path, "ant"), QUIET)
    made = await asyncio.gather(*map(ant.live.published.publish, folders), return_exceptions=True)
    assert [each for each in made if isinstance(each, BaseException)] == []
    names = {name for name, _ in made}  # type: ignore[misc]
    assert len(names) == 8
    await ant.stop("restarted")
    again = await Agent.start(Home.at(tmp_path / "ant"), QUIET)
    assert names <= set(again.live.look_for_programs())
    await again.stop("the test is over")


async def test_nobody_passes_something_else_under_an_accepted_name(tmp_path: Path) -> None:
    async with services(tmp_path, "ant", published_programs="always") as (ant,):
        _, dataset = await ant.live.published.publish(a_program(tmp_path / "mine"))
        await submit(ant, "w", task("shout@000000000000", dataset, tmp_path / "notes"))
        await until(lambda: in_state([ant], "a", TaskState.ABORTED))
        assert "shout@000000000000 is not the name of tree:" in Speech().say(
            reading(ant, "a").reason
        )
        assert not (tmp_path / "notes").exists()


async def test_a_folder_that_is_no_program_is_given_up_and_not_tried_for_ever(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "program.yaml").write_text("name: broken\ncommand: 7\ncolour: red\n")

    async with services(tmp_path, "ant", published_programs="always") as (ant,):
        dataset = await ant.live.datasets.add(folder)
        name = f"broken@{dataset.dataset.removeprefix('tree:')[:12]}"
        await submit(ant, "w", task(name, dataset, tmp_path / "notes"))
        await until(lambda: in_state([ant], "a", TaskState.ABORTED))
        assert (
            Speech()
            .say(reading(ant, "a").reason)
            .startswith(
                "failed 3 times, last: broken cannot be run: program.yaml:2:10: command must be "
                'a list, not "7"'
            )
        )


async def test_what_an_owner_does_not_accept_is_no_failure_of_the_work(tmp_path: Path) -> None:
    async with services(tmp_path, "ant") as (ant,):
        name, dataset = await ant.live.published.publish(a_program(tmp_path / "mine"))
        await ant.live.published.refuse(name)
        with pytest.raises(NotAcceptedError, match="has not accepted it"):
            await ant.live.published.ready(task(name, dataset, tmp_path / "notes"))


async def test_the_flock_is_told_what_of_its_work_never_runs_here(tmp_path: Path) -> None:
    async with services(tmp_path, "ant") as (ant,):
        published = ant.live.published
        name, dataset = await published.publish(a_program(tmp_path / "mine"))
        await published.refuse(name)
        assert not ant.live.capabilities.refused, "nothing brings it yet"
        await submit(ant, "w", task(name, dataset, tmp_path / "notes"))
        await until(lambda: ant.live.capabilities.refused == (name,))
        await published.accept(name)
        await until(lambda: ant.live.capabilities.refused == ())


async def test_two_programs_whose_names_begin_alike_are_not_taken_for_each_other(
    tmp_path: Path,
) -> None:
    async with services(tmp_path, "ant") as (ant,):
        name, dataset = await ant.live.published.publish(a_program(tmp_path / "mine"))
        alike = Dataset(dataset.dataset[:-1] + ("0" if dataset.dataset[-1] != "0" else "1"))
        published = ant.live.published
        await published.ready(task(name, dataset, tmp_path / "notes"))
        with pytest.raises(ProgramError, match="is not what was accepted here"):
            await published.ready(task(name, alike, tmp_path / "notes"))


async def test_what_is_no_program_is_not_published(tmp_path: Path) -> None:
    async with services(tmp_path, "ant") as (ant,):
        with pytest.raises(ServiceError, match="cannot be published"):
            await ant.live.published.publish(tmp_path)
