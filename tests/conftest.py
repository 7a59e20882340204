"""What holds for every test.

Examples have no deadline: a shared machine may stall in any of them, and a test that fails for it
says nothing about the code. A failing example prints what repeats it.

Whoever starts the tests in the background has Ctrl-C ignored by all that they start; here it means
what it always means, because programs are interrupted by it.
"""

import signal

from hypothesis import settings

settings.register_profile("wingbeat", deadline=None, print_blob=True)
settings.load_profile("wingbeat")
signal.signal(signal.SIGINT, signal.default_int_handler)
