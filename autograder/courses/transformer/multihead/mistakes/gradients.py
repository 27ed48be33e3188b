"""Mistakes in single gradients of `multihead`."""

from autograder.courses.transformer.common.mistakes.batch_axes import add_batch_axes_mistakes
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("multihead.multihead_attention_backward")
_END = "grads = {name: grads[name] for name in params}"
_SIDES = (
    ("", "", "True"),
    ("-self", "in self attention ", "memory is None"),
    ("-cross", "in cross attention ", "memory is not None"),
)
_NAMES = ("dx", "dmemory", 'grads["W_qkv"]', 'grads["b_qkv"]', 'grads["W_o"]', 'grads["b_o"]')
for gradient in _NAMES:
    short = gradient.removeprefix('grads["').removesuffix('"]')
    shown = short if short.startswith("d") else f"the gradient of {short}"
    guard = "if memory is not None:\n        " if short == "dmemory" else ""
    for name, code, words in (
        ("sign", f"-{gradient}", "has the wrong sign"),
        ("zero", f"0 * {gradient}", "is 0 everywhere"),
        ("doubled", f"2 * {gradient}", "is twice what it should be"),
        ("averaged", f"{gradient} * (d_model / x.size)", "was divided by the number of positions"),
        ("averaged-over-texts", f"{gradient} / len(x)", "was divided by the number of texts"),
        ("float64", f"{gradient}.astype(np.float64)", "is float64 even when the inputs are float32"),
    ):
        mistake(f"{short}-{name}", _END, f"{guard}{gradient} = {code}\n    {_END}").explain(f"""
            {shown} {words}
            why: Every gradient must have the size, the sign and the dtype of the formula. If the loss is a mean, its
                 division is already in dout.
            ask: Which line of your code computes {shown}, and what runs after it?""")
for short in ("W_qkv", "W_o"):
    mistake(f"{short}-transposed", _END, f'grads["{short}"] = grads["{short}"].T\n    {_END}').explain(f"""
        the gradient of {short} was transposed
        why: A gradient has the shape of its parameter, and an entry for each of its entries.
        ask: dW = xᵀ dy: which of the two is transposed, and which comes first?""")

# The gradients of the biases are sums over all positions.
_REDUCED = {
    "b_o": '    grads["b_o"] = {dout}\n',
    "b_qkv": '    grads["b_qkv"] = {dqkv} if memory is None else np.concatenate([{dq}, {dkv}], axis=-1)\n',
}
_LISTED_ALREADY = (
    ("b_qkv", "b_o", "not-summed"),
    ("b_qkv", "b_o", "summed-over-first-axis"),
    ("b_qkv", "b_o", "averaged-over-rows"),
    ("b_o", "averaged-over-rows"),
)
_ARRAYS = {"dout": "dout", "dqkv": "dqkv", "dq": "merge_heads(dq)", "dkv": "dkv"}
for names, shown in ((("b_o",), "b_o"), (("b_qkv",), "b_qkv"), (("b_qkv", "b_o"), "each bias")):
    for name, how, words in (
        ("not-summed", "", "not summed over the positions"),
        ("summed-over-first-axis", ".sum(axis=0)", "summed over the first axis only"),
        ("summed-over-positions", ".sum(axis=-2)", "summed over the positions only, not over the texts"),
        (
            "summed-with-keepdims",
            ".sum(axis=tuple(range(dout.ndim - 1)), keepdims=True)",
            "summed with keepdims=True, and kept axes of length 1",
        ),
        ("summed-over-two-axes", ".sum(axis=(0, 1))", "summed over axes 0 and 1, which needs exactly one batch axis"),
        ("averaged-over-rows", ".mean(axis=tuple(range(dout.ndim - 1)))", "averaged over the positions, not summed"),
    ):
        if (*names, name) in _LISTED_ALREADY:
            continue
        arrays = {key: value + how for key, value in _ARRAYS.items()}
        code = "".join(_REDUCED[bias].format(**arrays) for bias in names)
        mistake(f"{'-'.join(names)}-{name}", f"    {_END}", f"{code}    {_END}").explain(f"""
            the gradient of {shown} was {words}
            why: Every position of every text used the same bias, so its gradient is the sum over all of them.
            ask: What is the shape of the bias, and what is the shape of its gradient?""")
