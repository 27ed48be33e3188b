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
_POSITIONS = "positions = sinusoidal_positions(np.shape(ids)[-1], d_model).astype(table.dtype)"
_WHICH_BLOCKS = 'encoder_block(x, subset(params, f"encoder.{i}."), config.n_heads, mask)'

mistake = MISTAKES.for_functions("encoder_decoder.encoder_block", "encoder_decoder.decoder_block")
mistake("gelu", 'activation="relu"', 'activation="gelu"', common=True).explain("""
    the activation is GELU instead of ReLU
    why: The 2017 transformer uses ReLU. GELU is the default of the functions from earlier assignments.
    ask: Which activation do you get if you do not choose one?""")

mistake = MISTAKES.for_functions("encoder_decoder.encoder_block")
mistake("norm-before", 'norm="post"', 'norm="pre"', common=True).explain("""
    the norms come before the steps, not after them
    why: The 2017 transformer normalizes after each addition (post-norm). Pre-norm came later.
    ask: Which form does block use if you do not choose one?""")
mistake("mask-ignored", "n_heads, mask, norm", "n_heads, None, norm", common=True).explain("""
    the mask was not passed on
    why: The tokens of short texts then attend to padding.
    ask: Which of the arguments does your code use?""")
mistake(
    "mask-inverted", "n_heads, mask, norm", "n_heads, None if mask is None else ~mask, norm", common=True
).explain("""
    the mask was inverted: True was taken for padding
    why: Here, True means that the query may attend to the key. In some libraries it means the opposite.
    ask: What does True in the mask mean, according to the docstring?""")
mistake(
    "causal", "    return block(", _CAUSAL_LINES.replace("LENGTH", "np.shape(x)[-2]") + "    return block("
).explain("""
    a causal mask was used in the encoder
    why: The whole source is known from the start, so every position may attend to later ones. Only the decoder is
         causal.
    ask: Which masks does the docstring mention, and which ones does your code use?""")
mistake("one-head", "n_heads, mask, norm", "1, mask, norm").explain("""
    n_heads was not passed on: attention uses one head
    why: The shapes are the same for any number of heads, so there is no error.
    ask: Which number of heads does your code pass on?""")

mistake = MISTAKES.for_functions("encoder_decoder.decoder_block")
mistake("no-memory", "n_heads, source_mask, memory", "n_heads, target_mask", common=True).explain("""
    the second attention attends to the target itself, not to the memory
    why: The decoder then gets no information about the source.
    ask: Where do the keys and values of the second attention come from?""")
mistake(
    "queries-from-memory",
    "        after_attention, subset",
    "        memory, subset",
    "n_heads, source_mask, memory",
    "n_heads, source_mask, after_attention",
).explain("""
    the stream and the memory were exchanged in the second attention
    why: The queries come from the decoder's stream. The result must have as many positions as the target.
    ask: Which of the two sequences should the queries come from, and which one the keys and values?""")
mistake("queries-from-x", "        after_attention, subset", "        x, subset").explain("""
    the queries of the second attention come from x, not from the stream
    why: The stream after the first step contains the result of the self attention, which the queries should use.
    ask: Which array is the stream when the second step begins?""")
mistake("shared-attention", '"source_attn."', '"attn."').explain("""
    both attentions use the parameters of the self attention
    why: The two attentions have different tasks, and separate matrices.
    ask: Which prefix do the parameters of the second attention have?""")
mistake(
    "source-first",
    '(x, subset(params, "attn."), n_heads, target_mask)',
    '(x, subset(params, "source_attn."), n_heads, source_mask, memory)',
    'after_attention, subset(params, "source_attn."), n_heads, source_mask, memory',
    'after_attention, subset(params, "attn."), n_heads, target_mask',
).explain("""
    the source attention comes before the self attention
    why: The order is: self attention, source attention, feed-forward network.
    ask: Which attention comes first in the formulas of the docstring?""")
mistake("target-mask-ignored", '"attn."), n_heads, target_mask', '"attn."), n_heads, None', common=True).explain("""
    the target mask was not used in the self attention
    why: Positions can then attend to tokens that the mask excludes: padding, and the tokens they should predict.
    ask: Which of the two attentions gets which mask?""")
mistake("source-mask-ignored", "n_heads, source_mask, memory", "n_heads, None, memory", common=True).explain("""
    the source mask was not used in the second attention
    why: The decoder then attends to the padding of short sources.
    ask: Which of the two attentions gets which mask?""")
