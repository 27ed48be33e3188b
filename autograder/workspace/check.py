"""One verdict on a workspace, remembered: what `headway check` and its kin do."""

from collections.abc import Mapping
from pathlib import Path

from autograder.curriculum import Curriculum
from autograder.curriculum.stubs import EXPERIMENT
from autograder.engine import session
from autograder.results import Status, SubmissionResult
from autograder.workspace import badges, dependencies, progress, state


def check(folder: Path, functions: tuple[str, ...], curriculum: Curriculum) -> SubmissionResult:
    """Check functions of a workspace and take note of what was found."""
    snapshot = dependencies.take(folder, curriculum)
    everything = len(functions) == len(curriculum.functions)
    options = session.Options(functions=None if everything else functions, curriculum=curriculum)
    result = session.check(folder.resolve().name, folder, options)
    remember(folder, snapshot, result)
    return result


def remember(folder: Path, snapshot: dependencies.Snapshot, result: SubmissionResult) -> list[str]:
    """Note the public verdict in the state of a workspace made by `headway init`; elsewhere nothing is written.

    Returns:
        Lines for milestones that were reached.
    """
    if result.seed != 0 or not (folder / state.FILE).is_file():
        return []
    remembered = state.load(folder)
    if remembered.curriculum != snapshot.curriculum:
        return []
    entries = progress.load(remembered)
    fresh = progress.update(entries, result.checks, snapshot.prints)
    progress.store(remembered, entries)
    news = badges.for_functions(remembered, fresh)
    remembered.save()
    return news


def following(folder: Path, snapshot: dependencies.Snapshot, result: SubmissionResult) -> str | None:
    """What to do when everything that was checked passes: the next function that is open; None if that is not known.

    At the end of an assignment its experiment, too, if the student's file still has one.
    """
    curriculum = snapshot.curriculum
    known = progress.valid(progress.load(state.load(folder)), snapshot.prints) if state.is_workspace(folder) else {}
    known |= {check.function: "passed" for check in result.checks}
    after = max((check.function for check in result.checks), key=list(curriculum.functions).index, default=None)
    name = progress.next_open(known, curriculum, after)
    if name is None:
        return "Nothing is open: all of the course passes." + _experiment(after, known, snapshot)
    module, _, function = name.partition(".")
    if module not in snapshot.modules:
        return None
    if snapshot.is_stub(name):
        told = f"Next: write {function} in {module}.py, then: headway check {name}\nStuck? headway hint {name}"
    else:
        told = f"Next: {name}, which has not passed yet: headway check {name}"
    return told + _experiment(after, known, snapshot)


def _experiment(after: str | None, known: Mapping[str, Status], snapshot: dependencies.Snapshot) -> str:
    """A line about the experiment of the assignment of `after`, if all of it passes and the file still has one."""
    module = (after or "").partition(".")[0]
    if module not in snapshot.modules or EXPERIMENT.encode() not in snapshot.modules[module].content:
        return ""
    functions = snapshot.curriculum.modules[module].functions
    if not all(known.get(function.qualified) == "passed" for function in functions if not function.bonus):
        return ""
    return f"\n{module}.py ends with an experiment. Guess first, then: python {module}.py"


def statuses(folder: Path, functions: tuple[str, ...], curriculum: Curriculum) -> dict[str, Status]:
    """The status of each function: from memory where the code is the same, checked now where it is not."""
    snapshot = dependencies.take(folder, curriculum)
    known = progress.valid(progress.load(state.load(folder)), snapshot.prints)
    lacking = tuple(name for name in functions if name not in known)
    if lacking:
        result = check(folder, lacking, curriculum)
        fresh: dict[str, progress.Entry] = {}
        progress.update(fresh, result.checks, snapshot.prints)
        known |= {name: entry.status for name, entry in fresh.items()}
    return {name: known[name] for name in functions if name in known}
