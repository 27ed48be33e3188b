"""Mistakes in `gpt`: the loss of a GPT, and its gradients as a whole."""

from autograder.courses.transformer.gpt.mistakes.gradients import PARTS
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_RETURN = "return _on_one_page(ids, targets, params, config, rng)"
_COMPUTE = "loss, grads = _on_one_page(ids, targets, params, config, rng)\n"
mistake = MISTAKES.for_functions("gpt.gpt_loss")
mistake("tied-head-only", 'grads["W_tok"] = grads["W_tok"] + dhead.T', 'grads["W_tok"] = dhead.T', common=True).body(
    PARTS
).explain("""
    with a tied head, the gradient of W_tok contains only the part from the head
    why: The table was used twice. The later assignment overwrote the part from the embedding.
    ask: At which two places does the forward pass use W_tok? How should their gradients be combined?""")
mistake("tied-table-only", 'grads["W_tok"] = grads["W_tok"] + dhead.T', "pass", common=True).body(PARTS).explain("""
    with a tied head, the gradient of W_tok left out the part from the head
    why: The table was used twice: as the table at the beginning and as the head at the end.
    ask: At which two places does the forward pass use W_tok? How should their gradients be combined?""")
mistake("first-block-first", "reversed(range(config.n_layers))", "range(config.n_layers)", common=True).body(
    PARTS
).explain("""
    the gradient passed through the blocks in forward order
    why: The backward pass starts at the loss, so the last block comes first.
    ask: Which block's output is the input of the last norm?""")
mistake(
    "repeated-token-lost",
    'grads["W_tok"] = embed_tokens_backward(dx, ids, config.vocab_size)',
    'grads["W_tok"] = np.zeros_like(params["W_tok"])\n    grads["W_tok"][np.asarray(ids)] += dx',
    common=True,
).body(PARTS).explain("""
    where a token occurs several times, only one of its gradients was counted
    why: `grads[ids] += dx` writes each row only once, even if ids lists it several times.
    ask: What should the gradient of a row of the table be if that row was looked up three times?""")
mistake(
    "positions-too-short",
    'grads["W_pos"] = np.zeros_like(params["W_pos"])',
    "pass",
    'grads["W_pos"][:length] =',
    'grads["W_pos"] =',
).body(PARTS).explain("""
    the gradient of W_pos has T rows instead of block_size rows
    why: A gradient has the shape of its parameter. Positions that a short text does not reach have gradient 0.
    ask: Which shape does W_pos have, and which shape does its gradient have when the text has two tokens?""")
mistake(
    "sum-not-mean",
    _RETURN,
    f"{_COMPUTE}    n = np.size(targets)\n    return loss * n, {{name: g * n for name, g in grads.items()}}",
).explain("""
    the loss and the gradients are sums over the positions, not means
    why: They then grow with the size of the batch, and so does every update.
    ask: If the loss is 3 at every position, what is the loss of the batch?""")
mistake(
    "gradients-not-divided",
    _RETURN,
    f"{_COMPUTE}    n = np.size(targets)\n    return loss, {{name: g * n for name, g in grads.items()}}",
).explain("""
    the loss is a mean over the positions, but the gradients are sums
    why: cross_entropy_backward divides by the number of rows.
    ask: If the loss is divided by N, by what is its gradient divided?""")
mistake("inputs-for-targets", _RETURN, "return _on_one_page(ids, ids, params, config, rng)").explain("""
    the inputs were used as targets
    why: The model then learns to repeat its input.
    ask: Which argument holds the tokens that come next?""")
mistake(
    "shifted-again",
    _RETURN,
    "return _on_one_page(np.asarray(ids)[..., :-1], np.asarray(targets)[..., 1:], params, config, rng)",
).explain("""
    ids and targets were shifted against each other a second time
    why: They arrive already shifted: targets[b, t] is the token that follows ids[b, t].
    ask: Which target belongs to the scores at position 0?""")
mistake("results-exchanged", _RETURN, f"{_COMPUTE}    return grads, loss").explain("""
    the loss and the gradients were returned in the wrong order
    why: Training begins with `loss, grads = gpt_loss(…)`. In this order, `loss` is a dictionary and `grads` a number.
    ask: After `loss, grads = gpt_loss(…)`, which of the two should have a key "W_tok", and which one has it?""")
mistake(
    "positions-without-gradient",
    _RETURN,
    f'{_COMPUTE}    grads |= {{n: np.zeros_like(g) for n, g in grads.items() if n == "W_pos"}}\n    return loss, grads',
).explain("""
    the gradient of W_pos is 0
    why: The positions are trained, too: the gradient of the embedding goes to both tables.
    ask: Which two terms are added to form the stream before the first block?""")

mistake(
    "all-divided-by-batch",
    _RETURN,
    f"{_COMPUTE}    n = np.shape(ids)[-1]\n    return loss * n, {{k: g * n for k, g in grads.items()}}",
).explain("""
the loss and the gradients were divided by the number of texts only
why: The loss is the mean over all B T positions.
ask: How many predictions does a batch of 2 texts of 3 tokens make?""")
mistake(
    "block-size-off-by-one",
    _RETURN,
    f'if np.shape(ids)[-1] >= config.block_size:\n        raise ValueError("too long")\n    {_RETURN}',
).explain("""
    a text of exactly block_size tokens was rejected
    why: There are block_size positions, 0 to block_size - 1, so block_size tokens fit.
    ask: W_pos has the rows 0, 1, 2 and 3 if block_size is 4. Does a text of four tokens need a fifth?""")
_CHECKED_LENGTH = """    if length > config.block_size:
        raise ValueError(f"{length} tokens do not fit into the block size of {config.block_size}")
"""
_EMBED = 'x = embed(ids, params["W_tok"], _positions(params, config))'
_UNCHECKED = 'x = (params["W_tok"][ids] + _positions(params, config)[np.arange(length)])'
for name, edits, text in (
    (
        "length-raises-index-error",
        (_CHECKED_LENGTH, "", _EMBED, _UNCHECKED),
        "a text that is longer than the block size raised IndexError, not ValueError",
    ),
    ("negative-ids-accepted", (_EMBED, _UNCHECKED), "a negative id was accepted"),
):
    mistake(name, *edits, inside="_on_one_page").explain(f"""
    {text}
    why: An id of -1 would silently read the last row of W_tok, and NumPy's error for a long text does not name the
         block size. `gpt` and `embed` check both.
    ask: For which ids should your function raise ValueError, and for which lengths?""")
