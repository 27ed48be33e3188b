"""Loops in the matching of a regular expression.

Held by: process
Right: 0 points
"""

import re


def log_softmax(x, axis=-1):
    return re.match("(a|aa)+$", "a" * 100 + "b")
