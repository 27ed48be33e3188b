"""Create a workspace: stubs, notebooks, a README, editor settings. Existing files are never overwritten."""

import contextlib
import importlib.resources
import json
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from autograder import __version__
from autograder.core.files import read_plain_file, report_read_error
from autograder.core.text import counted
from autograder.course import Curriculum, registry, selection
from autograder.course.stubs import bundled
from autograder.errors import UsageError
from autograder.workspace import files, notebook_files, state
from autograder.workspace.progress import VERSION
from autograder.workspace.workspace import Workspace

ANOTHER_FOLDER = "Name another folder: headway init DIR"
INSTRUCTIONS = "AGENTS.md"  # asks coding assistants in a workspace to tutor; an instructor can replace it
MAX_INSTRUCTIONS = 100_000  # bytes
GIVEN = """
Your assignments import official solutions, which are here, too: {files}. Leave them as they are.
"""
WARM_UP = """
New to NumPy? `numpy_warmup.py` has twelve exercises, about half an hour. They are optional, and not graded.
"""
COMMANDS = {
    "check {module}": "check one assignment",
    "check {function}": "check one function",
    "list": "show your progress",
    "hint {function}": "show a hint; add --more for the next one",
    "solution {function}": "show the solution, once your code passes",
    "diff {function}": "compare your code with the solution, once it passes",
    "reset {function}": "restore the stub (your version is kept in backups/)",
    "train --solution --out destination.safetensors": "see where the course leads: a GPT learns names in a minute",
    "train": "train your GPT; official solutions replace what does not pass yet",
    "generate model.safetensors --lines 10": "let it write",
    "submit": "pack your work into one archive to submit",
}
DESTINATION = "See where the course leads, in a minute: headway train --solution --out destination.safetensors"
GITIGNORE = "__pycache__/\nbackups/\n.headway.json\n*.safetensors\n"


def template(name: str) -> str:
    """Return the text of a template."""
    return (importlib.resources.files("autograder.workspace") / "templates" / name).read_text("utf-8")


def readme_text(curriculum: Curriculum, folder: Path) -> str:
    """Return the workspace's README: what the course contains, how to work on it, and how to come back to it."""
    built_in = curriculum.is_built_in
    example = "softmax.softmax" if "softmax.softmax" in curriculum.functions else next(iter(curriculum.functions))
    descriptions = {
        f"    headway {command.format(module=example.partition('.')[0], function=example)}": description
        for command, description in COMMANDS.items()
        if built_in or command.partition(" ")[0] not in ("train", "generate")
    }
    width = max(map(len, descriptions))
    return template("readme.md").format(
        title=curriculum.title,
        introduction=f"{counted(len(curriculum.modules), 'file')} to write, in this order",
        modules=", ".join(curriculum.modules),
        given=GIVEN.format(files=", ".join(f"`{name}.py`" for name in curriculum.given_modules))
        if curriculum.given
        else "",
        warm_up=WARM_UP if built_in else "",
        commands="\n".join(f"{command:{width}}  {description}" for command, description in descriptions.items()),
        return_commands="\n".join(f"    {command}" for command in return_commands(folder)),
    )


def workspace_files(curriculum: Curriculum, folder: Path, agents: bytes | None = None) -> dict[str, bytes]:
    """Return the files of a new workspace in `folder` by relative path; `agents` replaces the text of AGENTS.md."""
    texts = {f"{module}.py": files.stub_text(module, curriculum) for module in curriculum.modules}
    texts |= files.given_texts(curriculum)
    texts |= {"README.md": readme_text(curriculum, folder), ".gitignore": GITIGNORE}
    texts |= registry.figure_texts(curriculum) | registry.extra_texts(curriculum.package)
    # In tasks.json, the name of a file is quoted: otherwise the shell would run commands in it.
    texts |= {f".vscode/{name}.json": template(f"{name}.json") for name in ("tasks", "extensions")}
    settings = {"python.defaultInterpreterPath": interpreter_path(folder), "python.terminal.activateEnvironment": True}
    texts[".vscode/settings.json"] = json.dumps(settings, indent=2) + "\n"
    contents = {name: text.encode() for name, text in texts.items()}
    contents[INSTRUCTIONS] = agents or template("tutor_instructions.md").encode()
    if curriculum.is_built_in:
        others = registry.default().modules.keys() - curriculum.modules.keys()
        for notebook in sorted((bundled("assignments") / "notebooks").glob("*.ipynb")):
            if notebook.stem not in others:
                contents[f"notebooks/{notebook.name}"] = notebook.read_bytes()
    return contents


def read_instructions(path: Path) -> bytes:
    """Return the content of an instructor's file that replaces AGENTS.md; raise UsageError if it is no text."""
    another = "Name a text file: --agents FILE"
    with report_read_error(path, another):
        content = read_plain_file(path)
    try:
        is_text = b"\0" not in content and bool(content.decode("utf-8").strip())
    except UnicodeError:
        is_text = False
    if not is_text or len(content) > MAX_INSTRUCTIONS:
        reason = "is too large" if len(content) > MAX_INSTRUCTIONS else "is not UTF-8 text, or it is empty"
        raise UsageError(f"{path} {reason}. {another}")
    return content


