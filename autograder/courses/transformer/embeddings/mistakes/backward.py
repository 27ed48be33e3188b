"""Mistakes in `embeddings`: the gradient of the table."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_GRADIENT = "return hot.T @ dout.reshape(-1, dout.shape[-1])"
_NEW_TABLE = "dW = np.zeros((vocab_size, dout.shape[-1]), dout.dtype)\n    "
_OF_TEXTS = """ids = np.atleast_1d(ids)
    grads = dout.reshape(*ids.shape, dout.shape[-1])
    texts = list(np.ndindex(ids.shape[:-1]))
    """

mistake = MISTAKES.for_functions("embeddings.embed_tokens_backward")
mistake(
    "repeats-lost",
    _GRADIENT,
    f"{_NEW_TABLE}dW[np.asarray(ids)] += dout\n    return dW",
    common=True,
    group="last occurrence only",
).explain("""
    repeated tokens lost all gradients but the last: dW[ids] += dout
    why: With a repeated index NumPy reads once and writes several times, so only the last one counts. The mistake stays
         hidden as long as all tokens are different.
    ask: What is a after `a = np.zeros(2); a[[0, 0, 0]] += 1`? Which NumPy function adds every time?""")
mistake(
    "repeats-overwritten",
    _GRADIENT,
    f"{_NEW_TABLE}dW[np.asarray(ids)] = dout\n    return dW",
    group="last occurrence only",
).explain("""
    repeated tokens lost all gradients but the last: dW[ids] = dout
    why: All positions with the same token use the same row of the table, so their gradients are added.
    ask: If a token occurs at three positions and its vector changes, at how many positions does that affect the
         loss?""")
for which, index in (("last", -1), ("first", 0)):
    mistake(
        f"{which}-text-only",
        _GRADIENT,
        f"{_OF_TEXTS}text = texts[{index}]\n"
        "    return one_hot(ids[text], vocab_size).astype(dout.dtype).T @ grads[text]",
        common=True,
    ).explain(f"""
        only the {which} text of the batch was counted
        why: All texts use the same table, so the gradients of all texts are added. The mistake stays hidden with a
             single text.
        ask: Which rows of your gradient change when the tokens of another text of the batch change?""")
mistake(
    "texts-overwrite-each-other",
    _GRADIENT,
    f"{_OF_TEXTS}{_NEW_TABLE}for text in texts:\n"
    "        sums = one_hot(ids[text], vocab_size).astype(dout.dtype).T @ grads[text]\n"
    "        dW[ids[text]] = sums[ids[text]]\n"
    "    return dW",
    common=True,
).explain("""
    the gradient of a token in one text overwrites that in the texts before it
    why: All texts use the same table, so the gradients of all texts are added.
    ask: A token occurs in two texts of the batch. Which of your lines adds its gradients?""")
mistake(
    "repeats-across-texts-lost",
    _GRADIENT,
    f"{_OF_TEXTS}{_NEW_TABLE}for t in range(ids.shape[-1]):\n"
    "        dW[ids[..., t]] += grads[..., t, :]\n"
    "    return dW",
).explain("""
    where several texts have the same token at one position, only one of them was counted
    why: dW[ids] += reads once and writes several times if an index is repeated. A loop over the positions prevents that
         within a text, but not across texts.
    ask: What is a after `a = np.zeros(2); a[[0, 0, 0]] += 1`? Which NumPy function adds every time?""")
mistake(
    "mean-of-repeats",
    _GRADIENT,
    "counts = np.maximum(hot.sum(axis=0), 1)[:, None]\n    return hot.T @ dout.reshape(-1, dout.shape[-1]) / counts",
).explain("""
    the gradients of a repeated token were averaged, not added
    why: A token that occurs often has more influence on the loss, so its gradient is larger.
    ask: If a token occurs at three positions and its vector changes, how does that affect the loss, compared with a
         single position?""")
mistake("divided-by-places", "reshape(-1, dout.shape[-1])", "reshape(-1, dout.shape[-1]) / len(hot)").explain(
    """
    the sum was divided by the number of positions
    why: If the loss is a mean, `dout` already includes that factor. Dividing again makes the gradient too small.
    ask: Does the formula contain a factor 1/N? Which function divided by N, if any?"""
)
mistake("sign", _GRADIENT, _GRADIENT.replace("hot.T", "-hot.T"), common=True).explain("""
    the sign is reversed: the gradients were subtracted
    why: A gradient points in the direction in which the loss grows. A training step subtracts it later.
    ask: If a token occurs once, which row of dout should its gradient be equal to?""")
mistake("dout-forgotten", _GRADIENT, "return hot.T @ np.ones_like(dout.reshape(-1, dout.shape[-1]))").explain("""
    dout was not used: the tokens were only counted
    why: The row of a token is the sum of the rows of dout at its positions, not their number.
    ask: Does your gradient change when dout is doubled?""")
mistake("transposed", _GRADIENT, "return dout.reshape(-1, dout.shape[-1]).T @ hot").explain("""
    the result is transposed, (D, V)
    why: A gradient always has the shape of the array it belongs to.
    ask: What is the shape of the table? What is the shape of your gradient?""")
mistake("only-tokens-that-occur", _GRADIENT, f"{_GRADIENT}[np.unique(np.asarray(ids))]").explain("""
    the gradient has rows only for the tokens that occur
    why: Tokens that do not occur need rows too, with gradient 0. Otherwise the shapes of table and gradient differ.
    ask: How many rows does the table have when only three tokens occur in the batch?""")
mistake("always-float64", ".astype(dout.dtype, copy=False)", "", common=True).explain("""
    the result is float64 even when dout is float32
    why: np.zeros creates float64 arrays unless a dtype is given, and one-hot rows are float64, too.
    ask: Which of your lines creates a new array, and with which dtype?""")
mistake("one-text-only").body("""
    ids = np.asarray(ids)
    dW = np.zeros((vocab_size, dout.shape[-1]), dout.dtype)
    for i in range(len(ids)):
        dW[ids[i]] += dout[i]
    return dW
""").explain("""
    the function works for one text only, not for a batch
    why: With a batch, a loop over the first axis gets whole texts where it expects single ids.
    ask: How can you reshape ids (B, T) and dout (B, T, D) into one long text first?""")
