"""The answers of a third party's course are built into its package, so that students need not have its references."""

import functools
import json
import os
import subprocess
import sys

import pytest
from support.commands import headway_with, succeed
from support.editing import edit
from support.toy_course import install, install_mixed

pytestmark = pytest.mark.slow

SHIPPED = {"answers.json", "averages/answers.memo"}


def findings(done):
    return {finding["kind"]: finding for finding in json.loads(done.stdout)}


def run_script(path, site, *arguments, **environment):
    command = [sys.executable, str(path), *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_built_answers_replace_the_references(tmp_path):
    site = install(tmp_path / "site")
    package = site / "toycourse"
    built = succeed("verify", "--curriculum", "toy", "--build-answers", run=headway_with(site))
    assert "4 answers" in built.stderr
    assert {path.relative_to(package).as_posix() for path in package.rglob("answers*")} == SHIPPED

    verified = succeed("verify", "--curriculum", "toy", "--json", "-", run=headway_with(site))
    assert findings(verified)["answers"]["ok"]

    # A changed reference would have other answers, so it is not changed: it cannot be imported in this process.
    without = tmp_path / "without_reference.py"
    without.write_text(
        "import sys\nsys.modules['toycourse.averages.reference'] = None\n"
        "from autograder.cli import main\nmain(sys.argv[1:])\n"
    )
    check = ("check", "--curriculum", "toy", "--dir", package / "solutions")
    cache = str(tmp_path / "cache")
    succeed(without, site, *check, HEADWAY_CACHE=cache, run=run_script)
    fresh = run_script(without, site, *check, "--seed", "3", HEADWAY_CACHE=cache)
    assert fresh.returncode != 0, "other inputs need the reference"


def test_outdated_answers_are_reported_and_built_again(tmp_path):
    site = install(tmp_path / "site")
    package = site / "toycourse"
    verify = functools.partial(headway_with(site), "verify", "--curriculum", "toy")
    succeed("--build-answers", run=verify)
    edit(package / "averages" / "hints.toml", "Add up each row", "Sum each row")
    unchanged = headway_with(site)("verify", "--curriculum", "toy", "--json", "-")
    assert findings(unchanged)["answers"]["ok"], "hints do not matter"
    reference = package / "averages" / "reference.py"
    reference.write_text(reference.read_text() + "# changed\n")
    outdated = verify("--json", "-")
    assert outdated.returncode == 1
    assert "--build-answers" in findings(outdated)["answers"]["text"]
    succeed("--build-answers", run=verify)
    succeed(run=verify)


def test_answers_of_a_course_with_a_mistake_that_no_check_finds_are_not_built(tmp_path):
    site = install(tmp_path / "site")
    edit(site / "toycourse" / "averages" / "mistakes.py", "(x.shape[-1] - 1)", "(x.shape[-1] - 0)")
    done = headway_with(site)("verify", "--curriculum", "toy", "--build-answers", "--json", "-")
    assert done.returncode == 1 and "were not built" in done.stderr
    [wrong] = [finding for finding in json.loads(done.stdout) if not finding["ok"]]
    assert wrong["name"] == "averages.variance/divided-by-n-minus-one" and "passes every check" in wrong["text"]
    assert not list((site / "toycourse").rglob("answers*"))


def test_answers_of_reused_assignments_are_not_built_again(tmp_path):
    site = install_mixed(tmp_path / "site")
    code = tmp_path / "build.py"
    code.write_text(
        "from autograder.course import registry\nfrom autograder.authoring import build_memo\n"
        "print(build_memo.build(registry.load('mixed')))\n"
    )
    done = run_script(code, site)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("4 answers, ")
    package = site / "mixedcourse"
    shipped = {path.relative_to(package).as_posix() for path in package.rglob("answers*")}
    assert shipped == {"answers.json", "pooling/answers.memo"}
