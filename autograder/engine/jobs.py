"""The options of a session, and its jobs: one submission, or some of its functions, to be checked once."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from autograder.course import Curriculum, registry
from autograder.documents.results import CheckResult
from autograder.engine.reference import Reference
from autograder.engine.student import RecordedCheck
from autograder.sandbox.limits import Limits
from autograder.sandbox.policy import NO_SANDBOX, SandboxPolicy
from autograder.sandbox.process import start_workers
from autograder.sandbox.student_process import ResourceUsage
from autograder.sandbox.workers import StartWorkers


@dataclass(frozen=True)
class Options:
    """How to check."""

    functions: tuple[str, ...] | None = None  # qualified names; None for the whole course
    seed: int = 0  # of the inputs; 0 gives the public ones
    limits: Limits = field(default_factory=Limits)
    curriculum: Curriculum = field(default_factory=registry.default)
    workers: StartWorkers = start_workers  # what runs the student code
    reference: Reference | None = None  # replaces PyTorch behind the shipped memo and the user's cache
    official: bool = False  # check each assignment on top of the official solutions of the earlier ones
    diagnose: bool = True  # name the known mistakes behind failed checks
    keep_calls: bool = False  # keep the calls of failed checks, for the student who wants to repeat one
    is_hidden: Callable[[str], bool] = lambda check: False  # whether students see only the points of a check, by its id
    sandbox: SandboxPolicy = NO_SANDBOX  # what isolates student code, besides a process of its own
    on_search: Callable[[], object] = bool  # called at each step of the search for a mistake; true ends it


@dataclass(frozen=True)
class Job:
    """One submission, or some of its functions, to be checked once."""

    folder: Path
    functions: frozenset[str] | None = None  # qualified names; None for all that pytest has collected
    official: bool = False  # check each assignment on top of the official solutions of the earlier ones
    diagnose: bool = True  # name the mistakes behind failed checks, if the runner does
    usage: ResourceUsage = field(default_factory=ResourceUsage)  # Jobs that share it share the submission's limits.
    visible_only: bool = False  # leave out hidden checks, which must not show in what is found out about the others


@dataclass
class JobResult:
    """The results of a job's checks, and internal errors of Headway."""

    checks: list[CheckResult] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what was left out because a limit was used up
    # The recorded checks of each function, for the diagnosis; empty once the job is done.
    recorded: dict[str, list[RecordedCheck]] = field(default_factory=dict)
