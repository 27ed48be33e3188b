"""The zipped download of a class is read like the unpacked one, and a hostile archive writes nothing elsewhere."""

import json
import stat
import zipfile
from pathlib import Path

import pytest
from support.commands import invoke, succeed
from support.editing import write_files, zip_bytes
from support.softmax_class import RIGHT, WRONG, CachingPool, class_document

from autograder.classroom import grade as grade_module
from autograder.classroom.submissions import class_archive, intake, sources
from autograder.classroom.submissions.model import Source
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError

PERSON = "submission_{}:\n  :submitters:\n  - :name: {}\n    :sid: '{}'\n    :email: {}\n  :created_at: {}\n"
METADATA = PERSON.format(11, "Ada Lovelace", "0042", "ada@example.edu", "2026-04-26 17:34:00.861687000 Z")
METADATA += PERSON.format(12, "Grace Hopper", "43", "grace@example.edu", "2026-04-27 09:00:00.000000000 Z")
WORKSHEET = (
    "Identifier,Full name,Status\nParticipant 18,Ada Lovelace,Submitted for grading\n"
    "Participant 19,Grace Hopper,Submitted for grading - 1 day late\n"
)
MOODLE = "{}_assignsubmission_file/softmax.py"
EXPORT = "assignment_5_export"
DOWNLOADS = {
    "canvas": {"lovelaceada_4021_91_softmax.py": RIGHT, "hoppergrace_LATE_4022_92_softmax-1.py": WRONG},
    "moodle": {MOODLE.format("Ada Lovelace_18"): RIGHT, MOODLE.format("Grace Hopper_19"): WRONG},
    "gradescope": {f"{EXPORT}/submission_metadata.yml": METADATA, f"{EXPORT}/submission_11/softmax.py": RIGHT,
                   f"{EXPORT}/submission_12/softmax.py": WRONG},
}  # fmt: skip


def write_zip(path, files):
    write_files(path.parent, {path.name: zip_bytes(files)})
    return path


def read(folder):
    """Return each student of a source, with the digest of the files of each attempt, and the warnings."""
    source = Source("", ("softmax",), folder, "auto", TRANSFORMER.select(["softmax"]))
    with class_archive.unpacked([source], TRANSFORMER) as ((found,), warnings):
        students = {
            member.submission: (
                member.name, member.ids,
                [(intake.content_digest(intake.read_files(one)), one.late, one.late_by, one.times)
                 for one in member.attempts],
            )
            for member in sources.read_source(found, TRANSFORMER, folder.parent / "out")
        }  # fmt: skip
    return students, warnings


def unpack(tmp_path, files):
    folder = tmp_path / "unpacked"
    folder.mkdir()
    return class_archive.unpack(write_zip(tmp_path / "class.zip", files), folder), folder


@pytest.mark.parametrize("wrapper", ["", "submissions/"])
@pytest.mark.parametrize("platform", DOWNLOADS)
def test_zipped_download_is_read_like_the_folder(tmp_path, platform, wrapper):
    files = DOWNLOADS[platform]
    expected, _ = read(write_files(tmp_path / "folder", files))
    packed = {f"{wrapper}{name}": text for name, text in files.items()}
    found, warnings = read(write_zip(tmp_path / "submissions.zip", packed))
    assert (found, warnings) == (expected, [])
    assert len(found) == 2
    write_zip(tmp_path / "softmax" / "download.zip", packed)
    assert read(tmp_path / "softmax")[0] == expected


def test_worksheet_beside_the_archive_gives_lateness(tmp_path):
    write_zip(tmp_path / "softmax" / "download.zip", DOWNLOADS["moodle"])
    (tmp_path / "softmax" / "Grades.csv").write_text(WORKSHEET, "utf-8")
    found, _ = read(tmp_path / "softmax")
    assert [attempts[0][1] for _, _, attempts in found.values()] == [False, True]


@pytest.mark.parametrize("name", ["{}/download.zip", "{}.zip"])
@pytest.mark.parametrize("platform", DOWNLOADS)
def test_find_sources_takes_an_archive_for_each_assignment(tmp_path, platform, name):
    for module in ("attention", "softmax"):
        files = {path.replace("softmax", module): text for path, text in DOWNLOADS[platform].items()}
        write_zip(tmp_path / "term" / name.format(module), files)
    found = sources.find_sources(tmp_path / "term", TRANSFORMER, "auto", tuple(TRANSFORMER.functions), tmp_path / "out")
    assert [source.name for source in found] == ["softmax", "attention"]


