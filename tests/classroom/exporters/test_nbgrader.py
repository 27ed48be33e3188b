"""Test writing grades into nbgrader's gradebook, in SQLite and PostgreSQL, once and repeatedly."""

import contextlib
import copy
import os
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

import nbformat
import pytest
from support.editing import write_files
from support.softmax_class import RIGHT, WRONG, grade

from autograder.classroom.exporters import nbgrader, nbgrader_course
from autograder.classroom.storage import gradebook
from autograder.errors import UsageError

pytestmark = [
    pytest.mark.notebook,
    # It is imported when a test needs it: that takes seconds.
    pytest.mark.skipif(find_spec("nbgrader") is None, reason="nbgrader is not installed"),
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),  # nbgrader's own models overlap
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


@pytest.fixture(scope="module")
def book(make_class):
    return gradebook.read(make_class(28, seed=3, assignments=("softmax", "layernorm")))


@pytest.fixture(scope="module")
def written(book, tmp_path_factory):
    """A gradebook with the class in it, and how many submissions that are; nbgrader's set-up takes seconds."""
    path = tmp_path_factory.mktemp("written") / "gradebook.db"
    return path, nbgrader.write_gradebook(book, f"sqlite:///{path}")


@pytest.fixture
def sqlite(written, tmp_path):
    """A copy of it that a test may change."""
    return f"sqlite:///{shutil.copy(written[0], tmp_path)}"


@pytest.fixture
def postgres():
    """The URL of a server of our own, on a socket, run by somebody who is not root: PostgreSQL insists."""
    places = [os.environ["PATH"], *map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True))]
    programs = next((place for place in places if shutil.which("initdb", path=place)), None)
    if programs is None:
        pytest.skip("PostgreSQL's initdb and pg_ctl are not here: apt-get install postgresql")
    pytest.importorskip("psycopg2")
    # Not one of pytest's own folders, which are closed to other users.
    with tempfile.TemporaryDirectory(prefix="postgres-", dir="/tmp") as made:
        folder, data = Path(made), Path(made) / "data"
        data.mkdir(mode=0o700)
        as_owner = []
        if os.getuid() == 0:
            as_owner = ["runuser", "-u", "nobody", "--"]
            for part in [folder, data]:
                shutil.chown(part, "nobody")
        find = lambda name: shutil.which(name, path=programs)  # noqa: E731
        quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.STDOUT, "cwd": folder, "timeout": 60}
        subprocess.run([*as_owner, find("initdb"), "-D", data, "-U", "headway", "--auth=trust", "--no-sync"], **quiet)
        options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
        subprocess.run(
            [*as_owner, find("pg_ctl"), "-D", data, "-w", "-l", folder / "log", "-o", options, "start"], **quiet
        )
        try:
            yield f"postgresql+psycopg2://headway@/postgres?host={folder}"
        finally:
            subprocess.run([*as_owner, find("pg_ctl"), "-D", data, "-m", "immediate", "stop"], **quiet)


@contextlib.contextmanager
def opened(url):
    """Open a gradebook with nbgrader's own code."""
    from nbgrader.api import Gradebook

    with Gradebook(url) as book:
        yield book


def scores(url):
    with opened(url) as read:
        return {student.id: student.score for student in read.students}


def expected(book):
    return {s["id"]: s["earned"] if s["status"] == "graded" else 0.0 for s in book.students}


def test_write_gradebook_has_all_points(book, written, sqlite):
    assert written[1] == 2 * len([s for s in book.students if s["status"] != "missing"])
    assert scores(sqlite) == expected(book)
    assert len(set(scores(sqlite).values())) > 3


