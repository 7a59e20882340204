"""One live node, put together: the only room that knows all the others.

It decides nothing about tasks (``agent.protocol`` does) and words nothing for people; it builds the
rooms, hands each what it needs of the others, and keeps that right when the node joins or leaves a
flock while it runs. It may import every room but ``client`` and ``commands``; nobody but the
commands that start an agent imports what builds. Start reading at ``agent``.

====================  ======================================================================
``agent``             a node from start to stop, and what rooms see of one another
``running``           the protocol's node with its disk, its programs and its driver; how it is
                      started (what a person decides is in ``settings``)
``work_port``         programs and their data, as the driver asks for them
``programs``          program descriptions, as the execution wants them; ``trial`` by hand
``pending_requests``  what clients asked and the node has not answered yet
``report``            a node at one moment; ``diagnosis`` says what is wrong with it
``hosting``           an agent with its way in for clients, as a process or inside another one
====================  ======================================================================
"""
