"""Attempts at what is forbidden, at import: each function is an attack, and its docstring says what it tries.

It may return calls by name, of which each must fail. The official solution below it earns full points. Where a
docstring does not name what holds the attack, every level of the sandbox does. The code above the functions is part of
every attack.
"""

import ctypes
import os
import signal
import socket

GRADER, PORT, UDP = int("@grader@"), int("@port@"), int("@udp@")
LIBC = ctypes.CDLL(None, use_errno=True)


def _call(number, *arguments):
    """Make a system call; raise if it was refused. The numbers are those of x86-64; elsewhere they try other calls."""
    result = LIBC.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno())
    return result


def _try_each(attempts):
    for name, attempt in (attempts or {}).items():
        try:
            attempt()
        except Exception:
            continue
        print("BREACH:", name, flush=True)


def change_files():
    """Changes files that are there: its own and others."""
    return {
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


def daemon():
    """Leaves a daemon behind that writes a file later."""
    import time

    try:
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(1)
                open("@marks@/daemon", "w").close()
            os._exit(0)
        print("BREACH: fork", flush=True)
    except OSError:
        pass


def direct_output():
    """Switches the file of its output, which the grader has open too, to a mode in which the grader cannot read it.

    Held by: process
    """
    import fcntl

    print("x" * 100, flush=True)
    for flags in (os.O_DIRECT | os.O_APPEND | os.O_NONBLOCK, os.O_DIRECT, os.O_ASYNC):
        try:
            fcntl.fcntl(1, fcntl.F_SETFL, flags)
        except OSError:
            continue


def escape_the_terminal():
    """Prints commands to the terminal, markup, HTML, and text that runs backwards.

    Held by: process
    """
    print("\x1b[2J\x1b]0;owned\x07\x1b[31m[red]markup[/red] <script>alert(1)</script> \u202egnp.exe \x00 \ud800".encode("utf-8", "replace").decode())


def fill_a_memory_file():
    """Keeps memory in files that no limit of the process counts."""
    return {
        "memfd": lambda: os.memfd_create("x"),
        "memfd by number": lambda: _call(319, b"x", 0),
        "secret memory": lambda: _call(447, 0),
        "pipe": lambda: os.pipe(),
        "huge pages": lambda: _call(319, b"x", 4),
    }


def fork():
    """Starts processes in every way there is."""
    import subprocess

    def fork():
        if os.fork() == 0:
            os._exit(0)

    return {
        "fork": fork,
        "spawn": lambda: os.posix_spawn("/bin/true", ["true"], {}),
        "subprocess": lambda: subprocess.run(["touch", "@marks@/process"]),
        "system": lambda: os.system("touch @marks@/system") and 1 / 0,
        "exec": lambda: os.execv("/bin/true", ["true"]),
        "exec by descriptor": lambda: os.execve(os.open("/bin/true", os.O_RDONLY), ["true"], {}),
    }


def import_hooks():
    """Puts itself before all imports of its process and clears the loaded modules.

    Held by: process
    """
    import sys

    class Hook:
        def find_spec(self, name, path=None, target=None):
            raise ImportError(name)

    sys.meta_path.insert(0, Hook())
    for name in list(sys.modules):
        if name.startswith(("json", "struct", "socket")):
            del sys.modules[name]


def leave_the_group():
    """Leaves its session and process group, so that killing the group misses it."""
    return {
        "session": lambda: os.setsid(),
        "group": lambda: os.setpgid(0, 0),
        "another group": lambda: os.setpgid(0, os.getpgid(os.getppid())),
        "terminal": lambda: os.tcsetpgrp(0, os.getpid()),
    }


def leave_the_sandbox():
    """Asks the kernel for another file system, another user and another namespace."""
    return {
        "unshare": lambda: _call(272, 0x10000000),
        "chroot": lambda: os.chroot("/"),
        "mount": lambda: _call(165, b"none", b"/", b"tmpfs", 0, 0),
        "user": lambda: os.setuid(12345),
        "group": lambda: os.setgroups([0]),
        "setns": lambda: _call(308, 3, 0),
        "pivot": lambda: _call(155, b"/", b"/"),
        "no dumping": lambda: _call(157, 4, 1, 0, 0, 0),
        "another filter": lambda: _call(317, 1, 0, 0),
        "another ruleset": lambda: _call(444, 0, 0, 1),
        "parent's death": lambda: _call(157, 1, 0, 0, 0, 0),
    }


def list_folders():
    """Lists folders outside: without rules for files, bubblewrap's own empty ones can be listed.

    Held by: landlock
    """
    return {
        "the root": lambda: os.listdir("/"),
        "temporary files": lambda: os.listdir("/tmp"),
        "Headway": lambda: os.listdir("@package@"),
        "upwards": lambda: os.open("../../..", os.O_RDONLY),
    }


def list_the_submissions_root():
    """Lists the folder in which other submissions wait."""
    own = os.path.dirname(os.path.abspath(__file__))
    return {
        "the submissions root": lambda: os.listdir(os.path.dirname(own)),
        "the submissions root from within": lambda: os.listdir(own + "/.."),
        "by descriptor": lambda: os.scandir(os.open("..", os.O_RDONLY, dir_fd=os.open(own, os.O_RDONLY))),
    }


def make_links():
    """Makes links, folders, pipes and devices."""
    return {
        "symbolic": lambda: os.symlink("@secret@", "@marks@/symbolic"),
        "hard": lambda: os.link("@secret@", "@marks@/hard"),
        "own hard": lambda: os.link("@secret@", os.path.dirname(os.path.abspath(__file__)) + "/numpy.py"),
        "folder": lambda: os.mkdir("@marks@/folder"),
        "pipe": lambda: os.mkfifo("@marks@/pipe"),
        "device": lambda: os.mknod("@marks@/device", 0o20666, 259),
    }


def many_warnings():
    """Warns two thousand times while it is imported.

    Held by: process
    """
    import warnings

    for number in range(2_000):
        warnings.warn(f"warning {number} \x1b[2J", stacklevel=1)


def network_all_families():
    """Opens a socket of every family and type there is."""
    for family in range(1, 46):
        for kind in (1, 2, 3, 5):
            try:
                socket.socket(family, kind).close()
            except OSError:
                continue
            print("BREACH: family", family, kind, flush=True)


def network_listen():
    """Opens a port and waits for connections."""
    import http.server

    return {
        "listen": lambda: socket.create_server(("127.0.0.1", 0)),
        "http": lambda: http.server.HTTPServer(("", 0), http.server.BaseHTTPRequestHandler),
    }


def network_names():
    """Sends what it found as a name to be looked up."""
    import urllib.request

    return {
        "look-up": lambda: socket.getaddrinfo("loot.headway.invalid", 80) and print("BREACH: resolver"),
        "web": lambda: urllib.request.urlopen("http://127.0.0.1:@port@/loot", timeout=1),
    }


def network_tcp():
    """Connects to a server on this machine and sends what it found."""
    return {
        "connect": lambda: socket.create_connection(("127.0.0.1", PORT), 1).sendall(b"loot"),
        "version 6": lambda: socket.create_connection(("::1", PORT), 1),
        "outside": lambda: socket.create_connection(("192.0.2.1", 80), 0.2),
    }


def network_udp():
    """Sends a datagram."""
    return {
        "datagram": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"loot", ("127.0.0.1", UDP)),
        "version 6": lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM),
    }


