"""Find pairs of submissions that are suspiciously alike, for a person to look at; they never change a grade.

copydetect (MIT) winnows the code (Schleimer, Wilkerson, Aiken 2003, the algorithm of MOSS). Names are first replaced by
one letter, and comments, blanks and layout removed, so that renaming, reordering and commenting do not hide a copy.
Fingerprints of the stub do not count, nor do those that many submissions share: `np.exp(x - x.max(...` is in every
correct softmax. copydetect's own comparison visits every pair of files; here an index from fingerprint to submissions
finds the pairs that share anything.

Alternatives considered: difflib, quadratic in length and class size; a comparison of syntax trees, which cannot
read a copy that does not parse; JPlag, a Java program; and MOSS, a service that student work would be sent to.
"""

import hashlib
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import chain, combinations
from pathlib import Path
from urllib.parse import quote

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from autograder.classroom.storage.gradebook import Gradebook
from autograder.classroom.submissions import intake
from autograder.classroom.submissions.account import account_for
from autograder.classroom.submissions.model import Attempt
from autograder.classroom.submissions.sources import read_class_members
from autograder.core.archives import SkippedFile
from autograder.core.current_folder import hidden_matplotlibrc
from autograder.core.files import write_atomically
from autograder.course import Curriculum, registry
from autograder.course.stubs import bundled
from autograder.documents.reading import Document
from autograder.errors import UsageError, missing_package
from autograder.parsing.code_tokens import filtered
from autograder.parsing.extract import PREAMBLE
from autograder.report.class_records import SimilarityResult, SimilarPair
from autograder.report.html.class_page import PairModule, render_pair
from autograder.sandbox.source_reader import SourceReader, source_reader

K = 20  # characters of filtered code in a fingerprint, about two short lines
WINDOW = 6  # one fingerprint in this many is kept; a common part of K + WINDOW - 1 characters is always found
MAX_SHARERS = 10  # a fingerprint in more submissions than this (or a 50th of the class) is not counted
MIN_FINGERPRINTS = 12  # fingerprints that a module needs to be compared; fewer show nothing
THRESHOLD = 0.5  # smallest share that is listed
MAX_PAIRS = 200
MIN_LENGTH = 9  # characters of a filtered line that is marked in a page
POWERS = np.cumprod(np.full(K, 0x9E3779B97F4A7C15, np.uint64))  # copydetect's own hash differs between processes


def find_similar(folder: Path, *, layout: str = "auto") -> SimilarityResult:
    """Compare the last attempts in a folder, read as for grading; raise UsageError if copydetect is missing."""
    members = read_class_members(folder, registry.default(), layout)
    submitted = [(one.submission, one.attempts[-1]) for one in members if one.attempts]
    with source_reader() as reader:
        return _compare_all(reader, ((name, *_submitted_code(attempt, reader)) for name, attempt in submitted))


def find_similar_code(book: Gradebook) -> SimilarityResult:
    """Compare the code that was stored when the class was graded; raise UsageError if there is none."""
    codes = ((student["submission"], book.code_of(student)) for student in book.students)
    stored = ((name, code_by_module(code), "") for name, code in codes if code is not None)
    if (first := next(stored, None)) is None:
        advice = "Grade the class again, or name the folder of submissions: --similar=SUBMISSIONS"
        raise UsageError(f"{book.out} holds no code. {advice}")
    with source_reader() as reader:
        return _compare_all(reader, chain([first], stored))


def with_names(result: SimilarityResult, book: Gradebook) -> SimilarityResult:
    """Return the result with the students' names in place of the names of submissions."""
    names = book.names
    pairs = [
        replace(one, first=names.get(one.first, one.first), second=names.get(one.second, one.second))
        for one in result.pairs
    ]
    return SimilarityResult(pairs, [(names.get(name, name), reason) for name, reason in result.unread])


