"""Which file counts, for kinds of submissions generated from layout, names, contents and form.

The tables say what a teaching assistant would grade; they do not use the rules of the account.
"""

import io
import itertools
import tarfile
from typing import NamedTuple

import pytest
from support.editing import write_files, zip_bytes
from support.student_notebook import notebook

from autograder.classroom.submissions import account as account_module
from autograder.classroom.submissions.account import account_for
from autograder.classroom.submissions.intake import read_files
from autograder.classroom.submissions.model import Attempt, SubmissionPart
from autograder.core.archives import ToolFiles
from autograder.courses.transformer import TRANSFORMER

BODY = "def softmax(x, axis=-1, temperature=1.0):\n    {}\n"
CODE = {"stub": BODY.format('raise NotImplementedError("softmax.softmax")'), "right": BODY.format("return helper(x)")}
CODE["right"] += "def helper(x):\n    return x\n"
CODE["wrong"] = CODE["right"].replace("    return x\n", "    return x + 1\n")


class Made(NamedTuple):
    """A file of a submission: its path, and which code is in it."""

    path: str
    code: str

    @property
    def content(self):
        code = CODE[self.code]
        return notebook(code) if self.path.endswith(".ipynb") else code.encode()


def as_folder(root, files):
    return write_files(root, {file.path: file.content for file in files})


def as_zip(root, files, separator="/"):
    content = zip_bytes({file.path.replace("/", separator): file.content for file in files})
    return write_files(root, {"work.zip": content}) / "work.zip"


def as_zip_in_zip(root, files):
    return write_files(root, {"all.zip": zip_bytes({"work.zip": as_zip(root, files).read_bytes()})}) / "all.zip"


def as_tar(root, files):
    with tarfile.open(root / "work.tar.gz", "w:gz") as archive:
        for file in files:
            info = tarfile.TarInfo(file.path)
            info.size = len(file.content)
            archive.addfile(info, io.BytesIO(file.content))
    return root / "work.tar.gz"


FORMS = {
    "folder": as_folder,
    "zip": as_zip,
    "zip from Windows": lambda root, files: as_zip(root, files, "\\"),
    "zip in zip": as_zip_in_zip,
    "tar.gz": as_tar,
}
PAIRS = {
    "file and notebook": ("softmax.py", "softmax.ipynb"),
    "workspace": ("softmax.py", "notebooks/softmax.ipynb"),
    "similar name": ("softmax.py", "softmax_final.py"),
    "copy": ("softmax.py", "softmax (1).py"),
    "folder below": ("softmax.py", "src/softmax.py"),
    "capitals": ("Softmax.py", "softmax_final.py"),
    "later attempt": ("attempt2/softmax.py", "attempt1/softmax.py"),
    "tenth attempt": ("attempt10/softmax.py", "attempt9/softmax.py"),
    "later version": ("softmax-v2.ipynb", "softmax-v1.ipynb"),
    "named notebook": ("softmax.ipynb", "softmax-v1.ipynb"),
}
# What is in the first and in the second file; what counts, and whether a person should look.
CONTENTS = {
    ("right", "stub"): (0, False), ("stub", "right"): (1, False), ("right", "right"): (0, False),
    ("right", "wrong"): (0, True), ("wrong", "right"): (0, True), ("stub", "stub"): (0, False),
}  # fmt: skip
ALONE = ["softmax.py", "SOFTMAX.PY", "HW/src/softmax.py", "softmax_final.py", "softmax (1).py"]
ALONE += ["hw1.py", "hw1.ipynb", "attention.py"]


def account_of(path, reader, **options):
    return account_for(read_files(Attempt((SubmissionPart(path),))), TRANSFORMER, reader, **options)


def account(root, reader, form, files, **options):
    root.mkdir()
    return account_of(FORMS[form](root, files), reader, **options)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ALONE)
