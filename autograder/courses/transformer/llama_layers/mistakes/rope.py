"""Mistakes in the rotation by position and in its gradient."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_HALVES = "first, second = np.split(x, 2, axis=-1)"
_PAIRS = "first, second = x[..., ::2], x[..., 1::2]"
_JOINED = "np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)"
_WOVEN = "np.stack([first * cos - second * sin, first * sin + second * cos], axis=-1).reshape(x.shape)"
_FIRST, _SECOND = "first * cos - second * sin", "first * sin + second * cos"
_EXPONENT = "(-2 * pairs / size)"
_RATES = f"float(base) ** {_EXPONENT} if np.ndim(base) == 0 else np.asarray(base, dtype=np.float64)"
_POSITIONS = "np.asarray(positions)[:, None]"

both = MISTAKES.for_functions("llama_layers.rope", "llama_layers.rope_backward")
rope = MISTAKES.for_functions("llama_layers.rope")
backward = MISTAKES.for_functions("llama_layers.rope_backward")

# Which entries form a pair.
for name, edits, title in (
    ("interleaved", (_HALVES, _PAIRS, _JOINED, _WOVEN), "neighboring entries were rotated: 2i with 2i + 1"),
    (
        "angles-of-interleaved",
        (
            _JOINED,
            "x * np.repeat(cos, 2, axis=-1) + np.concatenate([-second, first], axis=-1) * np.repeat(sin, 2, axis=-1)",
        ),
        "the halves were rotated, but with the angles of neighboring pairs: each angle twice in a row",
    ),
):
    both(name, *edits, inside="_rotate", common=name == "interleaved").explain(f"""
        {title}
        why: Here the entry i is rotated with the entry i + K/2. Weights that were trained with one order of the
             entries give nonsense with another.
        ask: With K = 6, which entry belongs to entry 0 by the formula, and which one in your code?""")

# The angles.
for name, edits, title, ask in (
    (
        "half-the-exponent",
        ("-2 * pairs", "-1 * pairs"),
        "the exponent was -i/K, not -2i/K",
        "For K = 4, the second pair turns by 0.01 from one position to the next. By how much does it turn in yours?",
    ),
    (
        "exponent-positive",
        ("-2 * pairs", "2 * pairs"),
        "the exponent was 2i/K, not -2i/K: later pairs turn faster",
        "For K = 4, the second pair turns by 0.01 from one position to the next. By how much does it turn in yours?",
    ),
    (
        "base-of-e",
        (f"float(base) ** {_EXPONENT}", f"np.exp{_EXPONENT}"),
        "the powers are those of e, not of the base",
        "Where is `base` in your angle?",
    ),
    (
        "base-ignored",
        (_RATES, f"10000.0 ** {_EXPONENT}"),
        "the argument base was not used: the base was 10,000",
        "What changes in your result if `base` does?",
    ),
    (
        "positions-ignored",
        (_POSITIONS, "np.arange(len(positions))[:, None]"),
        "the argument positions was not used: the rows were counted from 0",
        "What is the angle in the first row if `positions` begins with 9?",
    ),
    (
        "positions-from-the-first",
        (_POSITIONS, "(np.asarray(positions) - positions[0])[:, None]"),
        "the positions were counted from the first one",
        "What is the angle in the first row if `positions` begins with 9?",
    ),
    (
        "positions-from-one",
        (_POSITIONS, "(np.asarray(positions) + 1)[:, None]"),
        "1 was added to the positions",
        "What should a row at position 0 become?",
    ),
):
    both(
        name,
        *edits,
        inside="_cos_sin",
        common=name in ("half-the-exponent", "exponent-positive", "base-ignored", "positions-ignored"),
    ).explain(f"""
        {title}
        why: The angle of pair i is positions[t] · base^(-2i/K), in radians: the first pair turns the fastest.
        ask: {ask}""")

# The rotation itself; `sin` is negative in the backward pass.
for name, first, second, title in (
    ("minus-missing", "first * cos + second * sin", _SECOND, "the minus sign is missing: both sums are added"),
    (
        "rotated-with-new-first",
        _FIRST,
        "(first * cos - second * sin) * sin + second * cos",
        "the second entry of a pair was computed with the new first entry, not with the old one",
    ),
):
    both(
        name, _JOINED, f"np.concatenate([{first}, {second}], axis=-1)", inside="_rotate", common=name == "minus-missing"
    ).explain(f"""
        {title}
        why: A rotation by θ turns (a, b) into (a cos θ - b sin θ, a sin θ + b cos θ). rope_backward turns by -θ.
        ask: What does your code make of the pair (1, 0), and what of (0, 1), at an angle of 90 degrees?""")
rope("reversed", "_rotate(x, cos, sin)", "_rotate(x, cos, -sin)", common=True).explain("""
    the pairs were turned the other way: the minus sign is in the second line
    why: A rotation turns (a, b) into (a cos θ - b sin θ, a sin θ + b cos θ). With the opposite sign in both lines it
         turns backwards, and parameters that were trained with the other direction give nonsense.
    ask: At an angle of 90 degrees, does your code turn (1, 0) into (0, 1) or into (0, -1)?""")
rope("copy", "_rotate(x, cos, sin)", "x * 1").explain("""
    x was returned unchanged
    why: Without the rotation, attention does not know the order of the positions.
    ask: Which lines of your code change the entries?""")
rope(
    "float64", "return _rotate(x, cos, sin)", "return _rotate(x, cos, sin).astype(np.float64)", common=True
).explain("""
    the result is float64 for every input
    why: The cosines are float64 if the angles are, and so is their product with x.
    ask: Which dtype do your cosines and sines have when x is float32?""")
rope(
    "integers-stay",
    "x = as_float(x)",
    "kind = np.asarray(x).dtype\n    x = as_float(x)",
    "return _rotate(x, cos, sin)",
    "return _rotate(x, cos, sin).astype(kind)",
).explain("""
    the result for integers is made of integers
    why: np.empty_like and np.zeros_like of integers cut off all digits after the point.
    ask: What does as_float do, and where do you call it?""")
for name, body, title in (
    ("last-entry-dropped", "x = as_float(x)\n    x = x[..., : x.shape[-1] // 2 * 2]", "and the last entry dropped"),
    (
        "last-entry-kept",
        """x = as_float(x)
    if x.shape[-1] % 2:
        return np.concatenate([rope(x[..., :-1], positions, base), x[..., -1:]], axis=-1)
