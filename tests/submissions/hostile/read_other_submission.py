"""Takes the answer from another student's folder.

Held by: wall
Right: 0 points
"""

exec(open("@sibling@").read())
