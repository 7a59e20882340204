"""The sources of a Linux machine, by the kind of session that this agent was started in."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from agent.api.presence_reasons import Filling, NoScreen
from agent.presence.readings import Kind, LastInput
from agent.presence.sources import (
    FirstThatSees,
    Screens,
    Source,
    Sources,
    blind,
    bus,
    linux,
    wayland,
    x11,
)
from agent.presence.sources.bus import Bus, logind_sessions
from agent.presence.sources.meeting import linux_meeting
from agent.presence.sources.processor import free_memory, processor
from agent.presence.sources.programs import ExclusivePrograms


def linux_sources(
    clock: Callable[[], float], environment: Mapping[str, str] = os.environ
) -> Sources:
    """Return the sources of presence that suit the session that the environment tells of: Wayland,
    X11, or none, where full screen is never seen, and input only in terminals. Nothing is read
    yet."""
    session, screen = Bus("SESSION"), x11.X11Screen(environment)
    last_input, full_screen = _of_session(clock, environment, screen, session)
    savers = [bus.bus_screen_saver(session, each) for each in (bus.GNOME_SAVER, bus.SAVER)]
    if environment.get("DISPLAY") and not environment.get("WAYLAND_DISPLAY"):
        savers.insert(0, x11.x11_screen_saver(screen))
    own_time = linux.LinuxOwnTime()
    programs = ExclusivePrograms(linux.linux_names, own_time.descendants)
    return Sources(
        {
            Kind.INPUT: (last_input, linux.terminal_last_input(clock)),
            Kind.SESSION: (Screens(logind_sessions(Bus("SYSTEM")), savers),),
            Kind.MAINS: (linux.linux_mains(),),
            Kind.FULL_SCREEN: (full_screen,),
            Kind.MEETING: (linux_meeting(environment),),
            Kind.PROCESSOR: (processor(clock, own_time.read),),
            Kind.MEMORY: (free_memory(),),
            Kind.PROGRAMS: (programs,),
        },
        programs.watch,
    )


def _of_session(
    clock: Callable[[], float], environment: Mapping[str, str], screen: x11.X11Screen, session: Bus
) -> tuple[Source[LastInput], Source[Filling | None]]:
    if environment.get("WAYLAND_DISPLAY"):
        idle = wayland.WaylandIdle(clock, environment)
        inputs = [
            wayland.wayland_last_input(idle),
            bus.mutter_last_input(session, clock),
            bus.saver_last_input(session, clock),
        ]
        awake = [
            wayland.wayland_kept_awake(idle),
            *(bus.bus_kept_awake(session, desktop) for desktop in bus.AWAKE),
        ]
        return FirstThatSees(inputs, clock), FirstThatSees(awake, clock)
    if environment.get("DISPLAY"):
        return x11.x11_last_input(screen, clock), screen.asked(x11.filling)
    return blind(NoScreen()), blind(NoScreen())
