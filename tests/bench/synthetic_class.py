"""Make a graded class from a seed: `class.json` and result documents, for tests and benchmarks of reports and exports.

    python tests/bench/synthetic_class.py OUT --students 2000 --seed 1

Nothing is graded. Every student has a strength and every function a difficulty. Wrong functions have the titles of
known mistakes, common ones more often. Some students are missing, some archives are unreadable, and the first few
students have names that attack a page, a terminal or a spreadsheet.
"""

import argparse
import json
import random
import re
from functools import cache
from pathlib import Path

import msgspec

from autograder.classroom.policy.model import Policy
from autograder.course.stubs import bundled
from autograder.courses.transformer import TRANSFORMER
from autograder.engine.diagnosis.mistake import mistakes_of_function

HOSTILE = (
    "<script>document.title='owned'</script>", "=HYPERLINK(\"http://example.invalid\",\"click\")",
    "\u202egnp.exe \u202d]0;x",
    "+cmd|' /C calc'!A0", "@SUM(1+1)*cmd",
    "Robert\"); DROP TABLE students;--",
    "</script><img src=x onerror=document.title='owned'>", "{{7*7}} &amp; <b>bold</b>, \u0000Zoë",
    "[link](javascript:alert(1)) `code` | pipe **bold**",
)  # fmt: skip
FIRST = ("Ada", "Bo", "Chen", "Dara", "Emil", "Fay", "Grace", "Hugo", "Ines", "João", "Kofi", "Lena", "Mira", "Zoë")
LAST = ("Abel", "Berg", "Costa", "Diaz", "Eze", "Fuchs", "García", "Haas", "Ito", "Jansen", "Kaya", "Lund", "Novak")
POLICY = Policy(bonus="extra", feedback="full")
VERSIONS = {"headway": "0.1.0", "python": "3.11.7", "numpy": "2.4.6", "torch": "2.13.0"}
SECTIONS = (("Monday", "Grace Hopper"), ("Tuesday", "Alan Turing"), ("Thursday", "Grace Hopper"), ("", ""))
TITLES = (
    "rows of a matrix", "random upstream gradient, float64", "large values, no overflow", "integers become float64",
    "a padding mask and queries that see nothing", "the inputs are not modified", "leading batch axes",
)  # fmt: skip


