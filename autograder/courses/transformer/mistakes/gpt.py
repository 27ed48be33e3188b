"""Mistakes in assignment 9: the GPT."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_MASK = "causal_mask(length)"
_HANDED_ON = 'config.n_heads, mask, "pre", config.activation)'
_PARTS = "return _on_one_page(ids, targets, params, config)"
_RESULT = "loss, grads = _on_one_page(ids, targets, params, config)\n"

mistake = MISTAKES.for_functions("gpt.init_gpt")
mistake(
    "residual-not-scaled", "config.init_std / math.sqrt(2 * config.n_layers)", "config.init_std", common=True
).explain("""
    the matrices that write into the stream are as large as the others
    why: attn.W_o and ffn.W_2 start smaller, or the stream grows with every block.
    ask: Which two matrices of a block write into the residual stream? How should their size depend on n_layers?""")
mistake("one-sum-per-block", "math.sqrt(2 * config.n_layers)", "math.sqrt(config.n_layers)", common=True).explain("""
    the standard deviation of attn.W_o and ffn.W_2 was divided by √L, not by √(2L)
    why: Every block adds to the stream twice, after attention and after the feed-forward network.
    ask: How many sums are taken on the way through n_layers blocks?""")
mistake("no-root", "math.sqrt(2 * config.n_layers)", "(2 * config.n_layers)").explain("""
    the standard deviation of attn.W_o and ffn.W_2 was divided by 2L, without the root
    why: Variances add up, not standard deviations: 2L contributions are √(2L) times as large as one.
    ask: How large is the standard deviation of the sum of two independent numbers?""")
mistake("standard-deviation-1", "rng.normal(0.0, std, shape)", "rng.normal(0.0, 1.0, shape)").explain("""
    the matrices are drawn with standard deviation 1
    why: The first scores are then huge, and the first loss is far above log V.
    ask: What does a generator draw if it is told the shape only?""")
mistake("float64", ".astype(np.float32)", "", common=True).explain("""
    the matrices are float64
    why: That is what a generator draws. Training in float32 takes half the time and half the memory.
    ask: Which dtype does rng.normal give, and which one does the docstring ask for?""")
mistake("head-always", "if not config.tied:", "if True:").explain("""
    there is a W_head although the head is tied
    why: A tied head is the token table; a second matrix would be trained by nobody.
    ask: What does config.tied say?""")

mistake = MISTAKES.for_functions("gpt.gpt")
mistake("no-final-norm", 'layernorm(x, params["ln_f.gamma"], params["ln_f.beta"])', "x", common=True).explain("""
    the last layer norm is missing
    why: In pre-norm blocks the stream is never normalized, and grows; the head needs a norm before it.
    ask: What stands between the last block and the head, in the picture at the top?""")
mistake("no-mask", "causal_mask(length)", "None", common=True).explain("""
    there is no mask: every position sees the future
    why: In training, the model reads the token that it should predict, and the loss falls suspiciously low.
    ask: Does the score at position 0 change when you change the last token?""")
mistake("same-block", 'f"blocks.{i}.")', '"blocks.0.")', common=True).explain("""
    every block got the parameters of block 0
    why: The parameters of the other blocks have no influence on anything.
    ask: Which part of the name of a parameter should change from one round of your loop to the next?""")
mistake(
    "no-positions", 'embed(ids, params["W_tok"], params["W_pos"])', 'params["W_tok"][np.asarray(ids)]', common=True
).explain("""
    the positions were not added
    why: W_pos tells the model where a token stands; without it, nothing depends on W_pos.
    ask: Which of the two tables does your embedding use?""")
mistake("always-tied", "_head(params, config)", 'params["W_tok"].T').explain("""
    the head is always the token table
    why: With tied=False the model has a matrix W_head of its own.
    ask: What does config.tied say, and which matrix follows from it?""")
mistake(
    "probabilities",
    "    return logits, cache",
    "    logits = np.exp(logits - logits.max(axis=-1, keepdims=True))\n"
    "    logits /= logits.sum(axis=-1, keepdims=True)\n"
    "    return logits, cache",
).explain("""
    probabilities come out instead of scores
    why: The softmax belongs to the loss, which is computed from the scores, and to generation.
    ask: Can a logit be negative? Can one of yours?""")
mistake(
    "block-1-gets-block-10",
    'subset(params, f"blocks.{i}.")',
    '{name.split(".", 2)[2]: p for name, p in params.items() if name.startswith(f"blocks.{i}")}',
).explain("""
    the names of block 10 were taken for names of block 1
    why: They begin with the same letters: a prefix without its last dot fits both. Ten blocks or fewer hide it.
    ask: Does "blocks.10.ln1.gamma" begin with your prefix of block 1?""")
mistake("scaled", 'params["W_pos"])', 'params["W_pos"], math.sqrt(config.d_model))').explain("""
    the token vectors were multiplied by √D
    why: The transformer of 2017 does that. GPT-2 adds the two tables as they are.
    ask: Which scale does the formula of the docstring have?""")
mistake("mask-inverted", _MASK, f"~{_MASK}").explain("""
    the mask is inverted: True was taken to forbid
    why: Every position then sees the future only, and the last one nothing.
    ask: What does True mean in a mask of this course?""")
mistake("mask-upper", _MASK, f"{_MASK}.T").explain("""
    the upper triangle of the mask was kept: every position sees itself and the future
    why: A model that sees the next character needs not learn to predict it.
    ask: Rows are queries, columns are keys. Which keys may the first query see?""")
mistake("not-itself", _MASK, f"({_MASK} & ~np.eye(length, dtype=bool))").explain("""
    no position sees itself: the diagonal of the mask is left out
    why: The first position then sees nothing at all.
    ask: Is the condition j < i or j ≤ i?""")
mistake("one-head", _HANDED_ON, _HANDED_ON.replace("config.n_heads", "1")).explain("""
    n_heads is not passed on: there is one head
    why: The shapes are right with any number of heads that divides D.
    ask: Which of the functions that you call has to know the number of heads?""")
mistake("post-norm", _HANDED_ON, _HANDED_ON.replace('"pre"', '"post"')).explain("""
    the blocks are "post" blocks, with the norm after each step
    why: That is the transformer of 2017. GPT-2 has the norm before each step, and one more at the end.
    ask: Which form of the block does the docstring name?""")
mistake("activation-ignored", _HANDED_ON, _HANDED_ON.replace(", config.activation", "")).explain("""
    the activation of the config is not passed on
    why: With GELU, the default, nothing shows.
    ask: Which of the functions that you call has to know the activation?""")
mistake("last-position-only", "return logits, cache", "return logits[..., -1, :], cache").explain("""
    only the scores of the last position were returned
    why: That is enough to write a text. To learn from one, every position is asked.
    ask: What shape should the scores of (B, T) tokens have?""")
mistake("scores-divided", "return logits, cache", "return logits / math.sqrt(config.d_model), cache").explain("""
    the scores were divided by √D
    why: That is for the scores of attention. The head is a plain product.
    ask: What does the formula do after the product with W_head?""")
mistake("only-scores", "return logits, cache", "return logits").explain("""
    only the scores were returned, without the cache
    why: The backward pass and every picture find their stages in the cache.
    ask: How many things does the docstring list under Returns?""")
mistake(
    "last-block-missing",
    "        block_caches.append(block_cache)\n",
    "        block_caches.append(block_cache)\n        streams[i] = x\n",
    "block_caches = []\n",
    "block_caches, streams = [], {-1: x}\n",
    "final = layernorm(x,",
    "final = layernorm(streams[config.n_layers - 2],",
).explain("""
    the last block is missing
    why: range(n) ends at n - 1 by itself; range(n - 1) is one block short.
    ask: Which values does i take in your loop, if there are two blocks?""")

mistake = MISTAKES.for_functions("gpt.gpt_loss")
mistake(
    "tied-head-only", 'grads["W_tok"] += dhead.T', 'grads["W_tok"] = dhead.T', common=True, inside="_on_one_page"
).explain("""
    with a tied head, the gradient of W_tok is that of the head only
    why: The table was used twice, and the later assignment has overwritten the part from the embedding.
    ask: At which two places does the forward pass use W_tok? Where do their gradients meet?""")
mistake("tied-table-only", 'grads["W_tok"] += dhead.T', "pass", common=True, inside="_on_one_page").explain("""
    with a tied head, the gradient of W_tok lacks the part of the head
    why: The table was used twice: at the beginning as a table, and at the end as a head.
    ask: At which two places does the forward pass use W_tok? Where do their gradients meet?""")
mistake(
    "first-block-first",
    "reversed(range(config.n_layers))",
    "range(config.n_layers)",
    common=True,
    inside="_on_one_page",
).explain("""
    the gradient went through the blocks in forward order
    why: The way back begins at the loss: the last block comes first.
    ask: Whose output is the input of the last norm?""")
mistake(
    "last-norm-skipped",
    "dx = _norm_backward(dlogits @ head.T",
    "dx = dlogits @ head.T\n    _norm_backward(dlogits @ head.T",
    inside="_on_one_page",
).explain("""
    the gradient of the stream did not go through the last layer norm
    why: What arrives at the norm's output was handed to the last block as it was.
    ask: Which three results does layernorm_backward give, and what do you do with the first?""")
mistake(
    "repeated-token-lost",
    'grads["W_tok"] = hot.T @ dx',
    'grads["W_tok"] = np.zeros_like(params["W_tok"])\n    grads["W_tok"][ids.reshape(-1)] += dx',
    common=True,
    inside="_on_one_page",
).explain("""
    where a token occurs twice, only one of its gradients is counted
    why: `grads[ids] += dx` reads, adds and writes each row once, however often it is listed.
    ask: What should the gradient of a table's row be if the row was looked up three times?""")
