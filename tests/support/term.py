"""A made-up term: students, what each got right, and their submissions as four platforms deliver them.

`make_term` writes the downloads, the roster and the policy. What a student should get is computed in the test, from
these records and not from anything that Headway returns.
"""

import json
import random
import string
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from support.editing import write_files, zip_bytes
from support.paths import ROOT

FIRST = ("Ada", "Bao", "Chiara", "Dmitri", "Élodie", "Fatma", "Grażyna", "Hugo", "Inés", "João", "Kwame", "Līga")
LAST = ("Abel", "Brontë", "de la Cruz", "Eze", "Fuchs", "García Márquez", "Haas", "Ito", "O'Neil", "van Dijk")
PLATFORMS = {"softmax": "canvas", "embeddings": "moodle", "layernorm": "gradescope", "ffn": "nbgrader"}
# Functions that nothing else in their module calls, so that a wrong one costs its own points only.
BREAKABLE = {
    "softmax": ("cross_entropy", "softmax_backward", "cross_entropy_backward"),
    "embeddings": ("embed_tokens_backward", "sinusoidal_positions", "embed"),
    "layernorm": ("layernorm_backward", "rmsnorm", "rmsnorm_backward"),
    "ffn": ("relu_backward", "dropout_backward", "ffn_backward"),
}
POINTS = {
    "softmax": {"softmax": 6, "log_softmax": 4, "cross_entropy": 5, "softmax_backward": 3, "cross_entropy_backward": 7},
    "embeddings": {"one_hot": 2, "embed_tokens": 3, "embed_tokens_backward": 5, "sinusoidal_positions": 4, "embed": 6},
    "layernorm": {"layernorm": 8, "layernorm_backward": 7, "rmsnorm": 2, "rmsnorm_backward": 4},
    "ffn": {"relu": 1, "relu_backward": 6, "gelu": 3, "gelu_backward": 2, "linear": 2,
            "linear_backward": 2, "dropout": 1, "dropout_backward": 4, "ffn": 3, "ffn_backward": 6},
}  # fmt: skip
BONUS = {("layernorm", "rmsnorm"), ("layernorm", "rmsnorm_backward")}
WEIGHTS = {"softmax": 20, "embeddings": 30, "layernorm": 35, "ffn": 15}
DUE = datetime.fromisoformat("2026-10-01T23:59:00+02:00")
POLICY = """\
title = "A term"
roster = "roster.csv"
attempts = "best"
drop_lowest = 1
[late]
penalty_per_day = 0.1
grace_hours = 2
cap = 0.25
"""


@dataclass
class Work:
    """One attempt: which functions are wrong, and how long after the due date it was submitted."""

    wrong: tuple[str, ...] = ()
    after_due: timedelta = timedelta(hours=-5)


@dataclass
class Person:
    """One student of the term, with the attempts by assignment."""

    number: int
    first: str
    last: str
    section: str
    work: dict[str, list[Work]] = field(default_factory=dict)

    def __post_init__(self):
        self.name, self.sortable = f"{self.first} {self.last}", f"{self.last}, {self.first}"
        self.sis, self.canvas_id = f"2026{self.number:04}", str(4000 + self.number)
        self.login, self.email = f"u{self.number:03}", f"u{self.number:03}@uni.example"


def people(count, seed=1):
    """Return the students of a term. Some are missing, late, or try twice; names are those of several languages."""
    chance = random.Random(seed)
    middle = ["", *(f" {letter}." for letter in string.ascii_uppercase)]
    names = [(first + initial, last) for initial in middle for last in LAST for first in FIRST]
    drawn, found = chance.sample(names[: max(count, 120)], count), []
    drawn[21:23] = [drawn[20] for _ in drawn[21:23]]  # three people of one name
    for number, (first, last) in enumerate(drawn):
        person = Person(number, first, last, "AB"[number % 2])
        for module, breakable in BREAKABLE.items():
            if chance.random() < 0.07:
                continue
            attempts = 2 if PLATFORMS[module] == "gradescope" and chance.random() < 0.25 else 1
            works = []
            for _ in range(attempts):
                wrong = tuple(name for name in breakable if chance.random() < 0.3)
                works.append(Work(wrong, timedelta(hours=chance.choice([-30, -5, -5, -1, 1, 3, 25, 27, 80]))))
            person.work[module] = sorted(works, key=lambda work: work.after_due)
        found.append(person)
    return found


def make_term(root, students):
    """Write `roster.csv` and `course.toml`, and a folder of downloads with the name of each assignment."""
    rows = ["Student,ID,SIS User ID,SIS Login ID,Email,Section,TA", "    Points Possible,,,,,,"]
    for p in students:
        cells = (p.canvas_id, p.sis, p.login, p.email, f"Section {p.section}", {"A": "Kim", "B": "Lee"}[p.section])
        rows.append(",".join([f'"{p.last}, {p.first}"', *cells]))
    rows.append('"Student, Test",3999,,d033e22ae348aeb5660fc2140aec35850c4da997,,Section A,')
    (root / "roster.csv").write_text("\n".join(rows) + "\n", "utf-16")
    write_policy(root / "course.toml")
    for module, platform in PLATFORMS.items():
        folder = root / "downloads" / module
        folder.mkdir(parents=True)
        write = {"canvas": _canvas, "moodle": _moodle, "gradescope": _gradescope, "nbgrader": _nbgrader}[platform]
        write(folder, module, students)
    return root


