"""Lists the folder in which other submissions wait.

Held by: sandbox
Right: full points
"""

import os

OWN = os.path.dirname(os.path.abspath(__file__))
ATTEMPTS = {
    "the submissions root": lambda: os.listdir(os.path.dirname(OWN)),
    "the submissions root from within": lambda: os.listdir(OWN + "/.."),
    "by descriptor": lambda: os.scandir(os.open("..", os.O_RDONLY, dir_fd=os.open(OWN, os.O_RDONLY))),
}
@try_each@
