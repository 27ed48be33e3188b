"""Mistakes in assignment 7: activations, linear layers, dropout and the feed-forward network."""

from autograder.courses.transformer.mistakes._ffn_backward import MISTAKES as BACKWARD
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(BACKWARD)

_GELU = """
    x = as_float(x)
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
"""
_ERF = "phi = 0.5 * (1 + _erf(x / math.sqrt(2)))"

mistake = MISTAKES.for_functions("ffn.relu")
mistake("leaky").body("""
    x = as_float(x)
    return np.where(x > 0, x, x * 0.01)
""").explain("""
    negative values were not set to 0: this is the leaky ReLU
    why: ReLU returns exactly 0 for every negative value.
    ask: What should relu(-1000) be?""")
mistake("minimum", "np.maximum", "np.minimum").explain("""
    the minimum with 0 was taken, not the maximum
    why: This keeps the negative values and drops the positive ones.
    ask: What is relu(3)?""")
mistake("gate-only", "np.maximum(as_float(x), 0)", "(as_float(x) > 0) * np.ones_like(as_float(x))").explain("""
    1 is returned for positive values instead of the values themselves
    why: That is the slope of ReLU. ReLU itself returns positive values unchanged.
    ask: What is relu(3)?""")
mistake("float64", "as_float(x), 0", "as_float(x), np.zeros(np.shape(x))").explain("""
    the result is float64 for every input
    why: np.zeros makes a float64 array, and the result of combining it with x is then float64, too.
    ask: Which dtype do np.zeros and np.where(…, 0.0) with it give you? A plain 0 does not change the dtype of x.""")
mistake("integers-stay", "as_float(x)", "np.asarray(x)").explain("""
    integers were not converted to floats
    why: All functions of this course compute in floats; integers are converted to float64 first.
    ask: What does as_float do, and where do you call it?""")
mistake("writes-into-x").body("""
    x = as_float(x)
    x[x < 0] = 0
    return x
""").explain("""
    x[x < 0] = 0 changed the caller's array
    why: The backward pass still needs to know where x was negative.
    ask: Which of your lines write into an array that you did not create?""")

mistake = MISTAKES.for_functions("ffn.gelu")
mistake("exact-form", common=True).body("""
    return gelu_exact(x)
""").explain("""
    the exact GELU with erf was used, not the tanh form
    why: The two never differ by more than 0.0005. GPT-2 was trained with the tanh form.
    ask: Which formula belongs to gelu, and which to gelu_exact?""")
mistake("sigmoid-form").body("""
    x = as_float(x)
    with np.errstate(over="ignore"):
        return x / (1 + np.exp(-1.702 * x))
""").explain("""
    the rough approximation x σ(1.702 x) was used, not the tanh form
    why: It is off by up to 0.02.
    ask: How many constants does the formula in the docstring have?""")
mistake("silu").body("""
    x = as_float(x)
    with np.errstate(over="ignore"):
        return x / (1 + np.exp(-x))
""").explain("""
    SiLU (swish), x σ(x), was used instead of GELU
    why: Its gate opens more slowly: at 1 it is 0.73 instead of 0.84.
    ask: Compare your values at -3, -1, 1 and 3 with those in the assignment.""")
mistake("no-cubic", " + 0.044715 * x * x * x", "", common=True).body(_GELU).explain("""
    the cubic term 0.044715 x³ is missing
    why: Near 0 nothing shows; at 2 the result is about 0.03 too small.
    ask: What does the formula add to x inside the tanh?""")
mistake("square-for-cube", "* x * x * x", "* x * x", common=True).body(_GELU).explain("""
    x² was used inside the tanh instead of x³
    why: For a negative x the term then has the wrong sign, because a square is never negative.
    ask: What sign should the term have for a negative x?""")
mistake("wrong-cubic", "0.044715", "0.44715").body(_GELU).explain("""
    the constant is 0.44715 instead of 0.044715
    why: With a constant ten times too large, the gate opens too fast.
    ask: Compare your constants with the formula digit by digit.""")
