"""Answers with arrays where texts and numbers belong: as status, message, trace, line and warnings.

Held by: process
Right: 0 points
"""

import sys

import numpy as np

serve, frames = sys.modules["_headway_serve"], sys.modules["_headway_frames"]
pack = frames.pack
MANY = [np.zeros(0)] * 100_000
ANSWERS = [
    {"status": "raised", "message": MANY, "type": MANY, "trace": MANY},
    {"status": "raised", "message": {}, "type": None, "trace": [MANY, [MANY, MANY, MANY, MANY], {}, 3]},
    {"status": "missing", "message": MANY}, {"status": "unsendable", "message": np.zeros(1_000_000)},
    {"status": np.zeros(2), "value": 0},
    {"status": "returned", "line": MANY, "modified": MANY, "warnings": [MANY, {}], "value": MANY}, {"status": []}, {},
]  # fmt: skip


def answer(value):
    ANSWERS.append(ANSWERS.pop(0))
    return pack({**ANSWERS[0], "id": value["id"]})


frames.pack = answer


def log_softmax(x, axis=-1):
    return x
