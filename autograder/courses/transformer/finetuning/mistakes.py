"""Mistakes in `finetuning`."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("finetuning.chat_example")
_QUESTION, _ANSWER, _END = "[False] * (len(question) + 2)", "[True] * (len(answer) + 1)", 'special["end"]]'
mistake("mask-not-shifted", "counts[1:]", "counts[:-1]", common=True).explain("""
    the mask was not shifted with the targets
    why: It then marks where an answer is read, not where it is predicted. The target at [assistant] counts.
    ask: At which position is the first token of the answer the target?""")
mistake("end-not-counted", _ANSWER, "[True] * len(answer) + [False]", common=True).explain("""
    the [end] after an answer did not count
    why: The model then never learns to stop.
    ask: What should the model predict after the last word of its answer?""")
mistake("questions-count", _QUESTION, _QUESTION.replace("False", "True"), common=True).explain("""
    all targets counted, those of the question, too
    why: The model should learn to answer, not to ask.
    ask: Which targets are tokens that the user writes?""")
mistake("assistant-counted", _QUESTION, "[False] * (len(question) + 1) + [True]", common=True).explain("""
    the [assistant] token counted as a target
    why: Your program writes it, and the model is never asked to predict it.
    ask: How many targets count for an answer of two tokens?""")
mistake("last-answer-only", "counts +=", "counts =", "(question)", "(counts) + len(question)", common=True).explain("""
    only the last answer counted
    why: Every answer in a conversation is one to learn from.
    ask: In a conversation with two turns, how many answers count?""")  # fmt: skip
mistake("first-turn-only", "in turns:", "in turns[:1]:").explain("""
    only the first turn was written
    why: A conversation can have several turns, and the model reads all of them.
    ask: What is the length of the text for two turns?""")
mistake("no-end", f"*answer, {_END}", "*answer]", _ANSWER, "[True] * len(answer)").explain("""
    there was no [end] after an answer
    why: It is the sign by which the model, and your program, know that the answer is complete.
    ask: How many special tokens does the text have for each turn?""")
mistake("targets-not-shifted", "ids[1:]", "ids[:-1]", common=True).explain("""
    the targets were the same as the input
    why: The target at a position is the token that comes next.
    ask: In the example of the lesson, what comes after [user]?""")
mistake("special-accepted", "if token in special.values():", "if False:", common=True).explain("""
    special tokens in a question or an answer were accepted
    why: A user who can write [end] [assistant] puts words into the model's mouth.
    ask: What does your code do with a question that contains special["end"]?""")
mistake("answers-unchecked", "(*question, *answer)", "question").explain("""
    only the questions were searched for special tokens
    why: An answer can contain one, too, for example if it is copied from a website.
    ask: What does your code do with an answer that contains special["user"]?""")
mistake("no-turn-accepted", "if not ids:", "if False:").explain("""
    a conversation without turns was accepted
    why: There is nothing to learn from it, and the text has no last token to leave out.
    ask: What does your code return for an empty list?""")

mistake = MISTAKES.for_functions("finetuning.answer_loss")
_SUM, _GRADIENT = ".sum() / n", "dlogits / dlogits.dtype.type(n)"
mistake("mask-ignored", "n = np.count_nonzero(mask)", "mask = np.ones_like(mask)\n    n = mask.size",
        common=True).explain("""
    all targets counted, also where the mask is False
    why: The model should learn the answers, not the questions and the padding.
    ask: What does your loss become if you change a target where the mask is False?""")  # fmt: skip
mistake("probabilities-stay", "axis=-1) - 1", "axis=-1) - mask[..., None]",
        f"np.where(mask[..., None], {_GRADIENT}, 0)", _GRADIENT).explain("""
    dlogits was not set to 0 where the mask is False: those rows kept their probabilities
    why: The loss does not depend on scores whose target does not count.
    ask: By how much does the loss change if a score changes where the mask is False?""")  # fmt: skip
mistake("divided-by-all", _SUM, ".sum() / mask.size", _GRADIENT, "dlogits / dlogits.dtype.type(mask.size)",
        common=True).explain("""
    the sum was divided by the number of all positions
    why: Texts with long questions or much padding would get small gradients. Divide by the targets that count.
    ask: How many targets count in the example of the lesson, and what do you divide by?""")  # fmt: skip
mistake("mean-of-texts").body("""
    if not np.any(mask):
        raise ValueError("no target counts: the mask is False everywhere")
    places = np.where(mask, targets, 0)[..., None]
    logp = log_softmax(logits)
    picked = np.take_along_axis(logp, places, axis=-1)[..., 0]
    counts = np.maximum(mask.sum(axis=-1, keepdims=True), 1)
    weights = (mask / counts / np.any(mask, axis=-1).sum()).astype(logits.dtype)
    dlogits = np.exp(logp)
    np.put_along_axis(dlogits, places, np.take_along_axis(dlogits, places, axis=-1) - 1, axis=-1)
    return float(-(picked * weights).sum()), dlogits * weights[..., None]
