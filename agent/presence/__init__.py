"""May this machine work for others now?

==================  ==========================================================================
``rules``           what its owner has decided, as data and as text
``hours``           ranges of the week
``readings``        what was seen, or why it could not be
``judgement``       what else a verdict is made of: what a person wished, what was before
``verdict``         the decision, pure: rules, wish, readings, memory and time in, reason out
``conditions``      what counts as somebody being there, and what each source sees
``touch``           which inputs count, and what keeps conditions from flickering
``sources/``        what sees, a file for each thing outside that shows it
``looking``         looks at the sources, each as often as is worth it
==================  ==========================================================================

Whoever composes an agent runs the looking in a thread, asks for verdicts, and tells the node.
"""
