"""What a person has set, in one file: read by ``node_settings``, changed by ``editing``.

It may import what settings are about (rules of presence, addresses), as values only.
"""
