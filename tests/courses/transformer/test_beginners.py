"""Wrong answers as beginners write them fail a check, and their mistakes are named.

Each answer lists the mistakes that must be named (how their names begin), or "-" where the message already explains the
failure. No other mistake may be named.
"""

import pytest
from support.beginners import FOLDER, answers, helpers
from support.built_in import solution_source
from support.editing import write_files

from autograder.courses.transformer import TRANSFORMER
from autograder.engine.session import Options, run_in_session

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("enough_time")]


@pytest.mark.drawn(3)
@pytest.mark.parametrize("module", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_diagnose_beginners_answers_names_the_mistakes(tmp_path, module, drawing):
    results = {}

    def check_all(session):
        for name, answer in expected.items():
            text = f"{solution_source(module)}\n\n{helpers(module)}\n\n{answer.code}\n"
            folder = write_files(tmp_path / name, {f"{module}.py": text})
            results[name] = session.check(name, folder, (f"{module}.{answer.function}",))

    chosen = drawing.some(answers(module), 10, module)
    expected = {f"{answer.function}__{answer.variant}": answer for answer in chosen}
    run_in_session(Options(functions=TRANSFORMER.select([module]), official=True), check_all)
    assert len(results) == len(chosen) > 5
    for name, answer in expected.items():
        starts, checks = answer.mistakes, results[name].checks
        assert any(check.status != "passed" for check in checks), f"{name} passes every check"
        ids = [check.mistake["id"].replace("|", "+").split("+") for check in checks if check.mistake]
        named = {mistake.rpartition("/")[2] for group in ids for mistake in group}
        if starts == ("-",):
            assert not named, name
        else:
            missing = [start for start in starts if not any(name_found.startswith(start) for name_found in named)]
            assert not missing, f"{name}: expected {missing}, named {named}"
            wrong = [mistake for mistake in named if not mistake.startswith(starts)]
            assert not wrong, f"{name}: also named {wrong}. Is that right? Add them to the answer's mistakes"
