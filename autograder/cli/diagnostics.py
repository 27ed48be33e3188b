"""Is everything here that is needed? Each finding says what was looked at, how it is, and what mends it."""

import importlib.metadata
import importlib.util
import platform
import sys
import tempfile
import time
from pathlib import Path

from autograder.errors import install_command
from autograder.report.doctor import Diagnostic


def examine() -> list[Diagnostic]:
    """Look at Python, the packages, the answers that ship with the kit, the cache, and run a student process."""
    return [_python(), *_packages(), _solutions(), _shipped(), _cache(), _worker(), *_sandbox()]


def _python() -> Diagnostic:
    good = sys.version_info >= (3, 11)
    return Diagnostic(
        "Python", good, f"{platform.python_version()} on {platform.system()}", "install Python 3.11 or newer"
    )


# What is used, what for, and the extra that brings it; without an extra it comes with the kit.
PACKAGES = (
    ("numpy", "", ""),
    ("pytest", "", ""),
    ("rich", "", ""),
    ("watchfiles", "", ""),
    ("torch", "fresh inputs (--seed), class grading and headway bench", "torch"),
    ("safetensors", "saving what headway train has trained", "train"),
    ("matplotlib", "pictures of a training run", "train"),
)

ABOUT = 'see "The sandbox" in the README'


def _packages() -> list[Diagnostic]:
    found = []
    for name, use, extra in PACKAGES:
        try:
            found.append(Diagnostic(name, True, importlib.metadata.version(name), optional=bool(extra)))
        except importlib.metadata.PackageNotFoundError:
            install = install_command(extra) if extra else "pip install --force-reinstall headway"
            text = f"not installed; for {use}" if use else "not installed"
            found.append(Diagnostic(name, False, text, install, bool(extra)))
    return found


def tool_chain() -> list[Diagnostic]:
    """The least that a new workspace needs: Python, the packages that come with the kit, a student process."""
    return [_python(), *(finding for finding in _packages() if not finding.optional), _worker()]


def _solutions() -> Diagnostic:
    from autograder.courses.transformer import TRANSFORMER
    from autograder.curriculum.stubs import bundled

    lacking = [
        f"{kind}/{module}.py"
        for kind in ("assignments", "solutions")
        for module in TRANSFORMER.modules
        if not (bundled(kind) / f"{module}.py").is_file()
    ]
    text = f"{', '.join(lacking[:3])} missing" if lacking else f"{len(TRANSFORMER.modules)} assignments"
    return Diagnostic("stubs and solutions", not lacking, text, "pip install --force-reinstall headway")


def _shipped() -> Diagnostic:
    from autograder.courses.transformer import TRANSFORMER
    from autograder.engine.reference import memo, shipped_answers, source_digest

    shipped = memo.Memo(shipped_answers())
    entries = sum(len(memo.read_shipped(shipped_answers() / f"{m}{memo.SUFFIX}")) for m in TRANSFORMER.modules)
    fresh = shipped.shipped_sources == source_digest()
    text = f"{entries} answers of PyTorch {shipped.shipped_torch or '?'}"
    if not fresh:
        text += ", but the references have changed since"
    return Diagnostic("shipped answers", bool(entries) and fresh, text, "make memo", optional=True)


def _cache() -> Diagnostic:
    from autograder.core.files import write_atomically
    from autograder.engine.reference.memo import user_cache

    folder, fix = user_cache(), "set HEADWAY_CACHE to a folder that can be written"
    if folder is None:
        return Diagnostic("cache", False, "there is no home folder for it", fix, optional=True)
    try:
        write_atomically(folder / "doctor", b"")
        (folder / "doctor").unlink()
    except OSError as error:
        return Diagnostic("cache", False, f"{folder} cannot be written ({error.strerror})", fix, optional=True)
    return Diagnostic("cache", True, str(folder))


PROBE = """
import numpy

def probe():
    try:
        import torch, autograder
    except ImportError:
        return numpy.ones(2)
"""


def _worker() -> Diagnostic:
    from autograder.sandbox import Limits, Session, WorkerDied, Workers, WorkerTimedOut

    request = {"op": "call", "module": "doctor", "function": "probe", "args": (), "kwargs": {}, "opaque": []}
    with tempfile.TemporaryDirectory() as folder, Workers() as workers:
        Path(folder, "doctor.py").write_text(PROBE, "utf-8")
        session = Session(workers, Path(folder), Limits())
        try:
            session.request(request, 20.0)
            started = time.perf_counter()
            reply = session.request(request, 20.0)
            took = time.perf_counter() - started
        except (WorkerDied, WorkerTimedOut) as error:
            return Diagnostic("student process", False, f"does not work: {error}", "headway check --call-seconds 60")
        finally:
            session.discard()
    alone = reply.get("value") is not None
    text = f"isolated, {took * 1e6:.0f} µs a call" if alone else "sees more than NumPy"
    return Diagnostic("student process", alone, text, "install headway into a virtual environment of its own")


def _sandbox() -> list[Diagnostic]:
    """Return findings on each mechanism of the sandbox, proven, and on the strongest level they allow."""
    from autograder.sandbox import SandboxUnavailable, probe, strongest_level

    found = []
    with tempfile.TemporaryDirectory(prefix="headway-") as name:
        scratch = Path(name)
        for mechanism in ("bubblewrap", "landlock", "seccomp"):
            proven, problems = probe.prove((mechanism,), scratch)
            text = "holds" if proven else problems.get(mechanism, "does not hold")
            found.append(Diagnostic(mechanism, proven is not None, text, ABOUT, optional=True))
        try:
            level = strongest_level(scratch)
        except SandboxUnavailable:
            fix = f"{ABOUT}; grade in a Linux virtual machine"
            return [*found, Diagnostic("sandbox for a class", False, "none: headway grade refuses", fix, optional=True)]
    return [*found, Diagnostic("sandbox for a class", True, " + ".join(level.mechanisms))]
