import ctypes

LIBC = ctypes.CDLL(None, use_errno=True)


def call(number, *arguments):
    """A system call; an exception if it was refused. The numbers are those of x86-64; elsewhere they try other calls."""
    result = LIBC.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno())
    return result
