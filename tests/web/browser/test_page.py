"""What a page asks of Python in the browser, answered by the interpreter of the tests."""

import base64
import json
import math
import os
import shutil
import sys
import zipfile
from io import BytesIO

import pytest
from support.commands import SOFTMAX, headway, succeed
from support.editing import edit
from support.raising import raising

from autograder.course import registry
from autograder.engine.reference.memo import INDEX, shipped_file
from autograder.sandbox import call_timer, process
from autograder.web.browser import checker as checker_module
from autograder.web.browser.checker import DownloadedAnswers, MissingAnswers
from autograder.web.browser.page import BrowserPage
from autograder.workspace.files import text_digest

SOFT = "softmax.softmax"
RIGHT = SOFTMAX.partition("softmax(x, axis=-1, temperature=1.0):\n")[2]


class Page:
    """A page: it sends requests and keeps the files of the workspace."""

    def __init__(self, folder):
        self.folder, self.events, self.files = folder, [], {}
        self.python = BrowserPage(str(folder), lambda text: self.events.append(json.loads(text)))
        self.ask("start")

    def answer(self, action, **payload):
        answer = json.loads(self.python.answer(action, json.dumps(payload)))
        for path in answer["changed"]:
            self.files[path] = (self.folder / path).read_bytes()
        for path in answer["removed"]:
            del self.files[path]
        return answer

    def ask(self, action, **payload):
        return self.answer(action, **payload)["reply"]

    def write(self, body, function=SOFT):
        cell = self.ask("open", module=function.partition(".")[0])["cells"][function]
        head = cell["text"].partition(f'    raise NotImplementedError("{function}")')[0]
        return self.ask("save", function=function, text=head + body, digest=cell["digest"])


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.setattr(call_timer, "CLOCK_FACTOR", math.inf)  # However long the tests wait for the processor.
    return Page(tmp_path / "my-gpt")


def test_the_first_start_writes_the_stubs_and_no_notes(page):
    modules = registry.default().modules
    assert {f"{module}.py" for module in modules} <= set(page.files)
    assert ".headway.json" in page.files
    reply = page.ask("open", module="softmax")
    assert (reply["notes"], reply["workspace"], reply["points"]["earned"]) == ([], "my-gpt", 0)


@pytest.mark.slow
def test_the_archive_goes_to_a_terminal_and_back(page, tmp_path):
    page.write(RIGHT)
    page.ask("check", function=SOFT)
    exported = page.ask("export")
    archive = base64.b64decode(exported["base64"])
    manifest = json.loads(zipfile.ZipFile(BytesIO(archive)).read("manifest.json"))
    assert exported["name"] == "my-gpt.zip" and manifest["functions"] == {SOFT: "passed"}
    other = Page(tmp_path / "other" / "my-gpt")
    other.write("    return x\n")
    assert other.ask("import", base64=exported["base64"])["notes"]
    assert other.files["softmax.py"] == page.files["softmax.py"]
    assert any(path.startswith("backups/") for path in other.files)
    (tmp_path / "work.zip").write_bytes(archive)
    succeed("init", tmp_path / "new", "--from", tmp_path / "work.zip", run=headway)
    assert (tmp_path / "new" / "softmax.py").read_bytes() == page.files["softmax.py"]


@pytest.mark.slow
def test_missing_answers_are_asked_for_and_nothing_is_recorded(page, monkeypatch, tmp_path):
    page.write(RIGHT)
    answers = tmp_path / "answers"
    (answers / "softmax").mkdir(parents=True)
    course = registry.folder(registry.BUILT_IN)
    shutil.copy(course / INDEX, answers)
    page.python._checker._reference._memo = DownloadedAnswers(answers)
    assert page.answer("check", function=SOFT)["need"] == ["softmax"]
    assert page.ask("open", module="softmax")["statuses"][SOFT] is None
    shutil.copy(shipped_file(course, "softmax"), answers / "softmax")
    assert page.ask("check", function=SOFT)["report"]["passed"]
    with pytest.raises(MissingAnswers, match="attention"):
        DownloadedAnswers(answers).get_or_compute("attention", b"", lambda: None)


def test_a_file_changed_by_another_tab_is_an_event_and_not_sent_back(page):
    page.ask("open", module="softmax")
    edit(page.folder / "softmax.py", f'    raise NotImplementedError("{SOFT}")', RIGHT)
    answer = page.answer("refresh")
    assert answer["changed"] == []
    changed = next(event for event in answer["events"] if event["event"] == "changed")
    assert changed["module"] == "softmax" and "temperature must be" in changed["cells"][SOFT]["text"]


@pytest.mark.slow
def test_calls_of_student_code_and_steps_of_the_search_are_progress(page, monkeypatch):
    monkeypatch.setattr(checker_module, "NOTIFY_SECONDS", 0.0)
    page.write("    return x / 2\n")
    page.ask("check", function=SOFT)
    assert {*[event["step"] for event in page.events if event["event"] == "progress"]} == {"call", "search"}
    assert "result = softmax.softmax(x)" in page.ask("debug", function=SOFT)["text"]


@pytest.mark.slow
def test_a_call_without_end_is_stopped_and_its_line_named(page, monkeypatch):
    monkeypatch.setattr(call_timer, "CLOCK_FACTOR", 0.2)
    page.write("    while True:\n        pass\n")
    [card] = page.ask("check", function=SOFT)["report"]["cards"]
    assert card["status"] == "timeout" and card["location"]["text"] in ("while True:", "pass")


