"""`headway show`: the score, the findings with their code, comments; and what the feedback for students holds of it."""

import json
import time

import pytest
from support.calibration import cpu_limit
from support.commands import invoke, refusal, succeed
from support.editing import write_files
from support.html_rules import read_page

from autograder.classroom.class_report import student_pages
from autograder.classroom.storage import gradebook
from autograder.classroom.submissions.student_names import find_student
from autograder.documents.reading import CODE_SCHEMA
from autograder.errors import UsageError
from autograder.report.code_lines import MAX_EXCERPT, Note, ShownLine, code_files, excerpt
from autograder.report.findings import findings_by_assignment
from autograder.report.html.code_block import code_html
from autograder.report.student_feedback import as_markdown, comment_texts
from autograder.report.student_results import as_page

pytest.importorskip("jinja2")
CODE = '''import numpy as np


def softmax(x, axis=-1):
    """Say what it does.

    On several lines.
    """
    e = np.exp(x)

    return e / e.sum()


def other(x):
    return x
'''


@pytest.fixture(scope="module")
def book(make_class):
    return gradebook.read(make_class(24, seed=5, assignments=("softmax", "attention"), code=True))


@pytest.fixture(scope="module")
def student(book):
    """A student with a named mistake, and the check that shows it."""
    for student, result in book.results():
        for assignment in result["assignments"] if result else ():
            for check in (check for function in assignment["functions"] for check in function["checks"]):
                if check["mistake"] and student["comments"]:
                    return student, check
    raise AssertionError


def code_of(text, file="softmax.py", line=1):
    return {"modules": {"softmax": [{"file": file, "line": line, "text": text}]}, "left_out": []}


def check_at(line, status="failed", file="softmax.py", text="", called_from=None):
    return {
        "function": "softmax.softmax", "title": "Rows", "status": status, "message": "wrong", "mistake": None,
        "location": {"file": file, "line": line, "text": text}, "called_from": called_from,
    }  # fmt: skip


@pytest.mark.parametrize(("code", "check", "place", "numbers"), [
    (code_of(CODE), check_at(4), "softmax.py", [4, None, 9, 10, 11]),  # the function without its docstring
    (code_of(CODE), check_at(11, "error"), "softmax.py", [8, 9, 10, 11, 12, 13, 14]),  # the lines around an error
    # Lines of a cell are counted in the cell.
    (code_of("def softmax(x):\n    return x", "cell 3", 5), check_at(6, "error", "cell 3"),
     "softmax notebook, cell 3", [5, 6]),
], ids=["wrong values", "error", "cell"])  # fmt: skip
def test_excerpt_shows_the_lines_that_matter(code, check, place, numbers):
    where, lines = excerpt(code_files(code), check)
    assert (where, [line.number for line in lines]) == (place, numbers)
    assert {line.number: line.status for line in lines if line.status} == {check["location"]["line"]: check["status"]}


def test_excerpt_ends_before_the_text_of_the_next_function():
    lesson = "# %% [markdown]\n# ## `other`\n#\n# A lesson.\n"
    text = CODE.replace("def other", lesson + "def other").replace("    e = np", "# A remark\n    e = np")
    lines = excerpt(code_files(code_of(text)), check_at(4))[1]
    assert "# A remark" in [line.text for line in lines]
    assert lines[-1].text == "    return e / e.sum()"


@pytest.mark.parametrize("line", [0, 99, 10**9])
def test_excerpt_of_an_unknown_line_is_what_the_result_holds(line):
    assert excerpt(code_files(code_of(CODE)), check_at(line)) == ("softmax.py", [])
    _, (only,) = excerpt(code_files(None), check_at(line, text="y = 1"))
    assert (only.number, only.text) == (line, "y = 1")


@pytest.mark.parametrize(
    "text", ["def f(", "def f(x):\n" + "'''", "def f(\n" * 100, "\tdef f():\n\t\t\tpass\nx", "", "def f(): '''\n'''"]
)
def test_excerpt_of_any_text_holds_its_line(text):
    _, lines = excerpt(code_files(code_of(text)), check_at(1))
    assert lines[0].number == 1 and len(lines) <= 40


def test_code_files_marks_each_finding_once():
    checks = [check_at(11, "error"), check_at(11, "error"), {**check_at(9), "location": None}]
    (file,) = code_files(code_of(CODE), checks)
    (marked,) = [line for line in file.lines if line.status]
    assert marked.number == 11
    assert [note.text for note in marked.notes] == ["wrong"]


def test_line_that_failed_stays_marked_if_it_led_to_another_failure():
    calling = {**check_at(9), "called_from": check_at(11)["location"]}
    (file,) = code_files(code_of(CODE), [check_at(11, "error"), calling])
    assert {line.number: line.status for line in file.lines if line.status} == {9: "failed", 11: "error"}


