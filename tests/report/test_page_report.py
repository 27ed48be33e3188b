"""The report for a page: the sentences of the terminal report, as data."""

import json
import sys

import numpy as np
import pytest
from support.commands import run_program
from support.paths import ROOT
from support.result_documents import BROKEN, check, document, printed, words

from autograder.courses.transformer import TRANSFORMER
from autograder.documents import results
from autograder.engine import session
from autograder.engine.comparison import error_map
from autograder.report import check_report, value_words, wording
from autograder.report.page_report import page_report

CLASS = ROOT / "tests" / "submissions" / "class"
FUNCTIONS = ("softmax.softmax", "softmax.cross_entropy", "attention.causal_mask", "attention.attention",
             "layernorm.layernorm", "ffn.relu")  # fmt: skip
STATUSES = tuple(wording.STATUS_WORDS)


@pytest.fixture(scope="module")
def class_documents():
    """The results of the sample class by student, for a few functions."""
    options = session.Options(functions=FUNCTIONS)
    folders = sorted(path for path in CLASS.iterdir() if path.is_dir())
    return {path.name: results.to_document(session.check(path.name, path, options), TRANSFORMER) for path in folders}


def strings(value):
    """Every string in a value made of lists and dictionaries."""
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in items for text in strings(item)]


def terminal(doc, **options):
    return words(printed(check_report.render, doc, width=400, **options))  # so wide that no line is broken


@pytest.mark.slow
def test_sentences_of_the_terminal_are_in_the_page_report(class_documents):
    """Every cell of every panel, the line about what remains, the points and the counts; of every status."""
    counts = [count for doc in class_documents.values() for count in page_report(doc)["counts"]]
    assert {count["status"] for count in counts} == set(STATUSES)
    for doc in class_documents.values():
        report = page_report(doc)
        shown = set(map(words, strings(report)))
        cards = {card["function"]: card for card in report["cards"]}
        checks = wording.first_failures(wording.one_per_finding(wording.failed_checks(doc)))
        assert list(cards) == [wording.panel_title(found)[0] for found in checks[: wording.MAX_FAILURES]]
        for found in checks[: wording.MAX_FAILURES]:
            texts = [wording.panel_title(found)[1], wording.headline(found), found["inputs"], found["help"]]
            texts += [*found["warnings"][:3], found["first_wrong_stage"]]
            texts += [f"{wording.points_text(found['points'])} points"]
            texts += found["mistake"].values() if wording.cause(found) else ()
            texts += value_words.worst_value(found) or ()
            assert {words(text) for text in texts if text} <= shown | {words((found["mistake"] or {}).get("id", ""))}
            assert words(wording.shortened(found["output"])) == words(cards[wording.panel_title(found)[0]]["output"])
        for count in wording.check_counts(wording.all_checks(doc)):
            assert count in [(entry["status"], entry["count"], entry["word"]) for entry in report["counts"]]
        assert report["points_text"] in terminal(doc)


@pytest.mark.slow
def test_sentences_of_the_page_report_are_in_the_terminal(class_documents):
    for doc in class_documents.values():
        text = terminal(doc, all_panels=True)
        report = page_report(doc)
        for card in report["cards"]:
            parts = [card["message"], card["title"], card["inputs"], card["help"], card["stage"], card["points_text"]]
            parts += [*card["warnings"], *card["also"], *(card["values"] or {}).values()]
            parts += [(card["mistake"] or {}).get(key, "") for key in ("title", "reason")]
            parts += [entry["word"] for entry in (card["map"] or {"legend": []})["legend"]]
            for place in filter(None, (card["location"], card["called_from"])):
                parts += [f"{place['file']}:{place['line']}", place["text"]]
            assert [part for part in parts if words(part) not in text] == []
        for count in report["counts"]:
            assert f"{count['count']} {count['word']}" in text


@pytest.mark.slow
def test_page_report_is_json_and_does_not_change_the_document(class_documents):
    before = json.dumps(class_documents)
    for doc in class_documents.values():
        report = page_report(doc)
        assert json.loads(json.dumps(report, allow_nan=False)) == report
    assert json.dumps(class_documents) == before


def test_named_mistake_is_one_card_for_all_its_checks():
    mistake = {"id": "a/b", "title": "not divided", "reason": "proof", "explanation": "why", "hint": "ask?"}
    [card] = page_report(document(*(check(status="failed", title=t, mistake=mistake) for t in "xyz")))["cards"]
    assert card["also"] == ["y", "z"]
    assert card["mistake"] == {key: mistake[key] for key in mistake if key != "id"} | {"label": "likely cause"}
    [card] = page_report(document(check(status="failed", mistake=mistake | {"id": "a/effect-factor"})))["cards"]
    assert card["mistake"]["label"] == "what is wrong"


def test_failed_checks_without_a_card_are_counted_and_named():
    report = page_report(document(*(check(status="failed", title=title) for title in "xyz"), check()))
    assert report["headline"] == "3 of 4 checks failed" and report["remaining"] == wording.remaining_text(2)
    assert report["remaining_titles"] == ["attention.attention: y", "attention.attention: z"]


@pytest.mark.parametrize("status", STATUSES)
def test_one_check_of_each_status(status):
    message = f"message of {status}"
    report = page_report(document(check(status=status, message=message, blocked_by=["softmax.softmax"])))
    assert report["passed"] == (status == "passed") and report["headline"]
    [count] = report["counts"]
    assert (count["status"], count["count"]) == (status, 1)
    assert len(report["cards"]) == (status in wording.FAILED_STATUSES)
    assert len(report["waiting"]) == (status in ("blocked", "not_started"))