def test_write_gradebook_structure_names_penalties(book, sqlite):
    result = book.result_of(book.students[0])
    with opened(sqlite) as read:
        assignment = read.find_assignment("softmax")
        assert assignment.max_score == result["assignments"][0]["points"]["possible"]
        assert assignment.duedate.isoformat() == "2026-02-28T23:59:00"
        cells = {cell.name for cell in assignment.notebooks[0].grade_cells}
        assert cells == {f["name"] for f in result["assignments"][0]["functions"]}
        bonus = {f["name"] for f in result["assignments"][1]["functions"] if f["bonus"]}
        layernorm = read.find_notebook("layernorm", "layernorm")
        assert {c.name for c in layernorm.grade_cells if c.max_score == 0} == bonus
        assert bonus
        late = next(s for s in book.students[9:] if s["late_days"] and s["status"] == "graded" and s["earned"])
        submissions = read.student_submissions(late["id"])
        taken_off = sum(s.late_submission_penalty or 0 for s in submissions)
        assert taken_off == pytest.approx(late["earned"] - late["score"]) != 0
        student = read.find_student(late["id"])
        assert f"{student.first_name} {student.last_name}".strip() == nbgrader.clean(late["name"], 120)
        assert student.email == late["email"]


def test_write_gradebook_manual_score_is_kept_and_marked(book, sqlite):
    key = book.students[0]["id"]
    with opened(sqlite) as change:
        grade = change.find_grade("softmax", "softmax", "softmax", key)
        grade.manual_score = 1.5
        change.db.commit()
        count = len(change.find_submission("softmax", key).notebooks[0].grades)
    nbgrader.write_gradebook(book, sqlite)
    with opened(sqlite) as read:
        grade = read.find_grade("softmax", "softmax", "softmax", key)
        assert grade.manual_score == 1.5 and grade.score == 1.5 and grade.needs_manual_grade
        assert len(read.find_submission("softmax", key).notebooks[0].grades) == count
        assert len(read.students) == len(book.students)


def test_write_gradebook_unknown_name_keeps_stored_one(book, sqlite):
    known, unknown, new = (dict(s) for s in book.students[:3])
    for one in (unknown, new):
        one.update(name=one["id"], email="")
    new["id"] = new["name"] = "nobody-yet"
    with opened(sqlite) as change:
        change.update_or_create_student(unknown["id"], first_name="Emmy", last_name="Noether", email="emmy@example.org")
    changed = gradebook.Gradebook(book.out, {**book.document, "students": [known, unknown, new]})
    nbgrader.write_gradebook(changed, sqlite)
    with opened(sqlite) as read:
        person = read.find_student(unknown["id"])
        assert (person.first_name, person.last_name, person.email) == ("Emmy", "Noether", "emmy@example.org")
        person = read.find_student("nobody-yet")
        assert (person.first_name, person.last_name, person.email) == (None, None, None), "formgrader shows the id"


def test_write_gradebook_hostile_names_are_neither_sql_nor_html(book, empty, monkeypatch):
    names = ["Robert'); DROP TABLE student;--", "<script>run</script>", 'Ada" onmouseover="run', "\x1b[2J\udcff\0x\ny"]
    students = [dict(student) for student in book.students if student["status"] == "graded"][: len(names)]
    for student, name in zip(students, names, strict=True):
        student.update(name=f"{name} Lovelace", id=name, submission=name, ids={}, email=f"{name}@x.edu")
    changed = gradebook.Gradebook(book.out, {**book.document, "students": students})
    result = book.result_of(book.students[0])
    monkeypatch.setattr(gradebook.Gradebook, "results", lambda _: [(student, result) for student in students])
    nbgrader.write_gradebook(changed, empty)
    with opened(empty) as read:
        assert len(read.students) == len(names)
        for student in read.students:
            for text in (student.id, student.first_name, student.last_name, student.email):
                assert not set('<>"\x1b\0\n') & set(text)
        assert read.find_student(names[0]).first_name == names[0]


@pytest.mark.parametrize(("name", "first", "last"), [
    ("Ada Lovelace", "Ada", "Lovelace"), ("Lovelace, Ada", "Ada", "Lovelace"), ("Ada", "", "Ada"),
])  # fmt: skip
def test_first_and_last_name(name, first, last):
    assert nbgrader._first_and_last(name) == (first, last)


