"""Takes the answer from another student's folder, whose secret name it has guessed.

Held by: landlock
Right: 0 points
"""

exec(open("@sibling@").read())
