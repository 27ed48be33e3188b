"""Mistakes in the forward pass of a block."""

from autograder.courses.transformer.common.mistakes.block_forms import InBothForms
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_PRE_ATTENTION = "multihead_attention(layernorm(ln1_in, **ln1), attn_params, n_heads, mask)"
_POST_ATTENTION = "multihead_attention(x, attn_params, n_heads, mask)"
_PRE_FFN = "ffn(layernorm(ln2_in, **ln2), ffn_params, activation)"
_POST_FFN = "ffn(after_attention, ffn_params, activation)"
_PRE_SUMS = ("ln2_in = x + attn_out", "after_ffn = after_attention + ffn_out")
_POST_SUMS = ("ln1_in = x + attn_out", "ln2_in = after_attention + ffn_out")
_POST_NORMS = ("after_attention = layernorm(ln1_in, **ln1)", "after_ffn = layernorm(ln2_in, **ln2)")
_CHECK = "    if norm not in"
_INVERTED = "None if mask is None else ~mask)"

mistake = MISTAKES.for_functions("blocks.block")
in_forms = InBothForms(MISTAKES, "blocks.block")

# Which form, which arguments.
mistake("always-pre", 'if norm == "pre":', 'if norm in ("pre", "post"):').explain("""
    the norm argument was ignored: the form was always "pre"
    why: With the default the mistake stays hidden.
    ask: Which of your lines handles "post"?""")
in_forms(
    "activation-ignored",
    _PRE_FFN,
    _PRE_FFN.replace(", activation", ""),
    _POST_FFN,
    _POST_FFN.replace(", activation", ""),
    common=True,
).explain("""
    the activation argument was ignored: GELU was always used
    why: With GELU, the default, the mistake stays hidden.
    ask: Which of the functions that you call has a parameter `activation`?""")
_CHECKED = 'ffn_params, "gelu" if activation == "relu" else activation)'
mistake(
    "activation-only-checked",
    *(_PRE_FFN, _PRE_FFN.replace("ffn_params, activation)", _CHECKED)),
    *(_POST_FFN, _POST_FFN.replace("ffn_params, activation)", _CHECKED)),
).explain("""
    the activation was checked, but not passed on: GELU was always used
    why: With GELU, the default, the mistake stays hidden.
    ask: Which of the functions that you call has a parameter `activation`?""")
in_forms(
    "mask-ignored",
    _PRE_ATTENTION,
    _PRE_ATTENTION.replace(", mask", ""),
    _POST_ATTENTION,
    _POST_ATTENTION.replace(", mask", ""),
    common=True,
).explain("""
    the mask was not used in the attention
    why: Every position then attends to all others, including later ones.
    ask: Which of the functions that you call has a parameter `mask`?""")
in_forms(
    "mask-inverted",
    _PRE_ATTENTION,
    _PRE_ATTENTION.replace("mask)", _INVERTED),
    _POST_ATTENTION,
    _POST_ATTENTION.replace("mask)", _INVERTED),
    common=True,
).explain("""
    the mask was inverted before it was passed to the attention
    why: Here True means that the query may attend to the key. In some libraries it means the opposite.
    ask: With a causal mask, which positions does position 0 attend to in your block: itself, or all later ones?""")
in_forms(
    "mask-transposed",
    _PRE_ATTENTION,
    _PRE_ATTENTION.replace("mask)", "None if mask is None else mask.swapaxes(-1, -2))"),
    _POST_ATTENTION,
    _POST_ATTENTION.replace("mask)", "None if mask is None else mask.swapaxes(-1, -2))"),
).explain("""
    the mask was transposed before it was passed to the attention
    why: Its rows are queries and its columns keys, as multihead_attention expects them.
    ask: Which of the last two axes of the mask belongs to the queries?""")
mistake(
    "no-key-is-every-key",
    _CHECK,
    f"    if mask is not None:\n        mask = mask | ~mask.any(axis=-1, keepdims=True)\n{_CHECK}",
).explain("""
    a query that may attend to no key attended to all of them
    why: Its heads should give 0. If hidden scores are set to a large negative number, such a row has equal scores.
    ask: What are the weights of a row in which every score is -1e9?""")
_MASK = "    if mask is None:\n        order = np.arange(x.shape[-2])\n        mask = order[:, None] >= order\n"
mistake("always-causal", _CHECK, f"    import numpy as np\n\n{_MASK}{_CHECK}").explain("""
    without a mask, a causal mask was used
    why: mask=None means that every position attends to every other one. The encoder needs that.
    ask: With mask=None, does a change at the last position reach the output at position 0?""")
