"""The datasets that this node keeps: inputs and outputs of tasks, by their content.

==============  ============================================================================
``store``       ``DatasetStore``: keep, lay, read, remove; what everybody else talks to
``manifest``    what a dataset and its files may be called, and what a folder is
``objects``     one file for each content, written whole or not at all; those that are on their
                way here; how they are laid out for a program
``index``       what is known of them besides their content, in SQLite, and what made them
``room``        how much may be kept, and what goes first when that is too much
``gathering``   a file or folder of this machine becomes objects
``backend``     results in a shared folder, an object store or a database server besides
``errors``      why something could not be done
==============  ============================================================================
"""
