"""What Windows is told of the pipe of an agent that is a service, and what counts as its word."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from agent.control.doorkeeping import Person
from agent.host.pipe_windows_api import PipeApi
from agent.host.private_windows import Caller, service_identifier
from tests.hosts.windows import Library, loaded_as_on_windows

PIPE, TOKEN, ACCOUNT, GROUP = 0x7_0000_0010, 0x7_0000_0020, 0x7_0000_0030, 0x7_0000_0040
OWN, ADA = "S-1-5-21-1-2-3-1001", "S-1-5-21-1-2-3-1002"
ADMINISTRATORS = "S-1-5-32-544"
MAKES_ANOTHER = 0x4
"""FILE_CREATE_PIPE_INSTANCE."""
NAME = "\\\\.\\pipe\\wingbeat-service"


@dataclass
class Windows:
    """A machine where ``owner`` has made the pipe, and somebody has called it."""

    owner: str = OWN
    administers: bool = False
    reverts: bool = True
    told: dict[str, Any] = field(default_factory=dict)
    acts_as: list[str] = field(default_factory=lambda: ["service"])

    def api(self, monkeypatch: pytest.MonkeyPatch) -> PipeApi:
        kernel = Library(
            CreateNamedPipeW=lambda *_: PIPE,
            CreateFileW=self._call,
            CloseHandle=self._close,
        )
        advapi = Library(
            ConvertStringSecurityDescriptorToSecurityDescriptorW=self._describe,
            GetSecurityInfo=self._owner,
            ImpersonateNamedPipeClient=self._impersonate,
            RevertToSelf=lambda: bool(self.reverts and self.acts_as.pop()),
            OpenThreadToken=self._token,
            GetTokenInformation=self._user,
            ConvertStringSidToSidW=self._group,
            CheckTokenMembership=self._is_member,
            ConvertSidToStringSidW=self._text,
            LookupAccountSidW=self._name,
        )
        libraries = {"kernel32": kernel, "advapi32": advapi}
        module = loaded_as_on_windows("agent.host.pipe_windows_api", libraries, monkeypatch)
        monkeypatch.setattr(module, "own_identifier", lambda: OWN)
        return cast("PipeApi", module.PipeApi())

    def _call(self, *told: object) -> int:
        self.told["call"] = told
        return PIPE

    def _close(self, handle: Any) -> int:
        self.told["closed"] = getattr(handle, "value", handle)
        return 1

    def _impersonate(self, _: int) -> int:
        self.acts_as.append("caller")
        return 1

    def _describe(self, words: str, _: int, into: Any, __: object) -> int:
        self.told["access"] = words
        into.value = GROUP
        return 1

    def _owner(self, handle: int, _: int, __: int, owner: Any, *_others: Any) -> int:
        assert handle == PIPE
        owner.value = ACCOUNT
        return 0

    def _token(self, _: int, rights: int, as_self: bool, into: Any) -> int:
        assert self.acts_as == ["service", "caller"]
        assert as_self, "the caller's own rights would not reach it"
        into.value = TOKEN
        return rights

    def _user(self, token: Any, _: int, into: Any, room: int, __: object) -> int:
        assert token.value == TOKEN
        ctypes.c_void_p.from_buffer(into).value = ACCOUNT
        self.owner = ADA
        return room

    def _group(self, words: str, into: Any) -> int:
        assert words == ADMINISTRATORS
        into.value = GROUP
        return 1

    def _is_member(self, token: Any, group: Any, into: Any) -> int:
        assert (token.value, group.value) == (TOKEN, GROUP)
        into.value = self.administers
        return 1

    def _text(self, account: Any, into: Any) -> int:
        assert account.value == ACCOUNT
        into.value = self.owner
        return 1

    def _name(self, _: object, account: Any, name: Any, *__: object) -> int:
        assert account.value == ACCOUNT
        name.value = "ada"
        return 1


def test_everybody_who_is_logged_in_may_call_and_nobody_else_may_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    windows = Windows()
    windows.api(monkeypatch).make(NAME, first=True, for_all=True)
    owner, listed = windows.told["access"].removesuffix(")").split("D:P(")
    assert owner == f"O:{OWN}"
    entries = dict(reversed(entry.removeprefix("A;;").split(";;;")) for entry in listed.split(")("))
    assert entries.keys() == {OWN, "S-1-5-18", ADMINISTRATORS, "IU"}
    assert not int(entries["IU"], 16) & MAKES_ANOTHER
    windows.api(monkeypatch).call(NAME)
    assert windows.told["call"][1] == int(entries["IU"], 16), "what is asked for is what is given"


@pytest.mark.parametrize(
    ("owner", "counts"),
    [
        (ADA, False),
        ("S-1-5-18", True),
        (ADMINISTRATORS, True),
        (service_identifier("wingbeat"), True),
    ],
)
def test_only_the_machine_s_own_pipe_counts(
    owner: str, counts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    windows = Windows(owner)
    made = windows.api(monkeypatch)
    assert made.is_of_machine(NAME) is counts
    assert windows.told["closed"] == PIPE
    if not counts:
        with pytest.raises(FileNotFoundError):
            made.call(NAME, of_machine=True)


def test_a_pipe_that_is_always_taken_is_not_the_machine_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anybody can make one and call it themselves: agents of people would hand over to nobody."""
    made, tried = Windows().api(monkeypatch), list[bool]()

    def busy(name: str, *, of_machine: bool) -> int:
        tried.append(name == NAME and of_machine)
        error = OSError("all pipes are busy")
        error.winerror = 231  # type: ignore[attr-defined]
        raise error

    monkeypatch.setattr(made, "call", busy)
    assert not made.is_of_machine(NAME)
    assert len(tried) > 1
    assert all(tried)


@pytest.mark.parametrize("administers", [True, False])
def test_windows_tells_who_has_called_and_what_they_may(
    administers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    windows = Windows(administers=administers)
    caller = windows.api(monkeypatch).caller(PIPE)
    assert caller == Caller(ADA, "ada", administers)
    assert windows.acts_as == ["service"], "it acts as itself again"
    assert windows.told["closed"] == TOKEN
    person = Person(caller, ("sudo", "wheel"))
    assert (person.name, person.account, person.may("stop")) == ("ada", ADA, administers)
    assert person.may("submit")


def test_a_service_that_cannot_be_itself_again_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Windows(reverts=False).api(monkeypatch)

    def end() -> None:
        raise SystemExit

    monkeypatch.setattr("os.abort", end)
    with pytest.raises(SystemExit):
        made.caller(PIPE)


def test_the_account_of_a_service_is_known_before_it_is_there() -> None:
    """Windows' own installer of modules has this one."""
    known = "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"
    assert service_identifier("TrustedInstaller") == known
