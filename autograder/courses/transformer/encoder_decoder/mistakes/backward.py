"""Mistakes in the backward pass of the whole model."""

from autograder.engine.diagnosis.mistake import MistakeEntry, Mistakes

MISTAKES = Mistakes()

_PRE = 'pre = cache["norm"] == "pre"'
_DSCORES = "dlog_probs - np.exp(log_probs) * dlog_probs.sum(axis=-1, keepdims=True)"

mistake = MISTAKES.for_functions("encoder_decoder.transformer_backward")


def _in_block(name: str, *edits: str) -> MistakeEntry:
    return mistake(name, *edits, inside="_decoder_block_backward")


mistake("log-softmax-skipped", _DSCORES, "dlog_probs", common=True).explain("""
    the gradient did not pass through the log-softmax
    why: A larger score lowers all other log-probabilities of its row.
    ask: If all scores of a row increase by 1, the result does not change. What must a row of dscores add up to?""")
mistake(
    "softmax-for-log-softmax",
    _DSCORES,
    "np.exp(log_probs) * (dlog_probs - (dlog_probs * np.exp(log_probs)).sum(axis=-1, keepdims=True))",
).explain("""
    the backward pass of softmax was used for the log-softmax
    why: The two functions have different derivatives.
    ask: Is the upstream gradient that of probabilities or of log-probabilities?""")
mistake("log-softmax-sign", "dlog_probs - np.exp", "dlog_probs + np.exp").explain("""
    the second term of the log-softmax gradient has the wrong sign
    why: The forward pass subtracts the logarithm of the sum of exponentials.
    ask: If all scores of a row increase by 1, the result does not change. What must a row of dscores add up to?""")
mistake(
    "memory-of-first-block-only", "dmemory += dmemory_of_block", "dmemory = dmemory_of_block", common=True
).explain("""
    the encoder got the memory's gradient from one decoder block only
    why: All blocks attend to the same memory, so their gradients add up.
    ask: Does your loop add the gradients of the memory, or overwrite them?""")
mistake("memory-forgotten", "        dmemory += dmemory_of_block\n", "").explain("""
    the encoder got no gradient from the decoder
    why: The gradient of the memory is the only one that reaches the encoder. Without it, the encoder is not trained.
    ask: What does the backward pass of the source attention return besides the gradient of the queries?""")
mistake("target-scale-missing", '(dx * scale, cache["target"]', '(dx, cache["target"]').explain("""
    the gradient of W_target was not multiplied by √D
    why: The forward pass multiplies the token vectors by √D.
    ask: What happens between the table and the stream in the forward pass?""")
mistake("scale-missing", "scale = math.sqrt(config.d_model)", "scale = 1.0", common=True).explain("""
    the gradients of the two tables were not multiplied by √D
    why: The forward pass multiplies the token vectors by √D.
    ask: What happens between the table and the stream in the forward pass?""")
mistake(
    "no-first-residual",
    "return dsum + dbranch, dmemory",
    "return dbranch, dmemory",
    common=True,
    inside="_decoder_block_backward",
).explain("""
    the residual gradient around the decoder's self attention is missing
    why: Where the forward pass adds, the gradient goes to both terms of the sum.
    ask: How many sums does a decoder block have? Each of them has two gradients.""")
mistake(
    "no-second-residual",
    "dsum + dbranch  # with respect to after_attention",
    "dbranch  # with respect to after_attention",
    common=True,
    inside="_decoder_block_backward",
).explain("""
    the residual gradient around the decoder's source attention is missing
    why: Where the forward pass adds, the gradient goes to both terms of the sum.
    ask: How many sums does a decoder block have? Each of them has two gradients.""")
mistake(
    "no-third-residual",
    "dsum + dbranch  # with respect to after_source_attention",
    "dbranch",
    inside="_decoder_block_backward",
).explain("""
    the residual gradient around the decoder's feed-forward network is missing
    why: Where the forward pass adds, the gradient goes to both terms of the sum.
    ask: How many sums does a decoder block have? Each of them has two gradients.""")
