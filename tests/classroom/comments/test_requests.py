"""What students ask about a grade: from the feedback page to the list of open questions, until a comment answers it."""

import html
import re

import pytest
from support.commands import refusal, succeed
from support.graded_class import grade_class

from autograder.classroom.comments import comment_records
from autograder.classroom.storage import gradebook
from autograder.report.open_questions import question_lines

pytestmark = pytest.mark.slow  # They grade a class.


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    code = "def softmax(x, axis=-1, temperature=1.0):\n    return x\n"
    out = grade_class(tmp_path_factory.mktemp("the class"), {"ada": code, "bo": code})
    succeed("report", out, "--feedback")
    return out


def form(out, name):
    """Return the text of the first "Ask about this" on a feedback page."""
    page = (out / "feedback" / f"{name}.html").read_text("utf-8")
    return html.unescape(re.search(r'<details class="ask">.*?<pre>(.*?)</pre>', page, re.S)[1])


def asked(out):
    return [(line.name, line.text) for line in question_lines(gradebook.read(out).students) if "asks" in line.text]


def test_request_is_open_until_a_comment_answers_it(out, tmp_path):
    message = tmp_path / "message.txt"
    text = f"Chers élèves,\n{form(out, 'ada')}Is x not enough?\nI think so.\n"
    message.write_text("".join(f"> {line}\n" for line in text.splitlines()), "latin-1")  # quoted
    command = f"headway comment '{out}' ada TEXT --assignment softmax"
    assert f"To answer: {command}" in succeed("request", out, message, "--by", "TA", COLUMNS="300").stdout
    ((name, shown),) = asked(out)
    assert name == "ada" and shown.startswith("softmax: asks: softmax.softmax")
    assert shown.endswith(": Is x not enough? I think so.")
    assert "To decide" in succeed("show", out, "ada", COLUMNS="300").stdout
    assert command in succeed("choose", out, COLUMNS="500").stdout
    succeed("export", "csv", out)  # a request can wait
    assert [record.by for record in comment_records.read(out)] == ["TA"]
    assert gradebook.read(out).students[0]["comments"] == []
    succeed("comment", out, "ada", "Look at the sum of a row.", "--assignment", "softmax")
    assert asked(out) == []


def test_comment_on_the_whole_submission_answers_requests(out):
    succeed("request", out, "-", typed=form(out, "ada") + "Why?\n")
    assert [name for name, _ in asked(out)] == ["ada"]
    succeed("comment", out, "ada", "We talked about it.")
    assert asked(out) == []


def test_request_comes_from_standard_input_and_is_closed_with_undo(out):
    assert "No such file" in refusal("request", out, out / "nothing.txt", COLUMNS="300")
    succeed("request", out, "-", typed=form(out, "bo") + "Why?\n")
    assert [name for name, _ in asked(out)] == ["bo"]
    succeed("comment", out, "bo", "--undo", comment_records.read(out)[-1].id)
    assert asked(out) == []


@pytest.mark.parametrize(("text", "problem"), [
    ("hello", "it has no line with student, about, question"),
    ("." * 100_000 + "\nstudent: ada\nabout: softmax.softmax\nquestion: Why?", "it has no line with student"),
    ("student: eve\nabout: softmax.softmax\nquestion: Why?", "no student 'eve'"),
    ("student: ada\nabout: gpt.gpt\nquestion: Why?", "'gpt' is not graded. Graded: softmax"),
    ("student: ada\nabout: softmax.softmax\nquestion: \n> \n", "there is no text after question:"),
])  # fmt: skip
def test_text_without_a_request_is_refused(out, text, problem):
    assert problem in refusal("request", out, "-", typed=text, COLUMNS="300")
