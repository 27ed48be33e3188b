"""A conversation with an imported model, which was trained to answer.

Such a model reads one text: all messages with special tokens between them. The tokens in its vocabulary say which of
the known forms that text has. Templates in files are programs, and are not read.
"""

import math
import re
import threading
from collections.abc import Generator, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec

from autograder.core.text import clean
from autograder.errors import UsageError
from autograder.models.model_process import ModelProcess
from autograder.models.pretrained.generation import LAST_LOGITS, LONGEST_PIECE
from autograder.models.pretrained.model_file import ImportedModel, ModelDescription
from autograder.models.training.checkpoint import Checkpoint
from autograder.models.training.sampling import Sampling
from autograder.sandbox.workers import Workers

PART = 128  # tokens that are read in one request: Ctrl-C has an effect after it
MOST_FREE = 256  # positions that a conversation leaves to the next answer, or a quarter of the model's
_SPECIAL = re.compile(r"(<\|\w+\|>)")
Parts = list[tuple[bool, str]]  # whether it is a special token, and its text


@dataclass(frozen=True)
class ChatFormat:
    """The text that a model reads: `front`, then `message` for each message."""

    name: str
    front: str
    message: str  # with {role} and {text}

    @property
    def special(self) -> set[str]:
        """Return the special tokens that a model of this form has."""
        return {*_SPECIAL.findall(self.front + self.message)}

    def before(self, role: str, text: str = "") -> Parts:
        """Return what is read before the end of a message."""
        parts = _parts(self.message.partition("{text}")[0].replace("{role}", role))
        return [*parts[:-1], (False, parts[-1][1] + text)]

    @property
    def after(self) -> Parts:
        """Return what is read after the text of a message; it begins with the token that ends an answer."""
        return _parts(self.message.partition("{text}")[2])


FORMATS = (
    ChatFormat("ChatML", "", "<|im_start|>{role}\n{text}<|im_end|>\n"),
    ChatFormat(
        "Llama 3", "<|begin_of_text|>", "<|start_header_id|>{role}<|end_header_id|>\n\n{text}<|eot_id|>"
    ),
)  # fmt: skip


def _parts(text: str) -> Parts:
    return [(bool(_SPECIAL.fullmatch(part)), part) for part in _SPECIAL.split(text) if part]


def chat_model(path: Path, model: Checkpoint | ImportedModel) -> tuple[ImportedModel, ChatFormat]:
    """Return a model with the form of its conversations; raise UsageError if it has none."""
    if isinstance(model, ImportedModel):
        for form in FORMATS:
            if form.special <= {*model.description.tokenizer.special}:
                return model, form
    names = " or ".join(form.name for form in FORMATS)
    raise UsageError(
        f"{path} was not trained to chat: it has no special tokens of {names}. Let it continue a text: "
        f"headway generate {path}"
    )


def sampling_for(description: ModelDescription, **chosen: Any) -> Sampling:
    """Return the chosen options of sampling, and what the model's authors suggest for those that are None."""
    suggested = msgspec.structs.asdict(description.sampling) if description.sampling else {}
    return Sampling(**{**suggested, **{name: value for name, value in chosen.items() if value is not None}})


class CannotDo(UsageError):
    """A line of the user's cannot be followed; the conversation goes on."""