mistake(
    "attentions-exchanged",
    'prefixed(dattn, "attn.")',
    'prefixed(dsource, "attn.")',
    'prefixed(dsource, "source_attn.")',
    'prefixed(dattn, "source_attn.")',
    inside="_decoder_block_backward",
).explain("""
    the gradients of the decoder's two attentions were swapped
    why: They have the same shapes, so there is no error.
    ask: Under which prefix do you store the gradients of the source attention?""")
mistake(
    "blocks-in-forward-order",
    "reversed(range(config.n_layers)):\n        dx, dmemory",
    "range(config.n_layers):\n        dx, dmemory",
).explain("""
    the backward pass went through the decoder's blocks from the first to the last
    why: The backward pass starts with the last block. With a single block, the mistake stays hidden.
    ask: Which block's output is closest to the loss?""")

# The head and the log-softmax.
for name, new, title in (
    (
        "log-probs-for-probabilities",
        _DSCORES.replace("np.exp(log_probs)", "log_probs"),
        "log-probabilities were used for the probabilities",
    ),
    (
        "sum-over-positions",
        _DSCORES.replace("axis=-1", "axis=-2"),
        "the sum was taken over the positions, not over the vocabulary",
    ),
    ("mean-for-sum", _DSCORES.replace(".sum", ".mean"), "the mean was taken over the vocabulary, not the sum"),
    (
        "no-probabilities",
        _DSCORES.replace("np.exp(log_probs) * ", ""),
        "the sum was not multiplied by the probabilities",
    ),
    ("no-sum", _DSCORES.replace(".sum(axis=-1, keepdims=True)", ""), "dlog_probs was not summed over the vocabulary"),
):
    mistake(name, _DSCORES, new).explain(f"""
        in the gradient of the log-softmax, {title}
        why: A larger score lowers all log-probabilities of its row.
        ask: If all scores of a row increase by 1, the result does not change. What must a row of dscores add up to?""")
for name, old, new, title in (
    ("sign", _DSCORES, f"-({_DSCORES})", "every gradient has the wrong sign"),
    (
        "divided-by-positions",
        _DSCORES,
        f"({_DSCORES}) / dlog_probs[..., 0].size",
        "every gradient was divided by the number of target tokens",
    ),
    (
        "divided-by-batch",
        _DSCORES,
        f"({_DSCORES}) / len(dlog_probs)",
        "every gradient was divided by the length of the first axis",
    ),
):
    mistake(name, old, new).explain(f"""
        {title}
        why: dlog_probs is the gradient of the loss, and contains its sign and its mean already.
        ask: For dlog_probs twice as large, how much larger are the gradients? What else do you multiply by?""")
mistake(
    "head-reads-last-attention",
    "decoder.{config.n_layers - 1}.after_ffn",
    "decoder.{config.n_layers - 1}.after_source_attention",
).explain("""
    the head's gradient was computed with the stream from before the last feed-forward network
    why: The head multiplies the output of the last block.
    ask: Which array is the input of the head in the forward pass?""")
mistake("head-reads-first-block", 'f"decoder.{config.n_layers - 1}.after_ffn"', '"decoder.0.after_ffn"').explain("""
    the head's gradient was computed with the output of the first block
    why: The head multiplies the output of the last block. With a single block, the mistake stays hidden.
    ask: Which array is the input of the head in the forward pass?""")

# The memory and the stacks.
for name, new, title in (
    (
        "memory-of-last-block-only",
        "dmemory += dmemory_of_block * (i == config.n_layers - 1)",
        "from the last decoder block only",
    ),
    (
        "memory-averaged",
        "dmemory += dmemory_of_block / config.n_layers",
        "as a mean over the decoder blocks, not as a sum",
    ),
):
    mistake(name, "dmemory += dmemory_of_block", new).explain(f"""
        the encoder got the memory's gradient {title}
        why: All blocks attend to the same memory, so their gradients add up.
        ask: How do several gradients of one array become one?""")
