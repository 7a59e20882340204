"""By which rules a machine works for others: what its owner decides (``VolunteerRules``).

==========================  ==========================================================  =======
rule                        meaning                                                     default
==========================  ==========================================================  =======
``mode``                    *always*, *when idle*, or *by schedule* (idle, in hours)    always
``hours``                   ranges of the week for *by schedule*                        none
``idle_s``                  so long nobody has used keyboard, mouse or a terminal;      300
                            0: whether somebody does plays no part
``others_cpu_percent``      other programs use no more of the machine; 100: no matter   10
``on_mains_only``           not on battery                                              yes
``free_memory_mb``          so much memory has to be free; 0: no matter                 512
``full_screen_counts``      whoever fills the screen (film, game, talk) is there        yes
``exclusive_programs``      while one of these runs, nothing else is to: in every mode  none
``own_only``                takes only what was submitted here                          no
``lets_end_s``              who expects to end within this is let end, not suspended    0
==========================  ==========================================================  =======

In the mode *always* only ``exclusive_programs`` and pauses hold the machine back. Rules that leave
no moment to work are refused together with a sentence: a machine that never helps, and does not
say why, is worse than an error.
"""

from __future__ import annotations

from agent.api.volunteering import HOURS_MAX, PROGRAMS_MAX, VolunteerRules

IDLE_S_MAX = 86_400.0
LETS_END_S_MAX = 86_400.0
FREE_MEMORY_MB_MAX = 16 * 1024 * 1024
PROGRAM_LENGTH_MAX = 200
NO_MATTER_PERCENT = 100
OWN_NAMES = frozenset({"wingbeat", "wingbeat.exe"})


def faults(rules: VolunteerRules, memory_mb: float | None = None) -> list[str]:
    """Return what is wrong with rules, a sentence each; ``memory_mb`` is what the machine has."""
    found = [*_out_of_range(rules), *_cancelling(rules)]
    if memory_mb is not None and rules.free_memory_mb >= memory_mb:
        found.append(
            f"free_memory_mb is {rules.free_memory_mb}, this machine has {memory_mb:.0f} MB in "
            f"all: it would never help; choose less."
        )
    return found


def _out_of_range(rules: VolunteerRules) -> list[str]:
    limits: list[tuple[str, float, float, float]] = [
        ("idle_s", rules.idle_s, 0, IDLE_S_MAX),
        ("others_cpu_percent", rules.others_cpu_percent, 0, NO_MATTER_PERCENT),
        ("free_memory_mb", rules.free_memory_mb, 0, FREE_MEMORY_MB_MAX),
        ("lets_end_s", rules.lets_end_s, 0, LETS_END_S_MAX),
        ("the number of hours", len(rules.hours), 0, HOURS_MAX),
        ("the number of exclusive_programs", len(rules.exclusive_programs), 0, PROGRAMS_MAX),
    ]
    return [
        f"{name} is {value:g}: it has to be from {least:g} to {most:g}."
        for name, value, least, most in limits
        if not least <= value <= most
    ]


def _cancelling(rules: VolunteerRules) -> list[str]:
    """Rules that together leave no moment."""
    found = []
    if rules.mode == "by schedule" and not rules.hours:
        found.append(
            "by schedule without hours never helps: add hours like 'mon-fri 18:00-07:00', or "
            "choose when idle."
        )
    if rules.others_cpu_percent == 0:
        found.append(
            "others_cpu_percent is 0, and no machine ever rests so much: choose 1 to 99, or 100 "
            "if other programs do not matter."
        )
    own = [each for each in rules.exclusive_programs if each.casefold() in OWN_NAMES]
    if own:
        found.append(f"exclusive_programs has {own[0]}, which is this program: remove it.")
    if any(not 0 < len(each.strip()) <= PROGRAM_LENGTH_MAX for each in rules.exclusive_programs):
        found.append(
            "exclusive_programs has an empty or overlong name: write names like 'blender'."
        )
    return found
