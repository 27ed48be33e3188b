"""Mistakes in the backward pass of a block."""

from autograder.courses.transformer.common.mistakes.block_forms import InBothForms
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_GRADIENTS = '{name: grads[name] for name in cache["names"]}'
_RETURN = f"return dx, {_GRADIENTS}"
_PRE_LN1 = 'dbranch, dln1["gamma"], dln1["beta"] = layernorm_backward(dbranch, *cache["ln1"])'
_PRE_LN2 = 'dbranch, dln2["gamma"], dln2["beta"] = layernorm_backward(dbranch, *cache["ln2"])'
_POST_LN1 = 'dsum, dln1["gamma"], dln1["beta"] = layernorm_backward(dstream, *cache["ln1"])'
_POST_LN2 = 'dsum, dln2["gamma"], dln2["beta"] = layernorm_backward(dout, *cache["ln2"])'
_PRE_SUMS, _POST_SUMS = (
    ("dstream = dout + dbranch", "dx = dstream + dbranch"),
    ("dstream = dsum + dbranch", "dx = dsum + dbranch"),
)
_PREFIXES = {"ln1": "dln1", "attn": "dattn", "ln2": "dln2", "ffn": "dffn"}


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
_LINES = {("pre", "ln1"): _PRE_LN1, ("pre", "ln2"): _PRE_LN2, ("post", "ln1"): _POST_LN1, ("post", "ln2"): _POST_LN2}
_NOT_SUMS = {"ln1": 'cache["attn"]["x"]', "ln2": 'cache["after_attention"]'}
ending, which = "-".join(("ln1",)), " and ".join(("ln1",))
edits = [
    (_LINES["post", n], _LINES["post", n].replace(f'*cache["{n}"]', f'{_NOT_SUMS[n]}, cache["{n}"][1]'))
    for n in ("ln1",)
]
mistake(f"norm-input-without-branch-{ending}", *(text for edit in edits for text in edit)).explain(f"""
    with "post", {which} got the stream without the output of the branch in the backward pass
    why: In this form the input of a norm is the sum of the two.
    ask: What was the argument of {which} in the forward pass?""")


# The dictionary.
for names in (tuple(_PREFIXES), *((name,) for name in _PREFIXES)):
    renamed = [text for name in names for text in (f'prefixed({_PREFIXES[name]}, "{name}.")', _PREFIXES[name])]
    names_of = "" if len(names) == 4 else f" of {names[0]}"
    mistake(f"no-prefixes{names_of.replace(' of ', '-')}", *renamed, _GRADIENTS, "grads").explain(f"""
        the prefixes are missing from the keys of the gradients{names_of}
        why: The gradient of attn.W_o is stored under that name. In a network of many blocks, W_o alone is ambiguous.
        ask: Which keys does `params` have, and which keys does your dict have?""")
for ending, test, which in (
    *((f"{n}-gradients", f'not name.startswith("{n}.")', f"gradients of {n}") for n in _PREFIXES),
    ("norm-gradients", '"ln" not in name', "gradients of the two norms"),
    ("bias-gradients", '".b_" not in name', "gradients of the biases b_..."),
    ("attention-bias-gradients", '"attn.b_" not in name', "gradients of attn.b_qkv and attn.b_o"),
    ("ffn-bias-gradients", '"ffn.b_" not in name', "gradients of ffn.b_1 and ffn.b_2"),
    ("beta-gradients", '".beta" not in name', "gradients of beta"),
):
    mistake(f"no-{ending}", _GRADIENTS, f"{_GRADIENTS[:-1]} if {test}}}").explain(f"""
        the {which} were not returned
        why: A parameter without a gradient is never trained.
        ask: Which keys does `params` have, and which keys does your dict have?""")
_ZEROS = """    import numpy as np

    d, f = params["ffn.W_1"].shape
    sizes = {"attn.b_qkv": 3 * d, "attn.b_o": d, "ffn.b_1": f, "ffn.b_2": d}
    params = {name: np.zeros(size, x.dtype) for name, size in sizes.items() if PART in name} | params
    attn_params, ffn_params = subset"""

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
