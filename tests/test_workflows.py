"""GitHub's workflows run the same script that developers run."""

import ast
import re
import subprocess

import pytest
from support.paths import ROOT

yaml = pytest.importorskip("yaml")

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
SCRIPT = (ROOT / ".ci" / "run").read_text("utf-8")
STAGES = set(re.findall(r"^(\w+)\(\) \{", SCRIPT, re.M)) & set(re.findall(r"^#   \.ci/run (\w+)", SCRIPT, re.M))
# What is no stage: it writes to GitHub's own summary, or compares the tag.
ALLOWED = ('cat docs/coverage.md >> "$GITHUB_STEP_SUMMARY"', 'test -f "dist/headway-${GITHUB_REF_NAME#v}.tar.gz"')


def commands(path):
    jobs = yaml.safe_load(path.read_text("utf-8"))["jobs"].values()
    return [step["run"] for job in jobs for step in job["steps"] if "run" in step]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflow_runs_only_stages_of_the_script(path):
    found = commands(path)
    assert found
    for command in found:
        stages = command.removeprefix(".ci/run ").split() if command.startswith(".ci/run ") else []
        assert command in ALLOWED or (stages and set(stages) <= STAGES), command


def test_every_stage_runs_in_a_workflow():
    used = {word for path in WORKFLOWS for command in commands(path) for word in command.split()}
    assert len(STAGES) == 7
    assert used >= STAGES


def test_unknown_stage_is_refused():
    done = subprocess.run([ROOT / ".ci" / "run", "tset"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no such stage: tset" in done.stderr


def test_workflow_tests_every_python_of_the_package():
    declared = set(re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text("utf-8")))
    matrix = yaml.safe_load(WORKFLOWS[0].read_text("utf-8"))["jobs"]["tests"]["strategy"]["matrix"]["python"]
    assert set(matrix) == declared


def test_files_that_start_first_exist():
    conftest = ast.parse((ROOT / "tests" / "conftest.py").read_text("utf-8"))
    (longest,) = (n for n in conftest.body if isinstance(n, ast.Assign) and n.targets[0].id == "LONGEST")
    assert [name for name in ast.literal_eval(longest.value) if not (ROOT / "tests" / name).is_file()] == []
