"""What holds for every test.

Examples have no deadline: a shared machine may stall in any of them, and a test that fails for it
says nothing about the code. A failing example prints what repeats it.
"""

from hypothesis import settings

settings.register_profile("wingbeat", deadline=None, print_blob=True)
settings.load_profile("wingbeat")