def test_archives_of_a_class_of_one_and_of_one_student_are_read(tmp_path):
    write_zip(tmp_path / "class" / "ada.zip", {"softmax.py": RIGHT})
    for path in (write_zip(tmp_path / "class.zip", {"ada/softmax.py": RIGHT}), tmp_path / "class"):
        assert list(read(path)[0]) == ["ada"]


@pytest.mark.slow
def test_grading_an_archive_twice_grades_nothing_again(tmp_path, monkeypatch):
    monkeypatch.setattr(grade_module, "WorkerPool", CachingPool)
    archive, out = write_zip(tmp_path / "download.zip", DOWNLOADS["canvas"]), tmp_path / "out"
    command = ("grade", "--source", f"softmax={archive}", "--out", out, "--seed", "0", "--no-color")
    succeed(*command)
    assert json.loads((out / "submissions.json").read_text("utf-8"))["sources"][0]["folder"] == str(archive)
    scores = {student["submission"]: student["percent"] for student in class_document(out)["students"]}
    assert min(scores.values()) < max(scores.values())
    folder = write_files(tmp_path / "folder", DOWNLOADS["canvas"])
    invoke("grade", "--source", f"softmax={folder}", "--out", tmp_path / "other", "--seed", "0", "--no-color")
    assert {s["submission"]: s["percent"] for s in class_document(tmp_path / "other")["students"]} == scores
    monkeypatch.setattr(grade_module, "WorkerPool", None)  # grading would fail
    assert invoke(*command).returncode == 0
    assert not list(Path(tmp_path).glob("submissions*"))


@pytest.mark.parametrize("name", ["../x.py", "ada/../../x.py", "/tmp/x.py", "/x.py"])
def test_path_outside_the_folder_is_refused(tmp_path, name):
    with pytest.raises(UsageError, match="outside its folder"):
        unpack(tmp_path, {"ada/softmax.py": "", name: ""})
    assert not (tmp_path / "x.py").exists()


@pytest.mark.parametrize("name", ["C:softmax.py", "C:\\ada\\softmax.py"])
def test_windows_path_is_left_out(tmp_path, name):
    (warning,), folder = unpack(tmp_path, {"bo/softmax.py": "", name: ""})
    assert "Windows path" in warning
    assert [path.name for path in folder.rglob("*.py")] == ["softmax.py"]


def test_archive_made_on_windows_is_read(tmp_path):
    warnings, folder = unpack(tmp_path, {"ada\\softmax.py": "", "bo/softmax.py": ""})
    assert not warnings and (folder / "ada" / "softmax.py").is_file()


def test_windows_names_are_left_out_on_windows(tmp_path, monkeypatch):
    monkeypatch.setattr(class_archive, "IS_WINDOWS", True)
    names = ["con.py", "ada./softmax.py", "ada/soft?max.py", "NUL", "ada /softmax.py"]
    warnings, folder = unpack(tmp_path, {"bo/softmax.py": "", **dict.fromkeys(names, "")})
    assert len(warnings) == len(names)
    assert [path.name for path in folder.iterdir()] == ["bo"]


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_link_is_left_out(tmp_path, kind):
    entry = zipfile.ZipInfo("ada/softmax.py")
    entry.external_attr = (kind | 0o777) << 16
    archive = write_zip(tmp_path / "class.zip", {"bo/softmax.py": RIGHT})
    with zipfile.ZipFile(archive, "a") as file:
        file.writestr(entry, "/etc/passwd")
    (tmp_path / "unpacked").mkdir()
    (warning,) = class_archive.unpack(archive, tmp_path / "unpacked")
    assert "ada/softmax.py" in warning and "a link or a device" in warning
    assert not (tmp_path / "unpacked" / "ada").exists()


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("first", "second"), [("ada/x.py", "ada/./x.py"), ("ada", "ada/x.py"), ("ada/x.py", "ada//x.py")]
)
def test_same_place_twice_is_refused(tmp_path, first, second):
    with pytest.raises(UsageError, match="twice"):
        unpack(tmp_path, {first: "", second: ""})


