"""The template repository for GitHub Classroom: valid files, and a workflow whose commands work in it."""

import json
import re
import shlex
import sys
from xml.etree import ElementTree as ET

import pytest
from support.commands import invoke, run_program, succeed

ASSIGNMENTS = ("softmax", "layernorm")


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repository")
    options = [part for name in ASSIGNMENTS for part in ("--assignment", name)]
    succeed("release", folder, "--format", "github", *options, "--install", "headway @ git+https://example.org/h")
    return folder


def test_repository_contains_stubs_workflow_and_devcontainer(repository):
    assert {path.stem for path in repository.glob("*.py")} >= set(ASSIGNMENTS)
    assert (repository / "requirements.txt").read_text() == "headway @ git+https://example.org/h\n"
    container = json.loads((repository / ".devcontainer" / "devcontainer.json").read_text("utf-8"))
    assert "requirements.txt" in container["postCreateCommand"]
    for name in ASSIGNMENTS:
        assert f"`{name}.py`" in (repository / "README.md").read_text("utf-8")


@pytest.mark.slow
def test_repository_workflow_is_valid(repository):
    pytest.importorskip("check_jsonschema")
    schema = ("--builtin-schema", "vendor.github-workflows", repository / ".github" / "workflows" / "headway.yml")
    run_program(sys.executable, "-m", "check_jsonschema", *schema)


@pytest.mark.slow
def test_repository_workflow_command_writes_both_reports(repository):
    workflow = (repository / ".github" / "workflows" / "headway.yml").read_text("utf-8")
    [command] = re.findall(r"run: headway (.*)", workflow)
    done = invoke(*shlex.split(command), cwd=repository)
    assert done.returncode == 1, done.stderr
    report = (repository / "report.md").read_text("utf-8")
    assert all(f"| {name} | 0 /" in report for name in ASSIGNMENTS)
    assert "tokenizer" not in report
    suite = ET.parse(repository / "junit.xml").getroot()[0]
    assert int(suite.get("tests")) == int(suite.get("skipped")) > 0
