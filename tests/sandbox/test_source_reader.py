"""What costs a parser minutes, gigabytes or its stack costs only the submission, and the grader nothing."""

import os
import resource
import signal
import time
from contextlib import closing, suppress

import numpy as np
import pytest
from support.calibration import cpu_limit
from support.editing import write_files
from support.softmax_class import grade_in_session
from support.student_notebook import notebook

from autograder.classroom.class_report import similarity
from autograder.core.archives import SkippedFile
from autograder.courses.transformer import TRANSFORMER
from autograder.parsing import extract
from autograder.parsing.cell_statements import Cell, read_statements
from autograder.parsing.read_ipynb import MAX_STATEMENTS
from autograder.sandbox.limits import Limits
from autograder.sandbox.source_reader import SourceReader

pytestmark = pytest.mark.slow

COURSE = TRANSFORMER.function_names
RIGHT = "import numpy as np\n\ndef softmax(x, axis=-1):\n    return np.exp(x) / np.exp(x).sum(axis, keepdims=True)\n"
DEEP = {
    "attributes": "a" + ".b" * 600,
    "calls": "a" + "()" * 600,
    "subscripts": "a" + "[0]" * 600,
    "unary": "-" * 600 + "a",
    "not": "not " * 600 + "a",
    "sum": "a" + " + a" * 600,
    "power": "a" + " ** a" * 600,
    "lambda": "lambda: " * 90 + "a",
    "conditional": "a if b else " * 600 + "a",
}
SHAPES = {
    **{f"raise {name}": f"def softmax(x): raise {deep}" for name, deep in DEEP.items()},
    **{f"return {name}": f"def softmax(x): return {deep}; x" for name, deep in DEEP.items()},
    **{f"decorator {name}": f"@({deep})\ndef softmax(x): return x" for name, deep in DEEP.items()},
    **{f"default {name}": f"def softmax(x, y={deep}): return x" for name, deep in DEEP.items()},
    **{f"value {name}": f"T = {deep}\ndef softmax(x): return T" for name, deep in DEEP.items()},
}


def nested_finally(depth):
    """Return code of a few hundred bytes whose compilation takes memory and time that double with the depth."""
    lines = [f"{' ' * level}{line}" for level in range(1, depth + 1) for line in ("try: x", "finally:")]
    return "\n".join(["def softmax(x):", *lines, " " * (depth + 1) + "x"])


@pytest.fixture
def cheap_for_this_process():
    """Check that a test costs this process neither time nor memory."""
    memory, cpu = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    yield
    assert time.process_time() - cpu < cpu_limit(1.0)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 100 << 10


def earned(entry):
    return sum(earned for earned, _ in entry.functions.values())


def test_deep_code_affects_only_its_submission(tmp_path):
    codes = {"first": RIGHT, **SHAPES, "last": RIGHT}
    imports = RIGHT.partition("\n")[0]
    submissions = {name: ("softmax.ipynb", notebook(imports, code)) for name, code in codes.items()}
    graded = grade_in_session(submissions, tmp_path, ("softmax.softmax",))
    entries, documents = ({name: pair[i] for name, pair in graded.items()} for i in (0, 1))
    assert earned(entries["first"]) == earned(entries["last"]) > 0
    for name in SHAPES:
        assert entries[name].status == "graded", entries[name].reason
        assert earned(entries[name]) == 0, name
        assert "internal error" not in documents[name].result.decode()
    assert b"cell 2, line 1 cannot be read: it is nested too deeply" in documents["decorator attributes"].result


def test_find_similar_with_deep_code(tmp_path):
    pytest.importorskip("copydetect")
    write_files(tmp_path, {f"{name}/softmax.ipynb": notebook(code) for name, code in SHAPES.items()})
    assert similarity.find_similar(tmp_path).pairs == []


@pytest.mark.parametrize("shape", ["decorator calls", "default sum", "return attributes"])
def test_notebook_cells_with_deep_code(reader, shape):
    cells = reader.notebook_cells(notebook(RIGHT, SHAPES[shape]), ["softmax"])
    assert [cell.source for cell in cells] == [RIGHT, SHAPES[shape]]
    assert [cell.defines for cell in cells] == [("softmax",), ("softmax",)]


@pytest.mark.usefixtures("cheap_for_this_process")
def test_compiler_memory_is_limited(reader):
    found = reader.notebook_modules(notebook(nested_finally(19), "def log_softmax(x): return x"), COURSE)
    assert b"cell 1, line 1 is not valid Python: the code cannot be read" in found["softmax.py"]
    assert b"def log_softmax(x): return x" in found["softmax.py"]


