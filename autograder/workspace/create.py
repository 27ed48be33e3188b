"""Make a workspace: the stubs in a folder of the student's own. Work that is there is never touched."""

import json
from pathlib import Path

from autograder import __version__
from autograder.curriculum import Curriculum, registry
from autograder.curriculum.stubs import bundled
from autograder.errors import UsageError
from autograder.workspace import files as keep
from autograder.workspace import state
from autograder.workspace.progress import KIT

NOTEBOOKS = "notebooks"
README = """\
# {title}

{order}: {modules}.

    headway

watches this folder: it says what is wrong each time you save, and has keys for hints and for what comes next. Open a
file in your editor, read it from the top, and replace each `raise NotImplementedError(...)` by your own NumPy.

Without watching:

{commands}
"""
COMMANDS = {
    "check {module}": "one assignment",
    "check {function}": "one function",
    "list": "how far you are",
    "hint {function}": "stuck? a question first, --more for more",
    "solution {function}": "the solution, after yours passes; headway diff shows both",
    "reset {function}": "start it again (your version goes into backups/)",
    "train": "train your GPT, as soon as parts of it pass",
    "submit": "one file to hand in",
}
TASKS = {
    "version": "2.0.0",
    "tasks": [
        {
            "label": "headway: watch",
            "type": "shell",
            "command": "headway watch",
            "isBackground": True,
            "problemMatcher": [],
            "presentation": {"panel": "dedicated", "reveal": "always"},
        },
        {
            "label": "headway: check this file",
            "type": "shell",
            "command": "headway check ${fileBasenameNoExtension}",
            "problemMatcher": [],
            "group": {"kind": "test", "isDefault": True},
        },
    ],
}
EXTENSIONS = {"recommendations": ["ms-python.python", "charliermarsh.ruff"]}
IGNORED = "__pycache__/\nbackups/\n.headway.json\n*.safetensors\n"


def readme(curriculum: Curriculum) -> str:
    """What the course is about and how to work on it, for the workspace."""
    own = curriculum.package == registry.BUILT_IN
    example = "softmax.softmax" if own else next(iter(curriculum.functions))
    lines = {
        f"    headway {command.format(module=example.partition('.')[0], function=example)}": text
        for command, text in COMMANDS.items()
        if own or command != "train"
    }
    width = max(map(len, lines))
    return README.format(
        title=curriculum.title,
        order="Twelve files, each built on those before it, in this order" if own else "What there is to write",
        modules=", ".join(curriculum.modules),
        commands="\n".join(f"{command:{width}} {text}" for command, text in lines.items()),
    )


def files(curriculum: Curriculum) -> dict[str, bytes]:
    """Everything that belongs into a new workspace, by its path in it."""
    found = {f"{module}.py": keep.stub_text(module, curriculum).encode() for module in curriculum.modules}
    found["README.md"] = readme(curriculum).encode()
    found[".vscode/tasks.json"] = (json.dumps(TASKS, indent=2) + "\n").encode()
    found[".vscode/extensions.json"] = (json.dumps(EXTENSIONS, indent=2) + "\n").encode()
    found[".gitignore"] = IGNORED.encode()
    if curriculum.package == registry.BUILT_IN:
        for notebook in sorted((bundled("assignments") / NOTEBOOKS).glob("*.ipynb")):
            found[f"{NOTEBOOKS}/{notebook.name}"] = notebook.read_bytes()
    return found


def create(folder: Path, curriculum: Curriculum) -> list[str]:
    """Write stubs, notebooks, a README and editor settings into `folder`, made if it does not exist.

    Returns:
        What was done, and the next two commands, one line each.

    Raises:
        UsageError: if the folder cannot be written, or is a workspace of another course.
    """
    before = state.load(folder).curriculum
    if before != curriculum and state.is_workspace(folder):
        raise UsageError(
            f"{folder} is a workspace of the course {before.name!r}. Name another folder: headway init DIR"
        )
    written, kept = [], []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files(curriculum).items():
            (folder / name).parent.mkdir(exist_ok=True)
            try:
                with open(folder / name, "xb") as file:
                    file.write(content)
                written.append(name)
            except FileExistsError:
                kept.append(name)
    except OSError as error:
        raise UsageError(
            f"cannot write to {folder} ({error.strerror}). Name another folder: headway init DIR"
        ) from None
    remembered = state.load(folder)
    remembered.content.setdefault(KIT, __version__)
    if curriculum.name != registry.DEFAULT:
        remembered.content[state.COURSE] = curriculum.name
    given = remembered.section(keep.STUBS)
    for module in curriculum.modules:
        if f"{module}.py" in written:
            given[f"{module}.py"] = keep.digest(keep.stub_text(module, curriculum))
    remembered.save()
    lines = [f"{folder}: {len(written)} files written" + (f", {len(kept)} left as they are" if kept else "")]
    first = next(iter(curriculum.modules))
    return [*lines, "Next:", f"    cd {folder}", f"    headway                   (then open {first}.py in your editor)"]
