"""The sources of a Windows machine."""

from __future__ import annotations

import sys
from collections.abc import Callable

from agent.presence.looking import Sources
from agent.presence.readings import LastInput, Reading, Seen
from agent.presence.sources.free_memory import FreeMemory
from agent.presence.sources.last_input_windows import WindowsLastInput
from agent.presence.sources.own_time import CountedOwnTime
from agent.presence.sources.processor import Processor
from agent.presence.sources.programs import ExclusivePrograms, own_processes
from agent.presence.sources.screens import Screens
from agent.presence.sources.sessions_windows import WindowsSessions
from agent.presence.sources.windows import WindowsFullScreen, WindowsMains, WindowsScreenSaver
from agent.presence.sources.windows_calls import WindowsCalls

if sys.platform == "win32":
    from agent.presence.sources.windows_calls import NativeCalls

    def windows_sources(clock: Callable[[], float]) -> Sources:
        """With the calls of this system."""
        return sources_of(NativeCalls(), clock)


def sources_of(calls: WindowsCalls, clock: Callable[[], float]) -> Sources:
    """Return the sources of presence on Windows, over real or other calls."""
    programs = ExclusivePrograms(calls.process_names, own_processes)
    return Sources(
        screen_input=WindowsLastInput(calls, clock),
        terminal_input=NoTerminals(),
        sessions=Screens(WindowsSessions(calls), [WindowsScreenSaver(calls)]),
        mains=WindowsMains(calls),
        full_screen=WindowsFullScreen(calls),
        processor=Processor(clock, CountedOwnTime().read),
        memory=FreeMemory(),
        programs=programs,
        watch=programs.watch,
    )


class NoTerminals:
    """Sees no input, ever."""

    def read(self) -> Reading[LastInput]:
        return Seen(LastInput(float("-inf")))

    def close(self) -> None:
        """Do nothing, as nothing is held open."""
