"""Mistakes in assignment 9: the GPT."""

from autograder.courses.transformer.mistakes._gpt_stages import STAGES
from autograder.engine.diagnosis.mistake import Mistake

_INIT = (
    Mistake(
        "gpt.init_gpt",
        "residual-not-scaled",
        "the matrices that write into the stream are as large as the others",
        "attn.W_o and ffn.W_2 start smaller, or the stream grows with every block.",
        "Which two matrices of a block write into the residual stream? How should their size depend on n_layers?",
        edits=(("config.init_std / math.sqrt(2 * config.n_layers)", "config.init_std"),),
        common=True,
    ),
    Mistake(
        "gpt.init_gpt",
        "one-sum-per-block",
        "the standard deviation of attn.W_o and ffn.W_2 was divided by √L, not by √(2L)",
        "Every block adds to the stream twice, after attention and after the feed-forward network.",
        "How many sums are taken on the way through n_layers blocks?",
        edits=(("math.sqrt(2 * config.n_layers)", "math.sqrt(config.n_layers)"),),
        common=True,
    ),
    Mistake(
        "gpt.init_gpt",
        "no-root",
        "the standard deviation of attn.W_o and ffn.W_2 was divided by 2L, without the root",
        "Variances add up, not standard deviations: 2L contributions are √(2L) times as large as one.",
        "How large is the standard deviation of the sum of two independent numbers?",
        edits=(("math.sqrt(2 * config.n_layers)", "(2 * config.n_layers)"),),
    ),
    Mistake(
        "gpt.init_gpt",
        "standard-deviation-1",
        "the matrices are drawn with standard deviation 1",
        "The first scores are then huge, and the first loss is far above log V.",
        "What does a generator draw if it is told the shape only?",
        edits=(("rng.normal(0.0, std, shape)", "rng.normal(0.0, 1.0, shape)"),),
    ),
    Mistake(
        "gpt.init_gpt",
        "float64",
        "the matrices are float64",
        "That is what a generator draws. Training in float32 takes half the time and half the memory.",
        "Which dtype does rng.normal give, and which one does the docstring ask for?",
        edits=((".astype(np.float32)", ""),),
        common=True,
    ),
    Mistake(
        "gpt.init_gpt",
        "head-always",
        "there is a W_head although the head is tied",
        "A tied head is the token table; a second matrix would be trained by nobody.",
        "What does config.tied say?",
        edits=(("if not config.tied:", "if True:"),),
    ),
)

_FORWARD = (
    Mistake(
        "gpt.gpt",
        "no-final-norm",
        "the last layer norm is missing",
        "In pre-norm blocks the stream is never normalized, and grows; the head needs a norm before it.",
        "What stands between the last block and the head, in the picture at the top?",
        edits=(('layernorm(x, params["ln_f.gamma"], params["ln_f.beta"])', "x"),),
        common=True,
    ),
    Mistake(
        "gpt.gpt",
        "no-mask",
        "there is no mask: every position sees the future",
        "In training, the model reads the token that it should predict, and the loss falls suspiciously low.",
        "Does the score at position 0 change when you change the last token?",
        edits=(("causal_mask(length)", "None"),),
        common=True,
    ),
    Mistake(
        "gpt.gpt",
        "same-block",
        "every block got the parameters of block 0",
        "The parameters of the other blocks have no influence on anything.",
        "Which part of the name of a parameter should change from one round of your loop to the next?",
        edits=(('f"blocks.{i}.")', '"blocks.0.")'),),
        common=True,
    ),
    Mistake(
        "gpt.gpt",
        "no-positions",
        "the positions were not added",
        "W_pos tells the model where a token stands; without it, nothing depends on W_pos.",
        "Which of the two tables does your embedding use?",
        edits=(('embed(ids, params["W_tok"], params["W_pos"])', 'params["W_tok"][np.asarray(ids)]'),),
        common=True,
    ),
    Mistake(
        "gpt.gpt",
        "always-tied",
        "the head is always the token table",
        "With tied=False the model has a matrix W_head of its own.",
        "What does config.tied say, and which matrix follows from it?",
        edits=(("_head(params, config)", 'params["W_tok"].T'),),
    ),
    Mistake(
        "gpt.gpt",
        "probabilities",
        "probabilities come out instead of scores",
        "The softmax belongs to the loss, which is computed from the scores, and to generation.",
        "Can a logit be negative? Can one of yours?",
        edits=(
            (
                "    return logits, cache",
                (
                    "    logits = np.exp(logits - logits.max(axis=-1, keepdims=True))\n"
                    "    logits /= logits.sum(axis=-1, keepdims=True)\n"
                    "    return logits, cache"
                ),
            ),
        ),
    ),
    Mistake(
        "gpt.gpt",
        "block-1-gets-block-10",
        "the names of block 10 were taken for names of block 1",
        "They begin with the same letters: a prefix without its last dot fits both. Ten blocks or fewer hide it.",
        'Does "blocks.10.ln1.gamma" begin with your prefix of block 1?',
        edits=(
            (
                'subset(params, f"blocks.{i}.")',
                '{name.split(".", 2)[2]: p for name, p in params.items() if name.startswith(f"blocks.{i}")}',
            ),
        ),
    ),
)

