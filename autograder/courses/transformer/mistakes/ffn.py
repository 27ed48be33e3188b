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
    negative values leak through: this is the leaky ReLU
    why: ReLU makes exactly 0 of everything negative.
    ask: What should become of -1000?""")
mistake("minimum", "np.maximum", "np.minimum").explain("""
    the minimum with 0 was taken, not the maximum
    why: This keeps what should go and drops what should stay.
    ask: What is relu(3)?""")
mistake("gate-only", "np.maximum(as_float(x), 0)", "(as_float(x) > 0) * np.ones_like(as_float(x))").explain("""
    1 comes out for positive values instead of the values themselves
    why: That is the gate, or the slope; the function lets the value itself pass.
    ask: What is relu(3)?""")
mistake("float64", "as_float(x), 0", "as_float(x), np.zeros(np.shape(x))").explain("""
    the result is float64, whatever x is
    why: An array of zeros that NumPy makes by itself is float64, and so is everything that it meets.
    ask: Which dtype do np.zeros and np.where(…, 0.0) with it give you? A plain 0 does not change the dtype of x.""")
mistake("integers-stay", "as_float(x)", "np.asarray(x)").explain("""
    integers stay integers
    why: Everything in Headway computes in floats; integers are turned into float64 first.
    ask: What does as_float do, and who calls it?""")
mistake("writes-into-x").body("""
    x = as_float(x)
    x[x < 0] = 0
    return x
""").explain("""
    x[x < 0] = 0 changes the caller's array
    why: The backward pass still needs to know where x was negative.
    ask: Which of your lines write into an array that you did not make?""")

mistake = MISTAKES.for_functions("ffn.gelu")
mistake("exact-form", common=True).body("""
    return gelu_exact(x)
""").explain("""
    this is the exact GELU, with erf; the assignment's gelu is the tanh form
    why: The two are never more than 0.0005 apart. GPT-2 was trained with the tanh form.
    ask: Which of the two names, gelu and gelu_exact, belongs to which formula?""")
mistake("sigmoid-form").body("""
    x = as_float(x)
    with np.errstate(over="ignore"):
        return x / (1 + np.exp(-1.702 * x))
""").explain("""
    this is the rough approximation x σ(1.702 x)
    why: It is off by about 0.02 at worst. The assignment asks for the tanh form.
    ask: How many constants does the formula in the docstring have?""")
mistake("silu").body("""
    x = as_float(x)
    with np.errstate(over="ignore"):
        return x / (1 + np.exp(-x))
""").explain("""
    this is SiLU (swish), x σ(x), not GELU
    why: The gate opens more slowly: at 1 it gives 0.73 instead of 0.84.
    ask: Compare your values at -3, -1, 1 and 3 with those in the assignment.""")
mistake("no-cubic", " + 0.044715 * x * x * x", "", common=True).body(_GELU).explain("""
    the cubic term 0.044715 x³ is missing
    why: Near 0 nothing shows; around 2 the result is off in the second digit.
    ask: What does tanh get besides x?""")
mistake("square-for-cube", "* x * x * x", "* x * x", common=True).body(_GELU).explain("""
    the term in tanh has x² instead of x³
    why: A square is positive on both sides, so negative values come out wrong.
    ask: What sign should the correction have for a negative x?""")
mistake("wrong-cubic", "0.044715", "0.44715").body(_GELU).explain("""
    the constant is 0.44715 instead of 0.044715
    why: A lost zero: the gate opens too fast.
    ask: Compare your constants with the formula digit by digit.""")
mistake("no-root", "math.sqrt(2 / math.pi)", "2 / math.pi", common=True).body(_GELU).explain("""
    the factor in tanh is 2/π, without the root
    why: 0.64 instead of 0.80: the gate opens too slowly.
    ask: What does the formula have in front of the bracket?""")
mistake("fraction-upside-down", "2 / math.pi", "math.pi / 2").body(_GELU).explain("""
    the factor in tanh is √(π/2) instead of √(2/π)
    why: 1.25 instead of 0.80: the gate opens too fast.
    ask: Is the factor smaller or larger than 1?""")
mistake("no-half", "0.5 * x", "x", common=True).body(_GELU).explain("""
    the factor ½ is missing
    why: Everything is twice as large as it should be.
    ask: For a large x, gelu(x) should be nearly x.""")
mistake("float64", "math.sqrt(2 / math.pi)", "np.sqrt(2 / np.pi)").body(_GELU).explain("""
    float32 becomes float64, because of a NumPy number such as np.sqrt(2 / np.pi)
    why: np.sqrt gives a NumPy float64, and an array that meets it becomes float64. A Python float does not do that.
    ask: What is type(np.sqrt(2.0)), and what is type(math.sqrt(2.0))?""")
mistake("overflow").body("""
    x = as_float(x)
    u = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    tanh = (np.exp(u) - np.exp(-u)) / (np.exp(u) + np.exp(-u))
    return 0.5 * x * (1 + tanh)
