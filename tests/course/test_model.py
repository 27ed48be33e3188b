"""Names: what a user may type, and that everything named exists."""

import pytest

from autograder.course import registry
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError


def test_select_returns_course_order():
    assert TRANSFORMER.select([]) == tuple(TRANSFORMER.functions)
    assert TRANSFORMER.select(["softmax"])[0] == "softmax.softmax"
    number = str(TRANSFORMER.modules["softmax"].number)
    assert TRANSFORMER.select([number]) == TRANSFORMER.select(["softmax.py"]) == TRANSFORMER.select(["softmax"])
    assert TRANSFORMER.select(["layernorm", "softmax.softmax"])[:2] == ("softmax.softmax", "layernorm.layernorm")


@pytest.mark.parametrize(("name", "words"), [
    ("sotfmax", "Did you mean 'softmax'"),
    ("softmax.sofmax", "Did you mean 'softmax.softmax'"),
    ("causal_mask", "Try: attention.causal_mask"),
    ("quux", "no such assignment or function"),
])  # fmt: skip
def test_select_unknown_name_suggests_the_nearest(name, words):
    with pytest.raises(UsageError, match=words):
        TRANSFORMER.select([name])


def test_all_prerequisites_are_transitive():
    assert "softmax.softmax" in TRANSFORMER.all_prerequisites("blocks.block")


def test_every_assignment_has_checks():
    files = {module: registry.check_files(module, TRANSFORMER.package) for module in TRANSFORMER.modules}
    assert [module for module in files if not files[module]] == []
    with_checks = {path.parent.name for path in registry.folder(TRANSFORMER.package).glob("*/checks*")}
    assert with_checks == {*files, "common"}, "nobody collects these"


def test_every_function_has_time_and_difficulty():
    for function in TRANSFORMER.functions.values():
        assert 5 <= function.minutes <= 60, function.qualified
        assert function.difficulty in (1, 2, 3), function.qualified
    assert [a.module for a in TRANSFORMER.assignments if not 30 <= a.minutes <= 240] == []
