"""Mistakes in the backward pass of the RMS norm, apart from those in its mean square."""

from autograder.courses.transformer.common.mistakes.row_sums import wrong_row_sums
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_MEAN_OF_PRODUCT = "(np.vecdot(g, normalized) / d)[..., None]"

mistake = MISTAKES.for_functions("layernorm.rmsnorm_backward")
mistake("direct-path-only", f"g - normalized * {_MEAN_OF_PRODUCT}", "g * 1.0", common=True).explain("""
    the root mean square was treated as a constant in dx
    why: It depends on every entry of the row, so each entry also changes the output by changing the divisor.
    ask: In how many places of the forward formula does x appear?""")
mistake("gain-missing-in-second-term", "np.vecdot(g, normalized)", "np.vecdot(dout, normalized)").explain("""
    in the second term of dx, dout was used in place of g
    why: The gradient with respect to x̂ is g = dout * gamma, in both terms. With gamma 1 the mistake stays hidden.
    ask: Which gradient reaches x̂, and in how many places of dx does the formula use it?""")
mistake("mean-path-too", "dx = g -", "dx = g - g.mean(axis=-1, keepdims=True) -", common=True).explain("""
    a mean was subtracted in dx, as in layer normalization
    why: The forward pass subtracts no mean, so there is no path through one in the backward pass.
    ask: Which of the three terms of layernorm_backward belongs to a step that rmsnorm does not have?""")
for name, edits, text in (
    ("gain-missing", ("g = dout * gamma", "g = dout"), "the gain gamma was not used in dx"),
    ("gain-twice", ("g = dout * gamma", "g = dout * gamma * gamma"), "in dx, dout was multiplied by gamma twice"),
):
    mistake(name, *edits, common=name == "gain-missing").explain(f"""
        {text}
        why: With gamma 1 the mistake stays hidden. The gradient with respect to x̂ is g, which is dout times gamma.
        ask: What is the gradient of gamma * x̂ with respect to x̂? Where does the formula contain g?""")
mistake("one-division-missing-in-second-term", "dx = g - normalized", "dx = g - rms**1 * normalized").explain("""
    in the second term of dx one division by the root mean square is missing
    why: This term is x mean(g x) / r³: each of the two x̂ is divided by r, and the whole difference once more.
    ask: Write x / r for x̂ in the formula. By which power of r is the second term divided?""")
mistake("dgamma-from-x", "(dout * normalized)", "(dout * x)", common=True).explain("""
    dgamma was computed with x instead of the normalized x
    why: The forward pass multiplies gamma by the normalized x, and dout is the gradient of the product.
    ask: What exactly is gamma multiplied by in the forward pass?""")
mistake("dgamma-without-dout", "(dout * normalized)", "(normalized * 1.0)").explain("""
    dgamma is the sum of the normalized x, without dout
    why: Chain rule: dgamma is the sum of dout times the factor of gamma in the forward pass.
    ask: What exactly is gamma multiplied by in the forward pass?""")
mistake("dgamma-from-output", "(dout * normalized)", "(dout * normalized * gamma)").explain("""
    dgamma was computed with the output, which contains gamma, not with the normalized x
    why: In gamma * x̂, the derivative with respect to gamma is x̂. With gamma 1 the mistake stays hidden.
    ask: What exactly is gamma multiplied by in the forward pass?""")
wrong_row_sums(
    mistake,
    {"dgamma": ("(dout * normalized).reshape(-1, d).sum(axis=0)", "SUM", "(dout * normalized)")},
    (("dgamma",),),
)
mistake("dx-flat", "return dx, dgamma", "return dx.reshape(-1, d), dgamma").explain("""
    dx has lost the leading axes of x
    why: (B, T, D) was reshaped to rows, and was not reshaped back.
    ask: What is the shape of x, and what is the shape of your dx?""")
mistake("writes-into-dout", "g = dout * gamma", "g = dout\n    g *= gamma").explain("""
    dout was changed in place
    why: In a block, the same dout also goes along the residual path. `dout *= gamma` writes into the caller's array.
    ask: Which of your lines write into an array that you did not create?""")
mistake("writes-into-x", "normalized = x / rms", "x /= rms\n    normalized = x").explain("""
    x was changed in place
    why: `x /= …` writes into the caller's array, which is still needed elsewhere.
    ask: Which of your lines write into an array that you did not create?""")
mistake("layer-normalization").body("""
    dx, dgamma, _ = layernorm_backward(dout, x, gamma, eps)
    return dx, dgamma
""").explain("""
    the gradient of layer normalization was computed, with means
    why: The forward pass subtracts no mean, so the backward pass has no term for it.
    ask: Which steps of layernorm_backward belong to something that rmsnorm does not do?""")
