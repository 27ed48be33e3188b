"""What a lesson page asks for: a workspace's cells, checks, hints and solutions, as data that JSON can hold.

The same backend answers pages of `headway serve` and pages whose Python runs in the browser. It has no thread, socket
or terminal of its own; a caller with several threads gives it a lock.
"""

import base64
import binascii
import contextlib
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from autograder.core.text import clean, clean_name
from autograder.course import Assignment
from autograder.documents.results import DIAGNOSED, CheckResult, Status, SubmissionResult, to_document
from autograder.engine.cell_locations import notebook_parts
from autograder.errors import UsageError
from autograder.models import plot_data
from autograder.report.page_report import page_report
from autograder.sandbox.process import start_workers
from autograder.sandbox.workers import StartWorkers
from autograder.workspace import archive, experiments, failed_call, files, hints, progress, solutions
from autograder.workspace.copy_version import copy_version
from autograder.workspace.experiments import ExperimentRun
from autograder.workspace.file_cells import ChangedMeanwhile, FileCells
from autograder.workspace.function_source import function_text
from autograder.workspace.workspace import Workspace

Payload = Mapping[str, Any]
Reply = dict[str, Any]
MAX_RETRIES = 3  # A file that another program changes while it is saved is read again.

# Checks functions as the files are at that moment. The known statuses of others decide what is blocked; the last
# argument is whether to look for mistakes.
Check = Callable[[tuple[str, ...], Mapping[str, Status], bool], SubmissionResult]
# Runs the file of an assignment as a program. The second argument is the program's, "" for the main experiment.
Run = Callable[[str, str], ExperimentRun]


