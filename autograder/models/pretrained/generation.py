"""Generate text with an imported model, token by token, and measure how fast."""

import time
from collections.abc import Generator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from autograder.core.text import clean, counted
from autograder.errors import UsageError
from autograder.models.model_process import ModelProcess
from autograder.models.pretrained.model_file import ImportedModel
from autograder.models.training.sampling import Sampling
from autograder.sandbox.process import start_workers

LONGEST_PIECE = 10_000  # characters of the text of one token
# Which of the student's functions an error is reported as one of; last_logits of `llama` is given.
LAST_LOGITS = {"gpt2": "gpt2.last_logits", "llama": "llama.generate_llama"}


@dataclass
class Speed:
    """How long a text has taken so far."""

    prompt_tokens: int = 0
    first_seconds: float = 0.0  # until the first new token: reading the prompt
    tokens: int = 0  # new ones, without the first
    seconds: float = 0.0  # of these
    ended: bool = False  # whether the model ended the text

    def __str__(self) -> str:
        """Return the line that is shown after the text."""
        first = f"first new token after {self.first_seconds:.2f} s (prompt: {counted(self.prompt_tokens, 'token')})"
        end = ". The model ended the text" if self.ended else ""
        if not self.tokens:
            return first + end
        return (
            f"{first}, then {counted(self.tokens, 'token')} at {self.tokens / self.seconds:.1f} tokens per second{end}"
        )


def load_into(
    process: ModelProcess, action: str, model: ImportedModel, sampling: Sampling, prompt: str, start: list[int | None]
) -> Any:
    """Have the process load a model, to generate a text or to chat; return the number of tokens of the prompt.

    `start` holds the tokens to begin with where there is no prompt.
    """
    description = model.description
    return process.request(
        action,
        "bpe.bpe_encode",
        module=description.kind,
        params=model.params,
        config=model.config,
        tokenizer=description.tokenizer.request(),
        prompt=prompt,
        start=start,
        ends=description.ends,
        **asdict(sampling),
    )


def stream_text(
    modules: Path, model: ImportedModel, prompt: str, length: int, sampling: Sampling, speed: Speed
) -> Generator[str]:
    """Yield the prompt, then the text of up to `length` new tokens as soon as it is complete; keep `speed` up to date.

    Without a prompt, the text begins after the token that begins one, or after one that ends one.
    """
    try:
        prompt.encode()
    except UnicodeEncodeError:
        raise UsageError("the prompt is not valid UTF-8. Give another: --prompt TEXT") from None
    description, begin = model.description, model.description.tokenizer.begin
    if begin is None:
        begin = next(iter(description.ends), None)
    if not prompt and begin is None:
        raise UsageError("the prompt is empty, and the model has no token to begin with. Give one: --prompt TEXT")
    yield clean(prompt, len(prompt) + 1)
    with start_workers() as workers, closing(ModelProcess(workers, modules, "pretrained")) as process:
        speed.prompt_tokens = load_into(process, "generate", model, sampling, prompt, [begin])
        started = time.perf_counter()
        for number in range(length):
            piece = process.request("next", LAST_LOGITS[description.kind])
            now = time.perf_counter()
            if number == 0:
                speed.first_seconds, started = now - started, now
            else:
                speed.tokens, speed.seconds = number, now - started
            if piece is None:
                speed.ended = True
                return
            yield clean(piece, LONGEST_PIECE)
