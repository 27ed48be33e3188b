"""The points that each function can earn, read from the source of the checks, without running anything."""

import ast
from collections import defaultdict

from autograder.curriculum import Curriculum, registry


def points_of(curriculum: Curriculum) -> dict[str, float]:
    """Return the possible points of functions by qualified name, without those whose checks cannot be read."""
    points, unknown = defaultdict[str, float](float), set[str]()
    for module in curriculum.modules:
        for path in registry.check_files(module, curriculum.package):
            tree = ast.parse(path.read_bytes())
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                    for function, value in _graded(node):
                        if value is None:
                            unknown.add(function)
                        else:
                            points[function] += value
    return {name: points[name] for name in curriculum.functions if name in points and name not in unknown}


def _graded(test: ast.FunctionDef) -> list[tuple[str, float | None]]:
    """Return the functions that a test grades, each with its points; None if they depend on what runs."""
    result: list[tuple[str, float | None]] = []
    parametrized = False
    for decorator in test.decorator_list:
        if not isinstance(decorator, ast.Call):
            continue
        name = decorator.func.attr if isinstance(decorator.func, ast.Attribute) else getattr(decorator.func, "id", "")
        if name == "parametrize":
            parametrized = True
        elif name == "graded":
            given = {keyword.arg: keyword.value for keyword in decorator.keywords}.get("points", ast.Constant(1))
            value = float(given.value) if isinstance(given, ast.Constant) else None  # type: ignore[arg-type]
            names = [argument.value for argument in decorator.args if isinstance(argument, ast.Constant)]
            result += [(str(function), value) for function in names]
    return [(function, None if parametrized else value) for function, value in result]
