"""What a workspace remembers: one small JSON file in it, `.headway.json`.

Each feature has a key of its own ("hints", …) and leaves the other keys alone, those it does not know too.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.core.files import write_atomically
from autograder.curriculum import Curriculum, registry

FILE = ".headway.json"
COURSE = "curriculum"  # name of the workspace's course; none is the kit's own


@dataclass
class State:
    """The content of the file, and what is to be said about it.

    Attributes:
        folder: the workspace.
        content: the whole content; change it, then `save`.
        notes: one line for each thing that went wrong; nothing of it stops anybody.
    """

    folder: Path
    content: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def section(self, key: str) -> dict[str, Any]:
        """The dictionary under `key`, to be read and changed; an empty one where there is none or something else."""
        if not isinstance(self.content.setdefault(key, {}), dict):
            self.notes.append(f"{FILE}: what it says about {key} cannot be understood. That part starts anew.")
            self.content[key] = {}
        section: dict[str, Any] = self.content[key]
        return section

    @property
    def curriculum(self) -> Curriculum:
        """The course that the workspace is of.

        Raises:
            UsageError: if no package brings it any more.
        """
        name = self.content.get(COURSE, registry.DEFAULT)
        return registry.load(name) if isinstance(name, str) else registry.default()

    def save(self) -> None:
        """Write the file; the old one stays until the new one is whole."""
        text = json.dumps(self.content, indent=2) + "\n"
        try:
            write_atomically(self.folder / FILE, text.encode())
        except OSError as error:
            self.notes.append(f"{FILE} cannot be written ({error.strerror}), so nothing new is remembered.")


def load(folder: Path) -> State:
    """What the workspace `folder` remembers; a damaged or foreign file counts as none, and a note says so."""
    state = State(folder)
    path = folder / FILE
    try:
        if path.exists():
            if not path.is_file():
                raise ValueError
            content = json.loads(path.read_bytes())
            if not isinstance(content, dict):
                raise ValueError
            state.content = content
    except (OSError, ValueError, RecursionError):
        state.notes.append(
            f"{FILE} is damaged, or not Headway's: what it remembered starts anew. Your work is untouched."
        )
    return state


def is_workspace(folder: Path) -> bool:
    """Whether `folder` holds one of the assignments of its course."""
    return any((folder / f"{module}.py").is_file() for module in load(folder).curriculum.modules)
