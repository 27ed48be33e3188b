"""A whole term of 60 students on four platforms: every final grade equals a calculation that is not Headway's own.

The test knows which functions each student got wrong and when the work was submitted. From that and the rules in
docs/instructors.md it computes each grade with exact fractions.
"""

import json
import math
import shutil
from datetime import timedelta
from fractions import Fraction
from itertools import combinations, product

import pytest
from support import term
from support.commands import invoke, succeed
from support.lms_files import ENGLISH, FRENCH, GERMAN, POLISH, canvas_gradebook, moodle_worksheet
from support.lms_importers import CanvasCourse, MoodleAssignment
from support.softmax_class import CachingPool, class_document

from autograder.classroom import grade as grade_module

pytestmark = pytest.mark.slow

DAY = timedelta(days=1)
STUDENTS = term.people(60)


def points(module, wrong, bonus="cap"):
    """Return the points for the functions that are right."""
    return sum(
        (Fraction(value) for name, value in term.POINTS[module].items() if name not in wrong
         and not (bonus == "off" and (module, name) in term.BONUS)),
        Fraction(0),
    )  # fmt: skip


def possible(module):
    return sum(Fraction(value) for name, value in term.POINTS[module].items() if (module, name) not in term.BONUS)


def late_days(module, work):
    """Canvas marks late work as one day late; Moodle's download has no date; Gradescope and nbgrader have the time."""
    if term.PLATFORMS[module] == "canvas":
        return 1 if work.after_due > timedelta(0) else 0
    if term.PLATFORMS[module] == "moodle":
        return 0
    return max(0, math.ceil((work.after_due - timedelta(hours=2)) / DAY))


def assignment_score(module, works, bonus, rule, paid=0):
    """Return the points for one assignment: of the best attempt, after lateness and the exception `rule`.

    The best attempt is the best without the bank, which then pays for `paid` days.
    """
    most = possible(module)
    scores = [Fraction(0)]
    if paid:
        scores, works = [], sorted(works, key=lambda work: assignment_score(module, [work], bonus, rule))[-1:]
    for work in works:
        days = max(0, rule.get("late_days", late_days(module, work)) - paid)
        earned = points(module, work.wrong, bonus)
        score = earned - min(Fraction(1, 4), Fraction(1, 10) * days) * earned
        score += Fraction(rule.get("bonus", 0))
        scores.append(max(Fraction(0), score if bonus == "extra" else min(score, most)))
    if not works:
        scores.append(max(Fraction(0), Fraction(rule.get("bonus", 0))))
    return Fraction(rule["score"]) if "score" in rule else max(scores)


def expected(person, bonus="cap", drop=1, rules=None, bank=0, each=0, final=None):
    """Return the share of the weights that count, for the best choice of drops, paid days and a replacement."""
    rules = (rules or {}).get(person.number, {})
    modules = [module for module in term.POINTS if not rules.get(module, {}).get("excused")]
    totals = []
    for paid in product(*(range(each + 1 if person.work.get(module) else 1) for module in modules)):
        if sum(paid) > bank:
            continue
        shares = {
            module: assignment_score(module, person.work.get(module, []), bonus, rules.get(module, {}), days)
            / possible(module)
            for module, days in zip(modules, paid, strict=True)
        }
        for replaced in {None, final}.union(modules if final in modules else ()):
            counted = shares | ({replaced: shares[final]} if replaced and final in modules else {})
            for kept in combinations(modules, max(1, len(modules) - drop)):
                if final in kept or final not in modules:
                    weight = sum(term.WEIGHTS[module] for module in kept)
                    totals.append(sum(counted[module] * term.WEIGHTS[module] for module in kept) / weight)
    return max(totals) * 100


def toml_of(rules, toml=""):
    """Return the `[[exceptions]]` of the rules; each names the student in another way."""
    for number, by_module in rules.items():
        person = STUDENTS[number]
        names = (person.name, person.sis, person.login, person.email, person.canvas_id)
        for module, rule in by_module.items():
            toml += f'[[exceptions]]\nstudent = "{names[number % 5]}"\nassignment = "{module}"\n'
            toml += "".join(f"{key} = {str(value).lower()}\n" for key, value in rule.items())
    return toml


