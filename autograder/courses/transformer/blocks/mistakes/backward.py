"""Mistakes in the backward pass of a block."""

from autograder.courses.transformer.common.mistakes.block_forms import InBothForms
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_GRADIENTS = '{name: grads[name] for name in cache["names"]}'
_RETURN = f"return dx, {_GRADIENTS}"
_PRE_SUMS, _POST_SUMS = (
    ("dstream = dout + dbranch", "dx = dstream + dbranch"),
    ("dstream = dsum + dbranch", "dx = dsum + dbranch"),
)

mistake = MISTAKES.for_functions("blocks.block_backward")
in_forms = InBothForms(MISTAKES, "blocks.block_backward")

# The sums.
in_forms(
    "no-second-residual", _PRE_SUMS[0], "dstream = dbranch", _POST_SUMS[0], "dstream = dbranch", common=True
).explain("""
    the gradient did not go past the feed-forward network along the stream
    why: The stream was used twice: by the step, and in the sum. The two gradients are added.
    ask: By how many paths does after_attention reach the output?""")
in_forms("no-first-residual", _PRE_SUMS[1], "dx = dbranch", _POST_SUMS[1], "dx = dbranch", common=True).explain("""
    the gradient did not go past the attention along the stream
    why: x was used twice: by the attention, and in the sum. The two gradients are added.
    ask: By how many paths does x reach the stream after the attention?""")
in_forms(
    "no-residuals",
    *(_PRE_SUMS[0], "dstream = dbranch", _PRE_SUMS[1], "dx = dbranch"),
    *(_POST_SUMS[0], "dstream = dbranch", _POST_SUMS[1], "dx = dbranch"),
).explain("""
    the gradient did not go past either of the two steps along the stream
    why: Each sum of the forward pass passes its gradient to both of its terms.
    ask: How many sums are there in the forward pass? To what does each pass its gradient?""")
in_forms("first-branch-lost", _PRE_SUMS[1], "dx = dstream * 1.0", _POST_SUMS[1], "dx = dsum * 1.0").explain("""
    the gradient through the attention was dropped
    why: The output of the attention depends on x, so its gradient is added to that of the stream.
    ask: What do you do with the gradient that multihead_attention_backward returns for x?""")
mistake("dout-to-both-steps", "dropout_backward(dstream,", "dropout_backward(dout,", common=True).explain("""
    with "pre", the attention got dout instead of the gradient of the stream
    why: The output of the attention also went through the feed-forward network, so its gradient has two parts.
    ask: Which gradients are added at after_attention?""")
mistake("last-residual-from-dout", _PRE_SUMS[1], "dx = dout + dbranch", common=True).explain("""
    with "pre", dout was added at the end instead of the gradient of the stream
    why: x also reaches the output past the attention and then through the feed-forward network.
    ask: Which gradient arrives at the first sum, the one after the attention?""")

# The norms.
mistake(
    "norm-input-without-branch-ln1", 'dstream, *cache["ln1"]', 'dstream, cache["attn"]["x"], cache["ln1"][1]'
).explain("""
    with "post", ln1 got the stream without the output of the branch in the backward pass
    why: In this form the input of a norm is the sum of the two.
    ask: What was the argument of ln1 in the forward pass?""")


# The dictionary.
mistake(
    "no-prefixes",
    *(text for name in ("ln1", "attn", "ln2", "ffn") for text in (f'prefixed(d{name}, "{name}.")', f"d{name}")),
    *(_GRADIENTS, "grads"),
).explain("""
    the prefixes are missing from the keys of the gradients
    why: The gradient of attn.W_o is stored under that name. In a network of many blocks, W_o alone is ambiguous.
    ask: Which keys does `params` have, and which keys does your dict have?""")
mistake("no-bias-gradients", _GRADIENTS, f"{_GRADIENTS[:-1]} if '.b_' not in name}}").explain("""
    the gradients of the biases b_... were not returned
    why: A parameter without a gradient is never trained.
    ask: Which keys does `params` have, and which keys does your dict have?""")

# What is returned, and what a second call finds.
mistake(
    "summed-over-calls",
    _RETURN,
    f'kept = cache.setdefault("kept", {{}})\n'
    f"    for name, value in {_GRADIENTS}.items():\n"
    "        kept[name] = kept.get(name, 0) + value\n"
    "    return dx, dict(kept)",
).explain("""
    the gradients of a second call were added to those of the first
    why: Each call returns the gradients for its own dout.
    ask: Where does your code keep the gradients after it has returned them?""")
mistake(
    "cache-used-up-attn",
    "    dln1, dln2 = {}, {}\n",
    '    if cache.setdefault("calls", 0):\n        raise KeyError("attn")\n'
    '    cache["calls"] += 1\n    dln1, dln2 = {}, {}\n',
).explain("""
    an entry was removed from the cache, so a second call fails
    why: The cache may be used again, with the same result.
    ask: Which of your lines change the cache? What does .pop do?""")
mistake(
    "always-float64",
    _RETURN,
    f'return dx.astype("float64"), {{n: g.astype("float64") for n, g in {_GRADIENTS}.items()}}',
).explain("""
    everything was converted to float64
    why: The gradients have the dtype of the inputs: float32 should stay float32.
    ask: What is the dtype of your results when `x` is float32? Which line causes it?""")
