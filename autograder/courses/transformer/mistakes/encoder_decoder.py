"""Mistakes in assignment 12: the encoder–decoder."""

from autograder.courses.transformer.mistakes._encoder_decoder_model import MISTAKES as MODEL
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(MODEL)

_CAUSAL_LINES = """    causal = causal_mask(LENGTH)
    mask = causal if mask is None else mask & causal
"""
_EMBED = "embed(ids, table, positions, scale=math.sqrt(d_model))"
_CAUSAL = "causal_mask(np.shape(target)[-1])"
_LOG_SOFTMAX = 'log_softmax(linear(x, as_float(params["W_head"]), None))'
_SELF = 'multihead_attention(x, subset(params, "attn."), n_heads, target_mask)'
_NORMED = "A post-norm block normalizes the stream after each of its three steps."
_POSITIONS = "positions = sinusoidal_positions(np.shape(ids)[-1], d_model).astype(table.dtype)"
_WHICH_BLOCKS = 'encoder_block(x, subset(params, f"encoder.{i}."), config.n_heads, mask)'

mistake = MISTAKES.for_functions("encoder_decoder.encoder_block")
mistake("norm-before", 'norm="post"', 'norm="pre"', common=True).explain("""
    the norms stand before the steps, not after them
    why: The transformer of 2017 normalizes each sum; "pre" came later.
    ask: Which form does block take if you do not say one?""")
mistake("gelu", 'activation="relu"', 'activation="gelu"', common=True).explain("""
    the activation is GELU instead of ReLU
    why: The transformer of 2017 has ReLU; GELU is the default of block.
    ask: Which activation does block take if you do not say one?""")
mistake("mask-ignored", "n_heads, mask, norm", "n_heads, None, norm", common=True).explain("""
    the mask is not passed on
    why: The padding of short texts is looked at like real tokens.
    ask: Which of the arguments does your code use?""")
mistake(
    "mask-inverted", "n_heads, mask, norm", "n_heads, None if mask is None else ~mask, norm", common=True
).explain("""
    the mask is inverted: True was taken for padding
    why: Here True means that the query may look at the key; in some libraries it means the opposite.
    ask: What does True in the mask stand for, according to the docstring?""")
mistake(
    "causal", "    return block(", _CAUSAL_LINES.replace("LENGTH", "np.shape(x)[-2]") + "    return block("
).explain("""
    the encoder's tokens do not look ahead: there is a causal mask
    why: The whole source is known. Only the decoder writes from left to right.
    ask: Who added a mask that nobody asked for?""")
mistake("one-head", "n_heads, mask, norm", "1, mask, norm").explain("""
    n_heads is not passed on: there is one head
    why: The shapes are the same for any number of heads.
    ask: What do you give on as the number of heads?""")

mistake = MISTAKES.for_functions("encoder_decoder.decoder_block")
mistake("no-memory", "n_heads, source_mask, memory", "n_heads, target_mask", common=True).explain("""
    the second attention looks at the target itself, not at the memory
    why: The decoder then knows nothing of the source; it can only make up likely texts.
    ask: Where do the keys and values of the second attention come from?""")
mistake(
    "queries-from-memory",
    "        after_attention, subset",
    "        memory, subset",
    "n_heads, source_mask, memory",
    "n_heads, source_mask, after_attention",
).explain("""
    queries and memory are exchanged in the second attention
    why: The one who asks is the decoder. What comes out must have as many positions as the target.
    ask: Which of the two sequences asks, and which one answers?""")
mistake("queries-from-x", "        after_attention, subset", "        x, subset").explain("""
    the second attention's queries come from x, not from the stream after the first step
    why: What the self attention found out should guide what is looked for in the source.
    ask: What is the stream by the time the second step begins?""")
mistake("shared-attention", '"source_attn."', '"attn."').explain("""
    both attentions use the parameters of the first one
    why: The two have different tasks, and matrices of their own.
    ask: Which prefix do the parameters of the second attention have?""")
