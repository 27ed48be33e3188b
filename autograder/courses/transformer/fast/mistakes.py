"""Mistakes in `fast`."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("fast.online_softmax_step")
_TOTAL, _WEIGHTED = "total = factor * total +", "weighted = factor[..., None] * weighted +"
mistake("old-sums-kept", _TOTAL, "total = total +", _WEIGHTED, "weighted = weighted +", common=True).explain("""
    the sums so far were not corrected when the maximum grew
    why: Their exponentials were computed with the old maximum, those of the block with the new one.
    ask: The first block had the maximum 0, the second has 5. By what must the old total be multiplied?""")
mistake("old-values-kept", _WEIGHTED, "weighted = weighted +", common=True).explain("""
    the weighted values so far were not corrected when the maximum grew
    why: They contain the same exponentials as the total, so they need the same factor.
    ask: Which of the three things that you keep depend on the old maximum?""")
mistake("maximum-of-block", "np.maximum(maximum, scores.max(axis=-1))", "scores.max(axis=-1)", common=True).explain("""
    the new maximum was that of the block alone
    why: If an earlier block had a larger score, the factor is above 1, and may overflow.
    ask: What is the largest score so far if the blocks have the maxima 7 and 2?""")
mistake("nan-without-keys", "shift = np.where(new == -np.inf, 0.0, new)", "shift = new", common=True).explain("""
    a query that may attend to no key so far got nan
    why: Its maximum is -inf, and -inf - (-inf) is nan. One nan spoils all later sums.
    ask: All scores of the first block are -inf for a query. What do you subtract from them?""")
mistake("factor-inverted", "np.exp(maximum - shift)", "np.exp(shift - maximum)").explain("""
    the factor was the exponential of the new maximum minus the old one
    why: The old exponentials were too large for the new maximum, so the factor is at most 1.
    ask: If the maximum grows, should the old total become larger or smaller?""")
mistake("nothing-subtracted", "np.where(new == -np.inf, 0.0, new)", "np.zeros_like(new)",
        "np.exp(maximum - shift)", "1.0 if np.ndim(maximum) == 0 else np.ones_like(maximum)").explain("""
    no maximum was subtracted from the scores
    why: The exponential of a score of 1000 overflows.
    ask: What is the largest argument that your exponential ever gets?""")  # fmt: skip
mistake("divided-too-early", "new, total, weighted", "new, total, weighted / total[..., None]").explain("""
    the weighted values were already divided by the total
    why: The next block adds exponentials to them that are not divided. Divide once, after the last block.
    ask: When do you know the sum of all exponentials?""")
mistake("two-axes-only", "scores.max(axis=-1)", "scores.max(axis=1)", ".sum(axis=-1)", ".sum(axis=1)").explain("""
    the keys were taken to be the second axis, which is wrong with batches
    why: With batch axes in front, the keys are still the last axis.
    ask: Which axis of scores (B, H, T, S) belongs to the keys?""")

mistake = MISTAKES.for_functions("fast.blocked_attention")
_LATER = "np.arange(n_read, n_read + n_keys) > np.arange(start, start + n_queries)[:, None]"
mistake("all-blocks-first", "for k, v in blocks:", "for k, v in list(blocks):", common=True).explain("""
    all blocks were collected before the first was used
    why: Each block overwrites the one before, so that what you have collected is the last block, again and again.
    ask: What does list(Blocks(k, v, 2)) contain in the example of the lesson?""")
mistake("mask-restarts", _LATER, _LATER.replace("n_read, n_read + n_keys", "n_keys"), common=True).explain("""
    the keys of every block were numbered from 0 for the mask
    why: The second block of 128 keys begins at position 128.
    ask: At which position is the first key of the third block?""")
mistake("start-ignored", _LATER, _LATER.replace("start, start + n_queries", "n_queries"), common=True).explain("""
    the mask took the first query to be at position 0
    why: It is at position `start`, and attends to all keys before that, too.
    ask: With start = 6, how many keys does the first query attend to?""")
mistake("start-0-as-none", "if start is not None:", "if start:", common=True).explain("""
    start = 0 was treated like None, so that attention was not causal
    why: In Python, 0 counts as false. Ask whether start is None.
    ask: Which branch does your code take for start = 0?""")
mistake("own-position-hidden", _LATER, _LATER.replace(">", ">=")).explain("""
    a query could not attend to the key at its own position
    why: Causal means: no later keys. The first query would have none at all.
    ask: To how many keys does the query at position 0 attend?""")
mistake("read-to-the-end", "if start is not None and n_read", "if False and n_read").explain("""
    blocks were read that come after the last query
    why: All of their scores are masked. In a causal model, leaving them out saves half of the work.
    ask: After which block can your loop end?""")
mistake(
    "one-block-too-many",
    *("if start is not None and n_read", "if False and n_read"),
    *("in blocks:\n", "in blocks:\n        if start is not None and n_read >= start + n_queries:\n            break\n"),
).explain("""
    a block that comes after the last query was read before the loop ended
    why: A `for` loop has read the next block when it begins a round, even if `break` is its first line.
    ask: Before which block do you know how many keys have been read: before or after the loop takes the next?""")
mistake("not-divided", "weighted / total[..., None]", "weighted").explain("""
    the sum of the values was not divided by the total
    why: The weights of a softmax add up to 1.
    ask: What do the exponentials of a row add up to?""")
_MEAN = """
    n_queries, n_read, outs = q.shape[-2], 0, []
    for k, v in blocks:
        scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
        if start is not None:
            later = np.arange(n_read, n_read + k.shape[-2]) > np.arange(start, start + n_queries)[:, None]
            scores[..., later] = -np.inf
        _, total, weighted = online_softmax_step(-np.inf, 0.0, 0.0, scores, v)
        outs.append(weighted / np.where(total == 0, 1, total)[..., None])
        n_read += k.shape[-2]
        if start is not None and n_read >= start + n_queries:
            break
    return sum(outs) / len(outs)