""").explain("""
    each text was averaged first, and then the texts
    why: A token of a short answer then counts more than one of a long answer.
    ask: One text has 1 target that counts, and another 9. What is the weight of each of the 10?""")
mistake("not-divided", _SUM, ".sum()", _GRADIENT, "dlogits").explain("""
    the losses were added up, not averaged
    why: A batch with more answers would then make longer steps.
    ask: What happens to your loss if the batch contains each text twice?""")
mistake("gradient-not-divided", _GRADIENT, "dlogits", common=True).explain("""
    the gradient was not divided by the number of targets that count
    why: The loss is a mean, so each of its N terms has the weight 1/N in the gradient, too.
    ask: The loss has a factor 1/N. Where is it in your gradient?""")
mistake("gradient-not-masked", f"np.where(mask[..., None], {_GRADIENT}, 0)", _GRADIENT, common=True).explain("""
    the gradient was not 0 where the mask is False
    why: The loss does not depend on the logits there.
    ask: How does the loss change if you change a logit where the mask is False?""")
mistake("onehot-missing", "- 1, axis=-1)", "- 0, axis=-1)").explain("""
    the gradient did not contain the target: 1 was not subtracted there
    why: The gradient is p minus a vector with 1 at the target.
    ask: What is the sum of a row of your gradient, and what should it be?""")
mistake("loss-negated", "float(-picked", "float(picked", common=True).explain("""
    the loss has the wrong sign
    why: A log-probability is at most 0, so minus its mean is at least 0.
    ask: Can your loss be negative?""")
mistake("padding-read", "np.where(mask, targets, 0)", "targets").explain("""
    targets that do not count were used as indices
    why: They may be any integers. Where the mask is False, put a number that is allowed, such as 0.
    ask: What does your code do with a target of 1,000,000 where the mask is False?""")
mistake("empty-accepted", "if n == 0:", "if False:").explain("""
    a mask that is False everywhere was accepted
    why: The mean of nothing is nan, and it would spoil all parameters in one step.
    ask: What is 0 / 0 in NumPy?""")

mistake = MISTAKES.for_functions("finetuning.lora_linear")
_SCALE = "float(alpha) / A.shape[1]"
mistake("not-divided-by-r", _SCALE, "float(alpha)", common=True).explain("""
    the addition was not divided by r
    why: With another r, the change would have another size, and alpha would have to be chosen again.
    ask: What is the factor for alpha = 8 and r = 4?""")
mistake("divided-by-D", _SCALE, "float(alpha) / A.shape[0]").explain("""
    the addition was divided by D, not by r
    why: r is the narrow side: the columns of A, or the rows of B.
    ask: Which of the two numbers in the shape of A is r?""")
mistake("alpha-ignored", _SCALE, "1.0 / A.shape[1]").explain("""
    alpha was not used
    why: It says how strong the addition is.
    ask: How does your output change if alpha is doubled?""")
mistake("root-of-r", _SCALE, "float(alpha) / A.shape[1] ** 0.5").explain("""
    the addition was divided by the root of r
    why: There is a variant of LoRA that does this. Here the factor is alpha / r.
    ask: What is the factor for alpha = 8 and r = 4?""")
mistake("whole-numbers", _SCALE, "alpha // A.shape[1]").explain("""
    the factor was rounded down to a whole number
    why: `//` drops what comes after the point: with alpha = 1 and r = 2, nothing is added at all.
    ask: What is 1 // 2 in Python?""")
