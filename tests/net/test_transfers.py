"""Both sides of a transfer: what is asked and answered, and what becomes of bad holders."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from struct import pack
from typing import IO, Any

import pytest

from agent.net import transfer_download, transfer_words
from agent.net.transfer_download import Download
from agent.net.transfer_words import (
    OFFERED_MAX,
    PIECE_BYTES,
    WORD_BYTES_MAX,
    AskBytes,
    AskDataset,
    AskHashes,
    Described,
    Follow,
    Hashes,
    Offer,
    Pipe,
    Refused,
    Taken,
    Word,
    hear,
    packed,
    receive_exactly,
    say,
)
from agent.protocol.phrases import RemoteProtocolError
from tests.net.pipes import (
    LIMIT_S,
    MemoryPlace,
    MemoryShelf,
    MemorySource,
    SocketEnd,
    answered,
    digest_of,
    hashes_of,
    served,
    serving,
)

LARGE = bytes(range(256)) * (2 * PIECE_BYTES // 256) + b"the rest"
SMALL = b"a small one"
DIGEST, SMALL_DIGEST = digest_of(LARGE), digest_of(SMALL)
MADE_OF = {SMALL_DIGEST: len(SMALL), DIGEST: len(LARGE)}
CONTENTS = {SMALL_DIGEST: SMALL, DIGEST: LARGE}

Serve = Callable[[SocketEnd], object]


def nothing_taken(pipe: Pipe, datasets: tuple[str, ...]) -> Taken:
    return Taken((), "no room")


def nothing_kept(pieces: tuple[transfer_words.LogPiece, ...]) -> None:
    raise AssertionError(f"nobody has printed {pieces}")


def giving(source: MemorySource) -> Serve:
    """A holder as agents are."""
    return lambda pipe: transfer_words.serve(pipe, source, nothing_taken, nothing_kept)


def received(pipe: SocketEnd, size: int) -> bytes:
    content = bytearray(size)
    receive_exactly(pipe, memoryview(content))
    return bytes(content)


# -- who has the data --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "answer"),
    [
        (AskDataset("tree:1"), Described(17, "data", b"manifest")),
        (AskHashes(DIGEST), Hashes(hashes_of(LARGE))),
        (AskHashes("0" * 64), Refused(f"sha256:{'0' * 64} is not here")),
        (AskBytes("0" * 64, 0, 1), Refused(f"sha256:{'0' * 64} is not here")),
        (AskBytes(SMALL_DIGEST, 0, 12), Refused(f"sha256:{SMALL_DIGEST} is shorter here")),
        (AskBytes(SMALL_DIGEST, 11, 1), Refused(f"sha256:{SMALL_DIGEST} is shorter here")),
        (AskBytes(SMALL_DIGEST, 11, 0), Follow(0)),
        (Offer(("tree:1",)), Taken((), "no room")),
    ],
)
def test_each_question_has_its_answer_and_another_may_follow(word: Word, answer: Word) -> None:
    source = MemorySource(CONTENTS, 17, "data", b"manifest")
    with serving(giving(source)) as pipe:
        assert (answered(pipe, word), answered(pipe, word)) == (answer, answer)


@pytest.mark.parametrize(
    ("offset", "size"), [(0, 11), (2, 5), (10, 1), (PIECE_BYTES, 300_000), (0, PIECE_BYTES)]
)
def test_of_a_content_the_piece_is_given_that_was_asked_for(offset: int, size: int) -> None:
    content = SMALL if size <= len(SMALL) else LARGE
    with serving(giving(MemorySource(CONTENTS))) as pipe:
        assert answered(pipe, AskBytes(digest_of(content), offset, size)) == Follow(size)
        assert received(pipe, size) == content[offset : offset + size]


@pytest.mark.parametrize(("length", "told"), [(1_000, 1_000), (1_001, 1_000)])
def test_a_long_reason_is_cut(length: int, told: int) -> None:
    class Wordy(MemorySource):
        def verify(self, digest: str) -> bytes:  # noqa: ARG002
            raise OSError("x" * length)

    with serving(giving(Wordy({}))) as pipe:
        assert answered(pipe, AskHashes(DIGEST)) == Refused("x" * told)


def test_what_becomes_shorter_while_it_is_given_ends_the_transfer() -> None:
    class Shrinking(MemorySource):
        def open(self, digest: str) -> IO[bytes]:
            file = super().open(digest)
            seek = file.seek

            def shrunk(at: int, whence: int = 0) -> int:
                return seek(at, whence) + (PIECE_BYTES if whence else 0)

            file.seek = shrunk  # type: ignore[method-assign]
            return file

    with serving(giving(Shrinking({SMALL_DIGEST: SMALL}))) as pipe:
        assert answered(pipe, AskBytes(SMALL_DIGEST, 0, 12)) == Follow(12)
        with pytest.raises(ConnectionResetError, match="before its end"):
            received(pipe, 12)


def test_what_is_offered_is_asked_for_until_it_is_taken() -> None:
    source = MemorySource(CONTENTS, 17)

    def keeper(pipe: SocketEnd) -> None:
        assert hear(pipe) == Offer(("tree:1",))
        assert answered(pipe, AskBytes(SMALL_DIGEST, 0, 11)) == Follow(11)
        assert received(pipe, 11) == SMALL
        say(pipe, Taken(("tree:1",)))

    with serving(keeper) as pipe:
        assert transfer_words.offer(pipe, source, ("tree:1",)) == Taken(("tree:1",))
        assert source.asked == ["open"]


def test_who_ends_before_it_took_an_offer_has_not_taken_it() -> None:
    with (
        serving(hear) as pipe,
        pytest.raises(ConnectionResetError, match="before it had everything"),
    ):
        transfer_words.offer(pipe, MemorySource(CONTENTS), ("tree:1",))


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        (packed(Follow(1)), "Follow out of turn"),
        (packed(Taken(())), "Taken out of turn"),
        (pack(">I", WORD_BYTES_MAX + 1), f"a word of {WORD_BYTES_MAX + 1} bytes"),
        (pack(">I", 1) + b"\xc1", "no word of a transfer"),
        (packed(AskHashes("0" * 63)), "no word of a transfer"),
        (packed(AskBytes(DIGEST, 0, PIECE_BYTES + 1)), "no word of a transfer"),
        (packed(Offer(("",) * (OFFERED_MAX + 1))), "no word of a transfer"),
        (packed(Refused("x" * 1_001)), "no word of a transfer"),
    ],
)
def test_what_no_agent_says_ends_the_transfer(said: bytes, fault: str) -> None:
    def serve(pipe: SocketEnd) -> None:
        with pytest.raises(RemoteProtocolError, match=fault):
            giving(MemorySource(CONTENTS))(pipe)
        pipe.send(b"seen")

    with serving(serve) as pipe:
        pipe.send(said)
        assert received(pipe, 4) == b"seen"


@pytest.mark.parametrize("size", [1, 3, 4, 10])
def test_a_word_that_breaks_off_is_no_end(size: int) -> None:
    def serve(pipe: SocketEnd) -> None:
        pipe.send(packed(AskHashes(DIGEST))[:size])

    with serving(serve) as pipe, pytest.raises(ConnectionResetError, match="before its end"):
        hear(pipe)


# -- who wants it ------------------------------------------------------------------------------


class Flock:
    """Holders by name; each call of one is noted, and served in a thread."""

    def __init__(self, **holders: Serve) -> None:
        self.holders, self.called = holders, list[str]()

    async def open(self, node: str) -> Pipe:
        self.called.append(node)
        if node not in self.holders:
            raise ConnectionRefusedError(f"{node} is not there")
        return served(self.holders[node])[0]

    def fetch(self, shelf: MemoryShelf, *holders: str) -> str:
        """What is said when it cannot be had; empty when it is here."""

        async def run(threads: ThreadPoolExecutor) -> str:
            download = Download(shelf, "tree:1", self.open, threads)
            try:
                async with asyncio.timeout(LIMIT_S):
                    await download.run(holders)
            except TimeoutError:
                raise
            except OSError as error:
                return str(error)
            return ""

        with ThreadPoolExecutor(8) as threads:
            return asyncio.run(run(threads))


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits between two calls."""
    monkeypatch.setattr(transfer_download, "AGAIN_S", 0.0)