""").explain("""
    tanh was written with exponentials, and they overflow
    why: exp(1000) is infinite, and infinity divided by infinity is nan. np.tanh has no such trouble.
    ask: What does your formula give for x = 1000?""")
mistake("bracket-closed-too-early", "* (x + 0.044715 * x * x * x)))", "* x + 0.044715 * x * x * x))").body(
    _GELU
).explain("""
    the factor √(2/π) multiplies x only, not the cubic term
    why: In the formula it stands before the whole bracket (x + 0.044715 x³).
    ask: Where does the bracket behind √(2/π) open, and where does it close?""")
mistake("factor-x-missing", "0.5 * x *", "0.5 *").body(_GELU).explain("""
    the factor x is missing: this is the gate alone
    why: GELU is x times a gate between 0 and 1.
    ask: What should gelu(10) be?""")
mistake("one-missing", "1 + np.tanh(", "np.tanh(").body(_GELU).explain("""
    the 1 before tanh is missing
    why: tanh goes from -1 to 1; the gate should go from 0 to 1.
    ask: What should gelu(-10) be?""")
for constant in ("0.8", "0.79", "0.798", "0.7979", "0.79788", "0.797885", "0.7978846", "0.79788456"):
    mistake(f"constant-{constant}", "math.sqrt(2 / math.pi)", constant).body(_GELU).explain("""
        √(2/π) was rounded
        why: A constant of a few digits makes a result of a few digits.
        ask: How many digits of √(2/π) are in your code? Which function of math gives all of them?""")

mistake = MISTAKES.for_functions("ffn.gelu_exact")
mistake("tanh-form").body("""
    return gelu(x)
""").explain("""
    this is the tanh form; gelu_exact is the one with erf
    why: The two are never more than 0.0005 apart, but they are two functions.
    ask: Which of the two names, gelu and gelu_exact, belongs to which formula?""")
mistake("no-root-two", "_erf(x / math.sqrt(2))", "_erf(x)", common=True).explain("""
    x was not divided by √2 before erf
    why: erf belongs to a normal distribution with another width than 1; the √2 brings the two together.
    ask: Φ(1) is 0.8413. Which argument of erf gives that?""")
mistake("no-half", "0.5 * (1", "(1", common=True).explain("""
    the factor ½ is missing
    why: Everything is twice as large as it should be.
    ask: For a large x, gelu_exact(x) should be nearly x.""")
mistake("float64", ".astype(x.dtype)", "").explain("""
    the result is float64, whatever x is
    why: math.erf works with Python floats; what comes out of np.vectorize is float64.
    ask: Which dtype did x have, and which one has your result?""")
mistake("erf-of-array", "_erf(x", "math.erf(x").explain("""
    math.erf was called with a whole array
    why: The functions of the math module take one number.
    ask: How do you apply a function of one number to every element?""")
mistake("erf-by-a-short-formula").body("""
    x = as_float(x)
    z = x / math.sqrt(2)
    t = 1 / (1 + 0.3275911 * np.abs(z))
    polynomial = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    return (x * 0.5 * (1 + np.sign(z) * (1 - polynomial * np.exp(-z * z)))).astype(x.dtype)
