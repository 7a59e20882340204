"""What a node keeps on its disk.

=====================  =====================================================================
``journal``            the table of the node, on disk before anybody is told: ``Journal``
``writer``             its thread and its files; ``database`` says what is in them, ``formats`` how
                       an older one becomes the present one
``inspection``         what is looked at when it is opened, and what is done about damage; ``salvage``
                       what can be read of it, and what SQLite does not see
``identity_copy``      the node's incarnation and clock, kept twice
``later``              refuses what a later version has written
``places``             where it lies, and that one process has it
``errors``             why something could not be done
=====================  =====================================================================
"""
