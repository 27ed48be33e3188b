"""A course of another package is found by its entry point, worked on and graded like the built-in one."""

import json
import shutil
from dataclasses import replace

import pytest
from support.commands import headway_with, refusal, succeed
from support.editing import edit, write_files
from support.raising import raising
from support.reading import checks_of
from support.toy_course import TOY, check_json, install

from autograder.classroom import grade
from autograder.classroom.policy.model import Policy
from autograder.course import registry, stubs
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError

pytestmark = pytest.mark.slow

SOLUTION = TOY / "solutions" / "averages.py"


@pytest.fixture(scope="module")
def headway(tmp_path_factory):
    return headway_with(install(tmp_path_factory.mktemp("installed") / "site"))


def test_student_works_from_stub_to_solution(headway, tmp_path):
    work = tmp_path / "work"
    made = succeed("init", work, "--curriculum", "toy", run=headway)
    assert "averages.py" in made.stdout
    assert not (work / "softmax.py").exists()
    assert "headway check averages.mean_of" in (work / "README.md").read_text()
    assert "x.sum(axis" not in (work / "averages.py").read_text()

    # From here on the workspace knows its course.
    assert {check["status"] for check in check_json(headway, work).values()} == {"not_started"}
    assert "mean of 1, 2 and 6" in headway("hint", "averages.mean_of", cwd=work).stdout

    wrong = SOLUTION.read_text().replace("(distance**2).sum(axis=-1) / x.shape[-1]", "x.var(axis=-1, ddof=1)")
    (work / "averages.py").write_text(wrong)
    found = check_json(headway, work)
    assert found["averages.mean_of::rows"]["status"] == "passed"
    assert found["averages.variance::same_numbers"]["status"] == "blocked"  # 0 by any divisor: it counts beside another
    named = found["averages.variance::spread"]
    assert (named["status"], named["mistake"]["id"]) == ("failed", "averages.variance/divided-by-n-minus-one")
    assert "divided by n - 1" in headway("check", cwd=work).stdout

    listed = headway("list", "--open", cwd=work).stdout
    assert "variance" in listed and "mean_of" not in listed
    assert headway("reset", "averages.variance", "--yes", cwd=work).returncode == 0
    assert "does not pass yet" in headway("solution", "averages.variance", cwd=work).stderr
    shutil.copyfile(SOLUTION, work / "averages.py")
    assert headway("check", cwd=work).returncode == 0
    assert "distance**2" in headway("solution", "averages.variance", cwd=work).stdout
    assert "2 of 2 functions pass" in headway("list", cwd=work).stdout
    succeed("submit", "--name", "ada", cwd=work, run=headway)
    assert (work / "ada.zip").is_file()


def test_workspace_of_another_course_is_refused(headway, tmp_path):
    work = tmp_path / "work"
    assert headway("init", work, "--curriculum", "toy").returncode == 0
    assert headway("init", work).returncode == 0  # it knows its own
    assert not (work / "softmax.py").exists()
    assert "the course 'toy'" in refusal("init", work, "--curriculum", "transformer", run=headway)
    assert not (work / "softmax.py").exists()


def test_checks_in_several_files_are_found(headway, tmp_path):
    site = install(tmp_path / "site")
    folder = site / "toycourse" / "averages"
    whole, variance = (folder / "checks.py").read_text(), '@graded("averages.variance", points=2)'
    head, mean = whole[: whole.index("@graded")], whole[: whole.index(variance)]
    (folder / "checks.py").unlink()
    files = {"__init__.py": "", "mean.py": mean, "variance.py": head + whole[whole.index(variance) :]}
    write_files(folder / "checks", files)
    work = write_files(tmp_path / "work", {"averages.py": SOLUTION.read_text()})
    done = succeed("check", "--dir", work, "--curriculum", "toy", "--json", "-", run=headway_with(site))
    assert len(checks_of(json.loads(done.stdout))) == 4