def add_assignments(workspace: Workspace, names: Sequence[str]) -> Curriculum:
    """Return the course of a workspace that has only the named assignments, besides those that it has already.

    Without names, that is its own course. Raises UsageError for an unknown name, or if the workspace has all.
    """
    if not names:
        return workspace.curriculum
    whole = registry.load(workspace.curriculum.name)
    chosen = whole.select_assignments(names)
    before = workspace.state.selected_assignments if workspace.has_recorded_course else ()
    if workspace.has_assignments and not before:
        raise UsageError(f"{workspace.folder} is a workspace with all assignments of the course. {ANOTHER_FOLDER}")
    return selection.load(whole.name, tuple(name for name in whole.modules if name in {*before, *chosen}))


def create(folder: Path, curriculum: Curriculum, agents: bytes | None = None) -> list[str]:
    """Create a workspace in `folder`, or add the missing files to one; return lines for the user.

    If given, `agents` replaces the text of AGENTS.md.
    """
    existing = Workspace.open(folder)
    if existing.curriculum.name != curriculum.name and existing.has_assignments:
        raise UsageError(f"{folder} is a workspace of the course {existing.curriculum.name!r}. {ANOTHER_FOLDER}")
    contents = workspace_files(curriculum, folder, agents)
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _remove_outdated(existing, curriculum)
        for name, content in contents.items():
            (folder / name).parent.mkdir(exist_ok=True)
            with contextlib.suppress(FileExistsError), open(folder / name, "xb") as file:
                file.write(content)
                written.append(name)
    except OSError as error:
        raise UsageError(f"cannot write to {folder} ({error.strerror}). {ANOTHER_FOLDER}") from None
    recorded = existing.state
    recorded.content.setdefault(VERSION, __version__)
    if curriculum.name != registry.DEFAULT:
        recorded.content[state.COURSE] = curriculum.name
    recorded.content.pop(state.ASSIGNMENTS, None)
    if curriculum.is_selection:
        recorded.content[state.ASSIGNMENTS] = list(curriculum.modules)
    digests = recorded.section(files.STUBS)
    names = [f"{module}.py" for module in curriculum.modules]
    digests |= {name: files.text_digest(contents[name].decode()) for name in names if name in written}
    digests |= {name: notebook_files.digest(contents[name]) for name in written if name.endswith(notebook_files.SUFFIX)}
    recorded.save()
    kept = len(contents) - len(written)
    is_kept = agents is not None and INSTRUCTIONS not in written
    remedy = f"! {INSTRUCTIONS} exists, so it was kept. To replace it, delete it and run this command again."
    solved = ", ".join(f"{name}.py" for name in curriculum.given_modules)
    return [
        f"{folder}: {len(written)} files written" + (f", {kept} existing files kept" if kept else ""),
        *([f"Official solutions, because your assignments import them: {solved}"] if solved else []),
        *([remedy] if is_kept else []),
        "Next:",
        f"    {change_folder(str(folder))}",
        f"    headway          (then open {names[0]} in your editor)",
        *([DESTINATION] if curriculum.is_built_in else []),
    ]


def _remove_outdated(existing: Workspace, curriculum: Curriculum) -> None:
    """Remove unchanged official solutions of what is now an assignment, and an unchanged README, which lists them."""
    for name, solution in files.given_texts(existing.curriculum).items():
        path = existing.folder / name
        if path.stem in curriculum.modules and path.is_file() and path.read_bytes() == solution.encode():
            path.unlink()
    readme = existing.folder / "README.md"
    is_outdated = existing.is_initialized and existing.curriculum != curriculum and readme.is_file()
    if is_outdated and readme.read_bytes() == readme_text(existing.curriculum, existing.folder).encode():
        readme.unlink()


def interpreter_path(folder: Path, executable: str = sys.executable) -> str:
    """Return the path of the Python that runs Headway, as VS Code reads it.

    A path inside the workspace, or beside it, is relative, so that both can be moved together.
    """
    root = Path(os.path.abspath(folder))
    interpreter = Path(os.path.abspath(executable))  # Not resolved: that would leave the virtual environment.
    if interpreter.is_relative_to(root):
        return f"${{workspaceFolder}}/{interpreter.relative_to(root).as_posix()}"
    is_top = root.parent == Path(root.anchor)
    if interpreter.is_relative_to(root.parent) and not is_top and root.parent != Path.home():
        return f"${{workspaceFolder}}/../{interpreter.relative_to(root.parent).as_posix()}"
    return str(interpreter)


def return_commands(folder: Path) -> list[str]:
    """Return the commands to continue in a new terminal: activate the environment, go to the workspace, watch."""
    return [*filter(None, [_activation()]), change_folder(os.path.abspath(folder)), "headway"]


def change_folder(path: str) -> str:
    """Return the command that goes to a folder."""
    if os.name == "nt":
        return f'cd "{path}"' if " " in path else f"cd {path}"
    return f"cd {shlex.quote(path)}"


def _activation() -> str:
    """Return the command that puts `headway` on the path; empty if it is there in every terminal."""
    if name := os.environ.get("CONDA_DEFAULT_ENV"):
        return f"conda activate {shlex.quote(name)}"
    if sys.prefix == sys.base_prefix or _is_tool():
        return ""
    if os.name == "nt":
        return str(Path(sys.prefix, "Scripts", "activate"))
    return f". {shlex.quote(os.path.join(sys.prefix, 'bin', 'activate'))}"


def _is_tool() -> bool:
    """Return whether pipx or `uv tool` installed Headway; both put a link to the command on the path."""
    link = shutil.which("headway")
    if link is not None and Path(link).is_symlink() and Path(link).resolve().is_relative_to(Path(sys.prefix).resolve()):
        return not Path(link).is_relative_to(sys.prefix)
    parts = Path(sys.prefix).parts
    return "pipx" in parts or parts[-3:-1] == ("uv", "tools")
