"""Who is at the other end of a connection of this machine, and what shows that it may come in.

On a socket the system tells the account, and the client says the token. On a pipe or a port anybody
might listen in the place of an agent that was killed, so nobody ever says it there: both sides prove
that they hold it (``agent.client.proof``).
"""

from __future__ import annotations

from agent.client.proof import new_nonce, proof_of, same


class Neighbour:
    """Who has connected at ``place``; ``account`` is its number, None where the system does not tell
    it, as for members that ask from other machines, who show nothing here."""

    def __init__(self, token: str, place: str = "", account: int | None = None) -> None:
        self._token, self._place, self.account = token, place, account
        self._wanted = token if account is not None else ""

    def prove(self, asked: str) -> tuple[str, str]:
        """Draw a nonce and return it with this agent's proof for both; the client's own has to be
        shown next, once, unless it says the token on a socket."""
        answered = new_nonce()
        if self.account is None:
            self._wanted = proof_of(self._token, "client", self._place, asked, answered)
        return answered, proof_of(self._token, "agent", self._place, asked, answered)

    def may_enter(self, shown: str) -> bool:
        """Whether what it shows is what it has to; a proof is good for one look."""
        wanted = self._wanted
        if self.account is None:
            self._wanted = ""
        return bool(wanted) and same(shown, wanted)
