"""Warns two thousand times while it is imported.

Held by: process
Right: full points
"""

import warnings

for number in range(2_000):
    warnings.warn(f"warning {number} \x1b[2J", stacklevel=1)