def test_comment_is_at_its_line_unless_that_was_changed():
    about = {"assignment": "softmax", "text": "Why?", "by": "eve", "time": "2026-03-01T12:00:00+00:00"}
    lines = {11: "    return e / e.sum()", 9: "old"}
    places = [about | {"location": {"file": "softmax.py", "line": n, "text": text}} for n, text in lines.items()]
    general = about | {"assignment": "", "location": None}
    (file,) = code_files(code_of(CODE), (), [*places, general])
    assert [(line.number, [note.text for note in line.notes]) for line in file.lines if line.status] == [(11, ["Why?"])]
    ada = {"name": "<Ada>", "status": "failed", "reason": "", "comments": [*places, general], "assignments": {}}
    assert comment_texts(ada, code_of(CODE), "softmax") == [
        "softmax.py:11: Why?", "softmax.py:9, before it was changed (old): Why?", "Why?",
    ]  # fmt: skip
    assert comment_texts(ada, code_of(CODE), "ffn") == ["Why?"]
    text = as_markdown(ada, None, code_of(CODE))
    assert text.startswith("# \\<Ada\\>\n") and text.endswith("- Why? (eve, 1 March 2026)")
    assert "Why? (eve, 1 March 2026, softmax.py:9, before it was changed)" in text
    assert "\n>   11     return e / e.sum()\n" in text and "\n>    9 old\n" in text


def test_code_on_a_page_is_escaped_and_marked():
    line = ShownLine(1, "a < b", "failed", [Note("softmax.softmax", "<b>")])
    one, counted = code_html([line, ShownLine(None, "")]), code_html([line, ShownLine(2, "c"), ShownLine(3, "d")])
    assert all("a &lt; b" in html and "&lt;b&gt;" in html and "k-failed" in html for html in (one, counted))
    assert "<span class=n>1</span>" in one and "…" in one and "class=counted" in counted and "class=n>" not in counted
    assert "class=counted" not in code_html([line]) + code_html([line, ShownLine(5, "c")])


def test_show_prints_score_findings_code_and_comments(book, student):
    entry, check = student
    text = " ".join(succeed("show", book.out, entry["submission"], "--no-color").stdout.split())
    assert check["mistake"]["title"] in text and f"def {check['function'].partition('.')[2]}(" in text
    assert "Grace Hopper" in text and "look at the scale" in text
    assert 'feedback = "summary"' not in text  # the synthetic class has full feedback


def test_show_names_a_mistake_once(book, student):
    entry, check = student
    done = invoke("show", book.out, entry["submission"], "--assignment", check["function"].partition(".")[0])
    titles = " ".join(done.stdout.split()).split(f"{check['function']} · ")[1:]
    assert sum(check["mistake"]["title"] in part for part in titles) == 1


def test_show_limited_results_says_so(book, student, tmp_path):
    policy = {**book.document["course"]["policy"], "feedback": "summary", "checks": {"hidden": ["softmax.*"]}}
    document = {**book.document, "course": {"title": "T", "policy": policy}}
    shown = student_pages.results_of(gradebook.Gradebook(book.out, document), student[0])
    assert 'feedback = "summary"' in shown.limits() and "hidden checks" in shown.limits()


def test_pages_and_show_name_file_and_time_in_the_zone_of_the_course(book, student, tmp_path):
    entry = student[0]
    policy = {**book.document["course"]["policy"], "time_zone": "Europe/Berlin", "feedback": "summary"}
    grades = {name: {**grade, "graded_file": f"{name}.py"} for name, grade in entry["assignments"].items()}
    entry = {**entry, "assignments": grades}
    document = {**book.document, "students": [entry], "course": {"title": "T", "policy": policy}}
    result = book.result_of(entry)
    changed = {"counts_as": ["softmax"], "ignored": "", "changed": "2026-03-05T23:30:00+00:00"}
    result["files"] = [{"name": "softmax.py", **changed}]
    write_files(tmp_path, {grades["softmax"]["file"]: json.dumps(result), "class.json": json.dumps(document)})
    shared = gradebook.read(tmp_path)
    student_pages.write_feedback(shared, tmp_path / "feedback")
    page = as_page(student_pages.results_of(shared, entry))
    shown = invoke("show", tmp_path, entry["submission"], COLUMNS="200").stdout
    feedback = [path.read_text("utf-8") for path in (tmp_path / "feedback").iterdir()]
    texts = [page, shown, *(text for text in feedback if "<html" in text)]
    assert all("softmax.py was graded, changed 6 March 2026, 00:30 (Europe/Berlin)" in text for text in texts)
    assert all("4 March 2026, 11:00 (Europe/Berlin)" in text for text in texts)  # the comment
    assert "1 March 2026, 13:00 (Europe/Berlin)" in page and "1 March 2026, 13:00 (Europe/Berlin)" in shown
    assert page.index(">Score<") < page.index("Expected values and differences") < page.index(">Files<")


