"""Mistakes in single gradients of `multihead`."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("multihead.multihead_attention_backward")
_END = "grads = {name: grads[name] for name in params}"
_NAMES = ("dx",)
for gradient in _NAMES:
    short = gradient.removeprefix('grads["').removesuffix('"]')
    shown = short if short.startswith("d") else f"the gradient of {short}"
    guard = "if memory is not None:\n        " if short == "dmemory" else ""
    mistake(f"{short}-float64", _END, f"{guard}{gradient} = {gradient}.astype(np.float64)\n    {_END}").explain(f"""
        {shown} is float64 even when the inputs are float32
        why: Every gradient must have the size, the sign and the dtype of the formula. If the loss is a mean, its
             division is already in dout.
        ask: Which line of your code computes {shown}, and what runs after it?""")


# The parts of W_qkv and b_qkv, and the three ways back to the input.
mistake(
    "W_o-from-output",
    '(dout, cache["merged"]',
    '(dout, _project(cache["merged"], params["W_o"], params.get("b_o"))',
).explain("""
    the gradient of W_o was computed with the output, not with the merged heads
    why: The gradient of a matrix is made from what was multiplied by it. The output is the result of that product.
    ask: What was multiplied by W_o in the forward pass?""")
mistake("output-for-upstream", "dheads,", 'split_heads(cache["merged"], cache["n_heads"]),').explain("""
    attention_backward got the output of the heads, not its gradient
    why: A backward pass passes gradients on. These gradients do not depend on dout.
    ask: What is the first argument of attention_backward?""")
