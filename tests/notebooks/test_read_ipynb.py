"""Reading functions out of submitted notebooks: copied cells, broken cells, magics and plots."""

import json
import time
import types

import pytest
from support.calibration import cpu_limit
from support.student_notebook import notebook

from autograder.courses.transformer import TRANSFORMER
from autograder.documents.results import CheckResult, SubmissionResult
from autograder.engine.cell_locations import locate_in_cells
from autograder.notebooks import nbgrader_autograded
from autograder.parsing import Unreadable, extract
from autograder.parsing.cell_statements import Cell
from autograder.parsing.read_ipynb import read_modules
from autograder.sandbox.source_reader import DefiningCell

SOFTMAX = "def softmax(x, axis=-1, temperature=1.0):\n    '''Mine.'''\n    return np.exp(x) / np.exp(x).sum()\n"
STUB = "def softmax(x, axis=-1):\n    '''Yours.'''\n    # YOUR CODE HERE\n    raise NotImplementedError()\n"
NUMPY = "import numpy as np\n"
COURSE = TRANSFORMER.function_names


def load(text):
    module = types.ModuleType("of_a_notebook")
    exec(compile(text, "of_a_notebook.py", "exec"), module.__dict__)
    return module


def extracted(*cells, name=""):
    found = read_modules(notebook(*cells), COURSE, name)
    return {file: load(text) for file, text in found.items()}


def test_module_has_functions_with_what_they_need():
    cells = [
        NUMPY + "import matplotlib.pyplot as plt\nfrom autograder.notebooks.api import check",
        "%matplotlib inline\nSHIFT = 1\nTABLE = {}\nTABLE['a'] = helper_value = 3\n!pip install torch\nsoftmax?",
        "def _exp(x):\n    return np.exp(x - SHIFT) * TABLE['a'] / helper_value",
        "def softmax(x, axis=-1):\n    result = _exp(x)\n    return result / result.sum()",
        "result = softmax(np.ones(3))\nprint(result)\nplt.plot(result)\nwhile True: pass",
        "check(softmax)",
        "%%bash\nrm -rf everything",
    ]
    text = read_modules(notebook(*cells), COURSE)["softmax.py"].decode()
    for left in ("plt", "autograder", "print", "while", "check", "pip", "rm -rf", "np.ones"):
        assert left not in text
    assert load(text).softmax(load(text).np.ones(4)) == pytest.approx([0.25] * 4)


