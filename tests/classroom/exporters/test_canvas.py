"""Test that Canvas's importer accepts each export, gives every score to the right student, and deletes nothing."""

import ast
import copy
import csv
import io
import json
import shutil
import tarfile
import zipfile

import pytest
from support.commands import refusal, succeed
from support.lms_files import canvas_gradebook, written
from support.lms_importers import CanvasCourse
from support.softmax_class import RIGHT, WRONG, grade

from autograder.classroom.exporters import canvas, feedback_zip
from autograder.classroom.storage import gradebook
from autograder.errors import UsageError

SOFTMAX, ATTENTION = 5011, 5012
TITLES = {"softmax": f"softmax ({SOFTMAX})", "attention": f"Assignment 2: attention ({ATTENTION})"}


@pytest.fixture(scope="module")
def graded(make_class):
    return gradebook.read(make_class(24, seed=3, assignments=("softmax", "attention"), hostile=False))


@pytest.fixture
def book(graded):
    """The class, downloaded from Canvas: every name once, and the first student submitted only softmax."""
    document = copy.deepcopy(graded.document)
    for number, student in enumerate(document["students"]):
        student.update(name=f"Given{number} Family{number}", ids={"canvas": str(9000 + number)}, roster={})
    document["students"][0]["assignments"]["attention"].update(status="missing", score=0.0, file=None)
    return gradebook.Gradebook(graded.out, document)


def canvas_course(book):
    students = {
        9000 + n: {"name": s["name"], "sortable_name": f"Family{n}, Given{n}", "sis_user_id": s["id"], "login": f"u{n}"}
        for n, s in enumerate(book.students)
    }
    points = {one["name"]: one["possible"] for one in book.assignments}
    softmax = {"title": "softmax", "points": points["softmax"]}
    attention = {"title": "Assignment 2: attention", "points": points["attention"]}
    return CanvasCourse(students, {SOFTMAX: softmax, ATTENTION: attention})


def exported(course, tmp_path, **options):
    """The gradebook that Canvas exports of a course."""
    columns = {f"{entry['title']} ({number})": entry["points"] for number, entry in course.assignments.items()}
    people = []
    for number, person in course.students.items():
        cells = {title: course.scores.get((number, int(title[-5:-1])), "") for title in columns}
        cells |= {t: "N/A" for t in columns if (number, int(t[-5:-1])) in course.not_assigned}
        people.append((person["sortable_name"], number, person["sis_user_id"], person["login"], "Lecture 1", cells))
    path = tmp_path / "gradebook.csv"
    path.write_bytes(canvas_gradebook(people, columns, **options).encode(options.pop("encoding", "utf-8")))
    return path


def imported(book, course, tmp_path, **options):
    """What Canvas's import does with the export for its gradebook, and the lines of the plan."""
    plan = canvas.plan(book, canvas.read_gradebook(exported(course, tmp_path)), **options)
    return course.import_gradebook(written(plan, tmp_path)), plan.lines


def expected_scores(book):
    numbers = {"softmax": SOFTMAX, "attention": ATTENTION}
    return {
        (9000 + n, numbers[name]): f"{grade['score']:.2f}".rstrip("0").rstrip(".")
        for n, student in enumerate(book.students)
        for name, grade in student["assignments"].items()
        if grade["status"] in ("graded", "unreadable")
    }


VARIANTS = [
    {}, {"split_names": True}, {"sis": False}, {"integration": True}, {"notes": True}, {"hidden": True},
    {"override": True}, {"separator": ";", "decimal": ","}, {"read_only": "(läs endast)"},
]  # fmt: skip


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: "-".join(variant) or "plain")
def test_canvas_imports_every_score_to_its_student(book, tmp_path, variant):
    course = canvas_course(book)
    course.custom_columns = ("Notes",)
    plan = canvas.plan(book, canvas.read_gradebook(exported(course, tmp_path, **variant)))
    done = course.import_gradebook(written(plan, tmp_path))
    assert done["scores"] == expected_scores(book)
    assert not done["new_students"] and not done["new_assignments"] and not done["points"]
    assert not any("Not in this class" in line for line in plan.lines)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_canvas_gradebook_encoding_is_recognized(book, tmp_path, encoding):
    course = canvas_course(book)
    book.students[3]["name"] = course.students[9003]["name"] = "Zoë Ünal"
    course.students[9003]["sortable_name"] = "Ünal, Zoë"
    path = exported(course, tmp_path)
    path.write_bytes(path.read_text("utf-8").encode(encoding))
    content = written(canvas.plan(book, canvas.read_gradebook(path)), tmp_path)
    assert "Ünal, Zoë" in content.decode("utf-8")
    assert course.import_gradebook(content)["scores"] == expected_scores(book)


