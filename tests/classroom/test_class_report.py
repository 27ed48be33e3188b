"""What a class knows: added up right, shown in the terminal, handed back to students."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from support.commands import headway

import autograder
from autograder.classroom import class_statistics, feedback_files, gradebook, similarity
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError
from autograder.report.html.class_page import render_class
from autograder.report.student_feedback import as_html, as_markdown, check_details, reported_checks

pytest.importorskip("jinja2")
SCHEMAS = Path(autograder.__file__).parent / "schema"


@pytest.fixture(scope="module")
def book(make_class):
    return gradebook.read(make_class(40, seed=5, assignments=("softmax", "attention")))


@pytest.fixture(scope="module")
def found(book):
    return class_statistics.collect(book)


def test_mistakes_are_counted_by_students(book, found):
    expected = Counter()
    for _, result in book.results():
        checks = [
            c for a in (result or {"assignments": []})["assignments"] for f in a["functions"] for c in f["checks"]
        ]
        expected.update({c["mistake"]["id"] for c in checks if c["mistake"]})
    assert {named.id: len(named.students) for named in found.mistakes} == expected
    counts = [len(named.students) for named in found.mistakes]
    assert counts == sorted(counts, reverse=True)
    assert len(counts) > 5


def test_two_mistakes_made_together_count_as_two(book, tmp_path):
    student, result = next((s, r) for s, r in book.results() if r)
    check = result["assignments"][0]["functions"][0]["checks"][0]
    known = class_statistics.mistakes_of_function("softmax.softmax")[:2]
    check["mistake"] = {"id": "+".join(m.id for m in known), "title": "both", "hint": ""}
    (tmp_path / "results").mkdir()
    (tmp_path / student["file"]).write_text(json.dumps(result), "utf-8")
    (tmp_path / "class.json").write_text(json.dumps({**book.document, "students": [student]}), "utf-8")
    named = {one.id: one.title for one in class_statistics.collect(gradebook.read(tmp_path)).mistakes}
    assert {m.id: m.title for m in known}.items() <= named.items()
    assert "both" not in named.values()


def test_statuses_and_pass_rates(book, found):
    for _, result in book.results():
        if result:
            break
    index = found.functions.index("softmax.softmax")
    letters = Counter(student.letters[index] for student in found.graded)
    assert found.status_counts("softmax.softmax")["passed"] == letters["p"] > 0
    results = [result for _, result in book.results() if result]
    passed = Counter(
        c["id"] for r in results for a in r["assignments"] for f in a["functions"] for c in f["checks"]
        if c["status"] == "passed"
    )  # fmt: skip
    assert {check.id: check.statuses["passed"] for check in found.checks.values() if check.pass_rate} == passed
    assert sum(found.histogram()) == len(found.graded) == len(results)


def test_the_slowest_and_those_out_of_time(book, found):
    checks = [c for _, r in book.results() if r for a in r["assignments"] for f in a["functions"] for c in f["checks"]]
    assert any(c["status"] == "not_started" for c in checks)  # who has not begun is not slow
    times = sorted((c["seconds"] for c in checks if c["status"] not in ("timeout", "not_started")), reverse=True)
    assert [entry[0] for entry in found.slowest] == times[: len(found.slowest)]
    assert found.timed_out == sum(c["status"] == "timeout" for c in checks) > 0


def test_a_damaged_result_does_not_lose_the_class(make_class):
    out = make_class(12, seed=2, assignments=("softmax",))
    (out / "results" / "student00003.json").write_text('{"schema": "headway.result/2", "ass', "utf-8")
    found = class_statistics.collect(gradebook.read(out))
    assert [student.submission for student in found.not_graded] == ["student00003"]
    assert "cannot be read" in found.not_graded[0].reason
    assert len(found.graded) == 11


def test_the_terminal_shows_mistakes_and_no_control_characters(book, found):
    done = headway("report", book.out, "--no-color")
    assert done.returncode == 0, done.stderr
    assert "Most common mistakes" in done.stdout
    first = found.mistakes[0]
    assert f"{len(first.students)}  {first.title[:30]}" in done.stdout
    assert not set(done.stdout) & set("\x1b\x00\u202e")
    assert (book.out / "report.html").is_file()


def test_feedback_tells_what_the_document_tells(book, tmp_path):
    assert feedback_files.write(book, tmp_path) == len([s for s in book.students if s["status"] == "graded"])
    student, result = next((s, r) for s, r in book.results() if r and '"mistake": {' in json.dumps(r))
    html = (tmp_path / f"{student['submission']}.html").read_text("utf-8")
    assert "Content-Security-Policy" in html
    assert "<script>document" not in html
    assert "expected" not in html.partition("</style>")[2]
    named = next(
        c["mistake"] for a in result["assignments"] for f in a["functions"] for c in f["checks"] if c["mistake"]
    )
    markdown = (tmp_path / f"{student['submission']}.md").read_text("utf-8")
    assert named["title"] in markdown
    assert "expected" not in markdown


def test_what_stops_every_check_is_said_once(book):
    student, result = next((s, r) for s, r in book.results() if r)
    function = result["assignments"][0]["functions"][0]
    for check in function["checks"]:
        check.update(status="error", message="'(' was never closed", location=None, help=None, output="", mistake=None)
        check["points"]["earned"] = 0.0
    first, *others = [check["title"] for check in function["checks"]]
    (told,) = reported_checks(function)
    assert (told["title"], told["points"]["possible"]) == (first, function["points"]["possible"])
    assert ("same result", "\n".join(others)) in check_details(told)
    assert as_markdown({**student, "name": "Ada"}, result).count("was never closed") == 1
    function["checks"][1].update(output="printed here")
    assert [check["also"] for check in reported_checks(function)] == [others[1:], []]
    for check in function["checks"]:
        check.update(status="failed", message="not close", output="")
    assert len(reported_checks(function)) == len(function["checks"])


def test_what_cannot_be_written_names_the_option_that_says_where(book, tmp_path):
    (tmp_path / "file").touch()
    done = headway("report", book.out, "--html", tmp_path / "page.html", f"--feedback={tmp_path / 'file'}")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--feedback=DIR" in done.stderr
    done = headway("report", book.out, "--html", tmp_path / "file" / "page.html")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--html FILE" in done.stderr


def test_feedback_says_how_points_become_the_score(book):
    student, result = next((s, r) for s, r in book.results() if r)
    softmax, attention = (one["points"] for one in result["assignments"])
    graded = {
        "softmax": {"earned": 18.0, "possible": 20.0, "score": 16.2, "late_days": 1},
        "attention": {"earned": 0.0, "possible": 30.0, "score": 0.0, "late_days": 0},
    }
    told = {**student, "assignments": graded, "weights": {"softmax": 2.0, "attention": 1.0}, "dropped": ["attention"]}
    told.update(name="Ada", penalty=1.8, late_days=1, score=1.62, out_of=2.0)
    text = as_markdown(told, result)
    assert "**1.62 of 2**, 1.8 points deducted: 1 day late\n" in text
    assert f"| softmax | {softmax['earned']:g} / {softmax['possible']:g} | 16.2 / 20 | 1.62 / 2 |" in text
    assert f"| attention | {attention['earned']:g} / {attention['possible']:g} | 0 / 30 | dropped |" in text
    html = as_html(told, result)
    assert "1.8 points deducted: 1 day late<" in html
    assert '<td class="number">16.2 / 20</td><td class="number">1.62 / 2</td>' in html


def test_where_points_are_the_score_nothing_is_explained(book):
    student, result = next((s, r) for s, r in book.results() if r)
    points = {one["name"]: one["points"] for one in result["assignments"]}
    told = {
        **student,
        "assignments": {
            name: {"earned": one["earned"], "score": one["earned"], "possible": one["possible"], "late_days": 0}
            for name, one in points.items()
        },
        "weights": {name: one["possible"] for name, one in points.items()},
        "dropped": [],
    }
    assert "| assignment | points | passed |" in as_markdown(told, result)


def test_a_check_that_waits_or_is_hidden_says_so(book):
    student, result = next((s, r) for s, r in book.results() if r)
    first, second, third = result["assignments"][0]["functions"][0]["checks"][:3]
    nothing = dict.fromkeys(
        ("inputs", "wrong", "shapes", "worst", "first_wrong_stage", "mistake", "location", "help", "error_map")
    )
    for check in (first, second, third):
        check.update(nothing, status="blocked", message="waits", warnings=[], output="", blocked_by=[check["function"]])
    second.update(blocked_by=["softmax.log_softmax"])
    third.update(status="failed", message="", blocked_by=[])
    hidden = {**first, "message": ""}
    assert check_details(hidden) == [("blocked by", first["function"])]
    assert check_details(first) == []
    assert check_details(second) == [("blocked by", "softmax.log_softmax")]
    assert [word for word, _ in check_details(third)] == ["hidden check"]
    assert "blocked by:" in as_markdown({**student, "name": "Ada"}, result)


def test_expected_values_only_where_the_document_has_them(book):
    student, result = next((s, r) for s, r in book.results() if r)
    check = result["assignments"][0]["functions"][0]["checks"][0]
    check.update(
        status="failed", worst={"index": [0], "axes": ["row"], "yours": 1.25, "expected": 0.75, "tolerance": 0.0}
    )
    for text in (as_html({**student, "name": "Ada"}, result), as_markdown({**student, "name": "Ada"}, result)):
        assert "0.75" in text


def test_markdown_cannot_be_left(book):
    student, result = next((s, r) for s, r in book.results() if r)
    check = result["assignments"][0]["functions"][0]["checks"][0]
    check.update(status="error", message="```\n# owned ````", output="````\n<script>alert(1)</script>\x1b[31m")
    text = as_markdown({**student, "name": "<script>[x](javascript:alert(1))"}, result)
    heading = text.splitlines()[0]
    assert "\\<script\\>\\[x\\]\\(javascript:alert\\(1\\)\\)" in heading
    assert "`````text\n```\n# owned ````\n" in text
    assert "\x1b" not in text


def test_hostile_text_is_text_in_the_page(book):
    student, result = next((s, r) for s, r in book.results() if r)
    check = result["assignments"][0]["functions"][0]["checks"][0]
    check.update(status="error", message="<img src=x onerror=alert(1)>", output="</pre><script>alert(1)</script>")
    html = as_html({**student, "name": "<b>x</b>"}, result)
    assert "<img" not in html
    assert "<script" not in html
    assert "<b>" not in html


def test_the_data_cannot_end_its_block(found):
    page = render_class(found)
    data = page.partition('id="data">')[2].partition("</script>")[0]
    assert "<" not in data
    assert json.loads(data)["students"][0][0] == found.students[0].name


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "no such folder"),
        (["{here}"], "class.json"),
        (["{book}", "--html", "/proc/nowhere/x.html"], "--html FILE"),
        (["{book}", "--similar", "{here}/none"], "no such folder"),
    ],
)
def test_what_cannot_be_reported_is_one_line(book, tmp_path, arguments, words):
    done = headway("report", *(part.format(here=tmp_path, book=book.out) for part in arguments))
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_missing_extra_is_one_line(book, tmp_path):
    (tmp_path / "jinja2.py").write_text("raise ImportError", "utf-8")
    code = "import sys; sys.path.insert(0, sys.argv[1]); from autograder.cli import main; main(['report', sys.argv[2]])"
    command = [sys.executable, "-c", code, str(tmp_path), str(book.out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'headway[class]'" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
class TestSimilarity:
    """Copies are found through their disguise; independent work is not."""

    @pytest.fixture(scope="class")
    def styles(self, solutions):
        right = solutions.parent / "tests" / "submissions" / "right"
        return {
            folder.name: {path.stem: path.read_text("utf-8") for path in folder.glob("*.py")}
            for folder in [*right.iterdir(), solutions]
            if folder.is_dir()
        }

    def test_a_disguised_copy_is_found(self, styles):
        pytest.importorskip("copydetect")
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
        pairs = similarity.compare([("ada", original), ("bo", copy), *others], TRANSFORMER)
        assert [(pair.first, pair.second) for pair in pairs] == [("ada", "bo")]
        assert pairs[0].share > 0.7
        assert "attention" in pairs[0].where

    def test_honest_work_in_other_styles_is_not_listed(self, styles):
        pytest.importorskip("copydetect")
        assert similarity.compare(list(styles.items()), TRANSFORMER) == []

    def test_stubs_are_no_copies_of_each_other(self, solutions):
        pytest.importorskip("copydetect")
        stubs = {path.stem: path.read_text("utf-8") for path in (solutions.parent / "assignments").glob("*.py")}
        assert similarity.compare([("ada", stubs), ("bo", stubs)], TRANSFORMER, threshold=0.0) == []

    def test_notebooks_are_no_copies_of_each_other_for_being_notebooks(self, solutions, tmp_path):
        pytest.importorskip("copydetect")
        notebook = json.loads((solutions.parent / "assignments" / "notebooks" / "softmax.ipynb").read_text("utf-8"))
        right = (solutions.parent / "tests" / "submissions" / "right" / "loops" / "softmax.py").read_text("utf-8")
        for name, code in {"ada": "", "bo": "", "chen": right, "dara": right.replace("shifted", "moved")}.items():
            (tmp_path / name).mkdir()
            cells = [*notebook["cells"], *([{"cell_type": "code", "metadata": {}, "source": code}] if code else [])]
            (tmp_path / name / "softmax.ipynb").write_text(json.dumps({**notebook, "cells": cells}), "utf-8")
        (pair,) = similarity.find_similar(tmp_path)
        assert (pair.first, pair.second) == ("chen", "dara")

    def test_the_list_by_the_command(self, book, solutions):
        pytest.importorskip("copydetect")
        done = headway("report", book.out, "--similar", solutions.parent / "tests" / "submissions" / "class")
        assert done.returncode == 0, done.stderr
        assert "not a verdict" in done.stdout
        assert "bo · chen" in done.stdout
        assert "bo</bdi>" in (book.out / "report.html").read_text("utf-8")


def test_a_class_of_another_version_is_refused(tmp_path):
    (tmp_path / "class.json").write_text('{"schema": "headway.class/9"}', "utf-8")
    with pytest.raises(UsageError, match="class/9"):
        gradebook.read(tmp_path)


@pytest.mark.parametrize(
    ("text", "filtered"),
    [
        ("x = np.exp(y)  # note", "V=V.exp(V)"),
        ('"""a "quoted" text"""\nreturn r"a\\"b" + \'c\'', "SreturnS+S"),
        ('x = "open\ny = 1e-5', "V=SV=1e-5"),
        ("'''never closed\ndef f(): pass", "S"),
        ("def naïve(x):\n\treturn x @ W", "defV(V):returnV@V"),
    ],
)
def test_what_similarity_looks_at(text, filtered):
    assert similarity._filtered(text) == filtered


def test_what_the_tests_are_made_from_has_the_form_of_a_graded_class(book):
    """The made-up class is valid by both schemas, so that what is proven on it holds for a real one."""
    jsonschema = pytest.importorskip("jsonschema")
    schemas = {name: json.loads((SCHEMAS / f"{name}-2.json").read_text("utf-8")) for name in ("class", "result")}
    jsonschema.validate(book.document, schemas["class"])
    jsonschema.validate(next(result for _, result in book.results() if result), schemas["result"])