""",
        "and the last entry not rotated",
    ),
):
    rope(f"odd-{name}", "x = as_float(x)", body).explain(f"""
        vectors of odd length were accepted, {title}
        why: Every entry needs a partner. A model with such a size is misread, and nothing else would say so.
        ask: With K = 5, how many pairs are there in your code?""")
for name, unpacked, words in (
    ("two", "_, _, _, _", "needs exactly two leading axes: B, H, T, K = x.shape"),
    ("no", "_, _", "works only without leading axes: T, K = x.shape"),
):
    rope(f"exactly-{name}-leading-axes", "x = as_float(x)", f"x = as_float(x)\n    {unpacked} = x.shape").explain(f"""
        the function {words}
        why: There may be any number of leading axes, or none.
        ask: How can you read the sizes from the end of the shape, whatever comes before them?""")
    backward(f"exactly-{name}-leading-axes", "    cos, sin", f"    {unpacked} = dout.shape\n    cos, sin").explain(f"""
        the function {words.replace("x.shape", "dout.shape")}
        why: There may be any number of leading axes, or none.
        ask: How can you read the sizes from the end of the shape, whatever comes before them?""")

# The gradient.
_BACK = "_rotate(dout, cos, -sin)"
for name, code, title in (
    ("rotated-forward", "_rotate(dout, cos, sin)", "dout was turned forward, as in rope, not back"),
    ("passed-through", "dout * 1", "dx is dout, as if there were no rotation"),
):
    backward(name, _BACK, code, common=name == "rotated-forward").explain(f"""
        {title}
        why: The gradient of out = R x is Rᵀ dout, and the transpose of a rotation turns back by the same angle.
        ask: With which factors do x_i and its partner appear in out_i, and with which in the partner's output?""")
backward("float64", f"return {_BACK}", f"return {_BACK}.astype(np.float64)").explain("""
    the result is float64 for every input
    why: The cosines are float64 if the angles are, and so is their product with dout.
    ask: Which dtype do your cosines and sines have when dout is float32?""")
rope(
    "angles-as-a-base",
    _RATES,
    "np.asarray(base, dtype=np.float64) ** (-2 * pairs / size)",
    inside="_cos_sin",
).explain("""
    the angles in `base` were used as if each were a base
    why: `base` may hold the K/2 angles from one position to the next. Then there is no power to compute.
    ask: What does your code do if `base` is (1.0, 0.1)?""")