mistake(
    "always-causal",
    "    x = as_float(x)\n",
    "    x = as_float(x)\n    if target_mask is None:\n        target_mask = causal_mask(x.shape[-2])\n",
).explain("""
    without a target mask, a causal mask was used
    why: decoder_block uses its masks unchanged. The causal mask is created in decode.
    ask: Which of your lines creates a mask? What does the docstring say about target_mask=None?""")
mistake("no-first-residual", "ln1_in = x + attn_out", "ln1_in = attn_out").explain("""
    x was not added to the output of the self attention
    why: Each step adds its output to the residual stream. Without that, the previous content of the stream is lost.
    ask: Each of the three steps adds to the stream. Do yours?""")
mistake("no-second-residual", "ln2_in = after_attention + source_out", "ln2_in = source_out", common=True).explain("""
    the stream was not added to the output of the source attention
    why: Each step adds its output to the residual stream. Without that, the previous content of the stream is lost.
    ask: Each of the three steps adds to the stream. Do yours?""")
mistake("second-residual-from-x", "ln2_in = after_attention + source_out", "ln2_in = x + source_out").explain("""
    x was added after the second step, instead of the stream after the first
    why: The result of the first step is then missing from the stream.
    ask: Which array is the stream when the second step begins?""")
mistake("third-residual-too-early", "= after_source_attention + ffn_out", "= after_attention + ffn_out").explain("""
    the stream before the second step was added after the third
    why: The result of the source attention is then missing from the stream.
    ask: Which array does the feed-forward network read? The same one should be added to its output.""")
mistake("norms-exchanged", "ln1, ln2, ln3 = subset", "ln1, ln3, ln2 = subset").explain("""
    ln2 and ln3 were exchanged
    why: The mistake stays hidden as long as every gamma is 1 and every beta 0.
    ask: Which norm follows the source attention?""")
