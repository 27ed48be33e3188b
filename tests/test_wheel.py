"""The wheel works when it is installed into a fresh environment without PyTorch and without a clone.

It names the repository that it was built in, and its README has no broken link.
"""

import os
import re
import sys
import tarfile
import venv
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest
from support.commands import run_program
from support.editing import write_files
from support.first_day import RIGHT, STUB, WRONG, first_day
from support.paths import ROOT
from support.reading import read_json, students_of

from autograder.course import registry
from autograder.courses.transformer import TRANSFORMER
from autograder.web.site.guides import GUIDES

pytest.importorskip("hatchling")
pytestmark = pytest.mark.slow
REPOSITORY = "https://github.example/owner/headway"
WORKFLOW = {"GITHUB_SERVER_URL": "https://github.example", "GITHUB_REPOSITORY": "owner/headway"}
HEADWAY = ("-m", "autograder.cli")
PRINT_SOLUTIONS = "from autograder.course.stubs import bundled; print(bundled('solutions'))"


def build(source, out, *kind):
    run_program(sys.executable, "-m", "build", "--no-isolation", *kind, "--outdir", out, source)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from the source distribution, as on the package index."""
    out = tmp_path_factory.mktemp("dist")
    build(ROOT, out)
    (path,) = out.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Run a command of a fresh environment that holds the wheel and what it depends on, nothing else."""
    home = tmp_path_factory.mktemp("fresh")
    venv.create(home / "env")
    scripts = home / "env" / ("Scripts" if os.name == "nt" else "bin")
    pip = (sys.executable, "-m", "pip", "--python", scripts / "python", "install", "--quiet", "--no-compile")
    run_program(*pip, "--constraint", ROOT / "constraints.txt", wheel)
    environment = {**os.environ, "HEADWAY_CACHE": str(home / "cache"), "COLUMNS": "200"}

    def run(program, *arguments, code=0):
        return run_program(scripts / program, *arguments, code=code, cwd=home, env=environment)

    run.home, run.headway = home, str(scripts / "headway")
    return run


@pytest.fixture(scope="module")
def unpacked(wheel, tmp_path_factory):
    """Run Python with the unpacked wheel far from a clone, with all packages of the extras that this machine has."""
    home = tmp_path_factory.mktemp("unpacked")
    zipfile.ZipFile(wheel).extractall(home / "site")

    environment = {**os.environ, "PYTHONPATH": str(home / "site"), "HEADWAY_CACHE": str(home / "cache")}

    def run(*arguments):
        return run_program(sys.executable, *arguments, cwd=home, env=environment)

    run.home = home
    return run


