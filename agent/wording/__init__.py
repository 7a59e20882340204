"""Facts become English here, for whoever shows them as text; the window says them in its languages.

It may import values, never whoever made them. ``run_ends``: why a run ended, and what it is called.
"""