mistake(
    "source-first",
    '(x, subset(params, "attn."), n_heads, target_mask)',
    '(x, subset(params, "source_attn."), n_heads, source_mask, memory)',
    'after_attention, subset(params, "source_attn."), n_heads, source_mask, memory',
    'after_attention, subset(params, "attn."), n_heads, target_mask',
).explain("""
    the memory is looked at before the self attention
    why: The order is: the target itself, the source, then each position alone.
    ask: Which attention comes first in the docstring's formulas?""")
mistake("target-mask-ignored", '"attn."), n_heads, target_mask', '"attn."), n_heads, None', common=True).explain("""
    the target mask is not used in the self attention
    why: The decoder sees the tokens that it is to write.
    ask: Which of the two attentions gets which mask?""")
mistake("source-mask-ignored", "n_heads, source_mask, memory", "n_heads, None, memory", common=True).explain("""
    the source mask is not used in the second attention
    why: The decoder looks at the padding of short sources.
    ask: Which of the two attentions gets which mask?""")
mistake(
    "always-causal",
    "    x = as_float(x)\n",
    "    x = as_float(x)\n    if target_mask is None:\n        target_mask = causal_mask(x.shape[-2])\n",
).explain("""
    without a target mask, a causal one is used
    why: The block does what it is told; the causal mask is made in decode.
    ask: Which of your lines makes a mask, and who asked for it?""")
mistake("gelu", ', activation="relu"', "", common=True).explain("""
    the activation is GELU instead of ReLU
    why: The transformer of 2017 has ReLU; GELU is the default of ffn.
    ask: Which activation does ffn take if you do not say one?""")
mistake("no-first-residual", "ln1_in = x + attn_out", "ln1_in = attn_out").explain("""
    x is not added to the output of the self attention
    why: The stream must be able to run past each step.
    ask: Each of the three steps adds to the stream. Do yours?""")
mistake("no-second-residual", "ln2_in = after_attention + source_out", "ln2_in = source_out", common=True).explain("""
    the stream is not added to what was found in the source
    why: The stream must be able to run past each step.
    ask: Each of the three steps adds to the stream. Do yours?""")
mistake("second-residual-from-x", "ln2_in = after_attention + source_out", "ln2_in = x + source_out").explain("""
    x is added after the second step, instead of the stream after the first
    why: What the self attention found out is then lost to the stream.
    ask: Which array is *the stream* by the time the second step is done?""")
mistake("third-residual-too-early", "= after_source_attention + ffn_out", "= after_attention + ffn_out").explain("""
    the stream from before the second step is added after the third
    why: What was found in the source is then lost to the stream.
    ask: Which array does the feed-forward network read? The same one is added to its output.""")
mistake("norms-exchanged", "ln1, ln2, ln3 = subset", "ln1, ln3, ln2 = subset").explain("""
    ln2 and ln3 are exchanged
    why: With gamma 1 and beta 0 nothing shows.
    ask: Which norm belongs to the attention to the memory?""")
mistake("second-norm-missing", "= layernorm(ln2_in, **ln2)", "= ln2_in").explain("""
    there is no norm after the second step
    why: A decoder block has three steps, and a norm after each of them.
    ask: How many norms are there in params, and how many in your code?""")
mistake(
    "norms-before",
    _SELF,
    _SELF.replace("(x,", "(layernorm(x, **ln1),"),
    "after_attention = layernorm(ln1_in, **ln1)",
    "after_attention = ln1_in",
    "        after_attention, subset(params",
    "        layernorm(ln1_in, **ln2), subset(params",
    "after_source_attention = layernorm(ln2_in, **ln2)",
    "after_source_attention = ln2_in",
    "ffn(after_source_attention,",
    "ffn(layernorm(ln2_in, **ln3),",
    "after_ffn = layernorm(ln3_in, **ln3)",
    "after_ffn = ln3_in",
).explain("""
    the norms stand before the steps, not after them
    why: That is GPT-2's block. The transformer of 2017 normalizes the sum.
    ask: What is handed to ln1 in the formula: x, or a sum?""")
