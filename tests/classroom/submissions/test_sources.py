"""Sources: which folders hold which assignments, and what a second run replaces."""

from dataclasses import replace
from pathlib import Path

import pytest
from support.editing import write_files

from autograder.classroom.submissions import sources
from autograder.classroom.submissions.model import Source
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError

ALL = tuple(TRANSFORMER.functions)
CANVAS = ("lovelaceada_4021_1_{}.py", "hoppergrace_LATE_4022_2_{}.py")
GRADESCOPE = ("submission_metadata.yml", "submission_1/{}.py")
MOODLE = ("Ada Lovelace_1_assignsubmission_file/{}.py", "Grace Hopper_2_assignsubmission_file/{}.py")


def make(folder, *names):
    return write_files(folder, dict.fromkeys(names, "def softmax(x): return x\n"))


def find(folder, functions=ALL):
    return sources.find_sources(folder, TRANSFORMER, "auto", functions, folder.parent / "out")


def named(folder, *names):
    return Source("-".join(names), names, Path(folder), functions=TRANSFORMER.select(names))


@pytest.mark.parametrize("files", [CANVAS, GRADESCOPE, MOODLE, ("ada/{}.py", "bo/{}.py")])
def test_find_sources_takes_a_folder_for_each_assignment(tmp_path, files):
    for module in ("attention", "softmax"):
        make(tmp_path / "term" / module, *(name.format(module) for name in files))
    found = find(tmp_path / "term")
    names = ("softmax", "attention")
    assert [(one.name, one.assignments, one.folder.name) for one in found] == [(name, (name,), name) for name in names]
    assert found[0].functions == TRANSFORMER.select(["softmax"])
    assert [source.name for source in find(tmp_path / "term", TRANSFORMER.select(["attention"]))] == ["attention"]


@pytest.mark.parametrize("names", [
    [f"assignment_{n}_export/{name}" for n in (101, 102, 103) for name in GRADESCOPE],
    [f"submissions ({n})/{name}" for n in (1, 2) for name in CANVAS],
    [f"{folder}/{name}" for folder in ("softmax", "week two") for name in MOODLE],
], ids=["gradescope", "canvas", "moodle"])  # fmt: skip
def test_find_sources_unnamed_downloads_are_refused(tmp_path, names):
    make(tmp_path / "term", *(name.format("softmax") for name in names))
    with pytest.raises(UsageError, match=r"\d downloads from .*--source "):
        find(tmp_path / "term")


@pytest.mark.parametrize("names", [
    ("ada/softmax.py", "bo/softmax.py"),
    ("softmax/softmax.py", "attention/attention.py"),  # the work of one student
    ("softmax/ada.py",),
    ("ada/x_1_2_softmax.py", "ada/y_2_3_softmax.py", "bo/softmax.py"),  # one student's choice of names
    ("assignment_1_export/submission_metadata.yml", "assignment_1_export/submission_1/softmax.py"),
    CANVAS,
])  # fmt: skip
def test_find_sources_other_folders_are_one_source(tmp_path, names):
    (found,) = find(make(tmp_path / "class", *names))
    assert found == Source("", tuple(TRANSFORMER.modules), tmp_path / "class", "auto", ALL)


def test_source_from_option():
    found = sources.source_from_option("attention, softmax=some/where", TRANSFORMER, "canvas")
    assert (found.name, found.assignments) == ("softmax-attention", ("softmax", "attention"))
    assert (found.folder, found.layout) == (Path("some/where"), "canvas")
    for text in ("softmax", "=x", "softmax="):
        with pytest.raises(UsageError, match="ASSIGNMENT=DIR"):
            sources.source_from_option(text, TRANSFORMER, "auto")
    with pytest.raises(UsageError, match="no such assignment"):
        sources.source_from_option("sofmax=x", TRANSFORMER, "auto")


def test_read_source_moodle_numbers_belong_to_one_assignment(tmp_path):
    make(tmp_path / "dl", *(name.format("softmax") for name in MOODLE))
    ids = [member.ids for member in sources.read_source(named(tmp_path / "dl", "softmax"), TRANSFORMER, tmp_path / "o")]
    assert ids == [{"moodle:softmax": "1"}, {"moodle:softmax": "2"}]


def test_combine_keeps_stored_sources_and_replaces_those_of_the_same_name():
    stored = [named("a", "softmax"), named("b", "attention")]
    found, notes = sources.combine(stored, [named("c", "softmax"), named("d", "gpt")], Path("out"))
    assert [source.folder.name for source in found] == ["c", "b", "d"] and not notes


def test_combine_new_source_takes_its_assignment_from_another():
    found, notes = sources.combine([named("a", "softmax", "attention")], [named("b", "softmax")], Path("out"))
    assert [one.name for one in found] == ["softmax-attention", "softmax"]
    assert [one.assignments for one in found] == [("attention",), ("softmax",)]
    assert found[0].functions == TRANSFORMER.select(["attention"])
    assert len(notes) == 1 and "graded from b now" in notes[0]


@pytest.mark.parametrize(("stored", "assignments", "names"), [
    ([], ("softmax",), [""]), ([("", ("softmax",))], ("softmax",), [""]),
    ([("", ("softmax",))], ("softmax", "attention"), [""]), ([("", ("softmax",))], ("attention",), ["", "attention"]),
    ([("", ("softmax",)), ("attention", ("attention",))], ("attention",), ["", "attention"]),
    ([("softmax", ("softmax",)), ("attention", ("attention",))], ("softmax", "attention"), None),
])  # fmt: skip
def test_combine_folder_without_a_name(stored, assignments, names):
    before = [replace(named("before", *modules), name=name) for name, modules in stored]
    new = replace(named("new", *assignments), name="")
    if names is None:
        with pytest.raises(UsageError, match="--source softmax=new"):
            sources.combine(before, [new], Path("out"))
        return
    assert [source.name for source in sources.combine(before, [new], Path("out"))[0]] == names


@pytest.mark.parametrize(("folder", "assignments", "names"), [
    ("before", ("softmax", "attention"), ["", "attention"]),
    ("before", ("softmax", "attention", "gpt"), ["", "attention", "gpt"]),
    ("before", ("softmax",), ["", "attention"]), ("new", ("softmax", "attention"), None),
])  # fmt: skip
def test_folder_that_was_graded_in_parts_is_graded_in_them_again(folder, assignments, names):
    stored = [replace(named("before", "softmax"), name=""), named("before", "attention")]
    parts = sources.split_as_before(stored, [replace(named(folder, *assignments), name="")])
    if names is None:
        assert len(parts) == 1
        return
    combined, notes = sources.combine(stored, parts, Path("out"))
    assert [source.name for source in combined] == names and not notes
    for source in combined:
        assert source.functions == TRANSFORMER.select(source.assignments)
