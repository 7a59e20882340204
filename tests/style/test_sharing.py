"""What one worker runs in a row: a file, or of a long one a piece; and what comes of it if that ends it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from xdist.remote import Producer

from tests.sharing import MEASURED, PARSED, PIECE_MAX, Sharing, pieces, places

CRASHING = "tests/a.py::test_crashing"


def test_a_file_stays_together_and_a_long_one_is_shared_out() -> None:
    short = [f"tests/a.py::test_{number}" for number in range(PIECE_MAX)]
    long = [f"tests/b.py::test_all[a::b {number}]" for number in range(PIECE_MAX + 1)]
    found = pieces([*short, *long])
    assert {found[each] for each in short} == {"tests/a.py 0"}
    assert [found[each] for each in long] == ["tests/b.py 0"] * PIECE_MAX + ["tests/b.py 1"]


def test_what_one_worker_has_measured_or_parsed_no_other_does_again() -> None:
    tests = [
        f"{MEASURED}::test_{number}[{name}{more}]"
        for name in ("tables", "month")
        for number, more in enumerate(["", "-path0-1.0", *["-path1-2.0"] * PIECE_MAX])
    ]
    found = pieces([*tests, f"{MEASURED}::test_alone"])
    assert set(found.values()) == {f"{MEASURED} {name}" for name in ("tables", "month", 2)}
    parsing = [f"{PARSED}test_{file}.py::test_{at}" for file in "ab" for at in range(PIECE_MAX)]
    assert set(pieces(parsing).values()) == {PARSED}


def test_what_waits_takes_turns_with_what_computes_and_some_of_that_comes_last() -> None:
    wait, compute = [Path(f"w{at}") for at in range(4)], [Path(f"c{at}") for at in range(10)]
    found = places({**dict.fromkeys(compute, False), **dict.fromkeys(wait, True)})
    order = " ".join(each.name for each in sorted(found, key=lambda file: found[file]))
    assert order == "w0 c0 c1 w1 c2 c3 w2 c4 c5 w3 c6 c7 c8 c9"


class Worker:
    """Begins a test when it knows the next one, or that there is none, like those of xdist."""

    def __init__(self, sharing: Sharing, collection: list[str]) -> None:
        self.sharing, self.collection = sharing, collection
        self.gateway = SimpleNamespace(id="gw")
        self.given: list[str] = []
        self.shutting_down = False
        sharing.add_node(self)
        sharing.add_node_collection(self, collection)

    def send_runtest_some(self, indices: list[int]) -> None:
        self.given += [self.collection[at] for at in indices]

    def shutdown(self) -> None:
        self.shutting_down = True

    def run(self) -> list[str]:
        """Return what it has run when it waits, has ended or, by the last of them, has crashed."""
        done = []
        while len(self.given) > (not self.shutting_down):
            done.append(self.given.pop(0))
            if done[-1] == CRASHING:
                break
            self.sharing.mark_test_complete(self, self.collection.index(done[-1]))
        return done


def sharing_among(workers: int) -> Sharing:
    options = {"tx": [f"{workers}*popen"]}
    option = SimpleNamespace(loadscopereorder=False)
    config = SimpleNamespace(getvalue=options.get, option=option)
    return Sharing(config, Producer("sharing", enabled=False))


def test_what_ends_its_worker_is_told_once_and_the_rest_is_run_by_others() -> None:
    others = [f"tests/{file}.py::test_{number}" for file in "bcd" for number in range(3)]
    collection = [CRASHING, "tests/a.py::test_after", *others]
    sharing = sharing_among(2)
    first, second = Worker(sharing, collection), Worker(sharing, collection)
    sharing.schedule()
    assert first.run() == [CRASHING]
    assert sharing.remove_node(first) == CRASHING
    assert sorted(second.run()) == collection[1:]
    assert not sharing.has_pending


def test_one_that_comes_for_one_that_crashed_does_not_wait_with_the_last_test() -> None:
    collection = [CRASHING, "tests/a.py::test_after"]
    sharing = sharing_among(1)
    crashes = Worker(sharing, collection)
    sharing.schedule()
    assert crashes.run() == [CRASHING]
    assert sharing.remove_node(crashes) == CRASHING
    replaces = Worker(sharing, collection)
    sharing.schedule()
    assert replaces.run() == collection[1:]
    assert replaces.shutting_down
