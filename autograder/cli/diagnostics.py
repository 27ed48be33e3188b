"""Examine this machine for `headway doctor` and `headway init`: each result says what was found and how to fix it."""

import importlib.metadata
import importlib.util
import locale
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from autograder.core.versions import installed_version
from autograder.installation import describe, install_step
from autograder.report.doctor import Diagnostic

# The packages, what the optional ones are needed for, and the extra that installs them.
PACKAGES = (
    *((name, "", "") for name in ("numpy", "regex", "pytest", "rich", "watchfiles", "msgspec")),
    ("torch", "other inputs (--seed) and grading a class", "torch"),
    ("tokenizers", "other inputs (--seed) and grading a class", "torch"),
    ("matplotlib", "plots", "train"),
    ("jupyterlab", "the notebooks, unless your editor shows notebooks itself; then start it: jupyter lab", "notebooks"),
)
# The environment variables that a report names if they are set, without their values.
SETTINGS = ("HEADWAY_CACHE", "HEADWAY_DATA", "HEADWAY_TRACEBACK", "NO_COLOR")
SANDBOX_HELP = 'see "The sandbox" in the documentation'


def run_diagnostics() -> list[Diagnostic]:
    """Examine Python, the packages, the course's files, the cache, a student process and the sandbox."""
    found = [_python(), _headway(), *_packages(), _course_files(), _reference_values(), _cache(), _student_process()]
    return [*found, *_sandbox()]


def check_requirements() -> list[Diagnostic]:
    """Examine only what a new workspace needs: Python, the required packages and a student process."""
    required = [diagnostic for diagnostic in _packages() if not diagnostic.optional]
    return [_python(), _headway(), *required, _student_process()]


def environment() -> dict[str, str]:
    """Return facts about the machine and the terminal that help to find a fault, none of them private."""
    size = os.get_terminal_size() if sys.stdout.isatty() else None
    terminal = f"{size.columns} × {size.lines}" if size else "a pipe"
    others = ("click", "pytest", "nbgrader", "jupytext", "starlette", "distributed", "pyseccomp", "copydetect")
    return {
        "system": f"{platform.platform()}, {platform.machine()}, {os.cpu_count()} CPUs",
        "installed": describe(),
        "encoding": f"{sys.stdout.encoding}, locale {locale.getlocale()[1]}",
        "terminal": f"TERM={os.environ.get('TERM', '')}, {terminal}",
        "settings": ", ".join(name for name in SETTINGS if name in os.environ) or "none",
        "other packages": ", ".join(f"{name} {found}" for name in others if (found := installed_version(name)))
        or "none",
    }


def _python() -> Diagnostic:
    version = f"{platform.python_version()} on {platform.system()}"
    return Diagnostic("Python", sys.version_info >= (3, 11), version, "install Python 3.11 or newer")


def _headway() -> Diagnostic:
    """Find PyPI's unrelated distribution `autograder`: both write into the same folder, so one breaks the other."""
    if other := installed_version("autograder"):
        text = f"autograder {other} from PyPI is installed, too, and has overwritten files of Headway"
        fix = f"pip uninstall autograder, then {install_step()}"
        return Diagnostic("headway", False, text, fix)
    return Diagnostic("headway", True, importlib.metadata.version("headway"))


def _packages() -> Iterator[Diagnostic]:
    for name, use, extra in PACKAGES:
        version = installed_version(name)
        text = version or (f"not installed; needed for {use}" if use else "not installed")
        yield Diagnostic(name, version is not None, text, install_step(extra), bool(extra))


def _course_files() -> Diagnostic:
    from autograder.course import registry
    from autograder.course.stubs import bundled

    missing = [
        f"{kind}/{module}.py"
        for kind in ("assignments", "solutions")
        for module in registry.default().modules
        if not (bundled(kind) / f"{module}.py").is_file()
    ]
    text = f"missing: {', '.join(missing[:3])}" if missing else f"{len(registry.default().modules)} assignments"
    return Diagnostic("stubs and solutions", not missing, text, install_step())


