"""Facts become English here, for whoever shows them as text; the window says them in its languages.

It may import values, never whoever made them. ``english``: a sentence for each reason, which is
also the key of its translation; ``speech``: how a reason is said, and each kind of value in it;
``run_ends``: why a run ended, and what it is called. Start with
``speech``.
"""