def write_policy(path, more="", head=POLICY):
    """Write the policy of the term, with `more` at the end."""
    tables = []
    for module, points in POINTS.items():
        tables.append(f"[assignments.{module}]\nweight = {WEIGHTS[module]}\ndue = {DUE.isoformat()}")
        tables.append(f"[assignments.{module}.functions]")
        tables += [f"{name} = {value}" for name, value in points.items()]
    Path(path).write_text("\n".join([head, *tables, more]), "utf-8")


def code(module, wrong):
    """Return the official module with some functions replaced by wrong ones, of two kinds."""
    text = (ROOT / "solutions" / f"{module}.py").read_text("utf-8")
    bodies = ("return None", "raise NotImplementedError")
    return text + "".join(f"\n\ndef {name}(*args, **options):\n    {bodies[len(name) % 2]}\n" for name in wrong)


def deliver(folder, person, module, wrong):
    """Write a submission in one of the forms that students find; the work in it is the same."""
    text = code(module, wrong)
    stub = (ROOT / "assignments" / f"{module}.py").read_text("utf-8")
    form = person.number % 7
    if form == 1:
        files = {f"{module}.py": stub, f"{module}_final.py": text}
    elif form == 2 and "\n    raise NotImplementedError\n" not in text:  # In a notebook, a later stub hides nothing.
        cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": text}
        notebook = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
        files = {f"{module}.py": stub, f"notebooks/{module}.ipynb": notebook, "work.7z": "?"}
    elif form == 3:
        files = {"work.zip": zip_bytes({f"HW\\src\\{module}.py": text})}
    elif form == 4:
        files = {"all.zip": zip_bytes({"work.zip": zip_bytes({f"{module}.py": text}), "notes.txt": "?"})}
    elif form == 5:
        files = {f"{module} (1).py": text, f"{module}.py": stub, "figures/plot.png": "?"}
    else:
        files = {f"{module.upper()}.PY": text, "helpers.py": "ONE = 1\n"}
    write_files(folder, files)


def _canvas(folder, module, students):
    """`content_zipper.rb`: the sortable name without blanks in lower case, LATE, user id, attachment id, file name."""
    for person in students:
        if works := person.work.get(module):
            user = "".join(char for char in f"{person.last}{person.first}".lower() if char.isalnum())
            late = "LATE_" if works[-1].after_due > timedelta(0) else ""
            name = f"{user}_{late}{person.canvas_id}_{88000 + person.number}_{module}.py"
            (folder / name).write_text(code(module, works[-1].wrong), "utf-8")
    (folder / f"studenttest_3999_87999_{module}.py").write_text(code(module, ()), "utf-8")


def _moodle(folder, module, students):
    """`downloader.php`: full name, participant number of this assignment, `assignsubmission_file`; the worksheet."""
    worksheet = ["ID,Vollständiger Name,E-Mail-Adresse,Status"]
    for person in students:
        if works := person.work.get(module):
            # The number is another student's id in Canvas: it must match nobody.
            number = 4000 + (person.number * 7) % len(students)
            student = folder / f"{person.name}_{number}_assignsubmission_file"
            deliver(student, person, module, works[-1].wrong)
            worksheet.append(f"Teilnehmer/in{number},{person.name},{person.email},Zur Bewertung abgegeben")
    (folder / "Bewertungen.csv").write_text("\n".join(worksheet), "utf-8-sig")


def _nbgrader(folder, module, students):
    """`submitted/STUDENT/ASSIGNMENT/` with `timestamp.txt`, as nbgrader collects work."""
    for person in students:
        if works := person.work.get(module):
            path = folder / "submitted" / person.login / module
            deliver(path, person, module, works[-1].wrong)
            submitted = (DUE + works[-1].after_due).astimezone(UTC)
            (path / "timestamp.txt").write_text(f"{submitted:%Y-%m-%d %H:%M:%S.%f} UTC")


def _gradescope(folder, module, students):
    """`submission_metadata.yml` with Ruby's symbols as keys, and a folder for each submission."""
    lines, number = ["---"], 500
    for person in students:
        for work in person.work.get(module, ()):
            number += 1
            submitted = (DUE + work.after_due).isoformat(" ")
            lines += [f"submission_{number}:", "  :submitters:", f'  - :name: "{person.name}"']
            lines += [f"    :sid: '{person.sis}'", f"    :email: {person.email}"]
            lines += [f"  :created_at: {submitted}", "  :score: 0.0"]
            deliver(folder / f"submission_{number}", person, module, work.wrong)
    (folder / "submission_metadata.yml").write_text("\n".join(lines) + "\n", "utf-8")
