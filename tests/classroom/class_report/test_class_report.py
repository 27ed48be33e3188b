"""Test the statistics of a class, the command `headway report` and the feedback for students."""

import copy
import json
import os
import random
import sys
from collections import Counter

import pytest
from support.built_in import mistakes_of_function
from support.commands import invoke, refusal, run_program, succeed
from support.editing import write_files
from support.reading import checks_of

from autograder.classroom.class_report import class_statistics, similarity, student_pages
from autograder.classroom.storage import gradebook
from autograder.cli.report import _add_links
from autograder.courses.transformer import TRANSFORMER
from autograder.documents.reading import CLASS_SCHEMA, RESULT_SCHEMA
from autograder.errors import UsageError
from autograder.parsing.code_tokens import filtered
from autograder.report.class_records import SimilarityResult
from autograder.report.findings import check_details, reported_checks
from autograder.report.html.class_page import render_class
from autograder.report.student_feedback import as_html, as_markdown

pytest.importorskip("jinja2")


@pytest.fixture(scope="module")
def book(make_class):
    return gradebook.read(make_class(40, seed=5, assignments=("softmax", "attention")))


@pytest.fixture(scope="module")
def records(book):
    return class_statistics.collect(book)


@pytest.fixture
def graded(book):
    """A student under another name, and the result document, which the test may change."""
    return next(({**student, "name": "Ada"}, result) for student, result in book.results() if result)


def test_collect_counts_students_per_mistake(book, records):
    expected = Counter()
    for _, result in book.results():
        expected.update({c["mistake"]["id"] for c in checks_of(result) if c["mistake"]})
    assert {named.id: len(named.students) for named in records.mistakes} == expected
    ranks = [(-len(named.students), records.functions.index(named.function)) for named in records.mistakes]
    assert ranks == sorted(ranks) and len(ranks) > 5


def test_collect_combined_mistake_counts_as_two(book, tmp_path):
    student, result = next((s, r) for s, r in book.results() if r)
    check = result["assignments"][0]["functions"][0]["checks"][0]
    known = mistakes_of_function("softmax.softmax")[:2]
    texts = dict.fromkeys(("reason", "explanation", "hint"), "")
    check["mistake"] = {"id": "+".join(m.id for m in known), "title": "both", **texts}
    files = {student["assignments"]["softmax"]["file"]: json.dumps(result)}
    write_files(tmp_path, {**files, "class.json": json.dumps({**book.document, "students": [student]})})
    named = {mistake.id: mistake.title for mistake in class_statistics.collect(gradebook.read(tmp_path)).mistakes}
    assert {m.id: m.title for m in known}.items() <= named.items()
    assert "both" not in named.values()


def test_collect_counts_statuses_and_pass_rates(book, records):
    statuses = Counter(student.statuses["softmax.softmax"] for student in records.graded)
    assert records.status_counts("softmax.softmax")["passed"] == statuses["passed"] > 0
    results = [result for _, result in book.results() if result]
    passed = Counter(c["id"] for c in checks_of(*results) if c["status"] == "passed")
    assert {check.id: check.statuses["passed"] for check in records.checks.values() if check.pass_rate} == passed
    assert len(records.shares) == len(records.graded) == len(results)


def test_collect_leaves_out_excused_and_keeps_the_order_of_the_class(book):
    document = copy.deepcopy(book.document)
    document["assignments"].reverse()
    number = next(n for n, student in enumerate(document["students"]) if student["status"] == "graded")
    document["students"][number]["assignments"]["softmax"].update(excused=True, exception="excused (ill)")
    records = class_statistics.collect(gradebook.Gradebook(book.out, document))
    student, modules = records.students[number], [name.partition(".")[0] for name in records.functions]
    assert (student.states, [*student.shares]) == ({"softmax": "excused"}, ["attention"])
    assert student.notes[0] == "softmax: excused (ill)" and modules == sorted(modules)
    assert [*dict.fromkeys(check.function for check in records.checks.values())] == records.functions
    assert [one.has_result for one in records.students] == [bool(result) for _, result in book.results()]


def test_collect_lists_slowest_checks_and_timeouts(book, records, monkeypatch):
    checks = checks_of(*(result for _, result in book.results()))
    assert any(c["status"] == "not_started" for c in checks)  # who has not begun is not slow
    times = sorted((c["seconds"] for c in checks if c["status"] not in ("timeout", "not_started")), reverse=True)
    assert [entry[0] for entry in records.slowest] == times[: class_statistics.MAX_SLOWEST]
    assert records.timed_out == sum(c["status"] == "timeout" for c in checks) > 1
    monkeypatch.setattr(class_statistics, "MAX_TIMEOUTS", 1)
    assert len(class_statistics.collect(book).timeouts) == 1