mistake("first-norm-missing", "after_attention = layernorm(ln1_in, **ln1)", "after_attention = ln1_in").explain(f"""
    there is no norm after the first step
    why: {_NORMED}
    ask: How many norms do the parameters hold, and how many do you use?""")
mistake("last-norm-missing", "after_ffn = layernorm(ln3_in, **ln3)", "after_ffn = ln3_in").explain(f"""
    there is no norm after the last step
    why: {_NORMED}
    ask: How many norms do the parameters hold, and how many do you use?""")
mistake("second-norm-twice", "after_ffn = layernorm(ln3_in, **ln3)", "after_ffn = layernorm(ln3_in, **ln2)").explain("""
    ln2 was used after the last step, too, where ln3 belongs
    why: A decoder block has three norms, an encoder block two.
    ask: Which of the norms has not been used when your block ends?""")
mistake(
    "masks-exchanged",
    _SELF,
    _SELF.replace("target_mask", "source_mask"),
    "n_heads, source_mask, memory",
    "n_heads, target_mask, memory",
).explain("""
    the two masks were exchanged
    why: The mask of the target belongs to the self attention, that of the source to the attention to the memory.
    ask: What does each attention look at? Which mask has as many keys?""")

mistake = MISTAKES.for_functions("encoder_decoder.encode")
mistake("not-scaled", ", scale=math.sqrt(d_model)", "", common=True, inside="_embed").explain("""
    the token vectors were not multiplied by √D
    why: Their entries are about 1/√D in size; without the factor the positions drown them out.
    ask: How large are the entries of W_source compared with a sine?""")
mistake(
    "positions-scaled-too", _EMBED, "embed(ids, table, positions) * math.sqrt(d_model)", inside="_embed"
).explain("""
    the positions were multiplied by √D, too
    why: Only the token vectors are small; the sines and cosines have the right size.
    ask: Which comes first, the factor or the sum?""")
mistake("scaled-by-d", "math.sqrt(d_model)", "d_model", inside="_embed").explain("""
    the token vectors were multiplied by D, without the root
    why: They then drown out the positions.
    ask: Compare the factor with the formula.""")
mistake(
    "no-positions", "embed(ids, table, positions", "embed(ids, table, positions * 0", common=True, inside="_embed"
).explain("""
    the positions were not added
    why: Attention does not know any order: to it, a text is a bag of words.
    ask: If two tokens change places, what changes in the stream before the first block?""")
mistake("wrong-table", 'params["W_source"]', 'params["W_target"]').explain("""
    the source tokens were looked up in the table of the target
    why: Each language has a table of its own, and a vocabulary of its own size.
    ask: Which of the two tables belongs to the encoder?""")
mistake("mask-ignored", "None if source_mask is None else padding_mask(source_mask)", "None", common=True).explain("""
    the source mask is not used
    why: The padding of short texts is looked at like real tokens.
    ask: What becomes of source_mask in your code?""")
mistake("mask-inverted", "padding_mask(source_mask)", "padding_mask(~source_mask)").explain("""
    the source mask is inverted: True was taken for padding
    why: Here True stands for a real token.
    ask: What does True in source_mask stand for, according to the docstring?""")
mistake("mask-without-axes", "padding_mask(source_mask)", "np.asarray(source_mask)").explain("""
    the source mask was used as it is, without axes for the heads and the queries
    why: (B, S) is broadcast against (B, H, S, S) from the right: the text's number is then taken for a query's.
    ask: Which axes of (B, H, S, S) should the axes B and S of the mask line up with?""")
mistake("first-block-always", 'f"encoder.{i}."', '"encoder.0."', common=True).explain("""
    every block uses the parameters of the first one
    why: Each block has parameters of its own.
    ask: Does the loop's variable appear in the names of the parameters?""")
