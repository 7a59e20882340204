"""What a node keeps for tasks: their inputs and results, and the programs that come with the work.

It puts ``storage.datasets`` (files by content) and ``net`` (transfers) to use for the protocol, and
may import those two, the protocol's values and the settings. Start reading at ``node_datasets``.

=================  =========================================================================
``node_datasets``  brought in and out by clients, laid out for programs
``transfers``      the way from and to peers, as the protocol wants it
``shared``         results that lie in a back end of all nodes
``retention``      what must stay, what has too few copies, what may go
``publishing``     programs that come with the work: kept, placed, taken
``leave``          what the owner of this machine decided about them, and is asked
``scripts``        what is in them, beside the version before
=================  =========================================================================
"""