mistake("everything-scaled", "x @ W + scale * (narrow @ B)", "scale * (x @ W + narrow @ B)", common=True).explain("""
    the output of W was scaled, too
    why: With B = 0, the layer must give x W, whatever alpha is.
    ask: What does your layer return if B is 0?""")
mistake("W-left-out", "x @ W + scale", "scale", common=True).explain("""
    the output of W was left out
    why: A and B are an addition to the layer, and do not take its place.
    ask: What does your layer return if B is 0?""")
mistake("leading-axes-merged", "x @ W + scale * (narrow @ B)",
        "x.reshape(-1, x.shape[-1]) @ W + scale * (narrow.reshape(-1, narrow.shape[-1]) @ B)").explain("""
    the leading axes of x were made into one
    why: The output has the same leading axes as x.
    ask: What shape does your result have for x (2, 3, 5)?""")  # fmt: skip

mistake = MISTAKES.for_functions("finetuning.lora_linear_backward")
_DX, _DB, _DNARROW = "dout @ W.T + dnarrow @ A.T", "dB = scale * (narrow", "dnarrow = scale * (dout @ B.T)"
mistake("dx-without-W", _DX, "dnarrow @ A.T", common=True).explain("""
    dx left out the path through W
    why: W is frozen, but the layers before it still learn through it.
    ask: How many paths lead from x to y?""")
mistake("dx-without-A-and-B", _DX, "dout @ W.T", common=True).explain("""
    dx left out the path through A and B
    why: x reaches the output on two paths, and their gradients add up.
    ask: How many paths lead from x to y?""")
mistake("dB-not-scaled", _DB, "dB = (narrow", common=True).explain("""
    dB was not multiplied by alpha / r
    why: The factor stands before the product with B, so it is in its gradient, too.
    ask: If alpha is doubled, what happens to dB?""")
mistake("dx-not-scaled", _DX, "dout @ W.T + dout @ B.T @ A.T", common=True).explain("""
    the second part of dx was not multiplied by alpha / r
    why: What goes back through A and B was scaled on its way forward.
    ask: If alpha is 0, what must dx be?""")
mistake("dA-not-scaled", "@ dnarrow.reshape", "@ (dout @ B.T).reshape", common=True).explain("""
    dA was not multiplied by alpha / r
    why: Its gradient goes back through the factor, as that of B does.
    ask: If alpha is doubled, what happens to dA?""")  # fmt: skip
mistake("never-scaled", _DNARROW, "dnarrow = dout @ B.T", _DB, "dB = (narrow").explain("""
    the factor alpha / r was left out everywhere
    why: The output depends on A and B through this factor.
    ask: If alpha is 0, how much does the output change when A changes?""")
mistake("mean-over-rows", "return dout",
        "rows = x.size // x.shape[-1]\n    dA, dB = dA / rows, dB / rows\n    return dout", common=True).explain("""
    dA and dB were averaged over the rows
    why: The rows are added up. If there is a mean, it is in the loss, and in dout already.
    ask: What is dA for a batch that contains the same row twice?""")  # fmt: skip