def test_write_gradebook_skips_assignments_not_submitted(book, empty):
    nbgrader.write_gradebook(book, empty, is_submitted=lambda student, assignment: assignment == "softmax")
    with opened(empty) as read:
        assert [assignment.name for assignment in read.assignments] == ["softmax"]


def test_write_gradebook_lost_bonus_points_are_removed(book, empty, monkeypatch):
    functions = [(s["id"], f) for s, r in book.results() if r for f in r["assignments"][1]["functions"]]
    key, cell = next((number, f["name"]) for number, f in functions if f["bonus"] and f["points"]["earned"])
    nbgrader.write_gradebook(book, empty)
    with opened(empty) as read:
        assert read.find_grade(cell, "layernorm", "layernorm", key).extra_credit > 0

    changed = copy.deepcopy(list(book.results()))
    for _, result in changed:
        for function in result["assignments"][1]["functions"] if result else ():
            function["points"]["earned"] = 0.0
    monkeypatch.setattr(gradebook.Gradebook, "results", lambda _: changed)
    nbgrader.write_gradebook(book, empty)
    with opened(empty) as read:
        assert read.find_grade(cell, "layernorm", "layernorm", key).extra_credit == 0


@pytest.fixture
def no_settings_elsewhere(monkeypatch, tmp_path):
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("JUPYTER_NO_CONFIG", "1")


@pytest.mark.usefixtures("no_settings_elsewhere")
def test_find_course_reads_nbgrader_settings(tmp_path):
    course = tmp_path / "course"
    with pytest.raises(UsageError, match="is not an nbgrader course"):
        nbgrader_course.find(course)
    (course / "mine" / "softmax").mkdir(parents=True)
    (course / "nbgrader_config.py").write_text(
        "c = get_config()\nc.CourseDirectory.course_id = 'autumn'\nc.CourseDirectory.source_directory = 'mine'\n"
        "c.CourseDirectory.db_url = 'sqlite:///grades.db'\nc.CourseDirectory.root = '/somewhere/else'\n"
    )
    found = nbgrader_course.find(course)
    assert (found.course_id, found.database) == ("autumn", f"sqlite:///{course / 'grades.db'}")
    assert found.notebook("source", "softmax").resolve() == course / "mine" / "softmax" / "softmax.ipynb"
    assert found.notebook("submitted", "softmax", "ada") == course / "submitted" / "ada" / "softmax" / "softmax.ipynb"
    (course / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.source_directory = 'mine'\n")
    found = nbgrader_course.find(course)
    assert (found.course_id, found.database) == ("default_course", f"sqlite:///{course / 'gradebook.db'}")


@pytest.mark.usefixtures("no_settings_elsewhere")
@pytest.mark.parametrize("text", ["c = get_config(", "1 / 0", "c = get_config()\nc.CourseDirectory.db_url = 7"])
def test_find_course_invalid_settings_is_one_line(tmp_path, text):
    (tmp_path / "source").mkdir()
    (tmp_path / "nbgrader_config.py").write_text(text)
    with pytest.raises(UsageError, match=r"nbgrader_config\.py") as raised:
        nbgrader_course.find(tmp_path)
    assert "\n" not in str(raised.value)


def notebook(code, **more):
    return nbformat.writes(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code, **more)]))


