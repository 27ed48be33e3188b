"""Puts itself before all imports of its process and clears the loaded modules.

Held by: process
Right: full points
"""

import sys


class Hook:
    def find_spec(self, name, path=None, target=None):
        raise ImportError(name)


sys.meta_path.insert(0, Hook())
for name in list(sys.modules):
    if name.startswith(("json", "struct", "socket")):
        del sys.modules[name]