mistake("second-norm-missing", "= layernorm(ln2_in, **ln2)", "= ln2_in").explain("""
    there is no norm after the second step
    why: A post-norm block normalizes the stream after each of its three steps.
    ask: How many norms are there in params, and how many does your code use?""")
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
    the norms come before the steps, not after them
    why: That is pre-norm, the form of GPT-2. The 2017 transformer normalizes after each addition.
    ask: What is passed to ln1 in the formula: x, or a sum?""")
mistake("first-norm-missing", "after_attention = layernorm(ln1_in, **ln1)", "after_attention = ln1_in").explain("""
    there is no norm after the first step
    why: A post-norm block normalizes the stream after each of its three steps.
    ask: How many norms are there in params, and how many does your code use?""")
mistake("last-norm-missing", "after_ffn = layernorm(ln3_in, **ln3)", "after_ffn = ln3_in").explain("""
    there is no norm after the last step
    why: A post-norm block normalizes the stream after each of its three steps.
    ask: How many norms are there in params, and how many does your code use?""")
mistake("second-norm-twice", "after_ffn = layernorm(ln3_in, **ln3)", "after_ffn = layernorm(ln3_in, **ln2)").explain("""
    ln2 was used after the last step, too, instead of ln3
    why: A decoder block has three norms, an encoder block two.
    ask: Which of the norms in params does your code not use?""")
mistake(
    "masks-exchanged",
    _SELF,
    _SELF.replace("target_mask", "source_mask"),
    "n_heads, source_mask, memory",
    "n_heads, target_mask, memory",
).explain("""
    the two masks were exchanged
    why: The target mask belongs to the self attention, the source mask to the source attention.
    ask: Which sequence do the keys of each attention come from, and which mask has as many columns?""")

mistake = MISTAKES.for_functions("encoder_decoder.encode", "encoder_decoder.decode")
mistake("not-scaled", ", scale=math.sqrt(d_model)", "", common=True, inside="_embed").explain("""
    the token vectors were not multiplied by √D
    why: Their entries are about 1/√D in size. Without the factor, they are small compared with the position vectors.
    ask: How large are the entries of the token table compared with a sine?""")
mistake(
    "no-positions", "embed(ids, table, positions", "embed(ids, table, positions * 0", common=True, inside="_embed"
).explain("""
    the positions were not added
    why: Attention itself does not depend on the order of the keys. The position vectors provide the order.
    ask: If two tokens change places, what changes in the stream before the first block?""")
mistake("first-block-always", 'coder.{i}."', 'coder.0."', common=True).explain("""
    every block uses the parameters of the first one
    why: Each block has its own parameters.
    ask: Does the loop variable appear in the names of the parameters that you pass on?""")

mistake = MISTAKES.for_functions("encoder_decoder.encode")
mistake(
    "positions-scaled-too", _EMBED, "embed(ids, table, positions) * math.sqrt(d_model)", inside="_embed"
).explain("""
    the positions were multiplied by √D, too
    why: Only the token vectors are small. The sines and cosines already have the right size.
    ask: Does the formula scale first or add first?""")
mistake("scaled-by-d", "math.sqrt(d_model)", "d_model", inside="_embed").explain("""
    the token vectors were multiplied by D, without the root
    why: They are then large compared with the position vectors.
    ask: Which factor does the formula have, and which one does your code use?""")
mistake("wrong-table", 'params["W_source"]', 'params["W_target"]').explain("""
    the source tokens were looked up in the table of the target
    why: Each vocabulary has its own table, and its own size.
    ask: Which of the two tables belongs to the encoder?""")
mistake("mask-ignored", "None if source_mask is None else padding_mask(source_mask)", "None", common=True).explain("""
    the source mask was not used
    why: The tokens of short texts then attend to padding.
    ask: Where does your code use source_mask?""")
mistake("mask-inverted", "padding_mask(source_mask)", "padding_mask(~source_mask)").explain("""
    the source mask was inverted: True was taken for padding
    why: Here, True means a real token.
    ask: What does True in source_mask mean, according to the docstring?""")
mistake("mask-without-axes", "padding_mask(source_mask)", "np.asarray(source_mask)").explain("""
    the source mask has no axes for the heads and the queries
    why: (B, S) is broadcast against (B, H, S, S) from the right, so its first axis is matched with the queries, not
         with the batch.
    ask: Which axes of (B, H, S, S) should the axes B and S of the mask match?""")
mistake("one-block", "encoder_block(x, ", 'encoder_block(cache["source_embedded"], ').explain("""
    every block reads the embedding, so only the last one has an effect
    why: Each block should read the output of the block before it.
    ask: What is the input of your second block?""")
mistake(
    "causal", "    x = _embed(", _CAUSAL_LINES.replace("LENGTH", "np.shape(source)[-1]") + "    x = _embed("
).explain("""
    a causal mask was used in the encoder
    why: The whole source is known from the start, so every position may attend to later ones. Only the decoder is
         causal.
    ask: Which masks does the docstring mention, and which ones does your code use?""")
mistake(
    "final-norm",
    "    return x, cache",
    "    return layernorm(x, np.ones(x.shape[-1], x.dtype), np.zeros(x.shape[-1], x.dtype)), cache",
).explain("""
    the memory was normalized once more at the end
    why: Every post-norm block already ends with a norm. The extra one belongs to pre-norm models such as GPT-2.
    ask: What does the docstring say about a layer norm after the last block?""")
mistake(
    "positions-from-one", _POSITIONS, _POSITIONS.replace("[-1], d_model)", "[-1] + 1, d_model)[1:]"), inside="_embed"
).explain("""
    the positions were counted from 1
    why: The first token has position 0, where all sines are 0 and all cosines 1.
    ask: What is row 0 of sinusoidal_positions?""")
mistake("divided", "scale=math.sqrt(d_model)", "scale=1 / math.sqrt(d_model)", inside="_embed").explain("""
    the token vectors were divided by √D, not multiplied
    why: The entries of the table are small. The factor brings them to the size of the position vectors.
    ask: Does the formula multiply the table by √D or divide it?""")
mistake("blocks-reversed", "for i in range(config.n_layers):", "for i in reversed(range(config.n_layers)):").explain("""
    the blocks were applied from the last to the first
    why: That is the order of the backward pass.
    ask: Which block reads the embedding?""")
mistake("decoder-blocks", _WHICH_BLOCKS, _WHICH_BLOCKS.replace("encoder.{i}", "decoder.{i}")).explain("""
    the encoder used the parameters of the decoder's blocks
    why: Both stacks have parameters named attn, ffn, ln1 and ln2, so there is no error.
    ask: Which prefix do the names of the encoder's parameters have?""")

mistake = MISTAKES.for_functions("encoder_decoder.decode")
mistake("not-causal", _CAUSAL, "np.ones((np.shape(target)[-1],) * 2, dtype=bool)", common=True).explain("""
    there is no causal mask: every position attends to later positions
    why: In training, each position can then read the token that it should predict: the loss falls, but the model
         learns nothing useful.
    ask: May position 0 attend to position 1? Which of your lines prevents it?""")
