"""Generate stubs from solutions: `solutions/*.py` are the only source of lessons, stubs and notebooks.

A stub keeps the lesson cells, the imports and the code that students are given. Of each function that students write
it keeps signature and docstring; the body becomes `raise NotImplementedError("module.function")`. Private helpers
(`_name`) are part of the solution and are removed. The estimated time is added below the title and below the heading of
each function (`duration`).

The files are in jupytext's percent format, with three kinds of cells:

    # %% [markdown]                        the lesson: comments in stubs, text in notebooks, where the outcome of an
                                           experiment and the answers (headings: `FOLDED`) are collapsed
    # %%                                   code. An experiment begins with `EXPERIMENT`, so that `python softmax.py`
                                           runs it and an import does not; notebooks omit that line. A further
                                           experiment adds ` and "NAME" in sys.argv` and runs only if it is named
    # %% tags=["active-ipynb"]             only in notebooks, code or [markdown]: plots. The tag is jupytext's: in the
                                           file the code is commented out

A picture in a lesson is a file beside the module: `![what it shows](figures/NAME.svg)`. Notebooks contain its content.
"""

import ast
import re
import textwrap
from pathlib import Path

from autograder.core.text import counted
from autograder.course import Assignment, Curriculum
from autograder.course.model import DIFFICULTY, duration
from autograder.errors import HeadwayError

NOTEBOOK_ONLY = "active-ipynb"  # The tag of cells that only notebooks contain.
EXPERIMENT = 'if __name__ == "__main__":'
FOLDED = ("## What came out", "## Answers")  # How the headings begin of what students should guess first.
PICTURE = re.compile(r"!\[([^\]]*)\]\((figures/[\w-]+\.svg)\)")  # what it shows, and its file
_EXPERIMENT_LINE = re.compile(rf'{re.escape(EXPERIMENT[:-1])}(?: and "(\w+)" in sys\.argv)?:\n')
_PACKAGE = Path(__file__).parents[1]


def bundled(name: str) -> Path:
    """Return the folder `assignments`, `solutions` or `data`, in the wheel or beside the package in a clone."""
    in_wheel = _PACKAGE / "_bundle" / name
    return in_wheel if in_wheel.is_dir() else _PACKAGE.parent / name


def make_stub(source: str, module: str, curriculum: Curriculum, *, notebook: bool = False) -> str:
    """Return the stub of one solution, made from its source; `notebook` keeps the cells that only notebooks contain.

    Raises HeadwayError if a function of the course is missing in the solution, or one of them has no docstring.
    """
    missing = {function.name for function in curriculum.modules[module].functions}
    source = with_effort(source, module, curriculum)
    if not notebook:  # Remove each cell with the tag, up to the beginning of the next cell.
        source = re.sub(rf"(?m)^# %%.*{NOTEBOOK_ONLY}.*\n((?!# %%).*\n)*", "", source)
    tree = ast.parse(source)
    lines = source.splitlines()
    for node in reversed(tree.body):  # From the bottom up, so that line numbers above stay valid.
        if isinstance(node, ast.FunctionDef) and node.name in missing:
            missing.discard(node.name)
            docstring = node.body[0]
            if ast.get_docstring(node) is None or docstring.end_lineno is None or node.end_lineno is None:
                raise HeadwayError(f"solutions/{module}.py: {node.name} has no docstring")
            lines[docstring.end_lineno : node.end_lineno] = [f'    raise NotImplementedError("{module}.{node.name}")']
        elif private_names(node):
            start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1
            del lines[with_comments_above(lines, start) : node.end_lineno]
    if missing:
        raise HeadwayError(f"solutions/{module}.py does not define {', '.join(sorted(missing))}")
    return _tidy(lines)


def with_effort(source: str, module: str, curriculum: Curriculum) -> str:
    """Add the estimated time of the assignment below its title, and of each function below its heading.

    The title is the first heading of a lesson cell (`# # Softmax`); a function's heading names it in backticks
    (`# ## …`). The source of a course without estimates is returned unchanged.
    """
    assignment = curriculum.modules[module]
    functions = {function.name: function for function in assignment.functions if function.minutes}
    result: list[str] = []
    titled = False
    for line in source.splitlines():
        result.append(line)
        heading = re.match(r"# (#{1,2}) (?:[^`]*`(\w+)`)?", line)
        if heading is None:
            continue
        if heading[1] == "#" and functions and not titled:
            titled = True
            result += ["#", f"# *{_assignment_effort(assignment, curriculum.total)}*"]
        elif heading[1] == "##" and (function := functions.pop(heading[2], None)):
            difficulty = DIFFICULTY.get(function.difficulty, "")
            result += ["#", f"# *{duration(function.minutes)}{', ' if difficulty else ''}{difficulty}*"]
    return "\n".join(result) + "\n"


def _assignment_effort(assignment: Assignment, count: int) -> str:
    bonus = [function for function in assignment.functions if function.bonus]
    functions, time = counted(len(assignment.functions) - len(bonus), "function"), duration(assignment.minutes)
    text = f"Assignment {assignment.number} of {count} · {functions} · about {time} to write them"
    if bonus:
        text += f" · bonus: {len(bonus)} more, {duration(sum(function.minutes for function in bonus))}"
    return text


def experiment(cell: str) -> str | None:
    """Return the code of an experiment as a notebook contains it; None if the cell is not an experiment."""
    found = _EXPERIMENT_LINE.match(cell)
    return textwrap.dedent(cell[found.end() :]).strip() if found else None


def experiment_name(cell: str) -> str | None:
    """Return the name that runs an experiment, "" for the main one; None if the cell is not an experiment."""
    found = _EXPERIMENT_LINE.match(cell)
    return (found[1] or "") if found else None


def private_names(node: ast.stmt) -> set[str]:
    """Return the private names that a statement defines, that is, helpers of the solution."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name} if node.name.startswith("_") else set()
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    names = [part for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
    return {name.id for name in names if isinstance(name.ctx, ast.Store) and re.match("_.", name.id)}


def with_comments_above(lines: list[str], start: int) -> int:
    """Return the first line of the comment directly above line `start` (both from 0)."""
    while start > 0 and lines[start - 1].startswith("#") and not lines[start - 1].startswith("# %%"):
        start -= 1
    return start


def _tidy(lines: list[str]) -> str:
    """Remove code cells that became empty, and runs of more than two blank lines."""
    text = re.sub(r"(?m)^# %%\n+(?=# %%|\Z)", "", "\n".join([*lines, ""]))
    # Two blank lines after a function and one elsewhere, like the formatter.
    text = re.sub(r"(?m)^(    .*)\n+(?=# %%)", r"\1\n\n\n", text)
    text = re.sub(r"(?m)^((?!    ).+)\n+(?=# %%)", r"\1\n\n", text)
    return re.sub(r"\n{4,}", "\n\n\n", text).rstrip("\n") + "\n"


def make_stubs(solutions: Path, curriculum: Curriculum) -> dict[str, str]:
    """Return every stub by its file name, generated from the folder of solutions."""
    return {
        f"{module}.py": make_stub((solutions / f"{module}.py").read_text("utf-8"), module, curriculum)
        for module in curriculum.modules
    }
