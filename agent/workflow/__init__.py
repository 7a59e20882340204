"""Workflow and program description files, read into one model that says all that is wrong at once.

Pure reading: text in, data or faults out. What is read is sent by ``submission``, through whatever
client it is given; nothing here opens a connection.
"""
