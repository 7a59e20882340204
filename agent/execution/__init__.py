"""Running programs: what is installed here, child processes, and what they say.

===============  =============================================================================
``programs``     program folders and their descriptions
``children``     all runs of this node: started, suspended, resumed, stopped, as events
``child``        one program of one run, from its start to the end of its last process
``words``        the lines between node and program (the source's table 3.4)
``guardian``     what ends the programs when the agent did not get to do it
``groups_…``     groups of processes, a module for each operating system
``machine``      what this machine has, for the matching of requirements
===============  =============================================================================
"""
