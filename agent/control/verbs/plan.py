"""plan: a dry run; where each task could run, why not elsewhere, when it all might end."""

import asyncio
from pathlib import Path

from agent.api.methods import PLAN
from agent.api.plan import Plan, PlanReply
from agent.control.acceptance import acceptances
from agent.control.call import Call, verb
from agent.control.dry_run import machines_seen, plan_tasks
from agent.control.naming import readable
from agent.control.program_views import descriptions
from agent.control.verbs.submit import fault_in, priority_value, specs_of
from agent.control.wishes import TO_BE_NAMED
from agent.protocol import events
from agent.protocol.admission import fault_of


async def serve(call: Call, params: Plan) -> PlanReply:
    """Nothing is kept of it."""
    told, surface = params.workflow, call.surface
    known = told.name in surface.table.workflows
    fault = fault_in(told, surface.table)
    if fault:
        return PlanReply(known, (fault,), (), 0, 0)
    specs, priority = specs_of(told), priority_value(told.priority)
    event = events.Submit(TO_BE_NAMED, told.name, told.name, told.submitter, priority, specs)
    names = {spec.task: spec.name for spec in specs}
    fault = "" if known else readable(fault_of(event, surface.table), surface.table, names)
    if fault:
        return PlanReply(known, (fault,), (), 0, 0)
    far = bool(call.member)
    plans, end_s = plan_tasks(surface, call.views, specs, priority, far=far)
    machines = machines_seen(surface)
    helping = sum(each.helps for each in machines)
    waits = tuple(acceptances(specs, machines, far=far))
    end_ms = call.views.now_ms() + round(end_s * 1000)
    missing = await _missing(call, {spec.program for spec in specs if spec.program})
    return PlanReply(known, (), tuple(plans), helping, end_ms, missing, waits)


async def _missing(call: Call, programs: set[str]) -> tuple[str, ...]:
    """Programs that are there, and of which this machine cannot learn what they do."""
    described, _ = await asyncio.to_thread(descriptions, Path(call.surface.home.programs))
    return (await call.programs.told(described)).missing(programs)


VERB = verb(PLAN, serve)
