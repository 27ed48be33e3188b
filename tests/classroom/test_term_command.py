"""Test `headway grade --out OUT` over a term: sources one after another, and scores without grading."""

import json
import shutil

import pytest
from support.commands import SOFTMAX, invoke, refusal, succeed
from support.paths import ROOT
from support.softmax_class import WRONG, class_document

from autograder.classroom.comments import grade_history
from autograder.classroom.storage import gradebook

POSITIONS = "import numpy as np\ndef one_hot(ids, vocab_size):\n    return np.eye(vocab_size)[np.asarray(ids)]\n"
STUB = (ROOT / "assignments" / "attention.py").read_text("utf-8")
ROSTER = "name,id,email,section\nAda Lovelace,S1,ada@x.edu,A\nGrace Hopper,S2,grace@x.edu,B\nEmmy Noether,S3,,B\n"


pytestmark = pytest.mark.usefixtures("grading_in_process")


def run(*arguments, code=0):
    done = invoke("grade", *arguments, "--no-color")
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def term(tmp_path):
    """A folder with a Canvas download of softmax, a Moodle download of embeddings, and a roster."""
    for name, text in {"lovelaceada_4021_1": SOFTMAX, "hoppergrace_LATE_4022_2": WRONG}.items():
        (tmp_path / "canvas").mkdir(exist_ok=True)
        (tmp_path / "canvas" / f"{name}_softmax.py").write_text(text)
    for name in ("Ada Lovelace_7", "Emmy Noether_8"):
        (tmp_path / "moodle" / f"{name}_assignsubmission_file").mkdir(parents=True)
        (tmp_path / "moodle" / f"{name}_assignsubmission_file" / "embeddings.py").write_text(POSITIONS)
    (tmp_path / "roster.csv").write_text(ROSTER)
    return tmp_path


def statuses(out):
    students = class_document(out)["students"]
    return {s["name"]: [grade["status"] for grade in s["assignments"].values()] for s in students}


@pytest.mark.slow
def test_grade_second_source_keeps_the_first(term):
    out = term / "out"
    run("--source", f"softmax={term / 'canvas'}", "--out", out, "--roster", term / "roster.csv", "--seed", "0")
    before = class_document(out)["students"][0]["assignments"]["softmax"]
    shutil.rmtree(term / "canvas")
    run("--source", f"embeddings={term / 'moodle'}", "--out", out)
    document = class_document(out)
    assert document["seed"] == 0 and [one["name"] for one in document["assignments"]] == ["softmax", "embeddings"]
    assert statuses(out) == {
        "Ada Lovelace": ["graded", "graded"],
        "Grace Hopper": ["graded", "missing"],
        "Emmy Noether": ["missing", "graded"],
    }
    ada, grace, emmy = document["students"]
    assert ada["assignments"]["softmax"] == before
    assert ada["ids"] == {"canvas": "4021", "moodle:embeddings": "7"} and ada["section"] == "A"
    assert [grade["late"] for grade in grace["assignments"].values()] == [True, None]
    assert grace["assignments"]["softmax"]["late_days"] == 1
    assert emmy["assignments"]["softmax"]["file"] is None and emmy["assignments"]["softmax"]["attempts"] == 0
    result = gradebook.read(out).result_of(ada)
    assert [assignment["name"] for assignment in result["assignments"]] == ["softmax", "embeddings"]


@pytest.mark.slow
def test_grade_without_submissions_applies_the_policy(term):
    out = term / "out"
    run("--source", f"softmax={term / 'canvas'}", "--out", out, "--roster", term / "roster.csv", "--seed", "0")
    earned = class_document(out)["students"][0]["earned"]
    journal = (out / "journal.jsonl").read_bytes()
    shutil.rmtree(term / "canvas")
    (out / "course.toml").write_text(
        "[late]\npenalty_per_day = 0.5\n[assignments.softmax]\npoints = 20\n"
        '[[exceptions]]\nstudent = "S1"\nassignment = "softmax"\nscore = 7\n'
    )
    run("--out", out)
    ada, grace, emmy = class_document(out)["students"]
    assert earned > 0 and ada["score"] == 7 and ada["out_of"] == 20 and emmy["score"] == 0
    assert grace["score"] == pytest.approx(grace["earned"] / 2)
    assert (out / "journal.jsonl").read_bytes() == journal
    # The roster's file may be gone, too.
    (term / "roster.csv").unlink()
    run("--out", out)
    assert len(class_document(out)["students"]) == 3


@pytest.mark.slow
def test_grade_newly_hidden_check_is_withheld_from_old_results(term):
    out = term / "out"
    run("--source", f"softmax={term / 'canvas'}", "--out", out, "--seed", "0")

    def details():
        book = gradebook.read(out)
        checks = [check for _, f in gradebook.iter_functions(book.result_of(book.students[1])) for check in f["checks"]]
        assert {check["status"] for check in checks} == {"passed", "failed", "not_started"}
        return [check["id"] for check in checks if check["message"]]

    assert any(name.startswith("softmax.softmax::") for name in details())
    (out / "course.toml").write_text('[checks]\nhidden = ["softmax.softmax::*"]\n')
    run("--out", out)
    assert not any(name.startswith("softmax.softmax::") for name in details())


