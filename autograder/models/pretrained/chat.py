"""A conversation with an imported model that was trained to answer.

Such a model reads one text: all messages with special tokens between them. The tokens in its vocabulary say which of
the known forms that text has. Templates in files are programs, and are not read.
"""

import math
import re
import threading
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from autograder.core.text import clean
from autograder.courses.transformer.common.pretrained.description import ModelDescription
from autograder.errors import UsageError
from autograder.models.model_process import ModelProcess
from autograder.models.pretrained.generation import LAST_LOGITS, LONGEST_PIECE, load_into
from autograder.models.pretrained.model_file import ImportedModel
from autograder.models.training.checkpoint import Checkpoint
from autograder.models.training.sampling import Sampling

PART = 128  # tokens that are read in one request: Ctrl-C has an effect after it
MOST_CHARACTERS = 100_000  # of a message
LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE = 0.01, 100
MOST_FREE = 256  # positions that dropping old questions makes free for an answer, or a quarter of the model's
Parts = list[tuple[bool, str]]  # whether it is a special token, and its text


@dataclass(frozen=True)
class ChatFormat:
    """The text of a conversation: `front`, then each message with its role."""

    name: str
    front: str
    before: str  # what comes before the text of a message
    after: str  # begins with the token that ends an answer

    @property
    def special(self) -> set[str]:
        """Return the special tokens that a model of this form has."""
        return {text for is_special, text in parts(self.front + self.before + self.after) if is_special}


FORMATS = (
    ChatFormat("ChatML", "", "<|im_start|>{role}\n", "<|im_end|>\n"),
    ChatFormat("Llama 3", "<|begin_of_text|>", "<|start_header_id|>{role}<|end_header_id|>\n\n", "<|eot_id|>"),
)


def parts(form: str, role: str = "", text: str = "") -> Parts:
    """Cut the special tokens out of a form, then fill in what they must not be looked for in."""
    cut = [part for part in re.split(r"(<\|\w+\|>)", form) if part]
    return [(part.startswith("<|"), part.replace("{role}", role).replace("{text}", text)) for part in cut]


def chat_model(path: Path, model: Checkpoint | ImportedModel) -> tuple[ImportedModel, ChatFormat]:
    """Return a model with the form of its conversations; raise UsageError if it has none."""
    if isinstance(model, ImportedModel) and (form := form_of(model.description)):
        return model, form
    names = " or ".join(form.name for form in FORMATS)
    problem = f"{path} was not trained to chat: it does not have the special tokens of {names}"
    raise UsageError(f"{problem}. Let it continue a text: headway generate {path}")


def form_of(description: ModelDescription) -> ChatFormat | None:
    """Return the form of a model's conversations, of which it has all special tokens."""
    return next((form for form in FORMATS if form.special <= {*description.tokenizer.special}), None)


def sampling_for(model: ImportedModel, **chosen: Any) -> Sampling:
    """Return the chosen options of sampling, and what the model's authors suggest for those that are None."""
    suggested = msgspec.structs.asdict(model.description.sampling) if model.description.sampling else {}
    return Sampling(**{**suggested, **{name: value for name, value in chosen.items() if value is not None}})


class CannotDo(UsageError):
    """A line of the user's cannot be followed; the conversation goes on."""


