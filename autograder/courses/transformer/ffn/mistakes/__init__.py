"""Mistakes in `ffn`: activations, linear layers, dropout and the feed-forward network."""

from autograder.courses.transformer.ffn.mistakes.backward import MISTAKES as BACKWARD
from autograder.courses.transformer.ffn.mistakes.dropout import MISTAKES as DROPOUT
from autograder.courses.transformer.ffn.mistakes.gelu import MISTAKES as GELU
from autograder.courses.transformer.ffn.mistakes.gelu_backward import MISTAKES as GELU_BACKWARD
from autograder.courses.transformer.ffn.mistakes.linear import MISTAKES as LINEAR
from autograder.courses.transformer.ffn.mistakes.relu import MISTAKES as RELU
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(RELU, GELU, GELU_BACKWARD, LINEAR, DROPOUT, BACKWARD)

_ACTIVATED, _ERROR = "activated = hidden * gate", 'if activation not in ("gelu", "relu"):'
_RAISE = 'raise ValueError(f\'activation must be "gelu" or "relu", got {activation!r}\')'

mistake = MISTAKES.for_functions("ffn.ffn")
mistake("no-activation", _ACTIVATED, "activated = hidden", common=True).explain("""
    there was no activation between the two layers
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
mistake(
    "activation-repeated", _ACTIVATED, 'activated = gelu(gelu(hidden)) if activation == "gelu" else relu(hidden)'
).explain("""
    GELU was applied twice in a row
    why: The formula has one activation. A ReLU hides the mistake.
    ask: Does linear return its result before or after the activation?""")
mistake(
    "activation-first",
    "x = as_float(x)",
    'x = gelu(x) if activation == "gelu" else relu(x)',
    _ACTIVATED,
    "activated = hidden",
).explain("""
    the activation was applied to x, before the first layer
    why: Without an activation between them, the two linear layers are equivalent to one.
    ask: Which of the two layers gives the activation its input?""")
mistake(
    "activation-before-bias",
    'params.get("b_1")',
    "None",
    _ACTIVATED,
    'activated = hidden * gate + params.get("b_1", 0)',
).explain("""
    the first bias, b_1, was added after the activation
    why: It belongs to the first linear layer, so that it shifts the input of the activation.
    ask: What is inside the parentheses of the activation in the formula?""")
for name, new, title in (
    ("gelu-always", "_gelu_gate(hidden)", "the activation argument was ignored: GELU was always used"),
    ("relu-always", "hidden > 0", "the activation argument was ignored: ReLU was always used"),
    (
        "activations-exchanged",
        '_gelu_gate(hidden) if activation == "relu" else hidden > 0',
        "GELU and ReLU were swapped",
    ),
):
    mistake(name, '_gelu_gate(hidden) if activation == "gelu" else hidden > 0', new).explain(f"""
        {title}
        why: "gelu", the default, is the tanh form of GELU; "relu" is ReLU.
        ask: Which of your lines uses the argument `activation`, and what happens for each of its values?""")
for name, new, title, why in (
    (
        "exact-gelu",
        "gelu_exact(hidden)",
        "the exact GELU was used instead of the tanh form",
        "The two never differ by more than 0.0005, but the weights of GPT-2 belong to the tanh form.",
    ),
    ("tanh", "np.tanh(hidden)", "tanh was used instead of GELU", "The tanh form of GELU is x/2 (1 + tanh(…))."),
):
    mistake(name, "= hidden * gate", f'= {new} if activation == "gelu" else relu(hidden)').explain(f"""
        {title}
        why: {why}
        ask: Which function of this assignment does the docstring name?""")
for ordinal, bias in (("first", "b_1"), ("second", "b_2")):
    mistake(f"{ordinal}-bias-forgotten", f'params.get("{bias}")', "None", common=True).explain(f"""
        the {ordinal} bias, {bias}, was not added
        why: With a bias of 0, as at the start of training, the mistake stays hidden.
        ask: Which entries of params does your code use?""")
    mistake(f"{ordinal}-bias-required", f'params.get("{bias}")', f'params["{bias}"]').explain(f"""
        the code fails with a KeyError if {bias} is absent
        why: Each bias may be absent from the parameters; the layer then has none.
        ask: What does params[...] do if the key is absent? What does params.get(...) do?""")
    mistake(
        f"{ordinal}-bias-only-with-the-other",
        f'params.get("{bias}")',
        f'params["{bias}"] if "b_1" in params and "b_2" in params else None',
    ).explain(f"""
        {bias} was added only if both biases exist
        why: Each bias may be absent, independently of the other.
        ask: What does your code do if `params` has {bias}, but not the other bias?""")
    mistake(
        f"{ordinal}-bias-twice",
        "    cache = {",
        f'    out = out + linear(activated * 0, params["W_2"], params.get("{bias}"))\n    cache = {{'
        if bias == "b_2"
        else "    cache = {",
        *(() if bias == "b_2" else ("hidden = linear(x,", 'hidden = params.get("b_1", 0) + linear(x,')),
    ).explain(f"""
        the {ordinal} bias, {bias}, was added twice
        why: With a bias of 0, as at the start of training, the mistake stays hidden.
        ask: Does linear add the bias already?""")
mistake("biases-forgotten", 'params.get("b_1")', "None", 'params.get("b_2")', "None").explain("""
    the biases b_1 and b_2 were not added
    why: With biases of 0, as at the start of training, the mistake stays hidden.
    ask: Which entries of params does your code use?""")
mistake("biases-required", 'params.get("b_1")', 'params["b_1"]', 'params.get("b_2")', 'params["b_2"]').explain("""
    the code fails with a KeyError if a bias is absent
    why: Each bias may be absent from the parameters; the layer then has none.
    ask: What does params[...] do if the key is absent? What does params.get(...) do?""")
for both, condition in (("both", "and"), ("one", "or")):
    code = f'    biased = "b_1" in params {condition} "b_2" in params\n    x = as_float(x)'
    edits = [
        part for bias in ("b_1", "b_2") for part in (f'params.get("{bias}")', f'params["{bias}"] if biased else None')
    ]
    title = (
        "the biases were added only if both exist" if both == "both" else "the code expected both biases if one exists"
    )
    mistake(f"biases-together-if-{both}", "    x = as_float(x)", code, *edits).explain(f"""
        {title}
        why: Each bias may be absent, independently of the other.
        ask: What does your code do if `params` has b_1, but not b_2, and the other way round?""")
mistake(
    "float64-biases",
    'linear(x, params["W_1"], params.get("b_1"))',
    'x @ params["W_1"] + params.get("b_1", np.zeros(params["W_1"].shape[1]))',
    'linear(activated, params["W_2"], params.get("b_2"))',
    'activated @ params["W_2"] + params.get("b_2", np.zeros(params["W_2"].shape[1]))',
).explain("""
    absent biases were replaced by float64 zeros
    why: np.zeros is float64, and a float32 product plus float64 zeros is float64.
    ask: Which dtype does np.zeros give? Does anything have to be added when there is no bias?""")
mistake(
    "biases-exchanged",
    'params.get("b_1")',
    'params.get("b_2")',
    ', params["W_2"], params.get("b_2")',
    ', params["W_2"], params.get("b_1")',
).explain("""
    the biases of the two layers were swapped
    why: b_1 is (F,), as wide as the hidden values, and b_2 is (D,).
    ask: What are the shapes of hidden and out, and which bias fits each?""")
mistake("weights-exchanged").body("""
    hidden = as_float(x) @ params["W_2"]
""").explain("""
    the weights of the two layers were swapped, or transposed
    why: W_1 is (D, F) and widens, W_2 is (F, D) and brings the vector back.
    ask: What are the shapes of x, hidden and out, and which entry of `params` fits between them?""")
mistake("hidden-added", "= hidden * gate", "= hidden * gate + hidden").explain("""
    the values before the activation were added to those after it
    why: The residual connection belongs to the block; inside this network there is none.
    ask: Which array does the second layer get in the formula?""")
mistake(
    "first-bias-for-second",
    'activated, params["W_2"], params.get("b_2")',
    'activated, params["W_2"], params.get("b_1")',
).explain("""
    b_1 was added after the second layer, too, instead of b_2
    why: b_1 is (F,), as wide as the hidden values; the output is as wide as b_2, (D,).
    ask: What are the shapes of hidden and out, and which bias fits each?""")
mistake("residual-added", "    cache = {", "    out = out + x\n    cache = {", common=True).explain("""
    x was added to the result
    why: The residual connection belongs to the block, not to this network.
    ask: Does the formula in the docstring have a + x?""")
mistake("hidden-returned", "return out, cache", "return activated, cache").explain("""
    the activated values were returned, without the second layer
    why: The second layer brings the vector back from F to D features.
    ask: What is the shape of your result, and what should it be?""")
mistake("cache-not-returned", "return out, cache", "return out").explain("""
    only the output was returned, without the cache
    why: The backward pass needs values that the forward pass has computed.
    ask: How many results does the docstring list?""")
mistake("results-exchanged", "return out, cache", "return cache, out").explain("""
    the cache was returned before the output
    why: The caller unpacks them by position.
    ask: In which order does the docstring list the results?""")
mistake("leading-axes-lost", "return out, cache", "return out.reshape(-1, out.shape[-1]), cache").explain("""
    the result has lost the leading axes of x
    why: (B, T, D) was reshaped to a matrix, and was not reshaped back. A vector became a matrix of one row.
    ask: What is the shape of x, and what is the shape of your result?""")
for name, axes, text in (("two", "n, d", "(N, D)"), ("three", "b, t, d", "(B, T, D)")):
    mistake(f"{name}-axes-expected", "x = as_float(x)\n", f"x = as_float(x)\n    {axes} = x.shape\n").explain(f"""
        x was expected to have exactly {name} axes, {text}
        why: Unpacking x.shape into {name} names fails for every other number of axes.
        ask: Which shapes of x does the docstring allow? Which of the sizes do you need?""")
mistake("float64", "return out, cache", "return out.astype(np.float64), cache").explain("""
    the result is float64 for every input
    why: The result has the dtype of the inputs.
    ask: Where does your code name a dtype, or make an array that has one by default?""")
mistake("writes-into-params", 'params.get("b_1")', 'params.pop("b_1", None)').explain("""
    `params` was changed: an entry was removed
    why: The same parameters are used for the next batch, and by the optimizer.
    ask: What does `pop` do to the dictionary?""")
mistake(
    "completes-params",
    "    x = as_float(x)\n",
    """    x = as_float(x)
    params.setdefault("b_1", np.zeros(params["W_1"].shape[1], x.dtype))
    params.setdefault("b_2", np.zeros(x.shape[-1], x.dtype))
""",
).explain("""
    `params` was changed: absent biases were put into it
    why: The caller's dictionary must stay as it is; the optimizer would train biases that the layer does not have.
    ask: What does `setdefault`, or an assignment to params[...], do to the caller's dictionary?""")
for name, changes, title in (
    (
        "any-activation-as-gelu",
        ("if False:", 'if activation == "gelu" else hidden > 0', 'if activation != "relu" else hidden > 0'),
        "every unknown activation was taken for GELU",
    ),
    ("any-activation-as-relu", ("if False:",), "every unknown activation was taken for ReLU"),
    (
        "any-activation-as-none",
        ("if False:", _ACTIVATED, 'activated = hidden * gate if activation in ("gelu", "relu") else hidden'),
        "with an unknown activation, none was applied",
    ),
    (
        "capitals-accepted",
        ('activation = activation.lower()\n    if activation not in ("gelu", "relu"):',),
        'other spellings of the activations, such as "GELU", were accepted',
    ),
):
    mistake(name, _ERROR, *changes).explain(f"""
        {title}
        why: The docstring promises a ValueError if `activation` is neither "gelu" nor "relu". Otherwise, a typo
             would train another network.
        ask: What does your code do with activation="tanh", and with "GELU"?""")
for error in ("KeyError(activation)", "NotImplementedError", "TypeError", "AssertionError", "NameError"):
    kind = error.partition("(")[0]
    mistake(f"raises-{kind}", _RAISE, f"raise {error}").explain(f"""
        an unknown activation raised {kind}, not ValueError
        why: The docstring promises a ValueError. A lookup in a dictionary raises KeyError, `assert` raises
             AssertionError.
        ask: Which of your lines fails for activation="tanh"? Where could you check the argument earlier?""")