mistake("no-root", "math.sqrt(2 / math.pi)", "2 / math.pi", common=True).body(_GELU).explain("""
    the factor inside the tanh is 2/π, without the root
    why: It is 0.64 instead of 0.80, so the gate opens too slowly.
    ask: Which factor does the formula have before the parenthesis?""")
mistake("fraction-upside-down", "2 / math.pi", "math.pi / 2").body(_GELU).explain("""
    the factor inside the tanh is √(π/2) instead of √(2/π)
    why: It is 1.25 instead of 0.80, so the gate opens too fast.
    ask: Is the factor in the formula smaller or larger than 1?""")
mistake("no-half", "0.5 * x", "x", common=True).body(_GELU).explain("""
    the factor ½ is missing
    why: Every result is twice as large as it should be.
    ask: For a large x, gelu(x) is nearly x. What is yours?""")
mistake("float64", "math.sqrt(2 / math.pi)", "np.sqrt(2 / np.pi)").body(_GELU).explain("""
    float32 became float64 because of a NumPy scalar like np.sqrt(2 / np.pi)
    why: np.sqrt returns a NumPy float64, which turns float32 arrays into float64. A Python float does not.
    ask: What is type(np.sqrt(2.0)), and what is type(math.sqrt(2.0))?""")
mistake("overflow").body("""
    x = as_float(x)
    u = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    tanh = (np.exp(u) - np.exp(-u)) / (np.exp(u) + np.exp(-u))
    return 0.5 * x * (1 + tanh)
""").explain("""
    tanh was computed from exponentials, which overflow
    why: exp(1000) is infinite, and infinity divided by infinity is nan. np.tanh does not overflow.
    ask: What does your formula return for x = 1000?""")
mistake("bracket-closed-too-early", "* (x + 0.044715 * x * x * x)))", "* x + 0.044715 * x * x * x))").body(
    _GELU
).explain("""
    the factor √(2/π) multiplies x only, not the cubic term
    why: In the formula it multiplies the whole parenthesis (x + 0.044715 x³).
    ask: Where does the parenthesis after √(2/π) open, and where does it close?""")
mistake("factor-x-missing", "0.5 * x *", "0.5 *").body(_GELU).explain("""
    the factor x is missing: the result is the gate alone
    why: GELU is x times a gate between 0 and 1.
    ask: What should gelu(10) be?""")
mistake("one-missing", "1 + np.tanh(", "np.tanh(").body(_GELU).explain("""
    the 1 before tanh is missing
    why: tanh goes from -1 to 1, but the gate should go from 0 to 1.
    ask: What should gelu(-10) be?""")
for constant in ("0.8", "0.79", "0.798", "0.7979", "0.79788", "0.797885", "0.7978846", "0.79788456"):
    mistake(f"constant-{constant}", "math.sqrt(2 / math.pi)", constant).body(_GELU).explain("""
        √(2/π) was rounded
        why: A constant with few digits makes the result correct to few digits only.
        ask: How many digits of √(2/π) are in your code? Which function of math gives all of them?""")

mistake = MISTAKES.for_functions("ffn.gelu_exact")
mistake("tanh-form").body("""
    return gelu(x)
""").explain("""
    the tanh form was used, not the exact GELU with erf
    why: The two never differ by more than 0.0005, but they are two functions.
    ask: Which formula belongs to gelu, and which to gelu_exact?""")
mistake("no-root-two", "_erf(x / math.sqrt(2))", "_erf(x)", common=True).explain("""
    x was not divided by √2 before erf
    why: erf belongs to a normal distribution with variance ½; the √2 converts it to variance 1.
    ask: Φ(1) is 0.8413. Which argument of erf gives that?""")
mistake("no-half", "0.5 * (1", "(1", common=True).explain("""
    the factor ½ is missing
    why: Every result is twice as large as it should be.
    ask: For a large x, gelu_exact(x) is nearly x. What is yours?""")
