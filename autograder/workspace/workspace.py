"""An open workspace: its folder, course, state, files and notebooks, each read once per command."""

import contextlib
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.core.files import read_plain_file
from autograder.course import Curriculum
from autograder.course.file_names import similar_files
from autograder.documents.results import ProgressEntry, Status, SubmissionResult
from autograder.engine.cell_locations import locate_in_cells
from autograder.errors import UsageError
from autograder.workspace import files, notebook_files, progress, sources
from autograder.workspace import state as state_file
from autograder.workspace.dependencies import Snapshot, take_snapshot
from autograder.workspace.notebook_files import NotebookReader
from autograder.workspace.sources import AssignmentSource, ModuleFolder, Version

if TYPE_CHECKING:
    from autograder.sandbox.policy import SandboxPolicy

# An instructor's settings for a workspace: solutions = "after-pass" | "give-up" | "never"; [packages] allow = ["scipy"]
COURSE = "course.toml"


def course_settings(folder: Path) -> dict[str, Any]:
    """Return the instructor's settings for the workspace in a folder; raise UsageError if they cannot be read."""
    if not (folder / COURSE).exists():
        return {}
    import tomllib  # takes milliseconds, and most workspaces have no such file

    try:
        return tomllib.loads(read_plain_file(folder / COURSE).decode("utf-8-sig"))
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {COURSE} ({error}). Ask your instructor") from None


