"""The windows and the tray icon. They reach a node only through the agent's client contract.

``model`` says what the screen shows, without Qt; ``bridge`` is the one place where threads meet;
``views`` only format what arrives. So what a person sees can be tested without a screen, and an
agent that hangs, dies or is far away never stops the window.
"""
