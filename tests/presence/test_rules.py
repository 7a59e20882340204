"""Rules in the settings file, both ways, and those that cancel each other."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.presence.hours import WEEK, Hours
from agent.presence.rules import Mode, Rules, faults
from agent.presence.rules_file import read_rules, written_rules
from agent.settings.editing import keep_rules, with_values
from agent.settings.node_settings import SettingsError, read_settings

OTHERS = """\
# of the workshop
name = "bench 3" # by the window
volunteer = "paused"

[presence]
# two lines that stay
idle_s = 60
hours = [
  "mon-fri 18:00-07:00",
  "sat 00:00-24:00",
]

# what follows stays
"""

some_rules = st.builds(
    Rules,
    mode=st.sampled_from([Mode.ALWAYS, Mode.WHEN_IDLE]),
    hours=st.lists(
        st.builds(Hours, st.sampled_from(WEEK), st.integers(0, 1439), st.integers(0, 1440)),
        max_size=4,
    ).map(tuple),
    idle_s=st.floats(0, 86_400),
    others_cpu_percent=st.integers(1, 100),
    on_mains_only=st.booleans(),
    free_memory_mb=st.integers(0, 100_000),
    full_screen_counts=st.booleans(),
    exclusive_programs=st.lists(
        st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1, max_size=20).filter(
            lambda text: bool(text.strip()) and not text.casefold().startswith("wingbeat")
        ),
        max_size=3,
    ).map(tuple),
    own_only=st.booleans(),
    lets_end_s=st.floats(0, 3_600),
)


@given(some_rules)
def test_rules_are_read_as_they_were_written(rules: Rules) -> None:
    assert read_rules(written_rules(rules)) == replace(rules, mode=Mode.ALWAYS)


@given(some_rules)
def test_a_settings_file_keeps_everything_else(rules: Rules) -> None:
    given = {"volunteer": rules.mode.value, "presence": written_rules(rules)}
    text = with_values(OTHERS, given)
    read = tomllib.loads(text)
    assert read["name"] == "bench 3"
    assert [line for line in text.splitlines() if line.startswith(("#", "name"))] == [
        "# of the workshop",
        'name = "bench 3" # by the window',
        "# two lines that stay",
        "# what follows stays",
    ]
    assert (list(read), read["volunteer"]) == (["name", "volunteer", "presence"], rules.mode)
    assert read_rules(read["presence"]) == replace(rules, mode=Mode.ALWAYS)
    assert with_values(text, given) == text


def test_a_file_without_anything_gets_what_it_needs(tmp_path: Path) -> None:
    path = tmp_path / "config" / "settings.toml"
    rules = Rules(Mode.WHEN_IDLE, idle_s=120, exclusive_programs=("blender",))
    keep_rules(path, rules)
    assert read_settings(path).rules == rules


@pytest.mark.parametrize(
    "text",
    [
        'presence = { idle_s = 60 }\nname = "ant"\n',
        'presence.idle_s = 60\nname = "ant"\n',
        'name = "ant" # mine\n\n# when to help\n[presence] # what counts\nidle_s = 60 # a minute\n',
    ],
)
def test_rules_are_changed_however_they_are_written(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text)
    kept = keep_rules(path, Rules(idle_s=30, own_only=True))
    assert (kept.name, kept.presence.idle_s, kept.presence.own_only) == ("ant", 30, True)
    kept = keep_rules(path, Rules())
    assert (kept.name, kept.rules) == ("ant", Rules())
    lines = path.read_text().splitlines()
    assert [line for line in text.splitlines() if "#" in line and "60" not in line] == [
        line for line in lines if "#" in line and "30" not in line
    ]
    if "# when to help" in lines:
        assert lines[lines.index("# when to help") + 1] == "[presence] # what counts"
    assert keep_rules(path, Rules()).presence == Rules()


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ('volunteer = "sometimes"', "choose always, when idle, by schedule or paused"),
        ('volunteer = "by schedule"', "without hours never helps"),
        ("presence = 3", "has to be a table"),
        ("[presence]\nidle = 3", "has no key 'idle'"),
        ("[presence]\nidle_s = -1", "has to be from 0 to 86400"),
        ('[presence]\nidle_s = "long"', "a number of seconds"),
        ("[presence]\nothers_cpu_percent = 0", "no machine ever rests so much"),
        ("[presence]\nothers_cpu_percent = 1.5", "a whole number"),
        ("[presence]\non_mains_only = 1", "true or false"),
        ('[presence]\nhours = "mon 1-2"', "a list of up to"),
        ('[presence]\nhours = ["mon 1-2"]', "hours has '1'"),
        ('[presence]\nexclusive_programs = ["wingbeat"]', "which is this program"),
        ('[presence]\nexclusive_programs = [""]', "empty or overlong"),
    ],
)
def test_what_is_wrong_in_the_file_is_said(tmp_path: Path, text: str, wrong: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text)
    with pytest.raises(SettingsError, match=wrong) as caught:
        read_settings(path)
    assert str(path) in str(caught.value)


def test_a_memory_floor_above_what_the_machine_has_is_refused() -> None:
    assert faults(Rules(free_memory_mb=16_000), 8_000.0) != []
    assert faults(Rules(free_memory_mb=4_000), 8_000.0) == []


def test_paused_in_the_file_leaves_rules_for_whoever_resumes(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('volunteer = "paused"\n[presence]\nown_only = true\n')
    settings = read_settings(path)
    assert settings.volunteer == "paused"
    assert settings.rules == Rules(Mode.ALWAYS, own_only=True)
