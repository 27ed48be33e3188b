"""Find the first wrong stage of a function: of the forward pass in its cache, of the backward pass in its gradients.

This only adds to a message: students choose the entries of their caches, so a missing one is skipped.
"""

from collections.abc import Sequence
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
MIN_GRADIENTS = 4  # Fewer have no order worth reporting.
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
        except Verdict:
            continue  # The student's cache has no such entry.
        if not _agrees(call.stages[name], value, name, call):
            wrong = f"first wrong at {_describe_stage(name)}"
            return f"right up to {right}, {wrong}" if right else wrong
        right = _describe_stage(name)
    return f"right up to {right}, wrong after it" if right else None


def first_wrong_gradient(calls: Sequence[Call], expected: Any) -> str | None:
    """Return a clause on the first wrong gradient in the order of the backward pass, or None if it says nothing.

    The last of the calls returned the gradients; `expected` holds those of the reference in the order of use.
    """
    call = calls[-1]
    returned = call.value if isinstance(call.value, tuple) else (call.value,)
    wanted = expected if isinstance(expected, tuple) else (expected,)
    for output, actual, gradients in zip(call.function.outputs, returned, wanted, strict=False):
        if output.name == "params":  # They were read or drawn, not computed backward.
            continue
        if isinstance(gradients, dict) and isinstance(actual, dict) and actual.keys() == gradients.keys():
            given = (value for other in calls for value in (*other.args, *other.kwargs.values()))
            is_post = any(isinstance(value, str) and value == "post" for value in given)
            names = [name for name in gradients if isinstance(name, str)]
            order = [name for name in backward_order(names, is_post) if "." in name]
            wrong = [name for name in order if not _agrees(actual[name], gradients[name], name, call)]
            return _describe_gradients(order, wrong)
    return None


def backward_order(names: Sequence[str], is_post_norm: bool) -> list[str]:
    """Return parameters, given in the order of use in pre-norm blocks, in the order of the backward pass."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(name.rpartition(".")[0], []).append(name)
    layers = list(groups)
    for i, layer in enumerate(layers[:-1]):
        (block, _, name), (other_block, _, other) = layer.rpartition("."), layers[i + 1].rpartition(".")
        if is_post_norm and block == other_block and name.startswith("ln") and not other.startswith("ln"):
            layers[i], layers[i + 1] = layers[i + 1], layer  # There the step comes first.
    return [name for layer in reversed(layers) for name in reversed(groups[layer])]


def _agrees(actual: Any, expected: Any, name: str, call: Call) -> bool:
    try:
        compare_value(actual, expected, name, (), call.function)
    except Mismatch:
        return False
    return True


def _describe_gradients(order: Sequence[str], wrong: Sequence[str]) -> str | None:
    if len(order) < MIN_GRADIENTS or not wrong or len(wrong) == len(order):
        return None
    first = order.index(wrong[0])
    if len(wrong) == 1:
        return f"backward: of these parameters, only {wrong[0]} has a wrong gradient"
    start = f"backward: right down to {order[first - 1]}, " if first else "backward: "
    rest = ", and so is everything after it" if len(wrong) == len(order) - first else ""
    return f"{start}first wrong at {wrong[0]}{rest}"


def _describe_stage(name: str) -> str:
    place, _, stage = name.rpartition(".")
    text = STAGES.get(stage, stage)
    return f"{text} of {place.replace('blocks.', 'block ').replace('.', ' ')}" if place else text