mistake("float64", ".astype(x.dtype)", "").explain("""
    the result is float64 for every input
    why: math.erf computes with Python floats, so np.vectorize returns float64.
    ask: Which dtype does x have, and which dtype does your result have?""")
mistake("erf-of-array", "_erf(x", "math.erf(x").explain("""
    math.erf was called with a whole array
    why: The functions of the math module take one number at a time.
    ask: How can you apply a function of one number to every element?""")
mistake("erf-by-a-short-formula").body("""
    x = as_float(x)
    z = x / math.sqrt(2)
    t = 1 / (1 + 0.3275911 * np.abs(z))
    polynomial = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    return (x * 0.5 * (1 + np.sign(z) * (1 - polynomial * np.exp(-z * z)))).astype(x.dtype)
""").explain("""
    erf was computed with a polynomial that is accurate to about seven digits
    why: The formula of Abramowitz and Stegun (7.1.26) is off by up to 1.5e-7. Python's erf has sixteen digits.
    ask: Which module of Python has erf? How can you apply it to every element of an array?""")
mistake("sigmoid-form", _ERF, "phi = 1 / (1 + np.exp(-1.702 * x))").explain("""
    the rough approximation x σ(1.702 x) was used, not erf
    why: It is off by up to 0.02.
    ask: Which function of the normal distribution does the docstring name?""")
mistake("factor-x-missing", "(x * phi)", "phi").explain("""
    the factor x is missing: the result is Φ(x) alone
    why: GELU is x times a gate between 0 and 1.
    ask: What should gelu_exact(10) be?""")
mistake("nothing-not-handled", _ERF, "phi = 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))").explain("""
    an empty array fails: np.vectorize was not given a dtype for its results
    why: np.vectorize calls the function once to find the dtype. An empty array has no element to call it with.
    ask: What does the documentation of np.vectorize say about otypes?""")

mistake = MISTAKES.for_functions("ffn.linear")
mistake("bias-forgotten", "out += b", "out += 0.0", common=True).explain("""
    the bias was not added
    why: With a bias of 0, as at the start of training, nothing shows.
    ask: What should the result be for x = 0?""")
mistake("weights-transposed", common=True).body("""
    x = as_float(x)
    return x @ W.T if b is None else x @ W.T + b
""").explain("""
    x was multiplied by the transposed weights
    why: PyTorch's nn.Linear stores its weights as (D_out, D_in); here W is (D_in, D_out). With square weights the shape
         is right, too.
    ask: Which axis of W must have the size of the last axis of x?""")
mistake("none-not-handled").body("""
    return as_float(x) @ W + b
""").explain("""
    b=None was not handled
    why: A layer without a bias gets None, and an array plus None is a TypeError.
    ask: Which values may b have according to the docstring?""")
mistake("truth-of-bias").body("""
    out = as_float(x) @ W
    if b:
        out = out + b
    return out
""").explain("""
    the bias was tested with `if b:`
    why: An array of several entries is neither true nor false, so NumPy raises an error.
    ask: How can you test whether b is None, without asking whether it is true?""")
mistake("flattened-input").body("""
    x = as_float(x)
    out = x.reshape(x.shape[0], -1) @ W
    return out if b is None else out + b
""").explain("""
    all axes of x after the first were flattened into one
    why: Here each vector along the last axis is multiplied separately.
    ask: How many rows does your matrix have for an x of shape (B, T, D)?""")
mistake("leading-axes-lost", "out.reshape(*x.shape[:-1], d_out)", "out").explain("""
    the result has lost the leading axes of x
    why: (B, T, D_in) was reshaped to a matrix for the product, and was not reshaped back.
    ask: What is the shape of x, and what is the shape of your result?""")
mistake("float64").body("""
    x = np.asarray(x, dtype=np.float64)
    return x @ W if b is None else x @ W + b
""").explain("""
    the result is float64 for every input
    why: A float32 network then computes in float64 from here on: twice the memory, and slower.
    ask: Where does your code name a dtype?""")
