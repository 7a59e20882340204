"""The windows and the tray icon. They reach a node only through the agent's client contract.

================  ===========================================================================
``model``         says what the screen shows, without Qt; it knows no other room of these
``bridge``        the one place where threads meet; knows the model
``views``         only format what arrives; know model, bridge and theme
``theme``         colours, icons and style
``editing``       opens a file at a line, in the person's editor
``translations``  what is said in other languages than English
================  ===========================================================================

Start reading at ``__main__``, then ``application``, which puts all of it together; beside it lie what the
process does as a whole (``single``, ``hosting``, ``finishing``, ``startup``) and the ``tray_icon``. So
what a person sees can be tested without a screen, and an agent that hangs, dies or is far away never
stops the window.
"""
