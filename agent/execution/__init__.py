"""Running programs: what is installed here, child processes, and what they say.

==================  =============================================================================
``programs``        program folders as they are executed; ``allowed_commands`` what may be executed
``children``        all runs of this node: started, suspended, resumed, stopped, as events
``child``           one program of one run, from its start to the end of its last process
``output``          what programs print: the lines between node and program (the source's table
                    3.4) are heard, the rest goes to a log that has an end
``scratch``         the working folder of a run: inputs, outputs, what attempts hand on,
                    and what is needed of the place where datasets are kept
``limits``          what a run may take of the machine
``confinement``     what a program may reach, and what keeps it within that; ``node_permissions``
                    what Node.js itself denies to scripts that ask for it
``groups``          a program and all that it starts, behind one interface; ``groups_linux``,
                    ``groups_windows`` with its calls in ``groups_windows_api``
``guardian``        on Linux: starts programs and ends them when the agent did not get to do it;
                    ``keeper`` keeps one of them, by ``process_tree`` and ``folder_size``, in a
                    group of ``control_groups`` where the system has such
``machine``         what this machine has, for the matching of requirements
==================  =============================================================================
"""
