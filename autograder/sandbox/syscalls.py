"""Compile the list of system calls that student code may make to a seccomp filter.

The filter is compiled here, on the trusted side, once for a run: the student's process receives the finished bytes and
needs neither libseccomp nor its Python package. libseccomp knows the numbers and the traps of every architecture (a
32-bit call made from a 64-bit process has other numbers); pyseccomp is a thin, complete layer over it.
"""

import contextlib
import errno
import os
import tempfile
from functools import cache
from typing import Any

# What NumPy and the interpreter need in order to compute, to read files, to use the socket that is already open, and to
# print. Everything else fails with EPERM: a submission cannot create a socket, process, thread, memory file or pipe,
# execute a program, signal or trace other processes, mount, use keys, set clocks or limits, or create, change, link or
# remove a file.
ALLOWED = """
read write readv writev pread64 close lseek fstat newfstatat stat lstat statx fstatfs statfs getdents64 getcwd
access faccessat faccessat2 readlink readlinkat dup
poll ppoll select pselect6
mmap mprotect munmap mremap brk membarrier
futex set_robust_list rseq restart_syscall sched_yield sched_getaffinity getcpu
rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack setitimer getitimer alarm
clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time times getrusage getrandom
getpid getppid gettid getuid geteuid getgid getegid uname sysinfo getrlimit
exit exit_group
"""

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
# F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC: used when a file is opened. Locks, leases and pipe sizes are refused, and
# so is F_SETFL: the grader shares the open file of standard output, and could not read it in direct mode.
FCNTL = (1, 2, 3, 1030)
# Out-of-band bytes of UNIX sockets: nothing needs them, and the kernel's code for them had flaws (CVE-2025-38236).
MSG_OOB = 1
# Advice from this number on is for testing the kernel: as root, it marks memory pages of the machine as broken.
MADV_HWPOISON = 100


class MechanismUnavailable(Exception):
    """A mechanism of the sandbox needs something that this machine does not have; the text gives the fix, too."""

    def __init__(self, mechanism: str, text: str) -> None:
        super().__init__(text)
        self.mechanism = mechanism


@cache
def compiled_filter() -> bytes:
    """Return the compiled filter; raise MechanismUnavailable if pyseccomp or libseccomp is not installed."""
    try:
        import pyseccomp as seccomp
    except ImportError:
        from autograder.installation import install_step  # takes 20 ms

        raise MechanismUnavailable("seccomp", f"pyseccomp is not installed: {install_step('sandbox')}") from None
    except (OSError, RuntimeError, AttributeError):
        problem = "the C library libseccomp is not installed: apt install libseccomp2"
        raise MechanismUnavailable("seccomp", problem) from None
    rules = seccomp.SyscallFilter(seccomp.ERRNO(errno.EPERM))

    def allow(name: str, *conditions: Any, action: int = seccomp.ALLOW) -> None:
        # A call that this architecture or this version of libseccomp does not know fails with EPERM.
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            rules.add_rule(action, name, *conditions)

    for name in ALLOWED.split():
        allow(name)
    # Files are opened for reading only, with or without Landlock. Newer architectures have no `open`.
    allow("openat", seccomp.Arg(2, seccomp.MASKED_EQ, WRITING, 0))
    allow("open", seccomp.Arg(1, seccomp.MASKED_EQ, WRITING, 0))
    in_band = seccomp.Arg(3, seccomp.MASKED_EQ, MSG_OOB, 0)
    allow("recvfrom", in_band)
    allow("sendto", in_band, seccomp.Arg(4, seccomp.EQ, 0))  # Only to the connected peer.
    for command in FCNTL:
        allow("fcntl", seccomp.Arg(1, seccomp.EQ, command))
    allow("madvise", seccomp.Arg(2, seccomp.LT, MADV_HWPOISON))
    # A process may read its own limits, but not set them.
    allow("prlimit64", seccomp.Arg(0, seccomp.EQ, 0), seccomp.Arg(2, seccomp.EQ, 0))
    rules.add_rule(seccomp.ERRNO(errno.ENOTTY), "ioctl")  # The answer to "is this a terminal?".
    # libc tries these first; ENOSYS makes it fall back to an older call, which the filter refuses.
    for name in ("clone3", "openat2"):
        allow(name, action=seccomp.ERRNO(errno.ENOSYS))
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()
