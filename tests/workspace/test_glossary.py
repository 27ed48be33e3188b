"""The words of the lessons: looked up one by one or by assignment, from a file that its authors may have got wrong."""

import pytest

from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError
from autograder.workspace import glossary


def test_all_words_come_in_course_order():
    words = glossary.select([], TRANSFORMER)
    assert list(words) == list(TRANSFORMER.modules)
    assert all(meaning for mine in words.values() for meaning in mine.values())


@pytest.mark.parametrize("name", ["logit", "LOGITS", " logit "])
def test_a_word_by_itself(name):
    assert glossary.select([name], TRANSFORMER) == {"softmax": {"logit": "the same as score"}}


@pytest.mark.parametrize("name", ["attention", "4"])
def test_an_assignment_gives_its_words_and_another_word_joins_them(name):
    words = glossary.select([name, "ReLU"], TRANSFORMER)
    assert list(words) == ["attention", "ffn"]
    assert words["attention"] == glossary.load(TRANSFORMER)["attention"]
    assert list(words["ffn"]) == ["ReLU"]


@pytest.mark.parametrize(
    ("name", "message"), [("lgoit", "Did you mean 'logit'"), ("\x1b[2J", r"no word '\\x1b\[2J'"), ("", "no word ''")]
)
def test_an_unknown_word_is_one_line_with_the_nearest(name, message):
    with pytest.raises(UsageError, match=message) as error:
        glossary.select([name], TRANSFORMER)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "content", ["[", "softmax = 3", "[softmax]\nlogit = 3", "[nowhere]\nlogit = 'a'", "\udcff"], ids=range(5)
)
def test_a_file_that_cannot_be_understood_is_named(content, tmp_path, monkeypatch):
    (tmp_path / glossary.FILE).write_text(content, "utf-8", errors="surrogateescape")
    monkeypatch.setattr(glossary.registry, "folder", lambda package: tmp_path)
    with pytest.raises(UsageError, match=r"glossary.toml cannot be used"):
        glossary.load(TRANSFORMER)


def test_a_course_without_a_list(tmp_path, monkeypatch):
    monkeypatch.setattr(glossary.registry, "folder", lambda package: tmp_path)
    assert glossary.load(TRANSFORMER) == {}
    with pytest.raises(UsageError, match="no list of its words"):
        glossary.select(["logit"], TRANSFORMER)
