"""doctor: why a machine is not seen, in sentences with what to do."""

from agent.api.flock import Doctor, DoctorReply
from agent.api.methods import DOCTOR
from agent.control.admission import asks_to_be_let_in, open_requests
from agent.control.call import Call, verb
from agent.control.diagnosis import findings


async def serve(call: Call, params: Doctor) -> DoctorReply:  # noqa: ARG001 - it has none
    """From what this node knows of itself; nothing is tried out."""
    facts = call.surface.facts()
    linked = {peer.node for peer in facts.peers}
    missing = [each for each in facts.members if not each.is_this_node and each.node not in linked]
    waiting = map(asks_to_be_let_in, open_requests(call.surface.admission.requests()))
    return DoctorReply(tuple(findings(facts)), len(linked), len(missing), tuple(waiting))


VERB = verb(DOCTOR, serve)