for short in ("W_o", "W_qkv"):
    left, right = {"W_o": ('cache["merged"]', "dout"), "W_qkv": ("x", "dqkv")}[short]
    both = f"{left}.swapaxes(-1, -2) @ {right}"
    for name, how, words in (
        ("per-text", "{}", "not summed over the texts"),
        ("first-text", "({} if x.ndim < 3 else ({})[0])", "computed from the first text only"),
        ("mean-over-texts", "({} if x.ndim < 3 else ({}).mean(axis=0))", "averaged over the texts, not summed"),
        ("sum-over-first-axis", "({} if x.ndim < 3 else ({}).sum(axis=0))", "summed over the first axis only"),
    ):
        value = how.format(*[both] * how.count("{}"))
        condition = "memory is None" if short == "W_qkv" else "True"
        mistake(
            f"{short}-{name}", f"    {_END}", f'    if {condition}:\n        grads["{short}"] = {value}\n    {_END}'
        ).explain(f"""
            {"in self attention " if short == "W_qkv" else ""}the gradient of {short} was {words}
            why: All texts used the same weights, so there is one gradient: the sum over all positions of all texts.
            ask: What is the shape of {short}, and what is the shape of its gradient? Which texts does it depend on?""")

# The parts of W_qkv and b_qkv, and the three ways back to the input.
for parameter in ("W_qkv", "b_qkv"):
    for index, words in enumerate(("queries", "keys", "values")):
        if parameter == "b_qkv" and words == "keys":
            continue  # It is 0: a bias of the keys changes no weight.
        for ending, start, condition in _SIDES:
            place = f'grads["{parameter}"][..., {index} * d_model : {index + 1} * d_model]'
            mistake(
                f"{parameter}-without-{words}{ending}",
                f"    {_END}",
                f"    if {condition}:\n        {place} = 0\n    {_END}",
            ).explain(f"""
                {start}the gradient of {parameter} is 0 for the {words}
                why: {parameter} has three parts of D columns, and each has its own gradient.
                ask: Which of dq, dk and dv does your gradient of {parameter} contain?""")
    for letters, indices in (
        ("kqv", (1, 0, 2)),
        ("qvk", (0, 2, 1)),
        ("vkq", (2, 1, 0)),
        ("kvq", (2, 0, 1)),
        ("vqk", (1, 2, 0)),
    ):
        for ending, start, condition in _SIDES:
            old = f'grads["{parameter}"]'
            parts = f"[np.split({old}, 3, axis=-1)[i] for i in {indices}]"
            code = f"    if {condition}:\n        {old} = np.concatenate({parts}, axis=-1)\n"
            mistake(f"{parameter}-order-{letters}{ending}", f"    {_END}", f"{code}    {_END}").explain(f"""
                {start}the parts of the gradient of {parameter} are in the order {", ".join(letters)}
                why: The order is that of the columns of W_qkv: q, k, v.
                ask: Which columns of W_qkv make the queries?""")
_WAYS = {
    "q": "merge_heads(dq) @ W_qkv[:, :d_model].T",
    "k": "merge_heads(dk) @ W_qkv[:, d_model : 2 * d_model].T",
    "v": "merge_heads(dv) @ W_qkv[:, 2 * d_model :].T",
}
for ways, words in (
    ("k", "only the gradient that came through the keys"),
    ("v", "only the gradient that came through the values"),
    ("qv", "no gradient through the keys"),
    ("kv", "no gradient through the queries"),
):
    code = " + ".join(_WAYS[way] for way in ways)
    mistake(
        f"dx-through-{ways}", f"    {_END}", f"    if memory is None:\n        dx = {code}\n    {_END}"
    ).explain(f"""
        in self attention dx has {words}
        why: x was used three times, for q, k and v, and the three gradients are added.
        ask: How often was x used in the forward pass?""")
mistake(
    "dmemory-through-v", f"    {_END}", f"    if memory is not None:\n        dmemory = {_WAYS['v']}\n    {_END}"
).explain("""
    dmemory has only the gradient that came through the values
    why: The memory was used twice, for k and for v, and the two gradients are added.
    ask: What was made from the memory in the forward pass?""")
for way, words in (("q", "queries"), ("k", "keys"), ("v", "values")):
    code = _WAYS[way]
    name = "dmemory" if way != "q" else "dx"
    extra = "" if way == "q" else f"\n        {name} = {name} - {code} + {code.removesuffix('.T')}"
    mistake(
        f"matrix-of-{words}-not-transposed",
        f"    {_END}",
        f"    dx = dx - (0 if memory is not None and {way != 'q'} else {code} - {code.removesuffix('.T')})\n"
        + (f"    if memory is not None:{extra}\n" if extra else "")
        + f"    {_END}",
    ).explain(f"""
        the columns of W_qkv for the {words} were not transposed in the backward pass
        why: The gradient of y = x W is dx = dy Wᵀ. These columns are a square matrix, so there is no error message.
        ask: What is the derivative of y = x W with respect to x?""")
