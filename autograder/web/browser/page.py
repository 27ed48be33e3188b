"""What a page calls in Pyodide: a workspace in Pyodide's file system, and the answers to the page's requests.

Requests and answers are JSON. `pyodide_worker.js` calls `BrowserPage.answer` for each request of the page, and sends
the workspace files that changed with the answer, so that the page can keep them.
"""

import importlib
import json
import traceback
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from autograder import __version__
from autograder.core.files import file_stamp
from autograder.course import registry
from autograder.documents.results import CheckResult, SubmissionResult
from autograder.engine.session import content_hash
from autograder.errors import HeadwayError
from autograder.web.browser.checker import BrowserChecker, MissingAnswers, run_experiment
from autograder.web.lesson_backend import LessonBackend
from autograder.workspace import files
from autograder.workspace.progress import VERSION
from autograder.workspace.workspace import Workspace

Reply = dict[str, Any]
TRAINING = ("train", "training", "stop", "checkpoints", "generate", "advance")  # actions of `training.py`


class BrowserPage:
    """The workspace of a page, and what it answers; `notify` sends an event to the page at once."""

    def __init__(self, folder: str, notify: Callable[[str], None]) -> None:
        self._folder = Path(folder)
        self._curriculum = registry.default()
        self._checker = BrowserChecker(self._folder, self._curriculum, lambda event: notify(json.dumps(event)))
        self._backend: LessonBackend  # since `start`
        self._notes: list[str] = []  # about the start, for the page that opens next
        self._events: list[Reply] = []  # of runs, for the page with the next answer
        self._stamps = self._file_stamps()  # of the files that the page has
        actions = (self._start, self._open, self._warm_up, self._refresh, self._export)
        self._actions = {action.__name__[1:]: action for action in actions}

    def answer(self, action: str, payload: str) -> str:
        """Return the answer to a request.

        It has a `reply` or an `error`, or it says the answers of which assignments it needs first. With it come events
        for the page, and the paths of the files that were changed and removed.
        """
        return json.dumps(self._answer(action, json.loads(payload)) | self._changed_files())

    def _answer(self, action: str, payload: Mapping[str, Any]) -> Reply:
        try:
            if action in self._actions:
                return self._actions[action](payload)
            if action in TRAINING:
                reply = self._runs.actions[action](dict(payload))
                events, self._events = self._events, []
                return {"reply": reply, "events": events}
            return {"reply": self._backend.handle(action, payload)}
        except MissingAnswers as missing:
            return {"need": [missing.module]}
        except HeadwayError as error:
            return {"error": str(error)}
        except MemoryError:
            return {"error": "There was not enough memory for this. Use smaller arrays."}
        except Exception as error:
            lines = traceback.format_exception(error)
            return {"error": f"internal error (please report it): {error!r}", "traceback": "".join(lines)}

    def _start(self, payload: Mapping[str, Any]) -> Reply:
        """Write the stubs that are missing, replace those of an older version, and open the workspace."""
        self._folder.mkdir(parents=True, exist_ok=True)
        workspace = Workspace.open(self._folder, self._curriculum)
        is_new = not workspace.is_initialized
        workspace.state.content.setdefault(VERSION, __version__)
        lines = files.update(self._folder, workspace.state)
        workspace.state.save()
        self._notes = [] if is_new else lines
        self._backend = LessonBackend(
            workspace,
            self._checker.check,
            start=self._checker.start_workers,
            run=partial(run_experiment, self._folder, self._curriculum),
        )
        return {"reply": {}}

    @cached_property
    def _runs(self) -> Any:
        """Train with the modules that only the page that trains has; they are imported by name for that reason."""
        training = importlib.import_module("autograder.web.browser.training")
        return training.BrowserRuns(self._folder, lambda event: self._events.append(event))

    def _open(self, payload: Mapping[str, Any]) -> Reply:
        reply = self._backend.handle("open", payload)
        reply["notes"] += self._notes
        self._notes = []
        return {"reply": reply}

    def _warm_up(self, payload: Mapping[str, Any]) -> Reply:
        """Check an official solution of an assignment, so that the first check of the student's takes no longer."""
        self._checker.warm_up(self._curriculum.modules[payload["module"]])
        return {"reply": {}}

    def _refresh(self, payload: Mapping[str, Any]) -> Reply:
        """Return events about the files that the page has just written, because another tab changed them."""
        self._stamps = self._file_stamps()
        self._backend.workspace.state.refresh()
        return {"reply": {}, "events": self._backend.changes()}

    def _export(self, payload: Mapping[str, Any]) -> Reply:
        """Return the archive of `headway submit`, with the results that are known, which are not used for grades.

        Checking everything first would take a minute, and the answers of all assignments.
        """
        workspace = self._backend.workspace
        workspace.refresh_snapshot()
        workspace.state.refresh()
        statuses = workspace.statuses
        checks = [
            CheckResult(f"{name}::recorded", name, "", statuses[name], entry.possible, entry.earned)
            for name, entry in workspace.progress.items()
            if name in statuses
        ]
        result = SubmissionResult(self._folder.name, content_hash(self._folder), 0, checks)
        return {"reply": self._backend.pack(result)}

    def _file_stamps(self) -> dict[str, tuple[int, ...]]:
        """Return what tells a file's content from an earlier one, by its path in the workspace."""
        paths = (path for path in self._folder.rglob("*") if path.is_file() and path.parent.name != "__pycache__")
        return {path.relative_to(self._folder).as_posix(): file_stamp(path) for path in paths}

    def _changed_files(self) -> dict[str, list[str]]:
        before, self._stamps = self._stamps, self._file_stamps()
        changed = [path for path, stamp in self._stamps.items() if before.get(path) != stamp]
        return {"changed": changed, "removed": [path for path in before if path not in self._stamps]}