def test_collect_damaged_result_marks_one_student(make_class):
    out = make_class(12, seed=2, assignments=("softmax",))
    (out / "results" / "student00003.json").write_text('{"schema": "headway.result/1", "ass', "utf-8")
    records = class_statistics.collect(gradebook.read(out))
    assert [student.submission for student in records.not_graded] == ["student00003"]
    assert "cannot be read" in records.not_graded[0].reason and len(records.graded) == 11
    assert records.not_graded[0].states == {"softmax": "failed"}


def test_addresses_of_pages_are_encoded(book, tmp_path, monkeypatch):
    students = [student for student, result in book.results() if result][:1]
    one = gradebook.Gradebook(book.out, {**book.document, "students": students})
    records, page, pages = class_statistics.collect(one), tmp_path / "week #1.html", tmp_path / "week #1"
    monkeypatch.setattr(gradebook.Gradebook, "file_names", lambda self: {students[0]["submission"]: "50% é?"})
    _add_links(records, one, page, pages, None)
    assert (records.students[0].page, records.students[0].feedback) == ("week%20%231/50%25%20%C3%A9%3F.html", None)
    records.students[0].has_result = False
    _add_links(records, one, page, pages, pages)
    assert records.students[0].page is records.students[0].feedback is None, "there is no such page"
    student_pages.write(one, pages, page, SimilarityResult())
    assert 'href="../week%20%231.html"' in (pages / "50% é?.html").read_text("utf-8")


# Texts that replace a stored document: not JSON, not numbers, too deep, of other types.
DAMAGED = [
    "", "[1]", '{"schema": "%s"}', '{"schema": "%s", "seconds": NaN}', "[" * 200_000,
    '{"schema": "%s", "assignments": 1}',
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(DAMAGED) + 2))
@pytest.mark.parametrize("damaged", ["class", "result"])
def test_report_and_export_survive_damaged_documents(make_class, damaged, number):
    out = make_class(3, seed=2, assignments=("softmax",))
    path = out / "class.json" if damaged == "class" else out / "results" / "student00001.json"
    document = json.loads(path.read_text("utf-8"))
    path.unlink()
    if number < len(DAMAGED):
        path.write_text(DAMAGED[number].replace("%s", CLASS_SCHEMA if damaged == "class" else RESULT_SCHEMA))
    elif number == len(DAMAGED):
        os.mkfifo(path)
    else:  # one value of another type, deep inside
        entry = document["students"][1] if damaged == "class" else document["assignments"][0]["functions"][0]
        entry["status"] = ["graded"]
        path.write_text(json.dumps(document), "utf-8")
    for command in (["report", out], ["export", "csv", out], ["export", "junit", out]):
        done = invoke(*command)
        assert "Traceback" not in done.stderr
        if damaged == "class":
            assert done.returncode == 2, done.stderr
            assert str(path) in done.stderr and done.stderr.count("\n") == 1
        else:
            assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_report_terminal_shows_mistakes_as_plain_text(book, records):
    done = succeed("report", book.out, "--no-color", "--html", book.out / "a page")
    assert "Most common mistakes" in done.stdout
    first = records.mistakes[0]
    assert f"{len(first.students)}  {first.title[:30]}" in done.stdout
    assert not set(done.stdout) & set("\x1b\x00\u202e")
    assert (book.out / "a page").is_file() and any((book.out / "a page-pages").iterdir())


@pytest.mark.slow
def test_feedback_files_show_mistake_without_expected_values(book, tmp_path):
    assert student_pages.write_feedback(book, tmp_path) == len([s for s in book.students if s["status"] == "graded"])
    student, result = next((s, r) for s, r in book.results() if r and '"mistake": {' in json.dumps(r))
    html = (tmp_path / f"{student['submission']}.html").read_text("utf-8")
    assert "Content-Security-Policy" in html and "<script>document" not in html
    assert "expected" not in html.partition("</style>")[2]
    named = next(c["mistake"] for c in checks_of(result) if c["mistake"])
    markdown = (tmp_path / f"{student['submission']}.md").read_text("utf-8")
    assert named["title"] in markdown and "expected" not in markdown


