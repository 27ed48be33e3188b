import pytest

from autograder.engine.diagnosis.mistake import BrokenMistake, Mistakes

TEXT = """
    the title
    why: it matters: a lot,
         and it shows
    ask: Which line?"""


def test_entry_with_edits_is_read():
    mistakes = Mistakes()
    mistakes.for_functions("a.f")("name", "x", "y", "z", "", common=True, group="g").explain(TEXT)
    [mistake] = mistakes
    assert (mistake.id, mistake.edits) == ("a.f/name", (("x", "y"), ("z", "")))
    assert (mistake.common, mistake.group) == (True, "g")
    assert (mistake.title, mistake.explanation) == ("the title", "it matters: a lot, and it shows")
    assert mistake.hint == "Which line?"


def test_entry_of_two_functions_gives_two_mistakes():
    mistakes = Mistakes()
    mistakes.for_functions("a.f", "a.g")("name", "x", "y").explain(TEXT)
    assert [mistake.id for mistake in mistakes] == ["a.f/name", "a.g/name"]


def test_body_is_indented_and_edited():
    mistakes = Mistakes()
    entry = mistakes.for_functions("a.f")("name", "+ 1", "+ 2")
    entry.body("\n        if x:\n            return x + 1\n").explain(TEXT)
    [mistake] = mistakes
    assert (mistake.edits, mistake.body) == ((), "    if x:\n        return x + 2\n")


def test_registry_begins_with_its_parts():
    part = Mistakes()
    part.for_functions("a.f")("first", "x", "y").explain(TEXT)
    whole = Mistakes(part)
    whole.for_functions("a.f")("second", "x", "y").explain(TEXT)
    assert [mistake.name for mistake in whole] == ["first", "second"]
    assert len(list(part)) == 1


def test_broken_entry_is_refused():
    mistakes = Mistakes()
    with pytest.raises(BrokenMistake, match="f/name"):
        mistakes.for_functions("a.f")("name", "x")
    with pytest.raises(BrokenMistake, match="2 times"):
        mistakes.for_functions("a.f")("name", "x", "y").body("return x + x")
    mistakes = Mistakes()
    mistakes.for_functions("a.f")("name", "x", "y")
    with pytest.raises(BrokenMistake, match="explain"):
        list(mistakes)


@pytest.mark.parametrize("text", ["the title", "the title\nask: b", "why: a\nask: b", "the title\nwhy: \nask: b"])
def test_incomplete_text_is_refused(text):
    with pytest.raises(BrokenMistake, match="f/name"):
        Mistakes().for_functions("a.f")("name", "x", "y").explain(text)