@pytest.mark.parametrize("status", ["missing", "waiting", "failed"])
def test_canvas_blank_never_replaces_a_score(book, tmp_path, status):
    book.students[0]["assignments"]["attention"]["status"] = status
    course = canvas_course(book)
    course.scores = {(9000, ATTENTION): "7"}  # entered by hand
    done, lines = imported(book, course, tmp_path)
    assert (9000, ATTENTION) not in done["scores"]
    assert any("(1): Family0, Given0 (attention)" in line for line in lines)


def test_canvas_roster_with_blank_cells_is_refused(book, tmp_path):
    """The roster may be older than a score in Canvas, which its cell would replace."""
    gradebook_file = canvas.read_gradebook(exported(canvas_course(book), tmp_path))
    for student, row in zip(book.students, gradebook_file.rows, strict=True):
        student["roster"] = dict(zip(gradebook_file.titles, row, strict=True))
    with pytest.raises(UsageError, match=r"Family0, Given0 \(attention\).*--gradebook FILE"):
        canvas.plan(book, None)
    assert "gradebook.csv" in str(canvas.plan(book, gradebook_file).lines), "a file that is given counts"
    book.students[3]["roster"][TITLES["attention"]] = "0.25"  # an old grade
    plan = canvas.plan(book, None, assignments=["attention"])
    assert not any("that change" in line for line in plan.lines)
    scores = canvas_course(book).import_gradebook(written(plan, tmp_path))["scores"]
    assert scores == {key: score for key, score in expected_scores(book).items() if key[1] == ATTENTION}


def test_canvas_changed_scores_are_said_or_kept(book, tmp_path):
    course = canvas_course(book)
    same = str(float(expected_scores(book)[9005, SOFTMAX]) + 0.001)
    course.scores = {(9003, SOFTMAX): "0.25", (9004, SOFTMAX): "ex", (9005, SOFTMAX): same}
    changed, lines = imported(book, course, tmp_path)
    assert any("Family3, Given3 (softmax 0.25" in line for line in lines)
    assert any("Excused in Canvas" in line and "Given4" in line for line in lines) and "Given5" not in str(lines)
    assert (9003, SOFTMAX) in changed["scores"] and (9004, SOFTMAX) not in changed["scores"]
    kept, _ = imported(book, course, tmp_path, keep_existing=True)
    assert (9003, SOFTMAX) not in kept["scores"]


def test_canvas_excused_student_is_ex(book, tmp_path):
    for one in book.students[2]["assignments"].values():
        one.update(excused=True, score=0.0)
    assert imported(book, canvas_course(book), tmp_path)[0]["scores"][9002, SOFTMAX] == "EX"


def test_canvas_not_assigned_student_is_named(book, tmp_path):
    course = canvas_course(book)
    course.not_assigned = {(9002, SOFTMAX), (9003, SOFTMAX)}
    book.students[3]["assignments"]["softmax"].update(excused=True)
    done, lines = imported(book, course, tmp_path)
    assert (9002, SOFTMAX) not in done["scores"]
    assert ["Given3" in line for line in lines if "Not assigned" in line and "Given2" in line] == [False]


def test_canvas_other_maximum_scales_the_scores(book, tmp_path):
    course = canvas_course(book)
    course.assignments[SOFTMAX]["points"] *= 2
    done, lines = imported(book, course, tmp_path)
    assert not done["points"]
    for (student, assignment), score in expected_scores(book).items():
        factor = 2 if assignment == SOFTMAX else 1
        assert float(done["scores"][student, assignment]) == pytest.approx(factor * float(score), abs=0.011)
    assert ["scaled" in line for line in lines if 'column "' in line] == [True, False]


def test_canvas_user_id_never_counts_as_an_institution_number(book, tmp_path):
    """A class without a roster has Canvas's user ids; another student may have one of them as the SIS id."""
    course = canvas_course(book)
    for number, student in enumerate(book.students):
        student["id"] = str(9000 + number)  # as from the download
    course.students[9001]["sis_user_id"] = "9005"
    assert imported(book, course, tmp_path)[0]["scores"] == expected_scores(book)


def test_canvas_moodle_class_matches_by_name_or_address(book, tmp_path):
    course = canvas_course(book)
    for number, student in enumerate(book.students):
        student.update(ids={"moodle:softmax": str(9000 + (number + 1) % 24)}, id=str(9000 + (number + 1) % 24))
    book.students[5]["name"] = "Somebody Else"
    done, lines = imported(book, course, tmp_path)
    assert done["scores"] == {key: score for key, score in expected_scores(book).items() if key[0] != 9005}
    assert any(line.startswith("Not exported") and "Somebody Else" in line for line in lines)


