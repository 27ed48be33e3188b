"""The screen of `headway watch` at several sizes, with hostile text, and the time that it shows."""

import re
from types import SimpleNamespace

import pytest
from rich.cells import cell_len
from support.result_documents import BROKEN, check

from autograder.courses.transformer import TRANSFORMER
from autograder.documents.records import FinishedAssignment
from autograder.report import watch_screen
from autograder.report.check_report import BAR_GLYPHS
from autograder.workspace.background_checker import CheckReply
from autograder.workspace.file_watcher import SAVED
from autograder.workspace.watch import PATIENCE, QUIET, WatchLoop

PLAIN = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b\]8;[^\x1b\x07]*(?:\x1b\\|\x07)")
CHECK = check(
    status="failed", title="a title that is rather long, with [red]brackets[/red] in it " * 2,
    points={"earned": 0, "possible": 2}, message="out is not close " * 20, inputs="(2, 3)",
    wrong={"count": 3, "total": 6}, location={"file": "attention.py", "line": 3, "text": ""},
    error_map={"rows": ["0123n0"] * 8, "axes": ["query", "key"], "at": "", "shape": [8, 6]},
    mistake={"id": "", "title": "the scores were not divided", "reason": ""}, output="[bold]printed[/bold]\n" * 30,
)  # fmt: skip
SHORTER = CHECK | {"message": "out is not close", "title": "short", "output": "", "error_map": None}


def frame_lines(*arguments, **options):
    return watch_screen.render_frame(*arguments, **options).lines


def strip(line):
    return PLAIN.sub("", line).rstrip()


def line_with(text, lines):
    """Return the number of the first line that contains the text."""
    return next(number for number, line in enumerate(lines) if text in line)


def screen(**more):
    statuses = dict.fromkeys(TRANSFORMER.functions, "passed") | {"attention.attention": "failed"}
    settings = {"name": "w", "statuses": statuses, "points": (1.0, 2.0), "focus": "attention.attention", **more}
    return watch_screen.WatchScreen(**settings)


@pytest.mark.parametrize("columns", [20, 40, 80, 140])
@pytest.mark.parametrize("lines", [8, 24, 45])
@pytest.mark.parametrize("more", [
    {"check": CHECK}, {"check": CHECK, "notes": ["★ a badge"], "message": "a message"},
    {"cursor": "encoder_decoder.transformer_backward"}, {"hint": ([("question", "what? " * 60)], 3)},
    {"stub": ("attention.py", 3, ""), "documentation": "def attention():\n" + "    text\n" * 50},
    {"check": CHECK, "documentation": "def f(x):\n" + "    `code` and (B, T): " * 50, "scroll": 7},
    {"check": CHECK, "hint": ([("question", "what? " * 60)], 3), "documentation": "def f(x):\n" + "    x\n" * 50},
    {"passing": True, "next_function": "blocks.block"}, {"passing": True}, {"checking": tuple(TRANSFORMER.functions)},
])  # fmt: skip
def test_render_frame_fits_the_terminal(columns, lines, more):
    shown = [PLAIN.sub("", line) for line in frame_lines(screen(**more), columns, lines)]
    assert len(shown) <= lines
    assert max(map(cell_len, shown)) <= columns
    assert "\x1b" not in "".join(shown)


@pytest.mark.parametrize(("diagnosing", "state"), [(True, "looking for the mistake …"), (False, "checked in 60 ms")])
def test_title_says_what_is_still_going_on(diagnosing, state):
    assert strip(frame_lines(screen(check=CHECK, seconds=0.06, diagnosing=diagnosing), 80, 24)[0]).endswith(state)


@pytest.mark.slow
def test_body_too_long_scrolls_and_says_how_much_is_left():
    text = "def f():\n" + "".join(f"    line {number}\n" for number in range(50))
    seen = []
    shown = frame_lines(screen(check=CHECK, documentation=text), 80, 24)
    assert any(line.startswith("↓ ") and " below" in PLAIN.sub("", line) for line in map(strip, shown))
    for scroll in range(0, 200, 5):
        frame = watch_screen.render_frame(screen(check=CHECK, documentation=text, scroll=scroll), 80, 24)
        seen += map(strip, frame.lines)
    assert all(any(f"line {number} " in line for line in seen) for number in range(50))
    assert frame.scroll < 195  # it stops at the end
    assert not any(" below" in PLAIN.sub("", line) for line in frame.lines)


