"""Score the answers of a runner: wrong implementations found, right ones accepted, mistakes named."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from autograder.benchmark.records import Answer, Cause, Implementation
from autograder.benchmark.runner_process import RunnerResult

SCHEMA: Final = "headway.benchmark-scores/1"


class Causes:
    """All causes in a data set, by function, to decide which of them a text names."""

    def __init__(self, everything: Iterable[Implementation]) -> None:
        self._causes: dict[str, dict[str, Cause]] = {}
        for item in everything:
            self._causes.setdefault(item.function, {}).update({cause.id: cause for cause in item.causes})

    def names_cause(self, item: Implementation, text: str | None) -> bool:
        """Return whether a text is exactly the id or the title of a cause of an implementation.

        A cause of the same family counts, too, because no test can distinguish the two, and so does one with the same
        title. In titles, upper and lower case, white space and a full stop at the end do not matter.
        """
        if text is None:
            return False
        title = _normalized(text)
        chosen = [c for c in self._causes[item.function].values() if text == c.id or title == _normalized(c.title)]
        families = {cause.family for cause in item.causes}
        titles = {_normalized(cause.title) for cause in item.causes}
        return any(cause.family in families or _normalized(cause.title) in titles for cause in chosen)


def _normalized(title: str) -> str:
    return " ".join(title.split()).casefold().removesuffix(".")


@dataclass
class Score:
    """Counts of a group of implementations."""

    wrong: int = 0
    found: int = 0  # wrong implementations that were called wrong
    right: int = 0
    accepted: int = 0  # right implementations that were not called wrong
    nameable: int = 0  # wrong implementations with a known cause
    named: int = 0  # of these, called wrong and with a cause named
    missing: int = 0  # implementations without an answer; they count as neither found nor accepted

    def add(self, item: Implementation, answer: Answer | None, causes: Causes) -> None:
        """Count one implementation."""
        called_wrong = answer.wrong if answer is not None else None
        self.missing += answer is None
        if item.correct:
            self.right += 1
            self.accepted += called_wrong is False
            return
        self.wrong += 1
        self.found += called_wrong is True
        self.nameable += bool(item.causes)
        self.named += answer is not None and called_wrong is True and causes.names_cause(item, answer.mistake)

    def as_record(self) -> dict[str, Any]:
        """Return the counts and the shares; a share of nothing is None."""
        shares = {
            "sensitivity": _share(self.found, self.wrong),
            "specificity": _share(self.accepted, self.right),
            "named_share": _share(self.named, self.nameable),
        }
        return {**vars(self), **shares}


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def score_record(
    items: Sequence[Implementation], everything: Sequence[Implementation], result: RunnerResult
) -> dict[str, Any]:
    """Return the scores of all `items` and by assignment, style and split, with every answer, as a document.

    Args:
        items: the implementations that the runner was asked about.
        everything: the whole data set, whose causes a runner could choose from.
        result: what it has answered.
    """
    causes, total = Causes(everything), Score()
    groups: dict[str, dict[str, Score]] = {"assignment": {}, "style": {}, "split": {}}
    for item in items:
        answer = result.answers.get(item.id)
        total.add(item, answer, causes)
        for key, scores in groups.items():
            scores.setdefault(getattr(item, key), Score()).add(item, answer, causes)
    return {
        "schema": SCHEMA,
        "total": total.as_record(),
        **{f"by_{key}": {name: score.as_record() for name, score in groups[key].items()} for key in groups},
        "answers": [_answer_record(item, result) for item in items],
        "problems": result.problems,
    }


def _answer_record(item: Implementation, result: RunnerResult) -> dict[str, Any]:
    answer = result.answers.get(item.id)
    record: dict[str, Any] = {"id": item.id, "correct": item.correct}
    if answer is None:
        return record | {"missing": result.missing.get(item.id, "no answer")}
    return record | {"wrong": answer.wrong, "mistake": answer.mistake}
