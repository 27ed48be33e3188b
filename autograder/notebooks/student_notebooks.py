"""Generate notebooks from the solutions: for students, and as the instructor's source of an nbgrader course.

Both have the lesson as text, the code cells of the module, and after each function of the assignment a cell that checks
it. The student's notebook has stubs; the instructor's has solutions between nbgrader's markers, and graded cells.
"""

import ast
import re
from collections.abc import Collection
from pathlib import Path

from autograder.course import Curriculum, registry
from autograder.course.stubs import make_stub, private_names, with_comments_above, with_effort
from autograder.notebooks import cells as notebook_cells
from autograder.parsing.cell_statements import Cell, read_statements

GRADE = "from autograder.notebooks.api import grade"
IMPORT = "from autograder.notebooks.api import check, hint"  # other names are added to it
STUDENT_IMPORTS = ", progress, solution"
SOLUTION = ("### BEGIN SOLUTION", "### END SOLUTION")
HIDDEN = ("### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS")
_SHOW = re.compile(r'(?m)^show\("([\w-]+)"')
Cells = list[tuple[str, str]]  # kinds and texts
NOT_RUN = "skip-execution"  # the tag of cells that nbclient, and with it nbgrader, leaves out


def student_notebook(solution: str, module: str, curriculum: Curriculum) -> str:
    """Return a notebook with stubs and, after each of them, a cell `check(function)`."""
    figures = registry.figure_texts(curriculum)
    cells: list[notebook_cells.NotebookNode] = []
    names = curriculum.function_names[module]
    source = notebook_cells.read_cells(make_stub(solution, module, curriculum, notebook=True))
    for kind, text in _plots_after_functions(source, module, names):
        if kind == "markdown":
            cells += notebook_cells.lesson(text, figures)
            continue
        if not any(cell["cell_type"] == "code" for cell in cells):
            cells.append(notebook_cells.code(_first_cell(curriculum, STUDENT_IMPORTS)))
        cells.append(notebook_cells.code(text))
        cells += [notebook_cells.code(f"check({name})") for name in _defined_functions(text, names)]
    return notebook_cells.notebook_text(module, cells)


def instructor_notebook(
    solution: str, module: str, points: dict[str, float], curriculum: Curriculum, hidden_seed: int, header: str
) -> str:
    """Return nbgrader's source notebook: locked given cells, marked solutions, and a graded cell for each function.

    It begins with `header`, Markdown for students.

    The seed is that of the inputs that nbgrader grades with; 0 stands for the public inputs of released notebooks.
    """
    names = curriculum.function_names[module]
    source = notebook_cells.read_cells(with_effort(solution, module, curriculum))
    source = _plots_after_functions(_helpers_beside_functions(source, names), module, names)
    figures = registry.figure_texts(curriculum)
    functions_after = _functions_complete_after(source, names)
    cells = [notebook_cells.markdown(header.strip())]
    number = 0  # of the code cell
    for i, (kind, text) in enumerate(source):
        if kind == "markdown":
            cells += notebook_cells.lesson(text, figures)
            continue
        if kind == "play":  # Students may change it, so it is neither locked nor graded, nor run when they are graded.
            cells.append(notebook_cells.code(text) | {"metadata": {"tags": [NOT_RUN]}})
            continue
        number += 1
        if number == 1:
            cells.append(notebook_cells.code(_first_cell(curriculum, ", grade"), locked=True, grade_id="headway"))
        marked = _marked_solution(text, names)
        if marked == text:
            cells.append(notebook_cells.code(text, locked=True, grade_id=f"given-{number}"))
        else:
            grade_id = f"{_defined_functions(text, names)[0]}-solution"
            cells.append(notebook_cells.code(marked, solution=True, grade_id=grade_id))
        cells += [_graded_cell(name, module, points, curriculum, hidden_seed) for name in functions_after[i]]
    return notebook_cells.notebook_text(module, cells)


def _first_cell(curriculum: Curriculum, more: str = "") -> str:
    """Return the code cell that imports what the other cells call, and names a course that is not built in."""
    if curriculum.name == registry.DEFAULT:
        return IMPORT + more
    return f'{IMPORT}{more}, use_course\n\nuse_course("{curriculum.name}")'


def _plots_after_functions(source: Cells, module: str, names: Collection[str]) -> Cells:
    """Return the cells with each plot after the last of the functions that it draws, if it is in front of one."""
    last_definition = {
        f"{module}.{name}": i
        for i, (kind, text) in enumerate(source)
        if kind == "code"
        for name in _defined_functions(text, names)
    }
    places = []
    for i, (kind, text) in enumerate(source):
        shown = _SHOW.search(text) if kind == "play" else None
        plot = registry.default().plots.get(shown[1]) if shown else None
        needed = [last_definition.get(name, 0) for name in plot.needs] if plot else []
        place = max([i, *needed])
        places.append((place, place != i, i))  # A plot is moved to after the cell that was there.
    return [source[i] for _, _, i in sorted(places)]


