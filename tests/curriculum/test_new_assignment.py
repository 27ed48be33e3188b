"""`headway new-assignment` writes an assignment that passes `headway verify` as it is."""

import json
import re
import shutil
import tomllib
import zipfile

import pytest
from support import commands
from support.paths import ROOT

from autograder.authoring import built_in_assignment, new_assignment
from autograder.courses.transformer.effort import EFFORT
from autograder.courses.transformer.outcomes import OUTCOMES
from autograder.curriculum import registry
from autograder.errors import UsageError


def install(root):
    """Write beside the package what pip leaves behind for `pip install -e`, from the entry points in pyproject.toml."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    about = root / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    points = project["entry-points"][registry.GROUP]
    lines = [f"[{registry.GROUP}]", *(f"{name} = {value}" for name, value in points.items())]
    (about / "entry_points.txt").write_text("\n".join(lines) + "\n")


def headway(root, *arguments, cwd=None):
    return commands.headway(*arguments, cwd=cwd, PYTHONPATH=str(root), PYTHONDONTWRITEBYTECODE="1")


def findings(done):
    return [finding for finding in json.loads(done.stdout) if not finding["ok"]]


@pytest.mark.slow
def test_skeletons_pass_verify_and_can_be_taught(tmp_path):
    root = tmp_path / "My course"
    lines = new_assignment.create(root, "centering")
    assert f"    pip install -e {root}" in lines
    assert "    headway verify --curriculum my_course" in lines
    install(root)
    again = new_assignment.create(root, "scaling", "Scaling of rows")
    assert not any("pip install" in line for line in again)
    done = headway(root, "verify", "--curriculum", "my_course", "--json", "-")
    assert done.returncode == 0, findings(done)
    kinds = [finding["kind"] for finding in json.loads(done.stdout)]
    assert (kinds.count("mistake"), kinds.count("solutions"), kinds.count("stubs")) == (4, 2, 1)
    assert kinds.count("promise") >= 4

    work = tmp_path / "work"
    assert headway(root, "init", work, "--curriculum", "my_course").returncode == 0
    assert "Scaling of rows" in headway(root, "list", cwd=work).stdout
    assert headway(root, "hint", "scaling.scaling", cwd=work).returncode == 0
    wrong = (root / "my_course" / "solutions" / "scaling.py").read_text().replace("axis=-1", "axis=0")
    (work / "scaling.py").write_text(wrong)
    checked = headway(root, "check", "scaling", cwd=work)
    assert checked.returncode == 1
    assert "the mean was taken over each column" in checked.stdout
    for form in ("stubs", "notebooks"):
        released = headway(root, "release", tmp_path / form, "--format", form, "--curriculum", "my_course")
        assert released.returncode == 0, released.stderr


@pytest.mark.slow
def test_skeleton_beside_a_reused_assignment_passes_verify(tmp_path):
    root = tmp_path / "mine"
    new_assignment.create(root, "centering")
    declaration = root / "mine" / "__init__.py"
    text = declaration.read_text()
    declaration.write_text(re.sub(r'# (\*built_in_assignments\()"softmax", "layernorm"', r'\1"tokenizer"', text))
    install(root)
    listed = headway(root, "list", "--curriculum", "mine", "--dir", tmp_path)
    assert listed.returncode == 0, listed.stderr
    assert re.search(r"1\s+tokenizer", listed.stdout)
    assert re.search(r"2\s+centering", listed.stdout)
    done = headway(root, "verify", "--curriculum", "mine", "--json", "-")
    assert done.returncode == 0, findings(done)


def test_every_file_says_what_to_replace(tmp_path):
    root = tmp_path / "mine"
    new_assignment.create(root, "centering")
    written = [path for path in root.rglob("*") if path.is_file()]
    texts = {path: path.read_text() for path in written}
    assert len(texts) == 11
    assert not [path for path, text in texts.items() if "@" in text.replace("@graded", "").replace("@in_torch", "")]
    empty = [path for path in texts if path.name == "__init__.py" and path.parent.name != "mine"]
    assert [path.name for path, text in texts.items() if path not in empty and "eplace" not in text] == []
    compile(texts[root / "mine" / "__init__.py"], "course", "exec")


def test_course_made_by_hand_is_not_edited(tmp_path):
    root = tmp_path / "mine"
    new_assignment.create(root, "centering")
    declaration = root / "mine" / "__init__.py"
    by_hand = declaration.read_text().replace(new_assignment.MARKER, "")
    declaration.write_text(by_hand)
    lines = new_assignment.create(root, "scaling")
    assert declaration.read_text() == by_hand
    assert any("Add this to the Curriculum" in line for line in lines)
    assert any('"scaling",' in line for line in lines)
    assert (root / "mine" / "solutions" / "scaling.py").is_file()


def test_package_folder_stands_for_its_course(tmp_path):
    root = tmp_path / "mine"
    new_assignment.create(root, "centering")
    new_assignment.create(root / "mine", "scaling")
    assert (root / "mine" / "solutions" / "scaling.py").is_file()


def test_package_in_a_source_folder_is_found(tmp_path):
    root = tmp_path / "mine"
    new_assignment.create(root, "centering")
    (root / "src").mkdir()
    (root / "mine").rename(root / "src" / "mine")
    new_assignment.create(root, "scaling")
    assert (root / "src" / "mine" / "solutions" / "scaling.py").is_file()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("softmax", "To reuse it"),
        ("statistics", "a Python module of that name"),
        ("class", "a word of the Python language"),
        ("my-assignment", "letters, digits and underscores"),
        ("_hidden", "beginning with a letter"),
        ("train", "the website has a page"),
    ],
)
def test_name_that_cannot_be_used_is_refused(tmp_path, name, words):
    with pytest.raises(UsageError, match=words):
        new_assignment.create(tmp_path / "mine", name)
    assert not (tmp_path / "mine").exists()


def test_existing_assignment_is_not_overwritten(tmp_path):
    new_assignment.create(tmp_path / "mine", "centering")
    before = {path: path.read_bytes() for path in (tmp_path / "mine").rglob("*") if path.is_file()}
    with pytest.raises(UsageError, match="already exists"):
        new_assignment.create(tmp_path / "mine", "centering")
    assert before == {path: path.read_bytes() for path in (tmp_path / "mine").rglob("*") if path.is_file()}


def test_folder_that_is_no_course_is_refused(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UsageError, match="neither empty nor a course"):
        new_assignment.create(tmp_path, "centering")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "thesis"\n')
    with pytest.raises(UsageError, match="does not declare exactly one course"):
        new_assignment.create(tmp_path, "centering")
    (tmp_path / "pyproject.toml").write_text('[project.entry-points."headway.courses"]\nmine = "mine:COURSE"\n')
    with pytest.raises(UsageError, match="names the package 'mine'"):
        new_assignment.create(tmp_path, "centering")
    (tmp_path / "json").mkdir()
    with pytest.raises(UsageError, match="cannot be named 'json'"):
        new_assignment.create(tmp_path / "json", "centering")


def test_command_prints_what_to_run_next(tmp_path):
    done = commands.headway("new-assignment", "centering", "--course", tmp_path / "mine")
    assert done.returncode == 0, done.stderr
    assert "headway verify --curriculum mine" in done.stdout
    refused = commands.headway("new-assignment", "centering", "--course", tmp_path / "mine")
    assert refused.returncode == 2
    assert len(refused.stderr.splitlines()) == 1


@pytest.mark.slow
def test_wheel_of_a_course_has_all_its_files(tmp_path):
    build = pytest.importorskip("hatchling.builders.wheel")
    root = tmp_path / "mine"
    new_assignment.create(root, "centering")
    (root / "mine" / "solutions" / "figures").mkdir()
    (root / "mine" / "solutions" / "figures" / "row.svg").write_text("<svg/>")
    (root / "mine" / "reference" / "shipped").mkdir()
    (root / "mine" / "reference" / "shipped" / "index.json").write_text("{}")
    (wheel,) = build.WheelBuilder(str(root)).build(directory=str(tmp_path / "dist"))
    names = set(zipfile.ZipFile(wheel).namelist())
    in_package = {path.relative_to(root).as_posix() for path in (root / "mine").rglob("*") if path.is_file()}
    assert in_package <= names


def parts_of_a_clone(folder):
    course = folder / built_in_assignment.COURSE
    course.mkdir(parents=True)
    (folder / "solutions").mkdir()
    for name in ("__init__.py", "effort.py", "outcomes.py", "hints.toml", "glossary.toml"):
        shutil.copyfile(ROOT / built_in_assignment.COURSE / name, course / name)
    return folder


def test_assignment_in_a_clone_goes_to_the_built_in_course(tmp_path, monkeypatch):
    clone = parts_of_a_clone(tmp_path / "clone")
    assert built_in_assignment.is_clone(ROOT) and built_in_assignment.is_clone(clone)
    assert not built_in_assignment.is_clone(tmp_path)
    done = commands.headway("new-assignment", "centering", cwd=clone)
    assert done.returncode == 0, done.stderr
    assert "wrote autograder/benchmark/docstring_tests/test_centering.py" in done.stdout
    assert "make regenerate" in done.stdout and "headway verify centering --promises" in done.stdout
    for written in re.findall(r"^wrote (.+)$", done.stdout, re.M):
        text = (clone / written).read_text("utf-8")
        assert "centering" in text, written
        if written.endswith(".py"):
            compile(text, written, "exec")
        else:
            tomllib.loads(text)
    course = {}
    declaration = (clone / built_in_assignment.COURSE / "__init__.py").read_text("utf-8")
    monkeypatch.setitem(EFFORT, "centering.centering", (45, 1))
    monkeypatch.setitem(OUTCOMES, "centering", ("", ""))
    exec(compile(declaration, "course", "exec"), course)
    assert list(course["TRANSFORMER"].modules)[-1] == "centering"


def test_assignment_in_a_clone_without_its_table_is_refused(tmp_path):
    clone = parts_of_a_clone(tmp_path / "clone")
    (clone / built_in_assignment.COURSE / "effort.py").write_text("EFFORT = {}")
    with pytest.raises(UsageError, match="was not found"):
        built_in_assignment.create(clone, "centering")
    assert not (clone / "solutions" / "centering.py").exists()
