"""Mistakes in assignment 9: the GPT."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_MASK = "causal_mask(length)"
_BLOCK_OPTIONS = 'config.n_heads, mask, "pre", config.activation)'
_RETURN = "return _on_one_page(ids, targets, params, config)"
_COMPUTE = "loss, grads = _on_one_page(ids, targets, params, config)\n"

mistake = MISTAKES.for_functions("gpt.init_gpt")
mistake(
    "residual-not-scaled", "config.init_std / math.sqrt(2 * config.n_layers)", "config.init_std", common=True
).explain("""
    attn.W_o and ffn.W_2 have the same standard deviation as the other matrices
    why: These two matrices write into the residual stream. Unless they start smaller, its variance grows with every
         block.
    ask: Which two matrices of a block write into the residual stream? How should their size depend on n_layers?""")
mistake("one-sum-per-block", "math.sqrt(2 * config.n_layers)", "math.sqrt(config.n_layers)", common=True).explain("""
    the standard deviation of attn.W_o and ffn.W_2 was divided by √n_layers
    why: The factor is 1/√(2 n_layers): every block adds to the stream twice, after attention and after the
         feed-forward network.
    ask: How many times is something added to the residual stream on the way through n_layers blocks?""")
mistake("no-root", "math.sqrt(2 * config.n_layers)", "(2 * config.n_layers)").explain("""
    the standard deviation of attn.W_o and ffn.W_2 was divided without the root
    why: Variances add up, standard deviations do not: the sum of n independent values of equal size is √n times as
         large as one of them.
    ask: How large is the standard deviation of the sum of two independent random values?""")
mistake("standard-deviation-1", "rng.normal(0.0, std, shape)", "rng.normal(0.0, 1.0, shape)").explain("""
    the matrices were drawn with standard deviation 1
    why: The first scores are then very large, and the first loss is far above log V.
    ask: Which standard deviation does your generator call use, and which one is in the docstring?""")
mistake("float64", ".astype(np.float32)", "", common=True).explain("""
    the matrices are float64
    why: float64 is what a generator returns by default. float32 needs half the memory, and training is faster.
    ask: Which dtype does rng.normal return, and which one does the docstring ask for?""")
mistake("head-always", "if not config.tied:", "if True:").explain("""
    W_head was created although the head is tied
    why: A tied head is the token table. A second matrix would never be used or trained.
    ask: For which value of config.tied does the model have a W_head?""")

mistake = MISTAKES.for_functions("gpt.gpt")
mistake("no-final-norm", 'layernorm(x, params["ln_f.gamma"], params["ln_f.beta"])', "x", common=True).explain("""
    the last layer norm is missing
    why: Pre-norm blocks never normalize the residual stream itself, so it grows from block to block. The head needs a
         norm before it.
    ask: What comes between the last block and the head in the diagram at the top of the lesson?""")
mistake("no-mask", "causal_mask(length)", "None", common=True).explain("""
    there is no mask: every position attends to later positions
    why: In training, the model can then read the token that it should predict, and the loss falls suspiciously low.
    ask: Do the scores at position 0 change when you change the last token?""")
mistake("same-block", 'f"blocks.{i}.")', '"blocks.0.")', common=True).explain("""
    every block was given the parameters of block 0
    why: The parameters of the other blocks then have no effect.
    ask: Which part of a parameter's name should change from one iteration of your loop to the next?""")
mistake(
    "no-positions", 'embed(ids, params["W_tok"], params["W_pos"])', 'params["W_tok"][np.asarray(ids)]', common=True
).explain("""
    the positions were not added
    why: W_pos encodes the position of each token. Without it, the model has only the causal mask to tell positions
         apart.
    ask: Which of the two tables does your embedding use?""")
mistake("always-tied", "_head(params, config)", 'params["W_tok"].T').explain("""
    the token table was used as the head even with tied=False
    why: With tied=False, the model has a separate matrix, W_head.
    ask: Which matrix should be the head when config.tied is False?""")
mistake(
    "probabilities",
    "    return logits, cache",
    "    logits = np.exp(logits - logits.max(axis=-1, keepdims=True))\n"
    "    logits /= logits.sum(axis=-1, keepdims=True)\n"
    "    return logits, cache",
).explain("""
    probabilities were returned instead of scores
    why: The loss and generation apply softmax themselves, to the scores.
    ask: Can a score be negative? Can an entry of your result be negative?""")
