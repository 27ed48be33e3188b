"""Loops forever while it is imported.

Held by: process
Right: 0 points
"""

while True:
    pass
