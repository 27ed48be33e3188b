"""Raises SystemExit(0) while it is imported.

Held by: process
Right: 0 points
"""

raise SystemExit(0)
