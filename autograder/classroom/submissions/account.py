"""Account for every file of a submission: what it counts as, or why it is ignored.

Of several files for one assignment, one counts. The first rule that tells them apart decides (`_Candidate.rank`):

1. the file that a person chose (`headway choose`)
2. a file in which a function is written before one with untouched stubs
3. a file in the folder of this assignment, where the platform has one
4. the exact name of the assignment before a similar one, `softmax.py` before `softmax_final.py` or `softmax (1).py`;
   a file of another name counts for the assignment whose functions it defines, where nothing else is written for it
5. a file at the top before one in a folder or an archive
6. the later attempt, by the numbers in the names: `attempt2.zip` before `attempt1.zip`
7. the file before the notebook

If functions are written in another one, too, and differ, a person should look: the assignment is a `rival`.
"""

import re
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from autograder.classroom.submissions.intake import MAX_ENTRIES, TEXTS, SubmittedFile, max_bytes
from autograder.core.archives import SUFFIXES, Quota, SkippedFile, ToolFiles, read_archive
from autograder.core.files import lower_suffix
from autograder.course import Curriculum, registry
from autograder.course.file_names import EXACT, INSIDE, OTHER, SIMILAR, assignments_of
from autograder.documents.types import FileRecord
from autograder.sandbox.source_reader import SourceReader

MAX_FILES = 200
MAX_BYTES = 4 << 20
MAX_NOTES = 20
MAX_RECORDS = 60
MAX_UNPACKED_BYTES = 64 << 20
MAX_NOTEBOOKS = 30
MAX_NESTING = 2  # of archives in archives
MODULE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}\.py")
# Python or pytest load these on their own where they find them. Headway never does, and they are never an assignment.
RESERVED = {"conftest.py", "sitecustomize.py", "usercustomize.py"}
# Reasons that need no note, because nobody would expect such a file to count.
_UNTOUCHED, _SAME, _NO_WORK = "nothing in it was written", "another file has the same content", "it is no code"
_NO_FUNCTION, _TOO_MUCH = "it defines no function of the course", "the submission is too large"
_OF_TOOLS = str(ToolFiles())
_DEFINITION = re.compile(rb"^def[ \t]+\w+\(", re.MULTILINE)
_UNREADABLE_ARCHIVES = (".7z", ".rar", ".bz2", ".xz")


@dataclass(frozen=True)
class _Candidate:
    """A version of an assignment's module."""

    module: str
    file: SubmittedFile
    code: bytes
    fit: int  # EXACT, SIMILAR, INSIDE or OTHER

    def rank(self, chosen: str, is_written: bool) -> tuple[tuple[Any, str], ...]:
        """Return what decides between candidates, the most important first, with the reason that it gives."""
        numbers = tuple(map(int, re.findall(r"\d{1,9}", self.file.name.lower().replace(self.module, ""))))
        return (
            (chosen == self.file.shown, "it was chosen"),
            (is_written, "the others are untouched"),
            (self.file.assignment == self.module and not self.file.is_part, "it was submitted for this assignment"),
            ((self.fit, self.file.stem == self.module), "its name fits better"),
            (-self.file.name.count("/"), "it lies further up"),
            (numbers, "it is the later attempt"),
            (not self.file.name.endswith(".ipynb"), "a file comes before a notebook"),
        )


@dataclass
class Account:
    """What each file of a submission is."""

    modules: dict[str, bytes] = field(default_factory=dict)  # the code of assignments and helpers, by name of the file
    files: list[FileRecord] = field(default_factory=list)
    counting: dict[str, str] = field(default_factory=dict)  # see `account_for`
    unreadable: list[str] = field(default_factory=list)  # files that may hold work, and cannot be read
    rivals: dict[str, list[str]] = field(default_factory=dict)  # by assignment: files to choose from, the best first
    differing: dict[str, list[str]] = field(default_factory=dict)  # the functions in which they differ
    notes: list[str] = field(default_factory=list)  # about files that look like work and are left out

    def assignments(self, curriculum: Curriculum) -> list[str]:
        """Return the assignments of which a file counts."""
        return [name for name in curriculum.modules if f"{name}.py" in self.modules]

    def write(self, target: Path, curriculum: Curriculum) -> None:
        """Write the modules to the empty folder `target`, with those that students are given."""
        for name, code in self.modules.items():
            (target / name).write_bytes(code)
        for name in curriculum.given_modules:
            shutil.copyfile(registry.solution_path(name, curriculum.package), target / f"{name}.py")


