"""Write a page for each pair of similar submissions, with their code side by side and the common lines marked.

Lines are common if they are equal after names, strings, comments and layout are removed, as `similarity` does, by the
process that reads submissions. Lines of the stub, and very short ones, are not marked.
"""

from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from autograder.classroom.class_report.similarity import code_lines
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
        lines = _LineReader(reader)
        for number, pair in enumerate(result.pairs, 1):
            first, second = (book.code_of(students[name]) if name in students else None for name in pair.submissions)
            if first is None or second is None:
                pairs.append(pair)
                continue
            path = folder / f"pair-{number}.html"
            content = as_page(pair, _modules(pair, first, second, lines), quote(f"../{page.name}"))
            write_atomically(path, content.encode("utf-8", "replace"))
            pairs.append(replace(pair, page=quote(f"{folder.name}/{path.name}")))
    return SimilarityResult(pairs, result.unread)


def _modules(pair: SimilarPair, first: Document, second: Document, reader: "_LineReader") -> list[PairModule]:
    modules = []
    codes = code_lines(first), code_lines(second)
    for name in pair.names:
        texts = [code.get(name, []) for code in codes]
        keys = [reader.keys(submission, name, lines) for submission, lines in zip(pair.submissions, texts, strict=True)]
        stub = reader.stub_keys(name)
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


class _LineReader:
    """Returns what is left of each line without names, strings, comments and layout."""

    def __init__(self, reader: SourceReader) -> None:
        self._reader = reader
        self._known: dict[tuple[str, str], list[str]] = {}

    def keys(self, submission: str, module: str, lines: list[bytes]) -> list[str]:
        """Return the filtered lines of a module; nothing if they cannot be read."""
        place = submission, module
        if place not in self._known:
            self._reader.next_submission()
            try:
                filtered = self._reader.filtered_code({str(number): line for number, line in enumerate(lines)})
                self._known[place] = [filtered[str(number)] for number in range(len(lines))]
            except SkippedFile:
                self._known[place] = []
        return self._known[place]

    def stub_keys(self, module: str) -> set[str]:
        """Return the filtered lines of the stub of a module."""
        if module not in registry.default().modules:
            return set()
        return set(self.keys("", module, (bundled("assignments") / f"{module}.py").read_bytes().split(b"\n")))
