"""Settings that administrators lay down for all users of a machine: whose word holds, who may change
it, and what becomes of files that are wrong.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from agent.api.errors import ServiceError
from agent.api.volunteering import VolunteerRules
from agent.host import administered
from agent.host.private_posix import PosixGuard
from agent.paths import MachineFiles
from agent.presence.rules import READERS
from agent.settings.editing import OwnerSettings, keep_changes, keep_rules
from agent.settings.layers import NAMES, Settled, settle
from agent.settings.node_settings import NodeSettings, SettingsError
from agent.wording.speech import english


@dataclass(frozen=True)
class Files:
    own: Path
    machine: MachineFiles

    def write(self, own: str = "", defaults: str | None = None, policy: str | None = None) -> Files:
        for path, text in (
            (self.own, own),
            (self.machine.defaults, defaults),
            (self.machine.policy, policy),
        ):
            if text is not None:
                path.write_text(text)
                path.chmod(0o644)
        return self

    def settled(self) -> Settled:
        return settle(self.own, self.machine)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    monkeypatch.setattr(administered, "alteration_guard", lambda: PosixGuard(os.getuid()))
    folder = tmp_path / "machine"
    folder.mkdir(mode=0o755)
    return Files(tmp_path / "settings.toml", MachineFiles(folder))


@pytest.mark.parametrize(
    ("own", "defaults", "policy", "mode", "origin"),
    [
        ("", None, None, "not yet", "built in"),
        ("", 'volunteer = "when idle"', None, "when idle", "machine"),
        ('volunteer = "not now"', 'volunteer = "when idle"', None, "not now", "owner"),
        ('volunteer = "not now"', "", 'volunteer = "always"', "always", "policy"),
        ("", 'volunteer = "when idle"', 'volunteer = "not now"', "not now", "policy"),
    ],
)
def test_it_is_the_policy_then_the_owner_then_the_machine_who_says_it(
    files: Files, own: str, defaults: str | None, policy: str | None, mode: str, origin: str
) -> None:
    settled = files.write(own, defaults, policy).settled()
    assert settled.settings.rules.mode == mode
    assert settled.origin("volunteer") == origin
    assert settled.wrong == ()


def test_each_rule_of_presence_counts_for_itself(files: Files) -> None:
    files.write(
        "[presence]\nidle_s = 60\nown_only = true",
        "[presence]\nidle_s = 900\nfree_memory_mb = 1000",
        "[presence]\non_mains_only = false",
    )
    settled = files.settled()
    assert settled.settings.rules == VolunteerRules(
        "not yet", idle_s=60, own_only=True, free_memory_mb=1000, on_mains_only=False
    )
    rules = ("idle_s", "own_only", "free_memory_mb", "on_mains_only", "lets_end_s")
    assert [settled.origin(f"presence.{each}") for each in rules] == [
        *("owner", "owner", "machine", "policy", "built in")
    ]


def test_every_setting_has_an_origin() -> None:
    fields = set(NodeSettings.__dataclass_fields__) - {"presence"}
    assert set(NAMES) == fields | {f"presence.{each}" for each in READERS}
    assert {f"presence.{each}" for each in VolunteerRules.__struct_fields__} - set(NAMES) == {
        "presence.mode"
    }


def test_what_the_policy_fixes_is_not_changed_and_its_file_is_named(files: Files) -> None:
    files.write("# mine\nslots = 2\n", None, "slots = 1\n[presence]\nidle_s = 600\n")
    fixed = f"fixed by {files.machine.policy}, which only an administrator"
    with pytest.raises(ServiceError, match=f"slots is {fixed}"):
        keep_changes(files.own, {"slots": 3, "name": "oak"}, files.machine)
    with pytest.raises(ServiceError, match=f"idle_s is {fixed}"):
        keep_rules(files.own, VolunteerRules("always", idle_s=60), files.machine)
    assert files.own.read_text() == "# mine\nslots = 2\n"
    kept = keep_changes(files.own, {"slots": 1, "name": "oak"}, files.machine)
    assert (kept.slots, kept.name) == (1, "oak")
    assert "slots = 2" in files.own.read_text(), "what they have set waits for the policy's end"


def test_rules_beside_a_fixed_one_are_kept_and_so_is_what_it_overrules(files: Files) -> None:
    files.write("[presence]\nidle_s = 60\n", None, "[presence]\nidle_s = 600\n")
    rules = structs.replace(files.settled().settings.rules, mode="when idle", own_only=True)
    assert keep_rules(files.own, rules, files.machine).rules == rules
    files.machine.policy.unlink()
    assert files.settled().settings.rules == structs.replace(rules, idle_s=60)


def test_an_owner_goes_back_from_the_machines_word_to_what_is_built_in(files: Files) -> None:
    files.write("", 'volunteer = "always"\n[presence]\nidle_s = 60\nhours = ["sat 00:00-24:00"]\n')
    rules = VolunteerRules("when idle")
    assert keep_rules(files.own, rules, files.machine).rules == rules
    assert "idle_s = 300" in files.own.read_text()


some_rules = st.builds(
    VolunteerRules,
    mode=st.sampled_from(["always", "when idle", "not now"]),
    idle_s=st.integers(0, 86_400).map(float),
    others_cpu_percent=st.integers(1, 100),
    on_mains_only=st.booleans(),
    own_only=st.booleans(),
)


@given(some_rules, some_rules)
def test_whatever_the_machine_says_an_owner_gets_what_they_set(
    tmp_path_factory: pytest.TempPathFactory, machines: VolunteerRules, wanted: VolunteerRules
) -> None:
    folder = tmp_path_factory.mktemp("files")
    machine = MachineFiles(folder / "machine")
    machine.folder.mkdir(mode=0o755)
    keep_rules(machine.defaults, machines)
    for each in (machine.folder, machine.defaults):
        each.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(administered, "alteration_guard", lambda: PosixGuard(os.getuid()))
        assert settle(folder / "own.toml", machine).settings.rules == machines
        assert keep_rules(folder / "own.toml", wanted, machine).rules == wanted


@pytest.mark.parametrize(
    ("policy", "wrong", "helps"),
    [
        ("slots 2", "is not TOML", False),
        ('slots = "two"', "slots is 'two': it has to be a number", False),
        ('volunteer = "paused"', "which a person does: write 'not now'", False),
        ('volunteer = "by schedule"', "by schedule without hours never helps", False),
        ("[presence]\nothers_cpu_percent = 0", "no machine ever rests so much", False),
        ("presence = 3", "has to be a table", False),
        ("colour = 1", "there is no setting 'colour'", True),
        ("[presence]\nidle = 1", "presence has no key 'idle'", True),
    ],
)
def test_a_wrong_policy_is_told_in_a_sentence_and_where_it_may_forbid_helping_nobody_is_helped(
    files: Files, policy: str, wrong: str, helps: bool
) -> None:
    files.write('volunteer = "always"', None, f"join_requests = false\n{policy}\n")
    settled = files.settled()
    (told,) = map(english, settled.wrong)
    assert wrong in told
    assert told.startswith(str(files.machine.policy))
    assert "\n" not in told
    assert settled.settings.rules.mode == ("always" if helps else "not now")
    if "not TOML" not in told:
        assert settled.settings.join_requests is False, "the rest of it holds"


def test_a_wrong_default_is_told_and_the_others_hold(files: Files) -> None:
    files.write('volunteer = "always"', "slots = 0\nlogs_mb = 2.0\nshape = 1\n", None)
    settled = files.settled()
    assert (settled.settings.slots, settled.settings.logs_mb) == (1, 2.0)
    told = [english(each) for each in settled.wrong]
    assert ["slots is 0" in told[0], "no setting 'shape'" in told[1], len(told)] == [True, True, 2]
    assert settled.settings.rules.mode == "always"


def test_an_owners_wrong_file_stops_it_whatever_the_machines_say(files: Files) -> None:
    files.write("slots = 0", "slots = 2", "slots = 3")
    with pytest.raises(SettingsError, match="slots is 0"):
        files.settled()


@pytest.mark.skipif(os.name != "posix", reason="files have modes on POSIX systems")
@pytest.mark.parametrize("which", ["file", "folder"])
def test_a_policy_that_others_may_write_does_not_count(files: Files, which: str) -> None:
    files.write('volunteer = "always"\nslots = 2', None, "slots = 1")
    (files.machine.policy if which == "file" else files.machine.folder).chmod(0o777)
    settled = files.settled()
    assert settled.settings.slots == 2
    assert settled.settings.rules.mode == "not now"
    (told,) = map(english, settled.wrong)
    assert "can be changed by others than root (mode 0777): run chmod go-w on it" in told


@pytest.mark.skipif(os.name != "posix", reason="files have owners on POSIX systems")
def test_a_policy_of_somebody_else_does_not_count(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(administered, "alteration_guard", lambda: PosixGuard(os.getuid() + 1))
    (told,) = map(english, files.write("", None, "slots = 1").settled().wrong)
    assert "does not belong to root: run chown root:root on it" in told


def test_what_the_policy_overrules_is_told(files: Files) -> None:
    files.write("slots = 2\njoin_requests = false", None, "slots = 1\njoin_requests = false")
    (told,) = map(english, files.settled().overruled)
    assert told == (
        f"what the owner's settings say of slots does nothing, for {files.machine.policy} fixes it: "
        f"remove it from the one or the other"
    )


async def test_a_policy_that_changes_while_the_agent_runs_is_noticed(
    files: Files, caplog: pytest.LogCaptureFixture
) -> None:
    files.write("slots = 2")
    found = OwnerSettings(files.own, files.settled(), machine=files.machine)
    followed: list[VolunteerRules] = []
    found.follow = followed.append
    await found.look()
    files.write("slots = 2", None, 'volunteer = "always"\nslots = 1\ncolour = 3')
    assert (await found.view()).slots == 1
    assert followed == [files.settled().settings.rules], "what is told holds at once"
    await found.look()
    assert len(followed) == 1
    files.write("slots = 2", None, 'volunteer = "not now"\nslots = 1\ncolour = 3')
    await found.look()
    assert followed[1:] == [files.settled().settings.rules]
    files.write("slots = 2", None, 'volunteer = "always"\nslots = 1\ncolour = 3')
    assert caplog.text.count("there is no setting 'colour'") == 1
    view = await found.view()
    assert (view.slots, view.restart) == (1, ("slots",))
    assert (view.origins["slots"], view.origins["volunteer"]) == ("policy", "policy")
    assert view.policy == str(files.machine.policy)
    assert len(view.wrong) == len(view.whys) == 2
