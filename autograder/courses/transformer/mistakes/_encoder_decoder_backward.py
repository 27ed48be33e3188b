"""Mistakes in the backward pass of assignment 12."""

from autograder.engine.diagnosis.mistake import Mistake

_DSCORES = "dlog_probs - np.exp(log_probs) * dlog_probs.sum(axis=-1, keepdims=True)"

BACKWARD = (
    Mistake(
        "encoder_decoder.transformer_backward",
        "log-softmax-skipped",
        "the gradient does not go through the log-softmax",
        "A larger score lowers all other log-probabilities of its row.",
        "If all scores of a row grow by 1, nothing changes. What must a row of dscores add up to?",
        edits=((_DSCORES, "dlog_probs"),),
        common=True,
    ),
    Mistake(
        "encoder_decoder.transformer_backward",
        "softmax-for-log-softmax",
        "the backward pass of softmax was used for the log-softmax",
        "The two functions differ, and so do their slopes.",
        "Is what comes in the gradient of probabilities or of log-probabilities?",
        edits=(
            (
                _DSCORES,
                "np.exp(log_probs) * (dlog_probs - (dlog_probs * np.exp(log_probs)).sum(axis=-1, keepdims=True))",
            ),
        ),
    ),
    Mistake(
        "encoder_decoder.transformer_backward",
        "log-softmax-sign",
        "the second term of the log-softmax has the wrong sign",
        "The sum of all exponentials is subtracted in the forward pass.",
        "If all scores of a row grow by 1, nothing changes. What must a row of dscores add up to?",
        edits=(("dlog_probs - np.exp", "dlog_probs + np.exp"),),
    ),
    Mistake(
        "encoder_decoder.transformer_backward",
        "memory-of-first-block-only",
        "the encoder gets the memory's gradient from one decoder block only",
        "All blocks looked at the same memory; what they send back adds up.",
        "Do you add or overwrite?",
        edits=(("dmemory += dmemory_of_block", "dmemory = dmemory_of_block"),),
        common=True,
    ),
    Mistake(
        "encoder_decoder.transformer_backward",
        "memory-forgotten",
        "nothing goes back into the encoder",
        "The memory's gradient is the only way by which the encoder learns anything at all.",
        "What does the second attention's backward pass return besides the gradient of the queries?",
        edits=(("        dmemory += dmemory_of_block\n", ""),),
    ),
    Mistake(
        "encoder_decoder.transformer_backward",
        "target-scale-missing",
        "the gradient of W_target was not multiplied by √D",
        "The token vectors were, on the way forward.",
        "What happened between the table and the stream?",
        edits=(('(dx * scale, cache["target"]', '(dx, cache["target"]'),),
    ),
    Mistake(
        "encoder_decoder.transformer_backward",
        "scale-missing",
        "the gradients of the two tables were not multiplied by √D",
        "The token vectors were, on the way forward.",
        "What happened between the table and the stream?",
        edits=(("scale = math.sqrt(config.d_model)", "scale = 1.0"),),
        common=True,
    ),
    Mistake(
        "encoder_decoder.transformer_backward",
        "no-first-residual",
        "in the decoder, the gradient does not go past the self attention",
        "Where the forward pass adds, the backward pass copies, and adds up where the copies meet.",
        "How many sums does a decoder block have? Each has two gradients.",
        edits=(("return dsum + dbranch, dmemory", "return dbranch, dmemory"),),
        inside="_decoder_block_backward",
        common=True,
    ),
    Mistake(
        "encoder_decoder.transformer_backward",
        "no-second-residual",
        "in the decoder, the gradient does not go past the attention to the memory",
        "Where the forward pass adds, the backward pass copies, and adds up where the copies meet.",
        "How many sums does a decoder block have? Each has two gradients.",
        edits=(("dsum + dbranch  # with respect to after_attention", "dbranch  # with respect to after_attention"),),
        inside="_decoder_block_backward",
        common=True,
    ),
    Mistake(
        "encoder_decoder.transformer_backward",
        "no-third-residual",
        "in the decoder, the gradient does not go past the feed-forward network",
        "Where the forward pass adds, the backward pass copies, and adds up where the copies meet.",
        "How many sums does a decoder block have? Each has two gradients.",
        edits=(("dsum + dbranch  # with respect to after_source_attention", "dbranch"),),
        inside="_decoder_block_backward",
    ),
    Mistake(
        "encoder_decoder.transformer_backward",
        "attentions-exchanged",
        "the gradients of the decoder's two attentions are exchanged",
        "They have the same shapes, so nothing complains.",
        "Under which names do you put the gradients of the attention to the memory?",
        edits=(
            ('prefixed(dattn, "attn.")', 'prefixed(dsource, "attn.")'),
            ('prefixed(dsource, "source_attn.")', 'prefixed(dattn, "source_attn.")'),
        ),
        inside="_decoder_block_backward",
    ),
    Mistake(
        "encoder_decoder.transformer_backward",
        "blocks-in-forward-order",
        "the decoder's blocks are gone through from the first to the last",
        "The way back begins with the last one. With a single block nothing shows.",
        "Which block's output is nearest to the loss?",
        edits=(
            ("reversed(range(config.n_layers)):\n        dx, dmemory", "range(config.n_layers):\n        dx, dmemory"),
        ),
    ),
)
