"""Names: what a user may type, and that everything named exists."""

import pytest

from autograder.course import registry
from autograder.course.file_names import EXACT, OTHER, SIMILAR, assignments_of, similar_files
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError


def test_select_returns_course_order():
    assert TRANSFORMER.select([]) == tuple(TRANSFORMER.functions)
    assert TRANSFORMER.select(["softmax"])[0] == "softmax.softmax"
    number = str(TRANSFORMER.modules["softmax"].number)
    assert TRANSFORMER.select([number]) == TRANSFORMER.select(["softmax.py"]) == TRANSFORMER.select(["softmax"])
    assert TRANSFORMER.select(["layernorm", "softmax.softmax"])[:2] == ("softmax.softmax", "layernorm.layernorm")


@pytest.mark.parametrize(("name", "words"), [
    ("sotfmax", "Did you mean 'softmax'"), ("softmax.sofmax", "Did you mean 'softmax.softmax'"),
    ("causal_mask", "Try: attention.causal_mask"), ("quux", "no such assignment or function"),
])  # fmt: skip
def test_select_unknown_name_suggests_the_nearest(name, words):
    with pytest.raises(UsageError, match=words):
        TRANSFORMER.select([name])


SOFTMAX = b"def softmax(x): ...\n"


@pytest.mark.parametrize(("stem", "code", "modules", "fit"), [
    (" Softmax", SOFTMAX, ["softmax"], EXACT), ("softmax", b"", ["softmax"], EXACT),
    ("softmax", b"def attention(q): ...", ["attention"], OTHER),
    *((name, b"", ["softmax"], SIMILAR) for name in ("Softmax (1)", "softmax(12)", "softmax copy", "softmax - copy")),
    ("my Softmax", SOFTMAX, ["softmax"], SIMILAR), ("my_softmax", b"", [], OTHER), ("softmaxes", b"", [], OTHER),
    ("hw1", SOFTMAX, ["softmax"], OTHER), ("hw1", b"  def softmax(x): ...", [], OTHER),
])  # fmt: skip
def test_assignments_of_a_file_follow_from_its_name_and_functions(stem, code, modules, fit):
    assert assignments_of(stem, code, TRANSFORMER) == (modules, fit)
    files = {"softmax (1)": b"", "softmax copy": b"", "gpt": b"# see softmax copy"}
    assert similar_files("softmax", files, TRANSFORMER) == ["softmax (1)"]


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
