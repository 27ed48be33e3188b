"""Opens its own file until there are no more descriptors, and keeps them.

Held by: process
Right: full points
"""

HOARD = []
try:
    while len(HOARD) < 100_000:
        HOARD.append(open(__file__))
except OSError:
    print(len(HOARD))
if len(HOARD) > 100:
    print("BREACH: descriptors")
del HOARD[:10]
