"""Looks for keys and history in the home folder of the grader's owner.

Held by: sandbox
Right: full points
"""

import os
import pwd


try:
    home = pwd.getpwuid(os.getuid()).pw_dir
except (KeyError, OSError):
    home = "/root"
ATTEMPTS = {
    "keys": lambda: os.listdir(home + "/.ssh"),
    "history": lambda: open(home + "/.bash_history").read(),
}
@try_each@
