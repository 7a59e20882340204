"""The sources of a Linux machine, by the kind of session that this agent was started in."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from agent.api.presence_reasons import Filling, NoScreen
from agent.presence.looking import Sources
from agent.presence.readings import LastInput
from agent.presence.sources.bus import Bus
from agent.presence.sources.free_memory import FreeMemory
from agent.presence.sources.full_screen_x11 import X11FullScreen
from agent.presence.sources.kept_awake_bus import BusKeptAwake
from agent.presence.sources.last_input_bus import MutterLastInput, SaverLastInput
from agent.presence.sources.last_input_terminals import TerminalLastInput
from agent.presence.sources.last_input_x11 import X11LastInput, X11ScreenSaver
from agent.presence.sources.mains_linux import LinuxMains
from agent.presence.sources.own_time_linux import LinuxOwnTime
from agent.presence.sources.processor import Processor
from agent.presence.sources.programs import ExclusivePrograms
from agent.presence.sources.programs_linux import linux_names
from agent.presence.sources.screen_saver_bus import BusScreenSaver
from agent.presence.sources.screens import Screens
from agent.presence.sources.sessions_logind import LogindSessions
from agent.presence.sources.source import Blind, FirstThatSees, Source
from agent.presence.sources.wayland import WaylandIdle, WaylandKeptAwake, WaylandLastInput
from agent.presence.sources.x11 import X11Screen


def linux_sources(
    clock: Callable[[], float], environment: Mapping[str, str] = os.environ
) -> Sources:
    """Return the sources of presence that suit the session that the environment tells of."""
    session, system = Bus("SESSION"), Bus("SYSTEM")
    screen = X11Screen(environment)
    last_input, full_screen = _of_session(clock, environment, screen, session)
    savers: list[Source[bool]] = [
        BusScreenSaver.gnome(session),
        BusScreenSaver.freedesktop(session),
    ]
    if environment.get("DISPLAY") and not environment.get("WAYLAND_DISPLAY"):
        savers.insert(0, X11ScreenSaver(screen))
    own_time = LinuxOwnTime()
    programs = ExclusivePrograms(linux_names, own_time.descendants)
    return Sources(
        screen_input=last_input,
        terminal_input=TerminalLastInput(clock),
        sessions=Screens(LogindSessions(system), savers),
        mains=LinuxMains(),
        full_screen=full_screen,
        processor=Processor(clock, own_time.read),
        memory=FreeMemory(),
        programs=programs,
        watch=programs.watch,
    )


def _of_session(
    clock: Callable[[], float], environment: Mapping[str, str], screen: X11Screen, session: Bus
) -> tuple[Source[LastInput], Source[Filling | None]]:
    if environment.get("WAYLAND_DISPLAY"):
        idle = WaylandIdle(clock, environment)
        inputs: list[Source[LastInput]] = [
            WaylandLastInput(idle),
            MutterLastInput(session, clock),
            SaverLastInput(session, clock),
        ]
        awake: list[Source[Filling | None]] = [
            WaylandKeptAwake(idle),
            BusKeptAwake.gnome(session),
            BusKeptAwake.kde(session),
        ]
        return FirstThatSees(inputs, clock), FirstThatSees(awake, clock)
    if environment.get("DISPLAY"):
        return X11LastInput(screen, clock), X11FullScreen(screen)
    return Blind(NoScreen()), Blind(NoScreen())
