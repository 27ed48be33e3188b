"""Answers with the marks that stand for handles, generators and configurations, in lists, tuples and dictionaries.

Held by: process
Right: 0 points
"""

import _headway_frames as frames

MARKS = [frames.Handle(1), frames.Rng(1), frames.Config("@marks@/payload", "run", {"command": "touch @marks@/config"})]
ANSWERS = [answer for mark in MARKS for answer in ([mark], (mark, mark), {"value": mark}, [({"a": [mark]},)])]
ANSWERS += [{MARKS[0]: 1}, {MARKS[1]: 1}]


def log_softmax(x, axis=-1):
    ANSWERS.append(ANSWERS.pop(0))
    return ANSWERS[0]