mistake("positions-averaged", ".sum(axis=0)", ".mean(axis=0)", inside="_on_one_page").explain("""
    the gradient of W_pos is the mean over the batch instead of the sum
    why: The loss is a mean already, and the division is in its gradient.
    ask: All texts use the same row of W_pos. What happens to the gradients of something that is used several times?""")
mistake(
    "positions-too-short",
    'grads["W_pos"] = np.zeros_like(params["W_pos"])',
    "pass",
    'grads["W_pos"][:length] =',
    'grads["W_pos"] =',
    inside="_on_one_page",
).explain("""
    the gradient of W_pos has T rows instead of block_size rows
    why: A gradient has the shape of its parameter; positions that a short text does not reach have gradient 0.
    ask: What is the shape of W_pos, and what is that of its gradient if the text has two tokens?""")
mistake(
    "sum-not-mean",
    _PARTS,
    f"{_RESULT}    n = np.size(targets)\n    return loss * n, {{name: g * n for name, g in grads.items()}}",
).explain("""
    loss and gradients are sums over the positions, not means
    why: They then grow with the batch, and with them every step.
    ask: If every position has the loss 3, what is the loss of the batch?""")
mistake(
    "gradients-not-divided",
    _PARTS,
    f"{_RESULT}    n = np.size(targets)\n    return loss, {{name: g * n for name, g in grads.items()}}",
).explain("""
    the loss is a mean over the positions, and its gradients are sums
    why: cross_entropy_backward divides by the number of rows.
    ask: If the loss is divided by N, by what is its gradient divided?""")