_LOSS = (
    Mistake(
        "gpt.gpt_loss",
        "tied-head-only",
        "with a tied head, the gradient of W_tok is that of the head only",
        "The table was used twice, and the later assignment has overwritten the part from the embedding.",
        "At which two places does the forward pass use W_tok? Where do their gradients meet?",
        edits=(('grads["W_tok"] += dhead.T', 'grads["W_tok"] = dhead.T'),),
        inside="_on_one_page",
        common=True,
    ),
    Mistake(
        "gpt.gpt_loss",
        "tied-table-only",
        "with a tied head, the gradient of W_tok lacks the part of the head",
        "The table was used twice: at the beginning as a table, and at the end as a head.",
        "At which two places does the forward pass use W_tok? Where do their gradients meet?",
        edits=(('grads["W_tok"] += dhead.T', "pass"),),
        inside="_on_one_page",
        common=True,
    ),
    Mistake(
        "gpt.gpt_loss",
        "first-block-first",
        "the gradient went through the blocks in forward order",
        "The way back begins at the loss: the last block comes first.",
        "Whose output is the input of the last norm?",
        edits=(("reversed(range(config.n_layers))", "range(config.n_layers)"),),
        inside="_on_one_page",
        common=True,
    ),
    Mistake(
        "gpt.gpt_loss",
        "last-norm-skipped",
        "the gradient of the stream did not go through the last layer norm",
        "What arrives at the norm's output was handed to the last block as it was.",
        "Which three results does layernorm_backward give, and what do you do with the first?",
        edits=(("dx = _norm_backward(dlogits @ head.T", "dx = dlogits @ head.T\n    _norm_backward(dlogits @ head.T"),),
        inside="_on_one_page",
    ),
    Mistake(
        "gpt.gpt_loss",
        "repeated-token-lost",
        "where a token occurs twice, only one of its gradients is counted",
        "`grads[ids] += dx` reads, adds and writes each row once, however often it is listed.",
        "What should the gradient of a table's row be if the row was looked up three times?",
        edits=(
            (
                'grads["W_tok"] = hot.T @ dx',
                'grads["W_tok"] = np.zeros_like(params["W_tok"])\n    grads["W_tok"][ids.reshape(-1)] += dx',
            ),
        ),
        inside="_on_one_page",
        common=True,
    ),
    Mistake(
        "gpt.gpt_loss",
        "positions-averaged",
        "the gradient of W_pos is the mean over the batch instead of the sum",
        "The loss is a mean already, and the division is in its gradient.",
        "All texts use the same row of W_pos. What happens to the gradients of something that is used several times?",
        edits=((".sum(axis=0)", ".mean(axis=0)"),),
        inside="_on_one_page",
    ),
    Mistake(
        "gpt.gpt_loss",
        "positions-too-short",
        "the gradient of W_pos has T rows instead of block_size rows",
        "A gradient has the shape of its parameter; positions that a short text does not reach have gradient 0.",
        "What is the shape of W_pos, and what is that of its gradient if the text has two tokens?",
        edits=(
            ('grads["W_pos"] = np.zeros_like(params["W_pos"])', "pass"),
            ('grads["W_pos"][:length] =', 'grads["W_pos"] ='),
        ),
        inside="_on_one_page",
    ),
)

_COUNT = (
    Mistake(
        "gpt.count_parameters",
        "arrays-counted",
        "the arrays were counted, not the numbers in them",
        "A matrix of 100 rows and 50 columns holds 5000 numbers that training can change.",
        "How many trainable numbers does a matrix hold?",
        body="""
    return len(params)
""",
    ),
    Mistake(
        "gpt.count_parameters",
        "rows-counted",
        "the rows of the arrays were counted",
        "len of a matrix is the number of its rows.",
        "What is len of an array of shape (27, 16)?",
        edits=(("int(np.size(value))", "len(value)"),),
    ),
)

MISTAKES = _INIT + _FORWARD + _LOSS + _COUNT + STAGES
