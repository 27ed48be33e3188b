"""A course of another package is found by its entry point, worked on and graded like the built-in one."""

import json
import shutil
from dataclasses import replace

import pytest
from support import commands
from support.toy_course import TOY, install

from autograder.classroom import grade
from autograder.courses.transformer import TRANSFORMER
from autograder.curriculum import registry, stubs
from autograder.engine.reference import source_digest
from autograder.engine.session import Options
from autograder.errors import UsageError

pytestmark = pytest.mark.slow

SOLUTION = TOY / "solutions" / "averages.py"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return install(tmp_path_factory.mktemp("installed") / "site")


@pytest.fixture(scope="module")
def headway(site):
    def run(*arguments, cwd=None, path=site):
        return commands.headway(*arguments, cwd=cwd, PYTHONPATH=str(path), PYTHONDONTWRITEBYTECODE="1")

    return run


def document(done):
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def checks_of(done):
    functions = [function for assignment in document(done)["assignments"] for function in assignment["functions"]]
    return [check for function in functions for check in function["checks"]]


def test_student_works_from_stub_to_solution(headway, tmp_path):
    work = tmp_path / "work"
    made = headway("init", work, "--curriculum", "toy")
    assert made.returncode == 0, made.stderr
    assert "averages.py" in made.stdout
    assert not (work / "softmax.py").exists()
    assert "headway check averages.mean_of" in (work / "README.md").read_text()
    assert "x.sum(axis" not in (work / "averages.py").read_text()

    # From here on the workspace knows its course.
    assert {check["status"] for check in checks_of(headway("check", "--json", "-", cwd=work))} == {"not_started"}
    hint = headway("hint", "averages.mean_of", cwd=work)
    assert "What is the mean of 1, 2 and 6?" in hint.stdout

    wrong = SOLUTION.read_text().replace("(distance**2).sum(axis=-1) / x.shape[-1]", "x.var(axis=-1, ddof=1)")
    (work / "averages.py").write_text(wrong)
    done = headway("check", "--json", "-", cwd=work)
    assert done.returncode == 1
    found = {check["id"]: check for check in checks_of(done)}
    assert found["averages.mean_of::rows"]["status"] == "passed"
    assert found["averages.variance::same_numbers"]["status"] == "passed"  # 0 by any divisor
    named = found["averages.variance::spread"]
    assert (named["status"], named["mistake"]["id"]) == ("failed", "averages.variance/divided-by-n-minus-one")
    assert "the sum was divided by n - 1" in headway("check", cwd=work).stdout

    listed = headway("list", "--open", cwd=work)
    assert "variance" in listed.stdout
    assert "mean_of" not in listed.stdout
    assert headway("reset", "averages.variance", "--yes", cwd=work).returncode == 0
    assert "does not pass yet" in headway("solution", "averages.variance", cwd=work).stderr
    shutil.copyfile(SOLUTION, work / "averages.py")
    assert headway("check", cwd=work).returncode == 0
    assert "distance**2" in headway("solution", "averages.variance", cwd=work).stdout
    assert "2 of 2 functions pass" in headway("list", cwd=work).stdout
    handed_in = headway("submit", "--name", "ada", cwd=work)
    assert handed_in.returncode == 0, handed_in.stderr
    assert (work / "ada.zip").is_file()


def test_workspace_of_another_course_is_refused(headway, tmp_path):
    work = tmp_path / "work"
    assert headway("init", work, "--curriculum", "toy").returncode == 0
    assert headway("init", work).returncode == 0  # it knows its own
    assert not (work / "softmax.py").exists()
    refused = headway("init", work, "--curriculum", "transformer")
    assert refused.returncode == 2
    assert "workspace of the course 'toy'" in refused.stderr
    assert not (work / "softmax.py").exists()


