"""Walks up from its own folder through open folders and working folder.

Held by: sandbox
Right: full points
"""

import os

ATTEMPTS = {
    "secret from here": lambda: os.open("../../../../../../../../@secret@", os.O_RDONLY),
}
@try_each@
