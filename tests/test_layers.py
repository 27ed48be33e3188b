"""The structure of the code: import contracts in pyproject.toml, no circles, names once, short functions."""

import ast
from collections import Counter

import grimp
import pytest
from importlinter.cli import lint_imports
from support.paths import ROOT


@pytest.fixture(scope="module")
def trees():
    return {path: ast.parse(path.read_bytes()) for path in sorted((ROOT / "autograder").rglob("*.py"))}


def test_import_contracts_hold(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert not lint_imports(config_filename="pyproject.toml", no_cache=True, no_logo=True), capsys.readouterr().out


def test_no_modules_import_each_other():
    graph = grimp.build_graph("autograder", cache_dir=None)
    left = {module: set(graph.find_modules_directly_imported_by(module)) for module in graph.modules}
    while free := {module for module, imported in left.items() if not imported & left.keys()}:
        left = {module: imported for module, imported in left.items() if module not in free}
    assert not left, "these modules import each other, or import such modules"


def test_no_class_name_stands_twice(trees):
    names = Counter(node.name for tree in trees.values() for node in tree.body if isinstance(node, ast.ClassDef))
    assert [name for name, count in names.items() if count > 1] == []


def test_functions_are_short_and_have_few_parameters(trees):
    long = []
    for path, tree in trees.items():
        if "cli" in path.parts or "courses" in path.parts:  # options of commands; tables of mistakes
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                names = {a.arg for a in (*node.args.args, *node.args.kwonlyargs)} - {"self", "cls"}
                long += [node.name] * (node.end_lineno - node.lineno >= 60 or len(names) > 8)
    assert not long