def test_not_passed_same_error_in_all_checks_shown_once(graded):
    student, result = graded
    function = result["assignments"][0]["functions"][0]
    for check in function["checks"]:
        check.update(status="error", message="'(' was never closed", location=None, help=None, output="", mistake=None)
        check["points"]["earned"] = 0.0
    first, *others = [check["title"] for check in function["checks"]]
    (shown,) = reported_checks(function)
    assert (shown["title"], shown["points"]["possible"]) == (first, function["points"]["possible"])
    assert ("same result in", "\n".join(others)) in check_details(shown)
    assert as_markdown(student, result).count("was never closed") == 1
    function["checks"][1].update(output="printed here")
    assert [check["also"] for check in reported_checks(function)] == [others[1:], []]
    for check in function["checks"]:
        check.update(status="failed", message="not close", output="")
    function["checks"][0]["status"] = "not_started"
    assert len(reported_checks(function)) == len(function["checks"]) - 1


def test_feedback_syntax_error_is_one_finding(graded):
    student, result = graded
    assignment = result["assignments"][0]
    name = f"{assignment['name']}.py"
    for function in assignment["functions"]:
        for check in function["checks"]:
            message = f"Python cannot read {name}: SyntaxError in line 3: invalid syntax"
            check.update(status="error", message=message, mistake=None, help=None, output="")
            check.update(failure="unreadable_file", file_at_fault=name)
            check["location"] = {"file": name, "line": 3, "text": "def f(:"}
            check["points"]["earned"] = 0.0
    markdown = as_markdown(student, result)
    assert markdown.count("Python cannot read") == 1 and f"## ! {name}\n" in markdown
    assert as_html({**student, "weights": {}}, result).count("Python cannot read") == 1


def test_feedback_scaled_points_shows_the_scaling(graded):
    student, result = graded
    softmax, attention = (one["points"] for one in result["assignments"])
    by_name = student["assignments"]
    graded = {
        "softmax": {**by_name["softmax"], "earned": 18.0, "possible": 20.0, "score": 16.2, "late_days": 1},
        "attention": {**by_name["attention"], "earned": 0.0, "possible": 30.0, "score": 0.0, "late_days": 0},
    }
    shown = {**student, "assignments": graded, "weights": {"softmax": 2.0, "attention": 1.0}, "dropped": ["attention"]}
    shown.update(name="Ada", penalty=1.8, late_days=1, score=1.62, out_of=2.0)
    text = as_markdown(shown, result)
    assert "**1.62 of 2**, 1.8 points deducted: 1 day late\n" in text
    assert f"| softmax | {softmax['earned']:g} / {softmax['possible']:g} | 16.2 / 20 | 1.62 / 2 |" in text
    assert f"| attention | {attention['earned']:g} / {attention['possible']:g} | 0 / 30 | dropped |" in text
    html = as_html(shown, result)
    assert "1.8 points deducted: 1 day late<" in html
    assert '<td class="number">16.2 / 20</td><td class="number">1.62 / 2</td>' in html


def test_feedback_unscaled_points_shows_no_scaling(graded):
    student, result = graded
    points = {one["name"]: one["points"] for one in result["assignments"]}
    unscaled = {name: {**one, "score": one["earned"], "late_days": 0} for name, one in points.items()}
    grades = {name: {**student["assignments"][name], **one} for name, one in unscaled.items()}
    weights = {name: one["possible"] for name, one in points.items()}
    shown = {**student, "assignments": grades, "weights": weights, "dropped": []}
    assert "| assignment | points | passed |" in as_markdown(shown, result)


def test_details_blocked_or_hidden_check_says_so(graded):
    student, result = graded
    first, second, third = result["assignments"][0]["functions"][0]["checks"][:3]
    names = ("inputs", "wrong", "shapes", "worst", "first_wrong_stage", "mistake", "location", "help", "error_map")
    nothing = dict.fromkeys(names)
    for check in (first, second, third):
        check.update(nothing, status="blocked", message="waits", warnings=[], output="", blocked_by=[check["function"]])
    second.update(blocked_by=["softmax.log_softmax\x1b[31m"])
    third.update(status="failed", message="", blocked_by=[])
    assert check_details({**first, "message": ""}) == [("blocked by", first["function"])]
    assert check_details(first) == []
    assert check_details(second) == [("blocked by", "softmax.log_softmax")]
    assert [word for word, _ in check_details(third)] == ["hidden check"]
    assert "blocked by:" in as_markdown(student, result)


def test_feedback_hostile_text_stays_text_and_a_full_document_shows_expected_values(graded):
    student, result = graded
    check = result["assignments"][0]["functions"][0]["checks"][0]
    check["worst"] = {"index": [0], "axes": ["row"], "yours": 1.25, "expected": 0.75, "tolerance": 0.0}
    message = "```\n# owned ````\n<img src=x onerror=alert(1)>"
    check.update(status="failed", message=message, output="````\n</pre><script>alert(1)</script>\x1b[31m")
    student = {**student, "name": "<script>[x](javascript:alert(1))<b>x</b>"}
    text, html = as_markdown(student, result), as_html(student, result)
    assert "\\<script\\>\\[x\\]\\(javascript:alert\\(1\\)\\)" in text.splitlines()[0]
    assert f"`````text\n{message}\n" in text and "\x1b" not in text
    assert "<img" not in html and "<script" not in html and "<b>" not in html
    assert "0.75" in html and "0.75" in text


