"""The one place where threads meet: questions go in, answers and bundles of notices come out.

==============  =============================================================================
``bridge``      start reading here: a thread with a loop of its own, questions and their askers
``following``   keeps the screen's knowledge up to date: greets, reads, follows, begins anew
``submitting``  reads workflow files, asks for a dry run, sends
``attaching``   sends the files of a gate, then marks it done
==============  =============================================================================

Of the window's other rooms only ``gui.model`` is known here, whose notices are what comes out; Qt is
touched by ``bridge`` alone.
"""