def breaking(source: MemorySource, after: int) -> Serve:
    """A holder whose connection breaks behind so many words."""

    def serve(pipe: SocketEnd) -> None:
        for _ in range(after):
            word = hear(pipe)
            if word is None:
                return
            transfer_words._answer(pipe, source, word, memoryview(bytearray(PIECE_BYTES)))
        pipe.end()

    return serve


def test_a_dataset_comes_whole() -> None:
    shelf, source = MemoryShelf(MADE_OF), MemorySource(CONTENTS, 17, "data", b"manifest")
    assert Flock(ant=giving(source)).fetch(shelf, "ant", "ant") == ""
    assert (shelf.objects, shelf.adopted) == (CONTENTS, [("tree:1", b"manifest", "data")])
    assert source.asked == ["described", *["open"] * 4]


def test_one_piece_more_is_asked_for_than_is_being_received() -> None:
    """The second question comes before the first answer, the third only after that."""
    shelf = MemoryShelf({DIGEST: len(LARGE)})
    order: list[str] = []

    def serve(pipe: SocketEnd) -> None:
        hear(pipe)
        say(pipe, Described(17, "data"))
        asked = [hear(pipe), hear(pipe)]
        order.extend(type(each).__name__ for each in asked if each)
        for each in asked:
            assert isinstance(each, AskBytes)
            _give(pipe, each)
        third = hear(pipe)
        assert isinstance(third, AskBytes)
        _give(pipe, third)
        hear(pipe)

    assert Flock(ant=serve).fetch(shelf, "ant") == ""
    assert (order, shelf.objects) == (["AskBytes", "AskBytes"], {DIGEST: LARGE})


