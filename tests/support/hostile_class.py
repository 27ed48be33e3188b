"""Grade a class of hostile submissions, and watch from outside what they do.

    python tests/support/hostile_class.py landlock+seccomp [ATTACK ...]

grades it, or the named attacks, at one level and prints a line of JSON for each attack.

Every submission in `tests/submissions/hostile/` states what it tries, what stops it, and the expected outcome; the
functions of the modules in its folder `short` are attacks too, and the modules in its folder `generated` make many of a
kind. Words like @secret@ are replaced by the real value of this run. To "full points" the official solution is added
below the attack: the attack fails, and nothing else.

What counts as a breach: more points than are fair, or less; a trap that sprang (a file made or changed, somebody who
called at a port); the secret, or the word BREACH with which a submission reports its own success, anywhere in the
result document; commands or markup in a report; time or memory of the grader; a process that is left. After every
hostile submission comes an honest one.
"""

import ast
import contextlib
import faulthandler
import json
import os
import re
import resource
import runpy
import secrets
import socket
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import autograder
from autograder.classroom.submissions import intake
from autograder.classroom.submissions.account import account_for
from autograder.classroom.submissions.model import Attempt, SubmissionPart
from autograder.course.stubs import bundled
from autograder.courses.transformer import TRANSFORMER
from autograder.documents.results import to_document, withhold
from autograder.engine.session import Options, run_in_session
from autograder.report.student_feedback import as_html, as_markdown
from autograder.sandbox import policy, probe, source_reader
from autograder.sandbox.limits import Limits
from autograder.sandbox.policy import NO_SANDBOX

HOSTILE = Path(__file__).parents[1] / "submissions" / "hostile"
GENERATED, SHORT = HOSTILE / "generated", HOSTILE / "short"
FUNCTION = "softmax.log_softmax"
HIDDEN = "softmax.log_softmax::log_extreme"  # the hidden check, of the attacks on hidden checks
# What the grader itself may use for one attack; the first ones load the known mistakes.
GRADER_SECONDS, GRADER_MIB = 6.0, 400
HEADER = re.compile(r'(?s)"""(.+?)\n\nHeld by: (process|sandbox|bubblewrap|landlock)\nRight: (0|full) points\n"""')
LIMITS = Limits(
    call_seconds=0.2, retry_seconds=0.05, submission_seconds=0.6, cpu_seconds=10.0, grader_seconds=3.0,
    memory_bytes=768 << 20, result_bytes=16 << 20, output_bytes=1 << 20,
)  # fmt: skip
# What was not held is graded once more with limits that are longer by this factor, so that a busy machine is no breach.
SECOND_TRY = 6
ATTACK_SECONDS = 300  # Grading one attack and the honest submission after it may take so long before the run ends.
# Bubblewrap's process inside the sandbox ends after the one that the grader waits for: by 46 ms on a busy machine.
ENDING_SECONDS = 60.0
LEVELS = {"+".join(level): level for level in probe.LEVELS} | {"process": ()}
LEFTOVERS = [Path(folder, "headway-hostile") for folder in ("/tmp", "/var/tmp", "/dev/shm")]


@dataclass(frozen=True)
class Attack:
    """One hostile submission.

    Attributes:
        held_by: "process": a process of its own is enough; "sandbox": every level of it; or the mechanism needed.
        fair: the share of the points that is right: 1, or 0 beyond what a function that returns zeros gets.
        files: contents by name, as text or as bytes.
        function: the function that is graded.
        hidden: whether one of its checks is hidden.
        is_read: whether the files are read as those of a class are, instead of being there.
    """

    name: str
    tries: str
    held_by: str
    fair: int
    files: dict[str, str | bytes]
    function: str = FUNCTION
    hidden: bool = False
    is_read: bool = False

    def is_held_at(self, level):
        """Whether this level promises to hold it."""
        return self.held_by == "process" or (level if self.held_by == "sandbox" else self.held_by in level)


@dataclass
class Outcome:
    attack: Attack
    earned: float
    fair: float
    seconds: float
    breaches: list[str] = field(default_factory=list)

    @property
    def held(self):
        right = self.earned == self.fair if self.attack.fair else self.earned <= self.fair
        return right and not self.breaches


