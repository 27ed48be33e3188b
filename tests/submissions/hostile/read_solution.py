"""Runs the official solution from where Headway is installed.

Held by: sandbox
Right: 0 points
"""

exec(open("@solutions@/softmax.py").read())
