"""The languages as Qt Linguist knows them: ``.ts`` to translate, ``.qm`` for the program."""
