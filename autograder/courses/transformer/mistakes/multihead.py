"""Mistakes in assignment 5: multi-head attention.

Those in cutting into heads are in `_multihead_heads`, those of the backward pass in `_multihead_backward`.
"""

from autograder.courses.transformer.mistakes._multihead_backward import BACKWARD
from autograder.courses.transformer.mistakes._multihead_heads import HEADS
from autograder.engine.diagnosis.mistake import Mistake

FORWARD = (
    # --- multihead_attention
    Mistake(
        "multihead.multihead_attention",
        "split-by-reshape",
        "the heads were cut off by reshape alone, without exchanging axes",
        "The shape is right and the numbers are in the wrong places: a head gets pieces of several positions.",
        "You have written split_heads. Does your line do the same?",
        edits=(
            (
                "heads, weights = attention(q, k, v, mask)",
                (
                    "q, k, v = (merge_heads(part) for part in (q, k, v))\n"
                    "    q, k, v = (p.reshape(*p.shape[:-2], n_heads, p.shape[-2], -1) for p in (q, k, v))\n"
                    "    heads, weights = attention(q, k, v, mask)"
                ),
            ),
        ),
    ),
    Mistake(
        "multihead.multihead_attention",
        "merged-by-reshape",
        "the heads were put together by reshape alone, without exchanging axes",
        "The shape is right and the numbers are in the wrong places. It even learns, only worse.",
        "You have written merge_heads. Does your line do the same?",
        edits=(("merge_heads(heads)", "heads.reshape(x.shape)"),),
        common=True,
    ),
    Mistake(
        "multihead.multihead_attention",
        "no-output-projection",
        "the output was not multiplied by W_o",
        "W_o mixes what the heads have found. Without it they stay side by side.",
        "Which of the four parameters does your code not use?",
        edits=(("out = _project(merged, W_o, b_o)", "out = merged"),),
        common=True,
    ),
    Mistake(
        "multihead.multihead_attention",
        "output-projection-transposed",
        "W_o was transposed",
        "Weights are (in, out) here, as in x W. PyTorch's own layers keep them as (out, in).",
        "How is W_o written in the formula: with or without a ᵀ?",
        edits=(("_project(merged, W_o, b_o)", "_project(merged, W_o.T, b_o)"),),
    ),
    Mistake(
        "multihead.multihead_attention",
        "no-output-bias",
        "b_o was not added",
        "As long as biases are 0, nothing shows.",
        "Which of the four parameters does your code not use?",
        edits=(("_project(merged, W_o, b_o)", "_project(merged, W_o, None)"),),
        common=True,
    ),
    Mistake(
        "multihead.multihead_attention",
        "no-input-bias",
        "b_qkv was not added",
        "As long as biases are 0, nothing shows.",
        "Which of the four parameters does your code not use?",
        edits=(('params.get("b_qkv")', "None"),),
    ),
    Mistake(
        "multihead.multihead_attention",
        "input-bias-required",
        "it does not work without b_qkv",
        "Each bias may be absent from the parameters.",
        "What does params[...] do for a key that is not there? What does params.get(...) do?",
        edits=(('params.get("b_qkv")', 'params["b_qkv"]'),),
    ),
    Mistake(
        "multihead.multihead_attention",
        "output-bias-required",
        "it does not work without b_o",
        "Each bias may be absent from the parameters.",
        "What does params[...] do for a key that is not there? What does params.get(...) do?",
        edits=(('params.get("b_o")', 'params["b_o"]'),),
    ),
    Mistake(
        "multihead.multihead_attention",
        "keys-first",
        "queries and keys were exchanged: the first third of W_qkv was taken for the keys",
        "The name gives the order: q, k, v.",
        "Which columns of W_qkv make the queries by the formula?",
        edits=(("q, k, v = (heads[", "k, q, v = (heads["),),
        common=True,
    ),
    Mistake(
        "multihead.multihead_attention",
        "values-in-the-middle",
        "keys and values were exchanged: the second third of W_qkv was taken for the values",
        "The name gives the order: q, k, v.",
        "Which columns of W_qkv make the keys by the formula?",
        edits=(("q, k, v = (heads[", "q, v, k = (heads["),),
    ),
    Mistake(
        "multihead.multihead_attention",
        "thirds-within-heads",
        "the columns were cut into heads first, and each head into q, k and v",
        "Some models keep their weights so. Here all queries come first, then all keys, then all values.",
        "To what does the second quarter of the columns belong, if there are two heads?",
        edits=(
            ("split_heads(_project(x, W_qkv, b_qkv), 3 * n_heads)", "split_heads(_project(x, W_qkv, b_qkv), n_heads)"),
            ("(heads[..., i * n_heads : (i + 1) * n_heads, :, :] for i in range(3))", "np.split(heads, 3, axis=-1)"),
        ),
    ),
    Mistake(
        "multihead.multihead_attention",
        "scaled-by-whole-width",
        "the scores were divided by √D, not by the root of a head's width",
        "Each head multiplies vectors of K = D / H numbers. With one head nothing shows.",
        "How long are the vectors that are multiplied in one head?",
        edits=(("attention(q, k, v, mask)", "attention(q / n_heads**0.5, k, v, mask)"),),
        common=True,
    ),
    Mistake(
        "multihead.multihead_attention",
        "scaled-twice",
        "the scores were divided by √K twice",
        "`attention` divides already.",
        "Who divides the scores: your function, the one that it calls, or both?",
        edits=(("attention(q, k, v, mask)", "attention(q / q.shape[-1] ** 0.5, k, v, mask)"),),
    ),
    Mistake(
        "multihead.multihead_attention",
        "one-head",
        "the vectors were not cut into heads",
        "A single head of full width looks at one thing at a time; that there are several is the point.",
        "Does your result change when n_heads changes?",
        edits=(
            (
                "heads, weights = attention(q, k, v, mask)",
                (
                    "q, k, v = (merge_heads(part)[..., None, :, :] for part in (q, k, v))\n"
                    "    heads, weights = attention(q, k, v, mask)"
                ),
            ),
        ),
    ),
    Mistake(
        "multihead.multihead_attention",
        "mask-ignored",
        "the mask was not handed on to attention",
        "Every position then sees every other one, the future and the padding too.",
        "Does your result change when the mask changes?",
        edits=(("attention(q, k, v, mask)", "attention(q, k, v)"),),
        common=True,
    ),
    Mistake(
        "multihead.multihead_attention",
        "mask-ignored-with-memory",
        "in cross attention the mask was not handed on",
        "The padding of the other text is looked at.",
        "Does your result change with the mask when there is a memory?",
        edits=(("attention(q, k, v, mask)", "attention(q, k, v, mask if memory is None else None)"),),
    ),
    Mistake(
        "multihead.multihead_attention",
        "mask-inverted",
        "the mask was turned round before it was handed on",
        "True means that a position may be looked at, here and in `attention`.",
        "What does True mean in your mask, and what in that of `attention`?",
        edits=(("attention(q, k, v, mask)", "attention(q, k, v, None if mask is None else ~mask)"),),
    ),
    Mistake(
        "multihead.multihead_attention",
        "causal-by-default",
        "without a mask, the causal one was used",
        "mask=None means that everybody may look at everything: an encoder has no future.",
        "What should happen when there is no mask?",
        edits=(
            (
                "attention(q, k, v, mask)",
                "attention(q, k, v, np.tri(q.shape[-2], k.shape[-2], dtype=bool) if mask is None else mask)",
            ),
        ),
    ),
    Mistake(
        "multihead.multihead_attention",
        "memory-ignored",
        "the memory is not used",
        "It is self attention then, whatever the other text says.",
        "Does your result change when the memory changes?",
        edits=(("x = as_float(x)", "x, memory = as_float(x), None"),),
    ),
    Mistake(
        "multihead.multihead_attention",
        "queries-from-memory",
        "in cross attention the queries were made from the memory",
        "The text asks and the memory answers: queries come from x, keys and values from the memory.",
        "How many rows has the result: as many as x or as many as the memory?",
        edits=(
            (
                "split_heads(_project(x, W_qkv[:, :d_model], b_q)",
                "split_heads(_project(memory, W_qkv[:, :d_model], b_q)",
            ),
        ),
    ),
    Mistake(
        "multihead.multihead_attention",
        "roles-exchanged",
        "in cross attention x and the memory were exchanged",
        "The text asks and the memory answers: queries come from x, keys and values from the memory.",
        "How many rows has the result: as many as x or as many as the memory?",
        edits=(
            (
                "split_heads(_project(x, W_qkv[:, :d_model], b_q)",
                "split_heads(_project(memory, W_qkv[:, :d_model], b_q)",
            ),
            ("_project(memory, W_qkv[:, d_model:], b_kv)", "_project(x, W_qkv[:, d_model:], b_kv)"),
        ),
    ),
    Mistake(
        "multihead.multihead_attention",
        "keys-and-values-exchanged-with-memory",
        "in cross attention keys and values were exchanged",
        "The name of W_qkv gives the order.",
        "Which columns of W_qkv make the keys by the formula?",
        edits=(("k, v = heads[", "v, k = heads["),),
    ),
    Mistake(
        "multihead.multihead_attention",
        "no-input-bias-with-memory",
        "in cross attention b_qkv was not added to keys and values",
        "As long as biases are 0, nothing shows.",
        "Which part of b_qkv belongs to the keys, and which to the values?",
        edits=(("(b_qkv[:d_model], b_qkv[d_model:])", "(b_qkv[:d_model], None)"),),
    ),
    Mistake(
        "multihead.multihead_attention",
        "input-added",
        "the input was added to the output",
        "That is the residual connection; it belongs to the block, which is the next assignment but one.",
        "Is there an x after W_o in the formula?",
        edits=(("out = _project(merged, W_o, b_o)", "out = _project(merged, W_o, b_o) + x"),),
    ),
    Mistake(
        "multihead.multihead_attention",
        "cache-not-returned",
        "only the output was returned, without the cache",
        "The backward pass needs what the forward pass has computed.",
        "How many results does the docstring list?",
        edits=(("return out, cache", "return out"),),
    ),
    Mistake(
        "multihead.multihead_attention",
        "weights-missing",
        'the cache has no entry "weights"',
        "Whoever wants to look at the attention of a model looks there.",
        "Which entry of the cache does the docstring name?",
        edits=(('"weights": weights', '"attention": weights'),),
    ),
    Mistake(
        "multihead.multihead_attention",
        "weights-averaged",
        'cache["weights"] holds the average over the heads, not the weights of every head',
        "PyTorch's own layer returns the average unless it is told otherwise. The heads look at different things.",
        "How many sets of weights are there for one text?",
        edits=(('"weights": weights', '"weights": weights.mean(axis=-3)'),),
    ),
    Mistake(
        "multihead.multihead_attention",
        "head-axis-added-to-mask",
        "an axis for the heads was added to every mask",
        "A mask for (..., H, T, S) comes ready to be broadcast: (T, S), (B, 1, T, S). With one axis more, its batch "
        "meets the scores' heads, or its queries do.",
        "Which axis of the scores does the first axis of a mask (B, 1, 1, S) meet, once it is (B, 1, 1, 1, S)?",
        edits=(("attention(q, k, v, mask)", "attention(q, k, v, mask if mask is None else mask[:, None])"),),
    ),
    Mistake(
        "multihead.multihead_attention",
        "columns-in-turn",
        "the columns of W_qkv were handed out in turn: the first to q, the next to k, the next to v",
        "The first D columns make the queries, the next D the keys, the last D the values.",
        "Which columns of W_qkv make the queries: 0, 1, 2 … or 0, 3, 6 …?",
        edits=(
            (
                'W_qkv, b_qkv = as_float(params["W_qkv"]), params.get("b_qkv")',
                """W_qkv, b_qkv = as_float(params["W_qkv"]), params.get("b_qkv")
    W_qkv = np.concatenate([W_qkv[:, i::3] for i in range(3)], axis=1)
    b_qkv = None if b_qkv is None else np.concatenate([b_qkv[i::3] for i in range(3)])""",
            ),
        ),
    ),
    Mistake(
        "multihead.multihead_attention",
        "output-for-weights",
        'cache["weights"] holds the output of attention, not its weights',
        "attention returns two things, (out, weights).",
        "What is the shape of what you keep? The weights have one number for each query and each key.",
        edits=(('"weights": weights', '"weights": heads'),),
    ),
    Mistake(
        "multihead.multihead_attention",
        "three-results",
        "three values were returned: out, weights and cache",
        "The weights have a place in the cache.",
        "How many results does the docstring list?",
        edits=(("return out, cache", "return out, weights, cache"),),
    ),
)

MISTAKES = HEADS + FORWARD + BACKWARD
