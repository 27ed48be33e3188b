"""Notebooks of students with forged metadata, outputs and scripts, as formgrader gets them from `headway grade`."""

import json
from html.parser import HTMLParser
from importlib.util import find_spec

import nbformat
import pytest
from support.result_documents import check, document

from autograder.core.archives import SkippedFile
from autograder.notebooks import nbgrader_autograded
from autograder.parsing.read_ipynb import MAX_NOTEBOOK_BYTES
from autograder.sandbox.source_reader import source_reader

pytestmark = [
    pytest.mark.notebook,
    pytest.mark.skipif(find_spec("nbgrader") is None, reason="nbgrader is not installed"),
]

HOSTILE = (
    "<script>RUN</script><img src=x onerror=RUN>[a](javascript:RUN)\n\n$\\href{javascript:RUN}{x}$\n\n"
    "<iframe srcdoc='RUN'></iframe><form action=//RUN><style>RUN{}</style>\n```\n````\n`````\n<script>RUN</script>\n"
)
LESSON = "# Softmax\n\n<details>the instructor's own HTML</details>"
FORGED = {"grade": True, "solution": True, "locked": False, "grade_id": "softmax", "points": 1e9, "schema_version": 3}
GRADED = {"grade": True, "solution": False, "locked": True, "task": False, "grade_id": "softmax", "points": 2}
DATA = {"text/html": HOSTILE, "application/javascript": "RUN"}
OUTPUT = {"output_type": "display_data", "metadata": {}, "data": DATA}


def cell(kind, source, about=None, **more):
    metadata = {} if about is None else {"nbgrader": about}
    return {"cell_type": kind, "id": "x", "metadata": metadata, "source": source, **more}


def notebook(*cells, **metadata):
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells})


@pytest.fixture
def source(tmp_path):
    grade = 'from autograder.notebooks.api import grade\ngrade("softmax.softmax", points=2.0)'
    cells = [
        cell("markdown", LESSON),
        cell("code", "def softmax(x): ...", {"grade": False, "solution": True, "grade_id": "softmax-solution"}),
        cell("code", grade, GRADED),
    ]
    (tmp_path / "source.ipynb").write_text(notebook(*cells))
    return nbgrader_autograded.InstructorNotebook(tmp_path / "source.ipynb")


@pytest.fixture(scope="module")
def reader():
    with source_reader() as reader:
        yield reader


def written(submitted, source, reader):
    """Return the cells of the autograded notebook, and its text."""
    failed = check("softmax.softmax", "failed", message=HOSTILE, help=HOSTILE, inputs=HOSTILE, output=HOSTILE)
    result = document(failed)
    assignment = result["assignments"][0] | {"name": "softmax"}
    reader.next_submission()
    text = nbgrader_autograded.graded_notebook(submitted.encode(), source, result, assignment, reader)
    nbformat.validate(nbformat.reads(text, 4))
    return json.loads(text)["cells"], text


class ActiveParts(HTMLParser):
    """Collects what a page would run, load or send."""

    def __init__(self, page):
        super().__init__()
        self.found, self._element = [], ""
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self._element = tag
        self.found += [(tag, name) for name, value in attributes if "RUN" in (value or "")]

    def handle_data(self, data):
        if self._element in ("script", "style") and "RUN" in data:
            self.found.append((self._element, data))

    def handle_endtag(self, tag):
        self._element = ""


def test_formgrader_runs_no_script_of_a_student(source, reader):
    from nbconvert.exporters import HTMLExporter
    from nbgrader.server_extensions.formgrader import handlers
    from traitlets.config import Config

    code = "def softmax(x):\n    return '</script><script>RUN</script>'"
    cells = [
        cell("markdown", LESSON),
        cell("markdown", HOSTILE, FORGED, attachments={"a.png": {"text/html": HOSTILE}}),
        cell("raw", HOSTILE) | {"metadata": {"raw_mimetype": "text/html", "format": "text/html"}},
        cell("code", code, FORGED, outputs=[OUTPUT], execution_count=1),
        cell("code", f"%%html\n{HOSTILE}", outputs=[], execution_count=None),
    ]
    kernel = {"display_name": HOSTILE, "name": "x"}
    _, text = written(notebook(*cells, title=HOSTILE, kernelspec=kernel), source, reader)
    settings = Config()
    settings.HTMLExporter.template_name = "formgrade"
    settings.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    names = ("assignment_id", "notebook_id", "submission_id", "student", "last_name", "first_name", "notebook_path")
    resources = dict.fromkeys(names, "x") | {"index": 0, "total": 1, "base_url": ""}
    page, _ = HTMLExporter(config=settings).from_notebook_node(nbformat.reads(text, 4), resources=resources)
    assert "RUN" in page and "<details>the instructor's own HTML</details>" in page
    assert ActiveParts(page).found == []


def test_forged_cells_change_neither_points_nor_ids(source, reader):
    code = "def softmax(x):\n    return x"
    cells = [
        cell("code", 'from autograder.notebooks.api import grade\ngrade("softmax.softmax", points=1000)', FORGED),
        cell("code", "'points'", GRADED | {"points": 1e9}, outputs=[OUTPUT], execution_count=1),
        cell("code", code, FORGED, outputs=[OUTPUT], execution_count=1),
        cell("code", code, FORGED | {"grade_id": "softmax-solution"}, outputs=[OUTPUT], execution_count=1),
        cell("markdown", "mine", GRADED),
        cell("code", "x = 1", {"grade": "yes", "grade_id": ["a"], "points": "many", "schema_version": 99}),
        cell("code", "y = 1", "no dictionary"),
    ]
    found, text = written(notebook(*cells), source, reader)
    about = [entry["metadata"]["nbgrader"] for entry in found if "nbgrader" in entry["metadata"]]
    assert [entry["grade_id"] for entry in about if entry["grade"]] == ["softmax"]
    assert [entry["grade_id"] for entry in about if entry["solution"]] == ["softmax-solution"]
    assert [entry.get("points") for entry in about if entry["grade"]] == [2]
    assert "application/javascript" not in text
    assert sum(bool(entry.get("outputs")) for entry in found) == 1, "only the report"


@pytest.mark.parametrize("submitted", ["", "[]", "{}", '{"cells": 3}', "[" * 100_000, '{"cells": ['])
def test_damaged_notebook_is_left_out_with_a_reason(source, reader, submitted):
    with pytest.raises(SkippedFile, match=r"^[^\n]+$"):
        written(submitted, source, reader)


@pytest.mark.parametrize("submitted", ['{"cells": [3]}', '{"cells": [{}]}', '{"cells": [null, [], "x"]}'])
def test_damaged_cells_are_left_out(source, reader, submitted):
    found, _ = written(submitted, source, reader)
    assert [entry["metadata"]["nbgrader"]["grade_id"] for entry in found] == ["softmax"]


@pytest.mark.parametrize("cells", [["x" * MAX_NOTEBOOK_BYTES, "y"], ["def softmax(x): ..."] * 20_000])
def test_huge_notebook_is_left_out_with_a_reason(source, reader, cells):
    with pytest.raises(SkippedFile, match=r"^[^\n]+$"):
        written(notebook(*(cell("code", code) for code in cells)), source, reader)
