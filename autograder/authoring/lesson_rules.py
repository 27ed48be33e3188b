"""Rules for the lessons in `solutions/`: what stubs, notebooks and pages can be made of."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from autograder.authoring.problems import Problem, parse
from autograder.course import Assignment, Curriculum, registry
from autograder.course.stubs import NOTEBOOK_ONLY, PICTURE, make_stub, private_names
from autograder.errors import HeadwayError
from autograder.sandbox.server import IMPORTABLE


def find_problems(assignment: Assignment, curriculum: Curriculum) -> Iterator[Problem]:
    """Yield the broken rules of one lesson."""
    path = registry.solution_path(assignment.module, curriculum.package)
    tree = parse(path)
    if isinstance(tree, Problem):
        yield tree
        return
    text = path.read_text("utf-8")
    functions = list(_function_problems(assignment, tree, path))
    yield from functions
    yield from _import_problems(assignment, curriculum, tree, path)
    yield from _cell_problems(text, path)
    yield from _picture_problems(text, curriculum, path)
    if not functions:
        yield from _stub_problems(assignment, curriculum, tree, text, path)


def _function_problems(assignment: Assignment, tree: ast.Module, path: Path) -> Iterator[Problem]:
    defined = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    for function in assignment.functions:
        node = defined.get(function.name)
        if node is None:
            text = f"the function {function.name} is not defined at the top level"
            yield Problem(path, 0, f"{text}. Define it, or remove it from the course")
        elif ast.get_docstring(node) is None:
            text = f"{function.name} has no docstring. Students read there what it has to do: write one"
            yield Problem(path, node.lineno, text)
        elif len(node.body) < 2:
            yield Problem(path, node.lineno, f"{function.name} has only a docstring. Write the solution")
        elif node.body[0].lineno == node.lineno or node.body[1].lineno == node.body[0].end_lineno:
            text = f"the docstring of {function.name} shares a line with code. Put it on lines of its own"
            yield Problem(path, node.body[0].lineno, text)


def _import_problems(assignment: Assignment, curriculum: Curriculum, tree: ast.Module, path: Path) -> Iterator[Problem]:
    modules = list(curriculum.modules)
    earlier = {*modules[: modules.index(assignment.module)], *curriculum.given_modules}
    beside = {file.stem for file in path.parent.glob("*.py")}
    for node in _imports(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            text = "a solution cannot use a relative import, because students have it in a folder. Import by name"
            yield Problem(path, node.lineno, text)
            continue
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        for name in dict.fromkeys(name.partition(".")[0] for name in names):
            if name in modules and name not in earlier:
                what = "itself" if name == assignment.module else f"{name}, which comes later"
                yield Problem(path, node.lineno, f"{assignment.module} imports {what}. Change the order of the course")
            elif name in earlier or name in sys.stdlib_module_names or name in IMPORTABLE:
                continue
            elif name in beside:
                text = f"{name}.py is not an assignment, so students do not have it. Move its code into this file"
                yield Problem(path, node.lineno, text)
            else:
                allowed = f"the standard library, {', '.join(IMPORTABLE)} and earlier assignments"
                text = f"{name} cannot be imported where student code runs. Use only {allowed}"
                yield Problem(path, node.lineno, text)


def _imports(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the imports of a lesson, without those of experiments, which no check runs."""
    for statement in tree.body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test).startswith("__name__"):
            continue
        for node in ast.walk(statement):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                yield node


def _cell_problems(text: str, path: Path) -> Iterator[Problem]:
    markers = 0
    is_notebook_only = is_lesson = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("# %%"):
            markers += 1
            is_notebook_only, is_lesson = NOTEBOOK_ONLY in line, "[markdown]" in line
        elif line.strip() and not line.startswith("#") and is_notebook_only:
            text = f"the code of a cell tagged {NOTEBOOK_ONLY} would run outside notebooks. Comment it out with # "
            yield Problem(path, number, text.strip())
            is_notebook_only = False
        elif line.strip() and not line.startswith("#") and is_lesson:
            text = "this line of a [markdown] cell does not begin with #. Add it, or begin a cell: # %%"
            yield Problem(path, number, text)
            is_lesson = False
    if not markers:
        yield Problem(path, 1, "there are no cells. Begin the lesson with # %% [markdown], and code with # %%")


def _picture_problems(text: str, curriculum: Curriculum, path: Path) -> Iterator[Problem]:
    known = registry.figure_texts(curriculum)
    for match in PICTURE.finditer(text):
        if match[2] not in known:
            line = text[: match.start()].count("\n") + 1
            yield Problem(path, line, f"the picture solutions/{match[2]} is missing. Add it, or remove this line")


def _stub_problems(
    assignment: Assignment, curriculum: Curriculum, tree: ast.Module, text: str, path: Path
) -> Iterator[Problem]:
    try:
        stub = ast.parse(make_stub(text, assignment.module, curriculum))
    except (HeadwayError, SyntaxError) as error:
        yield Problem(path, 0, f"no stub can be made of this file ({error}). Put each function into a cell of its own")
        return
    private = {name for node in tree.body for name in private_names(node)}
    kept = {node.id for node in ast.walk(stub) if isinstance(node, ast.Name) and node.id in private}
    for name in sorted(kept):
        where = next((n.lineno for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == name), 0)
        for node in tree.body:
            if not private_names(node) and getattr(node, "name", "") not in {f.name for f in assignment.functions}:
                used = [n.lineno for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == name]
                where = used[0] if used else where
        text = f"students get this code, but not {name}: a leading underscore marks helpers of the solution. Rename it"
        yield Problem(path, where, text)