class Conversation:
    """A conversation: the ids of all its messages, of which the model's process has read the first ones."""

    def __init__(
        self, workers: Workers, modules: Path, model: ImportedModel, form: ChatFormat, sampling: Sampling
    ) -> None:
        description = model.description
        self.temperature = sampling.temperature
        self.n_computed = 0  # tokens that the model has read, those that it read anew included
        self.is_complete = False  # whether the model ended its last answer
        self.notes: list[str] = []  # what the user should know about the last answer
        self._form, self._sampling, self._tokens = form, sampling, description.tokenizer.tokens
        self._special = {*description.tokenizer.special}
        self.n_positions = int(description.config["block_size"])  # type: ignore[arg-type]  # It is an integer.
        self._last_logits = LAST_LOGITS[description.kind]
        self._process = ModelProcess(workers, modules, "pretrained")
        self._process.request(
            "chat",
            "bpe.bpe_encode",
            module=description.kind,
            params=model.params,
            config=model.config,
            tokenizer=description.tokenizer.request(),
            prompt="",
            start=[],
            ends=description.ends,
            **asdict(sampling),
        )
        self._after = self._encode(form.after)
        self._ends = {*description.ends, self._after[0]}
        self._front: list[int] = []
        self._turns: list[list[int]] = []  # questions with their answers
        self._n_read = 0
        self.set_system("")

    @property
    def ids(self) -> list[int]:
        """Return all that the model has read, or reads before its next answer."""
        return [*self._front, *(number for turn in self._turns for number in turn)]

    @property
    def n_unread(self) -> int:
        """Return how many tokens the model reads before its next answer."""
        return len(self.ids) - self._n_read

    def set_system(self, text: str) -> None:
        """Put a message of the role `system` at the beginning, or none if the text is empty."""
        message = self._form.before("system", text) + self._form.after if text else []
        front = self._encode(_parts(self._form.front) + message)
        self._require_room(len(front))
        self._front, self._n_read = front, 0

    def set_temperature(self, text: str) -> None:
        """Set the temperature to the number that the text is."""
        try:
            temperature = float(text)
        except ValueError:
            temperature = math.nan
        if not 0 <= temperature <= 100:  # False for nan
            raise CannotDo(f"the temperature must be a number from 0 to 100, not {clean(text, 40)!r}")
        self.temperature = temperature

    def reset(self) -> None:
        """Forget all questions and answers."""
        self._turns, self._n_read = [], 0

    def answer(self, question: str, stop: threading.Event) -> Generator[str]:
        """Yield the answer to a question, piece by piece, until the model ends it, or `stop` is set."""
        self.notes, self.is_complete = [], False
        turn = self._encode(self._form.before("user", question) + self._form.after + self._form.before("assistant"))
        self._require_room(len(self._front) + len(turn))
        self._turns.append(turn)
        options: dict[str, Any] = {"temperature": self.temperature, "ends": [*self._ends]}
        is_first = True
        try:
            while self._make_room() and self._read(stop) and not stop.is_set():
                reply = self._process.request("answer", "generation.sample", is_first=is_first, **options)
                token, piece = self._checked_answer(reply)
                is_first, self.is_complete = False, token in self._ends
                if self.is_complete:
                    break
                turn.append(token)
                yield clean(piece, LONGEST_PIECE)
        finally:
            turn += self._after

    def shown(self) -> list[tuple[bool, str]]:
        """Return the tokens of the conversation: whether it is a special token, and its text."""
        texts = self._process.request("texts", "bpe.bpe_decode", ids=self.ids)
        return [(self._tokens[n] in self._special, clean(text, 200)) for n, text in zip(self.ids, texts, strict=True)]

    def close(self) -> None:
        """End the process."""
        self._process.close()

    def _encode(self, parts: Parts) -> list[int]:
        try:
            "".join(text for _, text in parts).encode()
        except UnicodeEncodeError:
            raise CannotDo("the message is not valid UTF-8. Type it again") from None
        ids = self._process.request("encode", "bpe.bpe_encode", parts=parts)
        return [self._checked(number, "bpe.bpe_encode") for number in _items(ids)]

    def _checked(self, number: Any, function: str) -> int:
        """Return an id that the student's code computed."""
        if type(number) is not int or not 0 <= number < len(self._tokens):
            raise UsageError(f"{function} did not return ids of the vocabulary. Check it: headway check {function}")
        return number

    def _checked_answer(self, reply: Any) -> tuple[int, str]:
        token, piece = _items(reply) or (None, "")
        return self._checked(token, "generation.sample"), str(piece)

    def _require_room(self, n_needed: int) -> None:
        """Raise UsageError unless these tokens and an answer fit into the model."""
        if n_needed >= self.n_positions:
            needed = f"needs {n_needed:,} tokens, and the model reads {self.n_positions:,} with its answer"
            raise CannotDo(f"the message {needed}. Shorten it")

    def _make_room(self) -> bool:
        """Drop the oldest turns if no position is free; return whether one is free then."""
        if len(self.ids) <= self.n_positions:
            return True
        free, count = min(MOST_FREE, self.n_positions // 4), len(self._turns)
        while len(self._turns) > 1 and len(self.ids) + free > self.n_positions:
            del self._turns[0]
        dropped = count - len(self._turns)
        if dropped:
            self._n_read = 0
            turns = "question" if dropped == 1 else f"{dropped} questions"
            self.notes.append(f"no room for all: dropped the oldest {turns}, and read the rest anew")
        if len(self.ids) <= self.n_positions:
            return True
        self.notes.append(f"the answer fills the model's {self.n_positions:,} positions. To begin anew: /reset")
        return False

    def _read(self, stop: threading.Event) -> bool:
        """Have the model read what it has not read yet; return False if it was stopped."""
        ids = self.ids
        while self._n_read < len(ids) and not stop.is_set():
            part = ids[self._n_read : self._n_read + PART]
            self._process.request("read", self._last_logits, ids=part, anew=self._n_read == 0)
            self._n_read += len(part)
            self.n_computed += len(part)
        return self._n_read == len(ids)


def _items(reply: Any) -> Iterable[Any]:
    return reply if isinstance(reply, (list, tuple)) else ()