def test_damaged_archive_is_refused(tmp_path):
    archive = write_zip(tmp_path / "class.zip", {"ada/softmax.py": RIGHT * 9})
    content = bytearray(archive.read_bytes())
    content[60:80] = bytes(20)
    archive.write_bytes(content)
    with pytest.raises(UsageError, match="damaged"):
        class_archive.unpack(archive, tmp_path)
    (tmp_path / "text.zip").write_text("not an archive")
    with pytest.raises(UsageError, match="damaged"):
        class_archive.unpack(tmp_path / "text.zip", tmp_path)


@pytest.mark.slow
def test_too_large_file_is_reported_for_its_student(tmp_path):
    files = {"ada/softmax.py": "#" * (17 << 20), "bo/softmax.py": RIGHT, "bo/data.bin": "0" * (1 << 20)}
    write_zip(tmp_path / "class.zip", files)
    warnings, folder = unpack(tmp_path, files)
    assert warnings == []
    assert (folder / "ada" / "softmax.py").stat().st_blocks == 0 and (folder / "bo" / "data.bin").stat().st_size == 0
    found, _ = read(tmp_path / "class.zip")
    assert list(found) == ["ada", "bo"]


@pytest.mark.parametrize("name", ["ada/{}.py", "ada_4021_{}_softmax.py", "Ada_18_assignsubmission_file/{}.py"])
def test_one_student_cannot_use_the_space_of_others(tmp_path, monkeypatch, name):
    monkeypatch.setattr(intake, "MAX_RAW_BYTES", 100_000)
    files = {name.format(number): "#" * 40_000 for number in range(9)} | {"bo_4022_9_softmax.py": RIGHT}
    warnings, folder = unpack(tmp_path, files)
    assert len(warnings) == 7 and "one student" in warnings[0]
    assert len(list(folder.rglob("*.py"))) == 3 and (folder / "bo_4022_9_softmax.py").read_text() == RIGHT


@pytest.mark.slow
def test_huge_files_of_one_student_leave_others_readable(tmp_path, monkeypatch):
    monkeypatch.setattr(class_archive, "SMALL_BYTES", 1 << 20)
    files = {f"ada_4021_{number}_softmax.py": "#" * (17 << 20) for number in range(3)}
    warnings, folder = unpack(tmp_path, files | {"bo_4022_9_softmax.py": RIGHT})
    assert warnings == [] and (folder / "bo_4022_9_softmax.py").read_text() == RIGHT


@pytest.mark.parametrize(
    "name",
    ["anon_x_{}_f.py", "LATE_anon_x_{}_f.py", "anon_x_{}_4_5_f.py", "ada_4021_{}_1_2_assignsubmission_file_f.py",
     "ada_4021_{0}_{0}_assignsubmission_file_f.py", "Ada_18_assignsubmission_file_{0}_{0}_f.py", "f{}.py", "f{}.zip",
     "submitted/ada/{}.py", "assignment_5_export/submission_1/{}.py"],
)  # fmt: skip
def test_unpack_with_one_students_large_files_leaves_the_others(tmp_path, monkeypatch, name):
    monkeypatch.setattr(class_archive, "SMALL_BYTES", 1 << 20)
    monkeypatch.setattr(intake, "MAX_RAW_BYTES", 300_000)
    names = ("anon_y_9_softmax.py", "submitted/bo/softmax.py", "submitted/cy/softmax.py", "source/softmax.py")
    others = dict.fromkeys((*names, "assignment_5_export/submission_2/softmax.py"), RIGHT)
    others["assignment_5_export/submission_metadata.yml"] = METADATA
    alone = name.startswith("f")
    shared = others if "/" in name else {"anon_y_9_softmax.py": RIGHT, "bo_4022_9_softmax.py": RIGHT}
    warnings, folder = unpack(tmp_path, {name.format(number): "#" * 80_000 for number in range(18)} | shared)
    for path, text in shared.items():
        assert (folder / path).read_text() == text
    files = [path for path in folder.rglob("*") if path.is_file() and path.stat().st_size == 80_000]
    assert len(files) == (12 if alone else 3) and len(warnings) == 18 - len(files)
    assert ("more than 1 MiB" if alone else "one student") in warnings[0]


def test_unpack_with_a_name_of_two_students_gives_it_what_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(intake, "MAX_RAW_BYTES", 100_000)
    files = {"ada_4021_1_4022_9_f.py": "#" * 80_000, "ada_4021_2_softmax.py": "#" * 60_000}
    warnings, folder = unpack(tmp_path, files)
    assert len(warnings) == 1 and [path.name for path in folder.iterdir()] == ["ada_4021_2_softmax.py"]


