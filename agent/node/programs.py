"""What a program's description says, for the part of the agent that executes it.

Descriptions are read by ``agent.workflow``, programs are run by ``agent.execution``, and the two do
not know each other.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

from agent.api.values import Requirements
from agent.execution.confinement.boundary import Device, Network, Wishes
from agent.execution.limits import Limits
from agent.execution.machine import EXTRAS, look_at_extras
from agent.execution.programs import Program, ProgramError
from agent.protocol.messages import Capabilities, NeededBy
from agent.protocol.needs import Seat
from agent.settings.node_settings import NodeSettings
from agent.workflow.faults import FaultsError
from agent.workflow.program_description import ProgramDescription
from agent.workflow.program_folder import read_program


class ProgramReader:
    """Reads program folders for one machine."""

    def __init__(self, machine: Capabilities) -> None:
        self._machine = machine

    def __call__(self, folder: Path) -> Program:
        """The program in a folder; raises ``ProgramError``."""
        try:
            described = read_program(folder)
        except FaultsError as error:
            raise ProgramError("; ".join(each.sentence() for each in error.faults)) from error
        return program_of(described, folder, self._machine)


def program_of(described: ProgramDescription, folder: Path, machine: Capabilities) -> Program:
    """Return a described program of this folder as it is executed; its ``unfit`` says what this
    machine lacks for it, and is empty when that is nothing. Free disk is not looked at."""
    told = described.limits
    return Program(
        name=described.name,
        folder=folder,
        command=described.command,
        outputs=described.outputs,
        limits=Limits(told.memory_mb, told.disk_mb, told.wall_s, told.silent_s, told.log_mb),
        wishes=Wishes(
            cast("Network", described.network),
            described.reads,
            cast("tuple[Device, ...]", described.devices),
            described.secrets,
        ),
        version=described.version,
        needs=_needed(described),
        unfit=_unfit(described.requirements, machine),
    )


def _needed(described: ProgramDescription) -> NeededBy | None:
    told = described.requirements
    if not (told.programs or told.seats or described.once):
        return None
    seats = tuple(Seat(each.name, each.most) for each in told.seats)
    return NeededBy(described.name, told.programs, seats, described.once)


def ceilings(settings: NodeSettings) -> Limits:
    """Return the most that the owner of a machine lets any program take; 0 where that is not said."""
    return Limits(
        memory_mb=int(1_000 * settings.memory_gb),
        disk_mb=int(1_000 * settings.disk_gb),
        wall_s=int(3_600 * settings.hours),
        processes=settings.processes,
        open_files=settings.open_files,
        processors=settings.processors,
    )


def _unfit(needs: Requirements, machine: Capabilities) -> str:
    """The first thing that the machine lacks; disks fill and empty, so they are looked at later."""
    if needs.system and needs.system != machine.system:
        return f"it needs {needs.system}, this is {machine.system}"
    if needs.architecture and needs.architecture != machine.architecture:
        return f"it needs {needs.architecture}, this is {machine.architecture}"
    if machine.memory_mb and needs.memory_mb > machine.memory_mb:
        return f"it needs {needs.memory_mb} MB of memory, there are {machine.memory_mb} MB"
    if needs.cores > machine.cores:
        return f"it needs {needs.cores} cores, there are {machine.cores}"
    look_at_extras(needs.tags)  # matching tells of these, with what brings them
    missing = [tag for tag in needs.tags if tag not in (*machine.tags, *EXTRAS)]
    return f"it needs the tag {missing[0]}" if missing else ""