def test_render_class_data_cannot_close_its_script(records):
    data = render_class(records).partition('id="data">')[2].partition("</script>")[0]
    assert "<" not in data
    assert json.loads(data)["students"][0][0] == records.students[0].name


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "words"), [
    (["nowhere"], "no such folder"), (["{here}"], "class.json"),
    (["{book}", "--html", "/proc/nowhere/x.html"], "--html FILE"),
    (["{book}", "--similar", "{here}/none"], "no such folder"),
    (["{book}", "--html", "{here}/page.html", "--feedback={here}/file"], "--feedback=DIR"),
    (["{book}", "--html", "{here}/file/page.html"], "--html FILE"),
    (["{book}", "--compare", "{book}", "--since", "2026-01-01"], "Give one of them"),
])  # fmt: skip
def test_report_unusable_argument_is_one_line(book, tmp_path, arguments, words):
    (tmp_path / "file").touch()
    assert words in refusal("report", *(part.format(here=tmp_path, book=book.out) for part in arguments))


@pytest.mark.slow
def test_report_missing_package_is_one_line(book, tmp_path):
    (tmp_path / "jinja2.py").write_text("raise ImportError", "utf-8")
    code = "import sys; sys.path.insert(0, sys.argv[1]); from autograder.cli import main; main(['report', sys.argv[2]])"
    done = run_program(sys.executable, "-c", code, tmp_path, book.out, code=2)
    assert 'extra "report"' in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
