"""Write a page for each pair of similar submissions, with their code side by side and the common lines marked.

Lines are common if they are equal after names, strings, comments and layout are removed, as `similarity` does, by the
process that reads submissions. Lines of the stub, and very short ones, are not marked.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from urllib.parse import quote

from autograder.classroom.class_report.similarity import code_by_module
from autograder.classroom.storage.gradebook import Gradebook
from autograder.core.archives import SkippedFile
from autograder.core.files import write_atomically
from autograder.course import registry
from autograder.course.stubs import bundled
from autograder.documents.reading import Document
from autograder.report.class_records import SimilarityResult, SimilarPair
from autograder.report.similar_pair import PairModule, as_page
from autograder.sandbox.source_reader import SourceReader, source_reader

MIN_LENGTH = 9  # characters of a filtered line


def write(result: SimilarityResult, book: Gradebook, folder: Path, page: Path) -> SimilarityResult:
    """Write the pages of pairs whose code is stored; return the result with addresses relative to the class `page`."""
    students = {student["submission"]: student for student in book.students}
    pairs = []
    with source_reader() as reader:
        filtered = _line_filter(reader)
        for number, pair in enumerate(result.pairs, 1):
            first, second = (book.code_of(students[name]) if name in students else None for name in pair.submissions)
            if first is None or second is None:
                pairs.append(pair)
                continue
            path = folder / f"pair-{number}.html"
            content = as_page(pair, _modules(pair, first, second, filtered), quote(f"../{page.name}"))
            write_atomically(path, content.encode("utf-8", "replace"))
            pairs.append(replace(pair, page=quote(f"{folder.name}/{path.name}")))
    return SimilarityResult(pairs, result.unread)


def _modules(
    pair: SimilarPair, first: Document, second: Document, filtered: Callable[[tuple[bytes, ...]], list[str]]
) -> list[PairModule]:
    modules = []
    codes = code_by_module(first), code_by_module(second)
    for name in pair.names:
        texts = [code[name].split(b"\n") if name in code else [] for code in codes]
        keys = [filtered(tuple(lines)) for lines in texts]
        stub = set(filtered(_stub_lines(name)))
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
    def filtered(lines: tuple[bytes, ...]) -> list[str]:
        reader.next_submission()
        try:
            found = reader.filtered_code({str(number): line for number, line in enumerate(lines)})
        except SkippedFile:
            return []
        return [found[str(number)] for number in range(len(lines))]

    return filtered


def _stub_lines(module: str) -> tuple[bytes, ...]:
    if module not in registry.default().modules:
        return ()
    return tuple((bundled("assignments") / f"{module}.py").read_bytes().split(b"\n"))
