"""The official functions give each other, and checks give them, only arrays of the shapes that docstrings name.

A student who writes exactly what a docstring says must not fail later for something that it does not say.
"""

from pathlib import Path

import pytest
from support.built_in import solution_source

from autograder.courses.transformer import TRANSFORMER
from autograder.engine.session import Options, check

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("enough_time")]
REFUSAL = Path(__file__).with_name("documented_shapes.py")


def failures(folder, changes=None):
    for module in TRANSFORMER.modules:
        text = solution_source(module).replace(*(changes or {}).get(module, ("", "")))
        (folder / f"{module}.py").write_text(f"{text}\n\n{REFUSAL.read_text('utf-8')}", "utf-8")
    functions = TRANSFORMER.select(["attention", "encoder_decoder"] if changes else [])
    result = check("x", folder, Options(functions=functions))
    return [(check.id, check.message) for check in result.checks if check.status != "passed"]


def test_official_functions_need_only_documented_shapes(tmp_path):
    assert not failures(tmp_path)


def test_undocumented_shape_is_found(tmp_path):
    found = failures(tmp_path, {"attention": ("keep: boolean, (B, S),", "keep: boolean, (S,),")})
    assert {check.partition("::")[0] for check, _ in found} >= {"attention.padding_mask", "encoder_decoder.encode"}
