"""`headway grade` on a whole class."""

import csv
import json
import os

import pytest
from support.commands import SOFTMAX, invoke, succeed
from support.paths import SUBMISSIONS

pytestmark = pytest.mark.slow

CLASS = SUBMISSIONS / "class"


def test_grade_class_writes_scores_and_documents(tmp_path):
    succeed("grade", CLASS, "--out", tmp_path / "out", "--assignment", "softmax", "--seed", "3")
    with open(tmp_path / "out" / "grades.csv", encoding="utf-8") as file:
        rows = {row["submission"]: row for row in csv.DictReader(file)}
    assert list(rows) == ["ada", "bo", "chen", "dara", "emil", "fay"]
    assert rows["ada"]["raw"] == rows["ada"]["possible"]
    assert rows["fay"]["raw"] == rows["emil"]["raw"] == "0"
    assert 0 < float(rows["bo"]["raw"]) < float(rows["ada"]["raw"])
    for name in rows:
        document = json.loads((tmp_path / "out" / "results" / f"{name}.json").read_text("utf-8"))
        assert document["submission"]["id"] == name and document["seed"] == 3
        assert f"{document['points']['earned']:g}" == rows[name]["raw"]
    group = json.loads((tmp_path / "out" / "class.json").read_text("utf-8"))
    assert [student["submission"] for student in group["students"]] == list(rows)
    assert {student["status"] for student in group["students"]} == {"graded"}
    assert group["students"][0]["earned"] == group["assignments"][0]["possible"]


def test_grade_draws_and_records_a_new_seed(tmp_path):
    seeds = set()
    for out in ("one", "two"):
        (tmp_path / "class" / "ada").mkdir(parents=True, exist_ok=True)
        (tmp_path / "class" / "ada" / "softmax.py").write_text(SOFTMAX)
        invoke("grade", tmp_path / "class", "--out", tmp_path / out, "--assignment", "softmax.softmax")
        document = json.loads((tmp_path / out / "results" / "ada.json").read_text())
        assert document["passed"]
        seeds.add(document["seed"])
    assert len(seeds) == 2 and 0 not in seeds


def test_grade_bad_submissions_do_not_stop_the_class(tmp_path):
    group = tmp_path / "class"
    for name in ("a good one", "=cmd()", "＝cmd()", "[red]x", "ünï"):
        (group / name).mkdir(parents=True)
        (group / name / "softmax.py").write_text(SOFTMAX)
    (group / "links").mkdir()
    (tmp_path / "secret.py").write_text("SECRET = 1")
    (group / "links" / "softmax.py").symlink_to(tmp_path / "secret.py")
    (group / "pipe").mkdir()
    os.mkfifo(group / "pipe" / "softmax.py")
    (group / "huge").mkdir()
    (group / "huge" / "softmax.py").write_bytes(b"#" * (2 << 20))
    (group / "empty").mkdir()
    (group / "binary").mkdir()
    (group / "binary" / "softmax.py").write_bytes(bytes(range(256)))
    done = succeed("grade", group, "--out", tmp_path / "out", "--assignment", "softmax.softmax", "--seed", "0")
    with open(tmp_path / "out" / "grades.csv", newline="", encoding="utf-8") as file:
        rows = {row["submission"]: row for row in csv.DictReader(file)}
    full = rows["a good one"]["raw"]
    assert {name for name, row in rows.items() if row["raw"] == full} == {
        "a good one",
        "'=cmd()",
        "'＝cmd()",
        "[red]x",
        "ünï",
    }
    assert "not a plain file" in rows["pipe"]["notes"] and "larger than 1 MiB" in rows["huge"]["notes"]
    assert "left out" in rows["links"]["notes"]
    assert "SECRET" not in "".join(path.read_text("utf-8") for path in (tmp_path / "out").rglob("*.json"))
    assert "[red]x" in done.stdout
