"""A small hostile submission, which does no harm: try what no submission may do, and report how each attempt ended.

It runs in the sandbox like any student's file. Each entry of the answer is the error number with which the system
refused, 0 if it did not refuse, and -1 if Python refused.
"""

import _thread
import os
import signal
import socket


def fork():
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def raise_limit():
    import resource

    resource.setrlimit(resource.RLIMIT_NOFILE, resource.getrlimit(resource.RLIMIT_NOFILE))


def attempt(action, *arguments):
    try:
        action(*arguments)
    except OSError as error:
        return error.errno
    except (MemoryError, RuntimeError, ValueError):
        return -1
    return 0


def probe(outside, sibling, memory):
    this_file = os.path.abspath(__file__)
    return {
        "read_outside": attempt(lambda: open(outside, "rb").close()),
        "stat_outside": attempt(os.stat, outside),
        "read_sibling": attempt(lambda: open(sibling, "rb").close()),
        "list_sibling": attempt(os.listdir, os.path.dirname(sibling)),
        "list_root": attempt(os.listdir, "/"),
        "write": attempt(lambda: open(this_file, "ab").close()),
        "fork": attempt(fork),
        "thread": attempt(_thread.start_new_thread, print, ()),
        "execute": attempt(os.execv, "/bin/true", ["true"]),
        "signal": attempt(os.kill, os.getppid(), signal.SIGCONT),
        "memory_file": attempt(os.memfd_create, "probe"),
        "raise_limit": attempt(raise_limit),
        "internet_socket": attempt(socket.socket, socket.AF_INET),
        "unix_socket": attempt(socket.socket, socket.AF_UNIX),
        "netlink_socket": attempt(socket.socket, socket.AF_NETLINK, socket.SOCK_RAW),
        "memory": attempt(bytearray, memory),
    }
