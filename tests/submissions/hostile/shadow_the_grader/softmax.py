"""Brings the files that Python and pytest load by themselves where they find them.

Held by: process
Right: full points
"""

pass