mistake("one-block", "encoder_block(x, ", 'encoder_block(cache["source_embedded"], ').explain("""
    there is only one block
    why: The configuration says how many there are.
    ask: Does the output of each block go into the next one?""")
mistake(
    "causal", "    x = _embed(", _CAUSAL_LINES.replace("LENGTH", "np.shape(source)[-1]") + "    x = _embed("
).explain("""
    the encoder's tokens do not look ahead: there is a causal mask
    why: The whole source is known. Only the decoder writes from left to right.
    ask: Who added a mask that nobody asked for?""")
mistake(
    "final-norm",
    "    return x, cache",
    "    return layernorm(x, np.ones(x.shape[-1], x.dtype), np.zeros(x.shape[-1], x.dtype)), cache",
).explain("""
    the memory was normalized once more at the end
    why: Every block of 2017 ends with a norm already; the extra one belongs to pre-norm models such as GPT-2.
    ask: What does the docstring say about the end of the encoder?""")
mistake(
    "positions-from-one", _POSITIONS, _POSITIONS.replace("[-1], d_model)", "[-1] + 1, d_model)[1:]"), inside="_embed"
).explain("""
    the positions were counted from 1
    why: The first token stands at position 0, where all sines are 0 and all cosines 1.
    ask: What is row 0 of sinusoidal_positions?""")
mistake("divided", "scale=math.sqrt(d_model)", "scale=1 / math.sqrt(d_model)", inside="_embed").explain("""
    the token vectors were divided by √D, not multiplied
    why: A small table is made large enough to stand beside the positions.
    ask: Which operation stands between √D and the table in the formula?""")
mistake("blocks-reversed", "for i in range(config.n_layers):", "for i in reversed(range(config.n_layers)):").explain("""
    the blocks are gone through from the last to the first
    why: That is the order of the backward pass.
    ask: Which block reads the embedding?""")
mistake("decoder-blocks", _WHICH_BLOCKS, _WHICH_BLOCKS.replace("encoder.{i}", "decoder.{i}")).explain("""
    the parameters of the decoder's blocks were used
    why: Both stacks have attn, ffn, ln1 and ln2, so nothing complains.
    ask: Which prefix do the names of the encoder's parameters have?""")

mistake = MISTAKES.for_functions("encoder_decoder.decode")
mistake("not-causal", _CAUSAL, "np.ones((np.shape(target)[-1],) * 2, dtype=bool)", common=True).explain("""
    there is no causal mask: every position sees the future
    why: In training the answer to each question stands in the question; the loss falls, and the model can do nothing.
    ask: May position 0 look at position 1? Which of your lines forbids it?""")
mistake(
    "padding-replaces-causal", "mask & padding_mask(target_mask)", "padding_mask(target_mask)", common=True
).explain("""
    with a target mask, the causal one is forgotten
    why: Both must allow it: a position looks at tokens that are real and not after itself.
    ask: How do you combine two masks so that both have to be True?""")
mistake("either-mask", "mask & padding_mask", "mask | padding_mask").explain("""
    the two masks were combined with or instead of and
    why: Both must allow it: a position looks at tokens that are real and not after itself.
    ask: How do you combine two masks so that both have to be True?""")
mistake("one-ahead", _CAUSAL, "np.tri(np.shape(target)[-1], k=1, dtype=bool)").explain("""
    every position sees the next one, too
    why: The next token is the answer.
    ask: Position 0 may look at how many tokens?""")
mistake("not-itself", _CAUSAL, "np.tri(np.shape(target)[-1], k=-1, dtype=bool)").explain("""
    no position sees itself
    why: The token at a position is what has been written last, and known.
    ask: Position 0 may look at how many tokens?""")
mistake("target-mask-ignored", "mask & padding_mask(target_mask)", "mask & True", common=True).explain("""
    the target mask is not used
    why: The padding of short targets is looked at like real tokens.
    ask: What becomes of target_mask in your code?""")