def test_only_file_counts_whatever_it_is_called(tmp_path, reader, form, name):
    found = account(tmp_path / "ada", reader, form, [Made(name, "right")])
    assert "return helper(x)" in found.modules["softmax.py"].decode()
    assert found.counting["softmax"].lower().endswith(name.lower()) and not found.rivals


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("pair", "contents"), list(itertools.product(PAIRS, CONTENTS)))
def test_of_two_files_the_one_a_person_takes_counts(tmp_path, reader, form, pair, contents):
    files = [Made(path, code) for path, code in zip(PAIRS[pair], contents, strict=True)]
    counts, needs_person = CONTENTS[contents]
    found = account(tmp_path / "ada", reader, form, files)
    assert found.counting["softmax"].endswith(files[counts].path)
    assert bool(found.rivals) == needs_person
    # Nothing is ignored without a word, unless nobody would look for it.
    (ignored,) = [file for file in found.files if file["ignored"]]
    assert ignored["name"].endswith(files[1 - counts].path)
    assert "stub" in contents or found.notes


@pytest.mark.parametrize("own", ["stub", "right"])
def test_file_in_the_folder_of_its_assignment_counts_unless_it_is_a_stub(tmp_path, reader, own):
    as_folder(tmp_path, [Made("softmax/softmax.py", own), Made("attention/softmax.py", "right")])
    parts = tuple(SubmissionPart(tmp_path / name, assignment=name) for name in ("softmax", "attention"))
    found = account_for(read_files(Attempt(parts)), TRANSFORMER, reader)
    assert found.counting == {"softmax": "softmax/softmax.py" if own == "right" else "attention/softmax.py"}


@pytest.mark.parametrize(("times", "is_read"), [(3, True), (4, False)])
def test_archives_are_opened_up_to_two_levels_deep(tmp_path, reader, times, is_read):
    content, name = Made("softmax.py", "right").content, "softmax.py"
    for _ in range(times):
        content, name = zip_bytes({name: content}), "work.zip"
    (tmp_path / name).write_bytes(content)
    assert bool(account_of(tmp_path, reader).counting) is is_read


def test_helpers_at_the_top_and_beside_the_work_are_taken(tmp_path, reader):
    helpers = {"top.py": 1, "src/beside.py": 2, "other/far.py": 3, "Twin.py": 4, "src/twin.py": 5, "src/top.py": 1,
               "src/conftest.py": 6}  # fmt: skip
    texts = {name: str(value) for name, value in helpers.items()}
    found = account_of(write_files(tmp_path, {**texts, "src/softmax.py": CODE["right"]}), reader)
    assert found.modules.keys() == {"softmax.py", "top.py", "beside.py", "Twin.py"}
    ignored = {file["name"]: file["ignored"] for file in found.files if file["ignored"]}
    assert ignored["other/far.py"] == "it does not lie beside a file that counts"
    assert ignored["src/twin.py"] == "there are two files of that name", "on some systems, they are the same"
    assert ignored["src/top.py"] == "another file has the same content"
    assert "src/conftest.py" in ignored


@pytest.mark.parametrize(("limit", "value"), [("MAX_FILES", 2), ("MAX_BYTES", len(CODE["right"]) + 5)])
def test_helpers_beyond_a_limit_are_left_out(tmp_path, reader, monkeypatch, limit, value):
    monkeypatch.setattr(account_module, limit, value)
    write_files(tmp_path, {"softmax.py": CODE["right"], "a.py": "a = 1", "b.py": "b = 1"})
    found = account_of(tmp_path, reader)
    assert found.modules.keys() == {"softmax.py", "a.py"} and found.notes


def test_one_file_may_hold_several_assignments(tmp_path, reader):
    norms = "".join(f"def {name}(x):\n    return x\n" for name in TRANSFORMER.function_names["layernorm"])
    (tmp_path / "main.py").write_text(CODE["right"] + norms)
    assert account_of(tmp_path, reader).counting == {"softmax": "main.py", "layernorm": "main.py"}


