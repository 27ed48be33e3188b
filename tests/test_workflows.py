"""GitHub's workflows run the same script that developers run."""

import os
import re
import sys
import tomllib

import pytest
from support.commands import run_program
from support.paths import ROOT

yaml = pytest.importorskip("yaml")

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
SCRIPT = (ROOT / ".ci" / "run").read_text("utf-8")
STAGES = set(re.findall(r"^(\w+)\(\) \{", SCRIPT, re.M)) & set(re.findall(r"^#   \.ci/run (\w+)", SCRIPT, re.M))
# What is no stage: it writes to GitHub's own summary, or compares the tag.
ALLOWED = ('cat build/coverage.md >> "$GITHUB_STEP_SUMMARY"', 'test -f "dist/headway-${GITHUB_REF_NAME#v}.tar.gz"')


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
    assert len(STAGES) == 9
    assert used >= STAGES


def test_unknown_stage_is_refused():
    assert "no such stage: tset" in run_program(ROOT / ".ci" / "run", "tset", code=2).stderr


def test_workflow_tests_every_python_of_the_package():
    declared = set(re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text("utf-8")))
    matrix = yaml.safe_load(WORKFLOWS[0].read_text("utf-8"))["jobs"]["tests"]["strategy"]["matrix"]["python"]
    assert set(matrix) == declared


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflow_installs_pytorch_without_cuda(path):
    assert yaml.safe_load(path.read_text("utf-8"))["env"]["PIP_EXTRA_INDEX_URL"].endswith("/whl/cpu")
    assert "download.pytorch.org" not in SCRIPT  # other machines may not reach it


def test_extra_style_needs_no_pytorch():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]

    def packages(extra):
        for requirement in extras[extra]:
            name, *inner = re.split(r"[][,<>=;! ]+", requirement)
            yield from (p for each in filter(None, inner) for p in packages(each)) if name == "headway" else (name,)

    assert {"mypy", "ruff", "matplotlib"} <= set(packages("style")) < set(packages("dev"))
    assert not {"torch", "tokenizers", "transformers"} & set(packages("style"))


def test_check_with_style_leaves_out_only_modules_that_import_pytorch():
    def targets(setting):
        return re.findall(r"--exclude '\^(.+?)\$'", run_program("make", "-n", "check", setting, cwd=ROOT).stdout)

    left_out = targets("CHECK_WITH=style")
    assert "autograder/courses/transformer/softmax/reference.py" in left_out
    assert all(re.search("import torch|from (torch|tokenizers)", (ROOT / path).read_text("utf-8")) for path in left_out)
    assert targets("CHECK_WITH=dev") == []


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox needs Linux")
def test_required_sandbox_that_is_missing_is_a_failure():
    test = "tests/sandbox/test_hostile_submissions.py::test_attacks_are_many_and_documented"
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test)
    environment = {**os.environ, "PATH": os.path.dirname(sys.executable), "HEADWAY_REQUIRE_SANDBOX": "1"}
    assert "bwrap is not installed" in run_program(*command, cwd=ROOT, env=environment, code=1).stdout
