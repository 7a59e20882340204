"""The icons: one family, drawn for this program, kept as SVG so that they are sharp at any scale.

``currentColor`` in a file is the colour it is asked for. Marks of states and the tray's wing are put
together from such files in ``gui.icons.drawing`` and ``gui.icons.wing``.
"""
