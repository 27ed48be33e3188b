"""Jobs: one submission, or some of its functions, to be checked once."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from autograder.engine.student import RecordedCheck
from autograder.results import CheckResult
from autograder.sandbox import ResourceUsage


@dataclass(frozen=True)
class Job:
    """One submission, or some of its functions, to be checked once.

    Attributes:
        functions: qualified names of the functions to check; None for all that pytest has collected.
        official_folder: maps the submission and a module to a folder that holds that module beside official
            prerequisites (see `OfficialPrerequisites.folder_for`); None checks the submission as it is.
        diagnose: name the mistakes behind failed checks, if the runner does.
        usage: what the submission has used so far; jobs that share it share the submission's limits.
    """

    folder: Path
    functions: frozenset[str] | None = None
    official_folder: Callable[[Path, str], Path] | None = None
    diagnose: bool = True
    usage: ResourceUsage = field(default_factory=ResourceUsage)

    def folder_for(self, module: str) -> Path:
        """Return the folder in which `module` is checked."""
        return self.official_folder(self.folder, module) if self.official_folder else self.folder


@dataclass
class JobResult:
    """The results of a job's checks, and internal errors of Headway.

    Attributes:
        recorded: the recorded checks of each function, for the diagnosis; empty once the job is done.
    """

    checks: list[CheckResult] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    recorded: dict[str, list[RecordedCheck]] = field(default_factory=dict)
