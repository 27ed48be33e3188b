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
mistake("exact-gelu", "= hidden * gate", '= gelu_exact(hidden) if activation == "gelu" else relu(hidden)').explain("""
    the exact GELU was used instead of the tanh form
    why: The two never differ by more than 0.0005, but the weights of GPT-2 belong to the tanh form.
    ask: In which decimal place do gelu(1.0) and gelu_exact(1.0) differ? Which of them does your ffn call?""")
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
    "biases-exchanged",
    'params.get("b_1")',
    'params.get("b_2")',
    ', params["W_2"], params.get("b_2")',
    ', params["W_2"], params.get("b_1")',
).explain("""
    the biases of the two layers were swapped
    why: b_1 is (F,), as wide as the hidden values, and b_2 is (D,).
    ask: What are the shapes of hidden and out, and which bias fits each?""")
mistake("residual-added", "    cache = {", "    out = out + x\n    cache = {", common=True).explain("""
    x was added to the result
    why: The residual connection belongs to the block, not to this network.
    ask: If all weights and biases are 0, what should the output be, and what is yours?""")
mistake("cache-not-returned", "return out, cache", "return out").explain("""
    only the output was returned, without the cache
    why: The backward pass needs values that the forward pass has computed.
    ask: What happens in `out, cache = ffn(x, params)` with what you return?""")
mistake("results-exchanged", "return out, cache", "return cache, out").explain("""
    the cache was returned before the output
    why: The caller unpacks them by position.
    ask: What does `out, cache = ffn(x, params)` put into `out`: an array or a dictionary?""")
mistake("leading-axes-lost", "return out, cache", "return out.reshape(-1, out.shape[-1]), cache").explain("""
    the result has lost the leading axes of x
    why: (B, T, D) was reshaped to a matrix, and was not reshaped back. A vector became a matrix of one row.
    ask: What is the shape of x, and what is the shape of your result?""")
mistake("any-activation-as-relu", _ERROR, "if False:").explain("""
    every unknown activation was taken for ReLU
    why: A typo would train another network, and nothing would say so.
    ask: What does your code do with activation="tanh", and with "GELU"?""")
mistake("raises-KeyError", _RAISE, "raise KeyError(activation)").explain("""
    an unknown activation raised KeyError, not ValueError
    why: A ValueError says that the argument is wrong. A KeyError only says that some dictionary has no such key.
    ask: Which of your lines fails for activation="tanh"? Where could you check the argument earlier?""")