class Conversation:
    """A conversation: the ids of all its messages, of which the model's process has read the first ones."""

    def __init__(self, process: ModelProcess, model: ImportedModel, form: ChatFormat, sampling: Sampling) -> None:
        description = model.description
        self.set_temperature(sampling.temperature)
        self.n_positions = int(description.config["block_size"])  # type: ignore[arg-type]  # It is an integer.
        self.n_computed = 0  # how many tokens the model has read; those that it read anew count again
        self.notes: list[str] = []  # what the user should know about the last answer or system message
        self._form, self._tokenizer, self._kind = form, description.tokenizer, description.kind
        self._process = process
        load_into(process, "chat", model, sampling, "", [])
        self._after = self._encode(parts(form.after))
        self._ends = [*description.ends, self._after[0]]
        self._turns: list[list[int]] = []  # questions with their answers
        self.set_system("")

    @property
    def ids(self) -> list[int]:
        """Return all tokens that the model has read, or reads before its next answer."""
        return [*self._front, *(number for turn in self._turns for number in turn)]

    @property
    def n_unread(self) -> int:
        """Return how many tokens the model reads before its next answer."""
        return len(self.ids) - self._n_read

    def set_system(self, text: str) -> None:
        """Put a message of the role `system` at the beginning, or none if the text is empty."""
        message = self._form.before + "{text}" + self._form.after if text else ""
        front = self._encode(parts(self._form.front + message, "system", text))
        self._require_room(front)
        self._front, self._n_read, self.notes = front, 0, []
        self._make_room(keep=0)

    def set_temperature(self, number: float | str) -> None:
        """Set the temperature to a number, or to what the user typed."""
        try:
            temperature = float(number)
        except ValueError:
            temperature = math.nan
        if temperature != 0 and not LOWEST_TEMPERATURE <= temperature <= HIGHEST_TEMPERATURE:
            expected = f"0, or a number from {LOWEST_TEMPERATURE} to {HIGHEST_TEMPERATURE}"
            raise CannotDo(f"the temperature must be {expected}, not {clean(number, 40)!r}")
        self.temperature = temperature

    def reset(self) -> None:
        """Forget all questions and answers."""
        self._turns, self._n_read = [], 0

    def answer(self, question: str, stop: threading.Event) -> Generator[str]:
        """Yield the answer to a question, piece by piece, until the model ends it, or `stop` is set."""
        message = parts(self._form.before + "{text}" + self._form.after, "user", question)
        turn = self._encode([*message, *parts(self._form.before, "assistant")])
        self._require_room(self._front + turn)
        self._turns.append(turn)
        self.notes, is_first = [], True
        try:
            while self._make_room() and self._read(stop):
                options: dict[str, Any] = {"temperature": self.temperature, "ends": self._ends, "is_first": is_first}
                token, piece = self._process.request("answer", "generation.sample", **options)
                if self._valid([token], "generation.sample")[0] in self._ends:
                    break
                turn.append(token)
                is_first = False
                yield clean(piece, LONGEST_PIECE)
        finally:
            turn += self._after

    def shown(self) -> list[tuple[bool, str]]:
        """Return the tokens of the conversation: whether it is a special token, and its text."""
        texts = self._process.request("texts", "bpe.bpe_decode", ids=self.ids)
        special, tokens = {*self._tokenizer.special}, self._tokenizer.tokens
        return [(tokens[n] in special, clean(text, 200)) for n, text in zip(self.ids, texts, strict=True)]

    def _encode(self, message: Parts) -> list[int]:
        text = "".join(text for _, text in message)
        if len(text) > MOST_CHARACTERS:
            raise CannotDo(f"a message may have at most {MOST_CHARACTERS:,} characters. Shorten it")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise CannotDo("the message is not valid UTF-8. Type it again") from None
        return self._valid(self._process.request("encode", "bpe.bpe_encode", parts=message), "bpe.bpe_encode")

    def _valid(self, ids: Any, function: str) -> list[int]:
        """Return ids that the student's code computed."""
        if not isinstance(ids, list) or not all(
            type(number) is int and 0 <= number < len(self._tokenizer.tokens) for number in ids
        ):
            raise UsageError(f"{function} did not return ids of the vocabulary. Check it: headway check {function}")
        return [*ids]

    def _require_room(self, ids: list[int]) -> None:
        if not self._fits(ids):
            problem = f"this takes {len(ids):,} tokens, and the model has {self.n_positions:,} positions in all"
            raise CannotDo(f"{problem}. Shorten the message")

    def _fits(self, ids: list[int], free: int = 1) -> bool:
        """Return whether there is room for ids, some more, and the end of an answer."""
        return len(ids) + free + len(self._after) <= self.n_positions

    def _make_room(self, keep: int = 1) -> bool:
        """Drop the oldest turns but `keep` if there is no room for a token; return whether there is then."""
        if self._fits(self.ids):
            return True
        free, count = min(MOST_FREE, self.n_positions // 4), len(self._turns)
        while len(self._turns) > keep and not self._fits(self.ids, free):
            del self._turns[0]
        if dropped := count - len(self._turns):
            self._n_read = 0
            oldest = "the oldest question" if dropped == 1 else f"the {dropped} oldest questions"
            self.notes.append(f"no room for {oldest} any more")
        if not self._fits(self.ids):
            self.notes.append(f"the answer fills all {self.n_positions:,} positions: /reset begins anew")
        return self._fits(self.ids)

    def _read(self, stop: threading.Event) -> bool:
        """Have the model read what it has not read yet; return False if it was stopped."""
        ids = self.ids
        while self._n_read < len(ids) and not stop.is_set():
            part = ids[self._n_read : self._n_read + PART]
            self._process.request("read", LAST_LOGITS[self._kind], ids=part, anew=self._n_read == 0)
            self._n_read += len(part)
            self.n_computed += len(part)
        return not stop.is_set()
