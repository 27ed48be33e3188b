"""Mistakes in the forward pass of a Llama."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_LENGTH = "if length > config.block_size:"
_EMBED = 'x = embed_tokens(ids, params["W_tok"])'
_PARAMS = 'subset(params, f"blocks.{i}.")'
_CALL = f"llama_block(x, {_PARAMS}, config, mask)"
_STAGE = 'cache[f"blocks.{i}.{stage}"] = block_cache[stage]'
_FINAL = 'final = rmsnorm(x, params["norm_f.gamma"], config.norm_eps)'
_LAST = "return linear(final, _head(params, config), None), cache"

mistake = MISTAKES.for_functions("llama.llama")

# The blocks.
mistake("no-mask", _CALL, _CALL.replace(", mask", ""), common=True).explain("""
    there was no mask: every position attended to later positions
    why: In training, the model can then read the token that it should predict, and the loss falls suspiciously low.
    ask: Which argument of llama_block keeps a position from attending to later ones?""")
mistake("block-0-everywhere", _PARAMS, 'subset(params, "blocks.0.")', common=True).explain("""
    every block was given the parameters of block 0
    why: The parameters of the other blocks then have no effect.
    ask: Which prefix do you pass to subset in the second block?""")

# The beginning.
mistake("scaled-embedding", _EMBED, _EMBED + " * config.d_model**0.5").explain("""
    the token vectors were multiplied by √D
    why: The first transformer did that. Llama and GPT do not.
    ask: By which factor do cache["embedded"][0, 0] and params["W_tok"][ids[0, 0]] differ for ids of shape (1, 3)?""")
mistake(
    "sinusoids-added",
    _EMBED,
    "from embeddings import sinusoidal_positions\n\n"
    f"    {_EMBED}\n    x = x + sinusoidal_positions(length, config.d_model).astype(x.dtype)",
).explain("""
    sines and cosines were added to the token vectors
    why: Here the positions are in the rotations of the queries and keys, and nowhere else.
    ask: What does the first block get for the same token at two positions?""")

# The end.
mistake("no-last-norm", _FINAL, "final = x", common=True).explain("""
    the last norm is missing
    why: Pre-norm blocks never normalize the residual stream itself, so it grows from block to block.
    ask: While norm_f.gamma is 1, what the head reads should have a mean square of about 1. What is it in your code?""")
for name, condition, what in (
    ("tied-ignored", "False", "with a tied head, W_head was used"),
    ("always-tied", "True", "the token table was the head, although the head is not tied"),
):
    mistake(
        name,
        _LAST,
        _LAST.replace("_head(params, config)", f'params["W_tok"].T if {condition} else params["W_head"]'),
        common=True,
    ).explain(f"""
        {what}
        why: The configuration says whether the model has a head of its own.
        ask: What does your code do with config.tied?""")
mistake(
    "softmax-too",
    _LAST,
    "from softmax import softmax\n\n    return softmax(linear(final, _head(params, config), None)), cache",
).explain("""
    the result was probabilities, not scores
    why: The loss and next_token_probs apply softmax by themselves.
    ask: Can one of your scores be negative? What is softmax of the probabilities 1 and 0?""")
mistake(
    "last-position-only", _LAST, "return linear(final[..., -1:, :], _head(params, config), None), cache"
).explain("""
    only the scores of the last position were returned
    why: Training needs a prediction at every position.
    ask: Two texts of eight tokens have 16 targets. For how many of them do you return scores?""")
mistake(
    "always-float64", _LAST, 'return linear(final, _head(params, config), None).astype("float64"), cache'
).explain("""
    the scores were converted to float64
    why: float32 parameters should give float32 scores.
    ask: What is the dtype of your scores? Which line causes it?""")

# The errors and the cache.
mistake("any-length", _LENGTH, "if False:").explain("""
    a text longer than block_size was accepted
    why: Nothing fails by itself, because no table of positions ends. But the model was trained on no larger distances.
    ask: Which distance between two tokens occurs in a text of nine tokens, but in none of eight?""")
mistake("length-of-the-batch", "length = np.shape(ids)[-1]", "length = len(ids)").explain("""
    the number of texts was taken for their length
    why: ids is (B, T), and may have more axes or only one. T is the last.
    ask: What is len of an array of shape (3, 5)?""")
mistake("full-blocks-only", _LENGTH, "if length != config.block_size:").explain("""
    texts shorter than block_size were refused
    why: block_size is the largest length, not the only one.
    ask: What does your code do with a prompt of three tokens if block_size is 8?""")
mistake("ids-unchecked", _EMBED, 'x = np.asarray(params["W_tok"]).take(ids, axis=0, mode="wrap")').explain("""
    ids below 0 or not below V were accepted
    why: A negative index counts from the end in NumPy, so a wrong id gives the vector of another token.
    ask: Which of your functions checks the ids?""")
mistake(
    "weights-averaged",
    _STAGE,
    'cache[f"blocks.{i}.{stage}"] = block_cache[stage].mean(axis=-3) if stage == "weights" else block_cache[stage]',
).explain("""
    the weights in the cache were averaged over the heads
    why: Each head has weights of its own: (B, H, T, T).
    ask: Which axes does cache["blocks.0.weights"] have?""")
mistake(
    "stages-of-the-last-block",
    _STAGE,
    'for j in range(i + 1):\n                cache[f"blocks.{j}.{stage}"] = block_cache[stage]',
).explain("""
    the cache has the stages of the last block under the names of all blocks
    why: Each block has stages of its own.
    ask: What is stored under blocks.0.after_ffn when the second block has run?""")
mistake("stages-missing", _STAGE, "pass").explain("""
    the cache has no entries for the stages of the blocks
    why: Plots look for them there: an attention map of block 1 shows cache["blocks.1.weights"].
    ask: What does llama_block return besides x, and what does your loop do with it?""")
mistake("final-norm-before-norm", '|= {"last": x, "final_norm": final}', '|= {"last": x, "final_norm": x}').explain("""
    cache["final_norm"] holds the stream before the last norm
    why: It should be what the head reads.
    ask: Which array do you multiply by the head?""")
mistake("embedded-after-blocks", ': x, "final_norm": final', ': x, "final_norm": final, "embedded": x').explain("""
    cache["embedded"] holds the stream after the last block
    why: It should be the stream before the first block.
    ask: When do you store the entry, before or after the loop?""")