def _give(pipe: SocketEnd, asked: AskBytes, content: bytes = LARGE) -> None:
    say(pipe, Follow(asked.size_bytes))
    pipe.send(content[asked.offset : asked.offset + asked.size_bytes])


def test_who_does_not_have_it_is_asked_once_and_the_next_one_gives_it() -> None:
    shelf = MemoryShelf(MADE_OF)
    flock = Flock(
        **dict.fromkeys("abcd", giving(MemorySource({}))), e=giving(MemorySource(CONTENTS))
    )
    assert (flock.fetch(shelf, *"abcde"), sorted(flock.called)) == ("", list("abcde"))
    assert shelf.objects == CONTENTS


@pytest.mark.parametrize(
    ("holders", "sentence"),
    [
        ((), "tree:1 could not be fetched: nobody has it"),
        (("ant",), "tree:1 could not be fetched: tree:1 is not here"),
        (("bee",), "tree:1 could not be fetched: bee is not there"),
        (("cat",), "tree:1 could not be fetched: Taken instead of a description"),
        (("dog",), "tree:1 could not be fetched: it ended the transfer"),
        (("elk",), "tree:1 could not be fetched: Follow instead of 11 bytes"),
        (("fox",), "tree:1 could not be fetched: Taken instead of 11 bytes"),
    ],
)
def test_why_it_cannot_be_had_is_said_once(holders: tuple[str, ...], sentence: str) -> None:
    def says(*words: Word) -> Serve:
        def serve(pipe: SocketEnd) -> None:
            for word in words:
                hear(pipe)
                say(pipe, word)
            pipe.end()

        return serve

    described = Described(17, "data")
    flock = Flock(
        ant=giving(MemorySource({})),
        cat=says(Taken(())),
        dog=says(),
        elk=says(described, Follow(12)),
        fox=says(described, Taken(())),
    )
    shelf = MemoryShelf({SMALL_DIGEST: len(SMALL)})
    assert flock.fetch(shelf, *holders) == sentence
    assert shelf.adopted == []


def test_who_breaks_off_and_brings_nothing_is_called_four_times() -> None:
    flock = Flock()
    assert flock.fetch(MemoryShelf(MADE_OF), "ant").endswith("ant is not there")
    assert flock.called == ["ant"] * 4


def test_who_breaks_off_is_called_again_as_long_as_something_comes() -> None:
    """Eight calls, each of which brings one file."""
    contents = {digest_of(bytes([n])): bytes([n]) for n in range(8)}
    shelf = MemoryShelf(dict.fromkeys(contents, 1))
    flock = Flock(ant=breaking(MemorySource(contents), after=2))
    assert flock.fetch(shelf, "ant") == ""
    assert (len(flock.called), shelf.objects) == (8, contents)


def test_what_a_holder_can_never_give_ends_the_calls() -> None:
    """What came before it is not asked for again, so it is no progress for ever."""
    last = b"last"
    contents = {SMALL_DIGEST: SMALL, digest_of(last): last}

    class Failing(MemorySource):
        def open(self, digest: str) -> IO[bytes]:
            if digest != SMALL_DIGEST:
                raise ConnectionAbortedError("the disk fails")
            return super().open(digest)

    flock = Flock(ant=giving(Failing(contents)))
    shelf = MemoryShelf({digest: len(content) for digest, content in contents.items()})
    assert "could not be fetched" in flock.fetch(shelf, "ant")
    assert (len(flock.called), shelf.objects) == (5, {SMALL_DIGEST: SMALL})


