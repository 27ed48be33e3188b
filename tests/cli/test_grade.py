"""`headway grade` on a whole class."""

import os

import pytest
from support.commands import SOFTMAX, invoke, succeed
from support.editing import write_files
from support.paths import SUBMISSIONS
from support.reading import csv_rows, read_json

pytestmark = pytest.mark.slow

CLASS = SUBMISSIONS / "class"


def test_grade_class_writes_scores_and_documents(tmp_path):
    succeed("grade", CLASS, "--out", tmp_path / "out", "--assignment", "softmax", "--seed", "3")
    rows = {row["submission"]: row for row in csv_rows(tmp_path / "out" / "grades.csv")}
    assert list(rows) == ["ada", "bo", "chen", "dara", "emil", "fay"]
    assert rows["ada"]["raw"] == rows["ada"]["possible"]
    assert rows["fay"]["raw"] == rows["emil"]["raw"] == "0"
    assert 0 < float(rows["bo"]["raw"]) < float(rows["ada"]["raw"])
    for name in rows:
        document = read_json(tmp_path / "out" / "results" / f"{name}.json")
        assert document["submission"]["id"] == name and document["seed"] == 3
        assert f"{document['points']['earned']:g}" == rows[name]["raw"]
    group = read_json(tmp_path / "out" / "class.json")
    assert [student["submission"] for student in group["students"]] == list(rows)
    assert {student["status"] for student in group["students"]} == {"graded"}
    assert group["students"][0]["earned"] == group["assignments"][0]["possible"]


def test_grade_draws_and_records_a_new_seed(tmp_path):
    seeds = set()
    write_files(tmp_path / "class", {"ada/softmax.py": SOFTMAX})
    for out in ("one", "two"):
        invoke("grade", tmp_path / "class", "--out", tmp_path / out, "--assignment", "softmax.softmax")
        document = read_json(tmp_path / out / "results" / "ada.json")
        assert document["passed"]
        seeds.add(document["seed"])
    assert len(seeds) == 2 and 0 not in seeds


def test_grade_bad_submissions_do_not_stop_the_class(tmp_path):
    good = ("a good one", "=cmd()", "＝cmd()", "[red]x", "ünï")
    group = write_files(tmp_path / "class", {f"{name}/softmax.py": SOFTMAX for name in good})
    write_files(group, {"huge/softmax.py": b"#" * (2 << 20), "binary/softmax.py": bytes(range(256))})
    for name in ("links", "pipe", "empty"):
        (group / name).mkdir()
    (tmp_path / "secret.py").write_text("SECRET = 1")
    (group / "links" / "softmax.py").symlink_to(tmp_path / "secret.py")
    os.mkfifo(group / "pipe" / "softmax.py")
    done = succeed("grade", group, "--out", tmp_path / "out", "--assignment", "softmax.softmax", "--seed", "0")
    rows = {row["submission"]: row for row in csv_rows(tmp_path / "out" / "grades.csv")}
    full = rows["a good one"]["raw"]
    found = {name for name, row in rows.items() if row["raw"] == full}
    assert found == {"a good one", "'=cmd()", "'＝cmd()", "[red]x", "ünï"}
    assert "not a plain file" in rows["pipe"]["notes"] and "larger than 1 MiB" in rows["huge"]["notes"]
    assert "left out" in rows["links"]["notes"]
    assert "SECRET" not in "".join(path.read_text("utf-8") for path in (tmp_path / "out").rglob("*.json"))
    assert "[red]x" in done.stdout
