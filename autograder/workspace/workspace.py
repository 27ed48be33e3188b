"""An open workspace: its folder, course, state and files, each read once per command."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from autograder.curriculum import Curriculum
from autograder.results import Status, SubmissionResult
from autograder.workspace import badges, progress
from autograder.workspace import state as state_file
from autograder.workspace.dependencies import Snapshot, take_snapshot


@dataclass(eq=False)
class Workspace:
    """A student's folder, whether or not `headway init` made it."""

    folder: Path
    curriculum: Curriculum  # the course whose functions are checked in the folder
    state: state_file.State  # what Headway has recorded in it

    @classmethod
    def open(cls, folder: Path, curriculum: Curriculum | None = None) -> "Workspace":
        """Open a folder with the given course, or with the course recorded in it."""
        recorded = state_file.load(folder)
        return cls(folder, curriculum or recorded.curriculum, recorded)

    @property
    def is_initialized(self) -> bool:
        """Whether Headway keeps its state in the folder, which `headway init` sets up."""
        return (self.folder / state_file.FILE).is_file()

    @property
    def has_assignments(self) -> bool:
        """Whether the folder holds at least one assignment of the course."""
        return any((self.folder / f"{module}.py").is_file() for module in self.curriculum.modules)

    @property
    def has_recorded_course(self) -> bool:
        """Whether the folder is opened with the course recorded in it; progress is kept for that course only."""
        return self.curriculum == self.state.curriculum

    def require_assignments(self) -> None:
        """Raise UsageError unless the folder exists, is readable and holds at least one assignment."""
        from autograder.engine import session

        session.require_folder(self.folder, self.curriculum)

    def resolve_name(self, name: str) -> str:
        """Return the module of an assignment or the qualified name of a function, from what the user typed."""
        first = self.curriculum.select([name])[0]
        return first if name.strip() in self.curriculum.functions else self.curriculum.functions[first].module

    @cached_property
    def snapshot(self) -> Snapshot:
        """The files of the workspace when they were last read."""
        return take_snapshot(self.folder, self.curriculum)

    def refresh_snapshot(self) -> Snapshot:
        """Read the files again, and return the snapshot before."""
        before = self.snapshot
        self.snapshot = take_snapshot(self.folder, self.curriculum, before)
        return before

    @cached_property
    def progress(self) -> dict[str, progress.ProgressEntry]:
        """The latest result of each function, by qualified name; it may be of code that has changed since."""
        return progress.load(self.state, self.curriculum) if self.has_recorded_course else {}

    @property
    def statuses(self) -> dict[str, Status]:
        """The status of each function whose code has not changed since it was checked."""
        return progress.current_statuses(self.progress, self.snapshot.fingerprints)

    @property
    def current_function(self) -> str | None:
        """The function that the student worked on when the workspace was last watched, if known."""
        name = self.state.content.get(progress.CURRENT_FUNCTION)
        return name if isinstance(name, str) and name in self.curriculum.functions else None

    def record(self, result: SubmissionResult, *, current_function: str | None = None, save: bool = True) -> list[str]:
        """Record a public result and the current function, if given, and `save` them; return a line for each badge."""
        save = save and self.has_recorded_course
        if save:  # a check takes seconds, in which another command may have recorded something
            self.state.refresh()
            self.progress = progress.load(self.state, self.curriculum)
        newly_passed = progress.update(self.progress, result.checks, self.snapshot.fingerprints)
        if not save:
            return []
        lines = badges.award_for_functions(self.state, newly_passed)
        progress.store(self.state, self.progress, self.curriculum)
        if current_function is not None:
            self.state.content[progress.CURRENT_FUNCTION] = current_function
        self.state.save()
        return lines

    def record_current_function(self, function: str) -> None:
        """Record the function that the student works on."""
        self.state.refresh()
        self.state.content[progress.CURRENT_FUNCTION] = function
        self.state.save()
