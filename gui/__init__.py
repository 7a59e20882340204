"""The windows and the tray icon. They reach a node only through the agent's client contract.

Empty so far: the tray comes after the live nodes that it shows.
"""
