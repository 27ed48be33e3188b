"""Mistakes in `gpt`: the GPT."""

from autograder.courses.transformer.gpt.mistakes.cache import MISTAKES as CACHE
from autograder.courses.transformer.gpt.mistakes.gradients import MISTAKES as GRADIENTS
from autograder.courses.transformer.gpt.mistakes.init import MISTAKES as INIT
from autograder.courses.transformer.gpt.mistakes.loss import MISTAKES as LOSS
from autograder.courses.transformer.gpt.mistakes.options import MISTAKES as OPTIONS
from autograder.courses.transformer.gpt.mistakes.size import MISTAKES as SIZE
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(INIT, SIZE, CACHE, LOSS, GRADIENTS, OPTIONS)

_MASK = "causal_mask(length)"
_BLOCK_OPTIONS = "config.n_heads, mask, config.norm, config.activation, config.dropout, rng)"
_EMBED = 'embed(ids, params["W_tok"], positions)'
_TOKENS = 'params["W_tok"][np.asarray(ids)]'
_NORM = 'layernorm(x, params["ln_f.gamma"], params["ln_f.beta"])'
_NORM_WITH_PRE = f'{_NORM} if config.norm == "pre" else x'
_TOO_LONG = """    if length > config.block_size:
        raise ValueError(f"{length} tokens do not fit into the block size of {config.block_size}")
"""
_UNCHECKED = f"{_TOKENS} + positions[:length]"

mistake = MISTAKES.for_functions("gpt.gpt")
mistake("no-final-norm", _NORM, "x", common=True).explain("""
    the last layer norm is missing
    why: Pre-norm blocks never normalize the residual stream itself, so it grows from block to block. The head needs a
         norm before it.
    ask: What comes between the last block and the head in the diagram at the top of the lesson?""")
mistake("no-mask", _MASK, "None", common=True).explain("""
    there was no mask: every position attended to later positions
    why: In training, the model can then read the token that it should predict, and the loss falls suspiciously low.
    ask: Do the scores at position 0 change when you change the last token?""")
mistake("same-block", 'f"blocks.{i}.")', '"blocks.0.")', common=True).explain("""
    every block was given the parameters of block 0
    why: The parameters of the other blocks then have no effect.
    ask: Which part of a parameter's name should change from one iteration of your loop to the next?""")
mistake("no-positions", _EMBED, _TOKENS, common=True).explain("""
    the positions were not added
    why: W_pos encodes the position of each token. Without it, the model has only the causal mask to tell positions
         apart.
    ask: Which of the two tables does your embedding use?""")
mistake("scaled", '["W_tok"], positions)', '["W_tok"], positions, math.sqrt(config.d_model))').explain("""
    the token vectors were multiplied by √D
    why: The 2017 transformer does that. GPT-2 adds the two tables without scaling.
    ask: W_tok and W_pos both start with numbers of about 0.02. How large are the terms of your sum with D = 64?""")
mistake("not-itself", _MASK, f"({_MASK} & ~np.eye(length, dtype=bool))").explain("""
    no position attended to itself: the mask excluded the diagonal
    why: The first position then attends to nothing at all.
    ask: Is the condition j < i or j ≤ i?""")
mistake("post-norm", _BLOCK_OPTIONS, _BLOCK_OPTIONS.replace("config.norm", '"post"')).explain("""
    the blocks used post-norm: the norm came after each step
    why: The 2017 transformer does that. GPT-2 normalizes before each step, and once more at the end.
    ask: If W_o, W_2 and all biases are 0, a block adds nothing to x. What should it return, and what does yours?""")
mistake("activation-ignored", _BLOCK_OPTIONS, _BLOCK_OPTIONS.replace("config.activation", '"gelu"')).explain("""
    config.activation was ignored: GELU was always used
    why: The mistake stays hidden with GELU, the default.
    ask: Which of the functions that you call needs the activation?""")
mistake("last-position-only", "return logits, cache", "return logits[..., -1, :], cache").explain("""
    only the scores of the last position were returned
    why: Those are enough to generate text. In training, every position makes a prediction.
    ask: Which shape should the scores of (B, T) tokens have?""")
mistake("last-block-missing", "range(config.n_layers)", "range(config.n_layers - 1)").explain("""
    the last block was left out
    why: range(n) already ends at n - 1, so range(n - 1) is one block short.
    ask: Which values does i take in your loop when there are two blocks?""")

mistake("block-size-off-by-one", "length > config.block_size", "length >= config.block_size").explain("""
    a text of exactly block_size tokens was rejected
    why: There are block_size positions, 0 to block_size - 1, so block_size tokens fit.
    ask: W_pos has the rows 0, 1, 2 and 3 if block_size is 4. Does a text of four tokens need a fifth?""")
mistake(
    "length-not-checked",
    _TOO_LONG,
    "",
    _EMBED,
    'embed(ids, params["W_tok"], np.zeros((length, config.d_model), positions.dtype)) + positions[:length]',
).explain("""
    a text that is longer than the block size was accepted
    why: There is no row of W_pos for its last tokens. With a block size of 1, broadcasting even hides that.
    ask: What does your function do with block_size + 1 tokens?""")
check = f'if np.max(ids) >= config.vocab_size:\n        raise ValueError("bad id")\n    x = {_UNCHECKED}'
mistake("negative-ids-accepted", f"x = {_EMBED}", check).explain("""
a negative id was accepted
why: An id must be in [0, V). A negative index counts from the end of the table, without an error.
ask: For which ids should your function raise ValueError?""")
mistake("two-axes-only", "length = np.shape(ids)[-1]", "_, length = np.shape(ids)").explain("""
the function works only for (B, T): B, T = ids.shape
why: A single text has the shape (T,), such as a prompt for `generate`: there is no B to unpack.
ask: Which axis of ids is T, whatever their number is?""")
mistake("always-float64", f"x = {_EMBED}", f"x = {_EMBED}.astype(np.float64)", common=True).explain("""
    everything was computed in float64
    why: float32 parameters should give float32 scores.
    ask: Which of your arrays is the first that is float64 when all parameters are float32?""")
mistake(
    "norm-after-every-block-too",
    "        block_caches.append(block_cache)\n",
    f"        block_caches.append(block_cache)\n        x = {_NORM_WITH_PRE}\n",
).explain("""
    the last layer norm was applied after every block, and once more at the end
    why: It is applied once, after the last block: it does not belong in the loop.
    ask: Which of your lines are inside the loop?""")
mistake(
    "table-reshaped",
    "_head(params, config)",
    '(params["W_tok"].reshape(config.d_model, -1) if config.tied else params["W_head"])',
).explain("""
    the token table was reshaped to (D, V), not transposed
    why: A reshape keeps the order of the entries, so its columns are not the vectors of the tokens.
    ask: Which column of the head belongs to token 0, and which row of W_tok does it equal?""")
