"""Generate classes of odd submissions for the fuzzer: names, files, notebooks, archives, rosters, policies.

Sizes and depths are drawn and the texts are built from them, so that large submissions need few random choices.
"""

import io
import json
import warnings
import zipfile
from dataclasses import dataclass

from hypothesis import strategies as st

from support.commands import SOFTMAX

MARK = "<script>fuzz()</script>"  # must never reach a page unescaped
SIZES = st.sampled_from([1, 2, 3, 10, 30, 99, 150, 600, 3000, 20_000, 100_000])
# Texts with {x} in their middle, which is replaced by the text itself or by an inner expression.
NESTED = [
    "({x})", "[{x}]", "-{x}", "not {x}", "{x}.a", "{x}()", "{x}[0]", "lambda: {x}", "{x} + x", "x + {x}", "{x} ** 2",
    "[{x} for x in x]", "{x} if x else x", "x if x else {x}", "{{{x}: {x}}}", "await {x}", "(yield {x})", "*{x},",
    "{x}, ", "f'{{{x}}}'", "{x} and x", "{x} < x", "(x := {x})", "{x}'a'", "{x}1", "{x}\\\n", "{x} # ",
]  # fmt: skip
BLOCKS = [
    "if x:", "try:", "class A:", "def f(x=x):", "with x as x:", "for x in x:", "while x:", "match x:", "async def f():",
]  # fmt: skip
PLACES = [
    "{e}", "x = {e}", "def softmax(x): raise {e}", "def softmax(x={e}): return x", "@{e}\ndef softmax(x): return x",
    "def softmax(x) -> {e}: return x", "class softmax({e}): pass", "softmax = {e}", "def softmax(x): return {e}",
    "import {e}", "from {e} import softmax", "global {e}", "type softmax = {e}", "{e}\n" + SOFTMAX, SOFTMAX + "{e}",
    "del {e}", "print({e})\n" + SOFTMAX, "def {e}(x): return x",
]  # fmt: skip
CODECS = ["utf-8", "utf-7", "utf-16", "utf-32", "rot13", "zlib", "idna", "punycode", "unicode_escape", "latin-1",
          "undefined", "raw_unicode_escape", "mbcs", "no such codec", "cp037", "shift_jis"]  # fmt: skip
TEXT = st.text(st.characters(exclude_categories=()), max_size=30)
NAMED = st.sampled_from(["softmax", "cross_entropy", "log_softmax", "softmax_backward", "x", "__getattr__", "é", MARK])
ANSWERS = [
    "np.zeros((1,) * {n})", "np.empty((0, {n}))", "np.broadcast_to(1.0, ({n}, {n}, {n}))", "np.full(x.shape, {n}e99)",
    "x.astype('f2')", "x.astype('g')", "x.astype('O')", "x.astype('S30')", "x.astype('U{n}')", "x.astype('c16')",
    "x.astype(bool)", "x.astype('M8[s]')", "np.zeros({n}, 'V{n}')", "np.zeros(3, [('a', 'f8'), ('b', 'O')])",
    "x[..., ::-1]", "np.ma.masked_all(x.shape)", "np.asmatrix(x.reshape(1, -1))", "float('nan')", "10 ** {n}",
    "'a' * {n}", "[0] * {n}", "{{i: i for i in range({n})}}", "set()", "(x for x in x)", "print", "np",
    "None", "x.tolist()",
    "-softmax_right(x)", "softmax_right(x) + 1e-7", "softmax_right(x) * {n}", "np.nextafter(softmax_right(x), {n})",
    "softmax_right(x).astype('>f8')", "softmax_right(x)[..., None]", "softmax_right(x).sum()", "x", "np.exp(x)",
    "softmax_right(x, 0)", "np.ones_like(x) / {n}", "print('<b>' * {n}) or softmax_right(x)", "1 / 0",
    "[].__class__.__base__.__subclasses__()", "type(chr({n}) * 9, (Exception,), {{}})('\\x1b[31m' + chr({n}))",
    "__import__('os')._exit({n} % 256)", "__import__('time').sleep({n})", "[None for _ in iter(int, 1)]",
    "softmax(x)", "eval('(' * {n})", "__import__('warnings').warn('<i>' * {n}) or softmax_right(x)", "bytes({n})",
    "globals().clear() or x", "__import__('sys').exit({n})", "__import__('sys').stdout.close() or x", "np.void({n})",
]  # fmt: skip


