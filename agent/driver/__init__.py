"""The driver: hosts one ``Node`` on an asyncio loop, and decides nothing.

It hands events in one after the other and has the effects carried out in their order. What an
effect means to sockets, processes and clients is behind the ports (``ports``), so that this
package knows neither and is tested without them.

===========  =================================================================================
``driver``   events in, one timer, and what happens when the node itself is at fault
``outbox``   effects in order; what follows a ``Persist`` waits until that is on disk
``ports``    what the driver asks of network, disk, programs and audience
``clock``    a clock that goes on while the machine sleeps, and the wall's
===========  =================================================================================
"""
