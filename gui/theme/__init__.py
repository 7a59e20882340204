"""How things look: colours for light and dark, icons, and what Qt needs to draw with them.

==============  =============================================================================
``look``        the look of this process; start reading here: all that paints asks it for colours
``colours``     plain values, so that their contrast can be tested without a screen
``style``       Qt's style sheet in these colours
``drawing``     icons and marks of states, from the files in ``icons`` to pixels
``wing``        the tray's wing with its badge
==============  =============================================================================

The icons are one family, drawn for this program, kept as SVG so that they are sharp at any scale;
``currentColor`` in a file is the colour that it is asked for. Of the window's other rooms only
``gui.model`` is known here, for what marks and states of the tray there are.
"""
