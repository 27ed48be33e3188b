"""Looks for secrets in the arguments of its own process.

Held by: process
Right: full points
"""

import sys

if len(sys.argv) > 1 or any("@submissions_root@" in argument for argument in sys.argv):
    print("BREACH:", sys.argv)
