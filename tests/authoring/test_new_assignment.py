"""`headway new-assignment` writes an assignment that passes `headway verify` as it is."""

import json
import re
import shutil
import tomllib
import zipfile

import pytest
from support.commands import headway, headway_with, refusal, succeed
from support.editing import unchanged, write_files
from support.paths import ROOT

from autograder.authoring import new_assignment
from autograder.course import registry
from autograder.errors import UsageError


def install(root):
    """Write beside the package what pip leaves behind for `pip install -e`, from the entry points in pyproject.toml."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    about = root / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    points = project["entry-points"][registry.GROUP]
    lines = [f"[{registry.GROUP}]", *(f"{name} = {value}" for name, value in points.items()), ""]
    write_files(about, {"METADATA": metadata, "entry_points.txt": "\n".join(lines)})


@pytest.fixture
def root(tmp_path):
    """A course with one assignment."""
    new_assignment.create(tmp_path / "mine", "centering")
    return tmp_path / "mine"


@pytest.mark.slow
def test_skeletons_pass_verify_and_can_be_taught(tmp_path):
    root = tmp_path / "My course"
    lines = new_assignment.create(root, "centering")
    assert f"    pip install -e {root}" in lines and "    headway verify --curriculum my_course" in lines
    install(root)
    again = new_assignment.create(root, "scaling", "Scaling of rows")
    assert not any("pip install" in line for line in again)
    done = succeed("verify", "--curriculum", "my_course", "--json", "-", run=headway_with(root))
    kinds = [finding["kind"] for finding in json.loads(done.stdout)]
    assert (kinds.count("mistake"), kinds.count("solutions"), kinds.count("stubs")) == (4, 2, 1)
    assert kinds.count("promise") >= 4

    work, headway = tmp_path / "work", headway_with(root)
    succeed("init", work, "--curriculum", "my_course", run=headway)
    assert "Scaling of rows" in headway("list", cwd=work).stdout
    succeed("hint", "scaling.scaling", cwd=work, run=headway)
    wrong = (root / "my_course" / "solutions" / "scaling.py").read_text().replace("axis=-1", "axis=0")
    (work / "scaling.py").write_text(wrong)
    assert "taken over each column" in headway("check", "scaling", cwd=work).stdout
    for form in ("stubs", "notebooks"):
        succeed("release", tmp_path / form, "--format", form, "--curriculum", "my_course", run=headway)


@pytest.mark.slow
def test_skeleton_beside_a_reused_assignment_passes_verify(root, tmp_path):
    declaration = root / "mine" / "__init__.py"
    text = declaration.read_text()
    declaration.write_text(re.sub(r'# (\*built_in_assignments\()"softmax", "layernorm"', r'\1"tokenizer"', text))
    install(root)
    listed = succeed("list", "--curriculum", "mine", "--dir", tmp_path, run=headway_with(root))
    assert re.search(r"1\s+tokenizer", listed.stdout) and re.search(r"2\s+centering", listed.stdout)
    succeed("verify", "tokenizer.build_vocab", "centering", "--curriculum", "mine", run=headway_with(root))


def test_every_file_says_what_to_replace(root):
    written = [path for path in root.rglob("*") if path.is_file()]
    texts = {path: path.read_text() for path in written}
    assert len(texts) == 9
    assert not [path for path, text in texts.items() if "@" in text.replace("@graded", "").replace("@in_torch", "")]
    assert [path.name for path, text in texts.items() if "eplace" not in text] == []
    compile(texts[root / "mine" / "__init__.py"], "course", "exec")


def test_course_made_by_hand_is_not_edited(root):
    declaration = root / "mine" / "__init__.py"
    by_hand = declaration.read_text().replace(new_assignment.MARKER, "")
    declaration.write_text(by_hand)
    lines = new_assignment.create(root, "scaling")
    assert declaration.read_text() == by_hand
    assert any('course(…, "scaling", …)' in line for line in lines)
    assert (root / "mine" / "solutions" / "scaling.py").is_file()


def test_package_folder_stands_for_its_course_also_in_a_source_folder(root):
    new_assignment.create(root / "mine", "scaling")
    assert (root / "mine" / "solutions" / "scaling.py").is_file()
    (root / "src").mkdir()
    (root / "mine").rename(root / "src" / "mine")
    new_assignment.create(root, "shifting")
    assert (root / "src" / "mine" / "solutions" / "shifting.py").is_file()


@pytest.mark.parametrize(("name", "words"), [
    ("softmax", "To reuse it"), ("statistics", "a Python module of that name"),
    ("class", "a word of the Python language"), ("my-assignment", "letters, digits and underscores"),
    ("_hidden", "beginning with a letter"), ("train", "the website has a page"),
])  # fmt: skip
def test_name_that_cannot_be_used_is_refused(tmp_path, name, words):
    with pytest.raises(UsageError, match=words):
        new_assignment.create(tmp_path / "mine", name)
    assert not (tmp_path / "mine").exists()


def test_existing_assignment_is_not_overwritten(root):
    with unchanged(root):
        assert "already exists" in refusal("new-assignment", "centering", "--course", root)


def test_folder_that_is_no_course_is_refused(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UsageError, match="neither empty nor"):
        new_assignment.create(tmp_path, "centering")
    for project, words in (
        ('[project]\nname = "thesis"\n', "exactly one course"),
        ('[project.entry-points."headway.courses"]\nmine = "mine:COURSE"\n', "names the package 'mine'"),
    ):
        (tmp_path / "pyproject.toml").write_text(project)
        with pytest.raises(UsageError, match=words):
            new_assignment.create(tmp_path, "centering")
    (tmp_path / "json").mkdir()
    with pytest.raises(UsageError, match="cannot be named 'json'"):
        new_assignment.create(tmp_path / "json", "centering")


@pytest.mark.slow
def test_wheel_of_a_course_has_all_its_files(root, tmp_path):
    build = pytest.importorskip("hatchling.builders.wheel")
    more = {"solutions/figures/row.svg": "<svg/>", "answers.json": "{}", "centering/answers.memo": ""}
    write_files(root / "mine", more)
    (wheel,) = build.WheelBuilder(str(root)).build(directory=str(tmp_path / "dist"))
    names = set(zipfile.ZipFile(wheel).namelist())
    in_package = {path.relative_to(root).as_posix() for path in (root / "mine").rglob("*") if path.is_file()}
    assert in_package <= names


def parts_of_a_clone(folder):
    course = folder / new_assignment.BUILT_IN
    course.mkdir(parents=True)
    (folder / "solutions").mkdir()
    shutil.copy(ROOT / new_assignment.BUILT_IN / "__init__.py", course)
    return folder


@pytest.mark.slow
def test_assignment_in_a_clone_goes_to_the_built_in_course(tmp_path):
    clone = parts_of_a_clone(tmp_path / "clone")
    assert new_assignment.find_project(ROOT).is_clone and new_assignment.find_project(clone).is_clone
    done = succeed("new-assignment", "centering", cwd=clone, run=headway)
    assert "beginners/centering.py" in done.stdout
    assert "make regenerate" in done.stdout and "headway verify centering" in done.stdout
    for written in re.findall(r"^wrote (.+)$", done.stdout, re.M):
        text = (clone / written).read_text("utf-8")
        assert "centering" in text, written
        if written.endswith(".py"):
            compile(text, written, "exec")
        else:
            tomllib.loads(text)
    declaration = (clone / new_assignment.BUILT_IN / "__init__.py").read_text("utf-8")
    assert re.findall(r'^    "(\w+)",$', declaration, re.M) == [*registry.default().modules, "centering"]
