"""Stubs from solutions: `solutions/*.py` are the one source of lessons, stubs and notebooks.

A stub keeps the lesson cells, the imports, everything given, and of each function of the contract its signature and
docstring; the body becomes `raise NotImplementedError("module.function")`. Private helpers (`_name`) are solution.
Under the title, and under the heading of each function, stands how long it takes (`effort.py`).

The files are in jupytext's percent format. Three kinds of cells stand in them:

    # %% [markdown]                        the lesson: in stubs, as comments, and in notebooks. What came out of an
                                           experiment and the answers (`FOLDED`) are folded there
    # %%                                   code. The experiment begins with `EXPERIMENT`, so that `python softmax.py`
                                           runs it and an import does not; in notebooks it is without that line
    # %% tags=["active-ipynb"]             only in notebooks, code or [markdown]: pictures. The tag is jupytext's own:
                                           in the file the code is commented out, and nothing of it runs
"""

import ast
import re
import textwrap
from pathlib import Path

from autograder.curriculum import Assignment, Curriculum
from autograder.curriculum.effort import DIFFICULTY, duration
from autograder.errors import HeadwayError

NOTEBOOK_ONLY = "active-ipynb"  # the tag of cells that are for notebooks
EXPERIMENT = 'if __name__ == "__main__":'
FOLDED = ("## What came out", "## Answers")  # headings of what should not be seen before one has guessed
_PACKAGE = Path(__file__).parents[1]


def bundled(name: str) -> Path:
    """The folder `assignments`, `solutions` or `data`: inside the installed wheel, or beside the package in a clone."""
    inside = _PACKAGE / "_bundle" / name
    return inside if inside.is_dir() else _PACKAGE.parent / name


def make_stub(source: str, module: str, curriculum: Curriculum, *, notebook: bool = False) -> str:
    """The stub of one solution.

    Args:
        source: text of `solutions/<module>.py`.
        module: the assignment's name.
        notebook: whether a notebook is made from it: the cells that are only for notebooks stay.

    Raises:
        HeadwayError: if the solution lacks a function of the contract, or one of them has no docstring.
    """
    contract = {function.name for function in curriculum.modules[module].functions}
    source = with_effort(source, module, curriculum)
    if not notebook:
        source = _without_notebook_cells(source)
    tree = ast.parse(source)
    lines = source.splitlines()
    replaced: dict[int, tuple[int, list[str]]] = {}  # first line (0-based) -> one past the last, new lines
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in contract:
            contract.discard(node.name)
            docstring = node.body[0]
            if ast.get_docstring(node) is None or docstring.end_lineno is None or node.end_lineno is None:
                raise HeadwayError(f"solutions/{module}.py: {node.name} has no docstring")
            body = [f'    raise NotImplementedError("{module}.{node.name}")']
            replaced[docstring.end_lineno] = (node.end_lineno, body)
        elif is_private(node):
            start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1
            start = with_comments_above(lines, start)
            assert node.end_lineno is not None
            replaced[start] = (node.end_lineno, [])
    if contract:
        raise HeadwayError(f"solutions/{module}.py lacks {', '.join(sorted(contract))}")
    return _tidy(_replace(lines, replaced))


def with_effort(source: str, module: str, curriculum: Curriculum) -> str:
    """A solution with times: how long the assignment takes, under its title, and each function, under its heading.

    A title is the first heading of a lesson cell (`# # Softmax`), a function's heading names it (``# ## `softmax` ``).
    A course that says nothing about times is left as it is.
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
            result += ["#", f"# *{_whole(assignment, len(curriculum.assignments))}*"]
        elif heading[1] == "##" and (function := functions.pop(heading[2], None)):
            hard = DIFFICULTY.get(function.difficulty, "")
            result += ["#", f"# *{duration(function.minutes)}{', ' if hard else ''}{hard}*"]
    return "\n".join(result) + "\n"


def _whole(assignment: Assignment, of: int) -> str:
    bonus = [function for function in assignment.functions if function.bonus]
    counted = len(assignment.functions) - len(bonus)
    text = f"Assignment {assignment.number} of {of} · {counted} function{'s' * (counted != 1)}"
    text += f" · about {duration(assignment.minutes)}"
    if bonus:
        text += f" · bonus: {len(bonus)} more, {duration(sum(function.minutes for function in bonus))}"
    return text


def _without_notebook_cells(source: str) -> str:
    kept, keep = [], True
    for line in source.splitlines():
        if line.startswith("# %%"):
            keep = NOTEBOOK_ONLY not in line
        if keep:
            kept.append(line)
    return "\n".join(kept) + "\n"


def experiment(cell: str) -> str | None:
    """The code under `EXPERIMENT`, as it stands in a notebook; None if the cell is no experiment."""
    return textwrap.dedent(cell.removeprefix(EXPERIMENT)).strip() if cell.startswith(EXPERIMENT) else None


def is_private(node: ast.stmt) -> bool:
    """Whether a statement defines a private name: a helper of the solution."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return node.name.startswith("_")
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    names = [name for target in targets for name in (target.elts if isinstance(target, ast.Tuple) else [target])]
    return any(isinstance(name, ast.Name) and name.id.startswith("_") and name.id != "_" for name in names)


def with_comments_above(lines: list[str], start: int) -> int:
    """Where the comment right above line `start` (from 0) begins."""
    while start > 0 and lines[start - 1].startswith("#") and not lines[start - 1].startswith("# %%"):
        start -= 1
    return start


def _replace(lines: list[str], replaced: dict[int, tuple[int, list[str]]]) -> list[str]:
    result: list[str] = []
    position = 0
    while position < len(lines):
        if position in replaced:
            position, new = replaced[position]
            result.extend(new)
        else:
            result.append(lines[position])
            position += 1
    return result


def _tidy(lines: list[str]) -> str:
    """Drop code cells that became empty, and runs of more than two blank lines."""
    result: list[str] = []
    for line in lines:
        if line.startswith("# %%"):
            while result and not result[-1]:
                result.pop()
            if result and result[-1] == "# %%":
                result.pop()
                while result and not result[-1]:
                    result.pop()
            # Two blank lines stand around a function, one elsewhere, as the formatter has it.
            result.extend(["", ""] if result and result[-1].startswith("    ") else [""])
        if not line and result[-2:] == ["", ""]:
            continue
        result.append(line)
    while result and (not result[-1] or result[-1] == "# %%"):
        result.pop()
    return "\n".join(result) + "\n"


def make_stubs(solutions: Path, curriculum: Curriculum) -> dict[str, str]:
    """Every stub by its file name, generated from the folder of solutions."""
    return {
        f"{module}.py": make_stub((solutions / f"{module}.py").read_text("utf-8"), module, curriculum)
        for module in curriculum.modules
    }