class TestSimilarity:
    """Copies are found through their disguise; independent work is not."""

    @pytest.fixture(scope="class", autouse=True)
    def _copydetect(self):
        pytest.importorskip("copydetect")

    @pytest.fixture(scope="class")
    def styles(self, solutions):
        right = solutions.parent / "tests" / "submissions" / "right"
        folders = [folder for folder in (*right.iterdir(), solutions) if folder.is_dir()]
        return {folder.name: {path.stem: path.read_text("utf-8") for path in folder.glob("*.py")} for folder in folders}

    @pytest.mark.slow
    def test_compare_disguised_copy_is_listed(self, styles):
        import ast

        class Rename(ast.NodeTransformer):
            def visit_Name(self, node):
                new = {"x": "values", "out": "answer", "scores": "s_", "weights": "w_", "result": "r_"}
                return ast.copy_location(ast.Name(new.get(node.id, node.id), node.ctx), node)

        original = styles["loops"]
        copy = {}
        for module, text in original.items():
            tree = Rename().visit(ast.parse(text))
            head = [n for n in tree.body if not isinstance(n, ast.FunctionDef)]
            tree.body = head + [n for n in reversed(tree.body) if isinstance(n, ast.FunctionDef)]
            copy[module] = "# my own work\n" + ast.unparse(tree)
        others = [(name, modules) for name, modules in styles.items() if name != "loops"]
        pairs = self.compare([("ada", original), ("bo", copy), *others])
        assert [(pair.first, pair.second) for pair in pairs] == [("ada", "bo")]
        assert pairs[0].share > 0.7 and "attention" in pairs[0].modules

    def compare(self, submissions, **options):
        code = [(name, {module: filtered(text) for module, text in modules.items()}) for name, modules in submissions]
        return similarity.compare(code, TRANSFORMER, **options)

    @pytest.mark.slow
    def test_compare_independent_work_is_not_listed(self, styles):
        assert self.compare(styles.items()) == []

    def test_compare_stubs_are_not_listed(self, solutions):
        stubs = {path.stem: path.read_text("utf-8") for path in (solutions.parent / "assignments").glob("*.py")}
        assert self.compare([("ada", stubs), ("bo", stubs)], threshold=0.0) == []

    def test_compare_code_that_many_share_is_not_listed(self, solutions, monkeypatch):
        code = {"softmax": (solutions / "softmax.py").read_text("utf-8")}
        for count, size, pairs in ((3, 3, 3), (11, 11, 0), (11, 550, 55)):
            submissions = [(str(number), code if number < count else {}) for number in range(size)]
            assert len(self.compare(submissions)) == pairs
        monkeypatch.setattr(similarity, "MAX_PAIRS", 4)
        assert len(self.compare(submissions)) == 4

    def test_compare_lists_the_most_alike_first_and_no_small_coincidences(self):
        def code(seed, length, copied="a", shared=0):
            return code(copied, shared) + "".join(random.Random(seed).choices("abcdefgh", k=length)) if length else ""

        a, b, c = (code(seed, 2000) for seed in "abc")
        pairs = similarity.compare([
            ("ada", {"softmax": b, "attention": c}), ("bo", {"softmax": code("d", 600, "b", 1400), "attention": c}),
            ("chen", {"softmax": a[:400]}), ("dara", {"softmax": code("e", 600, "a", 400)}),  # a part of a longer one
            ("eve", {"gpt": code("f", 1500, "b", 500)}), ("fay", {"gpt": code("g", 1500, "b", 500)}),
            ("gus", {"ffn": code("h", 18, "a", 52)}), ("hal", {"ffn": code("i", 18, "a", 52)}),  # both are short
        ], TRANSFORMER, threshold=0.1)  # fmt: skip
        assert [(pair.first, pair.second, pair.names) for pair in pairs] == [
            ("chen", "dara", ("softmax",)), ("ada", "bo", ("attention", "softmax")),
        ]  # fmt: skip
        assert pairs[0].share == 1 and pairs[0].shared < pairs[1].shared

    @pytest.mark.slow
    def test_find_similar_notebooks_preamble_not_counted(self, solutions, tmp_path):
        notebook = json.loads((solutions.parent / "assignments" / "notebooks" / "softmax.ipynb").read_text("utf-8"))
        right = (solutions.parent / "tests" / "submissions" / "right" / "loops" / "softmax.py").read_text("utf-8")
        for name, code in {"ada": "", "bo": "", "chen": right, "dara": right.replace("shifted", "moved")}.items():
            cells = [*notebook["cells"], *([{"cell_type": "code", "metadata": {}, "source": code}] if code else [])]
            last = json.dumps({**notebook, "cells": cells})
            write_files(tmp_path / name, {"attempt 1/softmax.py": "x = 1\n", "attempt 2/softmax.ipynb": last})
        (pair,) = similarity.find_similar(tmp_path).pairs
        assert (pair.first, pair.second) == ("chen", "dara")

    @pytest.mark.slow
    def test_report_similar_lists_pairs(self, book, solutions):
        done = succeed("report", book.out, "--similar", solutions.parent / "tests" / "submissions" / "class")
        assert "not a verdict" in done.stdout and "bo · chen" in done.stdout
        assert "bo</bdi>" in (book.out / "report.html").read_text("utf-8")

    @pytest.mark.slow
    def test_report_similar_lists_submissions_that_cannot_be_read(self, book, tmp_path):
        files = {"ada/softmax.py": "def softmax(x): return x", "bo/softmax.ipynb": "{"}
        write_files(tmp_path, {**files, "chen/softmax.ipynb": "", "chen/softmax.py": "x = 1\n"})
        listed = succeed("report", book.out, "--similar", tmp_path).stdout.partition("could not be read")[2]
        assert "softmax.ipynb: left out" in listed and "\nbo" in listed and "\nada" not in listed
        page = (book.out / "report.html").read_text("utf-8").partition("Not compared in full")[2]
        assert "<bdi>bo</bdi>" in page and "<bdi>ada</bdi>" not in page
        assert "--layout auto" in refusal("report", book.out, "--similar", tmp_path, "--layout", "moodle")


def test_read_gradebook_other_schema_is_refused(tmp_path):
    (tmp_path / "class.json").write_text('{"schema": "headway.class/9"}', "utf-8")
    with pytest.raises(UsageError, match="class/9"):
        gradebook.read(tmp_path)


@pytest.mark.parametrize(("text", "code"), [
    ("x = np.exp(y)  # note", "V=V.exp(V)"),
    ('"""a "quoted" text"""\nreturn r"a\\"b" + \'c\'', "SreturnS+S"),
    ('x = "open\ny = 1e-5', "V=SV=1e-5"),
    ("'''never closed\ndef f(): pass", "S"),
    ("def naïve(x):\n\treturn x @ W", "defV(V):returnV@V"),
])  # fmt: skip
def test_filtered_code(text, code):
    assert filtered(text) == code


def test_class_names_a_family_of_mistakes_without_its_number():
    known = [mistake for mistake in mistakes_of_function("softmax.softmax") if "{" in mistake.title]
    assert known
    for mistake in known:
        ((_, title, hint),) = class_statistics._mistakes_in({"id": mistake.id, "title": "x", "hint": "y"})
        assert "some number" in title and "{" not in title + hint