"""
mistake("mean-of-blocks").body(_MEAN).explain("""
    each block had a softmax of its own, and the outputs were averaged
    why: A block with large scores must get more weight than one with small scores.
    ask: What happens to the weights of the first block when the second contains a much larger score?""")

mistake = MISTAKES.for_functions("fast.quantize")
_SCALES, _ROUND, _ZEROS = "np.abs(W).max(axis=0) / 127", "np.rint(W / scales)", "scales[scales == 0] = 1"
mistake("no-absolute-value", _SCALES, "W.max(axis=0) / 127", common=True).explain("""
    the largest entry of a column was taken, not the largest absolute value
    why: If the entry that is farthest from 0 is negative, it becomes less than -127.
    ask: What is the scale of a column with the entries 1 and -4?""")
mistake("truncated", _ROUND, "(W / scales)", common=True).explain("""
    the numbers were cut off, not rounded
    why: astype drops what comes after the point. The error is then up to a whole step instead of half of one.
    ask: What does np.array([2.9]).astype(np.int8) give?""")
mistake("halves-up", _ROUND, "np.floor(W / scales + 0.5)").explain("""
    numbers halfway between two integers were always rounded up
    why: Rounding to the even neighbor makes no error on average.
    ask: What does your code make of 2.5, and of -2.5?""")
mistake("up-to-128", "/ 127", "/ 128", common=True).explain("""
    the largest entry became 128, which does not fit into int8
    why: int8 ends at 127. One more is -128: the largest parameter changes its sign.
    ask: What is np.array([128.0]).astype(np.int8)?""")
mistake("divided-by-0", _ZEROS, "pass", common=True).explain("""
    a column of zeros was divided by its largest entry, 0
    why: 0 / 0 is nan, and as an integer, nan can be anything.
    ask: What is the scale of a column of zeros in your code?""")
mistake("kept-as-floats", ".astype(np.int8)", "").explain("""
    the integers were left in an array of floats
    why: Then nothing is saved: each of them takes as many bytes as before.
    ask: How many bytes does one entry of W8 take?""")
mistake("one-scale", _SCALES, "np.full(W.shape[1], np.abs(W).max() / 127, W.dtype)", common=True).explain("""
    the whole matrix had one scale
    why: The column with the largest entry then decides how coarsely all others are rounded.
    ask: How many scales does a matrix (5, 3) have?""")
mistake("scale-of-each-row").body("""
    scales = np.abs(W).max(axis=1) / 127
    scales[scales == 0] = 1
    return np.rint(W / scales[:, None]).astype(np.int8), scales