def test_a_plot_is_drawn_by_the_students_function_in_this_interpreter(page, monkeypatch):
    monkeypatch.setattr(process, "ForkedWorkers", None)
    page.write(RIGHT)
    plots = page.ask("plots", module="softmax")["plots"]
    name = next(plot["name"] for plot in plots if plot["functions"] == [SOFT])
    assert page.ask("draw", name=name)["plot"]["panels"]


@pytest.mark.slow
def test_warming_up_changes_nothing(page):
    before = dict(page.files)
    page.ask("warm_up", module="softmax")
    assert page.files == before and page.ask("open", module="softmax")["statuses"][SOFT] == "not_started"


def test_stubs_of_an_older_version_are_replaced_with_a_note(page, tmp_path):
    old = (page.folder / "ffn.py").read_text() + "\n# an older version\n"
    state = json.loads((page.folder / ".headway.json").read_text())
    state["stubs"]["ffn.py"] = text_digest(old)
    (page.folder / "ffn.py").write_text(old)
    (page.folder / ".headway.json").write_text(json.dumps(state))
    again = Page(page.folder)
    assert any("ffn.py" in note for note in again.ask("open", module="ffn")["notes"])
    assert "older version" not in (page.folder / "ffn.py").read_text()


def test_errors_are_one_line(page, monkeypatch):
    assert "Reload" in page.answer("open", module="nothing")["error"]
    monkeypatch.setattr(page.python._backend, "_check_functions", raising(MemoryError()))
    page.write(RIGHT)
    assert "memory" in page.answer("check", function=SOFT)["error"]
    monkeypatch.setattr(page.python._backend, "_check_functions", lambda *arguments: 1 / 0)
    assert "ZeroDivisionError" in page.answer("check", function=SOFT)["error"]


# --- Experiments


@pytest.mark.slow
def test_an_experiment_prints_what_the_lesson_shows_and_leaves_the_interpreter_as_it_was(page, tmp_path):
    shutil.copy(registry.solutions(registry.default().package) / "softmax.py", tmp_path / "my-gpt" / "softmax.py")
    before = os.getcwd(), list(sys.path), list(sys.argv), sys.stdout, sys.modules["__main__"], set(sys.modules)
    reply = page.ask("run", module="softmax", name="")
    assert (reply["output"].splitlines()[-1], reply["error"]) == ("lead 20.0   cross-entropy 0.99   squares 0.00", "")
    assert "run" in page.ask("open", module="softmax")["features"]
    now = os.getcwd(), list(sys.path), list(sys.argv), sys.stdout, sys.modules["__main__"]
    assert now == before[:-1]
    assert not {"softmax", "numpy_warmup"} & (set(sys.modules) - before[-1])
    assert page.ask("check", function=SOFT)["report"]["passed"]


def test_an_experiment_gets_its_name_and_imports_files_anew(page, tmp_path):
    folder = tmp_path / "my-gpt"
    (folder / "training.py").write_text("import sys, softmax\nprint(sys.argv, softmax.here, __name__)\n")
    for value in (1, 22):
        (folder / "softmax.py").write_text(f"here = {value}\n")
        output = page.ask("run", module="training", name="ablation")["output"]
        assert output == f"['training.py', 'ablation'] {value} __main__\n"
    assert "Reload" in page.answer("run", module="training", name="../x")["error"]


@pytest.mark.parametrize(("code", "error"), [
    ("import matplotlib", "This experiment needs the package matplotlib, which"),
    ("from autograder.models.training import datasets", "This experiment needs Headway's data sets, which"),
    ("open('vocab.json')", "This experiment needs the file vocab.json, which"),
    ("raise SystemExit(2)", "The experiment ended with exit code 2."),
    ("import os; os._exit(2)", "The experiment ended with exit code 2."),
    ("1 / 0", 'Traceback (most recent call last):\n  File "softmax.py", line 2, in <module>\n    1 / 0\n'),
    ("x = (", "Traceback (most recent call last):\n  File \"softmax.py\", line 2\n    x = (\n"),
])  # fmt: skip
def test_what_an_experiment_lacks_or_does_wrong_is_short(page, tmp_path, code, error):
    (tmp_path / "my-gpt" / "softmax.py").write_text(f"print('begun')\n{code}\n")
    reply = page.ask("run", module="softmax", name="")
    assert reply["error"].startswith(error) and reply["error"].count("\n") <= 5
    assert reply["output"] in ("begun\n", "") and bool(reply["output"]) == (code != "x = (")


# --- Training


@pytest.mark.slow
def test_functions_that_pass_train_and_the_line_of_an_error_is_named(page):
    def train(**more):
        page.ask("train", preset="small", steps=20, **more)
        answers = []
        while not answers or answers[-1]["reply"]["busy"]:
            answers.append(page.answer("advance"))
        return [event for answer in answers for event in answer["events"]]

    assert "none of the assignments" in train()[-1]["error"]
    solution = (registry.solutions(registry.default().package) / "tokenizer.py").read_text()
    text = solution.replace(
        "    return ids[positions], ", "    return ids[positions if len(ids) < 200_000 else [][0]], "
    )
    (page.folder / "tokenizer.py").write_text(text)
    for function in registry.default().modules["tokenizer"].functions:
        assert page.ask("check", function=function.qualified)["report"]["passed"]
    started, *_, ended = train()
    assert started["start"]["using"].startswith("Using your code for tokenizer; the official")
    assert started["start"]["n_parameters"] == 13_712
    line = 1 + text.partition("[][0]")[0].count("\n")
    assert f"IndexError in tokenizer.py, line {line}:" in ended["error"]
    page.ask("train", solution=True)
    assert page.ask("stop", save=False)["stopping"] and not page.ask("advance")["busy"]
    assert "model.safetensors" not in page.files
    assert train(solution=True, out="mine")[-1]["step"] == 20 and "mine.safetensors" in page.files
