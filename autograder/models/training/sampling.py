"""How `headway generate` chooses the next token."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sampling:
    """The options of `generation.next_token_probs`, and the seed of the draws."""

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    seed: int = 0
