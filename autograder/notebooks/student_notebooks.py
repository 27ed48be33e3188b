"""Notebooks from the solutions: for a student who learns alone, and the instructor's source of an nbgrader course.

Both have the lesson as text, the code cells of the module, and after each function of the contract a cell that checks
it. The student's has stubs. The instructor's has solutions between nbgrader's marks, and cells that are graded.
"""

import ast
from pathlib import Path

from autograder.curriculum import Curriculum
from autograder.curriculum.stubs import is_private, make_stub, with_comments_above, with_effort
from autograder.errors import HeadwayError
from autograder.notebooks import cells as making
from autograder.notebooks.cell_statements import Cell, Statement, imported_roots, read_statements

IMPORT = "from autograder.notebooks.api import check"
SOLUTION = ("### BEGIN SOLUTION", "### END SOLUTION")
HELPERS = "# Helpers of your own, if you want any:"
HIDDEN = ("### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS")


def student_notebook(solution: str, module: str, curriculum: Curriculum) -> str:
    """A notebook with stubs, and a cell `check(function)` after each of them."""
    found = [*making.read_cells(make_stub(solution, module, curriculum, notebook=True))]
    made = []
    for kind, text in found:
        if kind == "markdown":
            made.append(making.markdown(text))
            continue
        if not any(cell["cell_type"] == "code" for cell in made):
            made.append(making.code(IMPORT))
        made.append(making.code(text))
        made += [making.code(f"check({name})") for name in _defined(text, module, curriculum)]
    return making.notebook(module, made)


def instructor_notebook(
    solution: str, module: str, points: dict[str, float], curriculum: Curriculum, hidden_seed: int
) -> str:
    """nbgrader's source notebook: given cells are locked, solutions are marked, every function has a graded cell.

    Args:
        points: possible points by qualified name.
        hidden_seed: the inputs that graded cells draw when nbgrader grades; students get the public ones. 0: the same.
    """
    found = making.read_cells(with_effort(solution, module, curriculum))
    due = _tested_after(found, module, curriculum)
    made = []
    given = 0
    for i, (kind, text) in enumerate(found):
        if kind == "markdown":
            made.append(making.markdown(text))
            continue
        if kind == "play":
            made.append(making.code(text))  # neither locked nor graded: to be changed and run again
            continue
        if not given:
            made.append(making.code(IMPORT + ", grade", locked=True, grade_id="headway"))
        marked = _marked(text, module, curriculum)
        given += 1
        if marked == text:
            made.append(making.code(text, locked=True, grade_id=f"given-{given}"))
        else:
            names = _defined(text, module, curriculum)
            made.append(
                making.code(marked, solution=True, grade_id=f"{names[0] if names else f'own-{given}'}-solution")
            )
        made += [_test(name, module, points, curriculum, hidden_seed) for name in due[i]]
    return making.notebook(module, made)


def _test(name: str, module: str, points: dict[str, float], curriculum: Curriculum, seed: int) -> making.Node:
    """The graded cell of a function. Its id is the function's name, as in the gradebook that our export writes."""
    qualified = f"{module}.{name}"
    # nbgrader knows no points beyond the full ones: what bonus work earns is extra credit, which only ours can write.
    worth = 0.0 if curriculum.functions[qualified].bonus else points[qualified]
    begin, end = HIDDEN
    hidden = f"{begin}\ngrade.seed = {seed}\n{end}\n" if seed else ""
    text = f'from autograder.notebooks.api import grade\n\n{hidden}grade("{qualified}", points={worth:g})'
    return making.code(text, grade=True, locked=True, points=worth, grade_id=name)


def _defined(text: str, module: str, curriculum: Curriculum) -> list[str]:
    names = {function.name for function in curriculum.modules[module].functions}
    return [n.name for n in ast.parse(text).body if isinstance(n, ast.FunctionDef) and n.name in names]


def _tested_after(found: list[tuple[str, str]], module: str, curriculum: Curriculum) -> dict[int, list[str]]:
    """By number of the cell, the functions whose solution is complete with it: helpers may stand in later cells."""
    statements = [
        (i, statement)
        for i, (kind, text) in enumerate(found)
        if kind == "code"
        for statement in read_statements([Cell("", text)])
        if isinstance(statement, Statement)
    ]
    due: dict[int, list[str]] = {i: [] for i in range(len(found))}
    for function in curriculum.modules[module].functions:
        needed, last, size = {function.name}, 0, 0
        while size != len(needed):
            size = len(needed)
            for i, statement in statements:
                if statement.makes & needed:
                    needed |= statement.uses
                    last = max(last, i)
        due[last].append(function.name)
    return due


def _marked(text: str, module: str, curriculum: Curriculum) -> str:
    """A code cell with nbgrader's marks around what students write; unchanged if everything in it is given.

    What stands between the marks becomes a comment in the released notebook. A function's stub goes on after it, so
    that private helpers at the top of a cell leave nothing that could raise.
    """
    lines = text.split("\n")
    begin, end = SOLUTION
    contract = set(_defined(text, module, curriculum))
    for node in reversed(ast.parse(text).body):
        assert node.end_lineno is not None
        if isinstance(node, ast.FunctionDef) and node.name in contract:
            body = node.body[0].end_lineno
            assert body is not None
            stub = f'    raise NotImplementedError("{module}.{node.name}")'
            lines[body : node.end_lineno] = [f"    {begin}", *lines[body : node.end_lineno], f"    {end}", stub]
        elif is_private(node):
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1
            first = with_comments_above(lines, first)
            lines[first : node.end_lineno] = [begin, *lines[first : node.end_lineno], end]
    return _joined(lines)


def _joined(lines: list[str]) -> str:
    """Regions that follow each other at the top of a cell as one: students need one place for their helpers."""
    begin, end = SOLUTION
    joined: list[str] = []
    if begin in lines:
        lines = [*lines[: lines.index(begin)], HELPERS, *lines[lines.index(begin) :]]
    for line in lines:
        if line == begin:
            back = [i for i, earlier in enumerate(joined) if earlier]
            if back and joined[back[-1]] == end:
                del joined[back[-1]]
                continue
        joined.append(line)
    return "\n".join(joined)


def student_notebooks(solutions: Path, curriculum: Curriculum) -> dict[str, str]:
    """Every student notebook by its file name."""
    return {
        f"{module}.ipynb": student_notebook((solutions / f"{module}.py").read_text("utf-8"), module, curriculum)
        for module in curriculum.modules
    }


def prerequisites(module: str, solutions: Path, curriculum: Curriculum) -> list[str]:
    """The earlier modules that a module imports, directly or not, in course order.

    Raises:
        HeadwayError: if it imports a later one.
    """
    found: set[str] = set()
    waiting = [module]
    while waiting:
        text = (solutions / f"{waiting.pop()}.py").read_text("utf-8")
        new = (imported_roots(text) & curriculum.modules.keys()) - found
        found |= new
        waiting += new
    if module in found:
        raise HeadwayError(f"solutions/{module}.py imports itself")
    return [name for name in curriculum.modules if name in found]
