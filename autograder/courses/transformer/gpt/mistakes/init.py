"""Mistakes in `gpt`: the untrained parameters, and their number."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_MATRICES = {
    "attn.W_qkv": ("normal(d, 3 * d)", "normal(3 * d, d)"),
    "attn.W_o": ("normal(d, d, std=residual_std)", ""),
    "ffn.W_1": ("normal(d, f)", "normal(f, d)"),
    "ffn.W_2": ("normal(f, d, std=residual_std)", "normal(d, f, std=residual_std)"),
}  # how each matrix of a block is drawn, and how it is drawn transposed
_FULL = {name: code.replace(", std=residual_std", "") for name, (code, _) in _MATRICES.items()}
_REDUCED = {name: f"{code[:-1]}, std=residual_std)" for name, code in _FULL.items()}
_WHY_REDUCED = """why: attn.W_o and ffn.W_2, the two matrices of a block that write into the residual stream, have the
         standard deviation init_std / √(2 n_layers). All others have init_std.
    ask: Which two matrices of a block write into the residual stream?"""
_BIASES = ("attn.b_qkv", "attn.b_o", "ffn.b_1", "ffn.b_2")
_FILTER = "has.get(name, True)"


def _edit(name: str, new: str) -> tuple[str, str]:
    """Return the edit that draws a matrix of a block differently."""
    return f'"{name}": {_MATRICES[name][0]}', f'"{name}": {new}'


mistake = MISTAKES.for_functions("gpt.init_gpt")
mistake(
    "residual-not-scaled", "config.init_std / math.sqrt(2 * config.n_layers)", "config.init_std", common=True
).explain("""
    attn.W_o and ffn.W_2 have the same standard deviation as the other matrices
    why: These two matrices write into the residual stream. Unless they start smaller, its variance grows with every
         block.
    ask: Which two matrices of a block write into the residual stream? How should their size depend on n_layers?""")
mistake("one-sum-per-block", "math.sqrt(2 * config.n_layers)", "math.sqrt(config.n_layers)", common=True).explain("""
    the standard deviation of attn.W_o and ffn.W_2 was divided by √n_layers
    why: The factor is 1/√(2 n_layers): every block adds to the stream twice, after attention and after the
         feed-forward network.
    ask: How many times is something added to the residual stream on the way through n_layers blocks?""")
mistake("no-root", "math.sqrt(2 * config.n_layers)", "(2 * config.n_layers)").explain("""
    the standard deviation of attn.W_o and ffn.W_2 was divided without the root
    why: Variances add up, standard deviations do not: the sum of n independent values of equal size is √n times as
         large as one of them.
    ask: How large is the standard deviation of the sum of two independent random values?""")
mistake("standard-deviation-1", "rng.normal(0.0, std, shape)", "rng.normal(0.0, 1.0, shape)").explain("""
    the matrices were drawn with standard deviation 1
    why: The first scores are then very large, and the first loss is far above log V.
    ask: Which standard deviation does your generator call use, and which one is in the docstring?""")
mistake("float64", ".astype(np.float32)", "", common=True).explain("""
    the matrices are float64
    why: float64 is what a generator returns by default. float32 needs half the memory, and training is faster.
    ask: Which dtype does rng.normal return, and which one does the docstring ask for?""")
mistake("head-always", "if not config.tied:", "if True:").explain("""
    W_head was created although the head is tied
    why: A tied head is the token table. A second matrix would never be used or trained.
    ask: For which value of config.tied does the model have a W_head?""")

for name, other in (("attn.W_o", "ffn.W_2"), ("ffn.W_2", "attn.W_o")):
    mistake(f"only-{other}-scaled", *_edit(name, _FULL[name])).explain(f"""
    {name} has the standard deviation init_std, not the reduced one; {other} is right
    {_WHY_REDUCED}""")
for name, other in (("attn.W_o", "attn.W_qkv"), ("ffn.W_2", "ffn.W_1")):
    mistake(f"{other}-scaled-for-{name}", *_edit(name, _FULL[name]), *_edit(other, _REDUCED[other])).explain(f"""
    {other} has the reduced standard deviation, in place of {name}
    {_WHY_REDUCED}""")
    mistake(f"{other}-scaled-too", *_edit(other, _REDUCED[other])).explain(f"""
    {other} has the reduced standard deviation, like the two matrices that write into the stream
    {_WHY_REDUCED}""")
mistake(
    "wrong-two-scaled",
    *_edit("attn.W_qkv", _REDUCED["attn.W_qkv"]),
    *_edit("attn.W_o", _FULL["attn.W_o"]),
    *_edit("ffn.W_1", _REDUCED["ffn.W_1"]),
    *_edit("ffn.W_2", _FULL["ffn.W_2"]),
).explain(f"""
    attn.W_qkv and ffn.W_1 have the reduced standard deviation, in place of attn.W_o and ffn.W_2
    {_WHY_REDUCED}""")
mistake(
    "whole-block-scaled",
    *_edit("attn.W_qkv", _REDUCED["attn.W_qkv"]),
    *_edit("ffn.W_1", _REDUCED["ffn.W_1"]),
    common=True,
).explain(f"""
    all matrices of a block have the reduced standard deviation
    {_WHY_REDUCED}""")
for name, divisor, text in (
    ("divided-by-layers", "config.n_layers", "n_layers, without the 2 and without the root"),
    ("root-of-width", "math.sqrt(config.d_model)", "√d_model"),
    ("root-of-twice-the-heads", "math.sqrt(2 * config.n_heads)", "√(2 n_heads)"),
):
    mistake(name, "math.sqrt(2 * config.n_layers)", divisor).explain(f"""
    the standard deviation of attn.W_o and ffn.W_2 was divided by {text}
    why: The factor is 1/√(2 n_layers): every block adds to the stream twice.
    ask: How many times is something added to the residual stream on the way through n_layers blocks?""")
mistake(
    "residual-multiplied",
    "config.init_std / math.sqrt(2 * config.n_layers)",
    "config.init_std * math.sqrt(2 * config.n_layers)",
).explain("""
    the standard deviation of attn.W_o and ffn.W_2 was multiplied by √(2 n_layers), not divided
    why: The more blocks there are, the less each of them should add to the stream at first.
    ask: Should the matrices that write into the stream be larger or smaller than the others?""")
_WHY_IGNORED = """why: With the default of init_std, 0.02 gives the right numbers. Other values must have an effect.
    ask: Which of your matrices depend on config.init_std?"""
_IGNORED = ("std=config.init_std", "std=CONSTANT", "config.init_std /", "CONSTANT /")
for name, edits, text in (
    ("", _IGNORED, "config.init_std was not used: the standard deviations were computed from 0.02"),
    ("-in-some", _IGNORED[:2], "config.init_std was used for attn.W_o and ffn.W_2 only: the others have 0.02"),
    (
        "-in-residual",
        _IGNORED[2:],
        "config.init_std was not used for attn.W_o and ffn.W_2: they have 0.02 / √(2 n_layers)",
    ),
):
    mistake(f"init-std-ignored{name}", *(edit.replace("CONSTANT", "0.02") for edit in edits)).explain(f"""
    {text}
    {_WHY_IGNORED}""")
mistake("another-init-std", *_IGNORED, constant=0.1).explain(f"""
    config.init_std was not used: the standard deviations were computed from {{constant}}
    {_WHY_IGNORED}""")
_TABLES = {"W_tok": "normal(config.vocab_size, d)", "W_pos": "normal(config.block_size, d)"}
for tables in (("W_tok",), ("W_pos",), ("W_tok", "W_pos")):
    text, has = " and ".join(tables), "have" if len(tables) > 1 else "has"
    for std in (1.0, 0.01):
        drawn = [(_TABLES[name], f"{_TABLES[name][:-1]}, std={std})") for name in tables]
        mistake(f"{'-'.join(tables)}-with-{std:g}", *(code for edit in drawn for code in edit)).explain(f"""
    {text} {has} the standard deviation {std:g}
    why: Here, both tables are drawn with init_std. (PyTorch draws tables with 1, and GPT-2 its positions with 0.01.)
    ask: Which standard deviation does the docstring give for every W?""")
for name, code in _TABLES.items():
    mistake(f"{name}-zero", code, f"0 * {code}").explain(f"""
    {name} is 0 everywhere
    why: Every matrix is drawn from the normal distribution, the tables included.
    ask: What does the docstring say about every W?""")
mistake("uniform", "rng.normal(0.0, std, shape)", "rng.uniform(-std, std, shape)").explain("""
    the matrices were drawn from a uniform distribution between -init_std and init_std
    why: The standard deviation of such numbers is only init_std / √3.
    ask: Which distribution does the docstring name?""")
mistake(
    "uniform-of-same-size", "rng.normal(0.0, std, shape)", "rng.uniform(-1, 1, shape) * std * math.sqrt(3)"
).explain("""
    the matrices were drawn from a uniform distribution
    why: The docstring asks for a normal distribution, in which some numbers are far from 0.
    ask: Which method of the generator draws normal numbers?""")
mistake("mean-not-0", "rng.normal(0.0, std, shape)", "rng.normal(std, std, shape)").explain("""
    the mean of the matrices is init_std, not 0
    why: The first argument of rng.normal is the mean, the second the standard deviation.
    ask: What are the first two arguments of rng.normal?""")
mistake("variance-for-std", "rng.normal(0.0, std, shape)", "rng.normal(0.0, std**2, shape)").explain("""
    the square of the standard deviation was passed to the generator
    why: The second argument of rng.normal is the standard deviation, not the variance.
    ask: What does rng.normal expect as its second argument?""")
mistake("root-of-std", "rng.normal(0.0, std, shape)", "rng.normal(0.0, math.sqrt(std), shape)").explain("""
    the root of the standard deviation was passed to the generator
    why: The second argument of rng.normal is the standard deviation itself.
    ask: What does rng.normal expect as its second argument?""")
for name, code in (("xavier", "1 / math.sqrt(shape[0])"), ("he", "math.sqrt(2 / shape[0])")):
    mistake(f"{name}-initialization", "rng.normal(0.0, std, shape)", f"rng.normal(0.0, {code}, shape)").explain("""
    the standard deviation was computed from the number of rows of each matrix
    why: Other networks are initialized like this. A GPT uses init_std for all matrices, whatever their size.
    ask: Does the size of a matrix occur in the docstring's standard deviation?""")