@pytest.mark.usefixtures("cheap_for_this_process")
def test_compiler_time_is_limited_for_each_submission(workers):
    limits = Limits(30.0, cpu_seconds=1.0, memory_bytes=1 << 30)
    with closing(SourceReader(workers, limits)) as reader:
        for _ in range(2):
            with pytest.raises(SkippedFile, match="cannot be read: reading a submission may take 1 s"):
                reader.notebook_modules(notebook(*[nested_finally(17)] * 20), COURSE)
            processes = reader._process.processes_started
            with pytest.raises(SkippedFile, match="reading a submission may take 1 s"):
                reader.notebook_modules(notebook(RIGHT), COURSE)
            message = "there is no time left for another notebook of this submission"
            assert reader._process.processes_started == processes, message
            reader.next_submission()
            # Also where the process has answered before.
            assert set(reader.notebook_modules(notebook(RIGHT), COURSE)) == {"softmax.py"}


def test_slow_but_readable_notebooks_share_one_budget(workers):
    slow, read = notebook(nested_finally(15), RIGHT), 0
    with closing(SourceReader(workers, Limits(30.0, cpu_seconds=1.0, memory_bytes=1 << 30))) as reader:
        for _ in range(30):
            with suppress(SkippedFile):
                read += len(reader.notebook_modules(slow, COURSE))
    assert 1 <= read <= 10


@pytest.mark.usefixtures("cheap_for_this_process")
def test_large_syntax_trees_are_built_elsewhere(reader):
    assert reader.used_functions(b"x;" * (1 << 17), COURSE["softmax"]) == {}
    reader.next_submission()  # with CPU time of its own
    with pytest.raises(SkippedFile, match="more than 4000 statements"):
        reader.notebook_modules(notebook("x;" * (1 << 16)), COURSE)


def test_process_that_died_is_replaced_and_asked_once_more(reader):
    os.kill(reader._process._running()._pid, signal.SIGKILL)
    with pytest.raises(SkippedFile, match=r"it cannot be read: its process was ended by signal 9 \(SIGKILL\)"):
        reader.notebook_modules(notebook(RIGHT), COURSE)
    assert set(reader.notebook_modules(notebook(RIGHT), COURSE)) == {"softmax.py"}
    reader.next_submission()
    os.kill(reader._process._running()._pid, signal.SIGKILL)  # perhaps because of what an earlier submission left in it
    assert set(reader.notebook_modules(notebook(RIGHT), COURSE)) == {"softmax.py"}


@pytest.mark.parametrize("value", [
    None, 7, {"../x.py": b""}, {"softmax.py": "text"}, {"softmax.py": np.zeros(3)}, {"softmax": b"", "gpt": b""},
    {"softmax": [7]}, [7], [{"kind": "raw"}], [{"kind": "code", "source": "text"}],
])  # fmt: skip
def test_answer_of_another_form_is_refused(reader, monkeypatch, value):
    monkeypatch.setattr(reader._process, "request", lambda *_: {"status": "returned", "value": value})
    for ask in (
        lambda: reader.notebook_modules(b"", COURSE),
        lambda: reader.notebook_cells(b"", ["softmax"]),
        lambda: reader.filtered_code({"softmax": b""}),
    ):
        with pytest.raises(SkippedFile, match="not an answer"):
            ask()
    monkeypatch.setattr(reader._process, "request", lambda *_: {"status": "returned", "value": {"softmax": ["x", 7]}})
    assert reader.used_functions(b"", ["softmax"]) == {"softmax": set()}


def require_linear_time(statements, factor):
    """Check that extracting from a notebook of these statements takes at most `factor` times as long as reading it."""
    # A cell may define at most 1000 functions.
    cells = [Cell(f"cell {i}", "\n".join(statements[i : i + 500])) for i in range(0, len(statements), 500)]
    started = time.process_time()
    assert not any(statement.error for statement in read_statements(cells))
    read = time.process_time()
    assert extract.extract_modules(cells, COURSE)
    assert time.process_time() - read < factor * (read - started)


def test_finding_what_functions_need_takes_linear_time():
    count = MAX_STATEMENTS - 100  # each is needed by the next one only, so that one search finds one of them
    chain = [f"def f{i}(): return f{i - 1}()" for i in range(count)]
    require_linear_time([*chain, *(f"def {names[-1]}(): return f{count - 1}()" for names in COURSE.values())], 15)


def test_many_definitions_in_two_modules_take_linear_time():
    tokenizer = " = ".join(name for name in COURSE["tokenizer"] if name not in COURSE["encoder_decoder"])
    half = MAX_STATEMENTS // 2  # a quadratic search takes 15 to 20 times as long, this one about 3 times
    require_linear_time([*[f"{tokenizer} = len"] * half, *["encode = decode = len"] * half], 8)


def test_lines_of_long_modules_are_found_in_linear_time():
    text = extract.extract_modules([Cell("cell 7", "def softmax(x):\n" + "\n" * 200_000 + "    return x")], COURSE)
    line = text["softmax"].count("\n") - 1
    started = time.process_time()
    for _ in range(500):
        assert extract.find_cell_line(text["softmax"], line) == ("cell 7", 200_002)
    assert time.process_time() - started < cpu_limit(2.0)
