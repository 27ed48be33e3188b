"""What an imported model is: configuration, tokenizer, and the shapes of its parameters in the course's names.

A GPT-2 and a Llama differ in their configuration and their parameters only; `kind` says which one it is.
"""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

FORMAT = "headway.model/1"
_SIZES = {
    "gpt2": ("vocab_size", "block_size", "n_layers", "n_heads", "d_model", "d_ff"),
    "llama": ("vocab_size", "block_size", "n_layers", "n_heads", "n_kv_heads", "d_model", "d_ff"),
}
CONFIGS = {"gpt2": ("gpt", "GPTConfig"), "llama": ("llama", "LlamaConfig")}
LLAMA3_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# The expressions for `bpe.split_text`, by the names in the file; None is GPT-2's, which the student writes. SmolLM2's
# tokenizer cuts out each digit first, and then splits what is between them as GPT-2 does: so all whitespace before a
# digit is one piece.
PATTERNS = {
    "gpt2": None,
    "digits": r"\p{N}|'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?[^\s\p{L}\p{N}]+|\s+(?=\p{N})|\s+(?!\S)|\s+",
    "llama3": LLAMA3_PATTERN,
}

Splitting = Literal["gpt2", "digits", "llama3"]
Shapes = dict[str, tuple[int, ...]]  # of parameters, by name


class ModelTokenizer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How texts become ids."""

    tokens: list[str]  # the vocabulary, in the order of the ids
    merges: list[tuple[str, str]]  # pairs of tokens, in the order in which they are merged
    special: list[str] = []  # the tokens that are split off before anything else
    splitting: Splitting = "gpt2"  # a key of PATTERNS
    ignore_merges: bool = False  # whether a piece that is a token is not merged from its parts
    begin: int | None = None  # the id of the token that begins a text, if there is one
    begin_in_front: bool = False  # whether it is in front of every text

    def require_consistent(self, vocab_size: Any) -> None:
        """Raise ValueError unless its parts fit together."""
        if len(self.tokens) != vocab_size:
            raise ValueError(f"the vocabulary has {len(self.tokens)} tokens, expected {vocab_size}")
        if unknown := set(self.special) - set(self.tokens):
            raise ValueError(f"the special token {min(unknown)[:80]!r} is not in the vocabulary")
        if (self.begin is None and self.begin_in_front) or not 0 <= (self.begin or 0) < vocab_size:
            raise ValueError(f"the beginning of a text is {self.begin!r}, expected the id of a token")

    def request(self) -> dict[str, Any]:
        """Return what the student's process needs to encode and decode texts."""
        rest = {"special": self.special, "pattern": PATTERNS[self.splitting], "ignore_merges": self.ignore_merges}
        return {"tokens": as_bytes(self.tokens), "merges": as_bytes(self.merges), **rest,
                "front": [self.begin] if self.begin_in_front else []}  # fmt: skip


class SuggestedSampling(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of `generation.next_token_probs` that the authors of a model suggest."""

    temperature: Annotated[float, msgspec.Meta(ge=0)] = 1.0
    top_k: Annotated[int, msgspec.Meta(ge=0)] | None = None
    top_p: Annotated[float, msgspec.Meta(gt=0, le=1)] | None = None


class ModelDescription(msgspec.Struct, frozen=True, tag_field="format", tag=FORMAT, forbid_unknown_fields=True):
    """Everything about an imported model but its parameters."""

    kind: Literal["gpt2", "llama"]
    source: str  # the name of the folder that it was imported from
    config: dict[str, int | float | bool | str | tuple[float, ...] | None]  # of its `GPTConfig` or `LlamaConfig`
    tokenizer: ModelTokenizer
    ends: list[int]  # the ids of the tokens that end a text
    sampling: SuggestedSampling | None = None

    def is_transposed(self, name: str) -> bool:
        """Return whether the file has the transpose of this parameter."""
        return name == "W_tok" and bool(self.config["tied"])

    def stored_shape(self, name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape in the file of a parameter of this shape."""
        return shape[::-1] if self.is_transposed(name) else shape

    @property
    def shapes(self) -> Shapes:
        """Return the shape of every parameter of a model with this configuration."""
        config: dict[str, Any] = self.config
        outside, block = (_llama_shapes if self.kind == "llama" else _gpt_shapes)(config)
        shapes = {f"blocks.{i}.{name}": shape for i in range(config["n_layers"]) for name, shape in block.items()}
        table = (config["vocab_size"], config["d_model"])
        head = {} if config["tied"] else {"W_head": table[::-1]}
        return {"W_tok": table, **outside, **shapes, **head}

    def require_consistent(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        """Raise ValueError unless its parts, and parameters of these shapes, fit together."""
        for name in _SIZES[self.kind]:
            size = self.config.get(name)
            if type(size) is not int or size < 1:
                raise ValueError(f"{name} is {size!r}, expected an integer of at least 1")
        self.tokenizer.require_consistent(self.config["vocab_size"])
        if wrong := [end for end in self.ends if not 0 <= end < len(self.tokenizer.tokens)]:
            raise ValueError(f"the end of a text is {wrong[0]!r}, expected the id of a token")
        if self.config["n_layers"] > len(shapes):  # type: ignore[operator]  # It is an integer.
            raise ValueError(f"{len(shapes)} parameters are too few for {self.config['n_layers']} blocks")
        expected = self.shapes
        for name in sorted(expected.keys() | shapes.keys()):
            if name not in shapes:
                raise ValueError(f"the parameter {name} is missing")
            if name not in expected:
                raise ValueError(f"there is no parameter {name[:80]!r} in such a model")
            if shapes[name] != expected[name]:
                raise ValueError(f"{name} has shape {shapes[name]}, expected {expected[name]}")


def _gpt_shapes(config: Mapping[str, Any]) -> tuple[Shapes, Shapes]:
    """Return the shapes of the parameters outside of blocks, and those in each block."""
    width, hidden = config["d_model"], config["d_ff"]
    outside = {"W_pos": (config["block_size"], width), "ln_f.gamma": (width,), "ln_f.beta": (width,)}
    block = {"ln1.gamma": (width,), "ln1.beta": (width,), "attn.W_qkv": (width, 3 * width),
             "attn.b_qkv": (3 * width,), "attn.W_o": (width, width), "attn.b_o": (width,), "ln2.gamma": (width,),
             "ln2.beta": (width,), "ffn.W_1": (width, hidden), "ffn.b_1": (hidden,), "ffn.W_2": (hidden, width),
             "ffn.b_2": (width,)}  # fmt: skip
    return outside, block


def _llama_shapes(config: Mapping[str, Any]) -> tuple[Shapes, Shapes]:
    width, hidden = config["d_model"], config["d_ff"]
    narrow = width // config["n_heads"] * config["n_kv_heads"]
    block = {"norm1.gamma": (width,), "attn.W_q": (width, width), "attn.W_k": (width, narrow),
             "attn.W_v": (width, narrow), "attn.W_o": (width, width), "norm2.gamma": (width,),
             "ffn.W_gate": (width, hidden), "ffn.W_up": (width, hidden), "ffn.W_down": (hidden, width)}  # fmt: skip
    return {"norm_f.gamma": (width,)}, block


def as_bytes(value: Any) -> bytes:
    """Return JSON, for values that are too long for the header of a frame."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