in_forms(
    "one-head",
    _PRE_ATTENTION,
    _PRE_ATTENTION.replace("n_heads", "1"),
    _POST_ATTENTION,
    _POST_ATTENTION.replace("n_heads", "1"),
).explain("""
    the attention used one head, not n_heads
    why: The shapes are the same for any number of heads.
    ask: Which number of heads do you pass to the attention?""")

# The sums.
in_forms(
    "no-first-residual", _PRE_SUMS[0], "ln2_in = attn_out", _POST_SUMS[0], "ln1_in = attn_out", common=True
).explain("""
    x was not added to the output of the attention
    why: Each step only adds to the stream. Without the sums, deep networks hardly train.
    ask: What do you add to the output of the attention?""")
in_forms(
    "no-second-residual", _PRE_SUMS[1], "after_ffn = ffn_out", _POST_SUMS[1], "ln2_in = ffn_out", common=True
).explain("""
    the stream was not added to the output of ffn
    why: Each step only adds to the stream. Without the sums, deep networks hardly train.
    ask: What do you add to the output of the feed-forward network?""")
in_forms(
    "second-residual-from-x", _PRE_SUMS[1], "after_ffn = x + ffn_out", _POST_SUMS[1], "ln2_in = x + ffn_out"
).explain("""
    the second sum added x, not the stream after the attention
    why: The output of the attention is then lost from the stream.
    ask: Which array is the residual stream after the first step?""")
mistake("second-residual-before-norm", _POST_SUMS[1], "ln2_in = ln1_in + ffn_out").explain("""
    with "post", the second sum added the first sum before its norm, not after it
    why: In this form the residual stream is what the norm returns. ffn reads it, and its output is added to it.
    ask: Which array does ffn read in your code, and to which array do you add its output?""")
mistake("x-added-twice", "after_ffn = after_attention +", "after_ffn = x + after_attention +").explain("""
    with "pre", x was added again at the end, although the stream contains it
    why: After the attention the stream is x plus the output of the attention. The second step is added to that, and to
         nothing else.
    ask: If both steps return 0, how often is x in your output?""")
in_forms(
    "x-in-place",
    "after_attention = ln2_in = x + attn_out",
    "x += attn_out\n        after_attention = ln2_in = x",
    _POST_SUMS[0],
    "x += attn_out\n        ln1_in = x",
).explain("""
    x += … changed the caller's array
    why: The caller may still need x, and the backward pass certainly does.
    ask: Which of your lines write into an array that you did not create?""")

# The norms.
in_forms(
    "first-norm-unused",
    _PRE_ATTENTION,
    _PRE_ATTENTION.replace("layernorm(ln1_in, **ln1)", "ln1_in"),
    _POST_NORMS[0],
    "after_attention = ln1_in",
    common=True,
).explain("""
    the first norm, ln1, was not applied
    why: The norm may have been computed, but its result was not used.
    ask: Where does your code use the result of ln1?""")
in_forms(
    "second-norm-unused",
    _PRE_FFN,
    _PRE_FFN.replace("layernorm(ln2_in, **ln2)", "ln2_in"),
    _POST_NORMS[1],
    "after_ffn = ln2_in",
    common=True,
).explain("""
    the second norm, ln2, was not applied
    why: The norm may have been computed, but its result was not used.
    ask: Where does your code use the result of ln2?""")
_PLACES = {
    "ln1": ("(layernorm(ln1_in, **ln1), attn", _POST_NORMS[0]),
    "ln2": ("(layernorm(ln2_in, **ln2), ffn", _POST_NORMS[1]),
}
for norm, other in (("ln1", "ln2"), ("ln2", "ln1")):
    for name, arguments, what in (
        ("other-beta", f'{norm}["gamma"], {other}["beta"]', f"used the beta of {other}"),
        ("no-gamma-and-beta", f'{norm}["gamma"] ** 0, {norm}["beta"] * 0', "did not use gamma and beta"),
    ):
        changes = [text for old in _PLACES[norm] for text in (old, old.replace(f"**{norm}", arguments))]
        in_forms(f"{name}-{norm}", *changes).explain(f"""
            {norm} {what}
            why: With gamma 1 and beta 0 the mistake stays hidden.
            ask: Which entries of `params` does each of your two norms read, and in which order does it get them?""")
