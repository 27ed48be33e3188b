"""Names in the downloads of platforms that claim another student's work, and indexes that are made to harm."""

from contextlib import closing

import pytest
from support.editing import write_files, zip_bytes

from autograder.classroom.submissions import intake
from autograder.classroom.submissions.account import account_for
from autograder.classroom.submissions.sources import read_class_members
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError
from autograder.sandbox.process import SpawnedWorkers
from autograder.sandbox.source_reader import SourceReader

ADA, EVE = (f"def softmax(x): return {name!r}\n".encode() for name in ("ada", "eve"))
MOODLE = "_assignsubmission_file_"
CLASSES = {
    # Eve's name on the platform is made so that hers is the longer reading of Ada's.
    "canvas": ("ada_4_90_", "ada_4_77_5_100_", {"bo_6_101_softmax.py": b"", "cy_7_102_softmax.py": b""}, "ada_4"),
    "moodle": (f"Ada_4{MOODLE}", f"Ada_4{MOODLE}_5{MOODLE}",
               {f"Bo_6{MOODLE}softmax.py": b"", f"Cy_7{MOODLE}softmax.py": b""}, "Ada_4"),
}  # fmt: skip
SUBMITTER = "submission_{}:\n  :submitters:\n  - :name: {}\n    :sid: {}\n    :email: {}@x.edu\n"
ADAS = SUBMITTER.format(1, "Ada", "'1'", "ada")


def read(folder, files):
    """Return the members of a class that consists of these files, by submission."""
    write_files(folder, files)
    return {member.submission: member for member in read_class_members(folder, TRANSFORMER)}


def read_gradescope(folder, index):
    """Return the members of an export of Gradescope with this index, by submission."""
    submissions = {"submission_1/softmax.py": ADA, "submission_2/softmax.py": EVE}
    return read(folder, {"submission_metadata.yml": index, **submissions})


def modules_of(member, folder):
    """Return the modules that are graded, and the notes."""
    folder.mkdir()
    with closing(SourceReader(SpawnedWorkers())) as reader:
        result = account_for(intake.read_files(member.attempts[-1]), TRANSFORMER, reader)
        result.write(folder, TRANSFORMER)
    return {path.name: path.read_bytes() for path in folder.iterdir()}, "\n".join(result.notes)


@pytest.mark.parametrize("platform", list(CLASSES))
@pytest.mark.parametrize("name", ["softmax.py", "hw1.py"])
@pytest.mark.parametrize(("hostile", "content"), [
    ("softmax.py", EVE), ("work.zip", zip_bytes({"softmax.py": EVE})),
    ("work.zip", zip_bytes({"math.py": "raise SystemExit\n", "tokenizer.py": "1 / 0\n"})),
], ids=["module", "archive", "helpers"])  # fmt: skip
def test_name_that_claims_another_student_adds_nothing_to_her_work(tmp_path, platform, name, hostile, content):
    ada, eve, others, submission = CLASSES[platform]
    members = read(tmp_path / "class", {ada + name: ADA, eve + hostile: content, **others})
    modules, notes = modules_of(members[submission], tmp_path / "copied")
    assert modules == {name: ADA, "softmax.py": ADA}
    assert "it may be of another student" in notes


@pytest.mark.parametrize("platform", list(CLASSES))
def test_unclear_name_counts_where_no_other_file_does(tmp_path, platform):
    _, eve, others, submission = CLASSES[platform]
    members = read(tmp_path / "class", {f"{eve}work.zip": zip_bytes({"softmax.py": EVE}), **others})
    assert modules_of(members[submission], tmp_path / "copied")[0] == {"softmax.py": EVE}


def test_moodle_name_with_number_of_another_gets_no_number(tmp_path):
    _, _, others, _ = CLASSES["moodle"]
    files = {f"Ada_4{MOODLE}softmax.py": ADA, f"\u0410da_4{MOODLE}_5{MOODLE}softmax.py": EVE, **others}
    members = read(tmp_path / "class", files)
    assert members["Ada_4"].ids == {"moodle": "4"}
    assert (members["\u0410da_4"].ids, members["\u0410da_4"].id) == ({}, "")
    assert "number of another student" in members["\u0410da_4"].notes[0]


@pytest.mark.parametrize("digit", ["\u0664", "\uff14"])
def test_number_has_only_ascii_digits(tmp_path, digit):
    _, _, others, _ = CLASSES["canvas"]
    members = read(tmp_path / "class", {"ada_4_90_softmax.py": ADA, f"eve_{digit}_5_100_softmax.py": EVE, **others})
    assert sorted(member.id for member in members.values()) == ["4", "5", "6", "7"]


@pytest.mark.parametrize("name", ["..", ".", "/", "a/..", "../.."])
def test_gradescope_index_names_no_other_folder(tmp_path, name):
    index = ADAS + SUBMITTER.format(2, "Eve", "'2'", "eve") + f"{name}:\n  :submitters:\n  - :name: Up\n    :sid: '9'\n"
    (tmp_path / "softmax.py").write_bytes(b"the instructor's\n")
    assert list(read_gradescope(tmp_path / "class", index)) == ["1", "2"]


def test_gradescope_aliases_are_not_multiplied(tmp_path):
    lists = "a0: &a0 lol\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 6))
    members = read_gradescope(tmp_path / "class", lists + ADAS + SUBMITTER.format(2, "Eve", "*a5", "eve"))
    assert members["eve@x.edu"].id == ""


@pytest.mark.parametrize("text", ["[" * 200_000, "a: " + "{b: " * 200_000, "- " * 200_000 + "x", "? " * 200_000])
def test_gradescope_index_of_many_levels_is_one_line(tmp_path, text):
    with pytest.raises(UsageError, match="not valid YAML"):
        read(tmp_path / "class", {"submission_metadata.yml": text})


@pytest.mark.parametrize(
    "tag", ["!!python/object/apply:os.mkdir [made]", "!!python/name:os.system x", "!ruby/object:Gem::Requirement x"]
)
def test_gradescope_tag_makes_no_object(tmp_path, monkeypatch, tag):
    monkeypatch.chdir(tmp_path)
    index = f"submission_1:\n  :submitters: {tag}\nsubmission_2: {tag}\n"
    assert len(read_gradescope(tmp_path / "class", index)) == 2
    assert not (tmp_path / "made").exists()
