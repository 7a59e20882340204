"""A program by somebody who has read the code gets nothing; without confinement it gets it all."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("confinement is for Linux", allow_module_level=True)

from agent.protocol.events import ChildSucceeded
from tests.security.scene import NAMES, Attacked, attacked

NEEDS_MORE = frozenset(
    [
        "has_capabilities",
        "keeps_privileges_by_executing",
        "handles_page_faults",
        "dumps_core",
        "marks_files_of_the_owner",
        "takes_a_file_of_the_agent",
        "makes_a_device",
        "raises_its_limits",
        "makes_a_ring_of_calls",
        "adds_a_key",
        "knows_the_home_of_the_owner",
        "reads_secrets_of_the_environment",
        "goes_before_all_others",
        "raises_the_number_of_its_files",
        "calls_by_other_numbers",
        "finds_files_that_were_left_open",
    ]
)
"""What also a program that is not confined gets only on some machines, or never."""
NEEDS_ROOT = frozenset(
    [
        "reads_shadow_or_other_private_files_of_the_system",
        "watches_files_with_fanotify",
        "watches_what_processors_do",
        "reads_messages_of_the_kernel",
        "opens_a_file_by_its_handle",
        "mounts_the_home_of_the_owner_in_its_folder",
        "makes_a_mount_writable_again",
        "changes_its_root",
        "loads_code_into_the_kernel",
        "types_into_a_terminal",
        "would_be_ended_last_without_memory",
        "reads_keys_of_the_session",
    ]
)
"""What such a program gets of any machine where its account is root, and else of some."""


REVIEW = {
    "task_cannot_read_identity_or_authority_key": "reads_identity_key reads_authority_key",
    "task_cannot_read_control_token": "reads_control_token reads_journal_folder",
    "task_cannot_write_home_or_autostart": "appends_to_bashrc plants_autostart writes_by_a_link",
    "task_cannot_read_other_scratch": "reads_other_scratch closes_other_scratch lists_all_scratch",
    "task_cannot_signal_keeper_guardian_agent": "signals_keeper signals_guardian signals_agent",
    "task_cannot_ptrace_or_open_agent_memory": "reads_memory_of_agent copies_memory_of_agent "
    "opens_memory_of_agent_for_writing traces_a_process_of_the_owner",
    "task_has_no_tcp_udp_unix_socket_unless_granted": "connects_by_tcp sends_datagrams "
    "listens_on_all_addresses connects_to_a_socket_by_its_path connects_to_an_abstract_socket",
    "task_cannot_reach_session_bus": "reaches_the_session_bus sends_datagrams_from_a_pair",
    "hard_linked_input_cannot_poison_store": "writes_into_its_input replaces_its_input "
    "changes_modes_of_its_input links_its_input_to_write_it_there",
}
"""Names of the security review, and what each is made of here."""


@pytest.fixture(scope="module")
def confined(tmp_path_factory: pytest.TempPathFactory) -> Attacked:
    return attacked(tmp_path_factory.mktemp("confined"), "on")


@pytest.mark.parametrize("name", NAMES)
def test_an_attack_gets_nothing(confined: Attacked, name: str) -> None:
    assert name not in confined.got, confined.log


@pytest.mark.parametrize("name", REVIEW)
def test_what_the_review_asks_for(confined: Attacked, name: str) -> None:
    wanted = set(REVIEW[name].split())
    assert wanted <= set(NAMES)
    assert wanted & confined.got == set()


def test_nothing_outside_its_folder_has_changed(confined: Attacked) -> None:
    assert confined.changed == frozenset()
    assert isinstance(confined.ended, ChildSucceeded), confined.ended


def test_without_confinement_the_same_attacks_get_what_they_want(tmp_path: Path) -> None:
    found = attacked(tmp_path, "off")
    more = NEEDS_MORE if os.geteuid() == 0 else NEEDS_MORE | NEEDS_ROOT
    assert set(NAMES) - found.got - more == set(), found.log
    assert any(path.endswith(".bashrc") for path in found.changed)