@pytest.mark.parametrize(("more", "widths", "texts"), [
    ({"check": SHORTER, "hint": ([("question", "what is it?")], 3)}, (80, 140), ("what is it?", "out is not close")),
    ({"check": CHECK}, (60, 80, 100, 140), ("1 / 2 points",)),
    ({"points": (2.0, 2.0)}, (140,), ("2 / 2 points",)), ({"points": (3.0, 2.0)}, (140,), ("3 / 2 with bonus points",)),
], ids=["report under a hint", "points", "all points", "bonus points"])  # fmt: skip
def test_screen_shows_texts_at_every_width(more, widths, texts):
    for columns in widths:
        shown = "".join(map(strip, frame_lines(screen(**more), columns, 40)))
        assert [text for text in texts if text not in shown] == []


def test_documentation_stands_beside_the_report_where_it_is_wide():
    text = "def attention(q):\n    Return the weighted values."
    wide = [strip(line) for line in frame_lines(screen(check=SHORTER, documentation=text), 140, 40)]
    narrow = [strip(line) for line in frame_lines(screen(check=SHORTER, documentation=text), 100, 40)]
    (beside,) = [number for number, line in enumerate(wide) if "def attention(q)" in line]
    assert beside == line_with("out is not close", wide)
    assert line_with("not close", narrow) < line_with("def attention(q)", narrow)


def test_keys_that_do_nothing_are_left_out():
    shown = strip(frame_lines(screen(check=CHECK, keys="nhle"), 100, 30)[-1])
    assert "solution" not in shown and shown.endswith("? help  q quit")
    assert strip(frame_lines(screen(check=CHECK), 40, 30)[-1]).endswith("? help  q quit")


def test_wrapped_lines_keep_their_indentation():
    text = "def f():\n    Args:\n        x: " + "word " * 30
    shown = [strip(line) for line in frame_lines(screen(documentation=text), 60, 30)]
    words = [line for line in shown if "word" in line]
    assert len(words) > 1
    assert all(line.startswith("│         ") for line in words)
    steps = [("question", "what? " * 30), ("idea", "that! " * 30)]
    shown = [PLAIN.sub("", line) for line in frame_lines(screen(hint=(steps, 3)), 60, 30)]
    assert len({line.index("what?") for line in shown if "what?" in line}) == 1
    assert len({line.index("that!") for line in shown if "that!" in line}) == 1


def test_panel_shows_markup_as_text_and_the_cause_first():
    shown = "\n".join(PLAIN.sub("", line) for line in frame_lines(screen(check=CHECK), 100, 60))
    assert "[red]brackets[/red]" in shown and "[bold]printed[/bold]" in shown
    assert shown.index("likely cause") < shown.index("printed")


def test_panel_without_room_leaves_out_the_map():
    with_map = SHORTER | {"error_map": CHECK["error_map"]}
    roomy, tight = ("\n".join(frame_lines(screen(check=with_map), 100, lines)) for lines in (40, 16))
    assert "▒" in roomy
    assert "press p" in tight
    assert "attention.py:3" in PLAIN.sub("", tight)


def test_render_frame_without_colour_has_none():
    colored = "".join(frame_lines(screen(check=CHECK), 80, 24))
    plain = "".join(frame_lines(screen(check=CHECK), 80, 24, no_color=True))
    color = re.compile(r"\x1b\[[0-9;]*\b3[0-8]")
    assert color.search(colored) and not color.search(plain)


def test_list_scrolls_to_the_cursor():
    for name in ("tokenizer.build_vocab", "ffn.gelu", "encoder_decoder.transformer_backward"):
        shown = [PLAIN.sub("", line) for line in frame_lines(screen(cursor=name), 80, 24)]
        assert any(line.startswith("▶") and name.partition(".")[2] in line for line in shown)


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (60, 24), (140, 40)])
def test_finished_assignment_fits_below_its_function(columns, lines):
    compare = ("compare", "headway diff softmax", "x")
    steps = [("experiment", "headway experiment softmax", "predict its result first"), compare]
    finished = FinishedAssignment(3, "softmax", "It can do more.", (3, 17), (15, 96), steps, ["bigram"], "bigram")
    shown = frame_lines(screen(passing=True, finished=finished), columns, lines)
    text = "\n".join(PLAIN.sub("", line) for line in shown)
    assert "softmax is complete: " in text and "headway experiment softmax" in text and "╰" in text
    assert "is complete" not in "".join(frame_lines(screen(passing=True), columns, lines))


