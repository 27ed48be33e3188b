"""The cells of a workspace file: finding a function's cell and replacing its text, without touching the rest."""

import os

import pytest
from support.editing import edit, unchanged
from support.raising import raising

from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError
from autograder.workspace import files
from autograder.workspace.file_cells import FileCells, split_cells

STUB = '    raise NotImplementedError("softmax.softmax")'


def cells_of(folder):
    return FileCells(folder, "softmax", TRANSFORMER)


def save(folder, function, text, digest):
    cells = cells_of(folder)
    return cells.overwrite(cells.require(function, digest), text)


def test_every_function_of_the_course_has_a_cell_of_its_own(folder):
    for assignment in TRANSFORMER.assignments:
        cells = FileCells(folder, assignment.module, TRANSFORMER)
        lines = (folder / f"{assignment.module}.py").read_text().split("\n")
        for function in assignment.functions:
            cell = cells.require(function.name)
            assert function.name in cell.definitions
            assert "\n".join(lines[cell.line - 1 :]).startswith(cell.text)
            assert cell.text == cell.text.strip("\n")


def test_replace_changes_only_the_cell(folder):
    path = folder / "softmax.py"
    before = path.read_bytes()
    cell = cells_of(folder).require("softmax")
    new = save(folder, "softmax", f"\n\n{cell.text}  # mine\n\n\n", cell.digest)
    assert path.read_bytes() == before.replace(STUB.encode(), f"{STUB}  # mine".encode())
    assert (new.text, new.line, new.end) == (f"{cell.text}  # mine", cell.line, cell.end)
    assert cells_of(folder).require("softmax") == new


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("byte_order_mark", ["", "\ufeff"])
@pytest.mark.parametrize("ending", [True, False])
def test_replace_keeps_line_endings_mark_and_end_of_file(folder, newline, byte_order_mark, ending):
    source = '"""Doc."""\n\n# %%\ndef softmax(x):\n    return x\n\n\n# %%\ndef log_softmax(x):\n    return x\n'
    source = source if ending else source.rstrip("\n")
    path = folder / "softmax.py"
    for name in ("softmax", "log_softmax"):
        path.write_bytes((byte_order_mark + source).replace("\n", newline).encode())
        cell = cells_of(folder).require(name)
        assert "\r" not in cell.text and "\ufeff" not in cell.text
        save(folder, name, f"# é\r\n{cell.text}", cell.digest)
        definition = f"def {name}"
        expected = (byte_order_mark + source.replace(definition, f"# é\n{definition}", 1)).replace("\n", newline)
        assert path.read_bytes() == expected.encode()


def test_syntax_error_in_a_cell_leaves_every_cell_found(folder):
    edit(folder / "softmax.py", STUB, "    return (")
    cells = cells_of(folder)
    assert "return (" in cells.require("softmax").text
    assert cells.require("log_softmax").definitions == {"log_softmax"}


def test_renamed_function_is_found_by_digest_and_by_its_lesson(folder):
    edit(folder / "softmax.py", "def softmax(", "def softmx(")
    cell = cells_of(folder).find("softmax")
    assert cell.text.startswith("def softmx(")
    edit(folder / "softmax.py", "## `softmax`", "## my notes")
    assert cells_of(folder).find("softmax") is None
    assert cells_of(folder).find("softmax", cell.digest) == cell
    with pytest.raises(UsageError, match="no function softmax"):
        save(folder, "softmax", "x", "0" * 16)


def test_emptied_cell_is_found_and_can_be_filled(folder):
    cell = cells_of(folder).require("softmax")
    with unchanged(folder / "softmax.py"):
        empty = save(folder, "softmax", "\n", cell.digest)
        assert empty.text == "" and cells_of(folder).find("softmax") == empty
        save(folder, "softmax", cell.text, empty.digest)


def test_functions_in_one_cell_are_shared(folder):
    text = (folder / "softmax.py").read_text()
    (folder / "softmax.py").write_text(text.replace("# %%\n", "\n").replace("# %% [markdown]\n", "\n"))
    cells = cells_of(folder)
    (cell,) = cells.cells
    assert cells.require("softmax") == cells.require("cross_entropy") == cell
    others = {f"softmax.{name}" for name in TRANSFORMER.function_names["softmax"] if name != "softmax"}
    assert set(cells.shared_with("softmax", cell)) == others


def test_second_definition_is_the_one_that_counts(folder):
    with open(folder / "softmax.py", "a") as file:
        file.write("\n\n# %%\ndef softmax(x):\n    return 2\n")
    assert cells_of(folder).require("softmax").text == "def softmax(x):\n    return 2"


@pytest.mark.parametrize(("text", "message"), [
    ("# %% [markdown]", "new cell"), ("#%%", "new cell"), ("x = 1\r# %%\ry = 2", "new cell"),
    ("x = '\ud800'", "surrogate"), ("#" * (1 << 20), "larger than 1 MiB"),
])  # fmt: skip
def test_text_that_cannot_be_saved_changes_nothing(folder, text, message):
    cell = cells_of(folder).require("softmax")
    with unchanged(folder / "softmax.py"), pytest.raises(UsageError, match=message):
        save(folder, "softmax", text, cell.digest)
    save(folder, "softmax", "# %%time\n    # %%\n#%", cell.digest)  # it begins no new cell


@pytest.mark.parametrize(("make", "message"), [
    (lambda path: path.symlink_to(path.with_name("ffn.py")), "is a link"),
    (lambda path: path.mkdir(), "not a plain file"), (os.mkfifo, "not a plain file"),
    (lambda path: path.write_bytes(b"\xff\xfe"), "not UTF-8"),
    (lambda path: path.write_bytes(b"#" * (2 << 20)), "larger than 1 MiB"), (lambda path: None, "no such file"),
])  # fmt: skip
def test_file_that_is_no_plain_text_is_reported(folder, make, message):
    (folder / "softmax.py").unlink()
    make(folder / "softmax.py")
    with pytest.raises(UsageError, match=message):
        cells_of(folder)


def test_failed_write_keeps_the_file(folder, monkeypatch):
    cell = cells_of(folder).require("softmax")
    monkeypatch.setattr("os.replace", raising(OSError(28, "No space left on device")))
    with unchanged(folder / "softmax.py"), pytest.raises(UsageError, match="No space left"):
        save(folder, "softmax", "x = 1", cell.digest)
    assert not list(folder.glob(".tmp*"))


def test_split_cells_round_trips_every_stub():
    for module in TRANSFORMER.modules:
        source = files.stub_text(module, TRANSFORMER)
        lines = source.split("\n")
        for cell in split_cells(source):
            assert "\n".join(lines[cell.start : cell.end]) == cell.text
