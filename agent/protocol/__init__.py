"""The protocol of the flock: one state machine, told everything, asking nothing.

Nodes that share nothing but messages hold one table of tasks and agree who runs what. That is
only provable when the rules stand alone, so this package is pure: no sockets, files, clocks,
threads or random state. Time, ids and settings come in as values; what has to be done in the
world goes out as effects, in the order in which it must be done. The driver of a live node and
the simulator under ``tests/sim`` host the same class, ``node.Node``; no rule exists twice.

Where to look for a rule:

=================  ==========================================================================
``records``        what is replicated, and how two versions of it are joined; ``reading`` says
                   what a joined record means, ``sanity`` what is left out
``table``          all records of a node, indexed, and ``digest`` to compare two tables
``messages``       what nodes say to each other, as values and as bytes
``events``         what a node is told; ``effects`` what it wants done, and what overtakes what
``liveness``       who is up, for this node
``claims``         who runs a task: the claimant's side; ``promises`` the consenter's
``claimability``   whether a task may be claimed here and now; ``seats`` who could run it;
                   ``own_work`` what was submitted here
``planning``       which task to go for, also before it is ready; ``queue`` in which order; ``policy/`` the plug-ins
``runs``           the life of a run on its own node; ``own_run`` what is known of it there, when
                   others hear of it, and what earlier starts left
``election``       the master; ``joining`` how a starting node gets its table; ``healing``
                   how tables become equal again, and tasks heard of but not known
``datasets``       which input is where, and what follows when none is anywhere
``requests``       what clients ask for, checked by ``admission``; ``pruning`` how finished
                   workflows leave the table
``core``           what these parts share, ``pending_news`` what others are still to hear of;
                   ``node`` composes them; ``clock``, ``settings``: time, and every period
                   and limit
=================  ==========================================================================
"""
