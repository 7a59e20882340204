"""The methods of the client protocol: name, parameters, result. Server and client read this list.

A method has the same name everywhere: here, as the function in ``agent.control.verbs`` that serves
it, on the command line where there is a command for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from msgspec import Struct

from agent.api import (
    admission,
    datasets,
    flock,
    history,
    logs,
    programs,
    session,
    settings,
    volunteering,
    work,
)

P = TypeVar("P", bound=Struct)
R = TypeVar("R", bound=Struct)


@dataclass(frozen=True, slots=True)
class Method(Generic[P, R]):
    """``repeatable``: a client that lost the connection may ask again; twice is as good as once.

    ``by_members``: other members of the flock may ask it too, not only the account that runs the
    agent. What is the owner's of a machine (whether it helps, its files, its membership) is not.
    """

    name: str
    params: type[P]
    result: type[R]
    repeatable: bool = True
    by_members: bool = True


HELLO = Method("hello", session.Hello, session.Welcome)
SUBMIT = Method("submit", work.Submit, work.Submitted)
CANCEL = Method("cancel", work.Cancel, work.Wished, repeatable=False)
RETRY = Method("retry", work.Retry, work.Wished, repeatable=False)
PRIORITY = Method("priority", work.SetPriority, work.Wished)
GATE = Method("gate", work.Gate, work.Wished, repeatable=False)
STATUS = Method("status", work.Status, work.StatusReply)
SHOW = Method("show", work.Show, work.ShowReply)
WHY = Method("why", work.Why, work.Story)
PEERS = Method("peers", flock.Peers, flock.PeersReply)
MEMBERS = Method("members", flock.Members, flock.MembersReply)
FLOCK_CREATE = Method(
    "flock_create", flock.FlockCreate, flock.Joined, repeatable=False, by_members=False
)
INVITE = Method("invite", flock.Invite, flock.Invitation, repeatable=False, by_members=False)
JOIN = Method("join", flock.Join, flock.Joined, repeatable=False, by_members=False)
EXPEL = Method("expel", flock.Expel, flock.Expelled, repeatable=False, by_members=False)
LEAVE = Method("leave", flock.Leave, flock.Left, repeatable=False, by_members=False)
NEARBY = Method("nearby", admission.Nearby, admission.NearbyReply, by_members=False)
ASK = Method("ask", admission.Ask, admission.AskView, repeatable=False, by_members=False)
ASKED = Method("asked", admission.Asked, admission.AskView, by_members=False)
CONFIRM_ASK = Method("confirm_ask", admission.ConfirmAsk, admission.AskView, by_members=False)
WITHDRAW_ASK = Method("withdraw_ask", admission.WithdrawAsk, admission.AskView, by_members=False)
REQUESTS = Method("requests", admission.Requests, admission.RequestsReply)
ADMIT = Method("admit", admission.Admit, admission.Answered, repeatable=False, by_members=False)
REFUSE = Method("refuse", admission.Refuse, admission.Answered, repeatable=False, by_members=False)
DOCTOR = Method("doctor", flock.Doctor, flock.DoctorReply)
EVENTS = Method("events", session.Events, session.Subscribed)
STOP = Method("stop", session.Stop, session.Stopping, repeatable=False, by_members=False)
PAUSE = Method("pause", volunteering.Pause, volunteering.VolunteeringView, by_members=False)
RESUME = Method("resume", volunteering.Resume, volunteering.VolunteeringView, by_members=False)
VOLUNTEERING = Method("volunteering", volunteering.Volunteering, volunteering.VolunteeringView)
SET_VOLUNTEERING = Method(
    "set_volunteering",
    volunteering.SetVolunteering,
    volunteering.VolunteeringView,
    by_members=False,
)
SETTINGS = Method("settings", settings.Settings, settings.SettingsView)
CHANGE_SETTINGS = Method(
    "change_settings", settings.ChangeSettings, settings.SettingsView, by_members=False
)
PROGRAMS = Method("programs", programs.Programs, programs.ProgramsReply)
PUBLISH = Method("publish", programs.Publish, programs.Published, by_members=False)
ACCEPT_PROGRAM = Method(
    "accept_program", programs.AcceptProgram, programs.Decided, by_members=False
)
REFUSE_PROGRAM = Method(
    "refuse_program", programs.RefuseProgram, programs.Decided, by_members=False
)
DATASETS = Method("datasets", datasets.Datasets, datasets.DatasetsReply)
ADD_DATASET = Method("add_dataset", datasets.AddDataset, datasets.DatasetAdded, by_members=False)
BEGIN_UPLOAD = Method("begin_upload", datasets.BeginUpload, datasets.UploadBegun, repeatable=False)
UPLOAD_CHUNK = Method("upload_chunk", datasets.UploadChunk, datasets.ChunkTaken, repeatable=False)
END_UPLOAD = Method("end_upload", datasets.EndUpload, datasets.DatasetAdded, repeatable=False)
DATASET_FILES = Method("dataset_files", datasets.DatasetFiles, datasets.FilesReply)
READ_DATASET = Method("read_dataset", datasets.ReadDataset, datasets.DatasetPiece)
TASK_LOG = Method("task_log", logs.TaskLog, logs.TaskLogPart)
AGENT_LOG = Method("agent_log", logs.AgentLog, logs.AgentLogReply)
RUNS = Method("runs", history.Runs, history.RunsReply)
HISTORY = Method("history", history.History, history.HistoryReply)
STATISTICS = Method("statistics", history.Statistics, history.StatisticsReply)
PLAN = Method("plan", work.Plan, work.PlanReply)

AnyMethod = Method[Any, Any]

METHODS: dict[str, AnyMethod] = {
    method.name: method
    for method in (
        HELLO,
        SUBMIT,
        CANCEL,
        RETRY,
        PRIORITY,
        GATE,
        STATUS,
        SHOW,
        WHY,
        PEERS,
        MEMBERS,
        FLOCK_CREATE,
        INVITE,
        JOIN,
        EXPEL,
        LEAVE,
        NEARBY,
        ASK,
        ASKED,
        CONFIRM_ASK,
        WITHDRAW_ASK,
        REQUESTS,
        ADMIT,
        REFUSE,
        DOCTOR,
        EVENTS,
        STOP,
        PAUSE,
        RESUME,
        VOLUNTEERING,
        SET_VOLUNTEERING,
        SETTINGS,
        CHANGE_SETTINGS,
        PROGRAMS,
        PUBLISH,
        ACCEPT_PROGRAM,
        REFUSE_PROGRAM,
        DATASETS,
        ADD_DATASET,
        BEGIN_UPLOAD,
        UPLOAD_CHUNK,
        END_UPLOAD,
        DATASET_FILES,
        READ_DATASET,
        TASK_LOG,
        AGENT_LOG,
        RUNS,
        HISTORY,
        STATISTICS,
        PLAN,
    )
}