MARKUP = re.compile(r"<script>fuzz|<img src=x|\]\(javascript:fuzz[^`]*\n#")
ZEROS = "import numpy as np\n\n\ndef log_softmax(x, axis=-1):\n    return np.zeros(np.shape(x))\n"


def attacks():
    written = (path for path in HOSTILE.iterdir() if path.suffix == ".py" or path.is_dir())
    found = [_attack(path) for path in written if path not in (GENERATED, SHORT)]
    return sorted([*found, *short_attacks(), *generated_attacks()], key=lambda attack: attack.name)


def short_attacks():
    """The functions of the modules in `short`: calls, which are the graded function, and attempts, which must fail."""
    solution = (bundled("solutions") / "softmax.py").read_text("utf-8")
    for path in sorted(SHORT.glob("*.py")):
        text = path.read_text("utf-8")
        functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name[0] != "_"]
        common = "".join(text.splitlines(keepends=True)[: functions[0].lineno - 1])
        for node in functions:
            tries, _, held_by = ast.get_docstring(node).partition("\n\nHeld by: ")
            code = common + ast.get_source_segment(text, node)
            if node.args.args:
                code, held_by, fair = re.sub(rf"(?<![\w.]){node.name}\(", "log_softmax(", code), "process", 0
            else:
                code, held_by, fair = f"{code}\n\n\n_try_each({node.name}())\n\n{solution}", held_by or "sandbox", 1
            yield Attack(node.name, tries, held_by, fair, {"softmax.py": code})


def generated_attacks():
    """The attacks that modules make: dictionaries with the fields of an Attack, or `code` in place of the files."""
    return [
        Attack(
            made["name"], made["tries"], made.get("held_by", "process"), int(made.get("right") == "full"),
            made.get("files") or {"softmax.py": made["code"]}, made.get("function", FUNCTION),
            made.get("hidden", False), is_read=True,
        )
        for path in sorted(GENERATED.glob("*.py"))
        for made in runpy.run_path(str(path))["ATTACKS"]
    ]  # fmt: skip


def _attack(path):
    files = {"softmax.py": path} if path.is_file() else {entry.name: entry for entry in path.iterdir()}
    texts = {name: file.read_text("utf-8") for name, file in files.items()}
    text = texts["softmax.py"]
    said = HEADER.match(text)
    assert said, f"{path.name} does not say what it tries, what holds it and what is right"
    tries, held_by, right = said.groups()
    if right == "full":
        text += "\n\n" + (bundled("solutions") / "softmax.py").read_text("utf-8")
    return Attack(path.stem, tries, held_by, int(right == "full"), {**texts, "softmax.py": text})


class Traps:
    """What hostile code could find or reach, watched from outside."""

    def __enter__(self):
        self._stack = contextlib.ExitStack()
        folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="headway-traps-"))
        os.chmod(folder, 0o755)  # another user's grader finds them as well
        self.marks = Path(folder, "marks")
        self.marks.mkdir()
        self.marks.chmod(0o777)
        self.word = secrets.token_hex(16)
        self.secret = Path(folder, "secret")
        self.secret.write_text(f'SECRET = "{self.word}"\n')
        self.tcp = self._stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.udp = self._stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.udp.bind(("127.0.0.1", 0))
        self.abstract = self._stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        self.abstract.bind(f"\0headway-{self.word}")
        for listener in (self.tcp, self.udp, self.abstract):
            listener.setblocking(False)
        return self

    def __exit__(self, *exc):
        self._stack.close()

    def words(self, root):
        """What the words between @ in hostile code stand for."""
        package, site = Path(autograder.__file__).parent, Path(sys.modules["numpy"].__file__).parents[1]
        return {
            "secret": self.secret, "marks": self.marks, "port": self.tcp.getsockname()[1],
            "udp": self.udp.getsockname()[1], "abstract": f"headway-{self.word}", "grader": os.getpid(),
            "submissions_root": root, "sibling": root / "sibling" / "softmax.py", "package": package,
            "solutions": bundled("solutions"), "site": site,
        }  # fmt: skip

    def sprung(self):
        """What has happened since the last time this was asked."""
        found = [f"made {path.name}" for path in self.marks.iterdir()]
        for path in self.marks.iterdir():
            path.rmdir() if path.is_dir() else path.unlink()
        if not self.secret.is_file() or self.word not in self.secret.read_text() or self.secret.stat().st_nlink > 1:
            found.append("changed the secret")
        with contextlib.suppress(BlockingIOError):
            self.tcp.accept()[0].close()
            found.append("connected")
        for name, listener in (("udp", self.udp), ("abstract", self.abstract)):
            with contextlib.suppress(BlockingIOError):
                listener.recv(100)
                found.append(f"sent to {name}")
        for path in LEFTOVERS:
            if path.exists():
                path.unlink()
                found.append(f"left {path}")
        return found


