"""Settings, folders and the log."""

from __future__ import annotations

import io
import logging
import re
import stat
from pathlib import Path

import pytest

from agent.api.errors import MembershipError
from agent.flock.gossip import AddressBook, RequestWord, gossip_of, own_places, read_gossip
from agent.host import logs
from agent.net.addresses import Address
from agent.paths import SERVICE_FOLDERS, VARIABLE, Home, MachineFiles
from agent.settings.layers import read_settings
from agent.settings.node_settings import NodeSettings, SettingsError


def settings_in(tmp_path: Path, text: str) -> NodeSettings:
    path = tmp_path / "settings.toml"
    path.write_text(text)
    return read_settings(path)


def test_everything_has_a_default(tmp_path: Path) -> None:
    assert read_settings(tmp_path / "missing.toml") == NodeSettings()
    assert NodeSettings().name
    assert settings_in(tmp_path, "") == NodeSettings()


def test_everything_can_be_set(tmp_path: Path) -> None:
    text = """
name = "workshop 3"
port = 0
listen = ["127.0.0.1", "::1"]
addresses = ["hangar", "192.168.1.7:4000"]
slots = 4
volunteer = "paused"
tags = ["gpu"]

[shares]
flights = "/mnt/flights"
"""
    assert settings_in(tmp_path, text) == NodeSettings(
        name="workshop 3",
        port=0,
        listen=("127.0.0.1", "::1"),
        addresses=(Address("hangar", 29464), Address("192.168.1.7", 4000)),
        slots=4,
        volunteer="paused",
        tags=("gpu",),
        shares={"flights": "/mnt/flights"},
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("port = 'one'", "port is 'one': it has to be a port from 0 to 65535"),
        ("port = true", "port is True"),
        ("port = 70000", "port is 70000"),
        ("slots = 0", "slots is 0: it has to be a number from 1 to 256"),
        ("name = ''", "name has to be a text"),
        ('name = "a\\u0007b"', "has a character that cannot be seen"),
        ("name = 'a/b'", "have no place in the name of a machine"),
        (f"name = '{'x' * 61}'", "name is too long"),
        ("listen = '::'", "listen has to be a list"),
        ("listen = ['everywhere']", "listen has 'everywhere', which is no address"),
        ("addresses = ['a b']", "addresses cannot be used: "),
        ("addresses = [7]", "addresses has 7"),
        ("volunteer = 'when bored'", "choose always"),
        ("tags = ['']", "tags has ''"),
        ("shares = ['/mnt']", "shares is no table of up to 64 folders"),
        ("[shares]\nflights = 'mnt'", "shares has 'mnt' for flights: write a table, like"),
        ("[shares]\n'a/b' = '/mnt'", "shares has 'a/b': a share is named by letters"),
        ("colour = 'red'", "there is no setting 'colour'"),
        ("port = 1\nslots 2", r"is not TOML: .*line 2"),
    ],
)
def test_what_is_wrong_is_one_sentence_with_the_file(
    tmp_path: Path, text: str, complaint: str
) -> None:
    with pytest.raises(SettingsError, match=complaint) as caught:
        settings_in(tmp_path, text)
    assert str(tmp_path / "settings.toml") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_in_another_encoding_is_said(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_bytes("name = 'Höhe'".encode("latin-1"))
    with pytest.raises(SettingsError, match="UTF-8"):
        read_settings(path)


# -- folders -----------------------------------------------------------------------------------


def test_a_service_keeps_its_files_where_the_system_says(tmp_path: Path) -> None:
    told = {each: str(tmp_path / each) for each in SERVICE_FOLDERS}
    home = Home.of(told)
    assert {each.parent for each in home.folders} <= {tmp_path, tmp_path / "STATE_DIRECTORY"}
    assert len(set(home.folders)) == 4
    assert home.programs_beside == Home.of({}).programs_beside != ()
    assert Home.of({**told, "LOGS_DIRECTORY": ""}) == Home.of({})
    moved = Home.of({**told, VARIABLE: str(tmp_path / "here")})
    assert moved == Home.at(tmp_path / "here")
    assert moved.programs_beside == ()


def test_the_variable_moves_everything(tmp_path: Path) -> None:
    home = Home.of({VARIABLE: str(tmp_path / "here")})
    for folder in (home.data, home.config, home.log, home.cache):
        assert folder.parent == tmp_path / "here"
    assert home.machine is None
    home.prepare()
    home.prepare()
    for folder in (tmp_path / "here", home.data, home.programs, home.scratch):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_without_it_they_are_where_the_system_has_them() -> None:
    home = Home.of({})
    assert "wingbeat" in str(home.data)
    assert home.machine == MachineFiles.native()
    assert home.machine.policy.name == "policy.toml"
    assert home == Home.of({VARIABLE: "  "})


# -- the log -----------------------------------------------------------------------------------


def test_a_line_has_time_severity_and_text(tmp_path: Path) -> None:
    terminal = io.StringIO()
    end = logs.begin(tmp_path, terminal)
    logger = logging.getLogger("agent.test")
    logger.info("linked with %s", "bee")
    try:
        raise ValueError("boom")
    except ValueError:
        logger.exception("it broke")
    end()
    logger.warning("after the end")
    told = (tmp_path / "agent.log").read_text()
    assert told == terminal.getvalue()
    first, second, *rest = told.splitlines()
    assert re.fullmatch(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\]: <info> linked with bee", first)
    assert second.endswith("]: <error> it broke")
    assert rest
    assert all(line.startswith("    ") for line in rest)
    assert "after the end" not in told


def test_files_take_each_others_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "FILE_BYTES_MAX", 200)
    monkeypatch.setattr(logs, "LINES_UNMEASURED_MAX", 1)
    end = logs.begin(tmp_path)
    for number in range(100):
        logging.getLogger("agent.test").info("line %d", number)
    end()
    files = sorted(tmp_path.iterdir())
    assert len(files) == logs.FILES_MAX
    assert all(stat.S_IMODE(each.stat().st_mode) == 0o600 for each in files)
    assert "line 99" in (tmp_path / "agent.log").read_text()


