"""The tray: an icon, a sentence, a plain menu, and the news that a person wants to hear of."""
