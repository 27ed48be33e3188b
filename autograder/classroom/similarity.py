"""Which submissions are suspiciously alike: pairs for a person to look at, never a grade.

copydetect (MIT) winnows the code (Schleimer, Wilkerson, Aiken 2003, the algorithm of MOSS) after names have become one
letter and comments, blanks and layout have vanished, so that renaming, reordering and commenting do not hide a copy;
the fingerprints of the stub are boilerplate and do not count. Its own comparison goes through every pair of files, and
its filter is Pygments'; here an index from fingerprint to submissions finds the pairs that share anything, and a
regular expression is the filter, which a class of thousands needs.

A fingerprint that many submissions share is how the course writes it (`np.exp(x - x.max(...` is in every right
softmax), and says nothing: as MOSS's option -m does, it is not counted.

What was weighed (the figures are in tests/bench/README.md): difflib, exact but quadratic in length and class; a
comparison of abstract syntax trees, blind to a copy that does not parse; JPlag and MOSS, the one a Java program, the
other a service that class work would be sent to.
"""

import hashlib
import keyword
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from autograder.classroom.submissions import intake, layouts
from autograder.courses.transformer import TRANSFORMER
from autograder.curriculum import Curriculum
from autograder.curriculum.stubs import bundled
from autograder.errors import missing_package
from autograder.notebooks.extract import PREAMBLE

K = 20  # characters of filtered code in a fingerprint: about two short lines
WINDOW = 6  # one fingerprint of so many is kept; a common part of K + WINDOW - 1 characters is always found
COMMON = 10  # in more submissions than this (or a 50th of the class) it is how the course writes it
LEAST = 12  # fingerprints of its own that a module needs to be compared; less says nothing
THRESHOLD = 0.5
_KEYWORDS = frozenset(keyword.kwlist)
# Comments and blanks match without a group. A string that is not closed ends with its line, or with the file.
_TOKEN = re.compile(
    r"""\#[^\n]*|\s+
    |(?P<string>[rRbBuUfF]{0,2}(?:\"{3}(?:[^"\\]|\\.|"(?!""))*(?:\"{3})?|'{3}(?:[^'\\]|\\.|'(?!''))*(?:'{3})?
        |"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?))
    |(?P<name>[^\W\d]\w*)|(?P<number>\d[\w.]*)|(?P<mark>.)""",
    re.DOTALL | re.VERBOSE,
)


@dataclass(frozen=True)
class SimilarPair:
    """Two submissions that are alike.

    Attributes:
        share: fingerprints that only few others have and both share, as a part of the smaller of the two.
        shared: how many those are.
        where: the modules in which they are alike, the most alike first.
    """

    first: str
    second: str
    share: float
    shared: int
    modules: str


def find_similar(
    folder: Path, *, layout: str = "auto", threshold: float = THRESHOLD, most: int = 200
) -> list[SimilarPair]:
    """The pairs of submissions in `folder` (as for `headway grade`) that are alike, the most alike first.

    Raises:
        UsageError: if copydetect is missing, or there is no submission.
    """
    return compare(_sources(folder, layout), TRANSFORMER, threshold=threshold, most=most)