# -- addresses ---------------------------------------------------------------------------------


def test_what_a_node_says_of_itself_replaces_what_others_say(tmp_path: Path) -> None:
    one, two = Address("10.0.0.1", 1), Address("::1", 2)
    book = AddressBook(tmp_path / "addresses.json")
    book.load()
    assert book.note("bee", [one], first_hand=False)
    assert book.note("bee", [two], first_hand=False)
    assert not book.note("bee", [two], first_hand=False)
    book.save()
    again = AddressBook(tmp_path / "addresses.json")
    again.load()
    assert again.of("bee") == (one, two)
    assert again.note("bee", [two], first_hand=True)
    assert again.of("bee") == (two,)
    again.forget()
    assert not (tmp_path / "addresses.json").exists()


@pytest.mark.parametrize("text", ["{", "[]", '{"bee": 7}', '{"bee": ["a b"]}'])
def test_a_broken_file_of_addresses_is_written_anew(tmp_path: Path, text: str) -> None:
    path = tmp_path / "addresses.json"
    path.write_text(text)
    book = AddressBook(path)
    book.load()
    assert book.known() == {}


def test_gossip_arrives_as_it_was_told() -> None:
    places = {"bee": [Address("10.0.0.1", 1), Address("fd00::1", 2)]}
    waiting = (RequestWord("0" * 16, "elder", "ada", "192.0.2.1", "418 230", 1.0, 9.0, "waiting"),)
    assert read_gossip(gossip_of(b"roster", places)) == (b"roster", places, None, None)
    assert read_gossip(gossip_of(requests=waiting)) == (b"", {}, waiting, None)
    assert read_gossip(gossip_of()) == (b"", {}, None, None)
    assert read_gossip(gossip_of(audit=(7, "ab"))) == (b"", {}, None, (7, "ab"))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xc1",
        b"\x92\xc4\x00\x81\xa3bee\x91\xa3a b",
        b"\x92\xc4\x00\x81\xa0\x90",
        gossip_of(b"x" * 2_000_000),
    ],
)
def test_what_no_member_tells_is_not_taken(body: bytes) -> None:
    with pytest.raises(MembershipError):
        read_gossip(body)


def test_nobody_is_told_of_addresses_that_mean_something_else_elsewhere() -> None:
    assert own_places(["fe80::1", "127.0.0.1"], 7) == [Address("127.0.0.1", 7)]
    assert all(place.port == 7 for place in own_places([], 7))


FOUR, SIX = ["10.0.0.7", "192.168.1.7"], ["2001:db8::7"]


@pytest.mark.parametrize(
    ("listen", "reached"),
    [
        ([], [*FOUR, *SIX]),
        (["::"], SIX),
        (["0.0.0.0"], FOUR),
        (["::", "0.0.0.0"], [*SIX, *FOUR]),
        (["10.0.0.9", "0.0.0.0"], ["10.0.0.9", *FOUR]),
        (["2001:db8::7", "::"], SIX),
    ],
)
def test_who_listens_everywhere_tells_where_it_is_reached(
    listen: list[str], reached: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.flock.gossip.own_addresses", lambda: (*FOUR, *SIX))
    assert [place.host for place in own_places(listen, 7)] == reached