""").explain("""
    each row had a scale, not each column
    why: In x W, a column makes one output. The scales of rows could not be applied after the sum.
    ask: Which axis of W belongs to the outputs?""")
mistake("scales-inverted", ".astype(np.int8), scales", ".astype(np.int8), 1 / scales").explain("""
    the scales that were returned are the reciprocals
    why: The integers times the scales should be the matrix again.
    ask: Which number, times 127, is the largest entry of a column?""")

mistake = MISTAKES.for_functions("fast.int8_linear")
mistake("not-scaled", "(x @ W8) * scales", "x @ W8", common=True).explain("""
    the outputs were not multiplied by the scales
    why: The integers are up to 127. The scales make parameters of them.
    ask: How large are your outputs, compared with x @ W?""")
mistake("divided-by-scales", "(x @ W8) * scales", "(x @ W8) / scales").explain("""
    the outputs were divided by the scales
    why: W was divided by them to get integers, so now they are multiplied.
    ask: A scale is 0.01 and the integer 50. What was the parameter?""")
mistake("inputs-scaled", "(x @ W8) * scales", "(x * scales) @ W8").explain("""
    x was scaled, not the outputs
    why: There is one scale for each column of W8, and each column makes one output.
    ask: What is the length of scales: that of a row of x, or that of a row of y?""")
mistake("batch-flattened", "(x @ W8) * scales", "(x.reshape(-1, x.shape[-1]) @ W8) * scales").explain("""
    the leading axes of x were made into one
    why: The output has the same leading axes as x.
    ask: What shape does your result have for x (2, 3, 5)?""")

mistake = MISTAKES.for_functions("fast.accept_draft")
_TEST, _REST = "not rng.random() * q[token] < p[token]", "np.maximum(p - q, 0.0)"
mistake("replaced-from-p", _REST, "p", common=True).explain("""
    the token in place of a rejected one was drawn from the large model's probabilities
    why: Tokens where p is small were already kept often enough. Only what the draft has missed is left: max(0, p - q).
    ask: With p = (0.5, 0.5) and q = (1, 0), how often does the first token come out?""")
mistake("wrong-difference", _REST, "np.maximum(q - p, 0.0)", common=True).explain("""
    the token in place of a rejected one was drawn from q - p, not from p - q
    why: The small model drafts these tokens too often already.
    ask: Which tokens does the small model draft too rarely?""")
mistake("absolute-difference", _REST, "np.abs(p - q)").explain("""
    the token in place of a rejected one was drawn from |p - q|
    why: Where q is larger than p, nothing is missing.
    ask: Can a token that was rejected be drawn again in its place?""")
mistake("ratio-inverted", _TEST, "not rng.random() * p[token] < q[token]", common=True).explain("""
    a token was kept with probability q/p, not p/q
    why: A token that the large model finds more probable than the small one should always be kept.
    ask: q is 0.1 and p is 0.4. How often does your code keep the token?""")
mistake("kept-if-larger", _TEST, "rng.random() >= 0 and not q[token] <= p[token]").explain("""
    a token was kept only if p is at least q, without chance
    why: If p is a little smaller than q, the token should be kept most of the time.
    ask: q is 0.4 and p is 0.3. How often should the token be kept?""")
mistake("rejected-token-kept", "tokens[:i]", "tokens[: i + 1]", common=True).explain("""
    the rejected token was kept, and another one added
    why: The new token takes its place.
    ask: If the first token of the draft is rejected, how many tokens do you return?""")
mistake("draft-continued").body("""
    if len(target_probs) != len(tokens) + 1:
        raise ValueError("wrong number of rows")
    new, is_kept = [], True
    for i, token in enumerate(tokens):
        p, q = np.asarray(target_probs[i]), np.asarray(draft_probs[i])
        if rng.random() * q[token] < p[token]:
            new.append(token)
        else:
            new.append(sample(np.maximum(p - q, 0.0), rng))
            is_kept = False
    return np.array(new + [sample(target_probs[-1], rng)] * is_kept, dtype=np.int64)
""").explain("""
    after a rejected token was replaced, the rest of the draft was looked at
    why: The rest was written after the rejected token. Its probabilities are not those after the new one.
    ask: What ends your loop when a token is rejected?""")
mistake("no-token-added", "np.append(tokens, sample(target_probs[-1], rng))", "tokens", common=True).explain("""
    no token was added after a draft that was kept completely
    why: The large model has read the whole draft, so it knows the probabilities of the next token.
    ask: What is the last row of target_probs for?""")
mistake("rows-shifted", "np.asarray(target_probs[i])", "np.asarray(target_probs[i + 1])", common=True).explain("""
    the rows of the large model were taken one position too late
    why: Row 0 holds the probabilities of the first token of the draft.
    ask: From which row of target_probs do you take p for the first token?""")
mistake("largest-difference", f"sample({_REST}, rng)", "(p - q).argmax()").explain("""
    the token in place of a rejected one was the one with the largest difference, without chance
    why: The probabilities would no longer be those of the large model.
    ask: How often should each of two tokens come out that have been missed equally?""")
mistake("all-numbers-first", "for i,", "u = rng.random(len(tokens))\n    for i,", "rng.random()", "u[i]").explain("""
    a random number was drawn for each token before the first was looked at
    why: After a rejection, the rest of the numbers is wasted, and the generator is in another state.
    ask: The first of five tokens is rejected. How many random numbers have you drawn by then?""")  # fmt: skip
mistake("rows-unchecked", "if len(target_probs) != len(tokens) + 1:", "if False:").explain("""
    the number of rows was not checked
    why: With too many or too few rows, the added token would be drawn from the wrong one.
    ask: How many rows does the large model compute for a draft of four tokens?""")