def network_unix():
    """Talks to local services through their sockets."""
    return {
        "abstract": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"loot", "\0@abstract@"),
        "pair": lambda: socket.socketpair(),
        "log": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).connect("/dev/log"),
        "docker": lambda: socket.socket(socket.AF_UNIX).connect("/var/run/docker.sock"),
    }


def odd_system_calls():
    """Tries interfaces of the kernel that had holes."""
    import errno
    import mmap

    def advise(advice):
        """Gives the kernel advice with an unknown number; real numbers from 100 on mark a page of memory as broken."""
        page = mmap.mmap(-1, mmap.PAGESIZE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(page))
        LIBC.madvise(ctypes.c_void_p(address), ctypes.c_size_t(mmap.PAGESIZE), advice)
        if ctypes.get_errno() != errno.EPERM:
            print("BREACH: memory advice", ctypes.get_errno(), flush=True)

    advise(1000)
    return {
        "io_uring": lambda: _call(425, 1, ctypes.create_string_buffer(256)),
        "bpf": lambda: _call(321, 5, 0, 0),
        "perf": lambda: _call(298, ctypes.create_string_buffer(128), 0, -1, -1, 0),
        "userfaultfd": lambda: _call(323, 1),
        "keys": lambda: _call(248, b"user", b"headway", b"x", 1, -3),
        "keyctl": lambda: _call(250, 0, -3, 1),
        "inotify": lambda: _call(294, 0),
        "fanotify": lambda: _call(300, 0, 0),
        "timer": lambda: _call(283, 1, 0),
        "event": lambda: _call(290, 0, 0),
        "signal descriptor": lambda: _call(289, -1, ctypes.create_string_buffer(8), 8, 0),
        "personality": lambda: _call(135, 0x0040000),
        "host name": lambda: _call(170, b"x", 1),
        "handle": lambda: _call(304, -100, ctypes.create_string_buffer(64), 0),
        "splice": lambda: _call(275, 3, 0, 1, 0, 1, 0),
        "vmsplice": lambda: _call(278, 1, 0, 0, 0),
        "send file": lambda: _call(40, 1, 0, 0, 0),
        "copy range": lambda: _call(326, 1, 0, 1, 0, 0, 0),
        "descriptor of another": lambda: _call(438, 3, 0, 0),
        "file system context": lambda: _call(430, b"tmpfs", 0),
        "open tree": lambda: _call(428, -100, b"/", 1),
        "descriptor table": lambda: _call(154, 0, ctypes.create_string_buffer(16), 16),
        "kernel log": lambda: _call(103, 10, 0, 0),
        "input and output priority": lambda: _call(251, 1, 0, 0x2000),
        "lock memory": lambda: _call(151, 1),
        "epoll": lambda: _call(291, 0),
        "quota": lambda: _call(179, 0, 0, 0, 0),
        "clock": lambda: _call(227, 0, ctypes.create_string_buffer(16)),
    }


