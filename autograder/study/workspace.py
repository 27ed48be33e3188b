"""Make a workspace: the stubs in a folder of the student's own. Work that is there is never touched."""

from pathlib import Path

from autograder.curriculum import TRANSFORMER
from autograder.errors import UsageError
from autograder.source import bundled

README = """\
# My GPT

One file per assignment, in this order: {modules}.
Read a file from the top, then replace each `raise NotImplementedError(...)` by your own NumPy.

    headway check softmax            one assignment
    headway check softmax.softmax    one function
    headway check                    everything
    headway list                     what there is
    headway hint softmax.softmax     stuck? a question first, --more for more
"""


def create(folder: Path) -> list[str]:
    """Write the stubs and a README into `folder`, made if it does not exist.

    Returns:
        What was done, and the next two commands, one line each.

    Raises:
        UsageError: if the folder cannot be written.
    """
    wanted = {
        f"{module}.py": (bundled("assignments") / f"{module}.py").read_text("utf-8") for module in TRANSFORMER.modules
    }
    wanted["README.md"] = README.format(modules=", ".join(TRANSFORMER.modules))
    written, kept = [], []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in wanted.items():
            try:
                with open(folder / name, "x", encoding="utf-8") as file:
                    file.write(text)
                written.append(name)
            except FileExistsError:
                kept.append(name)
    except OSError as error:
        raise UsageError(
            f"cannot write to {folder} ({error.strerror}). Name another folder: headway init DIR"
        ) from None
    lines = [f"{folder}: {len(written)} files written" + (f", {len(kept)} left as they are" if kept else "")]
    first = next(iter(TRANSFORMER.modules))
    return [*lines, "Next:", f"    cd {folder}", f"    headway check {first}      (then open {first}.py)"]
