"""The commands of `wingbeat`, a file each: what they are told, what they ask the agent, what they
show.

They know a node only through the client library, like every other client; what they decide is how
an answer reads. Exit codes are the same for all (``exits``), and so is `--json`: the answer of the
agent as ``agent.api`` has it, for programs.
"""