def compare(
    submissions: Iterable[tuple[str, dict[str, str]]], curriculum: Curriculum, *, threshold: float = THRESHOLD
) -> list[SimilarPair]:
    """Return the pairs of alike submissions, most alike first; submissions are names with filtered code by module."""
    stubs = {name: (bundled("assignments") / f"{name}.py").read_text("utf-8") for name in curriculum.modules}
    boilerplate = {name: _fingerprints(filtered(text)) for name, text in stubs.items()}
    names: list[str] = []
    fingerprints: dict[str, dict[int, NDArray[np.int64]]] = defaultdict(dict)  # module -> submission -> fingerprints
    cache: dict[tuple[str, str], NDArray[np.int64]] = {}  # identical code is fingerprinted once
    for number, (name, modules) in enumerate(submissions):
        names.append(name)
        for module, code in modules.items():
            if module in curriculum.modules:
                key = (module, hashlib.sha256(code.encode()).hexdigest())
                if key not in cache:
                    cache[key] = np.setdiff1d(_fingerprints(code), boilerplate[module])
                if cache[key].size >= MIN_FINGERPRINTS:
                    fingerprints[module][number] = cache[key]
    max_sharers = max(MAX_SHARERS, len(names) // 50)
    shared: dict[tuple[int, int], dict[str, int]] = defaultdict(dict)
    totals: dict[int, dict[str, int]] = defaultdict(dict)
    for module, by_submission in fingerprints.items():
        rare, shared_counts = _count_rare(by_submission, max_sharers)
        for numbers, count in shared_counts.items():
            shared[numbers][module] = count
        for number, count in rare.items():
            totals[number][module] = count
    compared = (_pair(names, totals, *numbers, counts) for numbers, counts in shared.items())
    pairs = [pair for pair in compared if pair.share >= threshold and pair.shared >= MIN_FINGERPRINTS]
    pairs.sort(key=lambda pair: (-pair.share, -pair.shared, pair.first, pair.second))
    return pairs[:MAX_PAIRS]


def _pair(
    names: list[str], totals: dict[int, dict[str, int]], first: int, second: int, counts: dict[str, int]
) -> SimilarPair:
    """Return how alike two submissions are; `counts` holds the fingerprints that they share, by module."""
    smaller = {module: min(totals[first][module], totals[second][module]) for module in counts}
    # Many small coincidences do not add up to a copy: only modules that are alike on their own are counted.
    enough = {module: max(MIN_FINGERPRINTS, count * THRESHOLD) / 2 for module, count in smaller.items()}
    alike = {module: count for module, count in counts.items() if count >= enough[module]}
    total = sum(alike.values())
    share = total / sum(smaller[module] for module in alike) if alike else 0.0
    ordered = sorted(alike, key=lambda module: -alike[module] / smaller[module])
    shown = ", ".join(f"{module} {alike[module] / smaller[module]:.0%}" for module in ordered)
    submissions = names[first], names[second]
    return SimilarPair(*submissions, share, total, shown, submissions, tuple(ordered))


def _count_rare(
    by_submission: dict[int, NDArray[np.int64]], max_sharers: int
) -> tuple[dict[int, int], dict[tuple[int, int], int]]:
    """Return for one module how many rare fingerprints each submission has, and how many each pair shares."""
    hashes = np.concatenate(list(by_submission.values()))
    owners = np.repeat(list(by_submission), [fingerprints.size for fingerprints in by_submission.values()])
    order = np.lexsort((owners, hashes))
    hashes, owners = hashes[order], owners[order]
    starts = np.flatnonzero(np.r_[True, hashes[1:] != hashes[:-1]])
    sizes = np.diff(np.r_[starts, hashes.size])
    rare = np.repeat(sizes <= max_sharers, sizes)
    numbers, counts = np.unique(owners[rare], return_counts=True)
    rare_counts = dict(zip(numbers.tolist(), counts.tolist(), strict=True))
    shared: dict[tuple[int, int], int] = defaultdict(int)
    for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
        if 1 < size <= max_sharers:
            for pair in combinations(owners[start : start + size].tolist(), 2):
                shared[pair] += 1
    return rare_counts, shared


def _fingerprints(code: str) -> NDArray[np.int64]:
    try:
        with hidden_matplotlibrc():  # copydetect imports matplotlib.
            from copydetect.utils import winnow
    except ImportError:
        raise missing_package("comparing submissions needs copydetect", "class") from None
    if len(code) < K + WINDOW:
        return np.empty(0, dtype=np.int64)
    hashes = sliding_window_view(np.array([*map(ord, code)], np.uint64), K) @ POWERS
    return np.asarray(winnow(hashes.astype(np.int64), WINDOW)[0])


def _compare_all(reader: SourceReader, submissions: Iterable[tuple[str, dict[str, bytes], str]]) -> SimilarityResult:
    """Compare submissions, each with its name, its code by module and what could not be read of it."""
    result = SimilarityResult()

    def filtered_modules() -> Iterator[tuple[str, dict[str, str]]]:
        for name, sources, problem in submissions:
            try:
                code = reader.filtered_code(sources) if sources else {}
            except SkippedFile as error:
                code, problem = {}, str(error)
            reader.next_submission()
            if problem:
                result.unread.append((name, problem))
            yield name, code

    result.pairs = compare(filtered_modules(), registry.default())
    return result


def code_by_module(document: Document) -> dict[str, bytes]:
    """Return the code in a code document by module."""
    texts = {name: "\n".join(part["text"] for part in parts) for name, parts in document["modules"].items()}
    return {name: text.encode("utf-8", "replace") for name, text in texts.items()}


def _submitted_code(attempt: Attempt, reader: SourceReader) -> tuple[dict[str, bytes], str]:
    """Return the code of one attempt by module, and what could not be read."""
    with tempfile.TemporaryDirectory(prefix="headway-") as scratch:
        account = account_for(intake.read_files(attempt), registry.default(), reader)
        account.write(Path(scratch), registry.default())
        # Every module from a notebook starts with the same preamble, which is not the student's.
        sources = {file.stem: file.read_bytes().removeprefix(PREAMBLE.encode()) for file in Path(scratch).glob("*.py")}
    if not account.assignments(registry.default()):
        return {}, "; ".join(account.notes[:3]) or "it contains no module of the course"
    return sources, f"cannot be read: {', '.join(account.unreadable[:3])}" if account.unreadable else ""


def write_pair_pages(result: SimilarityResult, book: Gradebook, folder: Path, page: Path) -> SimilarityResult:
    """Write a page for each pair whose code is stored, side by side and with the common lines marked.

    Lines are common if they are equal after names, strings, comments and layout are removed. Lines of the stub, and
    very short ones, are not marked. Returns the result with addresses relative to the class `page`.
    """
    students = {student["submission"]: student for student in book.students}
    pairs = []
    with source_reader() as reader:
        filtered_lines = _line_filter(reader)
        for number, pair in enumerate(result.pairs, 1):
            first, second = (book.code_of(students[name]) if name in students else None for name in pair.submissions)
            if first is None or second is None:
                pairs.append(pair)
                continue
            path = folder / f"pair-{number}.html"
            content = render_pair(pair, _modules(pair, first, second, filtered_lines), quote(f"../{page.name}"))
            write_atomically(path, content.encode("utf-8", "replace"))
            pairs.append(replace(pair, page=quote(f"{folder.name}/{path.name}")))
    return SimilarityResult(pairs, result.unread)


def _modules(
    pair: SimilarPair, first: Document, second: Document, filtered_lines: Callable[[tuple[bytes, ...]], list[str]]
) -> list[PairModule]:
    modules = []
    codes = code_by_module(first), code_by_module(second)
    for name in pair.names:
        texts = [code[name].split(b"\n") if name in code else [] for code in codes]
        keys = [filtered_lines(tuple(lines)) for lines in texts]
        stub_text = (bundled("assignments") / f"{name}.py").read_bytes()
        stub = set(filtered_lines(tuple(stub_text.split(b"\n"))))
        # For each side, the number of the first line of each kind.
        places = [
            {key: n for n, key in reversed([*enumerate(found, 1)]) if len(key) >= MIN_LENGTH and key not in stub}
            for found in keys
        ]
        # For each side, the number of the line on the other side.
        partners = [
            {n: there[key] for n, key in enumerate(found, 1) if key in there}
            for found, there in zip(keys, reversed(places), strict=True)
        ]
        shown = [[line.decode("utf-8", "replace") for line in lines] for lines in texts]
        modules.append(PairModule(name, (shown[0], shown[1]), (partners[0], partners[1])))
    return modules


def _line_filter(reader: SourceReader) -> Callable[[tuple[bytes, ...]], list[str]]:
    """Return a function that removes names, strings, comments and layout from lines; of unreadable ones, all."""

    @cache  # A submission is in many pairs.
    def filtered_lines(lines: tuple[bytes, ...]) -> list[str]:
        reader.next_submission()
        try:
            found = reader.filtered_code({str(number): line for number, line in enumerate(lines)})
        except SkippedFile:
            return []
        return [found[str(number)] for number in range(len(lines))]

    return filtered_lines