def compare(
    submissions: Iterable[tuple[str, dict[str, str]]],
    curriculum: Curriculum,
    *,
    threshold: float = THRESHOLD,
    most: int = 200,
) -> list[SimilarPair]:
    """As `find_similar`, of names with source texts by module."""
    boilerplate = {module: _fingerprints(_stub(module)) for module in curriculum.modules}
    names: list[str] = []
    prints: dict[str, dict[int, NDArray[np.int64]]] = defaultdict(dict)  # module -> submission -> fingerprints
    seen: dict[tuple[str, str], NDArray[np.int64]] = {}  # the same text, as handed in twice, is read once
    for number, (name, modules) in enumerate(submissions):
        names.append(name)
        for module, text in modules.items():
            if module in curriculum.modules:
                key = (module, hashlib.sha256(text.encode("utf-8", "replace")).hexdigest())
                if key not in seen:
                    seen[key] = np.setdiff1d(_fingerprints(text), boilerplate[module])
                if seen[key].size >= LEAST:
                    prints[module][number] = seen[key]
    common = max(COMMON, len(names) // 50)
    shared: dict[tuple[int, int], dict[str, int]] = defaultdict(dict)
    totals: dict[int, dict[str, int]] = defaultdict(dict)
    for module, by_submission in prints.items():
        rare, counts = _shared(by_submission, common)
        for pair_of, count in counts.items():
            shared[pair_of][module] = count
        for number, count in rare.items():
            totals[number][module] = count
    pairs = [
        pair
        for (one, other), modules in shared.items()
        if (pair := _pair(names, totals, one, other, modules)).share >= threshold and pair.shared >= LEAST
    ]
    pairs.sort(key=lambda pair: (-pair.share, -pair.shared, pair.first, pair.second))
    return pairs[:most]


def _pair(
    names: list[str], totals: dict[int, dict[str, int]], one: int, other: int, modules: dict[str, int]
) -> SimilarPair:
    """How alike two submissions are over the modules in which they share anything."""
    smaller = {module: min(totals[one][module], totals[other][module]) for module in modules}
    # A whole of small coincidences is none: only modules that are alike in themselves are added up.
    telling = {m: count for m, count in modules.items() if count >= LEAST / 2 and count >= smaller[m] * THRESHOLD / 2}
    total = sum(telling.values())
    share = total / sum(smaller[module] for module in telling) if telling else 0.0
    where = sorted(telling, key=lambda module: -telling[module] / smaller[module])
    shown = ", ".join(f"{module} {telling[module] / smaller[module]:.0%}" for module in where)
    return SimilarPair(names[one], names[other], share, total, shown)


def _shared(
    by_submission: dict[int, NDArray[np.int64]], common: int
) -> tuple[dict[int, int], dict[tuple[int, int], int]]:
    """Of one module: how many rare fingerprints each submission has, and how many each pair shares."""
    hashes = np.concatenate(list(by_submission.values()))
    owners = np.repeat(list(by_submission), [found.size for found in by_submission.values()])
    order = np.lexsort((owners, hashes))
    hashes, owners = hashes[order], owners[order]
    starts = np.flatnonzero(np.r_[True, hashes[1:] != hashes[:-1]])
    sizes = np.diff(np.r_[starts, hashes.size])
    rare = np.repeat(sizes <= common, sizes)
    numbers, counts = np.unique(owners[rare], return_counts=True)
    size_of = dict(zip(numbers.tolist(), counts.tolist(), strict=True))
    found: dict[tuple[int, int], int] = defaultdict(int)
    for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
        if 1 < size <= common:
            group = owners[start : start + size].tolist()
            for i, one in enumerate(group):
                for other in group[i + 1 :]:
                    found[one, other] += 1
    return size_of, found


def _fingerprints(text: str) -> NDArray[np.int64]:
    try:
        from copydetect.utils import hashed_kgrams, winnow
    except ImportError:
        raise missing_package("looking for similar submissions needs copydetect", "class") from None
    filtered = _filtered(text)
    if len(filtered) < K + WINDOW:
        return np.empty(0, dtype=np.int64)
    return np.asarray(winnow(hashed_kgrams(filtered, K), WINDOW)[0])


def _filtered(text: str) -> str:
    """What copydetect's filter makes of Python code, by one regular expression: Pygments takes fifty times as long.

    Names become V, strings S; comments and layout vanish. Names after a dot stay: a copy can rename its variables, but
    not what NumPy calls its functions. Code that does not parse is filtered like any other.
    """
    parts: list[str] = []
    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup, match[0]
        if kind == "name":
            parts.append(token if token in _KEYWORDS or (parts and parts[-1] == ".") else "V")
        elif kind == "string":
            parts.append("S")
        elif kind is not None:
            parts.append(token)
    return "".join(parts)


def _stub(module: str) -> str:
    return (bundled("assignments") / f"{module}.py").read_text("utf-8")


def _sources(folder: Path, layout: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Everybody's modules, taken in as for grading: the last attempt, nothing but modules, no link followed."""
    for student in layouts.read_class_members(folder, TRANSFORMER, layout):
        if student.attempts:
            with tempfile.TemporaryDirectory(prefix="headway-") as scratch:
                intake.copy_modules(intake.read_files(student.attempts[-1]), Path(scratch), TRANSFORMER)
                files = sorted(Path(scratch).glob("*.py"))
                yield student.submission, {file.stem: _own(file.read_text("utf-8", "replace")) for file in files}


def _own(text: str) -> str:
    """Without what stands at the head of every module that comes from a notebook: two untouched ones are no copies."""
    return text.removeprefix(PREAMBLE)
