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
mistake("always-tied", "_head(params, config)", 'params["W_tok"].T').explain("""
    the token table was used as the head even with tied=False
    why: With tied=False, the model has a separate matrix, W_head.
    ask: Which matrix should be the head when config.tied is False?""")
mistake(
    "probabilities",
    "    return logits, cache",
    "    logits = np.exp(logits - logits.max(axis=-1, keepdims=True))\n"
    "    logits /= logits.sum(axis=-1, keepdims=True)\n"
    "    return logits, cache",
).explain("""
    probabilities were returned instead of scores
    why: The loss and generation apply softmax themselves, to the scores.
    ask: Can a score be negative? Can an entry of your result be negative?""")
mistake(
    "block-1-gets-block-10",
    'subset(params, f"blocks.{i}.")',
    '{name.split(".", 2)[2]: p for name, p in params.items() if name.startswith(f"blocks.{i}")}',
).explain("""
    block 1 was given the parameters of block 10
    why: Without its last dot, the prefix "blocks.1" also matches the names of block 10. With ten blocks or fewer, the
         mistake stays hidden.
    ask: Does "blocks.10.ln1.gamma" start with the prefix that you use for block 1?""")
mistake("scaled", '["W_tok"], positions)', '["W_tok"], positions, math.sqrt(config.d_model))').explain("""
    the token vectors were multiplied by √D
    why: The 2017 transformer does that. GPT-2 adds the two tables without scaling.
    ask: Does the formula in the docstring scale the token vectors?""")
mistake("mask-inverted", _MASK, f"~{_MASK}").explain("""
    the mask was inverted: True was taken to mean "forbidden"
    why: Every position then attends only to later positions, and the last one to nothing.
    ask: What does True mean in a mask of this course?""")
mistake("mask-upper", _MASK, f"{_MASK}.T").explain("""
    the mask kept the upper triangle: every position attended to itself and later ones
    why: A model that sees the next token does not need to learn to predict it.
    ask: Rows are queries, columns are keys. Which keys may the first query attend to?""")
mistake("not-itself", _MASK, f"({_MASK} & ~np.eye(length, dtype=bool))").explain("""
    no position attended to itself: the mask excluded the diagonal
    why: The first position then attends to nothing at all.
    ask: Is the condition j < i or j ≤ i?""")
mistake("one-head", _BLOCK_OPTIONS, _BLOCK_OPTIONS.replace("config.n_heads", "1")).explain("""
    attention used one head, not n_heads
    why: The shapes are the same for every number of heads that divides D, so there is no error.
    ask: Which of the functions that you call needs the number of heads?""")
mistake("post-norm", _BLOCK_OPTIONS, _BLOCK_OPTIONS.replace("config.norm", '"post"')).explain("""
    the blocks used post-norm: the norm came after each step
    why: The 2017 transformer does that. GPT-2 normalizes before each step, and once more at the end.
    ask: Which form of the block does the docstring name?""")
mistake("activation-ignored", _BLOCK_OPTIONS, _BLOCK_OPTIONS.replace("config.activation", '"gelu"')).explain("""
    config.activation was ignored: GELU was always used
    why: The mistake stays hidden with GELU, the default.
    ask: Which of the functions that you call needs the activation?""")
mistake("last-position-only", "return logits, cache", "return logits[..., -1, :], cache").explain("""
    only the scores of the last position were returned
    why: Those are enough to generate text. In training, every position makes a prediction.
    ask: Which shape should the scores of (B, T) tokens have?""")
mistake("scores-divided", "return logits, cache", "return logits / math.sqrt(config.d_model), cache").explain("""
    the scores were divided by √D
    why: Attention divides its scores by √d_k. The head is a plain matrix product.
    ask: What does the formula do after the product with W_head?""")
mistake("only-scores", "return logits, cache", "return logits").explain("""
    only the scores were returned, without the cache
    why: The backward pass and the plots read their intermediate results from the cache.
    ask: How many values does the docstring list under Returns?""")