""").explain("""
    erf was computed by a polynomial that has seven right digits
    why: The formula of Abramowitz and Stegun (7.1.26) is off by up to 1.5e-7. Python knows erf to sixteen digits.
    ask: Which module of Python has erf? How is it applied to every number of an array?""")
mistake("sigmoid-form", _ERF, "phi = 1 / (1 + np.exp(-1.702 * x))").explain("""
    this is the rough approximation x σ(1.702 x)
    why: It is up to 0.02 off; gelu_exact is the one with erf.
    ask: Which function of the normal distribution does the docstring name?""")
mistake("factor-x-missing", "(x * phi)", "phi").explain("""
    the factor x is missing: this is Φ(x) alone
    why: GELU is x times a gate between 0 and 1.
    ask: What should gelu_exact(10) be?""")
mistake("nothing-not-handled", _ERF, "phi = 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))").explain("""
    it does not work without elements: np.vectorize was not told the dtype of its results
    why: np.vectorize calls the function once to see what it gives, and of an empty array there is nothing to call it
         with.
    ask: What does the documentation of np.vectorize say about otypes?""")

mistake = MISTAKES.for_functions("ffn.linear")
mistake("bias-forgotten", "out += b", "out += 0.0", common=True).explain("""
    the bias is not added
    why: With a bias of 0, as at the start of training, nothing shows.
    ask: What should come out for x = 0?""")
mistake("weights-transposed", common=True).body("""
    x = as_float(x)
    return x @ W.T if b is None else x @ W.T + b
""").explain("""
    x was multiplied by the transposed weights
    why: PyTorch's nn.Linear stores its weights as (D_out, D_in); here W is (D_in, D_out). Square weights hide it.
    ask: Which axis of W has to have the size of the last axis of x?""")
mistake("none-not-handled").body("""
    return as_float(x) @ W + b
""").explain("""
    b=None is not handled
    why: A layer without bias gets None, and an array plus None is a TypeError.
    ask: What does the docstring say b may be?""")
mistake("truth-of-bias").body("""
    out = as_float(x) @ W
    if b:
        out = out + b
    return out
""").explain("""
    the bias is asked for with `if b:`
    why: An array of several numbers is neither true nor false; NumPy raises.
    ask: The question is not whether b is true, but whether there is one.""")
mistake("flattened-input").body("""
    x = as_float(x)
    out = x.reshape(x.shape[0], -1) @ W
    return out if b is None else out + b
""").explain("""
    everything after the first axis of x was flattened into one vector
    why: That is for images. Here every vector along the last axis is multiplied on its own.
    ask: How many rows does your matrix have for an x of shape (B, T, D)?""")
mistake("leading-axes-lost", "out.reshape(*x.shape[:-1], d_out)", "out").explain("""
    the result has lost the leading axes of x
    why: (B, T, D_in) was made a matrix for the product, and was not unfolded again.
    ask: What is the shape of x, and what is the shape of your result?""")
mistake("float64").body("""
    x = np.asarray(x, dtype=np.float64)
    return x @ W if b is None else x @ W + b
""").explain("""
    the result is float64, whatever x is
    why: Everything after it in the network becomes twice as large and half as fast.
    ask: Where does your code name a dtype?""")
mistake("bias-as-column").body("""
    x = as_float(x)
    return x @ W if b is None else x @ W + b[:, None]
