"""A live node's side of the network: who is in the flock, and how its members talk.

Everything the protocol takes for granted is earned here, because a LAN gives none of it: that a
peer is who it says, that nobody else listens, that it can be found.

====================  ======================================================================
``membership``        this node's place in a flock, as one object for the composition root
``identity``          its key and certificate; ``authority`` what makes them a flock's
``invitation``        the short text that lets a machine in; ``invitation_book`` what is left of it
``enrolment``         the keeper's answers; ``joining`` the questions of newcomers and members
``join_requests``     who asks without an invitation; ``asking`` does
``roster``            who belongs and who does not any more, as a join
``charter``           who may do what, of signed ``acts``; ``pairing`` whose machine each is
``tls``               the contexts of every connection, and who is at its other end
====================  ======================================================================
"""