@dataclass(frozen=True)
class GeneratedClass:
    """A class to write, grade and report."""

    students: dict[str, dict[str, bytes]]  # the files of each; a file of the name "" is the student's only one
    roster: bytes | None = None
    policy: bytes | None = None
    options: tuple[str, ...] = ()
    platform: str = "plain"
    names: tuple[str, ...] = ()  # of the students, for the index of Gradescope

    def __repr__(self) -> str:
        """Return a short text: Hypothesis warns of a longer one, which would hide what failed."""
        return f"<{self.platform}: {list(self.students)!a} {self.policy!r:.300} {self.options}>"


def nest(pattern: str, depth: int, inner: str = "x") -> str:
    """Return a pattern that is nested in itself, in time that grows with the length of the result only."""
    before, _, after = pattern.format(x="\0").partition("\0")
    after = after.replace("\0", "x")
    return before * depth + inner + after * depth


def blocks(head: str, depth: int) -> str:
    depth = min(depth, 110)
    ends = {"try:": "finally: x", "match x:": ""}
    lines = [" " * level + head for level in range(depth)] + [" " * depth + "x"]
    lines += [" " * level + ends[head] for level in reversed(range(depth)) if head in ends]
    return "\n".join(lines)


@st.composite
def code(draw: st.DrawFn) -> str:
    """Python that is right, wrong, deep, long, or no Python at all."""
    kind = draw(st.integers(0, 6))
    if kind == 0:
        place = draw(st.sampled_from(PLACES))
        depth = draw(SIZES)
        expression = nest(draw(st.sampled_from(NESTED)), depth)
        return place.replace("{e}", expression[: 1 << 20])
    if kind == 1:
        return blocks(draw(st.sampled_from(BLOCKS)), draw(SIZES)) + "\n" + draw(st.sampled_from(["", SOFTMAX]))
    if kind == 2:
        lines = ["x = 1", "def f{i}(x): return f{j}(x)", "x;x", "import numpy", "class A{i}: x", "#"]
        line = draw(st.sampled_from(lines))
        many = draw(SIZES) // 5
        return "\n".join(line.replace("{i}", str(i)).replace("{j}", str(i + 1)) for i in range(many)) + SOFTMAX
    if kind == 3:
        answer = draw(st.sampled_from(ANSWERS)).format(n=draw(SIZES))
        right = SOFTMAX.replace("def softmax", "def softmax_right")
        guard = draw(st.sampled_from(["", "    if x.ndim > 1: return softmax_right(x, axis, temperature)\n"]))
        head = "def softmax(x, axis=-1, temperature=1.0):\n    x = np.asarray(x)\n"
        return f"{right}\n{head}{guard}    return {answer}\n"
    if kind == 4:
        return draw(TEXT) * min(1000, draw(SIZES)) + draw(st.sampled_from(["", SOFTMAX]))
    if kind == 5:
        name, other = draw(NAMED), draw(NAMED)
        return f"{SOFTMAX}\n{other} = {name}\ndef {name}({draw(TEXT)!r}=1): pass\n"
    position = draw(st.integers(0, len(SOFTMAX)))
    return SOFTMAX[:position] + draw(TEXT) + SOFTMAX[position + draw(st.integers(0, 5)) :]


@st.composite
def module(draw: st.DrawFn) -> bytes:
    """The bytes of a module."""
    kind = draw(st.integers(0, 5))
    if kind == 0:
        return draw(st.binary(max_size=60)) * min(2000, draw(SIZES))
    text = draw(code())
    if kind == 1:
        codec = draw(st.sampled_from(CODECS))
        try:
            content = text.encode(draw(st.sampled_from([codec, "utf-8"])), "replace")
        except (LookupError, UnicodeError, ValueError, AttributeError):
            content = text.encode("utf-8", "replace")
        return f"# -*- coding: {codec} -*-\n".encode() + content
    content = text.encode("utf-8", "surrogatepass")
    if kind == 2:
        return draw(st.sampled_from([b"\xef\xbb\xbf", b"\xff\xfe", b"\0", b"\x0c", b"\r"])) + content
    return content


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.sampled_from(["code", "markdown", MARK])
CONTAINERS = st.lists(LEAVES, max_size=3) | st.dictionaries(TEXT, LEAVES, max_size=3)
CELLS = LEAVES | CONTAINERS | st.lists(CONTAINERS, max_size=2) | st.dictionaries(TEXT, CONTAINERS, max_size=2)
MAGICS = [
    "%%bash\n", "%%time\n", "!ls\n", "%matplotlib inline\n", "?softmax\n", "x = !ls\n", "%%writefile softmax.py\n",
]  # fmt: skip


