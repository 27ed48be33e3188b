"""Inputs of hidden checks reach no output that a student sees."""

import re

import pytest

# Prints the inputs of this call, marked, and everything that earlier calls have left behind.
MEMORY = """
import numpy as np
SEEN = []
def recall():
    return SEEN
def remember(text):
    SEEN.append(text)
"""
FILE = """
import numpy as np
PATH = {path!r}
def recall():
    try:
        return open(PATH).read().split()
    except OSError:
        return []
def remember(text):
    with open(PATH, "a") as file:
        print(text, file=file)
"""
CODE = """
def softmax(x, axis=-1, temperature=1.0):
    x = np.asarray(x)
    print("earlier", *recall())
    remember(repr(float(np.nansum(np.abs(x)))))
    print("now", repr(float(np.nansum(np.abs(x)))))
    return x
"""


def inputs(check):
    return set(re.findall(r"^now (.+)$", check.output, re.MULTILINE))


@pytest.mark.parametrize("way", [MEMORY, FILE], ids=["memory", "file"])
@pytest.mark.parametrize("hidden", ["softmax.softmax::rows", "softmax.softmax::dtypes"], ids=["first", "later"])
def test_hidden_inputs_cannot_be_printed_in_visible_checks(submission, check_submission, tmp_path, way, hidden):
    folder = submission(softmax=way.format(path=str(tmp_path / "notes")) + CODE)
    shown = check_submission(folder, "softmax.softmax", diagnose=False)
    secrets = next(inputs(check) for check in shown.checks if check.id == hidden)
    assert secrets
    (tmp_path / "notes").unlink(missing_ok=True)
    result = check_submission(folder, "softmax.softmax", diagnose=False, is_hidden=lambda check: check == hidden)
    assert [check.id for check in result.checks] == [check.id for check in shown.checks]
    assert [check.status for check in result.checks] == [check.status for check in shown.checks]
    visible = [check for check in result.checks if check.id != hidden]
    assert any("earlier" in check.output for check in visible)
    for check in visible:
        for secret in secrets - inputs(check):
            assert secret not in check.output
    assert next(check.output for check in result.checks if check.id == hidden) == ""


def test_hidden_checks_see_nothing_of_visible_ones(submission, check_submission, tmp_path):
    code = MEMORY + CODE.replace("return x", "remember('x'); return x if len(SEEN) > 2 else np.ones(3) / 3")
    result = check_submission(
        submission(softmax=code), "softmax.softmax", diagnose=False, is_hidden=lambda check: check.endswith("::vector")
    )
    (vector,) = (check for check in result.checks if check.id.endswith("::vector"))
    assert vector.shapes is not None and vector.shapes["yours"] == [3]  # as in the first call of a process
