"""Mistakes in `generation`: the steps of a forward pass with a key/value cache."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("generation.generate_cached")
for order in ("k, q, v", "v, k, q", "k, v, q", "v, q, k"):
    mistake(f"parts-as-{order.replace(', ', '-')}", "q, k, v =", f"{order} =", inside="_next_logits").explain(f"""
        the three parts of W_qkv were taken as {order}
        why: The columns of W_qkv are in the order q, k, v, each of width D.
        ask: Which third of the columns do your queries come from?""")
mistake(
    "heads-interleaved",
    "heads[..., i * config.n_heads : (i + 1) * config.n_heads, :, :]",
    "heads[..., i::3, :, :]",
    inside="_next_logits",
).explain("""
    the columns of W_qkv were split by heads first, and then into q, k and v
    why: The first D columns are the queries of all heads, then come the keys, then the values.
    ask: What is in the columns 0 to D - 1 of W_qkv?""")
for name, old, new, title, why in (
    (
        "first-norm-missing",
        "layernorm(x, **ln1) if pre",
        "x if pre",
        "attention read x without the norm",
        "In a pre-norm block, attention reads layernorm(x).",
    ),
    (
        "second-norm-missing",
        "layernorm(x, **ln2) if pre",
        "x if pre",
        "the feed-forward network read x without the norm",
        "In a pre-norm block, the network reads layernorm(x).",
    ),
    (
        "first-norm-for-both",
        'subset(layer, "ln2.")',
        'subset(layer, "ln1.")',
        "both norms of a block used the parameters of the first",
        "The second norm has its own gamma and beta: ln2.",
    ),
    (
        "second-norm-for-both",
        'subset(layer, "ln1.")',
        'subset(layer, "ln2.")',
        "both norms of a block used the parameters of the second",
        "The first norm has its own gamma and beta: ln1.",
    ),
    (
        "attention-not-added",
        "x = x + linear(merge",
        "x = linear(merge",
        "x was replaced by the result of attention, not added to it",
        "Each step adds its result to the residual stream.",
    ),
    (
        "ffn-not-added",
        "x = x + ffn(",
        "x = ffn(",
        "x was replaced by the result of the feed-forward network, not added to it",
        "Each step adds its result to the residual stream.",
    ),
    (
        "norm-output-added",
        "x = x + linear(merge",
        "x = normed + linear(merge",
        "the result of attention was added to the norm of x, not to x",
        "The residual stream itself goes on: x plus the result.",
    ),
    (
        "attention-left-out",
        'x = x + linear(merge_heads(heads), layer["attn.W_o"], layer.get("attn.b_o"))',
        "pass",
        "the result of attention was not used",
        "Without it, no token reads any other token.",
    ),
    (
        "ffn-left-out",
        "x = x + ffn(normed, ffn_params, config.activation)[0]",
        "pass",
        "the feed-forward network was left out",
        "Each block has two steps: attention and the feed-forward network.",
    ),
    (
        "output-product-missing",
        'linear(merge_heads(heads), layer["attn.W_o"], layer.get("attn.b_o"))',
        "merge_heads(heads)",
        "the heads were not multiplied by W_o",
        "W_o mixes what the heads have read, before it is added to the stream.",
    ),
    (
        "qkv-bias-missing",
        'layer["attn.W_qkv"], layer.get("attn.b_qkv")',
        'layer["attn.W_qkv"], None',
        "b_qkv was not added",
        "With config.bias, the product for q, k and v has a bias.",
    ),
    (
        "output-bias-missing",
        'layer["attn.W_o"], layer.get("attn.b_o")',
        'layer["attn.W_o"], None',
        "b_o was not added",
        "With config.bias, the output product of attention has a bias.",
    ),
    (
        "bias-expected-qkv",
        'layer.get("attn.b_qkv")',
        'layer["attn.b_qkv"]',
        "b_qkv was expected even in a model without biases",
        "With config.bias = False there is no such parameter.",
    ),
    (
        "bias-expected-output",
        'layer.get("attn.b_o")',
        'layer["attn.b_o"]',
        "b_o was expected even in a model without biases",
        "With config.bias = False there is no such parameter.",
    ),
    (
        "always-relu",
        "config.activation)[0]",
        '"relu")[0]',
        "the activation was always ReLU",
        "config.activation says which one the model was trained with.",
    ),
    (
        "final-norm-missing",
        'last = layernorm(last, **subset(params, "ln_f."))',
        "pass",
        "the final norm was left out",
        "The head reads layernorm(x), with ln_f.",
    ),
    (
        "first-position",
        "last = x[..., -1, :]",
        "last = x[..., 0, :]",
        "the scores of the first position were used",
        "The scores at the last position predict the new token.",
    ),
    (
        "head-never-tied",
        'params["W_tok"].T if config.tied else params["W_head"]',
        'params["W_head"]',
        "W_head was expected even in a model with a tied head",
        "With config.tied, the head is the transposed token table.",
    ),
    (
        "head-always-tied",
        'params["W_tok"].T if config.tied else params["W_head"]',
        'params["W_tok"].T',
        "the head was always the transposed token table",
        "With config.tied = False, the head is W_head.",
    ),
    (
        "first-block-only",
        "in cache:",
        "in cache[:1]:",
        "only the first block was computed",
        "The model has config.n_layers blocks.",
    ),
    (
        "last-block-left-out",
        "in cache:",
        "in cache[: max(len(cache) - 1, 1)]:",
        "the last block was left out",
        "The model has config.n_layers blocks.",
    ),
    (
        "heads-not-merged",
        "merge_heads(heads)",
        "heads.reshape(x.shape)",
        "the heads were reshaped without moving the axis of heads",
        "A reshape alone mixes positions and heads.",
    ),
):
    group = "blocks left out" if "block" in name and "cache:" in old else ""
    mistake(name, old, new, inside="_next_logits", group=group).explain(f"""
        {title}
        why: {why}
        ask: Compare each step with gpt and block: which one differs?""")
mistake(
    "columns-interleaved",
    "split_heads(qkv, 3 * config.n_heads)",
    "split_heads(np.concatenate([qkv[..., i::3] for i in range(3)], axis=-1), 3 * config.n_heads)",
    inside="_next_logits",
).explain("""
    the columns of W_qkv were taken in turn as query, key and value
    why: The first D columns are the queries of all heads, then come the keys, then the values.
    ask: What is in the columns 0 to D - 1 of W_qkv?""")
mistake(
    "post-norm",
    'pre = config.norm == "pre"',
    "pre = False",
    inside="_next_logits",
).explain("""
    the blocks were computed as post-norm, whatever config.norm says: the norms came after the additions
    why: In a pre-norm model, each step reads layernorm(x), and its result is added to x itself.
    ask: What does gpt pass to block as the norm?""")
mistake(
    "second-norm-output-added",
    "normed = layernorm(x, **ln2) if pre",
    "x = normed = layernorm(x, **ln2) if pre",
    inside="_next_logits",
).explain("""
    the result of the feed-forward network was added to the norm of x, not to x
    why: The residual stream itself goes on: x plus the result.
    ask: Compare each step with gpt and block: which one differs?""")
mistake(
    "queries-stored-as-keys", "keys[..., start:end, :] = k", "keys[..., start:end, :] = q", inside="_next_logits"
).explain("""
    the queries were stored in place of the keys
    why: A query is compared with the keys of the old positions; their queries are not needed any more.
    ask: Which of the three parts go into the cache?""")
for name, mask in (("", "mask"), ("-masked", "causal_mask(ids.shape[-1], end)")):
    mistake(
        f"only-the-prompt-stored{name}",
        "heads, _ = attention(q, keys[..., :end, :], values[..., :end, :], mask)",
        "kept = ~np.isnan(keys[..., :end, 0].reshape(-1, end)[0])\n"
        "        stored = (array[..., :end, :][..., kept, :] for array in (keys, values))\n"
        f"        heads, _ = attention(q, *stored, {mask})\n"
        "        if start:\n"
        "            keys[..., start:end, :] = np.nan",
        inside="_next_logits",
    ).explain("""
        the keys and values of new tokens were used, but not stored
        why: The next token attends to them, too, so the cache must grow with every token.
        ask: How many keys are in your cache after a prompt of three and two new tokens?""")
