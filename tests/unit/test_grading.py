"""What a class is refused for before anything of it is graded."""

import pytest

from autograder import reference
from autograder.course import grading
from autograder.course.policy import Policy
from autograder.engine import Options
from autograder.errors import UsageError


def test_fresh_inputs_need_pytorch_before_the_first_submission(tmp_path, monkeypatch):
    (tmp_path / "class" / "ada").mkdir(parents=True)
    (tmp_path / "class" / "ada" / "softmax.py").write_text("")
    monkeypatch.setattr(reference, "torch_version", lambda: None)
    with pytest.raises(UsageError, match="--seed 0"):
        grading.grade(
            tmp_path / "class", tmp_path / "out", Options(), Policy(), grading.Plan(1, unsafe=True), lambda seen: None
        )
    assert not (tmp_path / "out" / "class.json").exists()
