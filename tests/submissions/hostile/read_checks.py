"""Lists and reads the checks and the shipped answers of PyTorch.

Held by: sandbox
Right: full points
"""

import os

ATTEMPTS = {
    "an assignment": lambda: os.listdir("@package@/courses/transformer/softmax"),
    "a check": lambda: open("@package@/courses/transformer/softmax/checks.py").read(),
    "the answers": lambda: open("@package@/courses/transformer/softmax/answers.memo", "rb").read(),
}
@try_each@