mistake("bias-as-column").body("""
    x = as_float(x)
    return x @ W if b is None else x @ W + b[:, None]
""").explain("""
    the bias was applied to the rows: b[:, None]
    why: Each column of the output has its own bias. A new axis at the end makes one for each row: this fails, or gives
         wrong values if the matrix is square.
    ask: With which axis of (N, D_out) does broadcasting line up a vector (D_out,), without a new axis?""")
mistake("float64-bias").body("""
    x = as_float(x)
    return x @ W + (np.zeros(W.shape[1]) if b is None else b)
""").explain("""
    a missing bias was replaced by float64 zeros
    why: np.zeros is float64, and a float32 product plus float64 zeros is float64.
    ask: Which dtype does np.zeros give? Does anything have to be added when there is no bias?""")

mistake = MISTAKES.for_functions("ffn.dropout")
mistake("not-scaled", "        mask /= 1 - float(p)\n", "", common=True).explain("""
    the kept values were not divided by 1 - p
    why: The next layers then get smaller sums during training than after it.
    ask: If half of the values are dropped, how must the others change to keep the sum the same on average?""")
mistake("divided-by-p", "mask /= 1 - float(p)", "mask /= float(p)", common=True).explain("""
    the kept values were divided by p instead of 1 - p
    why: With p = 0.5 nothing shows.
    ask: Which share of the values is kept if p is 0.2?""")
mistake("multiplied", "mask /= 1", "mask *= 1").explain("""
    the kept values were multiplied by 1 - p instead of divided
    why: They have to become larger, to make up for the dropped ones.
    ask: If half of the values are dropped, how must the others change to keep the sum the same on average?""")
mistake("kept-and-dropped-exchanged", ">= p", "< p", common=True).explain("""
    a share p was kept and 1 - p dropped
    why: With p = 0.1 nine of ten values are dropped. With p = 0.5 only the pattern is different.
    ask: Is p the probability of dropping or of keeping a value? Where does your comparison use it?""")
mistake("p-is-kept-share", ">= p", "< p", "1 - float(p)", "float(p)").explain("""
    p was used as the probability of keeping a value
    why: A share p was kept and divided by p. Here p is the probability of dropping, as in PyTorch.
    ask: What should happen for p = 0: is everything kept, or everything dropped?""")
mistake("on-outside-training", "if training and p > 0", "if p > 0", common=True).explain("""
    values were dropped although training is false
    why: After training the predictions would then be random, and worse.
    ask: Which of your lines uses `training`?""")
mistake(
    "scaled-in-use",
    "        mask /= 1 - float(p)\n",
    "",
    "    return x * mask, mask",
    "    elif p > 0:\n        mask *= 1 - float(p)\n    return x * mask, mask",
).explain("""
    outside training x was multiplied by 1 - p, as in the original dropout
    why: Inverted dropout scales during training, so that nothing has to be done afterwards.
    ask: What should dropout(x, 0.5, rng, training=False) return?""")
mistake(
    "mask-not-scaled",
    "mask /= 1 - float(p)",
    "mask /= 1.0",
    "    return x * mask, mask",
    "    scale = 1 - float(p) if training else 1.0\n    return x * mask / scale, mask",
).explain("""
    the output was scaled, but not the mask that is returned
    why: The backward pass multiplies by the mask, so its gradient would lack the factor 1 / (1 - p).
    ask: Is out equal to x times the mask that you return?""")
mistake("boolean-mask", "    return x * mask, mask", "    return x * mask, mask != 0").explain("""
    the mask that is returned is boolean
    why: The backward pass multiplies by the mask, so its gradient would lack the factor 1 / (1 - p).
    ask: Is out equal to x times the mask that you return?""")
mistake("one-mask-for-all-rows", "rng.random(x.shape)", "rng.random(x.shape[-1])").explain("""
    one mask was drawn for the last axis and used for every row
    why: The same features are then dropped for all tokens. Each value should be dropped independently.
    ask: How many random numbers do you draw for an x of shape (B, T, D)?""")
