"""What keeps a program within its boundary: one interface, what enforces it in one file per thing.

Whoever volunteers hands over neither files nor network nor processes. A program reads its own
folder, its inputs and what it needs to run at all, writes its working folder, and that is all;
what its description asks for beyond that, the owner of the machine grants or not.

Nothing here is believed because of a version: before the first program, one of ours is confined
and tries what must not go (``proof``, ``attempts``), and what it brings back decides what is
used and whether anything may run.

=================  ==============================================================================
``boundary``       what one program may reach, and by which means that is enforced
``reachable``      the places of a Linux system that programs need to run, and their own runtimes
``proof``          which means hold on this machine, found out by trying
``attempts``       the program that tries; its text goes to an interpreter that is confined
``landlock``       Linux: which files, ports, signals (calls that the C library has no names for)
``seccomp``        Linux: which calls at all, a filter assembled from a table
``namespaces``     Linux: everything read-only but the working folder; processes of one's own
``enclosing``      Linux: all of it applied to a child before it is the program
``executing``      Linux: such a child, which copies nothing of its parent
``appcontainer``   Windows: a container for each run, let into the places that it may reach;
                   ``attempts_windows`` tries there
=================  ==============================================================================

``landlock``, ``namespaces``, ``enclosing`` and ``executing`` run in the bare interpreter of the
guardian, so they import little.
"""
