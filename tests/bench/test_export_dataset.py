"""The data set of right and wrong implementations has an entry for each one, without labels in its source."""

import ast
import io
import tokenize

import numpy as np
import pytest
from bench import export_dataset


@pytest.fixture(scope="module")
def softmax():
    return list(export_dataset.entries(["softmax.softmax"]))


@pytest.mark.slow
def test_entries_have_all_styles_and_no_duplicates(softmax):
    styles = {"official", "loops", "one_liners", "edited", "beginner"}
    assert {entry["style"] for entry in softmax} == styles
    assert len({entry["source"] for entry in softmax}) == len({entry["id"] for entry in softmax}) == len(softmax) > 60
    assert all(entry["correct"] != (entry["style"] in ("edited", "beginner")) for entry in softmax)
    assert all(bool(entry["causes"]) != entry["correct"] for entry in softmax if entry["style"] != "beginner")


def test_entries_run_and_contain_the_mistake_that_they_name(softmax):
    edited = {entry["causes"][0]["id"]: entry for entry in softmax if entry["style"] == "edited"}
    (official,) = (entry for entry in softmax if entry["style"] == "official")
    results = []
    for entry in (official, edited["softmax.softmax/no-maximum"]):
        assert entry["requires"] == []
        names = {}
        exec(entry["source"], names)
        with np.errstate(all="ignore"):
            results.append(names["softmax"](np.array([1000.0, 1000.0])))
    np.testing.assert_equal(results, [[0.5, 0.5], [np.nan, np.nan]])


def test_sources_have_neither_comments_nor_docstrings(softmax):
    for entry in softmax:
        kinds = {token.type for token in tokenize.generate_tokens(io.StringIO(entry["source"]).readline)}
        assert tokenize.COMMENT not in kinds
        nodes = [node for node in ast.walk(ast.parse(entry["source"])) if isinstance(node, ast.FunctionDef)]
        assert not any(ast.get_docstring(node) for node in nodes)


def test_minimal_source_keeps_what_is_used_before_it_is_replaced():
    source = "import numpy\nfrom m import a, b\ndef f(x): return a\nold = f\ndef f(x): return old(x)\n"
    text, modules = export_dataset.minimal_source(source, {"f"})
    assert text.split("\n")[0] == "from m import a"
    assert text.count("def f") == 2
    assert "numpy" not in text
    assert modules == {"m"}