@st.composite
def notebook(draw: st.DrawFn) -> bytes:
    """The bytes of a notebook, which may be no notebook or no JSON."""
    cells: list[object] = []
    for _ in range(draw(st.integers(0, 4))):
        source: object = draw(st.sampled_from(["", *MAGICS])) + draw(code())
        if draw(st.booleans()):
            source = source.splitlines(keepends=True)
        cell = {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}
        if draw(st.integers(0, 3)) == 0:
            cell[draw(st.sampled_from(list(cell)))] = draw(CELLS)
        cells.append(draw(CELLS) if draw(st.integers(0, 5)) == 0 else cell)
    content: object = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    kind = draw(st.integers(0, 7))
    if kind == 0:
        content = draw(CELLS)
    elif kind == 1:
        content = {"worksheets": [{"cells": cells}], "nbformat": draw(CELLS), "metadata": draw(CELLS)}
    text = json.dumps(content)
    if kind == 2:
        text = draw(st.sampled_from(["[", '{"cells":', '{"cells":[', "[{", '"', "9", "-", "1e", "\\u"])) * draw(SIZES)
    elif kind == 3:
        number = draw(st.sampled_from(["9" * 5000, "1e999999", "-0", "NaN", "-Infinity", "0." + "1" * 100_000]))
        text = text.replace("null", number).replace("4", number, 1)
    elif kind == 4:
        text = text[: draw(st.integers(0, len(text)))]
    elif kind == 5:
        deep = draw(SIZES)
        text = text.replace('"metadata": {}', '"metadata": ' + "[" * deep + "]" * deep, 1)
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf", b" "])) + text.encode("utf-8", "surrogatepass")


ENTRY_NAMES = st.sampled_from(
    ["softmax.py", "Softmax.py", "../softmax.py", "/softmax.py", "a/b/softmax.py", "softmax.ipynb",
     "__MACOSX/softmax.py", "conftest.py", "numpy.py", "a" * 250 + ".py", "softmax.py/", "..",
     "C:\\softmax.py", "inner.zip", "soft\nmax.py",
     "hw1.py", ".softmax.py", "__init__.py", "softmax (1).py", f"{MARK}.py", "\u202eyp.xamtfos.py"]
)  # fmt: skip