mistake("inputs-for-targets", _PARTS, "return _on_one_page(ids, ids, params, config)").explain("""
    the inputs were taken for the targets
    why: The model learns to repeat what it sees.
    ask: Which argument holds the tokens that come next?""")
mistake(
    "shifted-again",
    _PARTS,
    "return _on_one_page(np.asarray(ids)[..., :-1], np.asarray(targets)[..., 1:], params, config)",
).explain("""
    ids and targets were moved against each other once more
    why: The targets come moved already: targets[b, t] is what follows ids[b, t].
    ask: Which target belongs to the scores at position 0?""")
mistake("results-exchanged", _PARTS, f"{_RESULT}    return grads, loss").explain("""
    the gradients were returned before the loss
    why: The docstring has (loss, grads).
    ask: In which order does the docstring list the results?""")
mistake("loss-only", _PARTS, "return _on_one_page(ids, targets, params, config)[0]").explain("""
    only the loss was returned, without the gradients
    why: Training needs both, from one forward pass.
    ask: How many things does the docstring list under Returns?""")
mistake(
    "positions-without-gradient",
    _PARTS,
    f'{_RESULT}    grads["W_pos"] = np.zeros_like(grads["W_pos"])\n    return loss, grads',
).explain("""
    the gradient of W_pos is 0
    why: The positions are learned like everything else: what arrives at their sum goes into both tables.
    ask: What are the two summands of the stream before the first block?""")

mistake = MISTAKES.for_functions("gpt.count_parameters")
mistake("arrays-counted").body("""
    return len(params)
""").explain("""
    the arrays were counted, not the numbers in them
    why: A matrix of 100 rows and 50 columns holds 5000 numbers that training can change.
    ask: How many trainable numbers does a matrix hold?""")
mistake("rows-counted", "int(np.size(value))", "len(value)").explain("""
    the rows of the arrays were counted
    why: len of a matrix is the number of its rows.
    ask: What is len of an array of shape (27, 16)?""")
mistake("bytes", "int(np.size(value))", "np.asarray(value).nbytes").explain("""
    the bytes were counted, not the numbers
    why: A float32 number has four bytes, a float64 number eight.
    ask: Which attribute of an array is the number of its entries, and which that of its bytes?""")
