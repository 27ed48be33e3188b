"""Returns objects whose types, and dictionaries whose keys, have commands to the terminal for names.

Held by: process
Right: 0 points
"""

EVIL = "\x1b[2J\x1b]0;owned\x07\u202e"
ANSWERS = [type(EVIL, (), {})(), {EVIL: 1}, {EVIL * 20_000: {EVIL: []}}, [EVIL], EVIL]


def log_softmax(x, axis=-1):
    ANSWERS.append(ANSWERS.pop(0))
    return ANSWERS[0]