mistake(
    "padding-replaces-causal", "mask & padding_mask(target_mask)", "padding_mask(target_mask)", common=True
).explain("""
    with a target mask, the causal mask was not used
    why: Both masks must allow a key: a position attends to real tokens that do not come after it.
    ask: How do you combine two masks so that both have to be True?""")
mistake("either-mask", "mask & padding_mask", "mask | padding_mask").explain("""
    the two masks were combined with "or" instead of "and"
    why: Both masks must allow a key: a position attends to real tokens that do not come after it.
    ask: How do you combine two masks so that both have to be True?""")
mistake("one-ahead", _CAUSAL, "np.tri(np.shape(target)[-1], k=1, dtype=bool)").explain("""
    every position attends to the next one, too
    why: The next token is the one that should be predicted.
    ask: How many tokens may position 0 attend to?""")
mistake("not-itself", _CAUSAL, "np.tri(np.shape(target)[-1], k=-1, dtype=bool)").explain("""
    no position attends to itself
    why: The token at a position is the last one that was written, and it is known.
    ask: How many tokens may position 0 attend to?""")
mistake("target-mask-ignored", "mask & padding_mask(target_mask)", "mask & True", common=True).explain("""
    the target mask was not used
    why: The tokens of short targets then attend to padding.
    ask: Where does your code use target_mask?""")
mistake("source-mask-ignored", "source_mask = padding_mask(source_mask)", "source_mask = None", common=True).explain("""
    the source mask was not used
    why: The decoder then attends to the padding of short sources.
    ask: Where does your code use source_mask?""")
mistake(
    "memory-replaced",
    '        cache["decoder_caches"]',
    '        memory, source_mask = x, None\n        cache["decoder_caches"]',
).explain("""
    from the second block on, the memory was replaced by the previous block's output
    why: All blocks attend to the same memory: the one that encode returned.
    ask: Which variable does your loop overwrite?""")
mistake("wrong-table", '_embed(target, params["W_target"]', '_embed(target, params["W_source"]').explain("""
    the target tokens were looked up in the table of the source
    why: Each vocabulary has its own table, and its own size.
    ask: Which of the two tables belongs to the decoder?""")
mistake("scores", _LOG_SOFTMAX, 'linear(x, as_float(params["W_head"]), None)', common=True).explain("""
    the scores were returned, without log-softmax
    why: The loss picks out the log-probability of the correct token, so the result must be log-probabilities.
    ask: What is np.exp(log_probs).sum(axis=-1) for your result?""")
mistake("probabilities", _LOG_SOFTMAX, f"np.exp({_LOG_SOFTMAX})", common=True).explain("""
    probabilities were returned instead of their logarithms
    why: The logarithm of a probability is negative or 0.
    ask: What is np.exp(log_probs).sum(axis=-1) for your result?""")
mistake("log-of-softmax", _LOG_SOFTMAX, f"np.log(np.exp({_LOG_SOFTMAX}))").explain("""
    the logarithm of the softmax was taken: log of 0 for unlikely tokens
    why: exp(-800) is rounded to 0, and the logarithm of 0 is -inf.
    ask: Which function of assignment 2 does both at once?""")
mistake("wrong-axis", _LOG_SOFTMAX, _LOG_SOFTMAX.replace("None))", "None), axis=-2)")).explain("""
    log-softmax was taken over the positions, not over the vocabulary
    why: The probabilities of all tokens at one position add up to 1, not those of one token at all positions.
    ask: Which axis of (B, T, Vt) should the probabilities add up to 1 along?""")
mistake("last-position-only", _LOG_SOFTMAX, f"{_LOG_SOFTMAX}[..., -1:, :]").explain("""
    only the log-probabilities of the last position were returned
    why: In training, every position makes a prediction. greedy_decode selects the last position itself.
    ask: What is the shape of the result, according to the docstring?""")
mistake("tied-head", 'as_float(params["W_head"])', 'as_float(params["W_target"]).T').explain("""
    the head uses the token table instead of W_head
    why: Some models share the two. Here, the head has its own matrix.
    ask: Which entry of params does your code not use?""")
mistake("upper-triangle", "causal_mask(np.shape(target)[-1])", "causal_mask(np.shape(target)[-1]).T").explain("""
    the mask keeps the upper triangle: every position attends to itself and later ones
    why: A model that sees the next token does not need to learn to predict it.
    ask: Rows are queries, columns are keys. Which keys may the first query attend to?""")