RULES = {
    0: {"softmax": {"excused": True}},
    1: {"embeddings": {"late_days": 2}},
    2: {"layernorm": {"bonus": 3}, "ffn": {"score": 29}},
    3: {"softmax": {"excused": True}, "ffn": {"excused": True}},
    4: {"layernorm": {"late_days": 0}},
    5: {"embeddings": {"late_days": 9}, "softmax": {"bonus": -2}},
}


def require_expected(out, **policy):
    document = class_document(out)
    by_id = {student["id"]: student for student in document["students"]}
    assert set(by_id) == {person.sis for person in STUDENTS}
    wrong = {}
    for person in STUDENTS:
        student, grade = by_id[person.sis], float(expected(person, **policy))
        if not math.isclose(student["percent"], grade, abs_tol=1e-6):
            wrong[person.name] = (student["percent"], grade, person)
    assert not wrong, f"{len(wrong)} grades differ: {dict(list(wrong.items())[:2])}"
    return document


def grade(*arguments):
    return succeed("grade", *arguments, "--no-color").stdout


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A term whose assignments were graded one after another, and whose downloads are gone."""
    root = term.make_term(tmp_path_factory.mktemp("term"), STUDENTS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grade_module, "WorkerPool", CachingPool)
        patch.setattr("os.fsync", lambda descriptor: None)
        for module in ("softmax", "embeddings"):
            source = f"{module}={root / 'downloads' / module}"
            grade("--source", source, "--out", root / "out", "--course", root / "course.toml", "--seed", "0")
        rest = [f"--source={module}={root / 'downloads' / module}" for module in ("layernorm", "ffn")]
        grade(*rest, "--out", root / "out")
    shutil.rmtree(root / "downloads")
    return root


def policy(root, rules=None, late="", **changes):
    head = term.POLICY + late
    for key in ("bonus", "drop_lowest", "replace_lowest_by"):
        if key in changes:
            value = json.dumps(changes[key])
            head = "\n".join(line for line in head.splitlines() if not line.startswith(key))
            head = f"{key} = {value}\n{head}\n"
    term.write_policy(root / "course.toml", toml_of(rules or {}), head)
    return grade("--out", root / "out")


def test_term_grades_equal_an_independent_calculation(graded):
    policy(graded)
    document = require_expected(graded / "out")
    assert [one["name"] for one in document["assignments"]] == ["softmax", "embeddings", "layernorm", "ffn"]
    works = [(person.number, module, works) for person in STUDENTS for module, works in person.work.items()]
    assert sum(len(works) > 1 for _, _, works in works) > 10, "second attempts"
    assert sum(not person.work.get(module) for person in STUDENTS for module in term.POINTS) > 10, "missing work"
    assert sum(any(late_days(module, work) for work in works) for _, module, works in works) > 30, "late work"


@pytest.mark.parametrize("changes", [
    {"bonus": "extra"}, {"bonus": "off"}, {"drop_lowest": 0}, {"drop_lowest": 2, "bonus": "extra"}
], ids=["extra", "off", "no-drop", "two-drops"])  # fmt: skip
def test_term_policy_changes_scores_without_the_downloads(graded, changes):
    policy(graded, RULES, **changes)
    bonus, drop = changes.get("bonus", "cap"), changes.get("drop_lowest", 1)
    require_expected(graded / "out", bonus=bonus, drop=drop, rules=RULES)


@pytest.mark.parametrize("final", [None, "ffn"])
def test_term_with_a_bank_of_late_days(graded, final):
    policy(graded, RULES, "bank = 3\nbank_each = 2\n", **({"replace_lowest_by": final} if final else {}))
    document = require_expected(graded / "out", rules=RULES, bank=3, each=2, final=final)
    grades = [grade for student in document["students"] for grade in student["assignments"].values()]
    assert sum(grade["bank_days"] > 0 for grade in grades) > 10
    assert bool(final) == any(grade["replaced_by"] for grade in grades)


def test_term_exceptions_by_every_name_of_the_roster(graded):
    assert "no student" not in policy(graded, RULES)
    document = require_expected(graded / "out", rules=RULES)
    assert {student["section"] for student in document["students"]} == {"Section A", "Section B"}
    assert {student["ta"] for student in document["students"]} == {"Kim", "Lee"}


def test_term_ids_belong_to_their_platform(graded):
    students = {student["id"]: student for student in class_document(graded / "out")["students"]}
    for person in STUDENTS:
        ids = students[person.sis]["ids"]
        assert ids["canvas"] == person.canvas_id
        number = str(4000 + (person.number * 7) % len(STUDENTS))
        assert ids.get("moodle:embeddings") == (number if "embeddings" in person.work else None)
        assert ids.get("gradescope") == (person.sis if "layernorm" in person.work else None)
        assert ids.get("nbgrader") == (person.login if "ffn" in person.work else None)


def test_term_regrade_by_comment(graded):
    policy(graded, RULES)
    out = graded / "commented"
    shutil.copytree(graded / "out", out)
    first, second = STUDENTS[10], STUDENTS[11]
    for student, *change in ((first.sis, "--score", 29), (second.login, "--add", 2)):
        succeed("comment", out, student, "Checked", "--assignment", "ffn", "--by", "Kim", *change, "--no-color")
    require_expected(out, rules={**RULES, 10: {"ffn": {"score": 29}}, 11: {"ffn": {"bonus": 2}}})
    grade("--out", out)  # the comments outlast another run
    require_expected(out, rules={**RULES, 10: {"ffn": {"score": 29}}, 11: {"ffn": {"bonus": 2}}})
    comments = [json.loads(line) for line in (out / "comments.jsonl").read_text("utf-8").splitlines()]
    found = [(comment["by"], comment.get("score"), comment.get("add")) for comment in comments]
    assert found == [("Kim", 29, None), ("Kim", None, 2)]


def test_term_with_requests_line_comments_and_a_bank(graded):
    policy(graded, RULES, "bank = 3\nbank_each = 2\n")
    out = graded / "discussed"
    shutil.copytree(graded / "out", out)
    grades = [(one["id"], *entry) for one in class_document(out)["students"] for entry in one["assignments"].items()]
    files = {number: name for number, name, grade in grades if grade["graded_file"].endswith(f"{name}.py")}
    people = [person for person in STUDENTS[10:] if person.sis in files][:4]
    for person in people:
        name = files[person.sis]
        succeed("comment", out, person.sis, f"{name}.py:1", "Look at this again.", "--by", "Kim", "--no-color")
        about = next(iter(term.POINTS[name]))
        succeed("request", out, "-", typed=f"student: {person.sis}\nabout: {name}.{about}\nquestion: Why?\n")
    document = require_expected(out, rules=RULES, bank=3, each=2)
    asking = [one["id"] for one in document["students"] if any(q["kind"] == "request" for q in one["open"])]
    assert sorted(asking) == sorted(person.sis for person in people)
    placed = {one["id"]: [comment["location"] for comment in one["comments"]] for one in document["students"]}
    assert all(placed[person.sis] == [{**placed[person.sis][0], "line": 1}] for person in people)
    rules = dict(RULES)
    for points, person in enumerate(people, 1):
        module = files[person.sis]
        succeed("comment", out, person.sis, "You are right.", "--assignment", module, "--add", points, "--no-color")
        rules[person.number] = {module: {"bonus": points}}
    for _ in range(2):
        document = require_expected(out, rules=rules, bank=3, each=2)
        assert not any(q["kind"] == "request" for one in document["students"] for q in one["open"])
        grade("--out", out)


def expected_scores(module):
    """Return the points of everybody who submitted the assignment or has points by an exception; None if excused."""
    scores = {}
    for person in STUDENTS:
        rule = RULES.get(person.number, {}).get(module, {})
        works = person.work.get(module, [])
        if rule.get("excused"):
            scores[person.number] = None
        elif works or {"score", "bonus"} & rule.keys():
            scores[person.number] = float(assignment_score(module, works, "cap", rule))
    return scores


def close(scores, decimals):
    return {key: value if value is None else pytest.approx(value, abs=0.51 * 10**-decimals)
            for key, value in scores.items()}  # fmt: skip


def export(root, *arguments):
    """Export the term; what was delivered in odd forms has open questions, and waits for `--despite-open`."""
    done = invoke("export", arguments[0], root / "out", *arguments[1:], "--to", root / "refused", "--force")
    if "softmax" not in arguments:
        assert done.returncode == 2 and "--despite-open" in done.stderr, done.stdout
    done = succeed("export", arguments[0], root / "out", *arguments[1:], "--despite-open", "--force")
    assert "Next:" in done.stdout


def test_term_exports_to_canvas_equal_the_calculation(graded, tmp_path):
    policy(graded, RULES)
    people = {int(p.canvas_id): {"name": p.name, "sortable_name": p.sortable, "sis_user_id": p.sis, "login": p.login}
              for p in STUDENTS}  # fmt: skip
    numbers = {module: 501 + i for i, module in enumerate(term.POINTS)}
    course = CanvasCourse(people, {numbers[m]: {"title": m, "points": float(possible(m))} for m in numbers})
    rows = [(p["sortable_name"], i, p["sis_user_id"], p["login"], "Section A", {}) for i, p in people.items()]
    columns = {f"{module} ({number})": float(possible(module)) for module, number in numbers.items()}
    (tmp_path / "gradebook.csv").write_text(canvas_gradebook(rows, columns), "utf-8")
    export(graded, "canvas", "--gradebook", tmp_path / "gradebook.csv", "--to", tmp_path / "canvas.csv")
    done = course.import_gradebook((tmp_path / "canvas.csv").read_bytes())
    assert not done["new_students"] and not done["new_assignments"] and not done["points"]
    for module, number in numbers.items():
        found = {key[0] - 4000: None if score == "EX" else float(score)
                 for key, score in done["scores"].items() if key[1] == number}  # fmt: skip
        assert found == close(expected_scores(module), 2)


@pytest.mark.parametrize(
    ("module", "language"), [*zip(term.POINTS, (GERMAN, ENGLISH, FRENCH, POLISH), strict=True)], ids=[*term.POINTS]
)
def test_term_exports_to_moodle_equal_the_calculation(graded, tmp_path, module, language):
    policy(graded, RULES)
    # The participant's number, which is that of the download where the work came from Moodle.
    first, step = (4000, 7) if term.PLATFORMS[module] == "moodle" else (7000, 11)
    number = {p.number: first + (p.number * step) % len(STUDENTS) for p in STUDENTS}
    rows = [(number[p.number], p.name, "", p.email, None, "", False) for p in STUDENTS]
    sheet, written = tmp_path / "worksheet.csv", tmp_path / "moodle.csv"
    sheet.write_text(moodle_worksheet(language, rows, maximum=float(possible(module))), "utf-8")
    export(graded, "moodle", "--assignment", module, "--worksheet", sheet, "--to", written)
    names = {number[p.number]: p.name for p in STUDENTS}
    target = MoodleAssignment(language.titles, language.participant, float(possible(module)), names, language.decimal)
    found = target.import_worksheet(written.read_bytes(), ignore_modified=True)
    assert not found["unknown"]
    scores = {number[key]: value for key, value in expected_scores(module).items() if value is not None}
    assert found["grades"] == close(scores, 2)


def test_term_exports_to_gradescope_equal_the_calculation(graded, tmp_path):
    policy(graded, RULES)
    submissions = {s["submission"]: s["id"] for s in class_document(graded / "out")["students"]}
    for module in term.POINTS:
        export(graded, "gradescope", "--assignment", module, "--to", tmp_path / module)
        documents = [json.loads(file.read_text("utf-8")) for file in (tmp_path / module).iterdir()]
        found = {submissions[d["extra_data"]["submission"]][4:].lstrip("0") or "0": d["score"] for d in documents}
        scores = {str(p): value for p, value in expected_scores(module).items()
                  if value is not None and STUDENTS[p].work.get(module)}  # fmt: skip
        found = {p: score for p, score in found.items() if not RULES.get(int(p), {}).get(module, {}).get("excused")}
        assert found == close(scores, 4)


@pytest.mark.notebook
@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning", "ignore::DeprecationWarning")
def test_term_exports_to_nbgrader_equal_the_calculation(graded, tmp_path):
    from nbgrader.api import Gradebook

    policy(graded, RULES)
    url = f"sqlite:///{tmp_path / 'gradebook.db'}"
    export(graded, "nbgrader", "--database", url)
    with Gradebook(url) as read:
        for module in term.POINTS:
            found = {one.student_id: one.score - one.late_submission_penalty
                     for one in read.assignment_submissions(module)}  # fmt: skip
            excused = {number for number, rules in RULES.items() if rules.get(module, {}).get("excused")}
            scores = {STUDENTS[p].login: value for p, value in expected_scores(module).items()
                      if STUDENTS[p].work.get(module) and p not in excused}  # fmt: skip
            found = {login: score for login, score in found.items() if int(login[1:]) not in excused}
            assert found == close(scores, 4)
