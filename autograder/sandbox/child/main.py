"""Start the student's side: `python -I -S main.py {JSON}`, a fresh interpreter that never held a secret.

The JSON names one of two modes:
    serve   this process serves one submission, over a socket that it connects to
    fork    this process imports NumPy once, and forks a child for each submission
"""

import atexit
import contextlib
import faulthandler
import gc
import importlib
import importlib.machinery
import importlib.util
import json
import os
import signal
import socket
import sys
import tempfile

CHANNEL = 3  # The descriptor of a child's socket.


def load(name, path):
    """Import one file by its path, under a name that no student module has."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def prepare(setup):
    """Import NumPy and the files beside this one, then remove the site-packages folder from the path.

    After that, `import torch` or `import autograder` finds nothing. NumPy's own submodules are found through NumPy.
    """
    gc.disable()  # What is imported lives as long as this process.
    standard = sys.path.copy()
    sys.path += setup["packages"]
    is_confined = bool(setup["sandbox"]["mechanisms"])
    for name in ("numpy.linalg", "numpy.random", *["regex"] * is_confined):  # Every forked process has them.
        importlib.import_module(name)
    if not is_confined:  # The import takes 15 ms, and few submissions need it.
        sys.meta_path.insert(0, PackageFinder({"modules": ["regex"], "folders": setup["packages"]}))
    sys.path[:] = standard
    folder = os.path.dirname(__file__)
    load("_headway_frames", setup["frames"])
    load("_headway_parsing", setup["parsing"])
    names = ("training", "pretrained", "serve", "confine")
    *_, serve, confine = [load(f"_headway_{name}", f"{folder}/{name}.py") for name in names]
    serve.warm_up()
    if "allowed" in setup["sandbox"]:
        allow(setup["sandbox"]["allowed"])
    gc.freeze()  # The garbage collector does not touch frozen objects, so their pages stay shared after a fork.
    gc.enable()
    return serve, confine


class PackageFinder:
    """Finds the packages that the course allows, in folders that are not on the path."""

    def __init__(self, allowed):
        self.modules, self.folders = frozenset(allowed["modules"]), allowed["folders"]

    def find_spec(self, name, path=None, target=None):
        if path is None and name in self.modules:
            return importlib.machinery.PathFinder.find_spec(name, self.folders)
        return None


def allow(allowed):
    """Let code import the packages that the course allows; import them now, while this process is not confined."""
    sys.meta_path.append(PackageFinder(allowed))
    make_folder = tempfile.mkdtemp
    # matplotlib makes a folder for its cache, but needs only its name.
    tempfile.mkdtemp = lambda *args, **kwargs: "/nonexistent"
    try:
        for name in allowed["first"]:
            with contextlib.suppress(Exception):  # The student's own import shows what is wrong.
                importlib.import_module(name)
    finally:
        tempfile.mkdtemp = make_folder
        atexit._clear()  # Nothing of theirs runs when this process ends.


def serve_one(setup):
    serve, confine = prepare(setup)
    channel = socket.create_connection(("127.0.0.1", setup["port"]))
    channel.sendall(setup["token"].encode())
    channel.set_inheritable(False)
    confine.limit(setup["limits"])
    serve.serve(channel, setup["folders"], setup["limits"]["result_bytes"])


def serve_many(setup):
    serve, confine = prepare(setup)
    confine.die_with_parent(setup["parent"])
    control = socket.socket(fileno=setup["control"])
    control.set_inheritable(False)
    confine.confine_server(setup["sandbox"])
    control.sendall(b"ready\n")
    server = os.getpid()
    faulthandler.register(signal.SIGUSR1, file=CHANNEL, all_threads=False)  # Every child inherits this.
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 64, 2)
        if not message:
            os._exit(0)  # The grader has ended. The children die with this process.
        action, _, number = message.partition(b" ")
        if action == b"end":
            control.sendall(json.dumps(kill_child(int(number))).encode() + b"\n")
            continue
        if action == b"trace":  # The child writes where it is to its socket, also in the middle of a call of NumPy.
            with contextlib.suppress(OSError):
                os.kill(int(number), signal.SIGUSR1)
            control.sendall(b"sent\n")
            continue
        pid = os.fork()
        if pid == 0:
            try:
                confine.die_with_parent(server)
                control.close()
                channel = isolate(*descriptors)
                # Only the child may know its job: later children get a copy of all that the server has in its memory.
                job = serve.receive_frame(channel)
                confine.confine_child(setup["sandbox"], job["limits"], job["folders"])
                serve.serve(channel, job["folders"], job["limits"]["result_bytes"])
            finally:
                os._exit(1)
        for descriptor in descriptors:
            os.close(descriptor)
        announce(control, pid)


def announce(control, pid):
    """Send the number of a child, and a descriptor by which the grader finds it in its own process namespace."""
    descriptors = []
    with contextlib.suppress(AttributeError, OSError):  # Linux 5.3 and later
        descriptors.append(os.pidfd_open(pid))
    socket.send_fds(control, [b"%d\n" % pid], descriptors)
    for descriptor in descriptors:
        os.close(descriptor)


def isolate(channel, output):
    """Make the forked child hold its socket and its output file, and nothing else of the server."""
    os.setsid()  # Standard input is that of the server: /dev/null.
    for source, target in ((output, 1), (output, 2), (channel, CHANNEL)):
        os.dup2(source, target)
    os.closerange(4, 1024)
    import numpy

    # Otherwise every submission would start with the same state. Without a number, it takes three times as long.
    numpy.random.seed(int.from_bytes(os.urandom(4), "little"))
    return socket.socket(fileno=CHANNEL)


def kill_child(pid):
    """Kill a child and its process group; return its exit code, or minus the signal's number, CPU time and memory."""
    for send_signal in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError):
            send_signal(pid, signal.SIGKILL)
    try:
        _, status, used = os.wait4(pid, 0)
    except ChildProcessError:
        return 0, 0.0, 0
    memory = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, memory


if __name__ == "__main__":
    SETUP = json.loads(sys.argv.pop())
    (serve_many if SETUP["mode"] == "fork" else serve_one)(SETUP)
