"""A sentence for each reason why a machine cannot run a task, or the flock not one more like it.

They stand apart from the others (``english``) because there are many of them.
"""

from __future__ import annotations

from agent.protocol import reasons as told
from agent.protocol import sharing_reasons as sharing
from agent.protocol.reasons import Reason

MATCHING: dict[type[Reason] | str, str] = {
    told.LacksProgram: "{host} has no program {program}",
    told.NotAccepted: "{host} does not take the published program {program}",
    told.OwnerRefuses: "the owner of {host} lets {program} never run there",
    "AllowsNoNetwork": "{host} does not allow network to {program}",
    "AllowsNoReading": "{host} does not let {program} read {name}",
    "AllowsNoDevice": "{host} does not let {program} use the device {name}",
    "AllowsNoSecret": "{host} does not give the secret {name} to {program}",
    "HasNoSecret": "{host} does not have the secret {name}, which {program} needs",
    "HasNoShare": "{host} does not have {name}, which {program} reads: its settings name no such share",
    told.OtherSystem: "{host} runs {system}, needed is {needed}",
    told.OtherArchitecture: "{host} is {architecture}, needed is {needed}",
    told.TooLittleMemory: "{host} has {given} MB of memory, needed are {needed}",
    told.TooLittleDisk: "{host} has {given} MB of disk, needed are {needed}",
    told.TooFewCores: "{host} has {given} cores, needed are {needed}",
    told.LacksExtra: "{host} has no {extra}; the command that brings it is pip install '{extra}'",
    told.LacksTag: "{host} has no tag {tag}",
    told.HelpsOthers: "{host} helps only {people}",
    sharing.OtherVersion: "{host} has {installed}, needed is {needed}",
    sharing.OwnerTakesNoWork: "{host} takes no work of {banned}",
    sharing.PassedBy: "{host} kept it waiting without a reason, and is not waited for any more",
    sharing.ResultsDiffer: "{host} and {other} finished it with different results: the program may give "
    "something else each time, or one of the two machines is not to be relied on",
    sharing.SeatsTaken: "waits for a seat of {seat} ({most} of {most} taken: by {hosts})",
}
