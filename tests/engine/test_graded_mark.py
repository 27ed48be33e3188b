"""Test that a mark with several functions makes a check of each."""

import subprocess
import sys

import pytest

from autograder.course import registry
from autograder.course.stubs import bundled
from autograder.courses.transformer import TRANSFORMER

BOTH = "ffn.relu", "ffn.gelu"
pytestmark = pytest.mark.slow

PLUGIN = ("-m", "pytest", "-p", "autograder.engine.pytest_plugin", "-q")


def test_mark_with_two_functions_makes_a_check_of_each(check_submission):
    result = check_submission(bundled("solutions"), *BOTH)
    relu, gelu = (
        {check.id.removeprefix(f"{function}::") for check in result.checks if check.function == function}
        for function in BOTH
    )
    assert "activation_dtypes" in relu and relu - {"relu"} == gelu - {"gelu", "gelu_extreme"}
    assert result.passed


def test_check_of_two_functions_can_be_selected_for_one():
    path, *_ = registry.check_files("ffn", TRANSFORMER.package)
    wanted = f"{path}::test_activation_dtypes[{BOTH[1]}]"
    command = [sys.executable, *PLUGIN, wanted, "--submission", str(bundled("solutions"))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_check_of_two_functions_with_parametrize_is_an_error(tmp_path):
    path = tmp_path / "test_both.py"
    mark = f"@pytest.mark.parametrize('n', [1, 2])\n@pytest.mark.graded{BOTH}"
    path.write_text(f"import pytest\n{mark}\ndef test_both(n): ...\n")
    command = [sys.executable, *PLUGIN, "--collect-only", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 2 and "cannot be parametrized" in done.stdout
