"""Other accounts of the same machine: what they get at the door of an agent, which is nothing."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent.client import Client, Home, NotUnderstoodError
from agent.client.proof import new_nonce, proof_of
from agent.host import local_socket
from tests.control.serving import WITHIN_S, LineClient, Serving, greeted, serving

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has pipes: test_pipe_windows")
PLACE_OF_PORT = "127.0.0.1:{}"


@asynccontextmanager
async def by_port(there: Serving) -> AsyncIterator[LineClient]:
    """A client at the port of loopback."""
    reader, writer = await asyncio.open_connection("127.0.0.1", there.server.port)
    try:
        yield LineClient(reader, writer)
    finally:
        writer.transport.abort()


async def test_only_a_socket_of_its_account_is_open(tmp_path: Path) -> None:
    async with serving(tmp_path) as there:
        place = Path(there.server.place)
        assert stat.S_ISSOCK(place.stat().st_mode)
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
        assert there.server.port == 0
    assert list(tmp_path.glob("control*")) == []


async def test_the_account_at_the_other_end_is_known(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    home.prepare()
    async with serving(home.data) as there, await Client.connect(home):
        (connection,) = there.server._connections
        assert connection._call.neighbour.account == os.geteuid()


async def test_a_home_may_lie_deeper_than_a_socket_may_be_named(tmp_path: Path) -> None:
    home = Home.at(tmp_path.joinpath(*["a folder of some length"] * 8))
    home.prepare()
    async with serving(home.data) as there:
        assert len(there.server.place) > local_socket.NAME_BYTES_MAX
        async with await Client.connect(home) as client:
            assert client.welcome is not None


async def test_a_disk_without_sockets_gets_one_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, runtime = Home.at(tmp_path), tmp_path / "runtime"
    home.prepare()
    runtime.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    bind = socket.socket.bind

    class Refusing(socket.socket):
        def bind(self, address: object) -> None:
            if str(address).startswith(str(home.data)):
                raise PermissionError(1, "Operation not permitted")
            bind(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "socket", Refusing)
    async with serving(home.data) as there:
        folder = Path(there.server.place).parent
        assert folder.parent == runtime
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        async with await Client.connect(home):
            pass
    assert list(runtime.iterdir()) == []


async def test_the_socket_of_a_killed_agent_is_replaced(tmp_path: Path) -> None:
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(tmp_path / "control.socket"))
    dead.close()
    async with serving(tmp_path) as there, greeted(there) as client:
        await client.result("status")


async def test_a_socket_of_another_account_is_told_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its folder was writable, and somebody put a socket of his own there."""
    home, heard = Home.at(tmp_path), bytearray()
    home.prepare()

    async def listening(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.extend(await reader.read(-1))
        writer.close()

    place = str(home.data / "control.socket")
    control = {"place": place, "token": "x" * 16, "process": 1}
    (home.data / "control.json").write_text(json.dumps(control))
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    monkeypatch.setattr("agent.client.link.account_of", lambda _: 4712)
    async with await asyncio.start_unix_server(listening, place):
        with pytest.raises(NotUnderstoodError, match="another account"):
            await Client.connect(home)
    assert heard == b""


# -- the port of loopback, where the owner has switched it on --------------------------------------


async def test_squatted_port_learns_no_token(tmp_path: Path) -> None:
    """Who listens in the place of an agent: `wingbeat telnet --answer` finds it out, and no text or
    greeting that opens the agent was said before."""
    async with serving(tmp_path, telnet=True) as there:
        token, port = there.control["token"], there.server.port
        async with by_port(there) as client:  # the squatter lets the true agent prove itself
            client.send("PROVE 0123456789abcdef")
            _, asked, drawn, shown = (await client.line()).decode().split()
    elsewhere = PLACE_OF_PORT.format(port + 1)
    assert shown == proof_of(token, "agent", PLACE_OF_PORT.format(port), asked, drawn)
    assert shown != proof_of(token, "agent", elsewhere, asked, drawn)
    assert token not in f"{asked}{drawn}{shown}"


@pytest.mark.parametrize("there", [{"telnet": True}], indirect=True)
async def test_the_token_itself_opens_no_port(there: Serving) -> None:
    token = there.control["token"]
    async with by_port(there) as client:
        _, sentence = await client.refusal("hello", {"token": token})
        assert "both sides prove" in sentence
    async with by_port(there) as client:
        client.send(f"TOKEN {token}")
        assert (await client.line()).startswith(b"ERROR")
        assert await client.line() == b""


@pytest.mark.parametrize("there", [{"telnet": True}], indirect=True)
async def test_a_proof_opens_the_port_once_and_only_there(there: Serving) -> None:
    token, place, asked = there.control["token"], PLACE_OF_PORT.format(there.server.port), "n" * 16
    async with by_port(there) as client:
        told = await client.result("prove", {"nonce": asked})
        assert told["proof"] == proof_of(token, "agent", place, asked, told["nonce"])
        shown = proof_of(token, "client", place, asked, told["nonce"])
        assert (await client.result("hello", {"token": shown}))["name"] == "birch"
    async with by_port(there) as client:
        fresh = await client.result("prove", {"nonce": asked})
        assert fresh["nonce"] != told["nonce"]
        await client.refusal("hello", {"token": shown})
    async with by_port(there) as client:
        await client.refusal("hello", {"token": ""})
    async with by_port(there) as client:
        told = await client.result("prove", {"nonce": asked})
        await client.refusal(
            "hello", {"token": told["proof"]}
        )  # the agent's own is not the client's


async def test_on_a_pipe_the_client_wants_proof_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows, where nobody tells who listens: here neither."""
    home = Home.at(tmp_path)
    home.prepare()
    monkeypatch.setattr("agent.client.link.account_of", lambda _: None)
    monkeypatch.setattr("agent.control.server.account_of", lambda _: None)
    async with serving(home.data), await Client.connect(home) as client:
        assert client.welcome is not None


@pytest.mark.parametrize("answer", ['{"nonce":"0123456789abcdef","proof":"00"}', '{"nonce":"x"}'])
async def test_who_cannot_prove_it_on_a_pipe_is_told_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    home, heard = Home.at(tmp_path), bytearray()
    home.prepare()
    monkeypatch.setattr("agent.client.link.account_of", lambda _: None)
    token, place = new_nonce(), str(home.data / "pipe")

    async def squatter(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.extend(await reader.readline())
        writer.write(b'{"jsonrpc":"2.0","id":1,"result":%s}\n' % answer.encode())
        heard.extend(await reader.read(-1))
        writer.close()

    control = {"place": place, "token": token, "process": 1}
    (home.data / "control.json").write_text(json.dumps(control))
    async with await asyncio.start_unix_server(squatter, place):
        with pytest.raises(NotUnderstoodError):
            async with asyncio.timeout(WITHIN_S):
                await Client.connect(home)
    assert token.encode() not in heard
    assert b"hello" not in heard