@pytest.mark.slow
def test_grade_folder_of_assignments_counts_each_source(term):
    (term / "all").mkdir()
    (term / "canvas").rename(term / "all" / "softmax")
    (term / "moodle").rename(term / "all" / "Embeddings")
    run(term / "all", "--out", term / "out", "--seed", "0")
    assert statuses(term / "out") == {
        "Ada Lovelace": ["graded", "graded"],
        "hoppergrace": ["graded", "missing"],
        "Emmy Noether": ["missing", "graded"],
    }
    stored = json.loads((term / "out" / "submissions.json").read_text("utf-8"))
    assert stored["schema"] == "headway.submissions/1"
    assert [source["name"] for source in stored["sources"]] == ["softmax", "embeddings"]


@pytest.mark.slow
def test_grade_counts_only_what_somebody_began(tmp_path):
    for name in ("ada", "bo"):
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "softmax.py").write_text(WRONG)
        (tmp_path / "class" / name / "attention.py").write_text(STUB)
    output = run(tmp_path / "class", "--out", tmp_path / "out", "--seed", "0")
    document = class_document(tmp_path / "out")
    assert "Only softmax counts" in output
    assert [one["name"] for one in document["assignments"]] == ["softmax"]
    assert set(document["students"][0]["assignments"]) == {"softmax"}
    book = gradebook.read(tmp_path / "out")
    assert [one["name"] for one in book.result_of(book.students[0])["assignments"]] == ["softmax"]


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "fragment"), [
    (["--out", "nothing"], "headway grade DIR --out nothing"),
    (["canvas", "--source", "softmax=moodle", "--out", "out"], "not both"),
    (["--source", "softmax=canvas", "--source", "softmax=moodle", "--out", "out"], "softmax is named twice"),
    (["--source", "softmax=canvas", "--out", "canvas/out"], "beside it"),
    (["--source", "softmax=canvas", "--out", "out", "--roster", "large.csv"], "--partial"),
])  # fmt: skip
def test_grade_refuses_what_it_does_not_understand(term, monkeypatch, arguments, fragment):
    monkeypatch.chdir(term)
    (term / "large.csv").write_text("name,id\n" + "".join(f"Somebody {n},{n}\n" for n in range(9)))
    assert fragment in run(*arguments, "--seed", "0", code=2)
    assert not (term / "out" / "class.json").exists() and not (term / "nothing").exists()
    run("--source", "softmax=canvas", "--out", "out", "--roster", "large.csv", "--partial", "--seed", "0")


@pytest.mark.slow
def test_grade_names_whose_grade_changed_and_why(term):
    out, folder = term / "out", term / "moodle"
    out.mkdir()

    def changes(status, *, code=POSITIONS, points=20):
        (out / "course.toml").write_text(
            f"[late]\npenalty_per_day = 0.5\n[assignments.embeddings]\npoints = {points}\n"
        )
        rows = f"Identifier,Full name,Status\nParticipant 7,Ada Lovelace,Submitted for grading{status}\n"
        (folder / "worksheet.csv").write_text(rows)
        (folder / "Ada Lovelace_7_assignsubmission_file" / "embeddings.py").write_text(code)
        said = " ".join(run("--source", f"embeddings={folder}", "--out", out, "--seed", "0").split())
        return [line.partition("): Ada Lovelace (emb")[0] for line in said.split("Grades that changed (")[1:]]

    assert changes("") == []
    assert changes(" - 1 day late") == ["changed lateness"]
    assert changes(" - 1 day late") == []
    assert changes(" - 2 days late", code="import numpy as np\n") == ["submitted again"]
    assert changes("") == ["submitted again"]
    assert changes("", points=40) == ["changed policy"]
    assert [one["cause"] for one in grade_history.read(out)].count("policy") == 2, "the student's and that of Emmy"


@pytest.mark.slow
def test_exception_for_nobody_is_an_open_question(term):
    out, entry = term / "out", '[[exceptions]]\nstudent = "{}"\nassignment = "softmax"\nscore = 7\n'
    out.mkdir()
    (out / "course.toml").write_text(entry.format("Hopper, Grace") + entry.format("Lovelace, Adda"))
    where = ("--source", f"softmax={term / 'canvas'}", "--roster", term / "roster.csv", "--partial")
    said = " ".join(run(*where, "--out", out, "--seed", "0").split())
    assert said.count("no student 'Lovelace, Adda' in the class. Did you mean 'Ada Lovelace'?") == 2
    assert class_document(out)["students"][1]["score"] == 7
    for command in (("choose", out), ("export", "canvas", out, "--dry-run"), ("report", out)):
        assert "'Lovelace, Adda'" in invoke(*command, COLUMNS="300").stdout
    assert "Lovelace, Adda" in (out / "report.html").read_text("utf-8")
    assert "1 question about these grades" in refusal("export", "csv", out)
    (out / "course.toml").write_text(entry.format("Lovelace, Ada"))
    run("--out", out)
    assert "Nothing is open" in succeed("choose", out).stdout