def make(
    out: Path, students: int, seed: int = 1, *, assignments: tuple[str, ...] = (), hostile: bool = True,
    code: bool = False, week: int = 0,
) -> None:  # fmt: skip
    """Write the class to `out`.

    Args:
        assignments: only these; all if empty.
        hostile: whether the first students have hostile names.
        code: whether code, comments and a history are stored, too; some students have copied.
        week: the same students some weeks later, who have passed a little more.
    """
    # What students write is drawn apart, so that their fates do not depend on how many functions the course has.
    chance, work = random.Random(seed), random.Random(seed + 1)
    course = [a for a in TRANSFORMER.assignments if not assignments or a.module in assignments]
    difficulty = {f.qualified: work.uniform(0.05, 0.25) + 0.04 * a.number for a in course for f in a.functions}
    checks = {name: work.randint(3, 7) for name in difficulty}
    possible = {a.module: sum(checks[f.qualified] for f in a.functions if not f.bonus) for a in course}
    (out / "results").mkdir(parents=True, exist_ok=True)
    rows = []
    for number in range(students):
        name = f"{chance.choice(FIRST)} {chance.choice(LAST)}"
        if hostile and number < len(HOSTILE):
            name = HOSTILE[number]
        submission = f"student{number:05d}"
        section = number % len(SECTIONS)
        row = {
            "name": name, "id": f"{100000 + number}", "email": f"s{number}@example.org", "ids": {},
            "section": SECTIONS[section][0], "ta": SECTIONS[section][1], "roster": {},
            "submission": submission, "status": "graded", "reason": "", "notes": [], "limit_note": "", "open": [],
            "late_days": 0, "earned": 0.0,
            "possible": float(sum(possible.values())), "penalty": 0.0, "dropped": [], "score": 0.0,
            "out_of": float(sum(possible.values())), "percent": 0.0, "comments": [],
            "statuses": {}, "seconds": 0.0, "assignments": {
                a.module: {
                    "status": "graded", "reason": "", "file": None, "attempt": 1, "attempts": 1, "graded_file": "",
                    "late": None,
                    "submitted_at": "2026-03-01T12:00:00+00:00", "earned": 0.0,
                    "possible": float(possible[a.module]), "score": 0.0, "late_days": 0,
                    "bank_days": 0, "penalty": 0.0, "replaced_by": "", "bonus": 0.0, "counts": "counts",
                    "excused": False, "by_hand": False,
                    "exception": "", "rubric": [], "adjustments": [],
                }
                for a in course
            },
        }  # fmt: skip
        rows.append(row)
        lot = chance.random()
        if number >= len(HOSTILE) and lot < 0.04:
            problem = {"status": "unreadable", "reason": "submission.zip: the archive cannot be read (BadZipFile)"}
            missing = {"status": "missing", "reason": "no submission"}
            for record in (row, *row["assignments"].values()):
                record.update(missing if lot < 0.03 else problem)
            for grade in row["assignments"].values() if lot < 0.03 else ():
                grade.update(attempt=0, attempts=0, submitted_at=None)
            continue
        result = _result(work, submission, course, difficulty, checks, week)
        file = f"results/{submission}.json"
        for grade in row["assignments"].values():
            grade["file"] = file
        (out / file).write_text(json.dumps(result, ensure_ascii=False), "utf-8")
        if code:
            _write_code(out, number, course, file)
            text = "Nice work on the masks.\nPlease look at the scale of the scores."
            comment = {"time": "2026-03-04T10:00:00+00:00", "by": "Grace Hopper", "text": text}
            comment |= {"location": None, "reuses": ""}
            row["comments"] = [{**comment, "assignment": course[0].module}] if number % 3 == 0 else []
        row.update(earned=result["points"]["earned"], seconds=result["seconds"])
        row["late_days"] = chance.choice([0, 0, 0, 0, 1, 2])
        for assignment in result["assignments"]:
            entry = row["assignments"][assignment["name"]]
            entry.update(earned=assignment["points"]["earned"], late_days=row["late_days"])
            functions = assignment["functions"]
            entry["bonus"] = sum(function["points"]["earned"] for function in functions if function["bonus"])
            entry["penalty"] = round(entry["earned"] * 0.1 * row["late_days"], 6)
            entry["score"] = round(min(entry["possible"], entry["earned"] - entry["penalty"]), 6)
        row["score"] = round(sum(entry["score"] for entry in row["assignments"].values()), 6)
        row["percent"] = 100.0 * row["score"] / row["out_of"]
        row["penalty"] = round(sum(entry["penalty"] for entry in row["assignments"].values()), 6)
        for check in (c for a in result["assignments"] for f in a["functions"] for c in f["checks"]):
            row["statuses"][check["status"]] = row["statuses"].get(check["status"], 0) + 1
    document = {
        "schema": "headway.class/1", "versions": VERSIONS, "seed": seed,
        "course": {"title": "Transformers from scratch", "policy": msgspec.to_builtins(POLICY)},
        "assignments": [
            {"name": a.module, "title": a.title, "possible": float(possible[a.module]),
             "weight": float(possible[a.module]), "due": "2026-02-28T23:59:00+00:00"}
            for a in course
        ],
        "students": rows, "open": [], "seconds": 0.4 * students,
    }  # fmt: skip
    (out / "class.json").write_text(json.dumps(document, ensure_ascii=False), "utf-8")


def _write_code(out, number, course, file):
    """Write the code of a student: the official one with names of their own, but every tenth has copied."""
    author = number - 1 if number % 10 == 7 else number
    modules = {}
    for a in course:
        text = re.sub(r"\b(x|out|scores|dout)\b", rf"\1_{author}", "\n".join(_code_of(a.module)))
        text += _helper_of(a.module, author)
        if number != author:
            text = text.replace(f"x_{author}", "values").replace("return", "# my own way\n    return")
        modules[a.module] = [{"file": f"{a.module}.py", "line": 1, "text": text}]
    document = {"schema": "headway.code/1", "modules": modules, "left_out": []}
    (out / "code").mkdir(exist_ok=True)
    (out / "code" / Path(file).name).write_text(json.dumps(document, ensure_ascii=False), "utf-8")


def _helper_of(module, author):
    """Return a function that no other student has written."""
    chance = random.Random(f"{module} {author}")
    calls = ("exp", "tanh", "maximum", "where", "einsum", "cumsum", "roll", "tile", "clip", "outer", "tril", "flip")
    lines = [f"\n\ndef try_{module}(a, b):"]
    for _ in range(14):
        first, second = chance.sample(calls, 2)
        lines.append(f"    a = np.{first}(a[{chance.randint(0, 99)}:] * b, np.{second}(b - {chance.randint(0, 999)}))")
    return "\n".join([*lines, "    return a @ b"])


