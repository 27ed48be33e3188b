"""More mistakes in multihead.multihead_attention: its branches, its biases, its mask and its cache."""

from autograder.courses.transformer.common.mistakes.batch_axes import add_batch_axes_mistakes
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_PARAMETERS = 'W_qkv, b_qkv = params["W_qkv"], params.get("b_qkv")\n'
_ATTENTION = "    heads, weights = attention(q, k, v, mask)"
_CALL = "attention(q, k, v, mask)"
# Where a mistake is made: the end of its name, the start of its title, and the condition.
SCOPES = (
    ("", "", "True"),
    ("-in-self-attention", "in self attention ", "memory is None"),
    ("-in-cross-attention", "in cross attention ", "memory is not None"),
)

mistake = MISTAKES.for_functions("multihead.multihead_attention")
for ending, start, condition in SCOPES:
    mistake(
        f"order-kqv{ending}",
        _PARAMETERS,
        f"""{_PARAMETERS}
    if {condition}:
        W_qkv = np.concatenate([np.split(W_qkv, 3, axis=1)[i] for i in (1, 0, 2)], axis=1)
        b_qkv = None if b_qkv is None else np.concatenate([np.split(b_qkv, 3)[i] for i in (1, 0, 2)])
""",
        common=not ending,
    ).explain(f"""
        {start}the first third of W_qkv was used for the keys, the second for the queries
        why: The name gives the order: q, k, v.
        ask: Which columns of W_qkv make the queries by the formula, and which the keys?""")

mistake("b_qkv-only-with-b_o", 'params.get("b_qkv")', 'params.get("b_qkv") if "b_o" in params else None').explain("""
    b_qkv was added only if there is b_o, too
    why: Each bias may be absent, independently of the other.
    ask: Which keys does your `if` look for, and which keys does the line below it use?""")
mistake("b_qkv-only-without-memory", "(None, None) if b_qkv is None else", "(None, None) if True else").explain("""
    with a memory, b_qkv was not added
    why: Cross attention uses the same parameters: a third of b_qkv for the queries, the rest for keys and values.
    ask: In which of your two branches does b_qkv appear?""")
mistake("b_qkv-of-queries-only", "b_qkv[d_model:])", "None)").explain("""
    with a memory, b_qkv was added to the queries only
    why: Cross attention uses the same parameters: a third of b_qkv for the queries, the rest for keys and values.
    ask: What is added to the keys and to the values, in each of your two branches?""")


mistake(
    "heads-of-positions", _ATTENTION, f"    q, k, v = (p.swapaxes(-2, -3) for p in (q, k, v))\n{_ATTENTION}"
).explain("""
    the head axis was not moved in front of the positions
    why: Head h owns the columns from h K up to (h + 1) K, and attention works on the last two axes.
    ask: What is the shape of your q, and which entries of x W_qkv are in its first head?""")


mistake(
    "mask-of-batch-with-three-axes",
    _CALL,
    "attention(q, k, v, mask[:, None] if mask is not None and mask.ndim == 3 else mask)",
).explain("""
    a mask of three axes was taken for one per text, and got an axis for the heads
    why: Masks broadcast to (..., H, T, S), so the three axes are (H, T, S). One that does not fit is an error.
    ask: With which axis of (B, H, T, S) does the first of three axes line up?""")
mistake(
    "numbers-in-mask-accepted", _CALL, "attention(q, k, v, None if mask is None else mask.astype(bool))"
).explain("""
    a mask of numbers was accepted
    why: In a mask of 0 and -inf, 0 means "may attend", but as a boolean it is False, and -inf is True: the mask would
         be inverted, without an error.
    ask: What does your code do with the mask before `attention` sees it?""")
mistake("sizes-not-checked", ".shape[-1]", ".shape[-1]\n    while d_model % n_heads:\n        n_heads -= 1").explain("""
    a width that is not a multiple of the number of heads was accepted
    why: The sizes contradict each other. With fewer heads than asked for, the model is not the one that was meant.
    ask: With 6 columns and 4 heads, how many columns does each head have in your code?""")


add_batch_axes_mistakes(mistake, "d_model = x.shape[-1]\n")
