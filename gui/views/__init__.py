"""Small views: each formats what the model says and sends what a person wishes; none keeps state.

Start reading at ``window``, which makes the five places when they are first looked at:
``workflows_page``, ``queue_page``, ``flock_page``, ``computer_page`` and ``log_page``. Every view is
given a ``view_context``: the model to read, the bridge to ask by. All are built of ``pieces``; tables
are ``rows`` shown by ``table``, and ``columns`` says what stands in each.

A view names itself as the asker of its questions, so nothing is told to one that was closed.
"""