@cache
def _code_of(module):
    lines = (bundled("solutions") / f"{module}.py").read_text("utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


@cache
def _line_of(function, status):
    lines = _code_of(function.module)
    heads = (i for i, line in enumerate(lines, 1) if line.startswith(f"def {function.name}("))
    return next(heads, 10) + (8 if status == "error" else 0)


def _result(chance, submission, course, difficulty, checks, week=0):
    strength = min(1.0, max(0.0, chance.gauss(0.72, 0.2) + 0.06 * week))
    reached = chance.randint(3, 16)  # the first assignment that was not started
    assignments, seconds = [], 0.0
    for a in course:
        functions = []
        for f in a.functions:
            wrong = chance.random() < difficulty[f.qualified] + 0.6 * (0.75 - strength)
            state = "not_started" if a.number >= reached else "failed" if wrong else "passed"
            if state == "failed":
                state = chance.choices(("failed", "error", "timeout", "blocked"), (70, 15, 3, 12))[0]
            mistake = None
            if state == "failed" and chance.random() < 0.7:
                known = mistakes_of_function(f.qualified, package=TRANSFORMER.package)
                if known:
                    pick = known[min(int(chance.expovariate(0.9)), len(known) - 1)]
                    texts = {"explanation": pick.explanation, "hint": pick.hint, "reason": ""}
                    mistake = {"id": pick.id, "title": pick.title, **texts}
            one_of_three = "passed" if state == "failed" else state
            states = [one_of_three if number % 3 == 2 else state for number in range(checks[f.qualified])]
            records = [_check(chance, f, number, one, mistake) for number, one in enumerate(states)]
            seconds += sum(r["seconds"] for r in records)
            functions.append({
                "name": f.name, "status": state, "bonus": f.bonus, "checks": records,
                "points": {"earned": sum(r["points"]["earned"] for r in records), "possible": float(len(records))},
            })  # fmt: skip
        counted = [f for f in functions if not f["bonus"]]
        points = {"earned": sum(f["points"]["earned"] for f in functions),
                  "possible": sum(f["points"]["possible"] for f in counted)}  # fmt: skip
        about = {"number": a.number, "name": a.module, "title": a.title}
        assignments.append({**about, "points": points, "functions": functions})
    points = {key: sum(a["points"][key] for a in assignments) for key in ("earned", "possible")}
    return {
        "schema": "headway.result/1", "submission": {"id": submission, "sha256": f"{chance.getrandbits(256):064x}"},
        "seed": 7, "public_seed": False, "created": "2026-03-02T08:00:00+00:00", "versions": VERSIONS,
        "sandbox": ["process", "limits", "bubblewrap"], "packages": {}, "official_prerequisites": True,
        "points": points, "used": None,
        "passed": False, "internal_errors": [], "notes": [], "files": [], "seconds": round(seconds, 4),
        "assignments": assignments,
    }  # fmt: skip


def _check(chance, function, number, state, mistake):
    wrong = state == "failed"
    picture = {"rows": ["0012", "3n10", "1111"], "axes": ["query", "key"], "at": "batch 1", "shape": [2, 3, 4]}
    message = {
        "passed": "", "failed": f"out differs from {function.reference_text}", "not_started": "this is still a stub",
        "error": "IndexError: index 4 is out of bounds for axis 0 with size 4", "timeout": "no answer within 10 s",
        "blocked": "blocked by softmax.softmax.",
    }[state]  # fmt: skip
    place = {"file": f"{function.module}.py", "line": _line_of(function, state), "text": "x <- y"}
    return {
        "id": f"{function.qualified}::check_{number}", "function": function.qualified, "title": TITLES[number],
        "status": state, "message": message, "help": None,
        "inputs": "(2, 4, 5, 8), (2, 4, 7, 8), mask (2, 1, 1, 7) bool",
        "wrong": {"count": 24, "total": 24} if wrong else None, "worst": None, "shapes": None,
        "error_map": picture if wrong else None, "first_wrong_stage": None, "mistake": mistake if wrong else None,
        "blocked_by": ["softmax.softmax"] if state == "blocked" else [],
        "location": place if state in ("failed", "error") else None, "called_from": None,
        "output": "", "warnings": [], "failure": "", "file_at_fault": "",
        "seconds": 10.0 if state == "timeout" else round(chance.uniform(0.0003, 0.004), 5),
        "points": {"earned": float(state == "passed"), "possible": 1.0},
    }  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--students", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    make(arguments.out, arguments.students, arguments.seed)
