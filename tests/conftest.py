"""Fixtures of Headway's own tests. Graded checks live in `courses/transformer/` and never use this file."""

import importlib
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.chromium import chromium
from support.kept_servers import kept_servers

from autograder.core.interpreter import raise_gc_threshold, skip_slow_imports
from autograder.course.stubs import bundled
from autograder.courses.transformer import TRANSFORMER
from autograder.documents.results import SubmissionResult
from autograder.engine.diagnosis import diagnose
from autograder.engine.session import Options, check
from autograder.sandbox.process import start_workers
from autograder.sandbox.source_reader import SourceReader
from autograder.sandbox.workers import Workers
from autograder.workspace import create
from autograder.workspace.workspace import Workspace

pytest_plugins = ["support.lanes", "support.required_sandbox"]
collect_ignore = ["toycourse", "mixedcourse"]  # their checks are graded checks
skip_slow_imports()
raise_gc_threshold()  # of the time to collect the tests, the garbage collector would take a third


def pytest_configure() -> None:
    """Let the programs that tests start receive Ctrl-C, also where the tests were started with SIGINT ignored.

    A background job of a script ignores SIGINT, and so do all its children, for whom Python then raises no
    KeyboardInterrupt. A handler, unlike SIG_IGN, is not inherited; one that does nothing keeps Ctrl-C ignored here.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda number, frame: None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """Start one process more than there are cores: a third of the time, tests wait for other processes or for pages."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    return (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1) + 1


@pytest.fixture(scope="session")
def enough_time() -> Iterator[None]:
    """Give the diagnosis so much time that what it finds does not depend on the machine."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("SECONDS_FOR_UNKNOWN", "SECONDS_PER_PHASE", "SECONDS_FOR_SINGLE_CHECKS"):
            patch.setattr(diagnose, name, 5 * getattr(diagnose, name))
        yield


@pytest.fixture(autouse=True, scope="session")
def _isolated_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the tests out of the user's cache and color settings; all tests of a process share one cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADWAY_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("COLUMNS", "80")
        patch.delenv("NO_COLOR", raising=False)
        patch.delenv("FORCE_COLOR", raising=False)
        yield


@pytest.fixture(autouse=True)
def _no_safe_path_for_the_next_test() -> Iterator[None]:
    """Remove what a grading command sets for all processes that it starts (see `core.current_folder`)."""
    yield
    os.environ.pop("PYTHONSAFEPATH", None)


@pytest.fixture(autouse=True, scope="session")
def _kept_servers() -> Iterator[None]:
    with kept_servers():
        yield


@pytest.fixture(scope="session")
def workers() -> Iterator[Workers]:
    with start_workers() as workers:
        yield workers


@pytest.fixture
def reader(workers: Workers) -> Iterator[SourceReader]:
    """Return a reader of the source of one submission."""
    with closing(SourceReader(workers)) as reader:
        yield reader


@pytest.fixture(scope="session")
def solutions() -> Path:
    return bundled("solutions")


@pytest.fixture(scope="module")
def official():
    """Yield a function that imports a module of the official solution; nothing stays imported."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(bundled("solutions")))
        for name in TRANSFORMER.modules:
            patch.delitem(sys.modules, name, raising=False)
        yield importlib.import_module
        for name in TRANSFORMER.modules:
            sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def official_submission(official):
    """Return what the code in the student's process has of a submission: its functions."""
    return SimpleNamespace(function=lambda module, name: getattr(official(module), name))


@pytest.fixture
def submission(tmp_path: Path) -> Callable[..., Path]:
    """Return `submission(softmax="...")`, which writes the given modules to a folder."""

    def make(**modules: str) -> Path:
        folder = tmp_path / "submission"
        folder.mkdir(exist_ok=True)
        for name, text in modules.items():
            (folder / f"{name}.py").write_text(text, "utf-8")
        return folder

    return make


@pytest.fixture(scope="session")
def new_workspace(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """Return `new_workspace(folder)`, which makes a workspace there, as a copy of one, and returns the folder."""
    fresh = tmp_path_factory.mktemp("fresh") / "my-gpt"
    create.create(fresh, TRANSFORMER)
    return lambda folder: shutil.copytree(fresh, folder)


@pytest.fixture
def folder(new_workspace: Callable[[Path], Path], tmp_path: Path) -> Path:
    """Return the folder of a new workspace."""
    return new_workspace(tmp_path / "my-gpt")


@pytest.fixture
def workspace(folder: Path) -> Workspace:
    return Workspace.open(folder)


@pytest.fixture(scope="module")
def shared_folder(new_workspace: Callable[[Path], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a workspace that the tests of a file share."""
    return new_workspace(tmp_path_factory.mktemp("shared") / "my-gpt")


@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    """Yield Chromium, with the further flags that a file has as CHROMIUM_FLAGS."""
    with chromium(tmp_path_factory.mktemp("profile"), *getattr(request.module, "CHROMIUM_FLAGS", ())) as driver:
        yield driver


@pytest.fixture
def check_submission() -> Callable[..., SubmissionResult]:
    """Return `check_submission(folder, "softmax.softmax")`, which checks some functions of a submission."""

    def run(folder: Path, *functions: str, **options: object) -> SubmissionResult:
        return check(folder.name, folder, Options(functions=functions or None, **options))

    return run


@pytest.fixture(scope="session")
def make_class(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return `make_class(12, assignments=("softmax",))`, which makes a synthetic graded class from a seed."""
    from bench import synthetic_class

    def make(students: int, **options: object) -> Path:
        out = tmp_path_factory.mktemp("class")
        synthetic_class.make(out, students, **options)
        return out

    return make
