"""The grader itself parses nothing that students submit: neither by its code, nor when it grades a class."""

import ast
import builtins
import inspect
import json
import symtable
import sys
import tokenize
from pathlib import Path

import msgspec
import pytest
from support.editing import write_files
from support.softmax_class import grade_in_session
from support.student_notebook import notebook

import autograder
from autograder.classroom.class_report import similarity
from autograder.courses.transformer import TRANSFORMER
from autograder.notebooks.nbgrader_autograded import InstructorNotebook, graded_notebook

pytestmark = pytest.mark.slow

ROOT = Path(autograder.__file__).parent
PARSERS = {
    "ast", "symtable", "tokenize", "json", "compile", "eval", "exec", "py_compile", "nbformat", "jupytext", "linecache",
    "dis", "code", "codeop", "marshal", "pickle", "msgspec", "autograder.parsing",
}  # fmt: skip
HARMLESS = {"json.dumps", "ast.FunctionDef", "ast.ClassDef", "ast.Name", "msgspec.convert", "msgspec.structs.replace",
            "msgspec.structs.asdict"}  # fmt: skip
HARMLESS |= {f"msgspec.{name}" for name in ("Struct", "Meta", "ValidationError", "MsgspecError", "to_builtins")}
# Every module or package of the trusted process that uses a parser, with what it parses.
OWN_FILES = "files of the user's own workspace or notebook, on the user's own machine"
OWN_SOURCES = "sources of Headway and of the course, and files that Headway has written"
RESULTS = "files that Headway has written into the folder of results"
TRUSTED = {
    **dict.fromkeys((
        "authoring", "core.output_files", "course.registry", "course.stubs", "engine.diagnosis",
        "engine.official_solutions", "engine.reference.memo", "notebooks.nbgrader_course",
        "notebooks.student_notebooks", "web.site",
    ), OWN_SOURCES),
    **dict.fromkeys(("classroom.comments", "classroom.storage", "documents"), RESULTS),
    **dict.fromkeys((
        "courses.transformer.common.figures.trained_model", "models", "notebooks.api", "notebooks.running_notebook",
        "workspace",
    ), OWN_FILES),
    "web.browser.page": "requests of the page that runs it, in the student's own browser",
    "classroom.exporters.gradescope": "the settings in the archive that the instructor uploaded",
    "classroom.exporters.nbgrader_course": "imports a limit of size only",
    "classroom.class_report.similarity": "the stubs of the course, and a constant",
    "classroom.submissions.intake": "imports a limit of size only",
    "cli.options": "an earlier result of the same command, in a file that the user named",
    "core.tensor_files": "the header of a model that the user imports or has trained",
    "core.wire_format": "the header of a frame: data of at most 4 MiB, which cannot be nested deeply",
    "courses.transformer.common.pretrained": "files of a model that the user imports, which run nothing",
    "courses.transformer.bpe.reference": "what the package tokenizers says",
    "engine.cell_locations": "finds comments in lines of text",
    "installation": "what pip has recorded about this installation",
    "notebooks.nbgrader_autograded": "the instructor's notebook",
    "notebooks.nbgrader_preprocessor": "writes a cell; nbgrader has read the notebook",
    "sandbox.interpreter_state": "forgets cached lines of edited files, for a browser",
    "sandbox.process": "the answers of the server, which runs no code of a submission",
    "sandbox.server": "imports the path of the parsers",
    "web.serve.app": "requests of the pages of the user's own workspace, of at most 20 MiB",
    "models.page.job": "records of a process of Headway that runs no student code itself",
    "models.page.process": "the settings of a run, written by the server",
}  # fmt: skip


