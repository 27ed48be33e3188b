"""The code that is stored with each result: modules as files, notebooks as cells, never more than a limit."""

import json

import pytest
from support.document_damage import require_exact
from support.editing import write_files
from support.student_notebook import notebook

from autograder.classroom.storage import result_store
from autograder.classroom.storage.gradebook import Gradebook
from autograder.classroom.submissions.account import account_for
from autograder.classroom.submissions.intake import SubmittedFile
from autograder.courses.transformer import TRANSFORMER
from autograder.documents.reading import CODE_SCHEMA


def stored(folder):
    return json.loads(result_store.code_document(folder))


def test_code_document_module_keeps_lines_as_python_counts_them(tmp_path):
    (tmp_path / "softmax.py").write_bytes(b"\xef\xbb\xbfx = 1\r\ny = 2\rz = '\xff\x0c'\n\n")
    (part,) = stored(tmp_path)["modules"]["softmax"]
    assert (part["file"], part["line"]) == ("softmax.py", 1)
    (tmp_path / "code.json").write_bytes(result_store.code_document(tmp_path))
    require_exact(tmp_path / "code.json", CODE_SCHEMA)
    assert part["text"].split("\n") == ["x = 1", "y = 2", "z = '\ufffd\x0c'"]


def test_code_document_notebook_holds_the_cells_as_written(tmp_path, reader):
    cells = (
        "import numpy as np\nimport math",
        "\n# a helper\nscale = math.sqrt(4)  # It could fail.\n\n\n@np.vectorize\ndef half(x):\n    return x / 2",
        "def softmax(x, axis=-1):\n    # my own comment\n    return half(np.exp(x)) / scale",
        "def log_softmax(x)\n    return 'no colon'",
    )
    account = account_for([SubmittedFile("softmax.ipynb", notebook(*cells))], TRANSFORMER, reader)
    assert account.assignments(TRANSFORMER) == ["softmax"]
    account.write(tmp_path, TRANSFORMER)
    parts = {(part["file"], part["line"]): part["text"] for part in stored(tmp_path)["modules"]["softmax"]}
    assert parts["cell 3", 1] == cells[2] and parts["cell 2", 3] == "scale = math.sqrt(4)"
    assert parts["cell 2", 6] == "@np.vectorize\ndef half(x):\n    return x / 2"
    (failed,) = (text for (file, _), text in parts.items() if file == "cell 4")
    assert failed.startswith("# cell 4, line 1 is not valid Python")
    assert not any("_cell_failed" in text or "CellError" in text for text in parts.values())


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b"# -*- coding: latin-1 -*-\n# Gr\xf6\xdfe", "Größe"),
        (b"#!/usr/bin/python\r\n# vim: set fileencoding=iso-8859-15 :\n# \xa4", "€"),
        ("# coding: utf-8\n# Größe".encode(), "Größe"),
        (b"x = 1\n# coding: latin-1\n# Gr\xf6\xdfe", "Gr\ufffd\ufffde"),  # Python does not see it there either
        (b"# coding: idna\n# Gr\xf6\xdfe", "Gr\ufffd\ufffde"),
    ],
)
def test_code_document_reads_the_encoding_that_a_file_declares(tmp_path, content, shown):
    (tmp_path / "softmax.py").write_bytes(content)
    assert stored(tmp_path)["modules"]["softmax"][0]["text"].endswith(shown)


def test_code_document_long_code_is_cut_at_a_line(tmp_path):
    line = "x = 'abcdefghijklmnopqrstuvwxyz'\n"
    for name in "abcdefg":
        (tmp_path / f"{name}.py").write_text(line * 6000)
    document = stored(tmp_path)
    texts = [part["text"] for parts in document["modules"].values() for part in parts]
    assert all(len(text) <= result_store.MAX_MODULE_CHARACTERS for text in texts)
    assert sum(map(len, texts)) <= result_store.MAX_CHARACTERS
    assert texts[0].endswith(line.rstrip())
    assert len(document["left_out"]) == 7 and document["left_out"][0].startswith("a.py: 2029 lines of a.py ")


def test_code_of_an_assignment_is_that_of_its_own_submission(tmp_path):
    for file in ("one", "two"):
        modules = {name: [{"file": "", "line": 1, "text": file}] for name in ("softmax", "attention", "ffn", "helper")}
        text = json.dumps({"schema": CODE_SCHEMA, "modules": modules, "left_out": [file]})
        write_files(tmp_path, {f"code/{file}.json": text})
    files = {"softmax": "results/two.json", "attention": "results/one.json", "ffn": None}
    code = Gradebook(tmp_path, {}).code_of({"assignments": {name: {"file": file} for name, file in files.items()}})
    found = {name: part["text"] for name, (part,) in code["modules"].items()}
    assert found == {"softmax": "two", "attention": "one", "helper": "two"} and code["left_out"] == ["two", "one"]


@pytest.mark.parametrize(
    "text", [None, "{", '{"schema": "headway.code/1", "modules": {"softmax": [1]}, "left_out": []}']
)
def test_code_of_missing_or_damaged_is_none(tmp_path, text):
    (tmp_path / "code").mkdir()
    if text is not None:
        (tmp_path / "code" / "ada.json").write_text(text)
    assert Gradebook(tmp_path, {}).code_of({"assignments": {"softmax": {"file": "results/ada.json"}}}) is None
