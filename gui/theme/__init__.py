"""How things look: colours for light and dark, and what Qt needs to draw with them."""