@pytest.mark.parametrize("name", ["attention.ipynb", "attention.zip", "attention.7z", "attention.py"])
def test_unreadable_file_beside_graded_work_is_named(tmp_path, reader, name):
    found = account_of(write_files(tmp_path, {"softmax.py": CODE["right"], name: b"?" * (2 << 20)}), reader)
    assert found.counting == {"softmax": "softmax.py"} and found.unreadable == [name]


def test_chosen_file_counts_before_its_rivals(tmp_path, reader):
    files = [Made("softmax.py", "wrong"), Made("softmax.ipynb", "right")]
    found = account(tmp_path / "ada", reader, "folder", files, chosen={"softmax": "softmax.ipynb"})
    assert found.counting == {"softmax": "softmax.ipynb"}
    assert found.rivals == {"softmax": ["softmax.ipynb", "softmax.py"]}


@pytest.mark.parametrize(("name", "is_rival"), [("notes.py", False), ("softmax_final.py", True)])
def test_file_with_fewer_functions_is_a_rival_if_its_name_is_similar(tmp_path, reader, name, is_rival):
    both = CODE["right"] + "def log_softmax(x):\n    return x\n"
    found = account_of(write_files(tmp_path, {"softmax.py": both, name: CODE["wrong"]}), reader)
    assert found.counting == {"softmax": "softmax.py"} and bool(found.rivals) == is_rival


@pytest.mark.parametrize("name", ["work.7z", "work.rar", "work.pdf", "work.txt"])
def test_file_that_cannot_be_read_is_named(tmp_path, reader, name):
    (tmp_path / name).write_bytes(b"?")
    found = account_of(tmp_path, reader)
    assert not found.modules and [file["name"] for file in found.files] == [name]


@pytest.mark.parametrize("form", FORMS)
def test_files_of_tools_are_named_and_need_nobody(tmp_path, reader, form):
    files = [Made(path, "wrong") for path in (".git/softmax.py", ".git/a/softmax.py")]
    found = account(tmp_path / "ada", reader, form, [Made("softmax.py", "right"), *files])
    _, of_tools = found.files
    assert of_tools["name"].endswith(".git/") and of_tools["ignored"] == str(ToolFiles())
    assert not (found.rivals or found.unreadable or found.notes)


def test_folder_that_lies_too_deep_is_named(tmp_path, reader):
    files = [Made(path, "right") for path in ("softmax.py", "a/b/c/d/e/softmax.py")]
    assert account(tmp_path / "ada", reader, "folder", files).unreadable == ["a/b/c/d/e/"]


def test_notebook_with_large_outputs_is_read(tmp_path, reader):
    picture = {"output_type": "display_data", "data": {"image/png": "A" * (30 << 20)}}
    cell = {"cell_type": "code", "source": CODE["right"], "outputs": [picture]}
    (tmp_path / "softmax.ipynb").write_bytes(notebook(cell))
    assert account_of(tmp_path, reader).counting == {"softmax": "softmax.ipynb"}


def test_archive_that_unpacks_to_gigabytes_is_not_unpacked(tmp_path, reader):
    with tarfile.open(tmp_path / "work.tar.gz", "w:gz") as archive:
        info = tarfile.TarInfo("softmax.py")
        info.size = 200 << 20
        archive.addfile(info, io.BytesIO(bytes(200 << 20)))
    found = account_of(tmp_path, reader)
    assert not found.modules and "larger than 64 MiB" in found.notes[-1]


def test_ungraded_assignment_counts_only_with_work(tmp_path, reader):
    stub = 'def attention(q):\n    raise NotImplementedError("attention.attention")\n'
    write_files(tmp_path, {"attention.py": stub, "softmax.py": CODE["right"]})
    assert account_of(tmp_path, reader, graded=["layernorm"]).counting == {"softmax": "softmax.py"}
    assert account_of(tmp_path, reader).counting.keys() == {"attention", "softmax"}
