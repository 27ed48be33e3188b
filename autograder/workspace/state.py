"""The state file of a workspace, `.headway.json`: a JSON object in which each feature changes only its own key."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.core.files import file_stamp, read_plain_file, replace_file
from autograder.course import Curriculum, registry, selection

FILE = ".headway.json"
COURSE = "curriculum"  # key: the name of the workspace's course; absent for the built-in course
ASSIGNMENTS = "assignments"  # key: the names of its assignments; absent if the workspace has all


@dataclass
class State:
    """The content of a workspace's state file, and any problems with it."""

    folder: Path
    content: dict[str, Any] = field(default_factory=dict)  # everything in the file; change it, then call `save`
    notes: list[str] = field(default_factory=list)  # the problems, a line each; none of them stops a command
    _unsaved: bool = False
    _read: tuple[int, ...] | None = None  # what told the file apart from a changed one when it was read or written

    def section(self, key: str) -> dict[str, Any]:
        """Return the dictionary under `key` for reading and changing; a new one if there is no valid one."""
        if not isinstance(self.content.setdefault(key, {}), dict):
            self.notes.append(f"{FILE}: the entry {key!r} is damaged, so it was reset.")
            self.content[key] = {}
        section: dict[str, Any] = self.content[key]
        return section

    @property
    def curriculum(self) -> Curriculum:
        """The workspace's course."""
        return selection.load(self.course_name, self.selected_assignments)

    @property
    def course_name(self) -> str:
        """The name of the workspace's course."""
        name = self.content.get(COURSE)
        return name if isinstance(name, str) else registry.DEFAULT

    @property
    def selected_assignments(self) -> tuple[str, ...]:
        """The assignments that the workspace was made for; empty if it has all."""
        names = self.content.get(ASSIGNMENTS)
        return tuple(name for name in names if isinstance(name, str)) if isinstance(names, list) else ()

    def refresh(self) -> None:
        """Read the file unless it is as it was last read or written; keep changes that could not be saved."""
        path = self.folder / FILE
        if self._unsaved or self._read == file_stamp(path):
            return
        self.content, self._read = {}, file_stamp(path)
        try:
            content = None if path.is_symlink() else json.loads(read_plain_file(path))
            if not isinstance(content, dict):
                raise ValueError
            self.content = content
        except FileNotFoundError:
            pass
        except (OSError, ValueError, RecursionError):
            self.add_note(
                f"{FILE} is damaged or was not written by Headway, so progress and hints start afresh. "
                "Your code is untouched."
            )

    def save(self) -> None:
        """Write the file atomically; add a note if it cannot be written."""
        try:
            replace_file(self.folder / FILE, (json.dumps(self.content, indent=2) + "\n").encode())
            self._unsaved, self._read = False, file_stamp(self.folder / FILE)
        except OSError as error:
            self._unsaved = True
            self.add_note(f"cannot write {FILE} ({error.strerror}), so nothing new is recorded.")

    def add_note(self, note: str) -> None:
        """Add a problem, unless it is noted already."""
        if note not in self.notes:
            self.notes.append(note)


def load(folder: Path) -> State:
    """Return the state of the workspace `folder`; a damaged file counts as empty, and a note reports it."""
    state = State(folder)
    state.refresh()
    return state
