"""The points that each function can earn, read from the source of the checks, without running anything."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from autograder.course import Curriculum, registry


def points_of(curriculum: Curriculum) -> dict[str, float]:
    """Return the possible points of functions by qualified name, without assignments whose checks cannot be read."""
    result: dict[str, float] = {}
    for module in curriculum.modules:
        points = defaultdict[str, float](float)
        try:
            for path in registry.check_files(module, curriculum.package):
                for function, value in _graded(ast.parse(path.read_bytes())):
                    points[function] += value
        except ValueError:  # The points depend on something that is known only when the checks run.
            continue
        result |= {name: points[name] for name in curriculum.functions if name in points}
    return result


def _graded(tree: ast.Module) -> Iterator[tuple[str, float]]:
    """Yield the function and the points of each check; raise ValueError if they are not literals or constants."""
    constants = dict(_constants(tree))

    def value_of(node: ast.expr) -> Any:
        return ast.literal_eval(constants.get(node.id, node) if isinstance(node, ast.Name) else node)

    for test in ast.walk(tree):
        if not isinstance(test, ast.FunctionDef) or not test.name.startswith("test"):
            continue
        for mark in (mark for mark in test.decorator_list if isinstance(mark, ast.Call)):
            name = ast.unparse(mark.func).rpartition(".")[2]
            if name == "parametrize":
                raise ValueError("the number of checks is known only when they run")
            if name == "graded":
                points = [value_of(keyword.value) for keyword in mark.keywords if keyword.arg == "points"]
                for argument in mark.args:
                    names = value_of(argument.value) if isinstance(argument, ast.Starred) else [value_of(argument)]
                    for function in names:
                        yield str(function), float(points[0] if points else 1)


def _constants(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that a module assigns, and their values."""
    for node in [node for node in tree.body if isinstance(node, ast.Assign)]:
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id, node.value
            elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                names = [name.id if isinstance(name, ast.Name) else "" for name in target.elts]
                yield from zip(names, node.value.elts, strict=False)