_ENCODER_LOOP = "reversed(range(config.n_layers)):\n        dx, block_grads = block"
mistake(
    "encoder-in-forward-order", _ENCODER_LOOP, "range(config.n_layers):\n        dx, block_grads = block"
).explain("""
    the backward pass went through the encoder's blocks from the first to the last
    why: The backward pass starts with the last block. With a single block, the mistake stays hidden.
    ask: Which block's output is closest to the loss?""")
for stack in ("decoder", "encoder"):
    for name, index in (("first", "0"), ("last", "-1")):
        mistake(
            f"{stack}-cache-of-{name}-block", f'cache["{stack}_caches"][i]', f'cache["{stack}_caches"][{index}]'
        ).explain(f"""
            all blocks of the {stack} used the cache of the {name} one
            why: Each block has its own cache. With a single block, the mistake stays hidden.
            ask: Which cache does each step of your loop use?""")

# The tables.
_TABLES = {
    "W_target": '(dx * scale, cache["target"]',
    "W_source": '(dx * scale, cache["source"]',
}
for table, old in _TABLES.items():
    if table == "W_source":
        mistake("source-scale-missing", old, old.replace(" * scale", "")).explain("""
            the gradient of W_source was not multiplied by √D
            why: The forward pass multiplies the token vectors by √D.
            ask: What happens between the table and the stream in the forward pass?""")
    for name, factor, what in (
        ("divided", "/ scale", "divided by √D, not multiplied"),
        ("times-d", "* scale**2", "multiplied by D, not by √D"),
    ):
        mistake(f"{table}-{name}", old, old.replace("* scale", factor)).explain(f"""
            the gradient of {table} was {what}
            why: The forward pass multiplies the token vectors by √D.
            ask: If y = c x, what is the gradient of x?""")
for name, scale, what in (
    ("divided", "1 / math.sqrt(config.d_model)", "divided by √D, not multiplied"),
    ("times-d", "config.d_model", "multiplied by D, not by √D"),
):
    mistake(f"tables-{name}", "scale = math.sqrt(config.d_model)", f"scale = {scale}").explain(f"""
        the gradients of the two tables were {what}
        why: The forward pass multiplies the token vectors by √D.
        ask: If y = c x, what is the gradient of x?""")
mistake("tables-scaled", "scale = math.sqrt(config.d_model)", "scale = CONSTANT", constant=7.0).explain("""
    the gradients of the two tables were multiplied by {constant}, not by √D
    why: The forward pass multiplies the token vectors by √D.
    ask: What happens between the table and the stream in the forward pass?""")
_LOOKUP = {
    "W_target": 'embed_tokens_backward(dx * scale, cache["target"], config.vocab_target)',
    "W_source": 'embed_tokens_backward(dx * scale, cache["source"], config.vocab_source)',
}
for tables in (("W_target",), ("W_source",), ("W_target", "W_source")):
    edits = []
    for table in tables:
        ids, size = f'cache["{table[2:]}"]', f"config.vocab_{table[2:]}"
        edits += [
            f'grads["{table}"] = {_LOOKUP[table]}',
            f'grads["{table}"] = np.zeros(({size}, dx.shape[-1]), dx.dtype)\n    grads["{table}"][{ids}] = dx * scale',
        ]
    mistake(f"tokens-overwritten-{'-'.join(tables)}", *edits).explain(f"""
        in the gradient of {" and ".join(tables)}, only one position of each token counted
        why: `dW[ids] = …` overwrites a row for each further position of the same token. The gradients add up.
        ask: What does dW[[1, 1]] += 1 do to row 1?""")

# The dictionary, and what a second call finds.
_RETURN = "{name: grads[name] for name in params}"
for ending, test, which in (
    ("W_head", 'name != "W_head"', "gradient of W_head was"),
    ("tables", 'name not in ("W_source", "W_target")', "gradients of the two tables were"),
    ("W_source", 'name != "W_source"', "gradient of W_source was"),
    ("W_target", 'name != "W_target"', "gradient of W_target was"),
    ("encoder", 'not name.startswith("encoder.")', "gradients of the encoder were"),
    ("decoder", 'not name.startswith("decoder.")', "gradients of the decoder were"),
    ("biases", '".b_" not in name', "gradients of the biases b_... were"),
    ("norms", '".ln" not in name', "gradients of the norms were"),
    ("source-attention", '".source_attn." not in name', "gradients of the source attention were"),
):
    mistake(f"no-gradient-of-{ending}", _RETURN, f"{{name: grads[name] for name in params if {test}}}").explain(f"""
        the {which} not returned
        why: A parameter without a gradient is never trained.
        ask: Which keys does `params` have, and which keys does your dict have?""")