def test_checks_in_several_files_are_found(headway, tmp_path):
    site = install(tmp_path / "site")
    checks = site / "toycourse" / "checks"
    whole, variance = (checks / "test_averages.py").read_text(), '@graded("averages.variance", points=2)'
    head, mean = whole[: whole.index("@graded")], whole[: whole.index(variance)]
    (checks / "test_averages.py").unlink()
    (checks / "averages").mkdir()
    (checks / "averages" / "__init__.py").touch()
    (checks / "averages" / "test_mean.py").write_text(mean)
    (checks / "averages" / "test_variance.py").write_text(head + whole[whole.index(variance) :])
    work = tmp_path / "work"
    work.mkdir()
    (work / "averages.py").write_text(SOLUTION.read_text())
    done = headway("check", "--dir", work, "--curriculum", "toy", "--json", "-", path=site)
    assert done.returncode == 0, done.stderr
    (assignment,) = json.loads(done.stdout)["assignments"]
    counts = [len(function["checks"]) for function in assignment["functions"]]
    assert counts == [2, 2]


def test_class_is_graded(headway, tmp_path):
    handed_in, out = tmp_path / "class", tmp_path / "out"
    for name, text in {
        "ada": SOLUTION.read_text(),
        "bob": SOLUTION.read_text().replace("x.shape[-1]", "x.size"),
    }.items():
        (handed_in / name).mkdir(parents=True)
        (handed_in / name / "averages.py").write_text(text)
    command = ("grade", handed_in, "--out", out, "--curriculum", "toy", "-j", "1", "--seed", "3", "--unsafe-no-sandbox")
    done = headway(*command)
    assert done.returncode == 0, done.stdout + done.stderr
    students = {s["name"]: s for s in json.loads((out / "class.json").read_text())["students"]}
    assert students["ada"]["earned"] == students["ada"]["possible"] == 5
    assert students["bob"]["statuses"] == {"passed": 1, "failed": 1, "blocked": 2}  # a single row is right
    assert "2 already graded" in " ".join(headway(*command).stdout.split())


def test_release_and_verify_of_the_course(headway, tmp_path):
    assert headway("release", tmp_path, "--format", "stubs", "--curriculum", "toy").returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["averages.py"]
    assert 'NotImplementedError("averages.variance")' in (tmp_path / "averages.py").read_text()
    done = headway("verify", "--curriculum", "toy", "--json", "-")
    findings = json.loads(done.stdout)
    assert [finding for finding in findings if not finding["ok"]] == []
    assert sorted(finding["kind"] for finding in findings) == ["mistake"] * 2 + ["solutions"] * 2 + ["stubs"]
    assert done.returncode == 0


def test_verify_mistake_that_no_check_finds_fails(headway, tmp_path):
    site = install(tmp_path / "site")
    path = site / "toycourse" / "mistakes" / "averages.py"
    path.write_text(path.read_text().replace("(x.shape[-1] - 1)", "(x.shape[-1] - 0)"))
    done = headway("verify", "--curriculum", "toy", "--json", "-", path=site)
    assert done.returncode == 1
    wrong = [finding for finding in json.loads(done.stdout) if not finding["ok"]]
    assert [(finding["name"], finding["text"]) for finding in wrong] == [
        ("averages.variance/divided-by-n-minus-one", "passes every check. Add a check that it fails, or remove it")
    ]