@pytest.mark.parametrize("document", [
    {"cells": [{"cell_type": "code", "source": [NUMPY, SOFTMAX], "metadata": None, "outputs": "x"}]},
    {"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "input": NUMPY + SOFTMAX}]}]},
    {"nbformat": "?", "cells": [None, 7, {}, {"cell_type": "code"}, {"cell_type": "code", "source": NUMPY + SOFTMAX}]},
    {"cells": [{"cell_type": "code", "source": [NUMPY, None, SOFTMAX]}], "metadata": {"kernelspec": {"name": 5}}},
])  # fmt: skip
def test_read_modules_accepts_every_format_and_metadata(document):
    assert set(read_modules(json.dumps(document).encode(), COURSE)) == {"softmax.py"}
    assert set(read_modules(b"\xef\xbb\xbf" + json.dumps(document).encode(), COURSE)) == {"softmax.py"}


@pytest.mark.parametrize(("content", "why"), [
    (b"", "not valid JSON"), (b"\xff\xfe\x00", "not valid JSON"), (b"[" * 100_000, "not valid JSON"),
    (b"[]", "not a notebook"), (b'{"cells": 3}', "no cells"), (b'{"worksheets": {"cells": []}}', "no cells"),
    (notebook(*["x = 1"] * 2001), "more than 2000 cells"),
    (notebook("#" * (1 << 20), "#"), "more than 1 MiB of code and text"),
    (notebook("#" * (1 << 18), "#"), "more than 256 KiB of code"),
    (notebook("x;" * 2001, "x\n" * 2001), "more than 4000 statements"),
    (b" " * (48 << 20) + b"{}", "larger than 48 MiB"),
])  # fmt: skip
def test_unreadable_notebook_is_skipped_with_a_reason(content, why):
    with pytest.raises(Unreadable, match=why):
        read_modules(content, COURSE)


def test_notebook_without_a_function_of_the_course_has_no_module():
    assert read_modules(notebook(), COURSE) == read_modules(notebook("print 'python 2'", "x <- c(1, 2)"), COURSE) == {}


def test_syntax_error_affects_only_its_cell():
    cells = ["# mine\ndef log_softmax(x)\n    return x", "def cross_entropy(a, b):\n    return 0.5"]
    module = extracted(NUMPY, SOFTMAX, *cells)["softmax.py"]
    assert module.cross_entropy(1, 2) == 0.5
    assert module.softmax(module.np.zeros(2)) == pytest.approx([0.5, 0.5])
    with pytest.raises(module.CellError, match=r"cell 3, line 2 .*expected ':'"):
        module.log_softmax(1)


@pytest.mark.parametrize("nested", ["(" * 5000, "-" * 200_000 + "1", "x" + ".y" * 100_000, "\0", "\ud800 = 1"])
def test_cell_that_crashes_the_parser_is_a_broken_cell(nested):
    module = extracted(NUMPY, SOFTMAX, nested + "\ndef log_softmax(x): pass")["softmax.py"]
    assert module.softmax(module.np.zeros(2)) == pytest.approx([0.5, 0.5])


@pytest.mark.slow
@pytest.mark.parametrize("function", [" def f():0\n", " f = lambda: 0\n", " f = [0 for _ in x]\n"])
def test_cell_of_thousands_of_functions_is_a_broken_cell(function):
    """Compiling it would take the grader seconds: the compiler's time grows with the square of their number."""
    cell = "def softmax(x):\n" + function * 8_000
    started = time.process_time()
    module = extracted(cell, "def log_softmax(x):\n    return x\n")["softmax.py"]
    assert time.process_time() - started < cpu_limit(5.0)
    with pytest.raises(Exception, match="more than 1000 functions"):
        module.softmax(1.0)
    assert module.log_softmax(1.0) == 1.0


def test_cell_that_raises_affects_only_its_users():
    cells = [
        NUMPY + "import torch_is_not_here as torch\nBIG = np.no_such_function(3)\nGOOD = len('four')",
        "def log_softmax(x):\n    return torch.log(x)", "def cross_entropy(a, b):\n    return 1.0 + BIG",
        "def softmax(x):\n    return GOOD", "def softmax_backward(dout, probs, axis=np.nothing):\n    return dout",
    ]  # fmt: skip
    module = extracted(*cells)["softmax.py"]
    assert module.softmax(0) == 4
    for place, call in {
        "cell 1, line 2 .*'torch_is": lambda: module.log_softmax(1),
        "cell 1, line 3 .*Attribute": lambda: module.cross_entropy(1, 2),
        "cell 5, line 1 .*Attribute": lambda: module.softmax_backward(1, 2),
    }.items():
        with pytest.raises(module.CellError, match=place):
            call()


@pytest.mark.parametrize(("cells", "value"), [
    (["def softmax(x): return 1", "def softmax(x): return 2"], 2), (["def softmax(x): return 1", STUB], 1),
    ([STUB, "def softmax(x): return 1", "softmax = softmax(3)"], 1), ([STUB, "softmax = lambda x: 4"], 4),
    (["def softmax(x): return 1", "def softmax(x) return 2"], 1),
    (["from softmax import softmax", "def softmax(x): return 1", "from softmax import softmax"], 1),
    (["    def softmax(x):\n        return 5"], 5), (["%%time\ndef softmax(x):\n    return 6"], 6),
    (["%%writefile softmax.py\ndef softmax(x):\n    return 7"], 7),
    (["files = !ls\nVALUE = 8\n%time VALUE\ndef softmax(x):\n    return VALUE"], 8),
    (["if True:\n    def softmax(x):\n        return 9"], 9),
    (["base = 2\ndef softmax(x):\n    return base", "base = 3"], 3),
    (["import functools\n@functools.lru_cache\ndef softmax(x):\n    return 10"], 10),
    (["%%html\n<b>def softmax</b>", "def softmax(x):\n    return '''\n%time\n'''"], "\n%time\n"),
])  # fmt: skip
def test_last_real_definition_counts(cells, value):
    assert extracted(*cells)["softmax.py"].softmax(0) == value


def test_stub_counts_only_without_other_definitions():
    with pytest.raises(NotImplementedError):
        extracted(STUB, STUB)["softmax.py"].softmax(0)
    # Of cells as they were run, the last definition counts.
    for as_run, last, text in ((False, STUB, "Mine."), (True, STUB, "Yours."), (True, "softmax = abs", "= abs")):
        cells = [Cell("cell 1", SOFTMAX), Cell("cell 2", last)]
        assert text in extract.extract_modules(cells, COURSE, as_run=as_run)["softmax"]
    module = extracted(STUB, "def softmax(x) return 1")["softmax.py"]
    with pytest.raises(module.CellError):
        module.softmax(0)


def test_modules_of_one_notebook_import_each_other():
    cells = [
        NUMPY + "SCALE = 2.0", SOFTMAX, "def attention(q, k, v, mask=None):\n    return softmax(q) * SCALE",
        "class GPTConfig:\n    '''Never read by name.'''",
        "def gpt(ids, params, config):\n    return attention(ids, ids, ids)",
    ]  # fmt: skip
    found = {name: text.decode() for name, text in read_modules(notebook(*cells), COURSE).items()}
    assert set(found) == {"softmax.py", "attention.py", "gpt.py"}
    assert "from softmax import softmax" in found["attention.py"] and "def softmax" not in found["attention.py"]
    assert "SCALE = 2.0" in found["attention.py"] and "SCALE" not in found["softmax.py"]
    assert "class GPTConfig" in found["gpt.py"]


def test_file_name_selects_the_module():
    cells = [NUMPY, SOFTMAX, "def attention(q, k, v, mask=None):\n    return softmax(q)"]
    named = read_modules(notebook(*cells), COURSE, "ada_04-Attention (1).ipynb")
    assert set(named) == {"attention.py"}
    assert b"def softmax" in named["attention.py"], "a copied helper goes with the function that needs it"
    assert set(read_modules(notebook(*cells), COURSE, "gpt.ipynb")) == {"softmax.py", "attention.py"}
    rest = "".join(f"def {f.name}(x): pass\n" for f in TRANSFORMER.modules["softmax"].functions[1:])
    everything = read_modules(notebook(*cells, rest), COURSE, "attention.ipynb")
    assert set(everything) == {"softmax.py", "attention.py"}, "whole assignments are never lost"
    course = {"one": ("a",), "two": ("f", "g", "h", "i")}
    for names, modules in (("afg", {"one.py"}), ("afgh", {"one.py", "two.py"})):
        cells = [f"def {name}(x): return 1" for name in names]
        assert set(read_modules(notebook(*cells), course, "one.ipynb")) == modules, "more than half are enough"


def test_function_of_two_modules_goes_to_the_closer_one():
    tokenizer = ("def build_vocab(text): pass", "def encode(text, stoi): return 'tokens'")
    found = extracted(*tokenizer, "def encoder_block(x): pass", "def encode(source): return 'memory'")
    assert found["tokenizer.py"].encode(1, 2) == "tokens"
    assert found["encoder_decoder.py"].encode(1) == "memory"
    assert set(extracted("def encode(x): pass", name="encoder_decoder.ipynb")) == {"encoder_decoder.py"}
    assert set(extracted("def encode(x): pass")) == {"tokenizer.py"}


def test_find_cell_line_finds_the_cell():
    softmax = "\n# first\nLIMIT = int('3')\n\n\ndef softmax(x):\n    # why\n    return x"
    cells = [Cell("cell 2", NUMPY), Cell("cell 7", softmax)]
    text = extract.extract_modules(cells, COURSE)["softmax"]
    lines = text.split("\n")
    for wanted, cell, line in (("    return x", "cell 7", 8), ("def softmax(x):", "cell 7", 6)):
        assert extract.find_cell_line(text, lines.index(wanted) + 1) == (cell, line)
    more = Cell("cell 8", "def log_softmax(x): return LIMIT")
    with_limit = extract.extract_modules([*cells, more], COURSE)["softmax"]
    number = with_limit.split("\n").index("    LIMIT = int('3')") + 1
    assert extract.find_cell_line(with_limit, number) == ("cell 7", 3)
    assert extract.find_cell_line(text, 1) is None


def test_locate_in_cells_leaves_other_files_unchanged():
    text = extract.extract_modules([Cell("cell 7", "\ndef softmax(x):\n    return x")], COURSE)["softmax"]
    line = text.split("\n").index("    return x") + 1
    check = CheckResult("softmax.softmax::rows", "softmax.softmax", "rows", "error", 1.0)
    check.location = {"file": "softmax.py", "line": line, "text": "return x"}
    check.message = f"softmax raised ValueError in softmax.py, line {line}: no. See helper.py, line 3"
    check.warnings = [f"softmax.py:{line}: RuntimeWarning: overflow"]
    locate_in_cells(SubmissionResult("ada", "", 0, [check]), {"softmax": text})
    assert check.location == {"file": "cell 7", "line": 3, "text": "return x"}
    assert "in cell 7, line 3: " in check.message and check.message.endswith("See helper.py, line 3")
    assert check.warnings[0].startswith("cell 7, line 3: ")


def test_report_stands_below_the_last_definition():
    cells = [DefiningCell("code", "", ("f", "g")), DefiningCell("markdown", "", ()), DefiningCell("code", "", ("f",))]
    assert nbgrader_autograded._functions_by_cell(cells) == {0: ["g"], 2: ["f"]}
