"""The client protocol, the node's side: who is let in, what is asked, what is answered.

A client is a window, a command or a person at a terminal, all of the account that runs the agent.
That account is the border: a random token in a file that only it can read opens the connection.
So limits here guard against mistakes rather than malice, except before the token was shown, when
anybody of the machine may be at the other end.

Verbs lie under ``verbs/``, a file for each noun. The node is known only by ``port``, the one door:
a verb takes a snapshot, wishes something, or asks one of the rooms, none of which is imported:
only ``client`` (to ask other members), ``wording``, ``workflow`` and ``host``.
"""
