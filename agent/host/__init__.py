"""What operating systems differ in, for the process of the agent as a whole.

==================  ==========================================================================
``stop_signals``    how a system asks a process to end, as one; a file for each system
``windows_api``     the calls of Windows for it, and nothing else
``memory``          gives memory back that is not needed any more
``files``           small files that are written whole or not at all
``private_files``   files that only their owner reads, written whole or not at all
``logs``            writes the agent's log, in files that take each other's place
==================  ==========================================================================

What differs for programs lies in ``execution``, for owners in ``presence``. It imports no room.
"""
