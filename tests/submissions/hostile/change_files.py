"""Changes files that are there: its own and others.

Held by: sandbox
Right: full points
"""

import os

ATTEMPTS = {
    "own": lambda: open(__file__, "a").close(),
    "truncate": lambda: os.truncate(__file__, 0),
    "chmod": lambda: os.chmod(__file__, 0o777),
    "chown": lambda: os.chown(__file__, os.getuid(), os.getgid()),
    "times": lambda: os.utime(__file__),
    "unlink": lambda: os.unlink(__file__),
    "rename": lambda: os.rename(__file__, __file__ + "x"),
    "secret": lambda: open("@secret@", "a").close(),
    "extended": lambda: os.setxattr(__file__, "user.x", b"x"),
    "remove": lambda: os.unlink("@secret@"),
}
@try_each@
