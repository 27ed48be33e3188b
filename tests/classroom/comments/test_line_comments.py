"""Comments on lines of code, and texts that an instructor uses again: what students, colleagues and systems read."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest
from support.commands import succeed
from support.graded_class import comment, grade_class
from support.reading import students_of

from autograder.classroom.class_report.class_statistics import collect
from autograder.classroom.class_report.student_pages import results_of
from autograder.classroom.comments import comment_records
from autograder.classroom.comments.comment_records import requested
from autograder.classroom.exporters.gradescope import _summary
from autograder.classroom.score import record_decisions
from autograder.classroom.storage import gradebook
from autograder.courses.transformer import TRANSFORMER
from autograder.report.student_feedback import as_html, as_markdown, comment_texts
from autograder.report.student_results import as_page

pytestmark = pytest.mark.slow  # They grade a class.
CODE = "import numpy as np\n\n\ndef softmax(x, axis=-1):\n    e = np.exp(x)\n    return e / e.sum()\n"
POLICY = '[comments]\nshapes = "Write the shape of each array."\n[assignments.softmax]\n'


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    return grade_class(tmp_path_factory.mktemp("class"), {"ada": CODE, "bo": CODE}, course_toml=POLICY)


@pytest.fixture
def out(graded):
    yield graded
    (graded / comment_records.COMMENTS).unlink(missing_ok=True)


def read(out):
    book = gradebook.read(out)
    ada = book.students[0]
    return book, ada, book.result_of(ada), book.code_of(ada)


def test_comment_stands_beside_its_line(out):
    comment(out, "ada", "softmax.py:6", "Which <axis>?")
    book, ada, result, code = read(out)
    (record,) = ada["comments"]
    assert record["location"] == {"file": "softmax.py", "line": 6, "text": "    return e / e.sum()"}
    assert record["assignment"] == "softmax"
    page, text = as_html(ada, result, code), as_markdown(ada, result, code)
    beside = "<span class=n>6</span><span class=m>→</span><code>    return e / e.sum()</code>"
    assert "Which &lt;axis&gt;?" in page and beside in page
    assert "softmax.py:6" in text and ">    6     return e / e.sum()" in text
    assert "Which &lt;axis&gt;?</div>" in as_page(results_of(book, ada))
    shown = succeed("show", out, "ada", "--code", "--no-color", COLUMNS="200").stdout
    assert "on softmax.py:6: Which <axis>?" in shown and "↳ Which <axis>?" in shown
    assert "softmax.py:6: Which <axis>?" in _summary(book, ada, result, "softmax")


def test_comment_keeps_the_line_that_it_was_written_about(out):
    comment(out, "ada", "softmax.py:6", "Which axis?")
    _, ada, result, _ = read(out)
    for changed in ("import numpy as np", CODE.replace("e.sum()", "e.sum(axis, keepdims=True)")):
        code = {"modules": {"softmax": [{"file": "softmax.py", "line": 1, "text": changed}]}, "left_out": []}
        assert "softmax.py, before it was changed" in as_html(ada, result, code)
    assert ">    6     return e / e.sum()\n" in as_markdown(ada, result, code)
    assert "softmax.py:6, before it was changed" in as_markdown(ada, result, code)
    assert ">    6     return e / e.sum()\n" in as_markdown(ada, result, None)
    assert comment_texts(ada, code, None) == ["softmax.py:6, before it was changed (return e / e.sum()): Which axis?"]
    assert comment_texts(ada, None, "softmax") == ["softmax.py:6: Which axis?"]


@pytest.mark.parametrize(("arguments", "problem"), [
    (("softmax.py:60", "x"), "no line softmax.py:60 in the graded code. It has softmax.py:1 to 6."),
    (("other.py:1", "x"), "no line other.py:1 in the graded code"), (("softmax.py:6",), "the comment is empty"),
    (("softmax.py:0", "x"), "put the text in quotes"), (("--as", "shape"), "no comment 'shape'. It has shapes"),
    (("two", "words"), "'two words'"),
])  # fmt: skip
def test_wrong_place_or_name_is_refused(out, arguments, problem):
    assert problem in comment(out, "ada", *arguments, code=2)
    assert not (out / comment_records.COMMENTS).exists()


def test_text_of_course_toml_is_used_again_and_counted(out):
    comment(out, "ada", "softmax.py:5", "--as", "shapes")
    comment(out, "bo", "--as", "shapes", "Also in the docstring.")
    assert collect(gradebook.read(out)).reused_comments == {"shapes": 2}
    texts = [student["comments"][0]["text"] for student in gradebook.read(out).students]
    assert texts == ["Write the shape of each array.", "Write the shape of each array. Also in the docstring."]
    succeed("report", out)
    assert "shapes 2" in (out / "report.html").read_text("utf-8")


def test_table_holds_places(out, tmp_path):
    table = tmp_path / "marks.csv"
    table.write_text("student,place,text\nada,softmax.py:5,Here.\nbo,,There.\n")
    comment(out, "--from", table)
    assert [record.code for record in comment_records.read(out)] == ["    e = np.exp(x)", ""]
    table.write_text("student,place,text\nada,line 5,Here.\n")
    assert "line 2: place must be a file and a line" in comment(out, "--from", table, code=2)
    assert "No student has an id or an email" in succeed("export", "csv", out, "--to", tmp_path / "grades.csv").stdout


def _mark(out, by, count):
    for number in range(count):
        record_decisions(out, [requested("ada", text=f"{by} {number}")], by, TRANSFORMER)


def test_two_people_comment_at_the_same_time(out):
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        for job in [pool.submit(_mark, out, by, 15) for by in ("Grace", "Linus")]:
            job.result()
    records = comment_records.read(out)
    assert len({record.id for record in records}) == 30 == len(students_of(out)[0]["comments"])
    for by in ("Grace", "Linus"):
        assert [record.text for record in records if record.by == by] == [f"{by} {number}" for number in range(15)]