def _reference_values() -> Diagnostic:
    from autograder.course import registry
    from autograder.engine.reference import memo, source_digest

    folder = registry.folder(registry.default().package)
    shipped = memo.Memo(folder)
    count = sum(len(memo.read_shipped(memo.shipped_file(folder, module))) for module in registry.default().modules)
    is_current = shipped.index.get("sources") == source_digest(registry.default().package)
    text = f"{count} values computed with PyTorch {shipped.index.get('torch', '?')}"
    if not is_current:
        text += ", but the references have changed since"
    return Diagnostic("reference values", bool(count) and is_current, text, "make memo", optional=True)


def _cache() -> Diagnostic:
    from autograder.core.files import write_atomically
    from autograder.engine.reference.memo import user_cache

    folder, fix = user_cache(), "set HEADWAY_CACHE to a writable folder"
    if folder is None:
        return Diagnostic("cache", False, "there is no home folder to put it in", fix, optional=True)
    try:
        write_atomically(folder / "doctor", b"")
        (folder / "doctor").unlink()
    except OSError as error:
        text, public = f"cannot write to {folder} ({error.strerror})", f"cannot be written ({error.strerror})"
        return Diagnostic("cache", False, text, fix, optional=True, public_text=public)
    return Diagnostic("cache", True, str(folder), public_text="can be written")


PROBE = """
import numpy

def probe():
    try:
        import torch, autograder
    except ImportError:
        return numpy.ones(2)
"""


def _student_process() -> Diagnostic:
    from autograder.sandbox.call_timer import Deadline
    from autograder.sandbox.limits import Limits
    from autograder.sandbox.process import start_workers
    from autograder.sandbox.student_process import StudentProcess, WorkerTimedOut
    from autograder.sandbox.workers import WorkerDied

    name = "student process"
    request = {"op": "call", "module": "doctor", "function": "probe", "args": (), "kwargs": {}, "handles": {}}
    with tempfile.TemporaryDirectory() as folder, start_workers() as workers:
        Path(folder, "doctor.py").write_text(PROBE, "utf-8")
        process = StudentProcess(workers, Path(folder), Limits())
        try:
            process.request(request, Deadline.fixed(20.0))
            started = time.perf_counter()
            reply = process.request(request, Deadline.fixed(20.0))
            seconds = time.perf_counter() - started
        except (WorkerDied, WorkerTimedOut) as error:
            return Diagnostic(name, False, f"does not work: {error}", "headway check")
        finally:
            process.close()
    is_isolated = reply.get("value") is not None
    text = f"isolated, {seconds * 1e6:.0f} µs per call" if is_isolated else "can import torch or autograder"
    return Diagnostic(name, is_isolated, text, "install headway into a virtual environment of its own")


def _sandbox() -> Iterator[Diagnostic]:
    """Test each mechanism of the sandbox for grading, and find the strongest level that they allow."""
    from autograder.sandbox import probe
    from autograder.sandbox.probe import SandboxUnavailable, strongest_level

    with tempfile.TemporaryDirectory(prefix="headway-") as name:
        scratch = Path(name)
        for mechanism in ("bubblewrap", "landlock", "seccomp"):
            proven, problems = probe.prove((mechanism,), scratch)
            text = "works" if proven else problems.get(mechanism, "does not work")
            yield Diagnostic(mechanism, proven is not None, text, SANDBOX_HELP, optional=True)
        try:
            level = strongest_level(scratch)
        except SandboxUnavailable:
            fix = f"{SANDBOX_HELP}, or grade in a Linux virtual machine"
            yield Diagnostic("sandbox level", False, "none, so headway grade refuses to run", fix, optional=True)
        else:
            yield Diagnostic("sandbox level", True, " + ".join(level.mechanisms))