@pytest.mark.usefixtures("no_settings_elsewhere", "grading_in_process")
def test_grades_reach_the_nbgrader_student_with_the_same_blanks(tmp_path, empty):
    """nbgrader takes ids as they are, so that `ada  b` and `ada b` are two students."""
    codes = {"ada  b": RIGHT, "ada b": WRONG, "ada b ": RIGHT, "bo": WRONG}
    about = {"grade": True, "solution": False, "grade_id": "softmax", "points": 1, "schema_version": 3}
    about |= {"locked": True, "cell_type": "code"}
    files = {f"submitted/{student}/softmax/{'mine' if student == 'bo' else 'softmax'}.ipynb": notebook(code)
             for student, code in codes.items()}  # fmt: skip
    files["submitted/cy/softmax/softmax.py"] = RIGHT
    files["source/softmax/softmax.ipynb"] = notebook("", metadata={"nbgrader": about})
    files["nbgrader_config.py"] = f"get_config().CourseDirectory.db_url = {empty!r}\n"
    course = write_files(tmp_path / "course", files)
    with opened(empty) as change:
        for student in (*codes, "cy"):
            change.add_student(student)
    done = grade(course / "submitted", "--out", tmp_path / "out", "--nbgrader", course)
    assert done.returncode == 0, done.stderr
    output = " ".join(done.stdout.split())
    assert "5 submissions" in output and "4 notebooks" in output, "one of them was renamed"
    assert "no notebook with a report for softmax: cy" in output
    found = scores(empty)
    assert set(found) == {*codes, "cy"}
    assert found["ada  b"] == found["ada b "] > found["ada b"] == found["bo"]
    for student in codes:
        assert (course / "autograded" / student / "softmax" / "softmax.ipynb").is_file()


@pytest.fixture
def empty(sqlite):
    """A gradebook of the right form without assignments and students."""
    with opened(sqlite) as change:
        for name in ("softmax", "layernorm"):
            change.remove_assignment(name)
        for student in change.students:
            change.remove_student(student.id)
    return sqlite


def test_write_gradebook_unreadable_work_needs_a_look(book, empty):
    students = copy.deepcopy(book.students)
    students[2].update(status="unreadable", reason="the archive cannot be read")
    students[3].update(status="missing")
    for student in students[2:4]:
        for record in student["assignments"].values():
            record.update(status=student["status"], file=None)
    students[4]["assignments"]["softmax"].update(status="missing")
    students[5]["assignments"]["softmax"].update(status="unreadable", file=None)
    students[6]["assignments"]["softmax"].update(status="failed")
    students[7]["assignments"]["softmax"].update(status="failed", file=None)
    nbgrader.write_gradebook(gradebook.Gradebook(book.out, {**book.document, "students": students}), empty)
    with opened(empty) as read:
        submission = read.find_submission("softmax", students[2]["id"])
        assert submission.score == 0 and submission.needs_manual_grade
        assert read.student_submissions(students[3]["id"]) == []
        for student in (students[4], *students[6:8]):
            assert [s.assignment.name for s in read.student_submissions(student["id"])] == ["layernorm"]
        some = {s.assignment.name: s.needs_manual_grade for s in read.student_submissions(students[5]["id"])}
        assert some == {"softmax": True, "layernorm": False}


def test_write_gradebook_postgresql_twice(book, postgres):
    nbgrader.write_gradebook(book, postgres)
    nbgrader.write_gradebook(book, postgres)
    assert scores(postgres) == expected(book)


@pytest.mark.parametrize("url", ["nonsense", "sqlite:////nowhere/at/all.db", "postgresql://nobody@127.0.0.1:1/x"])
def test_write_gradebook_unusable_database_is_one_line(book, url):
    with pytest.raises(UsageError) as raised:
        nbgrader.write_gradebook(book, url)
    assert "\n" not in str(raised.value) and "--database" in str(raised.value)


def with_policy(book, policy, **grade):
    """The class under another policy, in which the first student has some other grade in layernorm."""
    students = copy.deepcopy(book.students)
    students[0]["assignments"]["layernorm"].update(grade)
    course = {"title": "", "policy": policy}
    return gradebook.Gradebook(book.out, {**book.document, "students": students[:1], "course": course})


def layernorm_of(changed, url):
    """The scores of the first student in layernorm after an export: cells' maxima, extra credit, score, penalty."""
    nbgrader.write_gradebook(changed, url)
    with opened(url) as read:
        submission = read.find_submission("layernorm", changed.students[0]["id"])
        cells = {cell.name: cell.max_score for cell in read.find_notebook("layernorm", "layernorm").grade_cells}
        extra = sum(grade.extra_credit or 0 for notebook in submission.notebooks for grade in notebook.grades)
        return cells, extra, submission.score, submission.notebooks[0].late_submission_penalty