def test_canvas_namesakes_are_not_exported(book, tmp_path):
    course = canvas_course(book)
    for student in book.students[6:8]:
        student.update(name="Jo Kim", ids={}, email="")
    course.students[9006].update(name="Jo Kim", sortable_name="Kim, Jo")
    done, lines = imported(book, course, tmp_path)
    assert not {9006, 9007} & {student for student, _ in done["scores"]}
    assert any("several people" in line for line in lines)


def test_canvas_gradebook_of_another_class_is_refused(book, tmp_path):
    people = [(f"Other, Person{n}", n, f"x{n}", f"x{n}", "A", {}) for n in range(20)]
    path = tmp_path / "gradebook.csv"
    path.write_text(canvas_gradebook(people, {TITLES["softmax"]: 10.0}))
    with pytest.raises(UsageError, match="no id, address or name"):
        canvas.plan(book, canvas.read_gradebook(path))


def test_canvas_section_needs_partial(book, tmp_path):
    course = canvas_course(book)
    course.students = dict(list(course.students.items())[:6])
    file = canvas.read_gradebook(exported(course, tmp_path))
    with pytest.raises(UsageError, match="--partial"):
        canvas.plan(book, file)
    assert canvas.plan(book, file, partial=True).students == 6


@pytest.mark.parametrize(("titles", "found"), [
    (["softmax (1)", "attention (2)"], None), (["HW 3: Softmax (1)", "Week 2 - Attention (2)"], None),
    (["Softmax and cross-entropy (1)", "2. attention.py (2)"], None),
    (["softmax (1)", "Multi-head attention (2)"], ["softmax (1)"]),
    (["softmax (1)", "Attention quiz (2)", "attention"], ["softmax (1)"]),
    (["Softmax (1)", "softmax homework (3)", "attention (2)"], ["Softmax (1)", "attention (2)"]),
])  # fmt: skip
def test_find_columns_recognizes_only_the_assignment(titles, found):
    file = canvas.CanvasGradebook("f", ["Student", "ID", "Section", *titles], [], None, True)
    names = {"softmax": "Softmax and cross-entropy", "attention": "Attention"}
    assert list(canvas.find_columns(file, names, {})[0].values()) == (found or titles)


def test_find_columns_several_candidates_are_refused():
    titles = ["Student", "ID", "Section", "HW softmax (1)", "Lab softmax (2)"]
    file = canvas.CanvasGradebook("f", titles, [], None, True)
    with pytest.raises(UsageError, match=r"--column softmax=\"HW softmax \(1\)\""):
        canvas.find_columns(file, {"softmax": "S"}, {})
    with pytest.raises(UsageError, match="softmax and attention would share"):
        canvas.find_columns(file, {"softmax": "S", "attention": "A"}, dict.fromkeys(("softmax", "attention"), "X"))


def test_export_canvas_says_first_and_writes(book, tmp_path):
    course = canvas_course(book)
    course.assignments[ATTENTION]["title"] = "Looking at tokens"
    course.scores = {(9003, SOFTMAX): "0.25"}
    path = exported(course, tmp_path)
    out = tmp_path / "out"
    out.mkdir()
    (out / "class.json").write_text(json.dumps(book.document), "utf-8")
    command = ["export", "canvas", out, "--gradebook", path]
    said = succeed(*command, "--dry-run").stdout
    assert "no column (1): attention" in said and '--column attention="TITLE"' in said.replace("\n", " ")
    assert "has no column for attention" in refusal(*command, "--assignment", "attention", "--assignment", "softmax")
    assert "softmax 0.25" in said and "softmax 0.25" not in succeed(*command, "--dry-run", "--keep-existing").stdout
    assert not (out / "exports").exists()
    succeed(*command, "--column", f"attention=Looking at tokens ({ATTENTION})")
    rows = list(csv.reader(io.StringIO((out / "exports" / "canvas.csv").read_text("utf-8"))))
    assert rows[0][-2:] == [TITLES["softmax"], f"Looking at tokens ({ATTENTION})"]
    assert len(rows) == 2 + len({student for student, _ in expected_scores(book)})