def account_for(
    files: Iterable[SubmittedFile],
    curriculum: Curriculum,
    reader: SourceReader,
    chosen: Mapping[str, str] | None = None,
    graded: Collection[str] | None = None,
) -> Account:
    """Return the account of a submission's files.

    Args:
        reader: reads what is in notebooks and compares functions, in a sandbox.
        chosen: the name of the file that a person chose, by assignment.
        graded: the assignments that are graded (default: all). `counting` has the names of the files that count, by
            assignment; of assignments that are not graded only if something is written.
    """
    graded = curriculum.modules if graded is None else graded
    return _Accounting(curriculum, reader, chosen or {}, graded).run(files)


class _Accounting:
    def __init__(
        self, curriculum: Curriculum, reader: SourceReader, chosen: Mapping[str, str], graded: Collection[str]
    ) -> None:
        self._curriculum, self._reader, self._chosen, self._graded = curriculum, reader, chosen, graded
        self._unpacked = Quota(MAX_UNPACKED_BYTES, f"because unpacked it is larger than {MAX_UNPACKED_BYTES >> 20} MiB")
        self._notebooks = Quota(MAX_NOTEBOOKS, f"because there are more than {MAX_NOTEBOOKS} notebooks")
        self._entries = Quota(MAX_ENTRIES, f"because there are more than {MAX_ENTRIES} files")
        self._account = Account()
        self._candidates: dict[str, list[_Candidate]] = {}
        self._helpers: list[SubmittedFile] = []
        self._rest = ""  # why the rest of the submission is ignored
        self._counts: dict[SubmittedFile, list[str]] = {}  # the assignments for which a file counts
        self._ignored: dict[SubmittedFile, str] = {}  # and why
        self._written: dict[tuple[str, int], dict[str, str]] = {}

    def run(self, files: Iterable[SubmittedFile]) -> Account:
        unclear = list[SubmittedFile]()
        try:
            for file in (file for submitted in files for file in self._open(submitted)):
                self._entries.use()
                if file.is_unclear:
                    unclear.append(file)
                else:
                    self._sort(file)
            for file in unclear:
                if self._candidates:
                    self._ignore(file, "it may be of another student")
                else:
                    self._sort(file)
        except SkippedFile as error:
            self._rest = str(error)
        for module, listed in self._candidates.items():
            self._choose(module, listed)
        self._take_helpers()
        self._record()
        return self._account

    def _open(self, file: SubmittedFile, depth: int = 0) -> Iterator[SubmittedFile]:
        """Yield a file, or those in an archive and in the archives in it, with their paths in all of them."""
        name, content = lower_suffix(file.name), file.content
        if isinstance(content, SkippedFile) or not name.endswith(SUFFIXES):
            yield file
        elif depth > MAX_NESTING:
            self._ignore(file, "archives may be nested twice")
        else:
            found = False
            try:
                for path, data in read_archive(name, content, max_bytes, MAX_ENTRIES, self._unpacked):
                    found = True
                    yield from self._open(replace(file, name=f"{file.name}/{path}", content=data), depth + 1)
            except SkippedFile as error:
                if self._unpacked.left < 0:
                    raise
                self._ignore(file, str(error), is_unreadable=True)
            if not found and file not in self._ignored:
                self._ignore(file, "it is empty")

    def _sort(self, file: SubmittedFile) -> None:
        """Put a file among the candidates or the helpers, or ignore it."""
        base = lower_suffix(PurePosixPath(file.name).name)
        if isinstance(file.content, ToolFiles):
            self._ignore(file, _OF_TOOLS)
        elif isinstance(file.content, SkippedFile):
            is_text = base.endswith(TEXTS)
            self._ignore(file, _NO_WORK if is_text else str(file.content), is_unreadable=not is_text)
        elif base.endswith(".ipynb"):
            self._notebooks.use()
            self._sort_notebook(file, file.content)
        elif not base.endswith(".py"):
            kind = PurePosixPath(base).suffix
            if kind in _UNREADABLE_ARCHIVES:
                self._ignore(file, f"{kind} archives cannot be read", is_unreadable=True)
            elif _DEFINITION.search(file.content) and assignments_of(file.stem, file.content, self._curriculum)[0]:
                self._ignore(file, "it looks like code, but its name does not end in .py", is_unreadable=True)
            else:
                self._ignore(file, _NO_WORK)
        elif base in RESERVED:
            self._ignore(file, "a file of this name is not part of a submission")
        else:
            modules, fit = assignments_of(file.stem, file.content, self._curriculum)
            if fit != EXACT and file.is_part and file.assignment:
                modules, fit = [file.assignment], SIMILAR
            for module in modules:
                self._candidates.setdefault(module, []).append(_Candidate(module, file, file.content, fit))
            if fit == OTHER and MODULE.fullmatch(base):
                self._helpers.append(file)
            elif not modules:
                self._ignore(file, "its name is not that of a module (letters, digits and _)")

    def _sort_notebook(self, file: SubmittedFile, content: bytes) -> None:
        assignment = file.assignment if file.is_part else ""
        name = f"{assignment or file.stem}.ipynb"
        try:
            modules = self._reader.notebook_modules(content, self._curriculum.function_names, name)
        except SkippedFile as error:
            self._ignore(file, str(error), is_unreadable=True)
            return
        if not modules:
            self._ignore(file, _NO_FUNCTION)
        for module_file, code in modules.items():
            module = module_file.removesuffix(".py")
            stem = file.stem.lower()
            fit = EXACT if stem == module else INSIDE if stem in self._curriculum.modules else SIMILAR
            self._candidates.setdefault(module, []).append(_Candidate(module, file, code, fit))

    def _choose(self, module: str, candidates: list[_Candidate]) -> None:
        """Let the best candidate of an assignment count."""
        chosen = self._chosen.get(module, "")
        if module not in self._graded and not any(one.fit and self._functions(one) for one in candidates):
            candidates = [one for one in candidates if one.fit]
        if not candidates:
            return
        # A file with the name of another assignment comes last.
        candidates = sorted(candidates, key=lambda one: one.fit == OTHER and one.file.stem in self._curriculum.modules)
        ranked = [(one, one.rank(chosen, len(candidates) == 1 or bool(self._functions(one)))) for one in candidates]
        ranked.sort(key=lambda pair: [value for value, _ in pair[1]], reverse=True)
        (best, best_rank), *others = ranked
        self._account.modules[f"{module}.py"] = best.code
        self._counts.setdefault(best.file, []).append(module)
        if module in self._graded or self._functions(best):
            self._account.counting[module] = best.file.shown
        if best.fit == OTHER:
            used = f"used as {module}.py, because it defines the functions of that module"
            self._account.notes.append(f"{best.file.shown}: {used}")
        rivals, differing = [], dict[str, str]()
        for other, rank in others:
            why = next((text for (a, text), (b, _) in zip(best_rank, rank, strict=True) if a != b), "it comes first")
            if not self._functions(other):
                why = _UNTOUCHED
            elif self._functions(other).items() <= self._functions(best).items():
                why = f"{best.file.shown} has the same functions"
            else:
                if other.fit >= min(SIMILAR, best.fit) or len(self._functions(other)) >= len(self._functions(best)):
                    rivals.append(other.file.shown)
                    differing.update(self._functions(other).items() ^ self._functions(best).items())
                why = f"{best.file.shown} counts as {module}: {why}"
            self._ignore(other.file, why)
        if rivals:
            self._account.rivals[module] = [best.file.shown, *dict.fromkeys(rivals)]
            names = self._curriculum.function_names[module]
            self._account.differing[module] = [name for name in names if name in differing]

    def _functions(self, candidate: _Candidate) -> dict[str, str]:
        """Return a digest of each function of the assignment that is written; of a file that nobody can read, one."""
        key = candidate.module, id(candidate.code)
        if key not in self._written:
            names = self._curriculum.function_names[candidate.module]
            try:
                self._written[key] = self._reader.written_functions(candidate.code, names)
            except SkippedFile as error:
                self._written[key] = {"": str(error)}
        return self._written[key]

    def _take_helpers(self) -> None:
        """Take the student's own modules that lie at the top or beside a file that counts."""
        modules, folders = self._account.modules, {str(PurePosixPath(file.name).parent) for file in self._counts}
        spelling = {name.casefold() for name in modules}
        for file in sorted(self._helpers, key=lambda file: file.name.count("/")):
            path = PurePosixPath(file.name)
            content, name = file.content, lower_suffix(path.name)
            assert isinstance(content, bytes)  # What could not be read is no helper.
            if folders and str(path.parent) not in folders | {"."}:
                self._ignore(file, "it does not lie beside a file that counts")
            elif name.casefold() in spelling:
                self._ignore(file, "there are two files of that name" if modules.get(name) != content else _SAME)
            elif len(modules) >= MAX_FILES or sum(map(len, modules.values())) + len(content) > MAX_BYTES:
                limit = f"{MAX_FILES} files or {MAX_BYTES >> 20} MiB of code"
                self._rest = self._rest or f"the rest is left out, because there are more than {limit}"
                self._ignore(file, _TOO_MUCH)
            else:
                spelling.add(name.casefold())
                modules[name] = content
                self._counts.setdefault(file, [])

    def _ignore(self, file: SubmittedFile, reason: str, *, is_unreadable: bool = False) -> None:
        """Record why a file is ignored; what cannot be read may be work that a person should see."""
        if is_unreadable and file.name:
            self._account.unreadable.append(file.shown)
        self._ignored.setdefault(file, reason)

    def _record(self) -> None:
        """Write the records of all files, those that count first, and the notes."""
        account = self._account
        ignored = [(file, why) for file, why in self._ignored.items() if file not in self._counts]
        records = [_file_record(file, modules, "") for file, modules in self._counts.items()]
        silent = (_UNTOUCHED, _SAME, _NO_WORK, _OF_TOOLS, _TOO_MUCH, *([_NO_FUNCTION] if self._counts else []))
        ignored.sort(key=lambda pair: pair[1] in silent)
        records += [_file_record(file, [], why) for file, why in ignored if file.name]
        if (more := len(records) - MAX_RECORDS) > 0:
            why = f"only {MAX_RECORDS} files are listed"
            records[MAX_RECORDS:] = [{"name": f"the rest ({more})", "counts_as": [], "ignored": why, "changed": None}]
        account.files = records
        account.notes += [
            f"{file.shown}: left out, {why}" if file.name else why for file, why in ignored if why not in silent
        ]
        if len(account.notes) > MAX_NOTES:
            account.notes[MAX_NOTES:] = [f"and {len(account.notes) - MAX_NOTES} more files left out"]
        account.notes += [self._rest] if self._rest else []


def _file_record(file: SubmittedFile, counts_as: list[str], ignored: str) -> FileRecord:
    time = None if file.changed is None else datetime.fromtimestamp(file.changed, UTC).isoformat(timespec="seconds")
    return {"name": file.shown, "counts_as": counts_as, "ignored": ignored, "changed": time}
