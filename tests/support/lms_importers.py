"""The rules by which learning platforms accept an upload, for tests of what Headway exports.

Each class repeats the decisions of one importer, in the words of its source:

- `CanvasCourse.import_gradebook`: `lib/gradebook_importer.rb` (parse!, process_header, process_student, process_pp,
  no_change_to_value?) and `Assignment.title_and_id`, github.com/instructure/canvas-lms at 00b222d.
- `CanvasCourse.upload_submissions`: `Assignment#infer_comment_context_from_filename`, app/models/assignment.rb.
- `MoodleAssignment.import_worksheet`: `assignfeedback_offline_grade_importer` (init, next) in
  mod/assign/feedback/offline/importgradeslib.php at 452e36f, and `process_import_grades` in locallib.php.
- `MoodleAssignment.import_zip`: `assignfeedback_file_zip_importer::is_valid_filename_for_import` in
  mod/assign/feedback/file/importziplib.php at 0203d8f.
"""

import csv
import io
import re
import zipfile
from dataclasses import dataclass, field

RESERVED = {
    "Student", "LastName", "FirstName", "ID", "SIS User ID", "SIS Login ID", "Section", "Integration ID",
    "Root Account",
}  # fmt: skip
NOT_ASSIGNMENTS = re.compile(
    "Current Score|Current Points|Current Grade|Final Score|Final Points|Final Grade|Override Score|Override Grade|"
    "Override Status"
)


def ruby_int(text):
    """Ruby's String#to_i: the number at the beginning, or 0."""
    match = re.match(r"\s*-?\d+", text or "")
    return int(match[0]) if match else 0


@dataclass
class CanvasCourse:
    """A course in Canvas: students by id, assignments by id, and scores as Canvas shows them ("", "EX", "12.5")."""

    students: dict[int, dict]  # name, sortable_name, sis_user_id, login
    assignments: dict[int, dict]  # title, points
    scores: dict[tuple[int, int], str] = field(default_factory=dict)  # (student, assignment)
    not_assigned: set[tuple[int, int]] = field(default_factory=set)
    custom_columns: tuple[str, ...] = ()

    def import_gradebook(self, content):
        """Return what the import would do: new students and assignments, changed scores and points."""
        rows = list(csv.reader(io.StringIO(content.decode("utf-8"), newline=""), delimiter=self._separator(content)))
        rows = [row for row in rows if not re.fullmatch("[;, ]+", ";".join(row))]
        rows = [[self._number(cell) or None for cell in row] for row in rows]
        header = rows[0]
        columns = self._student_columns(header)
        done = {"new_students": [], "new_assignments": [], "scores": {}, "points": {}}
        rest = [title for title in header[columns["count"] :] if title and not NOT_ASSIGNMENTS.search(title)]
        targets = {}
        for title in rest:
            match = re.fullmatch(r"(.*)\s\((\d+)\)", title, re.DOTALL)
            number = int(match[2]) if match and int(match[2]) in self.assignments else None
            number = number or next((n for n, a in self.assignments.items() if a["title"] == title), None)
            if number is None:
                done["new_assignments"].append(match[1] if match else title)
            else:
                targets[header.index(title)] = number
        for row in rows[1:]:
            if row[0] and "Points Possible" in row[0]:
                for cell, number in targets.items():
                    if row[cell] and re.search(r"read\s+only", row[cell]):
                        raise AssertionError("a read-only column is not imported")
                    if row[cell] and float(row[cell]) != self.assignments[number]["points"]:
                        done["points"][number] = float(row[cell])
                continue
            if all(re.fullmatch(r"\s*(Muted|Manual Posting.*)?\s*", cell, re.I) for cell in row if cell):
                continue
            student = self._student(row, columns)
            if student is None:
                done["new_students"].append(row[0])
                continue
            for cell, number in targets.items():
                new, old = (row[cell] or "").strip(), self.scores.get((student, number), "")
                if (student, number) in self.not_assigned:
                    new = ""
                if not self._no_change(new, old):
                    done["scores"][student, number] = new
        return done

    @staticmethod
    def _separator(content):
        """identify_delimiter: the separator with the same number of fields in the first three lines."""
        lines = content.decode("utf-8").splitlines()[:3]
        counts = {s: {len(next(csv.reader([line], delimiter=s), [])) for line in lines} for s in ";,"}
        sizes = {s: next(iter(found)) if len(found) == 1 else 0 for s, found in counts.items()}
        return ";" if sizes[";"] > sizes[","] else ","

    @staticmethod
    def _number(cell):
        """The converter decimal_comma_to_period."""
        if re.fullmatch(r"-?[0-9.,]+%?", cell):
            *parts, last = re.split("[,.]", cell)
            return f"{''.join(parts)}.{last}" if parts else last
        return cell

    def _student_columns(self, header):
        """row_has_student_headers?, update_column_count and last_student_info_column."""
        plain = len(header) > 3 and "Student" in header[0] and "ID" in header[1]
        split = len(header) > 4 and "LastName" in header[0] and "FirstName" in header[1] and "ID" in header[2]
        assert plain or split, "Invalid header row"
        split = header[0] == "LastName" and header[1] == "FirstName"
        names = count = 4 if split else 3
        found = {"split": split, "id": names - 2}
        if re.search(r"SIS\s+Login\s+ID", header[names - 1]):
            found["login"] = names - 1
            count += 1
        elif re.search(r"SIS\s+User\s+ID", header[names - 1]) and re.search(r"SIS\s+Login\s+ID", header[names]):
            found |= {"sis": names - 1, "login": names}
            integration = int(bool(re.search(r"Integration\s+ID", header[names + 1])))
            count += 2 + integration
            count += bool(re.search(r"Root\s+Account", header[names + 1 + integration]))
        custom = [title for title in header if title in self.custom_columns and title not in RESERVED]
        count += len(custom)
        assert "Section" in header[count - 1 - len(custom)], "Invalid header row"
        return {**found, "count": count}

    def _student(self, row, columns):
        number = ruby_int(row[columns["id"]])
        if row[columns["id"]] and number in self.students:
            return number
        for key, kind in (("sis", "sis_user_id"), ("login", "login")):
            if key in columns and row[columns[key]]:
                for other, person in self.students.items():
                    if person[kind] == row[columns[key]]:
                        return other
        name = f"{row[1]} {row[0]}".strip() if columns["split"] else row[0]
        found = (n for n, person in self.students.items() if name in (person["name"], person["sortable_name"]))
        return next(found, None)

    @staticmethod
    def _no_change(new, old):
        if new == old or ({new, old} <= {"", "-"}):
            return True
        if not (new and old) or "EX" in (new.upper(), old.upper()):
            return False
        return f"{float(new):.2f}" == f"{float(old):.2f}"

    def upload_submissions(self, content, attachments):
        """Return the files that become comments: (student, attachment) -> content; `attachments` are the submitted."""
        comments, ignored = {}, []
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for path in archive.namelist():
                name = path.rpartition("/")[2]
                parts = name.split("_")
                numbers = [int(part) for part in parts if re.fullmatch(r"\d+", part)][:2]
                if parts[-1].startswith("link") or name.startswith("._") or tuple(numbers) not in attachments:
                    ignored.append(path)
                else:
                    comments[tuple(numbers)] = archive.read(path)
        return comments, ignored


