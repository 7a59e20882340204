"""What sees: one file for each thing outside that shows it.

A source is asked now and then, in one thread, and answers with what it sees or with why it cannot.
It never guesses, never waits longer than a moment, and never sees keys: only when, not what.
"""
