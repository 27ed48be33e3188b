"""Ways to carry the inputs of a hidden check to a visible one. The word is printed where it arrives in a visible check."""

CODE = '''
import contextlib
import ctypes
import fcntl
import locale
import mmap
import os
import socket
import sys
import time

import numpy as np

LIBC = ctypes.CDLL(None, use_errno=True)
HERE = os.path.abspath(__file__)
SEEN = []


def remember(word):
    {remember}


def recall():
    {recall}


def log_softmax(x, axis=-1):
    hidden = np.size(x) == 9 and float(np.max(x)) == 1000.0
    try:
        if hidden:
            print("BREACH: the output of a hidden check")
            remember("BREACH")
        else:
            for _ in range(2):
                print(recall())
    except Exception as error:
        print(type(error).__name__)
    {end}
    return x
'''
CHANNELS = {
    "memory": ("a list of its module", "SEEN.append(word)", "return SEEN"),
    "numpy": ("an attribute of NumPy", "np.seen = word", "return np.seen"),
    "random_numbers": ("the state of NumPy's random numbers", "np.random.seed(7)", "return 'BREACH' if np.random.get_state()[1][0] == 7 else ''"),
    "environment": ("an environment variable", "os.environ['SEEN'] = word", "return os.environ.get('SEEN')"),
    "shared_folder": ("a file in /tmp, /var/tmp or /dev/shm", "for folder in ('/tmp', '/var/tmp', '/dev/shm'):\n        with contextlib.suppress(OSError): open(folder + '/headway-hostile', 'w').write(word)", "return [open(f + '/headway-hostile').read() for f in ('/tmp', '/var/tmp', '/dev/shm') if os.path.exists(f + '/headway-hostile')]"),
    "file_beside": ("a file beside its own", "open(HERE + '.txt', 'w').write(word)", "return open(HERE + '.txt').read()"),
    "own_file": ("its own file", "open(HERE, 'a').write('# BRE' + 'ACH')", "return [line for line in open(HERE) if line.startswith('# BRE')]"),
    "file_times": ("the times of its own file", "os.utime(HERE, (7, 7))", "return 'BREACH' if os.stat(HERE).st_mtime == 7 else ''"),
    "file_mode": ("the permissions of its folder", "os.chmod(os.path.dirname(HERE), 0o701)", "return 'BREACH' if os.stat(os.path.dirname(HERE)).st_mode & 0o777 == 0o701 else ''"),
    "file_lock": ("a lock on its own file", "SEEN.append(open(HERE)); fcntl.flock(SEEN[0], fcntl.LOCK_EX)", "try: fcntl.flock(open(HERE), fcntl.LOCK_EX | fcntl.LOCK_NB)\n    except BlockingIOError: return 'BREACH'"),
    "posix_memory": ("named shared memory", "from multiprocessing import shared_memory; shared_memory.SharedMemory('headway-hostile', create=True, size=9).buf[:6] = word.encode()", "from multiprocessing import shared_memory; return bytes(shared_memory.SharedMemory('headway-hostile').buf)"),
    "system_v_memory": ("shared memory of System V", "LIBC.shmat.restype = ctypes.c_void_p; ctypes.memmove(LIBC.shmat(LIBC.shmget(77, 99, 0o1600), None, 0), word.encode(), 6)", "if LIBC.shmget(77, 99, 0o600) >= 0: return 'BREACH'"),
    "semaphore": ("a semaphore of System V", "LIBC.semget(78, 1, 0o1600)", "return 'BREACH' if LIBC.semget(78, 1, 0o600) >= 0 else ''"),
    "message_queue": ("a message queue", "LIBC.msgget(79, 0o1600)", "return 'BREACH' if LIBC.msgget(79, 0o600) >= 0 else ''"),
    "abstract_socket": ("the name of a socket", "SEEN.append(socket.socket(socket.AF_UNIX)); SEEN[0].bind(chr(0) + 'headway-hostile')", "try: socket.socket(socket.AF_UNIX).bind(chr(0) + 'headway-hostile')\n    except OSError as error: return 'BREACH' if error.errno == 98 else ''"),
    "open_port": ("an open port", "SEEN.append(socket.create_server(('127.0.0.1', 47_717)))", "socket.create_connection(('127.0.0.1', 47_717), 0.05); return 'BREACH'"),
    "keyring": ("a key of the kernel", "LIBC.syscall(248, b'user', b'headway', b'BREACH', 6, -4)", "return 'BREACH' if LIBC.syscall(250, 10, -4, b'user', b'headway', 0) > 0 else ''"),
    "name_of_the_parent": ("the name or priority of its parent", "os.setpriority(os.PRIO_PROCESS, os.getppid(), 3)", "return 'BREACH' if os.getpriority(os.PRIO_PROCESS, os.getppid()) == 3 else ''"),
    "limits_of_the_parent": ("a limit of its parent", "import resource; resource.prlimit(os.getppid(), resource.RLIMIT_CORE, (0, 77))", "import resource; return 'BREACH' if resource.prlimit(os.getppid(), resource.RLIMIT_CORE)[1] == 77 else ''"),
    "open_descriptor": ("a descriptor that it leaves open", "SEEN.append(os.dup2(os.memfd_create('seen'), 200)); os.write(200, word.encode())", "return os.pread(200, 9, 0)"),
    "position_of_the_output": ("the position in the file of its output", "os.lseek(1, 77, 0)", "return 'BREACH' if os.lseek(1, 0, 1) == 77 else ''"),
    "flags_of_the_channel": ("flags of its channel and output", "fcntl.fcntl(3, fcntl.F_SETOWN, 1); fcntl.fcntl(1, fcntl.F_SETFL, os.O_NONBLOCK)", "return 'BREACH' if fcntl.fcntl(1, fcntl.F_GETFL) & os.O_NONBLOCK else ''"),
    "working_folder": ("its working folder and umask", "os.chdir('/tmp'); os.umask(0o123)", "before = os.umask(0o22); os.umask(before); return 'BREACH' if before == 0o123 else ''"),
    "child": ("a child that lives on", "if not os.fork():\n        time.sleep(1); os._exit(0)\n    SEEN.append(1)", "return ''"),
}  # fmt: skip
# Channels that a process without a sandbox has; the others end with the process.
ONLY_SANDBOX = {"shared_folder", "file_beside", "own_file", "file_times", "file_mode", "file_lock", "posix_memory", "system_v_memory", "semaphore", "message_queue", "abstract_socket", "open_port", "keyring", "name_of_the_parent", "limits_of_the_parent", "child"}  # fmt: skip


