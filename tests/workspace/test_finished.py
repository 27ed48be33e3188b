"""The panel for an assignment that passes: collected from the course, its lesson and the workspace."""

import io
import shlex

import click
import pytest
from rich.console import Console
from support.editing import edit

from autograder.cli import COMMANDS, main
from autograder.courses.transformer import TRANSFORMER
from autograder.models.plot_data import PLOTS
from autograder.report.assignment_finished import finished_lines, finished_panel
from autograder.workspace.finished import finished_assignment

MODULES = list(TRANSFORMER.modules)


def passing_until(module):
    """Statuses in which this assignment and all before it pass."""
    reached = MODULES[: MODULES.index(module) + 1]
    return {name: "passed" for name, function in TRANSFORMER.functions.items() if function.module in reached}


def steps(finished):
    return {label: command for label, command, _ in finished.steps}


@pytest.mark.parametrize("module", MODULES)
def test_finished_assignment_names_commands_that_exist(workspace, module):
    finished = finished_assignment(workspace, module, passing_until(module))
    assert finished.outcome.endswith(".") and len(finished.outcome) < 110
    assert steps(finished)["experiment"] == f"headway experiment {module}"
    assert steps(finished)["compare"] == f"headway diff {module}"
    for command in (command for command in steps(finished).values() if command.startswith("headway")):
        _, name, *words = shlex.split(command)
        assert name in COMMANDS
        parameters = main.get_command(click.Context(main), name).params
        known = {option for parameter in parameters for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= known


def test_finished_assignment_shows_a_picture_of_its_lesson(workspace):
    shown = {}
    for module in MODULES:
        picture = steps(finished_assignment(workspace, module, passing_until(module))).get("picture")
        shown[module] = picture and picture.removeprefix("headway plot ")
    assert [name for name in MODULES if not shown[name]] == [], "a lesson shows at least one picture besides the map"
    assert shown["softmax"] == "softmax-temperatures" and shown["attention"] == "attention-mask"
    assert shown["multihead"] == "attention-heads" and PLOTS["attention-heads"].trained
    assert shown["bigram"] == "figures/bigram-table.svg"
    assert all(name in PLOTS or (workspace.folder / name).is_file() for name in shown.values())


def test_finished_assignment_counts_and_names_what_is_next(workspace):
    finished = finished_assignment(workspace, "softmax", passing_until("softmax"))
    assert finished.assignments == (4, len(MODULES)) and finished.functions == (18, len(TRANSFORMER.functions))
    assert finished.next_text.startswith("bigram · ")
    assert "attention" in finished.unlocks and "tokenizer" not in finished.unlocks


def test_finished_assignment_is_none_until_all_but_bonus_functions_pass(workspace):
    statuses = passing_until("layernorm")
    bonus = [f.qualified for f in TRANSFORMER.modules["layernorm"].functions if f.bonus]
    without_bonus = {name: status for name, status in statuses.items() if name not in bonus}
    assert finished_assignment(workspace, "layernorm", without_bonus) is not None
    assert finished_assignment(workspace, "layernorm", {**statuses, "layernorm.layernorm": "failed"}) is None


def test_finished_course_offers_the_card(workspace):
    finished = finished_assignment(workspace, MODULES[-1], passing_until(MODULES[-1]))
    assert finished.next_text == ""
    assert steps(finished)["your GPT"].startswith("headway card ") and "read next" in steps(finished)
    assert finished.outcome.startswith(f"You wrote all of it: {len(TRANSFORMER.functions)} functions, ")
    assert "your GPT" not in steps(finished_assignment(workspace, "gpt2", passing_until("gpt2")))


def test_finished_assignment_hides_what_is_not_there(workspace, folder):
    (folder / "course.toml").write_text('solutions = "never"\n')
    edit(folder / "softmax.py", 'if __name__ == "__main__":', "if False:")
    assert set(steps(finished_assignment(workspace, "softmax", passing_until("softmax")))) == {"picture"}


@pytest.mark.parametrize("columns", [60, 80, 140])
@pytest.mark.parametrize("module", MODULES)
def test_panel_and_lines_say_the_same(workspace, module, columns):
    finished = finished_assignment(workspace, module, passing_until(module))
    console = Console(file=io.StringIO(), width=columns)
    with console.capture() as captured:
        console.print(finished_panel(finished, columns))
    text = captured.get()
    assert max(map(len, text.splitlines())) <= columns
    assert len(text.splitlines()) <= 20
    lines = finished_lines(finished)
    number = f"{finished.number} of {len(MODULES)}"
    title = f"{module} is complete: assignment {number}" if finished.next_text else "The course is complete: all"
    assert lines[0].startswith(title) and finished.outcome in lines[0]
    assert all(any(command in line for line in lines) for _, command, _ in finished.steps)
    assert not any(line.startswith("│") for line in lines)
    assert all(any(command in line for line in text.splitlines()) for _, command, _ in finished.steps)