mistake(
    "block-1-gets-block-10",
    'subset(params, f"blocks.{i}.")',
    '{name.split(".", 2)[2]: p for name, p in params.items() if name.startswith(f"blocks.{i}")}',
).explain("""
    block 1 was given the parameters of block 10
    why: Without its last dot, the prefix "blocks.1" also matches the names of block 10. With ten blocks or fewer, the
         mistake stays hidden.
    ask: Does "blocks.10.ln1.gamma" start with the prefix that you use for block 1?""")
mistake("scaled", 'params["W_pos"])', 'params["W_pos"], math.sqrt(config.d_model))').explain("""
    the token vectors were multiplied by √D
    why: The 2017 transformer does that. GPT-2 adds the two tables without scaling.
    ask: Does the formula in the docstring scale the token vectors?""")
mistake("mask-inverted", _MASK, f"~{_MASK}").explain("""
    the mask was inverted: True was taken to mean "forbidden"
    why: Every position then attends only to later positions, and the last one to nothing.
    ask: What does True mean in a mask of this course?""")
mistake("mask-upper", _MASK, f"{_MASK}.T").explain("""
    the mask keeps the upper triangle: every position attends to itself and later ones
    why: A model that sees the next token does not need to learn to predict it.
    ask: Rows are queries, columns are keys. Which keys may the first query attend to?""")
mistake("not-itself", _MASK, f"({_MASK} & ~np.eye(length, dtype=bool))").explain("""
    no position attends to itself: the mask excludes the diagonal
    why: The first position then attends to nothing at all.
    ask: Is the condition j < i or j ≤ i?""")
mistake("one-head", _BLOCK_OPTIONS, _BLOCK_OPTIONS.replace("config.n_heads", "1")).explain("""
    n_heads was not passed on: attention uses one head
    why: The shapes are the same for every number of heads that divides D, so there is no error.
    ask: Which of the functions that you call needs the number of heads?""")
mistake("post-norm", _BLOCK_OPTIONS, _BLOCK_OPTIONS.replace('"pre"', '"post"')).explain("""
    the blocks use post-norm: the norm comes after each step
    why: The 2017 transformer does that. GPT-2 normalizes before each step, and once more at the end.
    ask: Which form of the block does the docstring name?""")
mistake("activation-ignored", _BLOCK_OPTIONS, _BLOCK_OPTIONS.replace(", config.activation", "")).explain("""
    the activation of the configuration was not passed on
    why: The mistake stays hidden with GELU, the default.
    ask: Which of the functions that you call needs the activation?""")
mistake("last-position-only", "return logits, cache", "return logits[..., -1, :], cache").explain("""
    only the scores of the last position were returned
    why: Those are enough to generate text. In training, every position makes a prediction.
    ask: Which shape should the scores of (B, T) tokens have?""")
mistake("scores-divided", "return logits, cache", "return logits / math.sqrt(config.d_model), cache").explain("""
    the scores were divided by √D
    why: Attention divides its scores by √d_k. The head is a plain matrix product.
    ask: What does the formula do after the product with W_head?""")
mistake("only-scores", "return logits, cache", "return logits").explain("""
    only the scores were returned, without the cache
    why: The backward pass and the plots read their intermediate results from the cache.
    ask: How many values does the docstring list under Returns?""")
mistake(
    "last-block-missing",
    "        block_caches.append(block_cache)\n",
    "        block_caches.append(block_cache)\n        streams[i] = x\n",
    "block_caches = []\n",
    "block_caches, streams = [], {-1: x}\n",
    "final = layernorm(x,",
    "final = layernorm(streams[config.n_layers - 2],",
).explain("""
    the last block was left out
    why: range(n) already ends at n - 1, so range(n - 1) is one block short.
    ask: Which values does i take in your loop when there are two blocks?""")

mistake = MISTAKES.for_functions("gpt.gpt_loss")
mistake(
    "tied-head-only", 'grads["W_tok"] += dhead.T', 'grads["W_tok"] = dhead.T', common=True, inside="_on_one_page"
).explain("""
    with a tied head, the gradient of W_tok contains only the part from the head
    why: The table was used twice. The later assignment overwrote the part from the embedding.
    ask: At which two places does the forward pass use W_tok? How should their gradients be combined?""")