def _graded_cell(
    name: str, module: str, points: dict[str, float], curriculum: Curriculum, seed: int
) -> notebook_cells.NotebookNode:
    """Return the graded cell of a function. Its id is the function's name, as in the gradebook that `export` writes."""
    qualified = f"{module}.{name}"
    # nbgrader cannot give more than the possible points. Points for bonus work are extra credit, set by `export` only.
    possible = 0.0 if curriculum.functions[qualified].bonus else points[qualified]
    begin, end = HIDDEN
    hidden = f"{begin}\ngrade.seed = {seed}\n{end}\n" if seed else ""
    text = f'{GRADE}\n\n{hidden}grade("{qualified}", points={possible:g})'
    return notebook_cells.code(text, grade=True, locked=True, points=possible, grade_id=name)


def _defined_functions(text: str, names: Collection[str]) -> list[str]:
    return [n.name for n in ast.parse(text).body if isinstance(n, ast.FunctionDef) and n.name in names]


def _functions_complete_after(source: Cells, names: Collection[str]) -> dict[int, list[str]]:
    """Return the functions whose solution is complete after each cell; helpers may follow in later cells."""
    statements = [
        (i, statement)
        for i, (kind, text) in enumerate(source)
        if kind == "code"
        for statement in read_statements([Cell("", text)])
    ]
    functions_after: dict[int, list[str]] = {i: [] for i in range(len(source))}
    for name in names:
        needed, last, size = {name}, 0, 0
        while size != len(needed):
            size = len(needed)
            for i, statement in statements:
                if statement.binds & needed:
                    needed |= statement.reads
                    last = max(last, i)
        functions_after[last].append(name)
    return functions_after


def _helpers_beside_functions(source: Cells, names: Collection[str]) -> Cells:
    """Return the cells with all private helpers in cells that define a function of the assignment.

    Those of another cell move to the next one that does, or to the last one.
    """
    cells, moved, last = Cells(), "", None
    for kind, text in source:
        if kind == "code" and _defined_functions(text, names):
            last, text, moved = len(cells), text + moved, ""
        elif kind == "code":
            text, helpers = _without_helpers(text)
            moved += helpers
        if text:
            cells.append((kind, text))
    if moved and last is not None:
        cells[last] = ("code", cells[last][1] + moved)
    return cells


def _without_helpers(text: str) -> tuple[str, str]:
    """Return a code cell without its private helpers, and these with the blank lines above them."""
    lines, helpers = text.split("\n"), list[str]()
    for node in reversed(ast.parse(text).body):
        if private_names(node):
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1
            helper = slice(with_comments_above(lines, first), node.end_lineno)
            gap = [""] if isinstance(node, (ast.Assign, ast.AnnAssign)) else ["", ""]
            helpers = [*gap, *lines[helper], *helpers]
            del lines[helper]
    if not helpers:
        return text, ""
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines).strip("\n")), "\n".join(["", *helpers])


def _marked_solution(text: str, names: Collection[str]) -> str:
    """Return a code cell with nbgrader's markers around the solution; unchanged if students write nothing in it.

    nbgrader replaces a region by a stub that raises, which is right only inside a function. So private helpers move
    into the region of the cell's last function, below its body.
    """
    if not _defined_functions(text, names):
        return text
    text, helpers = _without_helpers(text)
    lines = text.split("\n")
    begin, end = SOLUTION
    for node in reversed(ast.parse(text).body):
        if isinstance(node, ast.FunctionDef) and node.name in names:
            body = slice(node.body[0].end_lineno, node.end_lineno)  # without the docstring
            lines[body] = [f"    {begin}", *lines[body], *helpers.split("\n")[1:], f"    {end}"]
            helpers = ""
    return "\n".join(lines)


def student_notebooks(solutions: Path, curriculum: Curriculum) -> dict[str, str]:
    """Return every student notebook: text by file name."""
    extras = {name.removesuffix(".py"): text for name, text in registry.extra_texts(curriculum.package).items()}
    return {
        f"{module}.ipynb": student_notebook((solutions / f"{module}.py").read_text("utf-8"), module, curriculum)
        for module in curriculum.modules
    } | {f"{name}.ipynb": _notebook_without_checks(name, text) for name, text in extras.items()}


def _notebook_without_checks(name: str, source: str) -> str:
    cells: list[notebook_cells.NotebookNode] = []
    for kind, text in notebook_cells.read_cells(source):
        cells += notebook_cells.lesson(text, {}) if kind == "markdown" else [notebook_cells.code(text)]
    return notebook_cells.notebook_text(name, cells)