for seed in (0, 1, 42, 1337):
    mistake(
        f"own-generator-{seed}",
        "d, f = config.d_model, config.d_ff",
        f"d, f = config.d_model, config.d_ff\n    rng = np.random.default_rng({seed})",
    ).explain(f"""
    the generator that was passed in was not used: the function made its own, with the seed {seed}
    why: Every model then starts with the same numbers, whatever generator the caller passes in.
    ask: Where does your code use the argument rng?""")
mistake(
    "same-numbers-in-all-blocks",
    "d, f = config.d_model, config.d_ff",
    "d, f = config.d_model, config.d_ff\n    state = rng.bit_generator.state",
    "        layer = {\n",
    "        rng.bit_generator.state = state\n        layer = {\n",
).explain("""
    all blocks started with the same random numbers
    why: Each block must draw its own matrices.
    ask: Are blocks.0.attn.W_o and blocks.1.attn.W_o different arrays with different values?""")
for name, which, calls in (
    ("vectors", "gammas, betas and biases", ("np.ones(shape, dtype=np.float32)", "np.zeros(shape, dtype=np.float32)")),
    ("ones", "gammas", ("np.ones(shape, dtype=np.float32)",)),
    ("zeros", "betas and biases", ("np.zeros(shape, dtype=np.float32)",)),
):
    mistake(
        f"{name}-float64", *(text for old in calls for text in (old, old.replace(", dtype=np.float32", "")))
    ).explain(f"""
    the {which} are float64
    why: np.ones and np.zeros create float64 arrays unless a dtype is given. A single float64 array makes everything
         that is computed with it float64.
    ask: Which dtype do np.ones(4) and np.zeros(4) have?""")