def test_documentation_joins_lines_that_were_full():
    full = "    " + "word " * 20 + "end"
    text = f"def f():\n{full}\n    of it.\n    Another line."
    shown = [strip(line) for line in frame_lines(screen(documentation=text), 160, 40)]
    joined = " ".join(line.split("│")[-2] if "│" in line else "" for line in shown)
    assert "end of it." in " ".join(joined.split())
    assert any(line.split("│")[-2].strip() == "Another line." for line in shown if "Another" in line)


@pytest.mark.parametrize(
    "entry", ["    norm={}:    " + "a = x + y " * 8 + "      (source)", "        {}Error: if it is" + " wrong" * 13]
)
def test_documentation_keeps_formulas_in_columns_and_entries_apart(entry):
    text = "def f():\n    Raises:\n" + "".join(f"{entry.format(kind)}\n" for kind in ("Pre", "Post"))
    shown = [strip(line) for line in frame_lines(screen(documentation=text), 240, 40)]
    starts = [line.split("│")[-2].split()[0] for line in shown if "Pre" in line or "Post" in line]
    assert starts == [entry.format(kind).split()[0] for kind in ("Pre", "Post")]


def test_bar_gets_darker_from_not_started_to_wrong_to_begun_to_passed():
    order = ("not_started", "failed", "blocked", "passed")
    assert [BAR_GLYPHS[status] for status in order] == ["░", "▒", "▓", "█"]


def test_screen_without_colour_at_60_columns_keeps_the_meaning(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    with_map = SHORTER | {"error_map": CHECK["error_map"]}
    lines = frame_lines(screen(check=with_map, documentation="def attention(q):\n    Return it."), 60, 60)
    assert not re.search(r"\x1b\[[0-9;]*\b3[0-8]", "".join(lines))
    text = "\n".join(map(strip, lines))
    for part in ("✗ attention.attention", "likely cause", "attention.py:3", "far off", "def attention(q)", "? help"):
        assert part in text


def test_documentation_beside_a_broken_file_is_named_after_its_function():
    broken = CHECK | BROKEN | {"function": "attention.causal_mask"}
    shown = frame_lines(screen(check=broken, documentation="def attention(q, k, v):"), 140, 30)
    assert any("─  attention.attention  ─" in strip(line) for line in shown)
    assert not any("attention.causal_mask" in strip(line) for line in shown)


def test_watch_shows_how_long_the_check_took_not_how_old_the_save_is():
    session = SimpleNamespace(workspace=None, receive=lambda reply: True, badge_lines=[], internal_errors=[])
    loop = WatchLoop(session, None, no_color=True)
    loop._receive(CheckReply(None, SimpleNamespace(seconds=0.7)))
    assert loop._seconds == 0.7


def test_keys_move_in_the_list_and_check_everything():
    names, asked = list(TRANSFORMER.functions), []
    moves = {"focus": names[0], "go_to": asked.append, "check_all": lambda: asked.append("all")}
    loop = WatchLoop(SimpleNamespace(workspace=None, curriculum=TRANSFORMER, **moves), None, no_color=True)
    for key, number in (("l", 0), ("k", -1), ("j", 0), ("down", 1), ("j", 2), ("up", 1)):
        loop._press(key)
        assert loop._cursor == names[number]
    loop._press("enter")
    loop._press("a")
    assert (loop._cursor, asked) == (None, [names[1], "all"])


def test_watch_shows_only_a_check_that_takes_a_while():
    workspace = SimpleNamespace(snapshot=None)
    session = SimpleNamespace(
        workspace=workspace, check_changes=lambda is_save: True, checking=("softmax.softmax",),
        receive=lambda reply: True, badge_lines=[], internal_errors=[],
    )  # fmt: skip
    loop, drawn = WatchLoop(session, None, no_color=True), []
    loop.draw = lambda: drawn.append(loop.is_slow)
    loop.handle(SAVED)
    assert (drawn, loop.patience) == ([], QUIET)
    loop.handle(CheckReply(None, SimpleNamespace(seconds=0.05)))
    assert drawn == [False]
    loop.handle(SAVED)
    loop.run_out_of_patience()
    assert (drawn, loop.patience) == ([False, False], PATIENCE)
    loop.run_out_of_patience()
    assert drawn == [False, False, True]
