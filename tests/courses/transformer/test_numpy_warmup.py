"""The warm-up: its answers are right, and an unwritten or wrong one is not called right."""

import re

import pytest
from support.paths import ROOT

SOURCE = (ROOT / "solutions" / "extras" / "numpy_warmup.py").read_text("utf-8")
ANSWERS = dict(re.findall(r"^# (\w+) = (.+)$", SOURCE.rpartition("## Answers")[2], re.MULTILINE))


def run(source, capsys):
    exec(compile(source, "numpy_warmup.py", "exec"), {"__name__": "warmup"})
    return capsys.readouterr().out.splitlines()


def with_answers(answers):
    source = SOURCE
    for name, expression in answers.items():
        source, count = re.subn(rf"^{name} = UNWRITTEN$", f"{name} = {expression}", source, flags=re.MULTILINE)
        assert count == 1, name
    return source


def test_every_answer_is_right(capsys):
    assert len(ANSWERS) == 12
    assert run(with_answers(ANSWERS), capsys) == [f"{number:>2}  right" for number in range(1, 13)]


def test_nothing_is_right_before_it_is_written(capsys):
    assert run(SOURCE, capsys) == [f"{number:>2}  not written yet" for number in range(1, 13)]


@pytest.mark.parametrize(("name", "wrong", "expected"), [
    ("mean_over_positions", "x.mean(axis=-1)", " 2  wrong: the shape is (2, 3), expected (2, 4)"),
    ("shares", "table / table.sum(axis=-1)", " 4  wrong: expected"), ("first", "whole[0]", "10  wrong: expected"),
    ("kept", "np.where(scores > 0.3, 0, scores)", "11  wrong: expected"),
])  # fmt: skip
def test_wrong_answer_is_told(name, wrong, expected, capsys):
    assert expected in run(with_answers({name: wrong}), capsys)