@dataclass
class Report:
    """What came of a class: outcomes, attacks after which the honest student lost points, what is left behind."""

    outcomes: list[Outcome]
    disturbed: list[str]
    left: list[str]


def max_seconds(limits):
    """A submission may take its own time and that of reading its code; the rest is for the grader."""
    return limits.submission_seconds + source_reader.LIMITS.cpu_seconds + 4


def grade(level, chosen, factor=1):
    """Grade hostile and honest submissions in turn at one level, with the limits of time multiplied."""
    names = ("call_seconds", "retry_seconds", "submission_seconds", "cpu_seconds", "grader_seconds")
    limits = replace(LIMITS, **{name: factor * getattr(LIMITS, name) for name in names})
    report = Report([], [], [])
    folders = (tempfile.TemporaryDirectory(prefix=prefix) for prefix in ("headway-", "submitted-"))
    with Traps() as traps, next(folders) as name, next(folders) as inbox:
        root, inbox = Path(name).resolve(), Path(inbox).resolve()
        words = traps.words(root)
        solutions = {path.name: path.read_text("utf-8") for path in bundled("solutions").glob("*.py")}
        _folder(root, solutions, words).rename(root / "sibling")
        root.chmod(0o300)  # as `headway grade` has it: names of submissions cannot be listed, and are secret
        sandbox = policy.build(level, root, probe.NO_PACKAGES) if level else NO_SANDBOX
        for hidden in (False, True):
            group = [attack for attack in chosen if attack.hidden == hidden]
            functions = tuple({FUNCTION, *(attack.function for attack in group)})
            is_hidden = lambda check, hidden=hidden: hidden and check == HIDDEN  # noqa: E731
            # What diagnosis does in the grader's process is the same at every level.
            options = Options(functions, limits=limits, sandbox=sandbox, diagnose=level == probe.LEVELS[0],
                              is_hidden=is_hidden)  # fmt: skip
            places = {"root": root, "inbox": inbox, "traps": traps}
            run_in_session(options, partial(_grade_in_turn, group=group, report=report, limits=limits, **places))
        root.chmod(0o700)
        report.left = [*_left_behind(str(root) if level else f'"parent": {os.getpid()}'), *traps.sprung()]
    return report


def _grade_in_turn(checks, group, root, inbox, traps, report, limits):
    words = traps.words(root)
    zeros = checks.check("zeros", _folder(root, {"softmax.py": ZEROS}, words), (FUNCTION,)).earned
    for attack in group:
        faulthandler.dump_traceback_later(ATTACK_SECONDS, exit=True)
        cpu, peak = time.process_time(), _peak_mib()
        result = checks.check(attack.name, _submitted(attack, root, inbox, words, checks.reader), (attack.function,))
        cpu, peak = time.process_time() - cpu, _peak_mib() - peak
        least = zeros if attack.function == FUNCTION else 0.0
        # On a busy machine everything takes longer, but uses no more.
        taken = min(result.seconds, result.charged_seconds)
        breaches = [*_in_the_document(result, traps, is_hidden=attack.hidden), *traps.sprung()]
        if taken > max_seconds(limits):
            breaches.append(f"took {taken:.1f} s")
        if cpu > GRADER_SECONDS * limits.cpu_seconds / LIMITS.cpu_seconds or peak > GRADER_MIB:
            breaches.append(f"the grader used {cpu:.1f} s and {peak:.0f} MiB")
        fair = result.possible(TRANSFORMER) if attack.fair else least
        report.outcomes.append(Outcome(attack, result.earned, fair, result.seconds, breaches))
        if not checks.check("honest", root / "sibling", (attack.function,)).passed:
            report.disturbed.append(attack.name)
    faulthandler.cancel_dump_traceback_later()