def test_missing_file_is_not_called_unwritten():
    message = "there is no file attention.py"
    report = page_report(document(check(status="not_started", message=message, failure="missing")))
    assert report["waiting"] == [f"Cannot check attention.attention: {message}"]


def test_internal_errors_and_notes_are_in_the_report():
    report = page_report({**document(check()), "internal_errors": ["boom"], "notes": ["left out"]})
    assert not report["passed"] and report["internal_errors"] == [f"{wording.INTERNAL_ERROR}boom"]
    assert report["notes"] == ["left out"]


def test_control_and_direction_characters_are_removed():
    text = "a\u202e\x1b[31mb\x00c<img onerror=x>"
    place = {"file": text, "line": 1, "text": text}
    mistake = {"id": "x", "title": text, "reason": text, "explanation": text, "hint": text}
    bad = check(
        status="failed", title=text, message=text, help=text, inputs=text, output=text, warnings=[text],
        mistake=mistake, location=place, called_from=place, first_wrong_stage=text,
    )  # fmt: skip
    shown = strings(page_report(document(bad)))
    assert shown.count("abc<img onerror=x>") >= 10
    assert not any(set(string) & {"\u202e", "\x1b", "\x00"} for string in shown)


def test_long_output_is_shortened_in_the_middle():
    output = "\n".join(f"line {number}" for number in range(1000))
    [card] = page_report(document(check(status="failed", output=output)))["cards"]
    lines = card["output"].split("\n")
    assert lines[0] == "line 0" and lines[-1] == "line 999" and len(lines) == 201


@pytest.mark.parametrize("shape", [(7,), (3, 4), (2, 3, 60), (40, 100), (2, 17, 49)])
def test_labels_of_the_map_name_the_elements_of_its_cells(shape):
    """A cell that stands for a group names all rows and columns of the group."""
    rng = np.random.default_rng(0)
    expected = rng.normal(size=shape)
    wrong = tuple(rng.integers(size) for size in shape)
    actual = expected.copy()
    actual[wrong] += 9
    axes = [""] * (len(shape) - 1) + ["key"]
    picture = error_map.map_errors(actual, expected, actual == expected, wrong, axes)
    worst = {"index": [*map(int, wrong)], "axes": axes, "yours": 1.0, "expected": 2.0, "tolerance": 1e-9}
    [card] = page_report(document(check(status="failed", error_map=picture, worst=worst)))["cards"]
    shown = card["map"]
    [(row, column)] = [(i, marks.index("3")) for i, marks in enumerate(shown["rows"]) if "3" in marks]
    assert shown["rows"][row].count("3") == 1
    last = [int(number) for number in shown["column_labels"][column].replace("key ", "").split(" to ")]
    assert last[0] <= wrong[-1] <= last[-1]
    assert len(shown["column_labels"]) == len(shown["rows"][0]) and len(shown["row_labels"]) == len(shown["rows"])
    if len(shape) > 1:
        rows = [int(number) for number in shown["row_labels"][row].replace("row ", "").split(" to ")]
        assert rows[0] <= wrong[-2] <= rows[-1]
        assert int(shown["row_labels"][-1].split(" ")[-1]) == shape[-2] - 1
    assert "1 far off" in shown["description"]


def test_legend_names_thresholds_only_where_they_apply():
    picture = {"rows": ["03"], "axes": ["", "key"], "at": "", "shape": [1, 2]}
    worst = {"index": [1], "axes": ["key"], "yours": False, "expected": True, "tolerance": 0.0}
    checks = [check(status="failed", error_map=picture, worst=worst | {"tolerance": one}) for one in (0.0, 1e-9)]
    exact, inexact = (page_report(document(one))["cards"][0]["map"] for one in checks)
    assert [entry["text"] for entry in exact["legend"]] == ["correct", "wrong"]
    assert [entry["text"] for entry in inexact["legend"]] == ["correct", "far off (more than 10%)"]
    assert inexact["legend_note"] and not exact["legend_note"]


def test_thresholds_are_those_of_the_error_map():
    expected = np.ones((1, 4))
    actual = 1 + np.array([[0.0, 0.0009, 0.09, 0.11]])
    assert error_map.map_errors(actual, expected, actual == expected, (0, 3), ("row", "column"))["rows"] == ["0123"]
    assert list(value_words.MAP_THRESHOLDS.values()) == ["up to 0.1%", "up to 10%", "more than 10%"]


def test_wording_and_page_report_load_without_rich():
    code = "import sys, autograder.report.page_report; assert 'rich' not in sys.modules"
    run_program(sys.executable, "-c", code, timeout=60)


def test_syntax_error_is_one_card_however_many_checks_fail():
    functions = ("attention.attention", "attention.attention", "attention.causal_mask")
    report = page_report(document(*(check(name, title=name, **BROKEN) for name in functions)))
    [card] = report["cards"]
    assert (card["function"], card["title"], card["affected"]) == ("attention.py", "", "attention, causal_mask")
    assert card["points_text"] == "0 / 3 points"
    assert report["headline"].endswith("read attention.py")
    assert [(entry["count"], entry["word"]) for entry in report["counts"]] == [(1, "file with an error")]
    assert not report["remaining"]
