"""What was: of tasks, kept by ``task_history``; of the log, read back by ``log_reading``.

It may import the protocol's values, ``storage.history`` and the log's form from ``host``.
"""
