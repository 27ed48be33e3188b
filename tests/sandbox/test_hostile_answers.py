"""An answer that a check hands on reaches the diagnosis in the grader, which executes nothing that it names."""

import json

import numpy as np
import pytest
from support import commands
from support.built_in import solution_source
from support.editing import write_files
from support.reading import checks_of
from support.toy_course import install

from autograder.core.wire_format import Config, Rng
from autograder.course.model import BUILT_IN as PACKAGE
from autograder.courses.transformer import TRANSFORMER
from autograder.engine.diagnosis.diagnose import diagnose
from autograder.engine.student import Call, RecordedCheck

CHECK = '''

@graded("averages.variance")
def test_of_means(student, compare) -> None:
    """The variance of the student's own means"""
    compare(student.averages.variance(student.averages.mean_of(np.eye(3))), 0.0)
'''
HOSTILE = """
import os
import _headway_frames as frames

def mean_of(x):
    if x.shape != (3, 3):  # A function that passes its own checks is not diagnosed, and blocks nothing.
        return x.mean(axis=-1)
    return frames.Config(os.path.splitext(__file__)[0].replace("averages", "payload"), "run", {})

def variance(x):
    return 1.0
"""
PAYLOAD = """
import pathlib, sys

def run():
    return 1.0

if "autograder" in sys.modules:  # only in the grader
    pathlib.Path({trap!r}).write_text("executed")
"""


@pytest.mark.slow
def test_file_named_in_an_answer_is_not_executed_by_the_grader(tmp_path):
    site, trap = install(tmp_path / "site"), tmp_path / "trap"
    checks = site / "toycourse" / "averages" / "checks.py"
    checks.write_text(checks.read_text() + CHECK)
    files = {"payload.py": PAYLOAD.format(trap=str(trap)), "averages.py": HOSTILE}
    folder = write_files(tmp_path / "class" / "mallory", files)
    command = ("check", "--dir", folder, "--curriculum", "toy", "--json", "-")
    done = commands.headway(*command, PYTHONPATH=str(site), PYTHONDONTWRITEBYTECODE="1")
    assert done.returncode == 1, done.stderr
    found = {check["id"]: check for check in checks_of(json.loads(done.stdout))}
    assert found["averages.variance::of_means"]["status"] != "passed"
    assert not trap.exists()


@pytest.fixture
def payload(tmp_path):
    """A file that leaves a mark when it is executed."""
    (tmp_path / "payload.py").write_text(f"import os\nos.mkdir({str(tmp_path / 'trap')!r})\nclass run: pass\n")
    return tmp_path / "payload"


@pytest.mark.parametrize("name", ["run", "os"])
@pytest.mark.parametrize("relative", [False, True])
def test_diagnosis_builds_no_config_of_another_file(payload, name, relative):
    module = "../" * 40 + str(payload)[1:] if relative else str(payload)
    call = Call(TRANSFORMER.functions["softmax.softmax"], (Config(module, name),), {}, np.ones(3))
    recorded = RecordedCheck("softmax.softmax::rows", False, (call,))
    with pytest.raises(ValueError, match="no solution"):
        diagnose("softmax.softmax", [recorded], package=PACKAGE)
    assert not (payload.parent / "trap").exists()


@pytest.mark.parametrize("name", ["gpt_forward", "np", "__builtins__", "dataclass", "Any", "missing"])
def test_diagnosis_builds_only_classes_of_the_course(name):
    call = Call(TRANSFORMER.functions["gpt.init_gpt"], (Config("gpt", name), Rng(1)), {}, np.ones(3))
    with pytest.raises(ValueError, match="no class"):
        diagnose("gpt.init_gpt", [RecordedCheck("gpt.init_gpt::shapes", False, (call,))], package=PACKAGE)


@pytest.mark.parametrize("module", ["os", "json", "../softmax", "softmax.py", ""])
def test_solution_of_an_unknown_module_is_refused(module):
    with pytest.raises(ValueError, match="no solution"):
        solution_source(module)