def out_of_band():
    """Sends bytes past the others, through the part of UNIX sockets that had holes."""
    import gc

    channel = next(thing for thing in gc.get_objects() if isinstance(thing, socket.socket))
    attempts = {
        "send": lambda: channel.send(b"x", socket.MSG_OOB),
        "receive": lambda: channel.recv(1, socket.MSG_OOB | socket.MSG_DONTWAIT),
    }
    for name, attempt in attempts.items():
        try:
            attempt()
        except OSError as error:
            if error.errno != 1:  # EPERM
                print("BREACH:", name, error, flush=True)
            continue
        print("BREACH:", name, flush=True)


def pass_descriptors():
    """Sends descriptors through its channel, and out-of-band bytes."""
    import gc

    # The harness's own object: making another would ask the kernel what it is, which is refused.
    channel = next(thing for thing in gc.get_objects() if isinstance(thing, socket.socket))
    return {
        "descriptors": lambda: socket.send_fds(channel, [b"x"], [0, 1]),
        "to an address": lambda: channel.sendto(b"x", "/tmp/x"),
        "shutdown": lambda: channel.shutdown(1),
        "option": lambda: channel.setsockopt(1, 7, 1),
        "peer": lambda: channel.getpeername(),
    }


def patch_numpy():
    """Breaks NumPy for the submissions after it.

    Held by: process
    """
    import numpy as np

    for name in ("mean", "allclose", "array_equal", "load", "concatenate", "testing"):
        setattr(np, name, None)
    np.random.seed(0)