def _submitted(attack, root, inbox, words, reader):
    """Return the folder that is graded; files that a class submits are read first, as those of a class are."""
    folder = _folder(inbox if attack.is_read else root, attack.files, words)
    if not attack.is_read:
        return folder
    target = _folder(root, {}, words)
    files = intake.read_files(Attempt((SubmissionPart(folder),)))
    assert [file.name for file in files] == sorted(attack.files), files
    account_for(files, TRANSFORMER, reader).write(target, TRANSFORMER)
    return target


def _peak_mib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


STUDENT = dict.fromkeys(("score", "out_of", "late_days", "penalty"), 0) | {
    "name": "Ada", "status": "graded", "reason": "", "notes": [], "assignments": {}, "dropped": [], "submission": "ada",
    "limit_note": "", "comments": [],
}  # fmt: skip


def _in_the_document(result, traps, *, is_hidden):
    if is_hidden:
        withhold(result, "summary", lambda check: check == HIDDEN)
    document = to_document(result, TRANSFORMER)
    text = json.dumps(document, ensure_ascii=False)
    page = as_html(STUDENT, document)
    reports = "\n".join([text, page, as_markdown(STUDENT, document)])
    breaches = [word for word in ("BREACH", traps.word, "\x1b", "\\u001b", "\u202e") if word in reports]
    breaches += ["markup in the page"] if MARKUP.search(page) else []
    breaches += [f"internal error: {problem}" for problem in result.internal_errors]
    breaches += _in_the_hidden_check(document) if is_hidden else []
    return breaches


def _in_the_hidden_check(document):
    """What the document says of the hidden check besides its points, and whether it passed."""
    functions = (function for assignment in document["assignments"] for function in assignment["functions"])
    record = next(check for function in functions for check in function["checks"] if check["id"] == HIDDEN)
    known, nothing = ("id", "function", "title", "points"), (None, "", [], 0.0, "passed", "failed")
    return [f"{name}: {value}" for name, value in record.items() if name not in known and value not in nothing]


def grade_twice(level, chosen):
    """Grade, and what was not held once more: a machine that stalls makes an honest student late, no breach."""
    report = grade(level, chosen)
    doubtful = {outcome.attack.name for outcome in report.outcomes if not outcome.held} | set(report.disturbed)
    if doubtful:
        again = grade(level, [attack for attack in chosen if attack.name in doubtful], SECOND_TRY)
        second = {outcome.attack.name: outcome for outcome in again.outcomes}
        report.outcomes = [second.get(outcome.attack.name, outcome) for outcome in report.outcomes]
        report.disturbed, report.left = again.disturbed, [*report.left, *again.left]
    return report


def _folder(root, files, words):
    return write_attack(root / secrets.token_hex(16), files, words)


def write_attack(folder, files, words):
    """Write the files of an attack into a new folder, with the words of this run; return the folder."""
    folder.mkdir(parents=True)
    for name, content in files.items():
        if isinstance(content, str):
            content = re.sub(r"@(\w+)@", lambda match: str(words[match[1]]), content).encode()
        (folder / name).write_bytes(content)
    return folder


def _left_behind(mark):
    """Processes with the mark that do not end within ENDING_SECONDS."""
    end = time.monotonic() + ENDING_SECONDS
    while (found := _processes(mark)) and time.monotonic() < end:
        time.sleep(0.02)
    return found


def _processes(mark):
    """Processes whose command line holds the mark; a process forked from another has its command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if mark in path.read_text("utf-8", "replace") and path.parent.name != str(os.getpid()):
                found.append(f"process {path.parent.name} is left")
    return found


def main():
    level, names = LEVELS[sys.argv[1]], sys.argv[2:]
    chosen = [attack for attack in attacks() if attack.is_held_at(level) and (not names or attack.name in names)]
    report = grade_twice(level, chosen)
    for outcome in report.outcomes:
        record = {"attack": outcome.attack.name, "held": outcome.held, "earned": outcome.earned, "fair": outcome.fair}
        print(json.dumps({**record, "seconds": round(outcome.seconds, 2), "breaches": outcome.breaches}))
    print(json.dumps({"disturbed": report.disturbed, "left": report.left}))


if __name__ == "__main__":
    main()
