"""The system calls that student code may make, compiled to a seccomp program.

Compiled here, on the trusted side, once for a run: the student's process gets the finished bytes and needs neither
libseccomp nor the package around it. libseccomp knows the numbers and the traps of every architecture (a 32-bit call
made from a 64-bit process has other numbers); pyseccomp is a thin, finished layer over it.
"""

import errno
import os
import tempfile
from functools import cache
from typing import Any

from autograder.errors import install_command

# What NumPy and the interpreter need to compute, to read files, to talk over the socket that is open already, and to
# print. Everything else fails with EPERM: no socket, process, thread, exec, signal to others, ptrace, memory file,
# pipe, mount, key, clock or limit to set; no file made, changed, linked or removed.
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
# F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC: what opening a file does. No locks, leases, pipe sizes; no F_SETFL either:
# standard output is one open file with the grader's, who could not read it any more once it is in direct mode.
FCNTL = (1, 2, 3, 1030)
# Out-of-band bytes of UNIX sockets: nothing needs them, and the kernel's code for them had holes (CVE-2025-38236).
MSG_OOB = 1
# From here on advice about memory is for testing the kernel: as root, it takes pages of the machine for broken.
MADV_HWPOISON = 100


class SeccompUnavailable(Exception):
    """The program cannot be compiled here; the text says why and what mends it."""


@cache
def compiled_filter() -> bytes:
    """The compiled filter.

    Raises:
        SeccompUnavailable: without pyseccomp or libseccomp.
    """
    seccomp = _pyseccomp()
    rules = seccomp.SyscallFilter(seccomp.ERRNO(errno.EPERM))
    for name in ALLOWED.split():
        _allow(rules, seccomp, name)
    # Opening is for reading, whatever Landlock knows about; `open` does not exist on newer architectures.
    _allow(rules, seccomp, "openat", seccomp.Arg(2, seccomp.MASKED_EQ, WRITING, 0))
    _allow(rules, seccomp, "open", seccomp.Arg(1, seccomp.MASKED_EQ, WRITING, 0))
    in_band = seccomp.Arg(3, seccomp.MASKED_EQ, MSG_OOB, 0)
    _allow(rules, seccomp, "recvfrom", in_band)
    _allow(rules, seccomp, "sendto", in_band, seccomp.Arg(4, seccomp.EQ, 0))  # to the connected peer, to no address
    for command in FCNTL:
        _allow(rules, seccomp, "fcntl", seccomp.Arg(1, seccomp.EQ, command))
    _allow(rules, seccomp, "madvise", seccomp.Arg(2, seccomp.LT, MADV_HWPOISON))
    # Reading one's own limits, not setting them.
    _allow(rules, seccomp, "prlimit64", seccomp.Arg(0, seccomp.EQ, 0), seccomp.Arg(2, seccomp.EQ, 0))
    rules.add_rule(seccomp.ERRNO(errno.ENOTTY), "ioctl")  # "is this a terminal?" is answered
    # These are asked first and have an older form: "not there" makes libc ask for that one, which is refused.
    for name in ("clone3", "openat2"):
        try:
            rules.add_rule(seccomp.ERRNO(errno.ENOSYS), name)
        except (OSError, ValueError, RuntimeError):
            continue  # an older libseccomp does not know the name: EPERM, like everything else
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()


def _allow(rules: Any, seccomp: Any, name: str, *conditions: Any) -> None:
    try:
        rules.add_rule(seccomp.ALLOW, name, *conditions)
    except (OSError, ValueError, RuntimeError):
        return  # this architecture or this libseccomp has no such call


def _pyseccomp() -> Any:
    try:
        import pyseccomp
    except ImportError:
        raise SeccompUnavailable(f"pyseccomp is not installed: {install_command('sandbox')}") from None
    except (OSError, RuntimeError, AttributeError):
        raise SeccompUnavailable("the C library libseccomp is not installed: apt install libseccomp2") from None
    return pyseccomp
