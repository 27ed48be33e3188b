"""Runs in the student's process: gives up every right that a submission does not need, before its file is touched.

    limits      memory, CPU seconds, size of files, descriptors, processes: `setrlimit`
    landlock    files: only the listed folders can be read, nothing can be written (Linux 5.13)
    seccomp     system calls: an allow-list; the program comes, compiled, from the trusted side (`worker/syscalls.py`)

None of it can be taken back by the process that did it. What fails here ends the process: better no answer than a
submission that runs with more rights than the result document says.

Landlock is three system calls with numbers that are the same on every architecture. They are made here with ctypes:
this file is loaded by path into an interpreter without site-packages, where a package would have to be loaded the
same way, with everything that it imports, and paid for by every submission.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
PR_SET_NO_NEW_PRIVS = 38

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # of every architecture
ABI_VERSION = 1  # flag of CREATE_RULESET: say the version instead
PATH_BENEATH = 1
READ_FILE, READ_DIR = 1 << 2, 1 << 3
# How many of the access rights exist, by version of the interface: a ruleset that names others is refused.
FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16, 6: 16, 7: 16, 8: 16, 9: 17}
NETWORK_SINCE, NETWORK_RIGHTS = 4, 0b11  # bind and connect of TCP
SCOPES_SINCE, SCOPES = 6, 0b11  # abstract UNIX sockets and signals of processes outside

libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


class Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64)]


class PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("descriptor", ctypes.c_int32)]


class Program(ctypes.Structure):
    _fields_ = [("count", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def checked(result):
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def die_with_parent(parent):
    """Linux: be killed when the parent dies, also if it died before this call."""
    if libc is not None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def limit(limits):
    """Set what the system counts by process. Where it knows one of them not (Windows: none), the wall time remains."""
    try:
        import resource
    except ImportError:
        return
    # A file that is full is an error in the student's code, not a signal that ends it.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    cpu = limits["cpu_seconds"]
    wanted = {
        "RLIMIT_CORE": (0, 0),
        "RLIMIT_FSIZE": (limits["output_bytes"],) * 2,  # standard output and error are files
        "RLIMIT_AS": (limits["memory_bytes"],) * 2,
        "RLIMIT_CPU": (cpu, cpu + 1) if cpu else None,  # a signal that can be ignored, and one second later one not
        "RLIMIT_NOFILE": (64, 64),
        "RLIMIT_NPROC": (0, 0),  # no process and no thread; root is not bound by it, but by seccomp
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
    """Leave this process and its children what the rules allow of the file system, and nothing of the network.

    Each rule is a path and whether files beneath it may be read; folders beneath it may be listed in any case.
    """
    version = checked(libc.syscall(CREATE_RULESET, None, 0, ABI_VERSION))
    rights = (1 << FILE_RIGHTS.get(version, FILE_RIGHTS[9])) - 1
    network = NETWORK_RIGHTS if version >= NETWORK_SINCE else 0
    scopes = SCOPES if version >= SCOPES_SINCE else 0
    # An old kernel takes a structure that is longer than the one it knows, as long as the rest of it is zero.
    attributes = Ruleset(rights, network, scopes)
    ruleset = checked(libc.syscall(CREATE_RULESET, ctypes.byref(attributes), ctypes.sizeof(attributes), 0))
    for path, can_be_read in rules:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        allowed = (READ_FILE if can_be_read else 0) | (READ_DIR if os.path.isdir(path) else 0)
        rule = PathBeneath(allowed, descriptor)
        checked(libc.syscall(ADD_RULE, ruleset, PATH_BENEATH, ctypes.byref(rule), 0))
        os.close(descriptor)
    no_new_privileges()
    checked(libc.syscall(RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def no_new_privileges():
    checked(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def seccomp(program):
    """Let this process make the system calls that the compiled program allows."""
    no_new_privileges()
    # 8 bytes an instruction. The structure has a pointer: the bytes must live until the call is over, and do.
    filter = Program(len(program) // 8, program)
    checked(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(filter), 0, 0))


def server(sandbox):
    """What the server does to itself: every child inherits it, so that the long list of rules is paid for once."""
    if "landlock" in sandbox["mechanisms"]:
        landlock(sandbox["rules"])


def child(sandbox, limits, folder):
    """What a child does to itself beyond what the server did: of the submissions it sees its own."""
    limit(limits)
    if "landlock" in sandbox["mechanisms"]:
        landlock([*((root, True) for root in sandbox["roots"]), (folder, True)])
    if "seccomp" in sandbox["mechanisms"]:
        seccomp(bytes.fromhex(sandbox["program"]))
