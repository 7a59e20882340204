"""What a node keeps on its disk.

=====================  =====================================================================
``journal``            the table of the node, on disk before anybody is told: ``Journal``
``writer``, ``store``  its thread and its files; ``database`` and ``rows`` say what is in them,
                       ``formats`` how an older one becomes the present one
``inspection``         what is looked at when it is opened; ``mending`` and ``salvage`` what is
                       done about damage, ``log_frames`` what SQLite does not see
``identity_copy``      the node's incarnation and clock, kept twice; ``reserve`` room for a full
                       disk
``places``, ``lock``   where it lies, and that one process has it
``errors``             why something could not be done
=====================  =====================================================================
"""