def broken(folder, what, edits):
    """A course that cannot be used."""
    if what == "import":
        return install(folder, package=None)
    if what == "type":
        return install(folder, "toycourse:course")
    site = install(folder)
    package = site / "toycourse"
    if what == "raises":
        (package / "__init__.py").write_text("raise RuntimeError('first line\\nsecond \\033[31mline')\n")
    elif what == "checks":
        (package / "averages" / "checks.py").unlink()
    else:
        edit(package / edits[0], *edits[1:])
        if what == "stdlib":
            (package / "averages").rename(package / "statistics")
    return site


@pytest.mark.parametrize(("what", "edits", "words"), [
    ("import", (), "toycourse:COURSE cannot be imported (ModuleNotFoundError: No module named 'toycourse')"),
    ("raises", (), "cannot be imported (RuntimeError: first line second line)"),
    ("type", (), "toycourse:course is a function, not a Curriculum"),
    ("name", ("__init__.py", 'name="toy"', 'name="boy"'), "is named 'boy'"),
    ("stdlib", ("__init__.py", '"averages"', '"statistics"'), "a module cannot be named 'statistics'"),
    ("needs", ("averages/__init__.py", 'needs="averages.mean_of"', 'needs="averages.median"'),
     "averages.variance needs 'averages.median', which is not in the course"),
    ("checks", (), "toycourse/averages/checks.py is missing"),
    ("package", ("__init__.py", "course(__name__", 'course("nowhere"'),
     "cannot be imported (ModuleNotFoundError: No module named 'nowhere')"),
])  # fmt: skip
def test_invalid_course_is_one_line(tmp_path, what, edits, words):
    done = refusal("list", "--curriculum", "toy", run=headway_with(broken(tmp_path / "site", what, edits)))
    assert words in done and "\033" not in done


def test_checks_with_a_syntax_error_are_one_line(headway, tmp_path):
    site = install(tmp_path / "site")
    (site / "toycourse" / "averages" / "checks.py").write_text("def test_rows(:\n")
    done = headway_with(site)("check", "--curriculum", "toy", "--dir", TOY / "solutions")
    assert done.returncode == 3 and len(done.stderr.splitlines()) == 1 and "SyntaxError" in done.stderr


def test_unknown_course_lists_the_installed_ones(headway, tmp_path):
    assert "toy, transformer" in refusal("list", "--curriculum", "toi", run=headway)
    work = tmp_path / "work"
    assert headway("init", work, "--curriculum", "toy").returncode == 0
    assert "no such course: 'toy'" in refusal("check", cwd=work, run=headway_with(tmp_path))


def test_hint_without_hints_is_refused(headway, tmp_path):
    site = install(tmp_path / "site")
    (site / "toycourse" / "averages" / "hints.toml").unlink()
    done = refusal("hint", "averages.mean_of", "--curriculum", "toy", run=headway_with(site))
    assert "for averages.mean_of" in done


def test_changed_reference_invalidates_the_memo(headway, tmp_path, monkeypatch):
    site = install(tmp_path / "site")
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path / "cache"))
    check = ("check", "--curriculum", "toy", "--dir", TOY / "solutions")
    assert headway_with(site)(*check).returncode == 0
    assert list((tmp_path / "cache").rglob("*.memo"))
    edit(site / "toycourse" / "averages" / "reference.py", "pvariance", "variance")
    assert headway_with(site)(*check).returncode == 1


def test_built_in_course_needs_no_search(monkeypatch):
    searched = raising(AssertionError("installed packages were searched"))
    monkeypatch.setattr("importlib.metadata.entry_points", searched)
    assert registry.load("transformer") is TRANSFORMER
    assert registry.solutions(TRANSFORMER.package) == stubs.bundled("solutions")
    with pytest.raises(AssertionError, match="searched"):
        registry.load("another one")


def test_only_built_in_course_needs_pytorch(tmp_path, monkeypatch):
    monkeypatch.setattr("autograder.classroom.grade.torch_version", lambda: None)
    fresh = grade.GradingPlan([], tmp_path, Policy(), TRANSFORMER, seed=3)
    with pytest.raises(UsageError, match="not installed"):
        grade._require_torch(fresh)
    grade._require_torch(replace(fresh, curriculum=replace(TRANSFORMER, name="toy", package="toycourse")))


def test_missing_package_has_no_folder():
    with pytest.raises(UsageError, match="is missing"):
        registry.folder("no_such_package_of_a_course")
