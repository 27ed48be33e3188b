"""Ends its process with exit code 0 while it is imported.

Held by: process
Right: 0 points
"""

import os

os._exit(0)
