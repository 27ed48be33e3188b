"""`headway check` and `headway hint` agree on the function to work on next."""

import re
import shutil

import pytest
from support.commands import invoke
from support.editing import edit

WRITE = re.compile(r"Next: (?:write|fix|work on)? ?([\w.]+).*?headway check ([\w.]+)", re.DOTALL)


def run(folder, *arguments):
    return invoke(*arguments, "--dir", folder).stdout


def named_by_check(folder, *names):
    found = WRITE.search(run(folder, "check", *names))
    assert found, "the report names no next function"
    return found[2]


def named_by_hint(folder):
    return run(folder, "hint").split(" ")[0]


@pytest.mark.slow
@pytest.mark.parametrize("names", [(), ("softmax",), ("softmax.log_softmax",), ("attention.attention",)])
def test_hint_is_for_the_function_that_check_names(folder, names):
    assert named_by_hint(folder) == "tokenizer.build_vocab"
    assert named_by_check(folder, *names) == named_by_hint(folder)


@pytest.mark.slow
def test_hint_follows_a_pass_a_failure_and_a_blocked_function(folder, solutions):
    for name in ("tokenizer", "counting", "softmax"):
        shutil.copy(solutions / f"{name}.py", folder)
    assert named_by_check(folder, "counting") == named_by_hint(folder) == "gradients.numerical_gradient"
    assert named_by_check(folder, "softmax")
    shown = run(folder, "hint", "softmax.softmax", "--more", "--more")
    assert "Your code passes" in shown and "headway solution softmax.softmax" in shown and "--give-up" not in shown
    edit(folder / "softmax.py", "z /= z.sum(axis=axis, keepdims=True)", "z /= 2")
    assert named_by_check(folder, "softmax") == named_by_hint(folder) == "softmax.softmax"
    assert re.search(r" [0-8]\S* of 9\.5 points", run(folder, "hint", "softmax.softmax"))
    shutil.copy(solutions / "attention.py", folder)
    assert named_by_check(folder, "attention.attention") == named_by_hint(folder) == "softmax.softmax"


def test_hint_after_the_last_offers_the_solution(folder):
    for _ in range(3):
        shown = run(folder, "hint", "softmax.softmax", "--more")
    assert "headway solution softmax.softmax --give-up" in shown
    (folder / "course.toml").write_text('solutions = "never"\n')
    assert "headway solution" not in run(folder, "hint", "softmax.softmax")