def test_four_holders_are_asked_at_once_and_no_more() -> None:
    entered: list[str] = []

    def held(name: str) -> Serve:
        def serve(pipe: SocketEnd) -> None:
            entered.append(name)
            hear(pipe)

        return serve

    flock = Flock(**{name: held(name) for name in "abcdef"})
    order: list[str] = []
    plain = flock.open

    async def opened(node: str) -> Pipe:
        order.append(node)
        return await plain(node)

    flock.open = opened  # type: ignore[method-assign]
    flock.fetch(MemoryShelf(MADE_OF), *"abcdef")
    assert (order[:4], sorted(set(order))) == (list("abcd"), list("abcdef"))


def test_whose_small_file_is_wrong_is_told_so_and_left_out() -> None:
    bad = MemorySource({**CONTENTS, SMALL_DIGEST: b"another one"})
    shelf = MemoryShelf({SMALL_DIGEST: len(SMALL)})
    flock = Flock(ant=giving(bad))
    assert flock.fetch(shelf, "ant") == (
        f"tree:1 could not be fetched: what it gave is not sha256:{SMALL_DIGEST}"
    )
    assert bad.asked == ["described", "open", "verify"]
    assert (flock.called, shelf.objects) == (["ant", "ant"], {})


def test_a_large_file_that_is_wrong_is_found_at_its_owner() -> None:
    """It says so itself when it is asked, and the next holder is asked for what is wrong."""
    wrong = bytearray(LARGE)
    wrong[PIECE_BYTES] ^= 1
    bad, good = MemorySource({DIGEST: bytes(wrong)}), MemorySource(CONTENTS)
    shelf = MemoryShelf({DIGEST: len(LARGE)})
    assert "damaged here" in Flock(ant=giving(bad)).fetch(shelf, "ant")
    assert bad.asked == ["described", "open", "open", "open", "verify"]
    shelf.places[DIGEST].found = True
    assert Flock(bee=giving(good)).fetch(shelf, "bee") == ""
    assert good.asked == ["described", "verify", "open"]
    assert shelf.objects == {DIGEST: LARGE}


def test_who_swears_that_wrong_data_is_right_is_left_out() -> None:
    class Liar(MemorySource):
        def verify(self, digest: str) -> bytes:
            self.asked.append("verify")
            return hashes_of(self.contents[digest])

    liar = Liar({DIGEST: bytes(len(LARGE))})
    shelf = MemoryShelf({DIGEST: len(LARGE)})
    told = Flock(ant=giving(liar)).fetch(shelf, "ant")
    assert told == "tree:1 could not be fetched: it has other data under this name"
    assert liar.asked.count("verify") == 1


def test_a_full_disk_here_is_no_holders_fault() -> None:
    shelf = MemoryShelf(MADE_OF, full=True)
    flock = Flock(ant=giving(MemorySource(CONTENTS)), bee=giving(MemorySource(CONTENTS)))
    assert (flock.fetch(shelf, "ant"), flock.called) == ("no room", ["ant"])


async def test_who_does_not_want_it_any_more_waits_for_nobody() -> None:
    asked = asyncio.Event()

    async def run(threads: ThreadPoolExecutor) -> MemoryShelf:
        loop = asyncio.get_running_loop()

        def silent(pipe: SocketEnd) -> None:
            hear(pipe)
            loop.call_soon_threadsafe(asked.set)
            hear(pipe)

        shelf = MemoryShelf(MADE_OF, places={DIGEST: MemoryPlace(bytearray(len(LARGE)))})
        flock = Flock(ant=silent)
        download = asyncio.create_task(Download(shelf, "tree:1", flock.open, threads).run(["ant"]))
        async with asyncio.timeout(LIMIT_S / 2):
            await asked.wait()
            download.cancel()
            await asyncio.gather(download, return_exceptions=True)
        assert download.cancelled()
        return shelf

    with ThreadPoolExecutor(4) as threads:
        assert (await run(threads)).adopted == []


def test_each_call_that_brings_nothing_waits_twice_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    sleep = asyncio.sleep

    async def noted(delay_s: float, *more: Any) -> None:
        waited.append(delay_s)
        await sleep(0, *more)

    monkeypatch.setattr(transfer_download, "AGAIN_S", 0.25)
    monkeypatch.setattr(asyncio, "sleep", noted)
    Flock().fetch(MemoryShelf(MADE_OF), "ant")
    assert waited == [0.5, 1.0, 2.0]
