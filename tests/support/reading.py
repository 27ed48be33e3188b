"""Read what commands write."""

import csv
import json


def read_json(path):
    return json.loads(path.read_text("utf-8"))


def csv_rows(path):
    """Return the rows of a table as dictionaries."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


def students_of(out):
    return read_json(out / "class.json")["students"]


def checks_of(*documents):
    """Return all checks of result documents; None stands for a student without one."""
    assignments = [assignment for document in documents if document for assignment in document["assignments"]]
    return [check for a in assignments for function in a["functions"] for check in function["checks"]]