mistake("tied-table-only", 'grads["W_tok"] += dhead.T', "pass", common=True, inside="_on_one_page").explain("""
    with a tied head, the gradient of W_tok leaves out the part from the head
    why: The table was used twice: as the table at the beginning and as the head at the end.
    ask: At which two places does the forward pass use W_tok? How should their gradients be combined?""")
mistake(
    "first-block-first",
    "reversed(range(config.n_layers))",
    "range(config.n_layers)",
    common=True,
    inside="_on_one_page",
).explain("""
    the gradient passed through the blocks in forward order
    why: The backward pass starts at the loss, so the last block comes first.
    ask: Which block's output is the input of the last norm?""")
mistake(
    "last-norm-skipped",
    "dx = _norm_backward(dlogits @ head.T",
    "dx = dlogits @ head.T\n    _norm_backward(dlogits @ head.T",
    inside="_on_one_page",
).explain("""
    the gradient of the stream did not pass through the last layer norm
    why: The gradient of the norm's output was passed to the last block in place of the gradient of its input.
    ask: Which three values does layernorm_backward return, and where do you use the first?""")
mistake(
    "repeated-token-lost",
    'grads["W_tok"] = hot.T @ dx',
    'grads["W_tok"] = np.zeros_like(params["W_tok"])\n    grads["W_tok"][ids.reshape(-1)] += dx',
    common=True,
    inside="_on_one_page",
).explain("""
    where a token occurs several times, only one of its gradients was counted
    why: `grads[ids] += dx` writes each row only once, even if ids lists it several times.
    ask: What should the gradient of a row of the table be if that row was looked up three times?""")
mistake("positions-averaged", ".sum(axis=0)", ".mean(axis=0)", inside="_on_one_page").explain("""
    the gradient of W_pos was averaged over the batch, not summed
    why: The loss is already a mean, so its gradient already contains the division.
    ask: All texts use the same row of W_pos. How are the gradients of something that is used several times
         combined?""")
mistake(
    "positions-too-short",
    'grads["W_pos"] = np.zeros_like(params["W_pos"])',
    "pass",
    'grads["W_pos"][:length] =',
    'grads["W_pos"] =',
    inside="_on_one_page",
).explain("""
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
mistake("inputs-for-targets", _RETURN, "return _on_one_page(ids, ids, params, config)").explain("""
    the inputs were used as targets
    why: The model then learns to repeat its input.
    ask: Which argument holds the tokens that come next?""")
mistake(
    "shifted-again",
    _RETURN,
    "return _on_one_page(np.asarray(ids)[..., :-1], np.asarray(targets)[..., 1:], params, config)",
).explain("""
    ids and targets were shifted against each other a second time
    why: They arrive already shifted: targets[b, t] is the token that follows ids[b, t].
    ask: Which target belongs to the scores at position 0?""")
mistake("results-exchanged", _RETURN, f"{_COMPUTE}    return grads, loss").explain("""
    the loss and the gradients were returned in the wrong order
    why: The docstring lists the loss first, then the gradients.
    ask: In which order does the docstring list the results?""")
mistake("loss-only", _RETURN, "return _on_one_page(ids, targets, params, config)[0]").explain("""
    only the loss was returned, without the gradients
    why: Training needs both from one call.
    ask: How many values does the docstring list under Returns?""")
mistake(
    "positions-without-gradient",
    _RETURN,
    f'{_COMPUTE}    grads["W_pos"] = np.zeros_like(grads["W_pos"])\n    return loss, grads',
).explain("""
    the gradient of W_pos is 0
    why: The positions are trained, too: the gradient of the embedding goes to both tables.
    ask: Which two terms are added to form the stream before the first block?""")

mistake = MISTAKES.for_functions("gpt.count_parameters")
mistake("arrays-counted").body("""
    return len(params)
""").explain("""
    the arrays were counted, not their entries
    why: A matrix of 100 rows and 50 columns has 5000 trainable parameters.
    ask: How many trainable parameters does a matrix of shape (27, 16) hold?""")
mistake("rows-counted", "int(np.size(value))", "len(value)").explain("""
    the rows of the arrays were counted, not their entries
    why: len of a matrix is the number of its rows.
    ask: What is len of an array of shape (27, 16)?""")
mistake("bytes", "int(np.size(value))", "np.asarray(value).nbytes").explain("""
    the bytes of the arrays were counted, not their entries
    why: A float32 value takes four bytes, a float64 value eight.
    ask: Which attribute of an array is the number of its entries, and which is the number of its bytes?""")