mistake(
    "all-float64",
    ".astype(np.float32)",
    "",
    "np.ones(shape, dtype=np.float32)",
    "np.ones(shape)",
    "np.zeros(shape, dtype=np.float32)",
    "np.zeros(shape)",
    common=True,
).explain("""
    all arrays are float64
    why: float64 is NumPy's default. float32 needs half the memory, and training is faster.
    ask: Which dtype does the docstring ask for?""")
mistake("gamma-0", "return np.ones(shape, dtype=np.float32)", "return np.zeros(shape, dtype=np.float32)").explain("""
    every gamma is 0
    why: gamma is a factor: with 0, a layer norm returns its beta, whatever its input is.
    ask: Which gamma leaves the normalized vector as it is?""")
mistake(
    "zeros-are-ones", "return np.zeros(shape, dtype=np.float32)", "return np.ones(shape, dtype=np.float32)"
).explain("""
    every beta and every bias is 1
    why: They are added: only 0 leaves the other term as it is.
    ask: Which values does the docstring give for the betas and the biases?""")
mistake("last-norm-exchanged", 'ones(d), "ln_f.beta": zeros(d)', 'zeros(d), "ln_f.beta": ones(d)').explain("""
    the last norm has gamma 0 and beta 1: the two were swapped
    why: gamma is a factor and starts at 1, beta is added and starts at 0.
    ask: Which of the two is multiplied, and which is added?""")