mistake("source-mask-ignored", "source_mask = padding_mask(source_mask)", "source_mask = None", common=True).explain("""
    the source mask is not used
    why: The decoder looks at the padding of short sources.
    ask: What becomes of source_mask in your code?""")
mistake("first-block-always", 'f"decoder.{i}."', '"decoder.0."').explain("""
    every block uses the parameters of the first one
    why: Each block has parameters of its own.
    ask: Does the loop's variable appear in the names of the parameters?""")
mistake(
    "memory-replaced",
    '        cache["decoder_caches"]',
    '        memory, source_mask = x, None\n        cache["decoder_caches"]',
).explain("""
    from the second block on, the memory is the output of the block before
    why: All blocks look at the same memory: what the encoder returned.
    ask: Which variable do you overwrite in the loop?""")
mistake("not-scaled", ", scale=math.sqrt(d_model)", "", common=True, inside="_embed").explain("""
    the token vectors were not multiplied by √D
    why: Their entries are about 1/√D in size; without the factor the positions drown them out.
    ask: How large are the entries of W_target compared with a sine?""")
mistake("no-positions", "embed(ids, table, positions", "embed(ids, table, positions * 0", inside="_embed").explain("""
    the positions were not added
    why: Attention does not know any order: to it, a text is a bag of words.
    ask: If two tokens change places, what changes in the stream before the first block?""")
mistake("wrong-table", '_embed(target, params["W_target"]', '_embed(target, params["W_source"]').explain("""
    the target tokens were looked up in the table of the source
    why: Each language has a table of its own, and a vocabulary of its own size.
    ask: Which of the two tables belongs to the decoder?""")
mistake("scores", _LOG_SOFTMAX, 'linear(x, as_float(params["W_head"]), None)', common=True).explain("""
    the scores were returned, without log-softmax
    why: A loss that only picks out the right entry needs log-probabilities: their exponentials add up to 1.
    ask: What is np.exp(log_probs).sum(axis=-1) for your result?""")
mistake("probabilities", _LOG_SOFTMAX, f"np.exp({_LOG_SOFTMAX})", common=True).explain("""
    probabilities were returned instead of their logarithms
    why: A logarithm of a probability is negative or 0.
    ask: What is np.exp(log_probs).sum(axis=-1) for your result?""")
mistake("log-of-softmax", _LOG_SOFTMAX, f"np.log(np.exp({_LOG_SOFTMAX}))").explain("""
    the logarithm was taken of the softmax: log of 0 for unlikely tokens
    why: The exponential of -800 is 0 in the computer, and its logarithm is -inf.
    ask: Which function of assignment 2 does both at once?""")
mistake("wrong-axis", _LOG_SOFTMAX, _LOG_SOFTMAX.replace("None))", "None), axis=-2)")).explain("""
    log-softmax was taken over the positions instead of the tokens of the vocabulary
    why: The probabilities of all tokens at one position add up to 1, not those of one token at all positions.
    ask: Over which axis of (B, T, Vt) is a choice made?""")
mistake("last-position-only", _LOG_SOFTMAX, f"{_LOG_SOFTMAX}[..., -1:, :]").explain("""
    only the last position's log-probabilities were returned
    why: In training all positions are asked at once; to write, greedy_decode picks the last one itself.
    ask: What is the shape of the result, according to the docstring?""")
mistake("tied-head", 'as_float(params["W_head"])', 'as_float(params["W_target"]).T').explain("""
    the head uses the token table instead of W_head
    why: Some models share the two; here the head has a matrix of its own.
    ask: Which entry of params have you not used?""")
mistake("upper-triangle", "causal_mask(np.shape(target)[-1])", "causal_mask(np.shape(target)[-1]).T").explain("""
    the upper triangle of the causal mask was kept: every position sees itself and the future
    why: A model that sees the next token needs not learn to predict it.
    ask: Rows are queries, columns are keys. Which keys may the first query see?""")