@pytest.mark.parametrize(("most", "left_out"), [(6, 5), (7, 0)])
@pytest.mark.parametrize("name", ["ada_4021_{}_f.py", "ada/x/y/{}.py"])
def test_unpack_with_one_students_many_files_leaves_the_others(tmp_path, monkeypatch, name, most, left_out):
    monkeypatch.setattr(class_archive, "MAX_ENTRIES", most)
    others = {"bo_4022_9_softmax.py": RIGHT, "cy/softmax.py": RIGHT}
    warnings, folder = unpack(tmp_path, {name.format(number): "" for number in range(5)} | others)
    assert all((folder / other).is_file() for other in others)
    assert ["or 6 files" in warning for warning in warnings] == [True] * left_out


def test_unpack_with_many_files_in_all_reads_the_platforms_index(tmp_path, monkeypatch):
    monkeypatch.setattr(class_archive, "SMALL_BYTES", 1 << 20)
    index = METADATA + "#" * 900_000
    files = {"submission_metadata.yml": index, **{f"submission_{n}/softmax.py": "#" * 60_000 for n in range(9)}}
    warnings, folder = unpack(tmp_path, files)
    assert len(warnings) == 7 and (folder / "submission_metadata.yml").read_text() == index


def test_unpack_with_names_that_the_system_confuses_leaves_out_the_second(tmp_path):
    (tmp_path / "unpacked" / "ada").mkdir(parents=True)
    (tmp_path / "unpacked" / "ada" / "softmax.py").touch()  # as if the system had written "Softmax.py" there
    archive = write_zip(tmp_path / "class.zip", {"ada/softmax.py": WRONG, "bo/softmax.py": RIGHT})
    (warning,) = class_archive.unpack(archive, tmp_path / "unpacked")
    assert "ada/softmax.py" in warning and (tmp_path / "unpacked" / "bo" / "softmax.py").read_text() == RIGHT


def test_unpack_with_a_flood_of_warnings_shows_one_of_each_student(tmp_path, monkeypatch):
    monkeypatch.setattr(intake, "MAX_RAW_BYTES", 10)
    warnings, _ = unpack(tmp_path, {**{f"ada/{number}.py": "#" * 20 for number in range(30)}, "bo/b.py": "#" * 20})
    assert len(warnings) == 21 and "'bo/b.py'" in warnings[1] and "11 more files" in warnings[-1]


def test_read_platform_with_a_number_of_many_digits_is_no_download(tmp_path):
    name = f"ada_1_{'9' * 5000}_softmax.py"
    archive = write_zip(tmp_path / "softmax.zip", {name: "", name.replace("ada", "bo"): ""})
    assert class_archive.download_kind(archive) == ""


@pytest.mark.parametrize("content", ["Identifier,Status\na,b,c", "Identifier,Status\nParticipant 18,on time"])
def test_read_moodle_with_a_students_csv_is_no_worksheet(tmp_path, content):
    files = {f"{name}_assignsubmission_file_softmax.py": RIGHT for name in ("Ada Lovelace_18", "Grace Hopper_19")}
    files |= {"A.csv": WORKSHEET.replace("Submitted for grading\n", "Submitted for grading - 2 days late\n")}
    files |= {"Ada Lovelace_18_assignsubmission_file_x.csv": content}
    found, _ = read(write_files(tmp_path / "folder", files))
    assert [attempts[0][1] for _, _, attempts in found.values()] == [True, True]


def test_archive_without_submissions_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"no submissions in .*class\.zip\. "):
        read(write_zip(tmp_path / "class.zip", {}))


def test_temporary_folder_is_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    read(write_zip(tmp_path / "class" / "class.zip", DOWNLOADS["canvas"]))
    assert [path.name for path in tmp_path.iterdir()] == ["class"]


@pytest.mark.slow
def test_class_of_many_files_with_one_beginning_is_complete(tmp_path):
    files = {f"hw_1_{number}/softmax.py": "" for number in range(1500)}
    warnings, folder = unpack(tmp_path, {**files, **{f"hw_1_2_{number}.py": "" for number in range(2500)}})
    assert warnings == [] and len(list(folder.rglob("*.py"))) == 4000
