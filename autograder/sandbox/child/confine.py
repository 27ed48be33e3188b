"""Give up every right that a submission does not need. Runs in the student's process, before its file is loaded.

    limits      `setrlimit`: memory, CPU seconds, size of files, descriptors, processes
    landlock    files: only the listed folders can be read, and nothing can be written (Linux 5.13)
    seccomp     an allow-list of system calls; the trusted side (`sandbox/syscalls.py`) sends the compiled filter

A process cannot undo any of it. A step that fails ends the process: a submission must not run with more rights than
the result document says.

Landlock's three system calls are made with ctypes, because this process has no site-packages.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
PR_SET_NO_NEW_PRIVS = 38

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # The same on every architecture.
ABI_VERSION = 1  # Flag of CREATE_RULESET: return the version of the interface instead.
PATH_BENEATH = 1
READ_FILE, READ_DIR = 1 << 2, 1 << 3
# The number of access rights, by version of the interface: a ruleset that names other rights is refused.
FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16, 6: 16, 7: 16, 8: 16, 9: 17}
NETWORK_SINCE, NETWORK_RIGHTS = 4, 0b11  # Bind and connect (TCP).
SCOPES_SINCE, SCOPES = 6, 0b11  # Abstract UNIX sockets of, and signals to, processes outside.

libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


class Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64)]


class PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("descriptor", ctypes.c_int32)]


class Program(ctypes.Structure):
    _fields_ = [("count", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def checked(result):
    """Return the result of a system call; raise OSError if it failed."""
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def die_with_parent(parent):
    """Ask Linux to kill this process when its parent dies; exit if it is dead already."""
    if libc is not None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def limit(limits):
    """Set the limits that the system enforces for each process; Windows has none of them."""
    try:
        import resource
    except ImportError:
        return
    # A full file raises an error in the student's code, instead of a signal that ends the process.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    cpu = limits["cpu_seconds"]
    wanted = {
        "RLIMIT_CORE": (0, 0),
        "RLIMIT_FSIZE": (limits["output_bytes"],) * 2,  # Standard output and error are files.
        "RLIMIT_AS": (limits["memory_bytes"],) * 2,
        "RLIMIT_CPU": (cpu, cpu + 1) if cpu else None,  # SIGXCPU, which can be ignored; a second later SIGKILL.
        "RLIMIT_NOFILE": (64, 64),
        "RLIMIT_NPROC": (0, 0),  # No process and no thread. Only seccomp stops root.
    }
    for name, value in wanted.items():
        if value is None or not hasattr(resource, name):
            continue
        hard = resource.getrlimit(getattr(resource, name))[1]
        if hard != resource.RLIM_INFINITY:
            value = tuple(min(part, hard) for part in value)
        try:
            resource.setrlimit(getattr(resource, name), value)
        except (ValueError, OSError):
            if sys.platform == "linux":
                raise


def landlock(rules):
    """Restrict this process and its children to what the rules allow of the file system, without network access.

    Each rule is a path and whether the files below it may be read. The folders below it may always be listed.
    """
    version = checked(libc.syscall(CREATE_RULESET, None, 0, ABI_VERSION))
    rights = (1 << FILE_RIGHTS.get(version, FILE_RIGHTS[9])) - 1
    network = NETWORK_RIGHTS if version >= NETWORK_SINCE else 0
    scopes = SCOPES if version >= SCOPES_SINCE else 0
    # An old kernel accepts a structure that is longer than its own if the rest is zero.
    attributes = Ruleset(rights, network, scopes)
    ruleset = checked(libc.syscall(CREATE_RULESET, ctypes.byref(attributes), ctypes.sizeof(attributes), 0))
    for path, readable in rules:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        allowed = (READ_FILE if readable else 0) | (READ_DIR if os.path.isdir(path) else 0)
        rule = PathBeneath(allowed, descriptor)
        checked(libc.syscall(ADD_RULE, ruleset, PATH_BENEATH, ctypes.byref(rule), 0))
        os.close(descriptor)
    no_new_privileges()
    checked(libc.syscall(RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def no_new_privileges():
    checked(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def seccomp(program):
    """Let this process make only the system calls that the compiled filter allows."""
    no_new_privileges()
    # An instruction has 8 bytes. The structure points to `program`, which lives until the call is over.
    checked(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(Program(len(program) // 8, program)), 0, 0))


def confine_server(sandbox):
    """Confine the server. Every child inherits this, so that the long list of rules is applied only once."""
    if "landlock" in sandbox["mechanisms"]:
        landlock(sandbox["rules"])


def confine_child(sandbox, limits, folders):
    """Confine a child further than the server: it can read no submission but its own."""
    limit(limits)
    if "landlock" in sandbox["mechanisms"]:
        landlock([(path, True) for path in (*sandbox["roots"], *folders)])
    if "seccomp" in sandbox["mechanisms"]:
        seccomp(bytes.fromhex(sandbox["program"]))