""").explain("""
    the bias stands along the rows: b[:, None]
    why: Every column of the output has a bias of its own. A new axis at the end makes one for each row: an error, or,
         for a square matrix, silently wrong numbers.
    ask: With which axis of (N, D_out) does broadcasting line up a vector (D_out,), without any new axis?""")
mistake("float64-bias").body("""
    x = as_float(x)
    return x @ W + (np.zeros(W.shape[1]) if b is None else b)
""").explain("""
    a missing bias became float64 zeros
    why: np.zeros is float64, and a float32 product plus float64 zeros is float64.
    ask: Which dtype does np.zeros give? Is anything to be added at all?""")

mistake = MISTAKES.for_functions("ffn.dropout")
mistake("not-scaled", "        mask /= 1 - float(p)\n", "", common=True).explain("""
    the kept values were not divided by 1 - p
    why: Without it the layers behind see smaller sums in training than in use.
    ask: If half of the values are dropped, what must happen to the others for the sum to stay the same on average?""")
mistake("divided-by-p", "mask /= 1 - float(p)", "mask /= float(p)", common=True).explain("""
    the kept values were divided by p instead of 1 - p
    why: With p = 0.5 nothing shows.
    ask: Which share of the values is kept if p is 0.2?""")
mistake("multiplied", "mask /= 1", "mask *= 1").explain("""
    the kept values were multiplied by 1 - p instead of divided
    why: They have to become larger, to stand in for those that are dropped.
    ask: If half of the values are dropped, what must happen to the others for the sum to stay the same on average?""")
mistake("kept-and-dropped-exchanged", ">= p", "< p", common=True).explain("""
    a share p is kept, and 1 - p is dropped
    why: With p = 0.1 nine values of ten are gone. With p = 0.5 only the pattern differs.
    ask: Is p the probability of dropping or of keeping? Which of your comparisons says that?""")
mistake("p-is-kept-share", ">= p", "< p", "1 - float(p)", "float(p)").explain("""
    p was taken for the probability of keeping a value
    why: A share p is kept and divided by p. Here p is the probability of dropping, as in PyTorch.
    ask: What should happen for p = 0: everything stays, or everything goes?""")
mistake("on-outside-training", "if training and p > 0", "if p > 0", common=True).explain("""
    values are dropped although training is false
    why: In use the answers would be random, and worse.
    ask: Which of your lines looks at `training`?""")
mistake(
    "scaled-in-use",
    "        mask /= 1 - float(p)\n",
    "",
    "    return x * mask, mask",
    "    elif p > 0:\n        mask *= 1 - float(p)\n    return x * mask, mask",
).explain("""
    outside of training x is multiplied by 1 - p (the older kind of dropout)
    why: Inverted dropout scales during training, so that nothing has to be done in use.
    ask: What should dropout(x, 0.5, rng, training=False) return?""")
mistake(
    "mask-not-scaled",
    "mask /= 1 - float(p)",
    "mask /= 1.0",
    "    return x * mask, mask",
    "    scale = 1 - float(p) if training else 1.0\n    return x * mask / scale, mask",
).explain("""
    the output is scaled, but the mask that is returned is not
    why: The backward pass multiplies by the mask and would forget the scale.
    ask: Is out equal to x times the mask that you return?""")
mistake("boolean-mask", "    return x * mask, mask", "    return x * mask, mask != 0").explain("""
    the mask that is returned is boolean
    why: The backward pass multiplies by the mask, and a boolean one has no scale.
    ask: Is out equal to x times the mask that you return?""")
mistake("one-mask-for-all-rows", "rng.random(x.shape)", "rng.random(x.shape[-1])").explain("""
    one mask is drawn for the last axis and used for every row
    why: The same features are dropped for all tokens. Each value is to be decided on its own.
    ask: How many random numbers do you draw for an x of shape (B, T, D)?""")
mistake("whole-rows", "rng.random(x.shape)", "rng.random((*x.shape[:-1], 1))").explain("""
    a whole row is dropped or kept at once
    why: This drops tokens, not features. Each value is to be decided on its own.
    ask: How many random numbers do you draw for an x of shape (B, T, D)?""")
mistake("own-generator", "rng.random(x.shape)", "np.random.default_rng(0).random(x.shape)").explain("""
    the random numbers come from a generator made inside, not from rng
    why: Every call then drops the same places.
    ask: What is the argument rng for?""")
mistake("float64", "np.ones_like(x)", "np.ones(x.shape)").explain("""
    the mask is float64, and so is the result
    why: What rng.random and np.ones give is float64; the mask is to have the dtype of x.
    ask: Which dtype has the mask if x is float32?""")

mistake = MISTAKES.for_functions("ffn.ffn")
mistake("no-activation", "activated = hidden * gate", "activated = hidden", common=True).explain("""
    there is no activation between the two layers
    why: Two linear layers in a row are no more than one.
    ask: What stands between W_1 and W_2?""")
mistake("activation-last").body("""
    if activation not in ("gelu", "relu"):
        raise ValueError("unknown activation")
    function = gelu if activation == "gelu" else relu
    hidden = linear(x, params["W_1"], params.get("b_1"))
    return function(linear(hidden, params["W_2"], params.get("b_2"))), {}
