"""Find the first wrong stage of a function: compare the named entries of its cache with those of PyTorch's.

This only adds to a message: students choose the entries of their caches, so a missing one is skipped.
"""

from typing import Any

from autograder.engine.comparison.compare import compare_value
from autograder.engine.student import Cache, Call
from autograder.errors import Mismatch, Verdict

STAGES = {
    "weights": "the attention weights",
    "source_weights": "the weights of source attention",
    "after_attention": "the residual stream after attention",
    "after_source_attention": "the residual stream after source attention",
    "after_ffn": "the residual stream after the feed-forward network",
    "embedded": "the embedded tokens",
    "source_embedded": "the embedded source",
    "target_embedded": "the embedded target",
    "final_norm": "the final norm",
    "memory": "the encoder's output",
}
INPUTS = "inputs"  # an entry for the reference's backward pass, which is not a stage


def first_wrong_stage(call: Call, expected: Any) -> str | None:
    """Return a clause on the first wrong stage, or None if the caches have no stages in common.

    The cache of the reference's value `expected` is a dict with the stages in the order of computation.
    """
    if type(call.value) is not tuple or not call.value or not isinstance(expected, tuple):
        return None
    cache, stages = call.value[-1], expected[-1]
    if not isinstance(cache, Cache) or not isinstance(stages, dict):
        return None
    right = ""
    for name, value in stages.items():
        if name == INPUTS:
            continue
        try:
            call.stages[name] = cache.peek(name)
            compare_value(call.stages[name], value, name, (), call.function)
        except Mismatch:
            wrong = f"first wrong at {_describe_stage(name)}"
            return f"right up to {right}, {wrong}" if right else wrong
        except Verdict:
            continue  # The student's cache has no such entry.
        right = _describe_stage(name)
    return f"right up to {right}, wrong after it" if right else None


def _describe_stage(name: str) -> str:
    place, _, stage = name.rpartition(".")
    text = STAGES.get(stage, stage)
    return f"{text} of {place.replace('blocks.', 'block ').replace('.', ' ')}" if place else text