mistake(
    "dmemory-added-to-dx",
    f"    {_END}",
    f"    if memory is not None and dmemory.shape == dx.shape:\n        dx = dx + dmemory\n    {_END}",
).explain("""
    in cross attention the gradient of the memory was added to dx
    why: x and the memory are different arrays, and each has its own gradient.
    ask: Which of q, k and v were made from x?""")
mistake("dmemory-and-dx-returned-as-one", "else (dx, grads, dmemory)", "else (dx + dmemory, grads)").explain("""
    in cross attention the gradients of x and of the memory were added, and a pair was returned
    why: x and the memory are different arrays, and each has its own gradient: (dx, grads, dmemory).
    ask: How many results does the docstring list for cross attention?""")
mistake("dmemory-and-dx-exchanged", "else (dx, grads, dmemory)", "else (dmemory, grads, dx)").explain("""
    in cross attention dx and dmemory were swapped
    why: The gradient through q belongs to x, and the gradient through k and v to the memory.
    ask: Which of q, k and v were made from x?""")
mistake("upstream-added", f"    {_END}", f"    dx = dx + dout\n    {_END}").explain("""
    dout was added to dx
    why: That is the residual connection. It belongs to the block, `blocks`.
    ask: Was x added to the output in the forward pass?""")
for letters in ("kqv", "qvk", "vkq"):
    order = ", ".join(f"d{letter}" for letter in letters)
    mistake(f"order-of-attention-{letters}", "dq, dk, dv = attention", f"{order} = attention").explain(f"""
        the results of attention_backward were taken in the order {order}
        why: Its order is dq, dk, dv.
        ask: In which order does attention_backward return the three gradients?""")
for name, code, words in (
    ("queries-and-keys", 'cache["k"], cache["q"], cache["v"]', "q and k were"),
    ("keys-and-values", 'cache["q"], cache["v"], cache["k"]', "k and v were"),
):
    mistake(f"{name}-exchanged-for-attention", 'cache["q"], cache["k"], cache["v"]', code).explain(f"""
        {words} swapped in the call of attention_backward
        why: Its arguments are dout, q, k, v and weights.
        ask: In which order does attention_backward take its arguments?""")
mistake(
    "output-for-upstream",
    "attention_backward(dheads,",
    'attention_backward(split_heads(cache["merged"], cache["n_heads"]),',
).explain("""
    attention_backward got the output of the heads, not its gradient
    why: A backward pass passes gradients on. These gradients do not depend on dout.
    ask: What is the first argument of attention_backward?""")
mistake(
    "gradients-in-params",
    "    grads = {}\n",
    "    names, grads = list(params), params\n",
    "for name in params}",
    "for name in names}",
).explain("""
    the gradients were written into params, the dict in the cache
    why: The parameters are lost: the cache is changed, and cannot be used again.
    ask: Is `grads` a new dict, or another name for one that exists already?""")
for bias in ("b_qkv", "b_o"):
    mistake(f"{bias}-gradient-missing", "for name in params}", f'for name in params if name != "{bias}"}}').explain(f"""
        the gradient of {bias} was not returned
        why: A bias without a gradient is never trained.
        ask: Which keys does `params` have, and which keys does your dict have?""")
    mistake(f"gradient-of-absent-{bias}", "for name in params}", f'for name in (*params, "{bias}")}}').explain(f"""
        a gradient was returned for {bias}, even if it does not exist
        why: The optimizer goes through gradients and parameters together, so their keys must be the same.
        ask: Which keys does `params` have when there are no biases?""")
mistake("dout-in-place", "    grads = {}\n", "    grads = {}\n    dout += 1e-12 * dout\n").explain("""
    dout was changed in place
    why: `dout += …` writes into the caller's array, which may still be needed.
    ask: Which of your lines create a new array, and which write into an argument?""")
add_batch_axes_mistakes(mistake, "grads = {}\n")
for name, old, new, words in (
    (
        "keys-and-values-from-x",
        "(dkv, memory, ",
        "(dkv, x, ",
        "for keys and values was computed with x, not with the memory",
    ),
    (
        "queries-from-memory",
        "(merge_heads(dq), x, ",
        "(merge_heads(dq), memory, ",
        "for queries was computed with the memory",
    ),
):
    mistake(f"W_qkv-of-{name}", f"_project_backward{old}", f"_project_backward{new}").explain(f"""
        in cross attention the gradient of W_qkv {words}
        why: In dW = xᵀ dy, x stands for the input of the layer: x for the queries, the memory for keys and values.
        ask: What was multiplied by each part of W_qkv in the forward pass?""")