@pytest.mark.parametrize(("content", "words"), [
    (b"", "is not a gradebook of Canvas"), (b"Name,Grade\nAda,1\n", "first columns are Name, Grade"),
    (b"\x81\x8d\xff\x00", "--gradebook FILE"),
])  # fmt: skip
def test_read_gradebook_unusable_file_is_one_line(tmp_path, content, words):
    (tmp_path / "g.csv").write_bytes(content)
    with pytest.raises(UsageError) as raised:
        canvas.read_gradebook(tmp_path / "g.csv")
    assert words in str(raised.value) and "\n" not in str(raised.value)


SUFFIXES = ("softmax.py", "softmax-1.py", "softmax.ipynb", "work.zip", "notes.txt", "w.tar.gz", "w.tar")


def test_canvas_feedback_zip_becomes_comments(book, tmp_path):
    attachments = set()
    for number, student in enumerate(book.students):
        if number % 8 != 5:
            late = "LATE_" if number % 2 else ""
            name = f"family{number}given{number}_{late}{9000 + number}_{70000 + number}_{SUFFIXES[number % 7]}"
            student["assignments"]["softmax"]["upload_name"] = name
            attachments.add((9000 + number, 70000 + number))
    count, lines = feedback_zip.write_canvas(book, tmp_path / "f.zip", "softmax")
    comments, ignored = canvas_course(book).upload_submissions((tmp_path / "f.zip").read_bytes(), attachments)
    assert len(comments) == count == sum(1 for n, s in enumerate(book.students) if n % 8 != 5 and book.result_of(s))
    assert not ignored
    assert "Family5" in lines[0]
    kinds = {number - 9000: content for (number, _), content in comments.items()}
    ast.parse(kinds[0])
    assert json.loads(kinds[2])["cells"][0]["cell_type"] == "markdown"
    assert zipfile.ZipFile(io.BytesIO(kinds[3])).namelist() == ["feedback.html", "feedback.md"]
    for number in (12, 6):
        with tarfile.open(fileobj=io.BytesIO(kinds[number]), mode="r:" if number == 6 else "r:gz") as archive:
            assert archive.getnames() == ["feedback.html", "feedback.md"]
    assert kinds[4].decode().startswith("# Given4")


def test_feedback_zip_is_about_one_assignment(book, tmp_path):
    student = book.students[2]
    student["assignments"]["softmax"]["upload_name"] = "../x_9002_70002_notes.txt"
    student["dropped"] = ["softmax"]
    about = {"time": "", "by": "", "location": None}
    student["comments"] = [about | {"assignment": one, "text": f"See {one}"} for one in ("attention", "")]
    feedback_zip.write_canvas(book, tmp_path / "f.zip", "softmax")
    text = zipfile.ZipFile(tmp_path / "f.zip").read("x_9002_70002_notes.txt").decode()
    grade = student["assignments"]["softmax"]
    assert f"**{grade['score']:.4g} of {grade['possible']:g}**" in text and "- See" in text
    assert "attention" not in text and "dropped" not in text


@pytest.mark.slow
@pytest.mark.usefixtures("grading_in_process")
def test_canvas_download_to_grades_and_feedback(tmp_path):
    """From Canvas's download to Canvas's import, and again when the download is gone."""
    download, out = tmp_path / "download", tmp_path / "out"
    download.mkdir()
    course = CanvasCourse({}, {SOFTMAX: {"title": "HW 1: softmax", "points": 100.0}})
    for number, (name, code) in enumerate({"lovelaceada": RIGHT, "bergbo": WRONG, "kimjo": WRONG}.items()):
        (download / f"{name}_{9000 + number}_{70000 + number}_softmax.py").write_text(code)
        person = {"name": name, "sortable_name": name, "sis_user_id": f"S{number}", "login": f"u{number}"}
        course.students[9000 + number] = person
    assert grade(download, "--out", out).returncode == 0
    succeed("export", "canvas", out, "--gradebook", exported(course, tmp_path), "--no-color")
    changes = course.import_gradebook((out / "exports" / "canvas.csv").read_bytes())
    scores = [float(changes["scores"][9000 + number, SOFTMAX]) for number in range(3)]
    assert scores[0] == 100 > scores[1] == scores[2] > 0
    succeed("export", "csv", out)
    assert (out / "exports" / "grades.csv").read_bytes() == (out / "grades.csv").read_bytes()
    shutil.rmtree(download)
    succeed("grade", "--out", out)
    succeed("export", "canvas-feedback", out)
    attachments = {(9000 + number, 70000 + number) for number in range(3)}
    comments, ignored = course.upload_submissions((out / "exports/canvas-feedback.zip").read_bytes(), attachments)
    assert set(comments) == attachments and not ignored
    assert b"multiplied by the temperature" in comments[9001, 70001]
