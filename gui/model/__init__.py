"""What the screen shows, without Qt: snapshots and events folded into rows, sentences and marks.

Start reading at ``screen``: everything that is known, written by ``fold`` only. ``notices`` are what
it folds; ``folding`` and ``hands`` say how one event changes a workflow and a machine. The others
each say one thing of it to a person: ``workflows``, ``queue``, ``flock``, ``timeline``, ``graph``,
``tray``, ``trouble``, ``news``, with the marks and times that they share.

Nothing here asks anybody, reads a clock or knows a view: what time it is comes as an argument.
"""