def raise_its_limits():
    """Raises its limits and its priority."""
    import resource

    return {
        "memory": lambda: resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2),
        "files": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 40,) * 2),
        "CPU time": lambda: resource.setrlimit(resource.RLIMIT_CPU, (1 << 20,) * 2),
        "processes": lambda: resource.setrlimit(resource.RLIMIT_NPROC, (100, 100)),
        "nice": lambda: os.nice(-5),
        "scheduler": lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),
        "cores": lambda: os.sched_setaffinity(0, {0}),
        "of others": lambda: resource.prlimit(os.getppid(), resource.RLIMIT_AS, (1 << 30, 1 << 30)),
    }


def read_checks():
    """Lists and reads the checks and the shipped answers of PyTorch."""
    return {
        "an assignment": lambda: os.listdir("@package@/courses/transformer/softmax"),
        "a check": lambda: open("@package@/courses/transformer/softmax/checks.py").read(),
        "the answers": lambda: open("@package@/courses/transformer/softmax/answers.memo", "rb").read(),
    }


def read_command_line():
    """Looks for secrets in the arguments of its own process.

    Held by: process
    """
    import sys

    if len(sys.argv) > 1 or any("@submissions_root@" in argument for argument in sys.argv):
        print("BREACH:", sys.argv)


def read_descriptors():
    """Looks for descriptors that were left open, and reads from them.

    Held by: process
    """
    for descriptor in range(4, 2000):
        try:
            os.fstat(descriptor)
        except OSError:
            continue
        print("BREACH: descriptor", descriptor, flush=True)


def read_environment():
    """Prints the environment it was given.

    Held by: process
    """
    print(dict(os.environ), os.environb)


def read_home():
    """Looks for keys and history in the home folder of the grader's owner."""
    import pwd

    try:
        home = pwd.getpwuid(os.getuid()).pw_dir
    except (KeyError, OSError):
        home = "/root"
    return {
        "keys": lambda: os.listdir(home + "/.ssh"),
        "history": lambda: open(home + "/.bash_history").read(),
    }


def read_parent_memory():
    """Reads the memory of the grader and of the server it was forked from."""
    return {
        "mem of the grader": lambda: open("/proc/@grader@/mem", "rb").close(),
        "mem of the server": lambda: open(f"/proc/{os.getppid()}/mem", "rb").close(),
        "process_vm_readv": lambda: _call(310, os.getppid(), 0, 0, 0, 0, 0),
        "process_vm_writev": lambda: _call(311, os.getppid(), 0, 0, 0, 0, 0),
        "ptrace attach": lambda: _call(101, 16, os.getppid(), 0, 0),
        "ptrace seize": lambda: _call(101, 0x4206, GRADER, 0, 0),
        "kcmp": lambda: _call(312, os.getpid(), os.getppid(), 1, 0, 0),
    }


def read_proc():
    """Reads command lines, environments and memory maps of the processes around it."""
    return {
        "processes": lambda: os.listdir("/proc"),
        "grader": lambda: open("/proc/@grader@/environ", "rb").read(),
        "server": lambda: open(f"/proc/{os.getppid()}/environ", "rb").read(),
        "command": lambda: open("/proc/@grader@/cmdline").read(),
        "maps": lambda: open("/proc/@grader@/maps").read(),
        "own": lambda: open("/proc/self/environ").read(),
        "own memory": lambda: open("/proc/self/mem", "rb").close(),
        "own descriptors": lambda: os.listdir("/proc/self/fd"),
        "output by its descriptor": lambda: open("/proc/self/fd/1", "rb").close(),
        "root": lambda: os.readlink("/proc/@grader@/root"),
    }


