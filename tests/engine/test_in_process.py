"""Checks in the same interpreter give the same documents as checks in processes, without what a browser lacks."""

import ast
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import click
import pytest
from support.commands import SOFTMAX, invoke, timeless
from support.paths import ROOT, SUBMISSIONS
from support.reading import checks_of

import autograder
from autograder.cli import COMMANDS
from autograder.cli import main as program
from autograder.courses.transformer import TRANSFORMER
from autograder.documents.results import to_document
from autograder.engine.session import Options, check, run_in_session
from autograder.sandbox.in_process import InProcessWorkers
from autograder.sandbox.policy import SandboxPolicy

IN_PROCESS = Options(("softmax.softmax",), workers=InProcessWorkers)
# Emil's layernorm has an endless loop, which nothing can stop in-process.
CLASS = [path for path in sorted((SUBMISSIONS / "class").iterdir()) if path.is_dir() and path.name != "emil"]


def rounded(document):
    """A document whose numbers may differ in the last digits: NumPy's depend on where in memory an array begins."""
    return json.loads(json.dumps(document), parse_float=lambda text: pytest.approx(float(text), rel=1e-9, abs=1e-12))


@pytest.mark.slow
@pytest.mark.usefixtures("enough_time")
@pytest.mark.parametrize(("folders", "functions", "least"), [
    pytest.param([ROOT / "solutions"], None, 750, id="solutions"),
    pytest.param(CLASS, TRANSFORMER.select(["softmax", "attention", "layernorm"]), 5 * 80, id="class"),
])  # fmt: skip
def test_documents_without_what_a_browser_lacks_are_those_of_processes(folders, functions, least):
    results, options = [], Options(functions)
    run_in_session(options, lambda s: results.extend(s.check(folder.name, folder, functions) for folder in folders))
    in_process = run_module("check_like_a_browser", json.dumps([[*map(str, folders)], functions]))
    compared = 0
    for result, actual in zip(results, timeless(in_process), strict=True):
        expected = timeless(to_document(result, TRANSFORMER)) | {"sandbox": ["in-process"]}
        for one, other in zip(checks_of(expected), checks_of(actual), strict=True):
            assert rounded(one) == other
            compared += 1
        assert rounded(expected) == actual
    assert compared >= least


def run_module(name, *arguments):
    """Run a module of tests/support in an interpreter of its own; return the JSON that it prints."""
    command = [sys.executable, "-m", f"support.{name}", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT / "tests", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_shipped_answers_suffice_where_integers_have_32_bits():
    found = run_module("check_with_int32")
    assert found["default"] == "int32" and found["missing"] == [] and found["failed"] == {}
    assert found["errors"] == [] and found["checks"] >= 750
    assert found["answers"] >= 1700, "the checks have asked for too little"


# The test above replaces functions of NumPy, and cannot replace methods of arrays.
METHODS_THAT_MAKE_INTEGERS = {"argmax", "argmin", "argsort", "nonzero", "searchsorted", "argpartition"}


def default_integers(tree):
    """Yield the line of each `x.argmax()`, and of each `x.astype(int)` or `dtype=int`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in METHODS_THAT_MAKE_INTEGERS:
            if getattr(node.value, "id", "") != "np":
                yield node.lineno
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            values = [*node.args, *(keyword.value for keyword in node.keywords)]
            if any(getattr(value, "id", "") == "int" for value in values):
                yield node.lineno


def test_checks_make_no_default_integers_with_methods():
    folder = ROOT / "autograder" / "courses" / "transformer"
    paths = sorted([*folder.glob("*/checks.py"), *folder.glob("*/checks/*.py")])
    assert len(paths) >= len(TRANSFORMER.modules)
    found = [f"{path}:{line}" for path in paths for line in default_integers(ast.parse(path.read_bytes()))]
    assert found == [], "write np.argmax(x), and name np.int64"


@pytest.mark.slow
def test_checks_see_edits(tmp_path):
    file, solution = tmp_path / "softmax.py", (ROOT / "solutions" / "softmax.py").read_text("utf-8")
    for text, passed in [(solution, True), ("def softmax(x):\n    return x\n", False), (solution, True)]:
        file.write_text(text, "utf-8")
        result = check("my-gpt", tmp_path, IN_PROCESS)
        assert result.passed is passed and result.sandbox == ["in-process"]
        assert {check.function for check in result.checks} == {"softmax.softmax"}


@pytest.mark.slow
def test_later_checks_do_not_see_changes_of_numpy(tmp_path):
    (tmp_path / "softmax.py").write_text(
        "import numpy as np\nnp.max = np.exp = np.allclose = lambda *args, **kwargs: 0\ndef softmax(x):\n    return 0\n"
    )
    assert not check("broken", tmp_path, IN_PROCESS).passed
    assert check("solutions", ROOT / "solutions", IN_PROCESS).passed


# Who may use the workers: import-linter holds the same for classroom and cli, also for indirect imports.
USERS = {"sandbox", "web/browser"}


def test_only_the_browser_can_choose_in_process_workers():
    root = Path(autograder.__file__).parent
    words = ("InProcessWorkers", "sandbox.in_process", "import in_process")
    paths = [path for path in root.rglob("*.py") if any(word in path.read_text("utf-8") for word in words)]
    assert {path.relative_to(root).parent.as_posix() for path in paths} == USERS


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_has_an_option_for_in_process_workers(name):
    command = program.get_command(click.Context(program), name)
    texts = [text for parameter in command.params for text in (parameter.name, *parameter.opts)]
    texts += [choice for parameter in command.params for choice in getattr(parameter.type, "choices", ())]
    assert not [text for text in texts if "process" in text and text not in ("processes", "--processes")]


def test_check_uses_a_process(tmp_path):
    (tmp_path / "softmax.py").write_text(SOFTMAX, "utf-8")
    done = invoke("check", "softmax.softmax", "--dir", tmp_path, "--json", "-")
    assert json.loads(done.stdout)["sandbox"][0] == "process"


def test_sandbox_cannot_be_in_process(solutions):
    options = replace(IN_PROCESS, sandbox=SandboxPolicy(("landlock",)))
    with pytest.raises(ValueError, match="process of its own"):
        check("solutions", solutions, options)