def test_write_gradebook_points_of_the_policy(book, empty):
    functions = book.result_of(book.students[0])["assignments"][1]["functions"]
    required = [function for function in functions if not function["bonus"]]
    worth = {required[0]["name"]: 3.0}
    before = {function["name"]: function["points"]["possible"] for function in required} | worth
    rules = {"assignments": {"layernorm": {"functions": worth, "points": 50.0}}, "bonus": "off"}
    cells, extra, score, _ = layernorm_of(with_policy(book, rules, bonus=0.0), empty)
    scale = 50.0 / sum(before.values())
    assert {name: cells[name] for name in before} == pytest.approx({n: p * scale for n, p in before.items()})
    shares = {f["name"]: f["points"]["earned"] / f["points"]["possible"] for f in required}
    assert score == pytest.approx(sum(shares[name] * points * scale for name, points in before.items()))
    assert extra == 0


def test_write_gradebook_rubric_is_part_of_the_maximum(book, empty):
    questions = [{"id": "why", "title": "", "points": 4.0, "earned": 3.0, "comment": ""}]
    questions.append({**questions[0], "id": "how", "points": 2.0, "earned": None})
    before = book.students[0]["assignments"]["layernorm"]
    plain = layernorm_of(with_policy(book, {}), empty)
    grade = {"rubric": questions, "score": before["score"] + 3.0, "possible": before["possible"] + 6.0}
    cells, extra, score, penalty = layernorm_of(with_policy(book, {}, **grade), empty)
    assert {name: cells[name] for name in cells.keys() - plain[0].keys()} == {"rubric-why": 4.0, "rubric-how": 2.0}
    assert (extra, score, penalty) == (plain[1], pytest.approx(plain[2] + 3.0), plain[3])


@pytest.mark.parametrize(("rule", "counted"), [("extra", 6.0), ("cap", 2.0), ("off", 0.0)])
def test_write_gradebook_bonus_follows_the_policy(book, empty, rule, counted, monkeypatch):
    """Six bonus points, and three too many after a penalty of one."""
    grade = {"earned": 24.0, "possible": 19.0, "penalty": 1.0, "bonus": 6.0 if rule != "off" else 0.0}
    changed = with_policy(book, {"bonus": rule}, **grade)
    result = changed.result_of(changed.students[0])
    bonus = next(f for f in result["assignments"][1]["functions"] if f["bonus"])
    assert bonus["points"]["possible"]
    bonus["points"] = {"earned": bonus["points"]["earned"] or 1.0, "possible": bonus["points"]["possible"]}
    monkeypatch.setattr(gradebook.Gradebook, "results", lambda _: [(changed.students[0], result)])
    nbgrader.write_gradebook(changed, empty)
    with opened(empty) as read:
        submission = read.find_submission("layernorm", changed.students[0]["id"])
        assert sum(grade.extra_credit or 0 for grade in submission.notebooks[0].grades) == pytest.approx(counted)
        assert submission.notebooks[0].late_submission_penalty == 1.0


@pytest.mark.parametrize(("ids", "found"), [
    ({}, "4021"), ({"nbgrader": "ada"}, "ada"), ({"canvas": "4021"}, "lovelaceada_4021"), ({"canvas": "7"}, "4021"),
])  # fmt: skip
def test_student_ids_are_never_the_number_of_another_platform(ids, found):
    student = {"id": "4021", "ids": ids, "submission": "lovelaceada_4021", "roster": {}}
    assert nbgrader.student_ids([student]) == {"lovelaceada_4021": found}


def test_student_ids_are_in_the_column_of_the_roster_that_has_those_of_nbgrader():
    ada = {"id": "1", "ids": {"nbgrader": "ada7"}, "submission": "a", "roster": {"id": "1", "login": "ada7"}}
    bo = {"id": "2", "ids": {}, "submission": "b", "roster": {"id": "2", "login": "bo9"}}
    assert nbgrader.student_ids([ada, bo]) == {"a": "ada7", "b": "bo9"}
    assert nbgrader._utc("2026-03-01T12:00:00+02:00").isoformat() == "2026-03-01T10:00:00"
