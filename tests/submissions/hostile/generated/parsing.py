"""Modules that fail, so that their code is read for the functions that they use, and are hard to read."""

WRONG = "\n\ndef log_softmax(x, axis=-1):\n    return softmax(x, axis)\n\n\ndef softmax(x, axis=-1, temperature=1.0):\n    raise ValueError\n"
TEXTS = {
    "statements": ("300,000 statements in a line", "x = 1\n" + "x;" * 300_000),
    "functions": ("20,000 functions that use each other", "".join(f"def f{i}(x): return f{i + 1}(x), log_softmax, softmax\n" for i in range(9000))),
    "nested_names": ("functions and classes in each other", "".join(" " * i + f"def f{i}(x):\n" for i in range(90)) + " " * 90 + "pass\n"),
    "long_text": ("a text of a megabyte", "TEXT = '" + "x" * 1_000_000 + "'\n"),
    "sum": ("a sum of thousands of terms", "def unused(x): return " + "x+" * 2000 + "x\n"),
    "data": ("a table of 100,000 numbers", "DATA = [" + "1.5, " * 100_000 + "]\n"),
    "comments": ("100,000 comments that name a cell", "# Cell 1, line 1\n" * 60_000),
    "odd_line_ends": ("line ends of all systems and form feeds", "x = 1\r\ny = 2\r\x0cz = 3\n"),
    "many_globals": ("a function of 20,000 global names", "def unused():\n" + "".join(f" global g{i}\n" for i in range(20_000))),
    "tabs": ("indentation in tabs and blanks of all lengths", "if True:\n\tx = 1\n" * 20_000),
    "deep_brackets": ("brackets that end the parser of Python", "def unused(): return " + "(" * 5000 + ")" * 5000 + "\n"),
    "long_name": ("a name of 100,000 letters", "x" * 100_000 + " = 1\n"),
    "format_strings": ("thousands of format strings with formats of formats", "def unused(x): return " + "f'{x!r:{x:{x}}}' " * 5000 + "\n"),
    "deep_format_strings": ("format strings in 500 others", "def unused(x): return " + "f'{" * 500 + "x" + "}'" * 500 + "\n"),
    "huge_integers": ("numbers of a million digits, in all bases", "A = 0x" + "f" * 300_000 + "\nB = 0b" + "1" * 300_000 + "\nC = " + "9" * 4000 + "\n"),
    "decimal_integer": ("a decimal number of a million digits", "A = " + "9" * 900_000 + "\n"),
    "null_bytes": ("null bytes between its lines", "x = 1\n\0\0def log_softmax(x): return 0\n"),
    "form_feeds": ("form feeds in its indentation", "if True:\n\x0c    x = 1\n  \x0c  y = 2\n" * 20_000),
    "joined_lines": ("300,000 lines that are joined to one", "x = 1 \\\n" + "+ 1 \\\n" * 100_000 + "+ 1\n"),
    "slow_encoding": ("an encoding that takes quadratic time", "# coding: punycode\n" + "x" * 200_000 + "-" + "z" * 200_000 + "\n"),
    "escaped_encoding": ("its code in the escapes of another encoding", "# coding: unicode_escape\nx = 1\\u000adef f(): pass\n"),
    "unicode_names": ("names that are equal only once they are normalized", "def \U0001d4c1og_softmax(x): pass\n"),
}
ATTACKS = [
    {"name": f"parsing_{name}", "tries": f"Has {what} in a module that fails.", "code": text + WRONG}
    for name, (what, text) in TEXTS.items()
]