@dataclass(eq=False)
class Workspace:
    """A student's folder, whether or not `headway init` made it."""

    folder: Path
    curriculum: Curriculum  # the course whose functions are checked in the folder
    state: state_file.State  # what Headway has recorded in it
    named_versions: dict[str, Version] = field(default_factory=dict)  # by assignment; they count for this command
    follow_links: bool = True  # whether files that are links are read
    _sources: dict[str, AssignmentSource] = field(default_factory=dict, init=False)
    _files: Snapshot | None = field(default=None, init=False)  # the modules in files, when they were last read

    def __post_init__(self) -> None:
        self._notebooks = NotebookReader(self.folder, self.curriculum, follow_links=self.follow_links)
        self._module_folder = ModuleFolder(self.folder)

    @classmethod
    def open(cls, folder: Path, curriculum: Curriculum | None = None, *, follow_links: bool = True) -> "Workspace":
        """Open a folder with the given course, or with the course recorded in it."""
        recorded = state_file.load(folder)
        return cls(folder, curriculum or recorded.curriculum, recorded, follow_links=follow_links)

    @property
    def is_initialized(self) -> bool:
        """Whether Headway keeps its state in the folder, which `headway init` sets up."""
        return (self.folder / state_file.FILE).is_file()

    @property
    def has_assignments(self) -> bool:
        """Whether the folder holds at least one assignment of the course, as a file or a notebook."""
        has_files = any((self.folder / f"{module}.py").is_file() for module in self.curriculum.modules)
        return has_files or any(notebook_files.paths(self.folder, self.curriculum))

    @property
    def has_recorded_course(self) -> bool:
        """Whether the folder is opened with the course recorded in it; progress is kept for that course only."""
        return self.curriculum == self.state.curriculum

    def require_assignments(self) -> "Workspace":
        """Return this workspace; raise UsageError unless its folder is readable and holds at least one assignment."""
        from autograder.engine import session

        if not self.has_assignments:
            session.require_folder(self.folder, self.curriculum)
        return self

    @cached_property
    def sandbox(self) -> "SandboxPolicy":
        """What isolates the student's code: a process that can import the packages that the instructor allows."""
        from autograder.sandbox.packages import allowed_packages  # takes 10 ms, and only checks need it
        from autograder.sandbox.policy import SandboxPolicy

        packages = course_settings(self.folder).get("packages")
        names = packages.get("allow", ()) if isinstance(packages, dict) else ()
        return SandboxPolicy.unconfined(allowed_packages(tuple(map(str, names))))

    def resolve_name(self, name: str) -> str:
        """Return the module of an assignment or the qualified name of a function, from what the user typed."""
        first = self.curriculum.select([name])[0]
        return first if name.strip() in self.curriculum.functions else self.curriculum.functions[first].module

    @cached_property
    def snapshot(self) -> Snapshot:
        """The versions of the modules that counted when they were last read."""
        return self._read()

    def refresh_snapshot(self) -> Snapshot:
        """Read the files and notebooks again, and return the snapshot before."""
        before = self.snapshot
        self.snapshot = self._read()
        return before

    def refresh_after_save(self) -> Snapshot:
        """Do the same once no file looks half written, or after a moment."""
        for _ in range(notebook_files.MAX_RETRIES):
            now, self._files, _ = self._take(self._files)  # what is parsed now is not parsed again
            if not now.is_half_written(self.snapshot):
                break
            time.sleep(notebook_files.RETRY_SECONDS)
        return self.refresh_snapshot()

    def _read(self) -> Snapshot:
        snapshot, self._files, self._sources = self._take(self._files)
        from_notebooks = [source for source in self._sources.values() if source.version == "notebook"]
        self._module_folder.update(snapshot, from_notebooks)
        return snapshot

    def _take(self, before: Snapshot | None) -> tuple[Snapshot, Snapshot, dict[str, AssignmentSource]]:
        """Return the modules that count, those in files, and which version of an assignment counts."""
        in_files = take_snapshot(self.folder, self.curriculum, before, follow_links=self.follow_links)
        modules, recorded = dict(in_files.modules), self.state.section(sources.KEY)
        found = {}
        for name, notebook in self._notebooks.read().items():
            functions, file = self.curriculum.function_names[name], in_files.modules.get(name)
            path = self.folder / f"{name}.py"
            saved = 0.0
            if file is not None:
                with contextlib.suppress(OSError):  # It has been deleted in the meantime.
                    saved = path.stat().st_mtime
            version, reason = sources.decide(functions, file, saved, notebook, recorded.get(name))
            if (named := self.named_versions.get(name, version)) != version:
                version, reason = named, "named"
            found[name] = AssignmentSource(name, version, reason, notebook, file, functions)
            if version == "notebook" and notebook.module is not None:
                modules[name] = notebook.module
        return Snapshot(modules, self.curriculum), in_files, found

    @property
    def sources(self) -> dict[str, AssignmentSource]:
        """Which version counts of each assignment that has a notebook, when the files were last read."""
        _ = self.snapshot
        return self._sources

    @property
    def module_folder(self) -> Path:
        """The folder of the modules that count: the workspace, or a copy where notebooks replace files.

        A copy is deleted with this object.
        """
        _ = self.snapshot
        return self._module_folder.path

    @property
    def notebook_modules(self) -> dict[str, str]:
        """The text of each module that is taken from a notebook."""
        return {
            name: source.notebook.module.content.decode("utf-8", "replace")
            for name, source in self.sources.items()
            if source.version == "notebook" and source.notebook.module is not None
        }

    def file_of(self, module: str) -> str:
        """Return the path, in the workspace, of the version of an assignment that counts."""
        return self.sources[module].name if module in self.sources else f"{module}.py"

    def locate(self, result: SubmissionResult) -> None:
        """Replace lines of extracted modules in a result by lines of their notebooks' cells, in place."""
        locate_in_cells(result, self.notebook_modules, name_notebooks=True)

    def describe_sources(self, modules: Iterable[str]) -> list[str]:
        """Return a line for each of the assignments whose notebook counts, or of which the student must choose one.

        Further lines name a second notebook, and files such as `softmax_final.py`, which are not read.
        """
        lines, found = [], self.snapshot.modules
        for name in modules:
            functions = self.curriculum.function_names[name]
            line = sources.describe(self.sources[name]) if name in self.sources else ""
            if not line and name in self.named_versions:
                line = f"{name}: {self.file_of(name)} was checked."
            lines.append(line)
            if problem := self._file_problem(name):
                lines.append(f"{name}: {problem}")
            if second := notebook_files.unread(self.folder, name):
                lines.append(f"{name}: {second} is not read. Copy your work to notebooks/{second}, and delete {second}")
            for other in similar_files(name, self.snapshot.contents, self.curriculum):
                one, counting = found[other], found.get(name)
                if sources.written(one, functions) and not sources.is_same(one, counting, functions):
                    reason = f"{other}.py is not checked, because {self.file_of(name)} counts"
                    lines.append(f"{name}: {reason}. If it holds your work, copy it into {self.file_of(name)}.")
        return [line for line in lines if line]

    def _file_problem(self, module: str) -> str:
        """Return what is wrong with an assignment's file, where its code cannot say it; "" if nothing is."""
        if module not in self.snapshot.modules:
            return f"there is no {module}.py. Restore it: headway reset {module}" if self.is_initialized else ""
        content = self.snapshot.modules[module].content
        try:
            content.decode()
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            return f"{module}.py is not UTF-8 text (line {line}), so Python does not run it. Save it as UTF-8."
        return ""

    def undecided(self, modules: Iterable[str]) -> list[AssignmentSource]:
        """Return those of the assignments of which the student must choose a version."""
        return [self.sources[name] for name in modules if name in self.sources and self.sources[name].is_undecided]

    def choose_version(self, module: str, version: Version) -> None:
        """Let a version of an assignment count from now on, and save that."""
        source = self.sources.get(module)
        if version == "notebook" and source is None:
            raise UsageError(f"there is no notebook of {module}. Its file counts: {module}.py")
        if source is None:
            return
        if source.notebook.problem and version == "notebook":
            raise UsageError(f"{source.notebook.name} cannot be read: {source.notebook.problem}")
        self.state.refresh()
        self.state.section(sources.KEY)[module] = source.record(version)
        self.state.save()
        self.refresh_snapshot()

    def reset(self, name: str) -> tuple[Path | None, str]:
        """Restore the stub of a function or an assignment in the version that counts.

        Return the backup, if any, and what to do if a notebook is open in an editor, which does not notice the change.
        """
        if (notebook := self.file_of(name.partition(".")[0])).endswith(notebook_files.SUFFIX):
            hint = " If the notebook is open, load it again: File > Reload Notebook from Disk."
            return notebook_files.reset(self.folder, name, notebook), hint
        return files.reset(self.folder, name, self.curriculum), ""

    @cached_property
    def progress(self) -> dict[str, ProgressEntry]:
        """The latest result of each function, by qualified name; it may be of code that has changed since."""
        return progress.load(self.state, self.curriculum) if self.has_recorded_course else {}

    @property
    def statuses(self) -> dict[str, Status]:
        """The status of each function whose code has not changed since it was checked."""
        return progress.current_statuses(self.progress, self.snapshot.fingerprints)

    @property
    def known_statuses(self) -> dict[str, Status]:
        """The same, with stubs as not started: they need no check."""
        stubs = filter(self.snapshot.is_stub, self.curriculum.functions)
        return {**dict.fromkeys(stubs, "not_started"), **self.statuses}

    @property
    def unchecked(self) -> frozenset[str]:
        """The functions that are written and were never checked."""
        functions = self.curriculum.functions
        return frozenset(name for name in functions if name not in self.progress and not self.snapshot.is_stub(name))

    @property
    def current_function(self) -> str | None:
        """The function that the student worked on when the workspace was last watched, if known."""
        name = self.state.content.get(progress.CURRENT_FUNCTION)
        return name if isinstance(name, str) and name in self.curriculum.functions else None

    @property
    def function_to_work_on(self) -> str | None:
        """The function of the latest check or of the watch screen; if it passes, the next one that does not."""
        current, statuses = self.current_function, self.statuses
        if current is not None and statuses.get(current) != "passed":
            return current
        return progress.next_unfinished(statuses, self.curriculum, current)

    def record(self, result: SubmissionResult, *, current_function: str | None = None, save: bool = True) -> list[str]:
        """Record a public result and the current function, if given, and `save` them; return a line for each badge."""
        save = save and self.has_recorded_course
        if save:  # a check takes seconds, in which another command may have recorded something
            self.state.refresh()
            self.progress = progress.load(self.state, self.curriculum)
        newly_passed = progress.update(self.progress, result.checks, self.snapshot.fingerprints)
        if not save:
            return []
        lines = progress.award_badges(self.state, newly_passed)
        for source in self.sources.values():
            if source.reason == "same":
                self.state.section(sources.KEY)[source.module] = source.record(source.version)
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
