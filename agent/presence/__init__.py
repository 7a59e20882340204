"""May this machine work for others now?

==================  ==========================================================================
``rules``           what its owner has decided, as data; ``rules_file`` as text
``hours``           ranges of the week
``wishes``          what a person has said for the moment: pause, finish and pause
``readings``        what was seen, or why it could not be
``verdict``         the decision, pure: rules, wish, readings, memory and time in, reason out
``conditions``      what counts as somebody being there
``touch``           which inputs count; ``latches``: what keeps conditions from flickering
``sources/``        what sees, a file for each thing and system
``looking``         looks at the sources, each as often as is worth it
``descriptions``    what each sees, in a sentence
==================  ==========================================================================

Whoever composes an agent runs the looking in a thread, asks for verdicts, and tells the node.
"""
