"""What the agent refuses, in the language of the person.

Refusals come as English sentences of fixed form; those are known here and said again in the person's
language. One that is not known is shown as the agent said it: better foreign than missing.
"""

from __future__ import annotations

import re

from agent.api.values import TaskState
from gui.model.agent_sentences import REFUSALS
from gui.model.marks import state_words

_STATES = {state.value: state for state in TaskState}
_COMPILED = tuple((re.compile(pattern, re.DOTALL), said) for pattern, said in REFUSALS)


def refusal_in_our_words(sentence: str) -> str:
    """Return a refusal of the agent in the person's language, with or without a capital and a full
    stop; as it came where it is not known."""
    bare = sentence.rstrip(".")
    for each in (bare, bare[:1].lower() + bare[1:]):
        for pattern, said in _COMPILED:
            found = pattern.fullmatch(each)
            if found is not None:
                values = found.groupdict()
                state = values.get("state")
                if state in _STATES:
                    values["state"] = state_words(_STATES[state])
                text = said().format(**values)
                if text == each:
                    return sentence
                return f"{text[:1].upper()}{text[1:].rstrip('.')}."
    return sentence