@st.composite
def archive(draw: st.DrawFn, files: st.SearchStrategy[bytes]) -> bytes:
    """The bytes of an archive, which may be damaged."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as target, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # several entries of one name
        for _ in range(draw(st.integers(0, 4))):
            entry = zipfile.ZipInfo(draw(ENTRY_NAMES))
            entry.external_attr = draw(st.sampled_from([0o644, 0o120777, 0o40755, 0o20666])) << 16
            entry.compress_type = draw(st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA]))
            target.writestr(entry, draw(files))
        if draw(st.integers(0, 5)) == 0:
            target.writestr("bomb.py", bytes(draw(st.sampled_from([1, 70])) << 20), zipfile.ZIP_DEFLATED)
    content = bytearray(buffer.getvalue())
    for position, value in draw(st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), max_size=4)):
        if draw(st.booleans()):
            content[position % len(content)] = value
    return bytes(content[: draw(st.integers(0, len(content)))] if draw(st.integers(0, 9)) == 0 else content)


# Most are modules of the right name, because only these are graded.
FILES = st.one_of(
    st.tuples(st.just("softmax.py"), module()),
    st.tuples(st.just("softmax.py"), code().map(lambda text: text.encode("utf-8", "replace"))),
    st.tuples(st.just("softmax.ipynb"), notebook()),
    st.tuples(st.sampled_from(["work.ipynb", "softmax.ipynb"]), notebook()),
    st.tuples(st.sampled_from(["work.zip", "softmax.zip"]), archive(module() | notebook())),
    st.tuples(st.sampled_from(["hw1.py", "numpy.py", "attention.py", "SOFTMAX.PY", "-.py", ".x.py"]), module()),
)
PARTS = ["ada", "é", "=1+1", "@SUM(1)", MARK, "a" * 90, "\x1b[31m", "\u202e", " ", "'", '"', "%s", "{0}", "..",
         "\U0001f600", "#1", "con", "\udcff", "-rf", "+", ";", ",", "\t", "\n", "__", ".", "softmax"]  # fmt: skip
NAMES = st.lists(st.sampled_from(PARTS), min_size=1, max_size=3).map("".join)
PLATFORMS = {
    "plain": "{name}{number}", "canvas": "{name}{number}_{number}1_{number}2_",
    "moodle": "{name} Smith_{number}_assignsubmission_file", "nbgrader": "{name}{number}",
    "gradescope": "submission_{number}",
}  # fmt: skip


@st.composite
def roster(draw: st.DrawFn) -> bytes:
    """The bytes of a roster: titles, quotes and rows of all kinds."""
    known = ["name", "Student", "SIS User ID", "email", "First name", "Last name", "x", "", '"id"', "Grade"]
    titles = st.sampled_from(known)
    cells = NAMES | TEXT | st.sampled_from(["honest-ada", '"', '"a,b"', "Points Possible", "0", "nan"])
    separator = draw(st.sampled_from([",", ";", "\t", "|"]))
    rows = [draw(st.lists(titles, min_size=1, max_size=4))]
    rows += draw(st.lists(st.lists(cells, max_size=5), max_size=4))
    text = "\n".join(separator.join(row) for row in rows)
    return text.encode(draw(st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1"])), "replace")


VALUES = st.sampled_from(
    ["0", "1", "-1", "nan", "inf", "1e300", "0.5", "true", '"last"', '"best"', '"full"', '"none"', "[]", "{}",
     "9" * 400, "2026-10-01",
     "2026-10-01T23:59:00+02:00", '["softmax.*::*"]', '""', '"honest-ada"', '"softmax"', "[[[]]]"]
)  # fmt: skip
KEYS = st.sampled_from(
    ["title", "seed", "attempts", "feedback", "drop_lowest", "late.penalty_per_day", "late.cap", "late.grace_hours",
     "checks.hidden", "limits.submission_seconds", "limits.student_attempts", "assignments.softmax.points",
     "assignments.softmax.weight", "assignments.softmax.due", "assignments.gpt.weight", "layout", "own_prerequisites",
     "exceptions", "no such key", "late", '"' + MARK + '"']
)  # fmt: skip


@st.composite
def policy(draw: st.DrawFn) -> bytes:
    """The bytes of a `course.toml` with valid keys and values that may not fit."""
    lines = [f"{key} = {draw(VALUES)}" for key in draw(st.lists(KEYS, max_size=4, unique=True))]
    if draw(st.booleans()):
        lines += ["[[exceptions]]", 'student = "honest-ada"', f"bonus = {draw(VALUES)}", f"reason = {draw(VALUES)}"]
    return "\n".join(lines).encode() + draw(st.sampled_from([b"", b"", b"", b"\xff", b"\n[", b"\0"]))


@st.composite
def classes(draw: st.DrawFn, size: int = 8) -> GeneratedClass:
    """A class of generated students."""
    platform = draw(st.sampled_from(["plain", "plain", *PLATFORMS]))
    students, names = {}, []
    for number in range(size):
        names.append(draw(NAMES))
        name = PLATFORMS[platform].format(name=names[-1], number=number)
        files = dict(draw(st.lists(FILES, min_size=1, max_size=2)))
        if platform == "canvas" or (platform == "plain" and draw(st.integers(0, 4)) == 0):
            file, content = next(iter(files.items()))
            name, files = f"{name}{file}", {"": content}
        students[name.replace("/", "-")] = files
    options = st.sampled_from([(), (), ("--feedback", "full"), ("--feedback", "none"), ("--own-prerequisites",)])
    files = draw(st.none() | roster()), draw(st.none() | st.none() | policy())
    return GeneratedClass(students, *files, draw(options), platform, tuple(names))
