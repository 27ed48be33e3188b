"""Reads users, passwords and host of the machine.

Held by: sandbox
Right: full points
"""

ATTEMPTS = {
    "passwd": lambda: open("/etc/passwd").read(),
    "shadow": lambda: open("/etc/shadow").read(),
    "hosts": lambda: open("/etc/hosts").read(),
    "machine": lambda: open("/etc/machine-id").read(),
}
@try_each@