@pytest.mark.parametrize(("name", "words"), [
    ("nobody", "no student"), ("student0000", "9 more"), ("", "no student"), ("student00001 ", None),
])  # fmt: skip
def test_show_unknown_or_ambiguous_student_is_one_line(book, name, words):
    if words is None:
        assert find_student(book.students, name)["submission"] == "student00001"
        return
    said = refusal("show", book.out, name)
    assert words in said or "matches" in said


@pytest.mark.parametrize("key", ["id", "email", "name"])
def test_find_student_by_any_name(book, key):
    student = book.students[-1]
    others = [other for other in book.students if other["name"] == student["name"]]
    if key == "name" and len(others) > 1:
        with pytest.raises(UsageError):
            find_student(book.students, student[key])
    else:
        assert find_student(book.students, student[key])["submission"] == student["submission"]


def test_show_page_obeys_the_rules_of_pages(book, student):
    page = as_page(student_pages.results_of(book, student[0]))
    allowed = ("an inline style sheet", "no <nav>")
    assert [problem for problem in read_page(page).problems if problem not in allowed] == []
    assert "http" not in page.partition("</style>")[2] and "<script" not in page


def test_show_page_hostile_code_stays_text(book, student, tmp_path):
    entry, check = student
    shown = student_pages.results_of(book, entry)
    line = check["location"]["line"]
    text = "\n".join(["</code><script>alert(1)</script>\u202e\x1b[31m <img src=x>"] * (line + 1))
    module = check["function"].partition(".")[0]
    modules = {module: [{"file": f"{module}.py", "line": 1, "text": text}]}
    shown.code = {"schema": CODE_SCHEMA, "left_out": ["<b>"], "modules": modules}
    page = as_page(shown)
    assert "&lt;script&gt;alert(1)" in page
    assert not any(mark in page for mark in ("<script", "<img", "\u202e", "\x1b", "<b>"))


@pytest.mark.slow
def test_feedback_shows_the_code_of_a_finding(book, student, tmp_path):
    student_pages.write_feedback(book, tmp_path)
    entry, check = student
    head = f"def {check['function'].partition('.')[2]}("
    html = (tmp_path / f"{entry['submission']}.html").read_text("utf-8")
    markdown = (tmp_path / f"{entry['submission']}.md").read_text("utf-8")
    assert head in html.replace("<wbr>", "")
    assert f"> {check['location']['line']:4} {head}" in markdown
    assert "look at the scale" in html and "look at the scale" in markdown


def test_feedback_hidden_check_shows_no_code(book, student):
    """A hidden check has no location in the document, so no line is marked for it."""
    result = json.loads(json.dumps(book.result_of(student[0])))
    for function in (f for a in result["assignments"] for f in a["functions"]):
        for check in function["checks"]:
            check.update(location=None, message="", mistake=None)
    findings = [finding for found in findings_by_assignment(result).values() for finding in found]
    files = code_files(book.code_of(student[0]), findings)
    assert not any(line.status for file in files for line in file.lines)


def test_findings_checks_that_wait_belong_to_the_failed_one(book, student):
    result = json.loads(json.dumps(book.result_of(student[0])))
    function = result["assignments"][0]["functions"][0]
    mistake = {"id": "a/b", "title": "a mistake", "reason": "", "hint": ""}
    for check in function["checks"]:
        check.update(status="failed", mistake=mistake, blocked_by=[], message="not close")
        check["points"] = {"earned": 0.0, "possible": 1.0}
    waits = {"status": "blocked", "mistake": None, "message": "counts later", "blocked_by": ["softmax.softmax"]}
    function["checks"][-1].update(waits)
    (finding,) = [f for f in findings_by_assignment(result)["softmax"] if f["function"] == "softmax.softmax"]
    assert finding["waiting"] == [function["checks"][-1]["title"]]
    assert finding["points"]["possible"] == len(function["checks"])


@pytest.mark.slow
def test_excerpts_of_a_long_file_take_little_time():
    text = "\n" * 130_000 + "def softmax(x):\n" + "\n" * 900 + "    return x"
    files = code_files(code_of(text))
    began = time.process_time()
    for _ in range(200):
        title, lines = excerpt(files, check_at(130_001))
    assert (title, lines[0].number, lines[0].status) == ("softmax.py", 130_001, "failed")
    assert len(lines) <= MAX_EXCERPT
    assert time.process_time() - began < cpu_limit(5.0)  # 30 s or more if each excerpt copies the file
