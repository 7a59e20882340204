"""What people do with a flock, and its network while this machine belongs to one.

It may import ``net`` and the protocol's values, and the settings; of the node it sees what it is
given. Start reading at ``operations`` for acts, at ``network`` for what goes on by itself.

====================  ======================================================================
``operations``        create, invite, join, expel, leave, each effective while the node runs
``network``           links, discovery and roster of one membership, from joining to leaving
``peer_status``       what peers say of themselves, and how often that is told
``gossip``            what members tell each other; where they can be reached, kept on disk
``known_requests``    strangers who ask to be let in, as a member knows them
``own_join_request``  this machine asks a flock to let it in; ``nearby`` finds flocks to ask
``administering``     acts on the flock, for clients; ``pairing`` which machines are one person's
``member_clients``    clients that sit at another machine of the flock
====================  ======================================================================
"""
