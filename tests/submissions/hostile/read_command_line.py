"""Looks for secrets in the arguments of its own process.

Held by: process
Right: full points
"""

import sys

if len(sys.argv) > 1 or any("@spool@" in argument for argument in sys.argv):
    print("BREACH:", sys.argv)
