"""Answers with the marks that stand for handles, generators and configurations.

Held by: process
Right: 0 points
"""

import _headway_frames as frames

ANSWERS = [frames.Handle(7), frames.Rng(1), frames.Config("os", "system", {"command": "touch @marks@/config"}), frames.Opaque("x" * 10_000)]


def log_softmax(x, axis=-1):
    ANSWERS.append(ANSWERS.pop(0))
    return ANSWERS[0]
