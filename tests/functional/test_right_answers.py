"""Answers that are right but written differently pass: other algorithms, other styles, other forms of the mask."""

import shutil
from pathlib import Path

import pytest

from autograder.curriculum import TRANSFORMER
from autograder.engine import Options, check

RIGHT = Path(__file__).parents[1] / "submissions" / "right"
ANSWERS = sorted(RIGHT.glob("*/*.py"))


def test_there_are_enough_of_them():
    assert len(ANSWERS) >= 15
    assert {path.stem for path in ANSWERS} == set(TRANSFORMER.modules)


@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: f"{path.parent.name}-{path.stem}")
@pytest.mark.parametrize("seed", [0, 17])
def test_it_gets_every_point(path, seed, tmp_path, solutions):
    """The module alone, on top of the official solutions of the others."""
    for module in TRANSFORMER.modules:
        shutil.copy(solutions / f"{module}.py", tmp_path)
    shutil.copy(path, tmp_path)
    functions = TRANSFORMER.select([path.stem])
    result = check(path.stem, tmp_path, Options(functions=functions, seed=seed))
    assert result.passed, [(c.id, c.message, c.worst) for c in result.checks if c.status != "passed"]
