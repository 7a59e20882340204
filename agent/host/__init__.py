"""What operating systems differ in, for the process of the agent as a whole.

==================  ==========================================================================
``own_program``     which version of this program is installed; starting it in the place of this one
``stop_signals``    how a system asks a process to end, as one; a file for each system
``windows_api``     the calls of Windows for it, and nothing else
``libraries``       a library of the system, whose calls know their types
``memory``          gives memory back that is not needed any more
``private_files``   small files, written whole or not at all; those that only their owner reads
``deleting``        a folder with all that is in it, whatever a program did against that
``logs``            writes the agent's log, in files that take each other's place
==================  ==========================================================================

What differs for programs lies in ``execution``, for owners in ``presence``. It imports no room.
"""