def code(remember, recall, end="pass"):
    return CODE.replace("{remember}", remember).replace("{recall}", recall).replace("{end}", end)


ATTACKS = [
    {
        "name": f"hidden_{name}",
        "tries": f"Carries the inputs of a hidden check to a visible one in {what}.",
        "code": code(remember, recall),
        "hidden": True,
        "held_by": "sandbox" if name in ONLY_SANDBOX else "process",
    }
    for name, (what, remember, recall) in CHANNELS.items()
]
ENDINGS = {
    "exception": ("the message of an exception", "if hidden: raise ValueError('BREACH')"),
    "type_of_exception": ("the name of an exception", "if hidden: raise type('BREACH', (Exception,), {})()"),
    "warning": ("a warning", "import warnings\n    if hidden: warnings.warn('BREACH')"),
    "value": ("the value that it returns", "if hidden: return {'BREACH': 'BREACH'}"),
    "type_of_value": ("the type of the value that it returns", "if hidden: return type('BREACH', (), {})()"),
    "line": ("a line of its code", "if hidden: exec(compile('def f(): raise ValueError', os.path.join(os.path.dirname(HERE), 'BREACH.py'), 'exec'), globals()) or f()"),
    "missing_function": ("the name of a function that it says is missing", "if hidden: exec(compile('def attention(): raise NotImplementedError', os.path.join(os.path.dirname(HERE), 'attention.py'), 'exec'), globals()) or attention()"),
    "status": ("the way in which it fails", "if hidden: os._exit(7)"),
    "timeout": ("a call that takes too long", "while hidden: pass"),
    "time": ("the time that it takes", "if hidden: time.sleep(0.12)"),
    "late_output": ("output that comes when the check is over", "if hidden:\n        import atexit; atexit.register(print, 'BREACH'); type('F', (), {'__del__': lambda self: os.write(1, b'BREACH')})()"),
    "errors": ("its error output", "if hidden: sys.stderr.write('BREACH'); sys.stderr.flush()"),
}
ATTACKS += [
    {
        "name": f"hidden_in_{name}",
        "tries": f"Shows the inputs of a hidden check in {what}.",
        "code": code("SEEN.append(word)", "return ''", end),
        "hidden": True,
    }
    for name, (what, end) in ENDINGS.items()
]
