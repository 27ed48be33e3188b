"""Test `headway grade --out OUT` over a term: sources one after another, and scores without grading."""

import shutil

import pytest
from support.commands import SOFTMAX, invoke, refusal, succeed
from support.editing import write_files
from support.paths import ROOT
from support.reading import read_json
from support.softmax_class import WRONG, class_document

from autograder.classroom.comments import grade_history
from autograder.classroom.storage import gradebook

POSITIONS = "import numpy as np\ndef one_hot(ids, vocab_size):\n    return np.eye(vocab_size)[np.asarray(ids)]\n"
STUB = (ROOT / "assignments" / "attention.py").read_text("utf-8")
ROSTER = "name,id,email,section\nAda Lovelace,S1,ada@x.edu,A\nGrace Hopper,S2,grace@x.edu,B\nEmmy Noether,S3,,B\n"
# The statuses of a student in softmax and embeddings.
BOTH, BOTH_BUT_LAST, BOTH_BUT_FIRST = ["graded", "graded"], ["graded", "missing"], ["missing", "graded"]

pytestmark = pytest.mark.usefixtures("grading_in_process")


def run(*arguments, code=0):
    done = invoke("grade", *arguments, "--no-color")
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def term(tmp_path):
    """A folder with a Canvas download of softmax, a Moodle download of embeddings, and a roster."""
    return write_files(tmp_path, {
        "canvas/lovelaceada_4021_1_softmax.py": SOFTMAX, "canvas/hoppergrace_LATE_4022_2_softmax.py": WRONG,
        "moodle/Ada Lovelace_7_assignsubmission_file/embeddings.py": POSITIONS,
        "moodle/Emmy Noether_8_assignsubmission_file/embeddings.py": POSITIONS, "roster.csv": ROSTER,
    })  # fmt: skip


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
    assert statuses(out) == {"Ada Lovelace": BOTH, "Grace Hopper": BOTH_BUT_LAST, "Emmy Noether": BOTH_BUT_FIRST}
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
    policy = "[late]\npenalty_per_day = 0.5\n[assignments.softmax]\npoints = 20\n"
    (out / "course.toml").write_text(f'{policy}[[exceptions]]\nstudent = "S1"\nassignment = "softmax"\nscore = 7\n')
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
    found = {"Ada Lovelace": BOTH, "hoppergrace": BOTH_BUT_LAST, "Emmy Noether": BOTH_BUT_FIRST}
    assert statuses(term / "out") == found
    stored = read_json(term / "out" / "submissions.json")
    assert stored["schema"] == "headway.submissions/1"
    assert [source["name"] for source in stored["sources"]] == ["softmax", "embeddings"]
    attempts = [attempt for members in stored["members"].values() for one in members for attempt in one["attempts"]]
    assert [attempt["parts"] for attempt in attempts] == [[]] * 4, "without the paths of this machine"


@pytest.mark.slow
def test_grade_counts_only_what_somebody_began(tmp_path):
    for name in ("ada", "bo"):
        write_files(tmp_path / "class" / name, {"softmax.py": WRONG, "attention.py": STUB})
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
    (["--source", "softmax=canvas", "--out", "out", "--roster", "small.csv"], "is on the roster"),
])  # fmt: skip
def test_grade_refuses_what_it_does_not_understand(term, monkeypatch, arguments, fragment):
    monkeypatch.chdir(term)
    (term / "small.csv").write_text("name,id\nSomebody,1\n")
    (term / "large.csv").write_text("name,id\n" + "".join(f"Somebody {n},{n}\n" for n in range(9)))
    assert fragment in run(*arguments, "--seed", "0", code=2)
    assert not (term / "out" / "class.json").exists() and not (term / "nothing").exists()
    run("--source", "softmax=canvas", "--out", "out", "--roster", "large.csv", "--partial", "--seed", "0")


@pytest.mark.slow
def test_grade_names_whose_grade_changed_and_why(term):
    out, folder = term / "out", term / "moodle"

    def changes(status, *, code=POSITIONS, points=20):
        policy = f"[late]\npenalty_per_day = 0.5\n[assignments.embeddings]\npoints = {points}\n"
        rows = f"Identifier,Full name,Status\nParticipant 7,Ada Lovelace,Submitted for grading{status}\n"
        write_files(out, {"course.toml": policy})
        write_files(folder, {"worksheet.csv": rows, "Ada Lovelace_7_assignsubmission_file/embeddings.py": code})
        said = " ".join(run("--source", f"embeddings={folder}", "--out", out, "--seed", "0").split())
        return [line.partition("): Ada Lovelace (emb")[0] for line in said.split("Grades that changed (")[1:]]

    assert changes("") == [] and {one["cause"] for one in grade_history.read(out)} == {"run"}
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