mistake(
    "last-block-missing",
    "        block_caches.append(block_cache)\n",
    "        block_caches.append(block_cache)\n        streams[i] = x\n",
    "block_caches = []\n",
    "block_caches, streams = [], {-1: x}\n",
    "final = x  # (B, T, D)",
    "final = x = streams[config.n_layers - 2]",
).explain("""
    the last block was left out
    why: range(n) already ends at n - 1, so range(n - 1) is one block short.
    ask: Which values does i take in your loop when there are two blocks?""")

mistake("block-size-off-by-one", "length > config.block_size", "length >= config.block_size").explain("""
    a text of exactly block_size tokens was rejected
    why: There are block_size positions, 0 to block_size - 1, so block_size tokens fit.
    ask: What is the largest T that the docstring allows?""")
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
mistake(
    "length-not-checked-with-sines",
    "if length > config.block_size:",
    'if length > config.block_size and config.positions == "learned":',
    'embed(ids, params["W_tok"], positions)',
    'embed(ids, params["W_tok"], np.resize(positions, (max(length, len(positions)), config.d_model)))',
).explain("""
    with sinusoidal positions, a text that is longer than the block size was accepted
    why: Sines and cosines exist for any position, so nothing else fails. The model has seen block_size positions only.
    ask: What does your function do with block_size + 1 tokens if config.positions is "sinusoidal"?""")
mistake("length-raises-index-error", _TOO_LONG, "", _EMBED, f"{_TOKENS} + positions[np.arange(length)]").explain("""
    a text that is longer than the block size raised IndexError, not ValueError
    why: Indexing alone does not keep the promise of the docstring, which is ValueError.
    ask: Which of your lines checks the ids and the length of the text?""")
for name, code, text, why in (
    (
        "negative-ids-accepted",
        "np.max(ids) >= config.vocab_size",
        "a negative id was accepted",
        "A negative index counts from the end of the table, without an error.",
    ),
    (
        "large-ids-not-checked",
        "np.min(ids) < 0",
        "the id V raised IndexError, not ValueError",
        "The largest id is V - 1, and an index alone raises IndexError.",
    ),
):
    check = f'if {code}:\n        raise ValueError("bad id")\n    x = {_UNCHECKED}'
    mistake(name, f"x = {_EMBED}", check).explain(f"""
    {text}
    why: An id must be in [0, V). {why}
    ask: For which ids should your function raise ValueError?""")
for name, code, text, why in (
    (
        "last-positions",
        "positions[-length:]",
        "the last T rows of W_pos were used, not the first",
        "Position 0 is the first token of the text. The mistake stays hidden with T = block_size.",
    ),
    (
        "positions-reversed",
        "positions[:length][::-1]",
        "the positions were counted from the end of the text",
        "Position 0 is the first token of the text.",
    ),
    (
        "same-position",
        "positions[0]",
        "every token was given the vector of position 0",
        "The position vectors tell the model where each token stands.",
    ),
    (
        "block-size-positions",
        "positions",
        "all rows of W_pos were added, whatever the length of the text",
        "A text of T tokens uses the first T rows. The mistake stays hidden with T = block_size.",
    ),
):
    mistake(name, _EMBED, f"{_TOKENS} + {code}").explain(f"""
    {text}
    why: {why}
    ask: Which rows of W_pos does a text of three tokens use?""")
mistake("positions-only", _EMBED, f"0 * {_TOKENS} + positions[:length]").explain("""
    the token vectors were not added
    why: The model then knows where each token stands, but not which token it is.
    ask: Which of the two tables does your embedding use?""")
for name, code, text in (
    ("two-axes-only", "_, length = np.shape(ids)", "(B, T): B, T = ids.shape"),
    ("batch-of-texts-only", "length = np.shape(ids)[1]", "texts in a batch: T = ids.shape[1]"),
):
    mistake(name, "length = np.shape(ids)[-1]", code).explain(f"""
    the function works only for {text}
    why: The docstring allows any number of leading axes, or none.
    ask: Which axis of ids is T, whatever their number is?""")
