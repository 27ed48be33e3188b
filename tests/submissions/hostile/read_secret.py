"""Reads a file of the grader's owner and prints it.

Held by: sandbox
Right: 0 points
"""

print(open("@secret@").read())