@dataclass
class MoodleAssignment:
    """An assignment in Moodle; participants by the number that it gives them."""

    titles: dict[str, str]  # grade, identifier, modified, comments: in the language of the person who uploads
    participant: str  # the word for a participant in that language ("hiddenuser"), such as "Participant "
    maximum: float
    participants: dict[int, str]  # the user's name
    decimal_sign: str = "."
    grades: dict[int, float] = field(default_factory=dict)
    comments: dict[int, str] = field(default_factory=dict)

    def import_worksheet(self, content, *, ignore_modified=False):
        """Return the grades and the comments that the upload would store."""
        rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))
        index = {key: rows[0].index(title) for key, title in self.titles.items() if title in rows[0]}
        assert {"identifier", "grade", "modified"} <= index.keys(), "invalidgradeimport"
        stored = {"grades": {}, "comments": {}, "unknown": []}
        for row in rows[1:]:
            assert len(row) == len(rows[0])
            number = row[index["identifier"]][len(self.participant) :]
            if not number.strip().isdecimal() or int(number) not in self.participants:
                stored["unknown"].append(row[index["identifier"]])
                continue
            user = int(number)
            has_grade = user in self.grades or user in self.comments
            # strtotime returns false, which is 0, for a date that is not in English
            is_english = re.search(r"\b(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b", row[index["modified"]])
            stale = has_grade and not is_english
            text = row[index["grade"]].replace(" ", "").replace(self.decimal_sign, ".")
            grade = float(text) if text else None
            skip = grade is None or grade == self.grades.get(user) or grade < 0 or grade > self.maximum
            if not skip and (ignore_modified or not stale):
                stored["grades"][user] = grade
            # A column at index 0 would be ignored: !empty($details['index']).
            if index.get("comments") and (ignore_modified or not stale):
                comment = row[index["comments"]]
                if comment != self.comments.get(user, ""):
                    stored["comments"][user] = comment
        return stored

    def import_zip(self, content):
        """Return the feedback files: participant -> [path]."""
        found, ignored = {}, []
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for path in archive.namelist():
                participant = self._participant_of(path)
                if participant is None:
                    ignored.append(path)
                else:
                    found.setdefault(participant[0], []).append(participant[1])
        return found, ignored

    def _participant_of(self, path):
        if path.endswith("/") or path.rpartition("/")[2].startswith((".", "~")):
            return None
        parts = path.split("/")
        while parts:
            info = parts.pop(0).split("_", 4)
            if len(info) < 4 or not info[1].isdecimal() or int(info[1]) not in self.participants:
                continue
            if (info[2], info[3]) not in {("assignsubmission", "file"), ("assignfeedback", "file")}:
                continue
            return int(info[1]), "/".join([info[4] if len(info) > 4 else "", *parts])
        return None
