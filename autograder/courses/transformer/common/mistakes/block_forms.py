"""Mistakes that a block has in both of its forms, or in only one of them."""

from dataclasses import dataclass

from autograder.engine.diagnosis.mistake import Mistakes


@dataclass(frozen=True)
class InBothForms:
    """Adds a mistake to both forms, and to each form alone: code with two branches often has it in only one."""

    mistakes: Mistakes
    function: str

    def __call__(self, name: str, *edits: str, common: bool = False) -> "_Unexplained":
        """Return the mistake without its text; the first half of the edits is for "pre", the second for "post"."""
        return _Unexplained(self, name, edits, common)


@dataclass(frozen=True)
class _Unexplained:
    where: InBothForms
    name: str
    edits: tuple[str, ...]
    common: bool

    def explain(self, text: str) -> None:
        """Set the text of all three mistakes; see `MistakeEntry.explain`."""
        mistake, half = self.where.mistakes.for_functions(self.where.function), len(self.edits) // 2
        mistake(self.name, *self.edits, common=self.common).explain(text)
        for form, edits in (("pre", self.edits[:half]), ("post", self.edits[half:])):
            mistake(f"{self.name}-with-{form}", *edits).explain(f'with "{form}", {text.strip()}')
