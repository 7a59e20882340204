"""Which request a person means: by its code or id; by a name only together with the code."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agent.api.admission import JoinRequestView
from agent.api.errors import RefusedError
from agent.api.rpc import ErrorCode
from agent.control.membership import (
    asks_to_be_let_in,
    check_compared,
    find_request,
    open_requests,
)
from tests.control.serving import LineClient, Serving


def asking(name: str, code: str, request: str) -> JoinRequestView:
    return JoinRequestView(request, name, "ada", "192.0.2.7", code, "first", 0, 600_000)


MEANT = asking("laptop", "418 230", "a" * 16)
SAME_NAME = asking("LAPTOP", "000 111", "b" * 16)
CALLED_AS_THE_CODE = asking("418 230", "222 333", "c" * 16)
ALL = [SAME_NAME, MEANT, CALLED_AS_THE_CODE]


@pytest.mark.parametrize("reference", ["418 230", "418-230", "418230", "a" * 16])
def test_a_code_means_who_shows_it_and_not_who_calls_itself_so(reference: str) -> None:
    assert find_request(ALL, reference) is MEANT
    check_compared(MEANT, reference)


def test_a_name_that_two_use_is_told_by_the_codes() -> None:
    with pytest.raises(RefusedError) as caught:
        find_request(ALL, "laptop")
    assert caught.value.problem.code == ErrorCode.AMBIGUOUS
    assert "give the code (000 111, 418 230)" in str(caught.value)


def test_nobody_is_let_in_by_its_name_alone() -> None:
    assert find_request([MEANT], "Laptop") is MEANT
    with pytest.raises(RefusedError, match="give the code that Laptop shows"):
        check_compared(MEANT, "Laptop")


def test_who_does_not_ask_is_told_with_those_who_do() -> None:
    with pytest.raises(RefusedError, match=r"these ask: laptop \(418 230\)"):
        find_request([MEANT], "999 999")
    with pytest.raises(RefusedError, match="none asks at present"):
        find_request([], "999 999")


def test_who_waits_is_told_in_a_sentence_until_somebody_has_answered() -> None:
    answered = replace(SAME_NAME, admitted=True)
    assert open_requests([answered, MEANT]) == [MEANT]
    told = asks_to_be_let_in(MEANT)
    assert told == "laptop (user ada) asks to be let in: `wingbeat flock requests` tells more"
    assert asks_to_be_let_in(replace(MEANT, user="")).startswith("laptop asks to be let in")


async def test_who_cannot_answer_requests_is_told_who_can(
    there: Serving, client: LineClient
) -> None:
    told = await client.result("requests", {})
    assert told["keepers"] == ["alder", "birch"]
    assert told["may_admit"] is True
