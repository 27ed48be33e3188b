"""The glossary: terms by name or assignment, and glossary files that are invalid or missing."""

import pytest

from autograder.course import glossary
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError


def test_select_nothing_returns_all_in_course_order():
    terms = glossary.select([], TRANSFORMER)
    assert list(terms) == list(TRANSFORMER.modules)
    assert all(meaning for entries in terms.values() for meaning in entries.values())


@pytest.mark.parametrize("name", ["logit", "LOGITS", " logit "])
def test_select_term_ignores_case_and_plural(name):
    assert glossary.select([name], TRANSFORMER) == {"softmax": {"logit": "the same as score"}}


@pytest.mark.parametrize("name", ["attention", "7"])
def test_select_assignment_and_term_returns_both(name):
    terms = glossary.select([name, "ReLU"], TRANSFORMER)
    assert list(terms) == ["attention", "ffn"]
    assert terms["attention"] == glossary.load(TRANSFORMER)["attention"] and list(terms["ffn"]) == ["ReLU"]


@pytest.mark.parametrize(("name", "words"), [("lgoit", "mean 'logit'"), ("\x1b[2J", r"'\\x1b\[2J'"), ("", "''")])
def test_select_unknown_term_suggests_the_closest(name, words):
    with pytest.raises(UsageError, match=words) as error:
        glossary.select([name], TRANSFORMER)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", ["[", "logit = 3", "[softmax]\nlogit = 'a'", "\udcff"], ids=range(4))
def test_load_invalid_file_names_it(content, tmp_path, monkeypatch):
    (tmp_path / "softmax").mkdir()
    (tmp_path / "softmax" / "glossary.toml").write_text(content, "utf-8", errors="surrogateescape")
    monkeypatch.setattr(glossary.registry, "folder", lambda package: tmp_path)
    with pytest.raises(UsageError, match=r"glossary.toml is invalid"):
        glossary.load(TRANSFORMER)


def test_course_without_glossary(tmp_path, monkeypatch):
    monkeypatch.setattr(glossary.registry, "folder", lambda package: tmp_path)
    assert glossary.load(TRANSFORMER) == {}
    with pytest.raises(UsageError, match="no glossary"):
        glossary.select(["logit"], TRANSFORMER)