mistake(
    "tables-transposed", _RETURN, '{name: grads[name].T if name == "W_head" else grads[name] for name in params}'
).explain("""
    the gradient of W_head is transposed
    why: A gradient has the shape of its parameter, (D, Vt).
    ask: What are the shapes of W_head and of its gradient?""")
mistake("always-float64", _RETURN, '{name: grads[name].astype("float64") for name in params}').explain("""
    everything was converted to float64
    why: The gradients have the dtype of the parameters: float32 stays float32.
    ask: What is the dtype of your gradients with float32 parameters?""")
mistake(
    "summed-over-calls",
    f"return {_RETURN}",
    'kept = cache.setdefault("kept", {})\n    for name in params:\n'
    "        kept[name] = kept.get(name, 0) + grads[name]\n    return dict(kept)",
).explain("""
    the gradients of a second call were added to those of the first
    why: Each call returns the gradients for its own dlog_probs.
    ask: Where does your code keep the gradients after it has returned them?""")
mistake(
    "one-cache-for-all-calls",
    'return log_probs, cache | decode_cache | {"memory": memory, "params": dict(params), "config": config}',
    'whole = cache | decode_cache | {"memory": memory, "params": dict(params), "config": config}\n'
    '    transformer.__dict__.setdefault("kept", {}).update(whole)\n    return log_probs, transformer.kept',
    inside="transformer",
).explain("""
    all calls of transformer shared one cache
    why: Each cache belongs to its own forward pass.
    ask: Where is your cache created: inside the function, or once for all calls?""")
for kept in (
    "decoder_caches",
    "encoder_caches",
    "decoder",
    "encoder",
    "decode",
    "encode",
    "params",
    "config",
    "memory",
    "log_probs",
    "decoder.0.attn.W_qkv",
):
    mistake(
        f"cache-used-up-{kept}",
        "    grads = {}\n",
        f'    if cache.setdefault("calls", 0):\n        raise KeyError("{kept}")\n'
        '    cache["calls"] += 1\n    grads = {}\n',
    ).explain("""
        an entry was removed from the cache, so a second call fails
        why: The cache may be used again, with the same result.
        ask: Which of your lines change the cache? What does .pop do?""")
mistake(
    "cache-used-up-list",
    "    grads = {}\n",
    '    if cache.setdefault("calls", 0):\n        [].pop()\n    cache["calls"] += 1\n    grads = {}\n',
).explain("""
    a list in the cache was emptied with .pop(), so a second call fails
    why: The cache may be used again, with the same result.
    ask: Which of your lines change the cache? Is there a loop that only reads the list?""")

