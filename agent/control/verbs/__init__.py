"""The verbs of the client protocol, one file each, under the names of the contract."""

from agent.control.call import Verb
from agent.control.verbs import (
    cancel,
    doctor,
    events,
    expel,
    flock_create,
    gate,
    hello,
    invite,
    join,
    leave,
    members,
    peers,
    priority,
    retry,
    show,
    status,
    stop,
    submit,
    why,
)

VERBS: dict[str, Verb] = {
    module.VERB.name: module.VERB
    for module in (
        hello,
        submit,
        cancel,
        retry,
        priority,
        gate,
        status,
        show,
        why,
        peers,
        members,
        flock_create,
        invite,
        join,
        expel,
        leave,
        doctor,
        events,
        stop,
    )
}
