"""Entry point of the student's side: `python -I -S main.py {JSON}`, a fresh interpreter that never held a secret.

Two ways to live, named in the JSON:
    serve   one submission in this very process, over a socket that was inherited or is connected to
    fork    a warm server: NumPy is imported once, and each submission gets a forked child of its own
"""

import contextlib
import gc
import importlib.util
import json
import os
import signal
import socket
import sys


def load(name, path):
    """Import one file by its location, under a name that no student module has."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def prepare(setup):
    """Import NumPy and the kit's files, then forget the way to where they lie.

    Without the site-packages folder on the path, `import torch` or `import autograder` finds nothing. NumPy's own
    submodules are found through NumPy.
    """
    sys.path.append(setup["numpy"])
    import numpy.fft
    import numpy.linalg
    import numpy.ma
    import numpy.polynomial
    import numpy.random  # noqa: F401

    sys.path.remove(setup["numpy"])
    here = os.path.dirname(__file__)
    load("_headway_frames", setup["frames"])
    load("_headway_practice", os.path.join(here, "practice.py"))
    return load("_headway_serve", os.path.join(here, "serve.py"))


def limit_output(size):
    """Let no file grow beyond `size` bytes: standard output and error are files."""
    try:
        import resource
    except ImportError:  # Windows: the trusted side watches the file's size instead
        return
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def die_with_parent(parent):
    """Linux: be killed when the parent dies, also if it died before this call."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            os._exit(1)


def serve_one(setup):
    serve = prepare(setup)
    if "port" in setup:
        channel = socket.create_connection(("127.0.0.1", setup["port"]))
        channel.sendall(setup["token"].encode())
    else:
        die_with_parent(setup["parent"])
        channel = socket.socket(fileno=setup["channel"])
    channel.set_inheritable(False)
    limit_output(setup["output_bytes"])
    serve.serve(channel, setup["folder"])


def serve_many(setup):
    serve = prepare(setup)
    die_with_parent(setup["parent"])
    control = socket.socket(fileno=setup["control"])
    control.set_inheritable(False)
    gc.collect()
    gc.freeze()  # the garbage collector leaves shared pages alone, so that they stay shared after the fork
    control.sendall(b"ready\n")
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 65536, 2)
        if not message:
            os._exit(0)  # the grader is gone; the children die with this process
        job = json.loads(message)
        if "end" in job:
            control.sendall(b"%d\n" % end(job["end"]))
            continue
        server = os.getpid()
        pid = os.fork()
        if pid == 0:
            try:
                child(serve, control, server, job, descriptors)
            finally:
                os._exit(1)
        for descriptor in descriptors:
            os.close(descriptor)
        control.sendall(b"%d\n" % pid)


def child(serve, control, server, job, descriptors):
    """The forked process of one submission: keeps its own socket and its output file, nothing else."""
    os.setsid()
    die_with_parent(server)
    control.close()
    channel, output = descriptors
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (output, 2), (channel, 3)):
        os.dup2(source, target)
    os.closerange(4, 1024)
    import numpy

    numpy.random.seed()  # not the state that every other submission was given
    limit_output(job["output_bytes"])
    serve.serve(socket.socket(fileno=3), job["folder"])


def end(pid):
    """Kill a child and everything it started, and say how it ended: minus the signal, or its exit code."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError):
            kill(pid, signal.SIGKILL)
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:
        return 0


if __name__ == "__main__":
    SETUP = json.loads(sys.argv[1])
    (serve_many if SETUP["mode"] == "fork" else serve_one)(SETUP)