def read_system_files():
    """Reads users, passwords and host of the machine."""
    return {
        "passwd": lambda: open("/etc/passwd").read(),
        "shadow": lambda: open("/etc/shadow").read(),
        "hosts": lambda: open("/etc/hosts").read(),
        "machine": lambda: open("/etc/machine-id").read(),
    }


def shared_mapping():
    """Maps memory that is shared, huge, or belongs to a file that it may only read.

    Held by: process
    """
    import mmap

    import numpy as np

    with open(__file__, "rb") as own, open(np.__file__, "rb") as numpy:
        attempts = {
            "a terabyte": lambda: mmap.mmap(-1, 1 << 40),
            "four gigabytes": lambda: mmap.mmap(-1, 1 << 32, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS),
            "its own file": lambda: mmap.mmap(own.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE),
            "NumPy's file": lambda: mmap.mmap(numpy.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE),
        }
        for name, attempt in attempts.items():
            try:
                attempt()
            except (OSError, ValueError):
                continue
            print("BREACH:", name, flush=True)


def shared_memory():
    """Leaves shared memory, semaphores and queues behind."""
    from multiprocessing import shared_memory

    return {
        "segment": lambda: _call(29, 0, 4096, 0o1777),
        "semaphore": lambda: _call(64, 0, 1, 0o1777),
        "queue": lambda: _call(68, 0, 0o1777),
        "posix": lambda: shared_memory.SharedMemory("headway-hostile", create=True, size=100),
        "posix queue": lambda: _call(240, b"headway", 0o102, 0o600, 0),
    }


def signal_others():
    """Signals the grader, the server and its own group."""
    return {
        "grader": lambda: os.kill(GRADER, signal.SIGCONT),
        "server": lambda: os.kill(os.getppid(), signal.SIGCONT),
        "all": lambda: os.kill(-1, 0),
        "group": lambda: os.killpg(os.getpgid(0), signal.SIGCONT),
        "descriptor": lambda: os.pidfd_open(os.getppid()),
        "queue": lambda: signal.pidfd_send_signal(os.pidfd_open(GRADER), 0),
    }


def stat_known_paths():
    """Asks for size and time of files whose path it knows: no content, but a way to know that they are there.

    Held by: bubblewrap
    """
    return {
        "the secret": lambda: os.stat("@secret@"),
        "Headway": lambda: os.stat("@package@/courses"),
        "users": lambda: os.stat("/etc/passwd"),
        "without opening": lambda: os.fstat(os.open("@secret@", os.O_PATH)),
        "asked": lambda: 1 / os.access("/etc/passwd", os.F_OK),
        "file system": lambda: os.statvfs("@secret@"),
        "its working folder": lambda: os.chdir("/etc"),
    }


def threads():
    """Starts threads."""
    import _thread
    import threading
    from concurrent.futures import ThreadPoolExecutor

    return {
        "thread": lambda: threading.Thread(target=print).start(),
        "pool": lambda: ThreadPoolExecutor(2).submit(print).result(1),
        "low": lambda: _thread.start_new_thread(print, ()),
    }


def walk_upwards():
    """Walks up from its own folder through open folders and working folder."""
    return {
        "secret from here": lambda: os.open("../../../../../../../../@secret@", os.O_RDONLY),
    }


def write_files():
    """Writes files: outside, in temporary folders, in its own folder, in shared memory."""
    import tempfile

    return {
        "outside": lambda: open("@marks@/written", "w").close(),
        "temporary": lambda: open("/tmp/headway-hostile", "w").close(),
        "own folder": lambda: open(os.path.dirname(os.path.abspath(__file__)) + "/new.py", "w").close(),
        "shared memory": lambda: open("/dev/shm/headway-hostile", "w").close(),
        "var": lambda: open("/var/tmp/headway-hostile", "w").close(),
        "temporary file": lambda: tempfile.TemporaryFile(),
        "read and write": lambda: os.open(__file__, os.O_RDWR),
        "unnamed": lambda: os.open("/tmp", os.O_TMPFILE | os.O_RDWR),
    }