mistake("head-never", "if not config.tied:", "if False:").explain("""
    W_head is missing although the head is not tied
    why: Without tying, the head is a matrix of its own, and it must be trained.
    ask: For which value of config.tied does the model have a W_head?""")
mistake("head-inverted", "if not config.tied:", "if config.tied:").explain("""
    W_head was created for a tied head, and not for a separate one
    why: A tied head is the token table, so it needs no matrix.
    ask: For which value of config.tied does the model have a W_head?""")
mistake("head-transposed", "normal(d, config.vocab_size)", "normal(config.vocab_size, d)").explain("""
    W_head is transposed: (V, D) instead of (D, V)
    why: A layer computes x @ W, so its first axis is the input. PyTorch stores weights the other way round.
    ask: Which shape must W_head have so that x @ W_head has one column for each token?""")
for name, (code, transposed) in _MATRICES.items():
    if transposed:
        mistake(f"{name}-transposed", f'"{name}": {code}', f'"{name}": {transposed}').explain(f"""
    {name} is transposed
    why: A layer computes x @ W, so its first axis is the input. PyTorch stores weights the other way round.
    ask: Which shape does the docstring give for {name}?""")
mistake(
    "matrices-transposed",
    *(
        text
        for name, (code, transposed) in _MATRICES.items()
        if transposed
        for text in (f'"{name}": {code}', f'"{name}": {transposed}')
    ),
).explain("""
    attn.W_qkv, ffn.W_1 and ffn.W_2 are transposed
    why: A layer computes x @ W, so the first axis of W is the input. PyTorch stores weights the other way round.
    ask: Which shapes does the docstring give for these matrices?""")
mistake(
    "head-and-matrices-transposed",
    "normal(d, config.vocab_size)",
    "normal(config.vocab_size, d)",
    *(
        text
        for name, (code, transposed) in _MATRICES.items()
        if transposed
        for text in (f'"{name}": {code}', f'"{name}": {transposed}')
    ),
).explain("""
    the matrices of the linear layers are transposed
    why: A layer computes x @ W, so the first axis of W is the input. PyTorch stores weights the other way round.
    ask: Which shapes does the docstring give for these matrices?""")
mistake("d-ff-ignored", "config.d_model, config.d_ff", "config.d_model, 4 * config.d_model").explain("""
    the hidden layer has 4 D features: config.d_ff was ignored
    why: 4 D is only the default of d_ff.
    ask: Which field of the configuration says how wide the feed-forward network is?""")
mistake("positions-for-every-token", "normal(config.block_size, d)", "normal(config.vocab_size, d)").explain("""
    W_pos has one row for each token of the vocabulary
    why: It needs one row for each position, block_size in all.
    ask: Which field of the configuration is the number of positions?""")
mistake(
    "tokens-for-every-position", '"W_tok": normal(config.vocab_size, d)', '"W_tok": normal(config.block_size, d)'
).explain("""
    W_tok has block_size rows
    why: It needs one row for each token of the vocabulary.
    ask: Which field of the configuration is the number of different tokens?""")
