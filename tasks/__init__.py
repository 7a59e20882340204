"""Programs that come with Wingbeat, a folder each. They import neither the agent nor the windows.

A program is a child process that speaks a line protocol on its standard input and output, so that
one written in any other language has the same rights as these. What the programs of the inspection
compute is in ``tasks.inspection``; a program's folder has its description, which calls that library
by a path below the folder: whoever installs a program puts a copy of it there, as the demo does.
"""
