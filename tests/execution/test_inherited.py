"""What programs find of the agent's environment."""

from __future__ import annotations

from agent.execution.inherited import inherited


def test_what_systems_need_goes_on() -> None:
    told = {
        "PATH": "/bin",
        "Path": "C:\\",
        "LC_ALL": "C",
        "ProgramFiles(x86)": "C:\\P",
        "TZ": "UTC",
    }
    assert inherited(told) == told


def test_what_an_administrator_set_for_programs_goes_on() -> None:
    told = {"WINGBEAT_PROGRAM_LICENCES": "27000@maps"}
    assert inherited(told) == told


def test_secrets_of_the_account_stay() -> None:
    secrets = (
        "PGPASSWORD",
        "AWS_SECRET_ACCESS_KEY",
        "GITHUB_TOKEN",
        "SSH_AUTH_SOCK",
        "WINGBEAT_HOME",
    )
    assert inherited(dict.fromkeys(secrets, "secret")) == {}