mistake("always-float64", f"x = {_EMBED}", f"x = {_EMBED}.astype(np.float64)", common=True).explain("""
    everything was computed in float64
    why: float32 parameters should give float32 scores.
    ask: Which of your arrays is the first that is float64 when all parameters are float32?""")
mistake("always-float32", "return logits, cache", "return logits.astype(np.float32), cache").explain("""
    the scores were converted to float32
    why: float64 parameters should give float64 scores.
    ask: What is the dtype of your scores when all parameters are float64?""")
mistake("mask-one-too-many", _MASK, "np.tri(length, length, 1, dtype=bool)").explain("""
    the mask allowed every position to attend to the next one
    why: The next token is exactly what the model should predict.
    ask: Is the condition j ≤ i or j ≤ i + 1?""")
mistake("mask-in-first-block-only", "n_heads, mask,", "n_heads, mask if i == 0 else None,").explain("""
    only the first block has a mask
    why: In all other blocks, every position attends to later positions.
    ask: Which mask does your second block get?""")
for name, code, text in (
    (
        "head-size-for-heads",
        "config.d_model // config.n_heads",
        "the size of a head was used as the number of heads",
    ),
    ("layers-for-heads", "config.n_layers", "n_layers was used as the number of heads"),
):
    mistake(name, _BLOCK_OPTIONS, _BLOCK_OPTIONS.replace("config.n_heads", code)).explain(f"""
    {text}
    why: The shapes are the same for every number of heads that divides D, so there is often no error.
    ask: Which field of the configuration is the number of heads?""")
mistake("always-relu", _BLOCK_OPTIONS, _BLOCK_OPTIONS.replace("config.activation", '"relu"')).explain("""
    config.activation was ignored: ReLU was always used
    why: config.activation chooses between GELU and ReLU.
    ask: Which of the functions that you call needs the activation?""")
mistake("last-blocks-parameters", 'f"blocks.{i}.")', 'f"blocks.{config.n_layers - 1}.")').explain("""
    every block was given the parameters of the last block
    why: The parameters of the other blocks then have no effect.
    ask: Which part of a parameter's name should change from one iteration of your loop to the next?""")
mistake(
    "blocks-in-reverse-order", 'subset(params, f"blocks.{i}.")', 'subset(params, f"blocks.{config.n_layers - 1 - i}.")'
).explain("""
    the blocks were applied in reverse order
    why: Block 0 comes first. Only the backward pass goes from the last block to the first.
    ask: The parameters of which block does your first iteration use?""")
mistake("embedding-for-every-block", "block(x, subset", 'block(cache["embedded"], subset').explain("""
    every block was given the embedding, not the output of the block before
    why: The results of all blocks but the last are then lost.
    ask: What is the input of your second block?""")
mistake(
    "residual-twice",
    "        block_caches.append(block_cache)\n",
    "        block_caches.append(block_cache)\n        x = streams[-1] + x\n        streams.append(x)\n",
    "block_caches = []\n",
    "block_caches, streams = [], [x]\n",
).explain("""
    the input of each block was added to its output
    why: The block already adds both of its steps to the stream.
    ask: What does `block` return: the whole stream, or what is to be added to it?""")
mistake("first-block-missing", "range(config.n_layers)", "range(1, config.n_layers)").explain("""
    the first block was left out
    why: Blocks are counted from 0.
    ask: Which values does i take in your loop when there are two blocks?""")