def uses_of_parsers(tree):
    """Yield the name of every parser that a module imports or calls, other than what only writes."""
    modules = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {(alias.asname or alias.name): alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from (name for name in names if any(f"{name}.".startswith(f"{parser}.") for parser in PARSERS))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if modules.get(node.value.id) in PARSERS:
                yield f"{modules[node.value.id]}.{node.attr}"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in PARSERS:
            yield node.func.id


def test_only_listed_modules_use_a_parser():
    found, listed = set(), tuple(f"{name}." for name in TRUSTED)
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        in_sandbox = parts[0] == "parsing" or parts[:2] == ("sandbox", "child")
        if not in_sandbox and set(uses_of_parsers(ast.parse(path.read_bytes()))) - HARMLESS:
            found.add(".".join(parts) + ".")
    assert {name for name in found if not name.startswith(listed)} == set()
    unused = {name for name in listed if not any(module.startswith(name) for module in found)}
    assert unused == set(), "remove them from the list"


MARK = "written_by_a_student"
WRONG = f"import numpy as np\n\n\ndef softmax(x, axis=-1):\n    {MARK} = np.exp(x)\n    return {MARK}\n\n\n"
WRONG += "def log_softmax(x, axis=-1):\n    return np.log(softmax(x))\n"


SUBMISSIONS = {
    "module": ("softmax.py", WRONG.encode()),
    "notebook": ("softmax.ipynb", notebook(WRONG)),
    "guarded": ("softmax.ipynb", notebook(f"@np.vectorize({MARK})\n{WRONG}", f"# {MARK}\n(((")),
    "not Python": ("softmax.py", f"def softmax(x)\n    {MARK}".encode()),
    "not JSON": ("softmax.ipynb", f'{{"{MARK}": '.encode()),
}


@pytest.fixture
def parsed(monkeypatch):
    """Record everything that is parsed in this process and holds the mark of a submission."""
    texts = []

    def record(function):
        def recorded(*args, **kwargs):
            caller = Path(sys._getframe(1).f_code.co_filename).name
            if caller != "wire_format.py" and MARK in str([*args, *kwargs.values()]):
                texts.append((function.__qualname__, caller))
            return function(*args, **kwargs)

        return recorded

    for module, name in [
        (builtins, "compile"), (builtins, "exec"), (builtins, "eval"), (ast, "parse"), (ast, "unparse"),
        (ast, "literal_eval"), (symtable, "symtable"), (tokenize, "generate_tokens"), (tokenize, "tokenize"),
        (json, "loads"), (json, "load"), (inspect, "getsource"),
    ]:  # fmt: skip
        monkeypatch.setattr(module, name, record(getattr(module, name)))
    return texts


def test_grading_a_class_parses_no_submission(parsed, tmp_path):
    graded = grade_in_session(SUBMISSIONS, tmp_path, TRANSFORMER.select(["softmax"]))
    entries = {name: entry for name, (entry, _) in graded.items()}
    assert parsed == []
    statuses = {name: entry.status for name, entry in entries.items()}
    assert statuses == dict.fromkeys(SUBMISSIONS, "graded") | {"not JSON": "unreadable"}
    assert entries["notebook"].functions == entries["module"].functions
    assert entries["notebook"].checks == entries["module"].checks
    assert "blocked" in entries["module"].checks["softmax"], "the functions that log_softmax uses were not read"
    compile(MARK, "", "eval")
    assert parsed == [("compile", "test_trusted_parsing.py")], "the fixture records nothing"


def test_comparing_submissions_parses_none(parsed, tmp_path, monkeypatch):
    pytest.importorskip("copydetect")
    write_files(tmp_path, {f"{name}/{file}": content for name, (file, content) in SUBMISSIONS.items()})
    read = {}
    monkeypatch.setattr(similarity, "compare", lambda modules, curriculum: read.update(modules) or [])
    similarity.find_similar(tmp_path)
    assert parsed == []
    assert "defV(V" in read["notebook"]["softmax"]
    assert read["notebook"]["softmax"].endswith(read["module"]["softmax"])


def test_writing_reports_into_notebooks_parses_none(parsed, reader, tmp_path):
    cell = {"cell_type": "code", "source": "grade()", "metadata": {"nbgrader": {"grade": True, "grade_id": "softmax"}}}
    (tmp_path / "source.ipynb").write_text(json.dumps({"cells": [cell]}))
    source = InstructorNotebook(tmp_path / "source.ipynb")
    graded = grade_in_session({"ada": SUBMISSIONS["notebook"]}, tmp_path, ("softmax.softmax",))
    document = msgspec.json.decode(graded["ada"][1].result)
    assignment = next(a for a in document["assignments"] if a["name"] == "softmax")
    text = graded_notebook(notebook("x = 1", WRONG), source, document, assignment, reader)
    assert parsed == []
    answer, report = json.loads(text)["cells"][1:]
    assert MARK in answer["source"] and report["outputs"]
