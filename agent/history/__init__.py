"""What was: of tasks and workflows, kept longer than the table keeps them; logs read back.

It may import ``storage``, ``host`` (where logs are written) and ``wording``. ``task_history`` watches
and is asked, of the attempts at a task too; ``log_reading`` reads logs.
"""
