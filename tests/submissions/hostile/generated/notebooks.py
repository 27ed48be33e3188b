"""Notebooks and archives, read by the intake. The cell with the official solution must count whatever stands before it."""

import io
import json
import zipfile
from pathlib import Path

SOLUTION = (Path(__file__).parents[4] / "solutions" / "softmax.py").read_text("utf-8")


def notebook(*sources, **more):
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": text} for text in sources]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}


def dumped(*sources, **more):
    return json.dumps(notebook(*sources, SOLUTION, **more)).encode("utf-8", "surrogatepass")


def archive(*entries):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in entries:
            target.writestr(zipfile.ZipInfo(name) if isinstance(name, str) else name, content)
    return buffer.getvalue()


def linked(name):
    entry = zipfile.ZipInfo(name)
    entry.external_attr = 0o120777 << 16
    return entry


def finally_blocks(depth):
    heads = [" " * level + "try: x" + "\n" + " " * level + "finally:" for level in range(depth)]
    return "def helper(x):\n" + "\n".join(" " + line for line in "\n".join([*heads, " " * depth + "x"]).split("\n"))


N = 4000
DEEP = {
    "deep_attributes": "raise a" + ".b" * N,
    "deep_calls": "raise a" + "()" * N,
    "deep_subscripts": "raise a" + "[0]" * N,
    "deep_unary": "raise " + "-" * N + "a",
    "deep_sums": "raise " + "a+" * N + "a",
    "deep_powers": "raise " + "a**" * 90 + "a",
    "deep_conditions": "return " + "a if a else " * 900 + "a",
    "deep_comparisons": "return " + "a<" * N + "a",
    "deep_brackets": "return " + "[" * 190 + "]" * 190,
    "deep_lambdas": "return " + "lambda: " * 190 + "a",
    "deep_texts": "return " + "'a' " * 100_000,
}
ATTACKS = [
    {
        "name": f"notebook_{name}",
        "tries": f"Ends the parser of notebooks by {name.replace('_', ' ')} in a decorated function.",
        "files": {"softmax.ipynb": dumped(f"@print\ndef helper(a=1 + 1):\n    {line}")},
        "right": "full",
    }
    for name, line in DEEP.items()
]
MORE = {
    "decorators": ("Decorates a function a thousand times.", dumped("@a\n" * 1000 + "def helper(): pass")),
    "defaults": ("Has a default of thousands of attributes.", dumped("def helper(x=a" + ".b" * N + "): pass")),
    "nested_finally": ("Makes the compiler double its work with every block.", dumped(finally_blocks(18))),
    "million_statements": ("Has 300,000 statements in a line.", dumped("x;" * 300_000)),
    "quadratic_statements": ("Has 3,900 statements, each of which needs the next.", dumped("\n".join(f"def f{i}(): return f{i + 1}()" for i in range(3900)))),
    "nested_functions": ("Has 14,000 functions in functions.", dumped("\n".join(f"def f{i}():\n def g(): pass" for i in range(7000)))),
    "same_name": ("Defines one name 20,000 times.", dumped("x = 1\n" * 20_000)),
    "thousands_of_cells": ("Has 20,000 empty cells.", dumped(*[""] * 20_000)),
    "source_of_lines": ("Gives the source as a list of 100,000 lines.", dumped(["#\n"] * 100_000)),
    "source_of_another_type": ("Gives numbers, lists and objects as source.", dumped(1, None, {"a": 1}, [[1]], [None], True)),
    "metadata": ("Has four megabytes of metadata.", dumped("x = 1", metadata={str(i): "x" * 40 for i in range(60_000)})),
    "deep_metadata": ("Has metadata in 900 levels.", dumped("x = 1", metadata="@levels@").replace(b'"@levels@"', b"[" * 900 + b"]" * 900)),
    "duplicate_cells": ("Has two lists of cells, of which the last counts.", b'{"cells": 1,' + dumped("x = 1")[1:]),
    "own_helpers": ("Defines the names with which the reader marks cells that failed.", dumped("def _cell_failed(*args): raise SystemExit\nclass CellError(SystemExit): pass\n_CellFailed = None\n")),
    "false_places": ("Writes the comments with which the reader remembers places.", dumped("# \x1b[31mcell 99, line 7\n# Cell 1, line 9999999\nx = 1")),
    "magics": ("Uses the magics that run commands and write files.", dumped("!touch @marks@/magic\n%%writefile softmax.py\nx", "%%bash\ntouch @marks@/bash", "%run @secret@\n%load @secret@", "get_ipython().system('touch @marks@/system')")),
    "nulls": ("Has null bytes, surrogates and form feeds in its source.", dumped("x = '\x00'", "x = '\ud800'", "\x0cx = 1", "\ufeffx = 1")),
    "coding": ("Declares other encodings in its cells.", dumped("# -*- coding: rot13 -*-\nk = 1", "# coding: utf-7\n+AHg-", "# coding: no such codec")),
    "odd_names": ("Defines names that look alike, and names that everything has.", dumped("def \U0001d425(x): pass\n__class__ = 1\n__builtins__ = {}\n__name__ = '__main__'\n__file__ = 7")),
    "imports_itself": ("Imports the module that it is read as.", dumped("import softmax\nfrom softmax import *\nimport attention, gpt")),
    "globals_cleared": ("Clears all names before the solution.", dumped("globals().clear()", "vars().update(__import__('os').__dict__)")),
    "broken_cell": ("Has a cell that is not Python, with a very long line.", dumped("def (" + "x" * 200_000)),
    "generator_bomb": ("Has comprehensions in comprehensions.", dumped("def helper(x): return " + "[" * 15 + "x" + " for x in x]" * 15)),
    "format_strings": ("Nests format strings.", dumped("def helper(x): return " + "f'{x!r:{x}}' " * 5000)),
    "grades_in_metadata": ("Says in its metadata that it is graded, locked and worth a million points, in another language.", json.dumps({"nbformat": 4, "nbformat_minor": 10**9, "metadata": {"language_info": {"name": "R", "file_extension": ".r"}, "kernelspec": {"argv": ["touch", "@marks@/kernel"]}}, "cells": [{"cell_type": "code", "source": SOLUTION, "id": {"a": 1}, "execution_count": -1, "metadata": {"nbgrader": {"grade": True, "locked": True, "points": 1e308, "grade_id": "softmax", "schema_version": 1e9}, "tags": ["skip", "raises-exception"], "editable": False}}]}).encode()),
    "matches": ("Matches a pattern of thousands of alternatives.", dumped("def helper(x):\n match x:\n  case " + " | ".join(map(str, range(3000))) + ": pass")),
    "type_comments": ("Has comments and annotations that only readers see.", dumped("x: 'raise' = 1  # type: ignore\ndef helper(x: " + "a[" * 90 + "]" * 90 + "): pass", "x: 'a[' = 1  # type: (")),
    "five_megabytes_of_output": ("Has five megabytes of output in the file.", json.dumps({**notebook("x = 1", SOLUTION), "cells": [{"cell_type": "code", "source": "x = 1", "outputs": [{"text": "x" * 5_000_000}]}, *notebook(SOLUTION)["cells"]]}).encode()),
}  # fmt: skip
ATTACKS += [
    {"name": f"notebook_{name}", "tries": tries, "files": {"softmax.ipynb": content}, "right": "full"}
    for name, (tries, content) in MORE.items()
]
UNREADABLE = {
    "brackets": ("Is a million brackets instead of JSON.", b"[" * 1_000_000),
    "digits": ("Has a number of a million digits.", b'{"cells": ' + b"9" * 1_000_000 + b"}"),
    "infinity": ("Has numbers that are too large for a float.", b'{"cells": [1e999999, NaN, -Infinity], "nbformat": 1e999}'),
    "keys": ("Has 200,000 keys.", json.dumps({str(i): i for i in range(200_000)}).encode()),
    "half": ("Ends in the middle.", dumped("x = 1")[:200]),
    "bytes": ("Is not text.", bytes(range(256)) * 1000),
}
ATTACKS += [
    {"name": f"unreadable_{name}", "tries": f"The notebook: {tries[0].lower()}{tries[1:]}", "files": {"softmax.ipynb": content}}
    for name, (tries, content) in UNREADABLE.items()
]
RIGHT = ("softmax.py", SOLUTION)
ARCHIVES = {
    "paths": ("Names entries outside its folder, absolute, and on other drives.", archive(("../../@marks@/x.py", "x"), ("/etc/x.py", "x"), ("C:\\x.py", "x"), ("..", ""), RIGHT)),
    "links": ("Contains links to files and folders outside.", archive((linked("attention.py"), "/etc/passwd"), (linked("a"), "/"), ("a/gpt.py", "x"), RIGHT)),
    "bomb": ("Contains 70 MiB of zeros after the solution.", archive(RIGHT, ("z.py", bytes(70 << 20)))),
    "many": ("Contains 5,000 empty modules.", archive(RIGHT, *((f"m{i}.py", "") for i in range(5000)))),
    "inner": ("Contains archives in archives.", archive(RIGHT, ("inner.zip", archive(("inner.zip", archive(RIGHT)))))),
    "names": ("Uses markup, line breaks, control characters and text that runs backwards as names.", archive(RIGHT, *((f"{name}.py", "x") for name in ("<script>", "a\nb", "\x1b[31m", "\u202egpj", "=1+1", "a" * 200, "con", " ", "__init__")))),
    "twice": ("Contains a file of the right name twice, and in other cases.", archive(RIGHT, ("Softmax.py", "raise SystemExit"), ("a/softmax.py", "raise SystemExit"))),
    "modules": ("Brings modules with the names of everything that is imported later.", archive(RIGHT, *((f"{name}.py", "raise SystemExit") for name in ("numpy", "json", "conftest", "sitecustomize", "pytest", "_headway_frames", "autograder")))),
}  # fmt: skip
ATTACKS += [
    {"name": f"archive_{name}", "tries": f"The archive: {tries[0].lower()}{tries[1:]}", "files": {"work.zip": content}, "right": "full"}
    for name, (tries, content) in ARCHIVES.items()
]
# Left out as a whole, with the reason: over a limit of the intake.
TOO_MUCH = {
    "archive_bomb", "archive_many", "notebook_deep_texts", "notebook_million_statements", "notebook_nested_finally",
    "notebook_same_name", "notebook_thousands_of_cells",
}  # fmt: skip
for attack in ATTACKS:
    if attack["name"] in TOO_MUCH:
        attack["right"] = "0"
