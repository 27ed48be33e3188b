"""A third party's course that reuses an assignment of the built-in course and imports one that it leaves out."""

import json

import pytest
from support.commands import headway_with, refusal, succeed
from support.editing import edit, write_files
from support.run_notebooks import run
from support.toy_course import MIXED, check_json, install_mixed

from autograder.course import registry
from autograder.courses.transformer import TRANSFORMER

pytestmark = pytest.mark.slow

POOLING = (MIXED / "solutions" / "pooling.py").read_text()
SOFTMAX = registry.solution_text("softmax", TRANSFORMER.package)
ATTENTION = registry.solution_text("attention", TRANSFORMER.package)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return install_mixed(tmp_path_factory.mktemp("installed") / "site")


@pytest.fixture(scope="module")
def headway(site):
    return headway_with(site)


def test_student_works_on_reused_and_own_assignments(headway, tmp_path):
    work = tmp_path / "work"
    succeed("init", work, "--curriculum", "mixed", run=headway)
    assert (work / "attention.py").read_text("utf-8") == ATTENTION, "given, because pooling imports it"
    assert 'NotImplementedError("softmax.softmax")' in (work / "softmax.py").read_text("utf-8")
    assert {path.name for path in (work / "figures").iterdir()} >= {"map-softmax.svg"}
    assert not any("attention" in path.name for path in (work / "figures").iterdir())
    assert {check["status"] for check in check_json(headway, work).values()} == {"not_started"}
    for function in ("softmax.softmax", "pooling.weighted_mean"):
        assert headway("hint", function, cwd=work).returncode == 0
    assert "no such assignment" in headway("check", "attention", cwd=work).stderr

    (work / "softmax.py").write_text(SOFTMAX.replace("np.exp(", "np.exp2("), "utf-8")
    (work / "pooling.py").write_text(POOLING.replace("sum(axis=-1)", "sum(axis=-2)"))
    found = check_json(headway, work)
    named = [check["mistake"]["id"] for name, check in found.items() if "softmax.softmax" in name and check["mistake"]]
    assert any(name.startswith("softmax.softmax/") for name in named)
    assert found["pooling.weighted_mean::rows"]["status"] == "blocked"
    assert found["pooling.weighted_mean::rows"]["blocked_by"] == ["softmax.softmax"]
    assert found["pooling.causal_count::counts"]["mistake"]["id"] == "pooling.causal_count/over-rows"

    (work / "softmax.py").write_text(SOFTMAX, "utf-8")
    (work / "pooling.py").write_text(POOLING)
    assert headway("check", cwd=work).returncode == 0
    assert "softmax(scores) @ x" in headway("solution", "pooling.weighted_mean", cwd=work).stdout
    assert "np.exp" in headway("solution", "softmax.softmax", cwd=work).stdout


@pytest.mark.parametrize("seed", ["0", "3"])
@pytest.mark.parametrize("prerequisites", [(), ("--own-prerequisites",)])
def test_class_is_graded(headway, tmp_path, seed, prerequisites):
    submitted, out = tmp_path / "class", tmp_path / "out"
    for name, pooling in {"ada": POOLING, "bob": POOLING.replace("axis=-1", "axis=-2")}.items():
        write_files(submitted / name, {"softmax.py": SOFTMAX, "pooling.py": pooling})
    options = ("--curriculum", "mixed", "-j", "1", "--seed", seed, "--unsafe-no-sandbox", *prerequisites)
    succeed("grade", submitted, "--out", out, *options, run=headway)
    students = {s["name"]: s for s in json.loads((out / "class.json").read_text())["students"]}
    assert students["ada"]["earned"] == students["ada"]["possible"] > 0
    assert students["bob"]["earned"] == students["ada"]["possible"] - 1, "one position is right"


def test_release_of_some_assignments(headway, tmp_path):
    stubs = ("--format", "stubs", "--curriculum", "mixed")
    succeed("release", tmp_path / "all", *stubs, run=headway)
    assert {path.name for path in (tmp_path / "all").glob("*.py")} == {"attention.py", "pooling.py", "softmax.py"}
    succeed("release", tmp_path / "some", *stubs, "--assignment", "pooling", run=headway)
    assert (tmp_path / "some" / "softmax.py").read_text("utf-8") == SOFTMAX
    assert 'NotImplementedError("pooling.causal_count")' in (tmp_path / "some" / "pooling.py").read_text()


def test_policy_has_the_title_of_the_course(headway, tmp_path):
    done = headway("release", tmp_path, "--format", "policy", "--curriculum", "mixed")
    assert 'title = "Softmax and pooling"' in (tmp_path / "course.toml").read_text()
    assert "--curriculum mixed" in done.stdout


def test_released_notebooks_check_with_their_course(headway, site, tmp_path, monkeypatch):
    succeed("release", tmp_path, "--format", "notebooks", "--curriculum", "mixed", run=headway)
    assert {path.name for path in tmp_path.iterdir()} == {"pooling.ipynb", "softmax.ipynb"}
    path = tmp_path / "pooling.ipynb"
    edit(path, r"raise NotImplementedError(\"pooling.weighted_mean\")", "return softmax(scores) @ x")
    monkeypatch.setenv("PYTHONPATH", str(site))
    cells = run(path)["cells"]
    text = json.dumps(cells)
    assert "softmax" in text and "1 of 2 functions pass" in text and "no such" not in text


def test_nbgrader_course_names_the_course(headway, tmp_path):
    succeed("release", tmp_path, "--format", "nbgrader", "--curriculum", "mixed", run=headway)
    written = {path.name for path in (tmp_path / "source" / "pooling").iterdir()}
    assert written == {"attention.py", "pooling.ipynb", "softmax.py"}
    assert 'use_course(\\"mixed\\")' in (tmp_path / "source" / "pooling" / "pooling.ipynb").read_text()


def test_verify_covers_reused_assignments(headway):
    options = ("--curriculum", "mixed", "--promises", "--changes", "--json", "-")
    done = headway("verify", "softmax.softmax", "pooling", *options)
    findings = json.loads(done.stdout)
    assert [finding for finding in findings if not finding["ok"]] == []
    mistakes = [finding["name"].partition("/")[0] for finding in findings if finding["kind"] == "mistake"]
    assert {"softmax.softmax", "pooling.weighted_mean", "pooling.causal_count"} <= set(mistakes)
    assert {"promise", "change"} <= {finding["kind"] for finding in findings}
    assert ": broken by " in done.stderr and " wrong changes that rules derive" in done.stderr
    assert done.returncode == 0


def test_answers_of_reused_assignments_are_the_shipped_ones(headway, tmp_path):
    work, cache = tmp_path / "work", tmp_path / "cache"
    headway("init", work, "--curriculum", "mixed")
    (work / "softmax.py").write_text(SOFTMAX, "utf-8")
    succeed("check", "softmax", cwd=work, HEADWAY_CACHE=str(cache), run=headway)
    assert not list(cache.rglob("*.memo")), "nothing had to be computed"


def test_site_of_a_mixed_course(headway, tmp_path):
    assert "--no-checks" in refusal("site", "--out", tmp_path / "site", "--curriculum", "mixed", run=headway)
    succeed("site", "--out", tmp_path / "site", "--curriculum", "mixed", "--no-checks", run=headway)
    assert {"softmax.html", "pooling.html"} <= {path.name for path in (tmp_path / "site").iterdir()}