mistake("whole-rows", "rng.random(x.shape)", "rng.random((*x.shape[:-1], 1))").explain("""
    each row was dropped or kept as a whole
    why: This drops tokens, not features. Each value should be dropped independently.
    ask: How many random numbers do you draw for an x of shape (B, T, D)?""")
mistake("own-generator", "rng.random(x.shape)", "np.random.default_rng(0).random(x.shape)").explain("""
    the random numbers came from a new generator, not from rng
    why: A generator made inside the function drops the same places in every call.
    ask: What is the argument rng for?""")
mistake("float64", "np.ones_like(x)", "np.ones(x.shape)").explain("""
    the mask is float64, and so is the result
    why: rng.random and np.ones return float64; the mask should have the dtype of x.
    ask: Which dtype does your mask have if x is float32?""")

mistake = MISTAKES.for_functions("ffn.ffn")
mistake("no-activation", "activated = hidden * gate", "activated = hidden", common=True).explain("""
    there is no activation between the two layers
    why: Two linear layers in a row are equivalent to one.
    ask: What comes between W_1 and W_2 in the formula?""")
mistake("activation-last").body("""
    if activation not in ("gelu", "relu"):
        raise ValueError("unknown activation")
    function = gelu if activation == "gelu" else relu
    hidden = linear(x, params["W_1"], params.get("b_1"))
    return function(linear(hidden, params["W_2"], params.get("b_2"))), {}
""").explain("""
    the activation was applied after the second layer, not between the two
    why: Without an activation between them, the two linear layers are equivalent to one.
    ask: Which of the two layers gives the activation its input?""")
mistake("activation-twice", "cache ", 'out = gelu(out) if activation == "gelu" else relu(out)\n    cache ').explain("""
    the activation was applied after the second layer, too
    why: The result is added to the residual stream, which needs negative values.
    ask: How many activations does the formula have?""")
mistake("gelu-always", ' if activation == "gelu" else hidden > 0', "").explain("""
    the activation argument was ignored: GELU was always used
    why: With the default nothing shows.
    ask: Which of your lines handles "relu"?""")
mistake("relu-always", '_gelu_gate(hidden) if activation == "gelu" else hidden > 0', "hidden > 0").explain("""
    the activation argument was ignored: ReLU was always used
    why: The first transformer used ReLU; GPT-2 and the default here use GELU.
    ask: Which of your lines uses the argument `activation`?""")
mistake("relu-by-default", 'activation="gelu"):', 'activation="relu"):').explain("""
    the default activation is ReLU
    why: The default here is GELU in its tanh form.
    ask: Compare the signature with the one in the assignment.""")
mistake("exact-gelu", "= hidden * gate", '= gelu_exact(hidden) if activation == "gelu" else relu(hidden)').explain("""
    the exact GELU was used instead of the tanh form
    why: The two never differ by more than 0.0005, but the weights of GPT-2 belong to the tanh form.
    ask: Which of gelu and gelu_exact does the docstring name?""")
for ordinal, bias in (("first", "b_1"), ("second", "b_2")):
    mistake(f"{ordinal}-bias-forgotten", f'params.get("{bias}")', "None", common=True).explain(f"""
        the {ordinal} bias, {bias}, was not added
        why: With a bias of 0, as at the start of training, nothing shows.
        ask: Which entries of params does your code use?""")
mistake("biases-required", 'params.get("b_1")', 'params["b_1"]', 'params.get("b_2")', 'params["b_2"]').explain("""
    the code fails with a KeyError if a bias is absent
    why: Each bias may be absent from the parameters; the layer then has none.
    ask: What does params[...] do if the key is absent? What does params.get(...) do?""")
mistake("residual-added", "    cache = {", "    out = out + x\n    cache = {", common=True).explain("""
    x was added to the result
    why: The residual connection belongs to the block, not to this network.
    ask: Does the formula in the docstring have a + x?""")
mistake("cache-not-returned", "return out, cache", "return out").explain("""
    only the output was returned, without the cache
    why: The backward pass needs values that the forward pass has computed.
    ask: How many results does the docstring list?""")