@pytest.mark.drawn(1)
def test_wheel_contains_stubs_solutions_data_and_memo(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for module in TRANSFORMER.modules:
        assert f"autograder/_bundle/assignments/{module}.py" in names
        assert f"autograder/_bundle/solutions/{module}.py" in names
        assert f"autograder/courses/transformer/{module}/answers.memo" in names
        files = registry.check_files(module, TRANSFORMER.package)
        assert files
        assert {path.relative_to(ROOT).as_posix() for path in files} <= names
    figures = registry.figure_texts(TRANSFORMER)
    assert figures
    assert {f"autograder/_bundle/solutions/{name}" for name in figures} <= names
    assert "autograder/courses/transformer/common/figures/trained_model.json" in names
    assert {f"autograder/{name}" for name in ("engine/pytest.ini", "py.typed", "models/plots/viewer.html")} <= names
    assert {f"autograder/courses/transformer/softmax/{name}.toml" for name in ("hints", "glossary")} <= names
    assert "autograder/web/site/templates/lesson.html.j2" in names and "autograder/web/site/static/site.css" in names
    assert "autograder/web/site/static/example.json" in names
    assert {f"autograder/_bundle/docs/{Path(guide.file).name}" for guide in GUIDES} <= names
    assert not any("node_modules" in name for name in names)
    assert any(name.startswith("autograder/_bundle/data/") for name in names)
    assert not any(name.startswith("tests/") or "/__pycache__/" in name for name in names)


@pytest.mark.drawn(0)
def test_wheel_works_without_clone_and_torch(installed):
    installed("python", "-c", "import torch", code=1)
    installed("headway", "init", "my-gpt")
    installed("headway", "check", "--dir", "my-gpt", "--json", "stubs.json", code=1)
    document = read_json(installed.home / "stubs.json")
    assert document["points"]["earned"] == 0 and document["internal_errors"] == []
    assert document["versions"]["torch"] is None
    solutions = installed("python", "-c", PRINT_SOLUTIONS).stdout.strip()
    assert "checks passed.\n" in installed("headway", "check", "--dir", solutions).stdout


@pytest.mark.drawn(0)
def test_wheel_fresh_inputs_without_torch_are_one_line(installed):
    solutions = installed("python", "-c", PRINT_SOLUTIONS).stdout.strip()
    done = installed("headway", "check", "softmax", "--dir", solutions, "--seed", "5", code=2)
    assert 'extra "torch"' in done.stderr
    guide = done.stderr.partition('"Installing" in ')[2].rstrip(")\n")
    assert "## Installing" in Path(guide).read_text("utf-8")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.drawn(0)
def test_wheel_doctor_of_the_light_install(installed):
    assert 'extra "torch"' in installed("headway", "doctor").stdout


@pytest.mark.drawn(0)
def test_wheel_first_day_of_a_student(installed):
    first_day(installed.headway, installed.home)


def test_unpacked_wheel_is_the_one_that_runs(unpacked):
    unpacked(*HEADWAY, "init", "my-gpt")
    location = unpacked("-c", "import autograder; print(autograder.__file__)").stdout.strip()
    assert Path(location).is_relative_to(unpacked.home)


@pytest.mark.drawn(1)
def test_wheel_grades_a_class_on_shipped_answers(unpacked):
    stub = (ROOT / "assignments" / "softmax.py").read_text("utf-8")
    code = {f"{name}/softmax.py": stub.replace(STUB, body) for name, body in (("ada", RIGHT), ("bo", WRONG))}
    write_files(unpacked.home / "class", code)
    options = ("--seed", "0", "--assignment", "softmax", "--unsafe-no-sandbox")
    unpacked(*HEADWAY, "grade", "class", "--out", "out", *options)
    ada, bo = students_of(unpacked.home / "out")
    assert ada["earned"] > bo["earned"] > 0


def test_wheel_writes_the_site(unpacked):
    pytest.importorskip("markdown_it")
    unpacked(*HEADWAY, "site", "--out", "site-out", "--no-checks")
    assert "<h1" in (unpacked.home / "site-out" / "softmax.html").read_text("utf-8")


def test_wheel_releases_notebooks(unpacked):
    pytest.importorskip("jupytext")
    unpacked(*HEADWAY, "release", "notebooks", "--format", "notebooks")
    assert {path.stem for path in (unpacked.home / "notebooks").glob("*.ipynb")} >= set(TRANSFORMER.modules)


def metadata(field):
    return run_program(sys.executable, "-m", "hatchling", "metadata", field, cwd=ROOT).stdout


@pytest.fixture
def outside_workflow(monkeypatch):
    for name in WORKFLOW:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def in_workflow(monkeypatch):
    for name, value in WORKFLOW.items():
        monkeypatch.setenv(name, value)


def test_metadata_outside_a_workflow_invents_no_address(outside_workflow):
    assert metadata("urls").strip() == "{}"
    assert metadata("readme").strip() == (ROOT / "README.md").read_text("utf-8").strip()


def test_metadata_readme_in_a_workflow_has_only_absolute_links(in_workflow):
    text = metadata("readme")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert f"{REPOSITORY}/blob/HEAD/docs/students.md" in links
    assert all(link.startswith(("https://", "#")) for link in links)
    assert re.search(rf"!\[[^\]]+\]\({REPOSITORY}/raw/HEAD/data/report\.svg\)", text)
    for path in re.findall(rf"{REPOSITORY}/(?:blob|raw)/HEAD/([^)#]+)", text):
        assert (ROOT / path).exists(), path


def test_wheel_of_a_released_sdist_keeps_the_addresses(tmp_path, in_workflow, monkeypatch):
    build(ROOT, tmp_path, "--sdist")
    [archive] = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(tmp_path, filter="data")
    for name in WORKFLOW:
        monkeypatch.delenv(name)
    build(tmp_path / archive.name.removesuffix(".tar.gz"), tmp_path, "--wheel")
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        [name] = [name for name in file.namelist() if name.endswith(".dist-info/METADATA")]
        message = message_from_bytes(file.read(name))
    urls = dict(url.split(", ") for url in message.get_all("Project-URL"))
    assert urls.keys() == {"Repository", "Issues", "Documentation", "Changelog"}
    assert urls["Repository"] == REPOSITORY
    for url in urls.values():
        assert url == REPOSITORY or url.startswith(f"{REPOSITORY}/")
        path = url.partition("/blob/HEAD/")[2]
        assert Path(ROOT, path).exists()
    assert f"{REPOSITORY}/blob/HEAD/docs/students.md" in message.get_payload()