""").explain("""
    the activation comes after the second layer, not between the two
    why: The network widens the vector in order to bend it there.
    ask: Which of the two layers is the activation's input?""")
mistake("activation-twice", "cache ", 'out = gelu(out) if activation == "gelu" else relu(out)\n    cache ').explain("""
    the activation is applied after the second layer too
    why: The result goes into the residual stream, which needs negative numbers.
    ask: How many activations does the formula have?""")
mistake("gelu-always", ' if activation == "gelu" else hidden > 0', "").explain("""
    the activation argument is ignored: it is always GELU
    why: With the default nothing shows.
    ask: Which of your lines knows about "relu"?""")
mistake("relu-always", '_gelu_gate(hidden) if activation == "gelu" else hidden > 0', "hidden > 0").explain("""
    the activation is always ReLU
    why: The paper of 2017 has ReLU; GPT-2 and the default here have GELU.
    ask: Which of your lines knows about the argument `activation`?""")
mistake("relu-by-default", 'activation="gelu"):', 'activation="relu"):').explain("""
    the default activation is ReLU
    why: The default here is GELU in its tanh form.
    ask: Compare the signature with the one in the assignment.""")
mistake("exact-gelu", "= hidden * gate", '= gelu_exact(hidden) if activation == "gelu" else relu(hidden)').explain("""
    the exact GELU was used instead of the tanh form
    why: The two are never more than 0.0005 apart, but the weights of GPT-2 belong to one of them.
    ask: Which of gelu and gelu_exact does the docstring name?""")
mistake("first-bias-forgotten", 'params.get("b_1")', "None", common=True).explain("""
    the first bias, b_1, is not added
    why: With a bias of 0, as at the start of training, nothing shows.
    ask: Which entries of params does your code use?""")
mistake("second-bias-forgotten", 'params.get("b_2")', "None", common=True).explain("""
    the second bias, b_2, is not added
    why: With a bias of 0, as at the start of training, nothing shows.
    ask: Which entries of params does your code use?""")
mistake("biases-required", 'params.get("b_1")', 'params["b_1"]', 'params.get("b_2")', 'params["b_2"]').explain("""
    a missing bias is a KeyError
    why: Each bias may be absent; the layer then has none.
    ask: What does a dictionary return for a key that it does not have, if you ask it politely?""")
mistake("residual-added", "    cache = {", "    out = out + x\n    cache = {", common=True).explain("""
    x was added to the result
    why: The residual connection belongs to the block, not to this network.
    ask: Does the formula in the docstring have a `+ x`?""")
mistake("cache-not-returned", "return out, cache", "return out").explain("""
    only the output is returned, without the cache
    why: The backward pass needs what the forward pass computed.
    ask: How many values does the docstring list under Returns?""")