class LessonBackend:
    """A workspace that is edited and checked from lesson pages.

    `lock` is held whenever the backend reads or writes the workspace, but not while student code is checked or drawn.
    `features` are those of the server that have actions of their own.
    `start` starts the workers that run the functions of plots; without `run` no experiment can be run.
    """

    def __init__(
        self,
        workspace: Workspace,
        check: Check,
        features: tuple[str, ...] = (),
        lock: contextlib.AbstractContextManager[Any] | None = None,
        start: StartWorkers = start_workers,
        run: Run | None = None,
    ) -> None:
        self.workspace = workspace
        self.curriculum = workspace.curriculum
        self._folder = workspace.folder.resolve()
        self._check_functions, self._run_experiment = check, run
        self._features = ["plots", "archive", *features, *(["run"] if run else [])]
        self._start = start
        self._lock = lock or contextlib.nullcontext()
        self._checked: dict[str, list[CheckResult]] = {}  # the checks of each function that a page has checked
        self._being_written: dict[str, str] = {}  # functions saved by a page and not checked since: fingerprint
        self._reported = workspace.snapshot.contents  # the files that pages know
        actions: tuple[Callable[[Payload], Reply], ...] = (
            *(self.open, self.save, self.check, self.debug, self.hint, self.reset, self.copy),
            *(self.solution, self.plots, self.draw, self.run, self.export, self.import_),
        )
        self._actions = {action.__name__.rstrip("_"): action for action in actions}

    def require_folder(self) -> None:
        """Raise UsageError if the workspace was moved or deleted, or is a link now, which could lead anywhere."""
        if not self._folder.is_dir() or self._folder.resolve() != self._folder:
            name = clean_name(self._folder.name)
            raise UsageError(f"the workspace {name} was moved or deleted. Start headway serve in its new place")

    def handle(self, action: str, payload: Any) -> Reply:
        """Return the reply to one request of a page; raise UsageError, with one clear line, if there is none."""
        if action not in self._actions or not isinstance(payload, dict):
            raise UsageError("the page asked for something unknown. Reload it")
        return self._actions[action](payload)

    def open(self, payload: Payload) -> Reply:
        """Return the cells of one assignment, and the progress in the whole course."""
        with self._lock:
            assignment = self._assignment(payload)
            self.workspace.refresh_snapshot()
            self.workspace.state.refresh()
            names = [function.qualified for function in assignment.functions]
            sources = self.workspace.describe_sources([assignment.module])  # a line if the notebook counts
            return {
                "workspace": clean_name(self.workspace.folder.name),
                "module": assignment.module,
                "cells": self._cells(assignment),
                **self._progress(),
                "hints": {name: hints.shown_count(self.workspace.state, name) for name in names},
                "features": self._features,
                "notebook": assignment.module in self.workspace.notebook_modules,
                "notes": [clean(note, 600) for note in (*sources, *self.workspace.state.notes)],
            }

    def _require_file(self, module: str) -> None:
        """Raise UsageError if the notebook of an assignment counts, which pages show and cannot change."""
        if module in self.workspace.notebook_modules:
            raise UsageError(f"not saved: {self.workspace.file_of(module)} counts. {_edit_notebook(module)}")

    def save(self, payload: Payload) -> Reply:
        """Write the text of a cell into its file, unless the file has another text there than the page expects."""
        with self._lock:
            module, _, function = (qualified := self._function(payload)).partition(".")
            self._require_file(module)
            text, digest = _text(payload, "text"), _text(payload, "digest")
            for retries in reversed(range(1 + MAX_RETRIES)):
                cells = FileCells(self.workspace.folder, module, self.curriculum)
                cell = cells.require(function, digest)
                if cell.digest != digest:
                    return {"conflict": {"text": cell.text, "digest": cell.digest}}
                try:
                    cell = cells.overwrite(cell, text)
                    break
                except ChangedMeanwhile:
                    if not retries:
                        raise
            self.workspace.refresh_snapshot()
            self._being_written[qualified] = self.workspace.snapshot.fingerprints[qualified]
            return {"digest": cell.digest, "line": cell.line, **self._progress()}

    def check(self, payload: Payload) -> Reply:
        """Check one function, record its result, and return the report.

        With `diagnose` false, mistakes are not looked for, which may take longer than the check; the reply says whether
        there is one to look for with another check.
        """
        diagnose = payload.get("diagnose") is not False
        with self._lock:
            function = self._function(payload)
            FileCells(self.workspace.folder, function.partition(".")[0], self.curriculum)  # for its messages
        result, badges = self._check((function,), diagnose=diagnose, current_function=function)
        with self._lock:
            self._checked[function] = result.checks
            can_be_diagnosed = any(c.status in DIAGNOSED and not c.file_at_fault for c in result.checks)
            following = None
            if result.passed and (name := progress.next_unfinished(self.workspace.statuses, self.curriculum, function)):
                module = name.partition(".")[0]
                following = {"function": name, "module": module, "title": self.curriculum.modules[module].title}
            return {
                "report": page_report(to_document(result, self.curriculum)),
                **self._progress(),
                "badges": badges,
                "undiagnosed": not diagnose and can_be_diagnosed,
                "next": following,
            }

    def debug(self, payload: Payload) -> Reply:
        """Return the program that repeats the failed call of a function's latest check."""
        with self._lock:
            if (checks := self._checked.get(function := self._function(payload))) is None:
                raise UsageError("the failed call is not known any more. Check the function again")
            check = failed_call.first_called(checks, function)
            return {"text": failed_call.script(check, self.workspace, self.curriculum.package)}

    def hint(self, payload: Payload) -> Reply:
        """Return the hints of a function that were shown before, at least the first, and one `more` if wanted."""
        with self._lock:
            function, state = self._function(payload), self.workspace.state
            steps = hints.require_steps(function, self.curriculum.package)
            state.refresh()
            count = hints.show_more(state, function, bool(payload.get("more") and hints.shown_count(state, function)))
            return {"steps": steps[:count], "total": len(steps)}

    def reset(self, payload: Payload) -> Reply:
        """Restore the stub of a function, or the whole file if it is missing, and keep a backup."""
        with self._lock:
            module, _, function = (qualified := self._function(payload)).partition(".")
            folder = self.workspace.folder
            self._require_file(module)
            self._require_own_backups()
            path = folder / f"{module}.py"
            if not path.exists() and not path.is_symlink():
                backup = files.reset(folder, module, self.curriculum)
            else:
                cells = FileCells(folder, module, self.curriculum)
                cell = cells.find(function)
                if cell is None:
                    backup = files.reset(folder, qualified, self.curriculum)
                else:
                    text = cells.text_with_stub(function, cell)
                    backup = files.back_up(path)
                    cells.overwrite(cell, text)
            cell = FileCells(folder, module, self.curriculum).require(function)
            return {"text": cell.text, "digest": cell.digest, "backup": backup.as_posix() if backup else ""}

    def copy(self, payload: Payload) -> Reply:
        """Copy what is written in an assignment's notebook into its file, which counts from then on; keep a backup."""
        with self._lock:
            module = self._assignment(payload).module
            self._refuse_links()
            self._require_own_backups()
            self.workspace.state.refresh()
            return {"backup": copy_version(self.workspace, module, "file").as_posix()}

    def solution(self, payload: Payload) -> Reply:
        """Return the solution of a function, by the rules of `headway solution`.

        If it does not pass yet, return the question to ask first; a request with `give_up` then returns the solution.
        """
        function, give_up = self._function(payload), payload.get("give_up") is True
        with self._lock:
            self.workspace.refresh_snapshot()
            unknown = function not in self.workspace.statuses and not self.workspace.snapshot.is_stub(function)
        if unknown:
            self._check((function,), current_function=function)
        with self._lock:
            passed = {name for name, status in self.workspace.statuses.items() if status == "passed"}
            try:
                solutions.require_solutions_allowed(self.workspace, [function], passed, give_up=give_up)
            except solutions.SolutionRefused as error:
                if error.rule == "give-up":
                    question = "Show its solution now? It is recorded that you have seen it."
                    return {"question": f"{function} does not pass yet. {question}"}
                if error.rule == "never":
                    raise UsageError("Your instructor has disabled solutions. Ask for a hint instead.") from None
                reason = "Your instructor shows solutions only after they pass."
                raise UsageError(f"{function} does not pass yet. Ask for a hint instead. {reason}") from None
            return {"text": solutions.solution_of(function, self.curriculum)}

    def plots(self, payload: Payload) -> Reply:
        """Return the plots that an assignment's functions can draw."""
        module = self._assignment(payload).module
        return {"plots": plot_data.plots_of(module) if self.curriculum.is_built_in else []}

    def draw(self, payload: Payload) -> Reply:
        """Return a plot that the student's functions compute."""
        self._refuse_links()
        name = _text(payload, "name")
        with plot_data.functions_in_folder(self.workspace.module_folder, self._start) as functions:
            return {"plot": plot_data.draw(name, functions)}

    def run(self, payload: Payload) -> Reply:
        """Run an experiment of a lesson, and return what it printed, its time, and why it ended early, if it did."""
        module, name = self._assignment(payload).module, _text(payload, "name")
        if self._run_experiment is None or name not in experiments.names(module, self.curriculum):
            raise UsageError("this lesson has no such experiment. Reload the page")
        folder = self.workspace.folder
        files.refuse_links(folder, (path.name for path in folder.glob("*.py")))  # It may import any of them.
        if not (folder / f"{module}.py").is_file():
            raise UsageError(f"{module}.py is missing. Restore it: headway reset {module}")
        return dataclasses.asdict(self._run_experiment(module, name))

    def export(self, payload: Payload) -> Reply:
        """Return the archive of `headway submit`; everything is checked first."""
        with self._lock:
            archive.refuse_outside_links(self.workspace.folder)
            self.workspace.refresh_snapshot()
            archive.require_decided(self.workspace)
        result, _ = self._check(tuple(self.curriculum.functions), diagnose=False)
        with self._lock:
            return self.pack(result)

    def pack(self, result: SubmissionResult) -> Reply:
        """Return the archive of the workspace with a result."""
        name = self.workspace.folder.name
        contents = archive.collect_files(self.workspace)
        manifest = archive.make_manifest(clean_name(name), contents, result, self.workspace.state)
        content = base64.b64encode(archive.make_archive(contents, manifest))
        return {"name": f"{archive.safe_file_name(name)}.zip", "base64": content.decode()}

    def import_(self, payload: Payload) -> Reply:
        """Write the modules of such an archive into the workspace, with backups."""
        with self._lock:
            try:
                content = base64.b64decode(_text(payload, "base64"), validate=True)
            except (binascii.Error, ValueError):
                raise UsageError("the archive did not arrive whole. Choose the file again") from None
            self._require_own_backups()
            state = self.workspace.state
            state.refresh()
            notes = archive.import_archive(self.workspace.folder, content, state, notebooks=False)
            state.save()
            return {"notes": notes}

    def changes(self) -> list[Reply]:
        """Return an event for each assignment's file that has changed since the last call."""
        with self._lock:
            self.workspace.refresh_after_save()
            contents = self.workspace.snapshot.contents
            before, self._reported = self._reported, contents
            if contents == before:
                return []
            changed = [name for name in self.curriculum.modules if contents.get(name) != before.get(name)]
            last = self.progress_event()
            events: list[Reply] = []
            for name in changed:
                cells, notes = {}, []
                try:
                    cells = self._cells(self.curriculum.modules[name])
                except UsageError as error:
                    notes = [str(error)]
                event = {"event": "changed", "module": name, "cells": cells, "notes": notes}
                events.append(event | {"statuses": last["statuses"]})
            return [*events, last]

    def progress_event(self) -> Reply:
        """Return the event with the statuses and points of the whole course."""
        with self._lock:
            return {"event": "statuses", **self._progress()}

    def _check(
        self,
        functions: tuple[str, ...],
        check: Check | None = None,
        *,
        diagnose: bool = True,
        current_function: str | None = None,
    ) -> tuple[SubmissionResult, list[str]]:
        """Check functions and record the results of those whose code did not change meanwhile; return badges, too."""
        self._refuse_links()
        with self._lock:
            self.workspace.refresh_snapshot()
            for name in functions:
                self._being_written.pop(name, None)
            before = self.workspace.snapshot
            known = {name: status for name, status in self.workspace.known_statuses.items() if name not in functions}
        result = (check or self._check_functions)(functions, known, diagnose)
        with self._lock:
            self.workspace.locate(result)
            self.workspace.refresh_snapshot()
            now = self.workspace.snapshot
            changed = {name for name in functions if before.fingerprints[name] != now.fingerprints[name]}
            if changed:
                result.notes.append("The code was changed during this check, so its result is not recorded.")
            unchanged = [check for check in result.checks if check.function not in changed]
            recorded = dataclasses.replace(result, checks=unchanged)
            return result, self.workspace.record(recorded, current_function=current_function)

    def _cells(self, assignment: Assignment) -> dict[str, Reply]:
        cells = FileCells(self.workspace.folder, assignment.module, self.curriculum)
        if (notebook := self.workspace.notebook_modules.get(assignment.module)) is not None:
            return self._notebook_cells(assignment, notebook)
        shown: dict[str, Reply] = {}
        for name in cells.functions:
            if (cell := cells.find(name)) is not None:
                about = {"digest": cell.digest, "line": cell.line, "shared_with": cells.shared_with(name, cell)}
                shown[f"{assignment.module}.{name}"] = {"text": cell.text, **about}
        return shown

    def _notebook_cells(self, assignment: Assignment, module: str) -> dict[str, Reply]:
        """Return the functions of a notebook that counts, each below a line that says so."""
        text = "\n\n\n".join(part for _, _, part in notebook_parts(module))
        name = assignment.module
        head = f"# {self.workspace.file_of(name)} counts, and this is its code. {_edit_notebook(name)}\n"
        return {
            f"{name}.{function}": {"text": head + code, "digest": "", "line": 1, "shared_with": []}
            for function in self.curriculum.function_names[name]
            if (code := function_text(text, function))
        }

    def _progress(self) -> Reply:
        """Return the status of every function as it is now, None if it must be checked to know, and the points."""
        known = self.workspace.known_statuses
        current = {name: entry for name, entry in self.workspace.progress.items() if name in self.workspace.statuses}
        earned, possible = progress.total_points(current, self.curriculum)
        statuses = {name: known.get(name) for name in self.curriculum.functions}
        return {"statuses": statuses, "points": {"earned": earned, "possible": possible}}

    def _function(self, payload: Payload) -> str:
        name = _text(payload, "function")
        if name not in self.curriculum.functions:
            raise UsageError("this course has no such function. Reload the page")
        return name

    def _assignment(self, payload: Payload) -> Assignment:
        name = _text(payload, "module")
        if name not in self.curriculum.modules:
            raise UsageError("this course has no such assignment. Reload the page")
        return self.curriculum.modules[name]

    def _refuse_links(self) -> None:
        """Raise UsageError if a file of an assignment is a link: checks and plots import them all."""
        files.refuse_links(self.workspace.folder, (f"{module}.py" for module in self.curriculum.modules))

    def _require_own_backups(self) -> None:
        if (self.workspace.folder / files.BACKUPS).is_symlink():
            raise UsageError(f"nothing was changed: {files.BACKUPS}/ is a link. Replace it with a folder")


def _edit_notebook(module: str) -> str:
    return f"Edit it there, or bring it into {module}.py: headway copy {module} --to file"


def _text(payload: Payload, name: str) -> str:
    value = payload.get(name)
    if not isinstance(value, str):
        raise UsageError(f"the page sent no valid {name!r}. Reload it")
    return value
