"""Prints the environment it was given.

Held by: process
Right: full points
"""

import os

print(dict(os.environ), os.environb)