mistake("scaled-twice", _DX, "dout @ W.T + scale * dnarrow @ A.T").explain("""
    the second part of dx was multiplied by alpha / r twice
    why: If the gradient of x A contains the factor already, do not multiply again.
    ask: How often does your code multiply by alpha / r on the way from dout to dx?""")
mistake("cache-changed", "B, scale = cache", "B, scale = cache\n    narrow *= scale", _DB, "dB = (narrow").explain("""
    an array of the cache was changed in place
    why: `*=` on an array of the cache writes into it. A second call with the same cache gives another result.
    ask: Which of your lines write into an array that the forward pass made?""")  # fmt: skip

mistake = MISTAKES.for_functions("finetuning.dpo_loss")
_M = "((chosen - ref_chosen) - (rejected - ref_rejected))"
_SLOPE = "slope = beta / len(m) * np.exp(-np.logaddexp(0, m))"
mistake("reference-ignored", _M, "(chosen - rejected)", common=True).explain("""
    the reference was left out
    why: The loss then asks for a large difference, also where there was one before.
    ask: What is m before the first step, when the model is the reference?""")
mistake("preference-inverted", _M, "((rejected - ref_rejected) - (chosen - ref_chosen))",
        "-slope, slope", "slope, -slope", common=True).explain("""
    the rejected answer was preferred
    why: m grows when the chosen answer becomes more probable.
    ask: If the log-probability of the chosen answer grows, should the loss become smaller or larger?""")  # fmt: skip
mistake("gradients-exchanged", "-slope, slope", "slope, -slope", common=True).explain("""
    the gradients have the wrong signs
    why: The loss falls when the chosen answer becomes more probable, so its gradient is negative.
    ask: Which of the two gradients is negative?""")
mistake("sigmoid-of-m", "np.exp(-np.logaddexp(0, m))", "np.exp(-np.logaddexp(0, -m))", common=True).explain("""
    the gradients contain σ(m), not σ(-m)
    why: Pairs that the model has learned, with a large m, should hardly move it.
    ask: What is your gradient for m = 100?""")
mistake("beta-not-in-gradient", _SLOPE, _SLOPE.replace("beta /", "1 /"), common=True).explain("""
    the gradients were not multiplied by beta
    why: m contains the log-probabilities times beta, and the chain rule brings the factor down.
    ask: What is the derivative of m with respect to `chosen`?""")
mistake("gradient-not-averaged", _SLOPE, _SLOPE.replace(" / len(m)", ""), common=True).explain("""
    the gradients were not divided by the number of pairs
    why: The loss is a mean over N pairs, so each has the weight 1/N.
    ask: What happens to your gradients if each pair occurs twice?""")
mistake("sum-not-mean", ".mean()", ".sum()", _SLOPE, _SLOPE.replace(" / len(m)", "")).explain("""
    the losses of the pairs were added up, not averaged
    why: The step would grow with the number of pairs.
    ask: What is the loss of two equal pairs, compared with that of one?""")
mistake("beta-ignored", "beta = float(beta)", "beta = 1.0").explain("""
    beta was not used
    why: It says how soon a preference is strong enough.
    ask: What is m for a difference of 2 and beta = 0.1?""")
mistake("beta-outside", "m = beta * (", "m = (", "float(np.logaddexp", "float(beta * np.logaddexp").explain("""
    the loss was multiplied by beta, not the margin
    why: beta belongs inside the sigmoid. Outside, it would only be another learning rate.
    ask: What is the loss at the start, when m is 0, with beta = 0.1?""")
mistake("overflow", "float(np.logaddexp(0, -m).mean())", "float(np.log(1 + np.exp(-m)).mean())",
        "np.exp(-np.logaddexp(0, m))", "1 / (1 + np.exp(m))", common=True).explain("""
    an exponential overflowed for margins far from 0
    why: exp(1000) is infinite, and so is the loss. `np.logaddexp(0, -m)` is the same number without the overflow.
    ask: What does your loss give for m = -1000?""")  # fmt: skip
