"""The data set: the same bytes each time, no label in the source, ids that stay."""

import ast
import hashlib
import io
import json
import subprocess
import sys
import tokenize
from importlib.resources import files

import jsonschema
import pytest
from support.paths import SUBMISSIONS

from autograder.benchmark import dataset
from autograder.benchmark.minimal_source import minimal_source, without_experiments
from autograder.benchmark.records import json_schema
from autograder.errors import UsageError

FROM_A_PROCESS = """
import sys
from pathlib import Path
from autograder.benchmark import dataset
items = dataset.implementations(Path(sys.argv[1]), sys.argv[2:])
sys.stdout.buffer.write(dataset.lines(items))
"""


def test_lines_in_another_process_are_the_same_bytes(items):
    names = {item.function for item in items}
    command = [sys.executable, "-c", FROM_A_PROCESS, str(SUBMISSIONS), *names]
    done = subprocess.run(command, capture_output=True, env={"PYTHONHASHSEED": "1"}, check=True)
    assert hashlib.sha256(done.stdout).digest() == hashlib.sha256(dataset.lines(items)).digest()


def test_lines_fit_the_shipped_schema(items):
    schema = json.loads(files("autograder").joinpath("schema/benchmark-1.json").read_text("utf-8"))
    assert schema == json_schema(), "write json_schema() to autograder/schema/benchmark-1.json"
    validator = jsonschema.Draft202012Validator(schema)
    for line in dataset.lines(items).splitlines():
        validator.validate(json.loads(line))


def test_implementations_have_all_styles_and_no_duplicates(items):
    softmax = [item for item in items if item.function == "softmax.softmax"]
    assert {item.style for item in softmax} == {"official", "loops", "einsum", "one_liners", "edited", "beginner"}
    assert len({item.source for item in softmax}) == len(softmax) > 60
    assert len({item.id for item in items}) == len(items)
    assert all(item.correct != (item.style in ("edited", "beginner")) for item in items)
    assert all(bool(item.causes) != item.correct for item in softmax if item.style != "beginner")


def test_ids_of_known_implementations_stay(items):
    """Change an expected id only together with the major version: results of others refer to it."""
    ids = {cause.id: item.id for item in items if item.style == "edited" for cause in item.causes}
    assert ids["softmax.softmax/no-maximum"] == "softmax.softmax:2efad5d6ac0c"
    (official,) = (i.id for i in items if i.style == "official" and i.function == "softmax.softmax")
    assert official == "softmax.softmax:b7dc4b9cb327"


def test_sources_have_neither_comments_nor_docstrings(items):
    for item in items:
        kinds = {token.type for token in tokenize.generate_tokens(io.StringIO(item.source).readline)}
        assert tokenize.COMMENT not in kinds
        nodes = [node for node in ast.walk(ast.parse(item.source)) if isinstance(node, ast.FunctionDef)]
        assert not any(ast.get_docstring(node) for node in nodes)


def test_sources_run_with_the_required_modules_alone(items):
    modules = {name: without_experiments(dataset.solution_source(name)) for name in ("softmax", "gradients")}
    for item in items:
        assert set(item.requires) <= set(modules)
        if not item.requires:
            names = {}
            exec(item.source, names)
            assert callable(names[item.function.partition(".")[2]])


def test_questions_have_no_labels(items):
    (first, *_) = dataset.questions(items[:1], items)
    fields = set(first.__struct_fields__)
    assert fields.isdisjoint({"correct", "causes", "style", "split", "licence"})
    assert {c.id for c in first.candidates} == {c.id for i in items for c in i.causes if i.function == first.function}


def test_questions_of_one_function_differ_in_id_and_source_only(items):
    asked = [q for q in dataset.questions(items, items) if q.function == "softmax.softmax"]
    varying = [
        name for name in asked[0].__struct_fields__ if any(getattr(q, name) != getattr(asked[0], name) for q in asked)
    ]
    assert set(varying) <= {"id", "source", "requires", "dependencies"}


def test_without_duplicates_joins_causes_and_refuses_contradictions():
    drafts = [dataset._Draft("softmax.softmax", key, "def softmax(x): pass", "edited", (cause,)) for key, cause in (
        ("a", dataset.Cause("a", "A", "a")), ("b", dataset.Cause("b", "B", "b")),
    )]  # fmt: skip
    (item,) = dataset._without_duplicates(dataset.registry.default(), drafts)
    assert [cause.id for cause in item.causes] == ["a", "b"]
    right = dataset._Draft("softmax.softmax", "right", "def softmax(x): pass", "loops")
    with pytest.raises(ValueError, match="same source"):
        list(dataset._without_duplicates(dataset.registry.default(), [right, drafts[0]]))


def test_find_submissions_without_a_clone_says_what_to_do(tmp_path):
    with pytest.raises(UsageError, match="--submissions"):
        dataset.find_submissions(tmp_path)


SOURCE = '''
"""A lesson."""
import math
import numpy as np
from softmax import as_float, softmax
SIZES = {"a": 1}
SIZES |= {"b": 2}
OTHER = 3

def helper(x):
    """Return x."""
    return math.sqrt(x) + SIZES["a"]

def wanted(x):  # why
    return helper(as_float(x))

def unwanted(x):
    return np.sum(softmax(x)) + OTHER
'''


def test_minimal_source_keeps_only_what_is_used():
    found = minimal_source(SOURCE, {"wanted"})
    assert found.text.splitlines() == [
        "import math",
        "from softmax import as_float",
        "SIZES = {'a': 1}",
        "SIZES |= {'b': 2}",
        "",
        "",
        "def helper(x):",
        "    return math.sqrt(x) + SIZES['a']",
        "",
        "",
        "def wanted(x):",
        "    return helper(as_float(x))",
    ]
    assert found.imported == (("softmax", "as_float"),)


def test_minimal_source_drops_what_is_replaced():
    source = "import numpy as np\ndef f(x): return helper(x)\ndef helper(x): return x\n"
    found = minimal_source(source + "import numpy as np\ndef f(x): return np.sum(x)\n", {"f"})
    assert found.text.split() == ["import", "numpy", "as", "np", "def", "f(x):", "return", "np.sum(x)"]


def test_minimal_source_keeps_what_is_used_before_it_is_replaced():
    source = "def f(x): return g(x)\ndef g(x): return x\nold = f\ndef f(x): return old(x) + 1\n"
    names = {}
    exec(minimal_source(source, {"f"}).text, names)
    assert names["f"](1) == 2
