"""The sources of a Windows machine."""

from __future__ import annotations

from collections.abc import Callable

from agent.presence.readings import Kind, LastInput
from agent.presence.sources import Asked, Screens, Sources, windows
from agent.presence.sources.meeting import consent_store, windows_meeting
from agent.presence.sources.processor import CountedOwnTime, free_memory, processor
from agent.presence.sources.programs import ExclusivePrograms, own_processes
from agent.presence.sources.windows_calls import WindowsCalls


def sources_of(calls: WindowsCalls, clock: Callable[[], float]) -> Sources:
    """Return the sources of presence on Windows, which make these calls when they are read;
    terminals count as never used."""
    programs = ExclusivePrograms(calls.process_names, own_processes)
    sessions = windows.windows_sessions(calls)
    return Sources(
        {
            Kind.INPUT: (
                windows.windows_last_input(calls, clock),
                Asked(lambda: LastInput(float("-inf"))),  # it has no terminals
            ),
            Kind.SESSION: (Screens(sessions, [windows.windows_screen_saver(calls)]),),
            Kind.MAINS: (windows.windows_mains(calls),),
            Kind.FULL_SCREEN: (windows.windows_full_screen(calls),),
            Kind.MEETING: (windows_meeting(consent_store),),
            Kind.PROCESSOR: (processor(clock, CountedOwnTime().read),),
            Kind.MEMORY: (free_memory(),),
            Kind.PROGRAMS: (programs,),
        },
        programs.watch,
    )