mistake("one-block-less", "range(config.n_layers)", "range(config.n_layers - 1)").explain("""
    the parameters of the last block are missing
    why: range(n) already ends at n - 1, so range(n - 1) is one block short.
    ask: Which values does i take in your loop when there are two blocks?""")
mistake("blocks-counted-from-1", 'f"blocks.{i}."', 'f"blocks.{i + 1}."').explain("""
    the blocks are counted from 1 in the names
    why: The first block is blocks.0.
    ask: What is the name of the first gamma in the docstring?""")
mistake("same-name-for-blocks", 'f"blocks.{i}."', '"blocks.0."').explain("""
    all blocks have the same names: later ones overwrote earlier ones
    why: A dictionary has one value for each key.
    ask: Which part of a parameter's name should change from one iteration of your loop to the next?""")
mistake("last-norm-missing", 'if config.norm == "pre":', "if False:").explain("""
    ln_f.gamma and ln_f.beta are missing
    why: The norm between the last block and the head has parameters of its own.
    ask: Which names does the docstring list after those of the blocks?""")
mistake("biases-always", _FILTER, "True").explain("""
    the biases were created although config.bias is False
    why: Without biases there are no b_qkv, b_o, b_1 and b_2.
    ask: Which names does the docstring leave out without config.bias?""")
mistake("biases-inverted", _FILTER, "not has.get(name, False)").explain("""
    the biases were created without config.bias, and left out with it
    why: config.bias says whether linear layers have biases.
    ask: What does your code do if config.bias is True?""")
for kept in (("ffn.b_1", "ffn.b_2"), ("attn.b_qkv", "attn.b_o"), *((name,) for name in _BIASES)):
    names = " and ".join(kept)
    mistake(f"{'-'.join(kept)}-always", _FILTER, f"{_FILTER} or name in {kept!r}").explain(f"""
    {names} {"were" if len(kept) > 1 else "was"} created although config.bias is False
    why: Without biases there are no b_qkv, b_o, b_1 and b_2.
    ask: Which names does the docstring leave out without config.bias?""")
for name, condition, which in (
    ("betas-of-blocks", 'not name.endswith("beta")', "ln1.beta and ln2.beta are"),
    ("beta-of-ln1", 'name != "ln1.beta"', "ln1.beta is"),
    ("beta-of-ln2", 'name != "ln2.beta"', "ln2.beta is"),
):
    mistake(f"{name}-left-out", _FILTER, f"{_FILTER} and (config.bias or {condition})").explain(f"""
    without config.bias, {which} missing, too
    why: config.bias concerns linear layers only. Layer norms always have their beta.
    ask: Which names does the docstring leave out without config.bias?""")
mistake(
    "all-betas-left-out",
    _FILTER,
    f'{_FILTER} and (config.bias or not name.endswith("beta"))',
    '"ln_f.beta": zeros(d)}',
    '**({"ln_f.beta": zeros(d)} if config.bias else {})}',
).explain("""
    without config.bias, all betas are missing, too
    why: config.bias concerns linear layers only. Layer norms always have their beta.
    ask: Which names does the docstring leave out without config.bias?""")
mistake(
    "last-beta-left-out", '"ln_f.beta": zeros(d)}', '**({"ln_f.beta": zeros(d)} if config.bias else {})}'
).explain("""
    without config.bias, ln_f.beta is missing, too
    why: config.bias concerns linear layers only. Layer norms always have their beta.
    ask: Which names does the docstring leave out without config.bias?""")
mistake(
    "biases-random",
    '"attn.b_qkv": zeros(3 * d)',
    '"attn.b_qkv": normal(3 * d)',
    '"attn.b_o": zeros(d)',
    '"attn.b_o": normal(d)',
    '"ffn.b_1": zeros(f)',
    '"ffn.b_1": normal(f)',
    '"ffn.b_2": zeros(d)',
    '"ffn.b_2": normal(d)',
).explain("""
    the biases were drawn at random
    why: Only matrices are drawn. Every bias starts at 0.
    ask: Which values does the docstring give for the biases?""")
