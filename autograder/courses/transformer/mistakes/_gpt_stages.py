"""Mistakes in assignment 9 in single stages: what goes into the stream, what the blocks are told, what comes out."""

from autograder.engine.diagnosis.mistake import Mistake

_MASK = "causal_mask(length)"
_HANDED_ON = 'config.n_heads, mask, "pre", config.activation)'
_PARTS = "return _on_one_page(ids, targets, params, config)"
_RESULT = "    loss, grads = _on_one_page(ids, targets, params, config)\n"

STAGES = (
    *(
        Mistake("gpt.gpt", name, title, explanation, hint, edits=(edit,))
        for name, title, explanation, hint, edit in (
            (
                "scaled",
                "the token vectors were multiplied by √D",
                "The transformer of 2017 does that. GPT-2 adds the two tables as they are.",
                "Which scale does the formula of the docstring have?",
                ('params["W_pos"])', 'params["W_pos"], math.sqrt(config.d_model))'),
            ),
            (
                "mask-inverted",
                "the mask is inverted: True was taken to forbid",
                "Every position then sees the future only, and the last one nothing.",
                "What does True mean in a mask of this course?",
                (_MASK, f"~{_MASK}"),
            ),
            (
                "mask-upper",
                "the upper triangle of the mask was kept: every position sees itself and the future",
                "A model that sees the next character needs not learn to predict it.",
                "Rows are queries, columns are keys. Which keys may the first query see?",
                (_MASK, f"{_MASK}.T"),
            ),
            (
                "not-itself",
                "no position sees itself: the diagonal of the mask is left out",
                "The first position then sees nothing at all.",
                "Is the condition j < i or j ≤ i?",
                (_MASK, f"({_MASK} & ~np.eye(length, dtype=bool))"),
            ),
            (
                "one-head",
                "n_heads is not passed on: there is one head",
                "The shapes are right with any number of heads that divides D.",
                "Which of the functions that you call has to know the number of heads?",
                (_HANDED_ON, _HANDED_ON.replace("config.n_heads", "1")),
            ),
            (
                "post-norm",
                'the blocks are "post" blocks, with the norm after each step',
                "That is the transformer of 2017. GPT-2 has the norm before each step, and one more at the end.",
                "Which form of the block does the docstring name?",
                (_HANDED_ON, _HANDED_ON.replace('"pre"', '"post"')),
            ),
            (
                "activation-ignored",
                "the activation of the config is not passed on",
                "With GELU, the default, nothing shows.",
                "Which of the functions that you call has to know the activation?",
                (_HANDED_ON, _HANDED_ON.replace(", config.activation", "")),
            ),
            (
                "last-position-only",
                "only the scores of the last position were returned",
                "That is enough to write a text. To learn from one, every position is asked.",
                "What shape should the scores of (B, T) tokens have?",
                ("return logits, cache", "return logits[..., -1, :], cache"),
            ),
            (
                "scores-divided",
                "the scores were divided by √D",
                "That is for the scores of attention. The head is a plain product.",
                "What does the formula do after the product with W_head?",
                ("return logits, cache", "return logits / math.sqrt(config.d_model), cache"),
            ),
            (
                "only-scores",
                "only the scores were returned, without the cache",
                "The backward pass and every picture find their stages in the cache.",
                "How many things does the docstring list under Returns?",
                ("return logits, cache", "return logits"),
            ),
        )
    ),
    Mistake(
        "gpt.gpt",
        "last-block-missing",
        "the last block is missing",
        "range(n) ends at n - 1 by itself; range(n - 1) is one block short.",
        "Which values does i take in your loop, if there are two blocks?",
        edits=(
            (
                "        block_caches.append(block_cache)\n",
                "        block_caches.append(block_cache)\n        streams[i] = x\n",
            ),
            ("block_caches = []\n", "block_caches, streams = [], {-1: x}\n"),
            ("final = layernorm(x,", "final = layernorm(streams[config.n_layers - 2],"),
        ),
    ),
    *(
        Mistake("gpt.gpt_loss", name, title, explanation, hint, edits=((_PARTS, body.lstrip()),))
        for name, title, explanation, hint, body in (
            (
                "sum-not-mean",
                "loss and gradients are sums over the positions, not means",
                "They then grow with the batch, and with them every step.",
                "If every position has the loss 3, what is the loss of the batch?",
                f"{_RESULT}    n = np.size(targets)\n    return loss * n, {{name: g * n for name, g in grads.items()}}",
            ),
            (
                "gradients-not-divided",
                "the loss is a mean over the positions, and its gradients are sums",
                "cross_entropy_backward divides by the number of rows.",
                "If the loss is divided by N, by what is its gradient divided?",
                f"{_RESULT}    n = np.size(targets)\n    return loss, {{name: g * n for name, g in grads.items()}}",
            ),
            (
                "inputs-for-targets",
                "the inputs were taken for the targets",
                "The model learns to repeat what it sees.",
                "Which argument holds the tokens that come next?",
                "return _on_one_page(ids, ids, params, config)",
            ),
            (
                "shifted-again",
                "ids and targets were moved against each other once more",
                "The targets come moved already: targets[b, t] is what follows ids[b, t].",
                "Which target belongs to the scores at position 0?",
                "return _on_one_page(np.asarray(ids)[..., :-1], np.asarray(targets)[..., 1:], params, config)",
            ),
            (
                "results-exchanged",
                "the gradients were returned before the loss",
                "The docstring has (loss, grads).",
                "In which order does the docstring list the results?",
                f"{_RESULT}    return grads, loss",
            ),
            (
                "loss-only",
                "only the loss was returned, without the gradients",
                "Training needs both, from one forward pass.",
                "How many things does the docstring list under Returns?",
                "return _on_one_page(ids, targets, params, config)[0]",
            ),
            (
                "positions-without-gradient",
                "the gradient of W_pos is 0",
                "The positions are learned like everything else: what arrives at their sum goes into both tables.",
                "What are the two summands of the stream before the first block?",
                f'{_RESULT}    grads["W_pos"] = np.zeros_like(grads["W_pos"])\n    return loss, grads',
            ),
        )
    ),
    Mistake(
        "gpt.count_parameters",
        "bytes",
        "the bytes were counted, not the numbers",
        "A float32 number has four bytes, a float64 number eight.",
        "Which attribute of an array is the number of its entries, and which that of its bytes?",
        edits=(("int(np.size(value))", "np.asarray(value).nbytes"),),
    ),
)