# One block of the decoder.
_STEPS = (
    (1, "the self attention", "return dsum + dbranch, dmemory", "return {}, dmemory", "dstream"),
    (
        2,
        "the source attention",
        "dsum + dbranch  # with respect to after_attention",
        "{}  # with respect to after_attention",
        "dstream",
    ),
    (
        3,
        "the feed-forward network",
        "dsum + dbranch  # with respect to after_source_attention",
        "{}  # with respect to after_source_attention",
        "dout",
    ),
)
_BRANCHES = {
    1: "dattn = multihead_attention_backward(dsum",
    2: 'multihead_attention_backward(dsum, cache["source_attn"]',
    3: "ffn_backward(dsum",
}
for number, step, old, new, upstream in _STEPS:
    _in_block(f"branch-{number}-lost", old, new.format("dsum * 1.0")).explain(f"""
        the gradient through the decoder's {step[4:]} was dropped
        why: The output of a step depends on the stream that it read, so its gradient is added to that of the stream.
        ask: How many sums does a decoder block have? Each of them has two gradients.""")
    if number > 1:
        _in_block(f"residual-{number}-past-norm", old, new.format(f"{upstream} + dbranch")).explain(f"""
            the gradient along the decoder's stream bypassed ln{number}
            why: The norm comes after the sum, so both terms of the sum go through it.
            ask: In the backward pass of a post-norm step, which comes first: the norm or the sum?""")
    _in_block(f"branch-{number}-past-norm", _BRANCHES[number], _BRANCHES[number].replace("dsum", upstream)).explain(f"""
        the gradient of the decoder's {step[4:]} bypassed ln{number}
        why: The norm comes after the sum, so both terms of the sum go through it.
        ask: In the backward pass of a post-norm step, which comes first: the norm or the sum?""")
    given = f'prefixed(dln{number}, "ln{number}.")'
    swapped = f'prefixed({{"gamma": dln{number}["beta"], "beta": dln{number}["gamma"]}}, "ln{number}.")'
    _in_block(f"gamma-beta-exchanged-ln{number}", given, swapped).explain(f"""
        the gradients of gamma and beta of the decoder's ln{number} were swapped
        why: Both have the shape (D,), so there is no error message.
        ask: In which order does layernorm_backward return them?""")
    for other in (1, 2, 3):
        if other != number:
            changed = f'{_PRE}\n    cache = cache | {{"ln{number}": (cache["ln{other}"][0], cache["ln{number}"][1])}}'
            _in_block(f"ln{number}-with-input-of-ln{other}", _PRE, changed).explain(f"""
                the decoder's ln{number} got the input of ln{other} in the backward pass
                why: The gradient of a norm depends on its own input.
                ask: Which array was the input of ln{number} in the forward pass?""")
    for name, index, what in (
        ("output", ("after_attention", "after_source_attention", "after_ffn")[number - 1], "its output"),
        (
            "stream",
            ("", "after_attention", "after_source_attention")[number - 1],
            "the stream without the output of the branch",
        ),
    ):
        if index:
            pair = f'{{"ln{number}": (cache["{index}"], cache["ln{number}"][1])}}'
            changed = f"{_PRE}\n    cache = cache if pre else cache | {pair}"
            _in_block(f"ln{number}-with-{name}", _PRE, changed).explain(f"""
                the decoder's ln{number} got {what} instead of its input in the backward pass
                why: The gradient of a norm depends on the mean and the variance of its input.
                ask: What was the argument of ln{number} in the forward pass?""")
for first, second in ((1, 2), (1, 3), (2, 3)):
    _in_block(
        f"ln{first}-and-ln{second}-exchanged",
        *(f'prefixed(dln{first}, "ln{first}.")', f'prefixed(dln{second}, "ln{first}.")'),
        *(f'prefixed(dln{second}, "ln{second}.")', f'prefixed(dln{first}, "ln{second}.")'),
    ).explain(f"""
        the gradients of the decoder's ln{first} and ln{second} were swapped
        why: They have the same shapes, so there is no error message.
        ask: Which norm follows which step?""")
_in_block("no-residuals", *(text for _, _, old, new, _ in _STEPS for text in (old, new.format("dbranch")))).explain("""
    no gradient went past the decoder's steps along the stream
    why: Where the forward pass adds, the gradient goes to both terms of the sum.
    ask: How many sums does a decoder block have? Each of them has two gradients.""")

mistake = MISTAKES.for_functions("encoder_decoder.transformer_backward")
for name, rows, words in (
    ("all-positions", "log_probs[..., 0].size", "all B T positions"),
    ("positions-with-gradient", "np.count_nonzero(dlog_probs.any(axis=-1))", "all positions with a gradient"),
):
    mistake(f"mean-loss-assumed-over-{name}", _DSCORES, f"dlog_probs + np.exp(log_probs) / {rows}").explain(f"""
        the gradient of the log-softmax is that of a mean loss over {words}, whatever dlog_probs is
        why: softmax minus one-hot holds only where each row of dlog_probs is -1/N at one token and 0 elsewhere.
        ask: What does your function return for dlog_probs twice as large?""")
