"""The screen of `headway watch` at several sizes, with hostile text."""

import re

import pytest
from rich.cells import cell_len

from autograder.courses.transformer import TRANSFORMER
from autograder.report import watch_screen
from autograder.report.assignment_finished import FinishedAssignment

PLAIN = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b\]8;[^\x1b\x07]*(?:\x1b\\|\x07)")
CHECK = {
    "function": "attention.attention",
    "title": "a title that is rather long, with [red]brackets[/red] in it " * 2,
    "status": "failed",
    "points": {"earned": 0, "possible": 2},
    "message": "out is not close " * 20,
    "inputs": "(2, 3)",
    "wrong": {"count": 3, "total": 6},
    "worst": None,
    "error_map": {"rows": ["0123n0"] * 8, "axes": ["query", "key"], "at": "", "shape": [8, 6]},
    "first_wrong_stage": None,
    "mistake": {"title": "the scores were not divided"},
    "help": None,
    "warnings": [],
    "output": "[bold]printed[/bold]\n" * 30,
    "location": {"file": "attention.py", "line": 3},
}


def screen(**more):
    statuses = dict.fromkeys(TRANSFORMER.functions, "passed") | {"attention.attention": "failed"}
    settings = {"name": "w", "statuses": statuses, "points": (1.0, 2.0), "focus": "attention.attention", **more}
    return watch_screen.WatchScreen(**settings)


@pytest.mark.parametrize("columns", [20, 40, 80, 140])
@pytest.mark.parametrize("lines", [8, 24, 45])
@pytest.mark.parametrize(
    "more",
    [
        {"check": CHECK},
        {"check": CHECK, "notes": ["★ a badge"], "message": "a message"},
        {"cursor": "encoder_decoder.transformer_backward"},
        {"hint": ([("question", "what? " * 60)], 3)},
        {"stub": ("attention.py", 3, "def attention():\n" + "    text\n" * 50)},
        {"passing": True, "next_function": "blocks.block"},
        {"passing": True},
        {"checking": tuple(TRANSFORMER.functions)},
    ],
)
def test_render_frame_fits_the_terminal(columns, lines, more):
    shown = [PLAIN.sub("", line) for line in watch_screen.render_frame(screen(**more), columns, lines)]
    assert len(shown) <= lines
    assert max(map(cell_len, shown)) <= columns
    assert "\x1b" not in "".join(shown)


def test_body_too_long_is_cut_but_keeps_the_border():
    stub = ("attention.py", 3, "def f():\n" + "    text\n" * 50 + "    last")
    shown = [PLAIN.sub("", line) for line in watch_screen.render_frame(screen(stub=stub), 80, 24)]
    assert any(line.startswith("…") and "more lines" in line for line in shown)
    assert not any("last" in line for line in shown)
    shown = [PLAIN.sub("", line) for line in watch_screen.render_frame(screen(check=CHECK), 80, 24)]
    (cut,) = (i for i, line in enumerate(shown) if "more lines" in line)
    assert shown[cut + 1].startswith("╰")


def test_wrapped_lines_keep_their_indentation():
    stub = ("attention.py", 3, "def f():\n    Args:\n        x: " + "word " * 30)
    shown = [PLAIN.sub("", line).rstrip() for line in watch_screen.render_frame(screen(stub=stub), 60, 30)]
    words = [line for line in shown if "word" in line]
    assert len(words) > 1
    assert all(line.startswith("        ") for line in words)
    steps = [("question", "what? " * 30), ("idea", "that! " * 30)]
    shown = [PLAIN.sub("", line) for line in watch_screen.render_frame(screen(hint=(steps, 3)), 60, 30)]
    assert len({line.index("what?") for line in shown if "what?" in line}) == 1
    assert len({line.index("that!") for line in shown if "that!" in line}) == 1


def test_panel_shows_markup_as_text_and_the_cause_first():
    shown = "\n".join(PLAIN.sub("", line) for line in watch_screen.render_frame(screen(check=CHECK), 100, 30))
    assert "[red]brackets[/red]" in shown
    assert "[bold]printed[/bold]" in shown
    assert shown.index("likely cause") < shown.index("printed")


def test_panel_without_room_leaves_out_the_map():
    check = CHECK | {"message": "short", "title": "short", "output": ""}
    roomy = "\n".join(watch_screen.render_frame(screen(check=check), 100, 40))
    tight = "\n".join(watch_screen.render_frame(screen(check=check), 100, 16))
    assert "▒" in roomy
    assert "press p" in tight
    assert "attention.py:3" in PLAIN.sub("", tight)


def test_render_frame_without_colour_has_none():
    colored = "".join(watch_screen.render_frame(screen(check=CHECK), 80, 24))
    plain = "".join(watch_screen.render_frame(screen(check=CHECK), 80, 24, no_color=True))
    color = re.compile(r"\x1b\[[0-9;]*\b3[0-8]")
    assert color.search(colored)
    assert not color.search(plain)


def test_list_scrolls_to_the_cursor():
    for name in ("tokenizer.build_vocab", "ffn.gelu", "encoder_decoder.transformer_backward"):
        shown = [PLAIN.sub("", line) for line in watch_screen.render_frame(screen(cursor=name), 80, 24)]
        assert any(line.startswith("▶") and name.partition(".")[2] in line for line in shown)


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (60, 24), (140, 40)])
def test_finished_assignment_fits_below_its_function(columns, lines):
    steps = [("experiment", "python softmax.py", "predict its result first"), ("compare", "headway diff softmax", "x")]
    finished = FinishedAssignment(3, "softmax", "It can do more.", (3, 17), (15, 96), steps, ["bigram"], "bigram")
    shown = watch_screen.render_frame(screen(passing=True, finished=finished), columns, lines)
    text = "\n".join(PLAIN.sub("", line) for line in shown)
    assert "softmax is complete: assignment 3 of 17" in text and "python softmax.py" in text and "╰" in text
    assert "is complete" not in "".join(watch_screen.render_frame(screen(passing=True), columns, lines))
