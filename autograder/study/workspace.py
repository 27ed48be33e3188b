"""Make a workspace: the stubs in a folder of the student's own. Work that is there is never touched."""

import json
from pathlib import Path

from autograder import __version__
from autograder.curriculum import TRANSFORMER
from autograder.errors import UsageError
from autograder.source import bundled
from autograder.study import keep, state
from autograder.study.progress import KIT

NOTEBOOKS = "notebooks"
README = """\
# My GPT

Twelve files, each built on those before it, in this order: {modules}.

    headway

watches this folder: it says what is wrong each time you save, and has keys for hints and for what comes next. Open a
file in your editor, read it from the top, and replace each `raise NotImplementedError(...)` by your own NumPy.

Without watching:

    headway check softmax            one assignment
    headway check softmax.softmax    one function
    headway list                     how far you are
    headway hint softmax.softmax     stuck? a question first, --more for more
    headway solution softmax.softmax the solution, after yours passes; headway diff shows both
    headway reset softmax.softmax    start it again (your version goes into backups/)
    headway train                    train your GPT, as soon as parts of it pass
    headway submit                   one file to hand in
"""
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


def files() -> dict[str, bytes]:
    """Everything that belongs into a new workspace, by its path in it."""
    found = {f"{module}.py": keep.stub_text(module).encode() for module in TRANSFORMER.modules}
    found["README.md"] = README.format(modules=", ".join(TRANSFORMER.modules)).encode()
    found[".vscode/tasks.json"] = (json.dumps(TASKS, indent=2) + "\n").encode()
    found[".vscode/extensions.json"] = (json.dumps(EXTENSIONS, indent=2) + "\n").encode()
    found[".gitignore"] = IGNORED.encode()
    for notebook in sorted((bundled("assignments") / NOTEBOOKS).glob("*.ipynb")):
        found[f"{NOTEBOOKS}/{notebook.name}"] = notebook.read_bytes()
    return found


def create(folder: Path) -> list[str]:
    """Write stubs, notebooks, a README and editor settings into `folder`, made if it does not exist.

    Returns:
        What was done, and the next two commands, one line each.

    Raises:
        UsageError: if the folder cannot be written.
    """
    written, kept = [], []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files().items():
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
    given = remembered.section(keep.STUBS)
    given.update({f"{m}.py": keep.digest(keep.stub_text(m)) for m in TRANSFORMER.modules if f"{m}.py" in written})
    remembered.save()
    lines = [f"{folder}: {len(written)} files written" + (f", {len(kept)} left as they are" if kept else "")]
    first = next(iter(TRANSFORMER.modules))
    return [*lines, "Next:", f"    cd {folder}", f"    headway                   (then open {first}.py in your editor)"]
