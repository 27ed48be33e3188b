"""Docstrings are split into clauses, and gaps in the list of promises are found."""

import pytest

from autograder.authoring import promises, verify
from autograder.authoring.promises import FunctionPromises, Promise, split_docstring
from autograder.courses.transformer import TRANSFORMER

DOCSTRING = """Return the sum (Ada et al. 2020, section 1). It is finite.

    sum = Σ_i x_i;  x = 1
      with i > 0

- every W is 0, and
  every b is 1;

Args:
    x: numbers, (T,); e.g. `x`.
        More about x.

Returns:
    The sum. It is never
    negative.

Raises:
    ValueError: if `x` is empty.
"""


def test_split_docstring_returns_the_clauses():
    assert split_docstring(DOCSTRING.strip()) == [
        "Return the sum (Ada et al. 2020, section 1)",
        "It is finite",
        "sum = Σ_i x_i; x = 1 with i > 0",
        "- every W is 0, and every b is 1",
        "x: numbers, (T,)",
        "e.g. `x`",
        "More about x",
        "The sum",
        "It is never negative",
        "ValueError: if `x` is empty",
    ]


@pytest.fixture
def problems_with(monkeypatch):
    """Return the problems of softmax.softmax if its docstring and promises were these."""

    def problems(docstring, promised, descriptions=()):
        listed = tuple(Promise("softmax.softmax", text, names) for text, names in promised.items())
        covered = {"softmax.softmax": FunctionPromises(listed, tuple(descriptions))}
        monkeypatch.setattr(promises, "promises_of_module", lambda *_: covered)
        monkeypatch.setattr(promises, "function_docstring", lambda *_: docstring)
        return promises.find_problems("softmax.softmax", TRANSFORMER.package)

    return problems


def test_find_problems_reports_gaps_and_bad_names(problems_with):
    docstring = "Return x. It is finite. It is new."
    assert problems_with(docstring, {"Return x": ("no-maximum",)}, ["finite", "new"]) == []
    assert problems_with(docstring, {"Return x": ("no-maximum",)}, ["finite"]) == ["not covered: 'It is new'"]
    assert problems_with(docstring, {"It is": ("no-maximum",)}, ["Return"]) == ["'It is' occurs in 2 clauses"]
    assert "nobody" in problems_with(docstring, {"Return x": ("nobody",)}, ["finite", "new"])[0]
    assert "nothing breaks" in problems_with(docstring, {"Return x": ()}, ["finite", "new"])[0]


def test_evaluate_promise_without_a_failing_check_is_a_problem():
    promise = Promise("softmax.softmax", "finite", ("no-maximum",))
    assert not verify.evaluate_promise(promise, "no-maximum", ()).ok
    assert verify.evaluate_promise(promise, "no-maximum", ("softmax.softmax::extreme",)).ok
