"""Files as learning platforms export them, made by the rules of the code that writes them.

Sources: Canvas's `lib/gradebook_exporter.rb` (header, hidden assignments, "Points Possible", test student last), and
Moodle's `mod/assign/gradingtable.php` with titles and words of its language packs (assign, assignfeedback_comments).
"""

import csv
import functools
import io
from collections import namedtuple

TEST_STUDENT_LOGIN = "3f8a7c5d9e1b2046a8c7d5e3f1029384756abcde"


def to_csv(rows, separator=",", line_end="\n"):
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=separator, lineterminator=line_end).writerows(rows)
    return file.getvalue()


def written(plan, folder):
    """Write what an export has planned into the folder; return the content of the file."""
    plan.write(folder / "written.csv")
    return (folder / "written.csv").read_bytes()


def canvas_gradebook(
    people, columns, *, split_names=False, sis=True, integration=False, notes=False, hidden=False, separator=",",
    decimal=".", read_only="(read only)", override=False,
):  # fmt: skip
    """The text of a gradebook.

    `people`: (name as "Last, First", id, sis id, login, section, {title: cell}); `columns`: {title: points or None}.
    """
    totals = ["Assignments Current Score", "Assignments Final Score", "Current Score", "Final Score"]
    totals += ["Override Score"] if override else []
    header = [*(["LastName", "FirstName"] if split_names else ["Student"]), "ID"]
    header += ["SIS User ID"] if sis else []
    header += ["SIS Login ID"]
    header += ["Integration ID"] if integration else []
    header += ["Section"]
    student_columns = len(header)
    header += ["Notes"] if notes else []
    before = len(header)
    header += [*columns, *totals]
    rows = [header]
    if hidden:
        rows.append([*[""] * before, *["Manual Posting"] * len(columns), *[""] * len(totals)])
    possible = [read_only if points == "read only" else _number(points, decimal) for points in columns.values()]
    rows.append(["    Points Possible", *[""] * (before - 1), *possible, *[read_only] * len(totals)])
    test = ("Student, Test", 99999, "", TEST_STUDENT_LOGIN, "Lecture 1", {})
    for name, canvas_id, sis_id, login, section, cells in [*people, test]:
        row = name.split(", ", 1) if split_names else [name]
        row += [str(canvas_id), *([sis_id] if sis else []), login, *(["INT-1"] if integration else []), section]
        assert len(row) == student_columns
        row += ["met on Monday"] if notes else []
        row += [cells.get(title, "").replace(".", decimal) for title in columns]
        rows.append([*row, *["12.00"] * len(totals)])
    return to_csv(rows, separator)


def _number(value, decimal):
    return "" if value is None else f"{value:.2f}".replace(".", decimal)


# The words of a worksheet in one language; titles by what the columns hold.
Language = namedtuple("Language", "titles participant decimal yes no status date")
ENGLISH = Language(
    {"identifier": "Identifier", "name": "Full name", "number": "ID number", "email": "Email address",
     "status": "Status", "grade": "Grade", "maximum": "Maximum grade", "changed": "Grade can be changed",
     "submitted": "Last modified (submission)", "modified": "Last modified (grade)", "comments": "Feedback comments"},
    "Participant ", ".", "Yes", "No", "Submitted for grading", "Monday, 2 March 2026, 9:00 AM",
)  # fmt: skip
GERMAN = Language(
    {"identifier": "ID", "name": "Vollständiger Name", "number": "ID-Nummer", "email": "E-Mail-Adresse",
     "status": "Status", "grade": "Bewertung", "maximum": "Bestwertung", "changed": "Bewertung kann geändert werden",
     "submitted": "Zuletzt geändert (Abgabe)", "modified": "Zuletzt geändert (Bewertung)",
     "comments": "Feedback als Kommentar"},
    "Teilnehmer/in", ",", "Ja", "Nein", "Zur Bewertung abgegeben", "Montag, 2. März 2026, 09:00",
)  # fmt: skip
FRENCH = Language(
    {"identifier": "Identifiant", "name": "Nom complet", "number": "Numéro d'identification",
     "email": "Adresse de courriel", "status": "Statut", "grade": "Note", "maximum": "Note maximale",
     "changed": "La note peut être modifiée", "submitted": "Dernière modification (travail remis)",
     "modified": "Dernière modification (note)", "comments": "Feedback par commentaires"},
    "Participant", ",", "Oui", "Non", "Remis pour évaluation", "lundi 2 mars 2026, 09:00",
)  # fmt: skip
SPANISH = Language(
    {"identifier": "Identificador", "name": "Nombre completo", "number": "Número de ID",
     "email": "Dirección de correo", "status": "Estado", "grade": "Calificación", "maximum": "Calificación máxima",
     "changed": "La calificación puede ser cambiada", "submitted": "Última modificación (entrega)",
     "modified": "Última modificación (calificación)", "comments": "Comentarios de retroalimentación"},
    "Participante ", ",", "Sí", "No", "Enviado para calificar", "lunes, 2 de marzo de 2026, 09:00",
)  # fmt: skip
# A language whose titles are not known to Headway: the columns are found by what they contain.
POLISH = Language(
    {"identifier": "Identyfikator", "name": "Pełna nazwa", "number": "Numer ID", "email": "Adres e-mail",
     "status": "Status", "grade": "Ocena", "maximum": "Maksymalna ocena", "changed": "Ocena może być zmieniona",
     "submitted": "Ostatnio modyfikowane (zadanie)", "modified": "Ostatnio modyfikowane (ocena)",
     "comments": "Komentarze zwrotne"},
    "Uczestnik ", ",", "Tak", "Nie", "Przesłane do oceny", "poniedziałek, 2 marca 2026, 09:00",
)  # fmt: skip


def moodle_worksheet(language, people, *, maximum=10.0, anonymous=False, separator=","):
    """The text of a worksheet; `people`: (number, name, id number, email, grade or None, comment, locked)."""
    keys = [key for key in language.titles if not anonymous or key not in ("name", "number", "email")]
    rows = [[language.titles[key] for key in keys]]
    decimal = functools.partial(_number, decimal=language.decimal)
    for number, name, id_number, email, grade, comment, locked in people:
        cells = {
            "identifier": f"{language.participant}{number}", "name": name, "number": id_number, "email": email,
            "status": language.status, "grade": decimal(grade), "maximum": decimal(maximum),
            "changed": language.no if locked else language.yes, "submitted": language.date,
            "modified": language.date if grade is not None or comment else "-", "comments": comment,
        }  # fmt: skip
        rows.append([cells[key] for key in keys])
    return to_csv(rows, separator)