def broken(folder, what):
    """A course that cannot be used."""
    if what == "import":
        return install(folder, package=None)
    if what == "type":
        return install(folder, "toycourse:Output")
    site = install(folder)
    package = site / "toycourse"
    about = package / "__init__.py"
    if what == "raises":
        about.write_text("raise RuntimeError('first line\\nsecond \\033[31mline')\n")
    elif what == "name":
        about.write_text(about.read_text().replace('name="toy"', 'name="boy"'))
    elif what == "stdlib":
        about.write_text(about.read_text().replace("averages", "statistics"))
    elif what == "needs":
        about.write_text(about.read_text().replace('("averages.mean_of",)', '("averages.median",)'))
    elif what == "checks":
        (package / "checks" / "test_averages.py").unlink()
    elif what == "package":
        about.write_text(about.read_text().replace('package="toycourse"', 'package="nowhere"'))
    return site


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("import", "toycourse:COURSE cannot be imported (ModuleNotFoundError: No module named 'toycourse')"),
        ("raises", "cannot be imported (RuntimeError: first line second line)"),
        ("type", "toycourse:Output is a type, not a Curriculum"),
        ("name", "is named 'boy'"),
        ("stdlib", "a module cannot be named 'statistics'"),
        ("needs", "averages.variance needs 'averages.median', which is not in the course"),
        ("checks", "toycourse/checks/test_averages.py is missing"),
        ("package", "the package 'nowhere' of a course is missing"),
    ],
)
def test_invalid_course_is_one_line(headway, tmp_path, what, words):
    done = headway("list", "--curriculum", "toy", path=broken(tmp_path / "site", what))
    assert done.returncode == 2
    assert words in done.stderr
    assert "\033" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_checks_with_a_syntax_error_are_one_line(headway, tmp_path):
    site = install(tmp_path / "site")
    (site / "toycourse" / "checks" / "test_averages.py").write_text("def test_rows(:\n")
    done = headway("check", "--curriculum", "toy", "--dir", TOY / "solutions", path=site)
    assert done.returncode == 3
    assert len(done.stderr.splitlines()) == 1
    assert "SyntaxError" in done.stderr


def test_unknown_course_lists_the_installed_ones(headway, tmp_path):
    done = headway("list", "--curriculum", "toi")
    assert done.returncode == 2
    assert "toy, transformer" in done.stderr
    work = tmp_path / "work"
    assert headway("init", work, "--curriculum", "toy").returncode == 0
    done = headway("check", cwd=work, path=tmp_path)  # uninstalled since
    assert done.returncode == 2
    assert "no such course: 'toy'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_hint_without_hints_is_refused(headway, tmp_path):
    site = install(tmp_path / "site")
    (site / "toycourse" / "hints.toml").unlink()
    done = headway("hint", "averages.mean_of", "--curriculum", "toy", path=site)
    assert done.returncode == 2
    assert "no hints for averages.mean_of" in done.stderr


def test_changed_reference_invalidates_the_memo(headway, tmp_path, monkeypatch):
    site = install(tmp_path / "site")
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path / "cache"))
    check = ("check", "--curriculum", "toy", "--dir", TOY / "solutions")
    assert headway(*check, path=site).returncode == 0
    assert list((tmp_path / "cache").rglob("*.memo"))
    path = site / "toycourse" / "reference" / "averages.py"
    path.write_text(path.read_text().replace("pvariance", "variance"))
    assert headway(*check, path=site).returncode == 1


def test_built_in_course_needs_no_search(monkeypatch):
    def searched(**_):
        raise AssertionError("installed packages were searched")

    monkeypatch.setattr("importlib.metadata.entry_points", searched)
    assert registry.load("transformer") is TRANSFORMER
    assert registry.solutions(TRANSFORMER.package) == stubs.bundled("solutions")
    with pytest.raises(AssertionError, match="searched"):
        registry.load("another one")


def test_reference_digest_depends_on_the_course(site, monkeypatch):
    monkeypatch.syspath_prepend(str(site))
    assert source_digest("toycourse") != source_digest()


def test_only_built_in_course_needs_pytorch(monkeypatch):
    monkeypatch.setattr("autograder.classroom.grade.torch_version", lambda: None)
    fresh = Options(seed=3)
    with pytest.raises(UsageError, match="not installed"):
        grade._require_torch(fresh)
    grade._require_torch(replace(fresh, curriculum=replace(TRANSFORMER, name="toy", package="toycourse")))


def test_missing_package_has_no_folder():
    with pytest.raises(UsageError, match="is missing"):
        registry.folder("no_such_package_of_a_course")