for name, code, text in (
    ("last-norm-without-beta", 'layernorm(x, params["ln_f.gamma"], 0 * params["ln_f.beta"])', "ln_f.beta was not used"),
    (
        "last-norm-without-gamma",
        'layernorm(x, params["ln_f.gamma"] * 0 + 1, params["ln_f.beta"])',
        "ln_f.gamma was not used",
    ),
    (
        "last-norm-without-parameters",
        'layernorm(x, params["ln_f.gamma"] * 0 + 1, 0 * params["ln_f.beta"])',
        "ln_f.gamma and ln_f.beta were not used",
    ),
    (
        "last-norm-exchanged",
        'layernorm(x, params["ln_f.beta"], params["ln_f.gamma"])',
        "ln_f.gamma and ln_f.beta were swapped",
    ),
    *(
        (
            f"last-norm-with-parameters-of-ln{n}",
            f'layernorm(x, *subset(params, f"blocks.{{config.n_layers - 1}}.ln{n}.").values())',
            f"the last layer norm was given the parameters of ln{n} of the last block",
        )
        for n in (1, 2)
    ),
):
    mistake(name, _NORM, code).explain(f"""
    {text}
    why: The last layer norm has parameters of its own, ln_f.gamma and ln_f.beta.
    ask: Which parameters does your last layer norm use?""")
mistake("last-norm-twice", _NORM, _NORM.replace("(x,", f"({_NORM},")).explain("""
    the last layer norm was applied twice
    why: There is one norm between the last block and the head.
    ask: How many norms are there after the last block in the diagram at the top of the lesson?""")
mistake(
    "norm-after-every-block",
    "        block_caches.append(block_cache)\n",
    f"        block_caches.append(block_cache)\n        x = {_NORM_WITH_PRE}\n",
    f"final = {_NORM}",
    "final = x",
).explain("""
    the last layer norm was applied after every block
    why: It is applied once, after the last block: it does not belong in the loop.
    ask: Which of your lines are inside the loop?""")
mistake(
    "norm-after-every-block-too",
    "        block_caches.append(block_cache)\n",
    f"        block_caches.append(block_cache)\n        x = {_NORM_WITH_PRE}\n",
).explain("""
    the last layer norm was applied after every block, and once more at the end
    why: It is applied once, after the last block: it does not belong in the loop.
    ask: Which of your lines are inside the loop?""")
mistake(
    "embedding-after-every-block",
    "        block_caches.append(block_cache)\n",
    '        block_caches.append(block_cache)\n        x = x + cache["embedded"]\n',
).explain("""
    the embedding was added after every block
    why: The residual connections are inside the block. The stream already contains the embedding.
    ask: What does `block` return: the whole stream, or what is to be added to it?""")
mistake(
    "norm-before-the-blocks",
    f"x = {_EMBED}",
    f"x = {_EMBED}\n    x = {_NORM_WITH_PRE}",
    f"final = {_NORM}",
    "final = x",
).explain("""
    the last layer norm was applied before the blocks
    why: It comes between the last block and the head.
    ask: Which value goes into the head?""")
mistake("head-never-tied", "_head(params, config)", 'params["W_head"]').explain("""
    W_head was used even with tied=True, where it does not exist
    why: A tied head is the transposed token table.
    ask: Which matrix is the head when config.tied is True?""")
mistake(
    "table-reshaped",
    "_head(params, config)",
    '(params["W_tok"].reshape(config.d_model, -1) if config.tied else params["W_head"])',
).explain("""
    the token table was reshaped to (D, V), not transposed
    why: A reshape keeps the order of the entries, so its columns are not the vectors of the tokens.
    ask: Which column of the head belongs to token 0, and which row of W_tok does it equal?""")
mistake(
    "table-not-transposed", "_head(params, config)", '(params["W_tok"] if config.tied else params["W_head"])'
).explain(
    """
    the token table was not transposed
    why: Its shape is (V, D), and the head needs (D, V).
    ask: Which shapes do the two sides of your matrix product have?"""
)
mistake(
    "head-stored-in-parameters", "_head(params, config)", 'params.setdefault("W_head", params["W_tok"].T)'
).explain("""
    W_head was added to the caller's parameters
    why: The dictionary belongs to the caller. With a tied head, it must not contain a W_head.
    ask: Which of your lines write into params?""")
mistake(
    "log-probabilities",
    "return logits, cache",
    "logits = logits - logits.max(axis=-1, keepdims=True)\n"
    "    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True)), cache",
).explain("""
    log-probabilities were returned instead of scores
    why: The loss and generation apply softmax themselves, to the scores.
    ask: Does the formula in the docstring contain a softmax?""")
