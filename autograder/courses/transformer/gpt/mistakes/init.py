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
_FILTER = '".b_" not in name or name.split(".")[1] in config.bias'
_UNNAMED = """why: They start at 0, so the first scores are right. But gpt adds every bias of a block that is in params,
         and training changes it: the model is then not the one in the configuration.
    ask: By how many numbers should bias=False shrink a block with D = 64, and by how many does it shrink yours?"""


def _edit(name: str, new: str) -> tuple[str, str]:
    """Return the edit that draws a matrix of a block differently."""
    return f'"{name}": {_MATRICES[name][0]}', f'"{name}": {new}'


mistake = MISTAKES.for_functions("gpt.init_gpt")
mistake("residual-not-scaled", ".init_std / math.sqrt(2 * config.n_layers)", ".init_std", common=True).explain("""
    attn.W_o and ffn.W_2 have the same standard deviation as the other matrices
    why: These two matrices write into the residual stream. Unless they start smaller, its variance grows with every
         block.
    ask: Which two matrices of a block write into the residual stream? How should their size depend on n_layers?""")
mistake("one-sum-per-block", "math.sqrt(2 * config.n_layers)", "math.sqrt(config.n_layers)", common=True).explain("""
    the standard deviation of attn.W_o and ffn.W_2 was divided by √n_layers
    why: The factor is 1/√(2 n_layers): every block adds to the stream twice, after attention and after the
         feed-forward network.
    ask: How many times is something added to the residual stream on the way through n_layers blocks?""")
mistake("float64", ".astype(np.float32)", "", common=True).explain("""
    the matrices are float64
    why: float64 is what a generator returns by default. float32 needs half the memory, and training is faster.
    ask: What is rng.normal(0.0, 1.0, 3).dtype, and which of your lines changes it?""")
mistake("head-always", "if not config.tied:", "if True:").explain("""
    W_head was created although the head is tied
    why: A tied head is the token table. A second matrix would never be used or trained.
    ask: For which value of config.tied does the model have a W_head?""")

mistake("only-attn.W_o-scaled", *_edit("ffn.W_2", _FULL["ffn.W_2"])).explain(f"""
ffn.W_2 has the standard deviation init_std, not the reduced one; attn.W_o is right
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
_WHY_IGNORED = """why: With the default of init_std, 0.02 gives the right numbers. Other values must have an effect.
    ask: Which of your matrices depend on config.init_std?"""
_IGNORED = ("std=config.init_std", "std=CONSTANT", "config.init_std /", "CONSTANT /")
for name, edits, text in (
    ("", _IGNORED, "config.init_std was not used: the standard deviations were computed from 0.02"),
    ("-in-some", _IGNORED[:2], "config.init_std was used for attn.W_o and ffn.W_2 only: the others have 0.02"),
):
    mistake(f"init-std-ignored{name}", *(edit.replace("CONSTANT", "0.02") for edit in edits)).explain(f"""
    {text}
    {_WHY_IGNORED}""")
mistake("uniform-of-same-size", ".normal(0.0, std, shape)", ".uniform(-1, 1, shape) * std * math.sqrt(3)").explain("""
    the matrices were drawn from a uniform distribution
    why: About 8 % of normal numbers are more than √3 standard deviations from 0; here, none are. The same seed also
         gives another start than in the lessons, so you cannot repeat their losses.
    ask: Which method of the generator draws normal numbers?""")
mistake("own-generator-0", ", config.d_ff", ", config.d_ff\n    rng = np.random.default_rng(0)").explain("""
the generator that was passed in was not used: the function made its own, with the seed 0
why: Every model then starts with the same numbers, whatever generator the caller passes in.
ask: Where does your code use the argument rng?""")
mistake(
    "vectors-float64",
    *(
        text
        for old in ("np.ones(shape, dtype=np.float32)", "np.zeros(shape, dtype=np.float32)")
        for text in (old, old.replace(", dtype=np.float32", ""))
    ),
).explain("""
the gammas, betas and biases are float64
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
    ask: Add up p.nbytes over your parameters. How many bytes is that for each number, and which arrays take 8?""")
mistake("gamma-0", "return np.ones(shape, dtype=np.float32)", "return np.zeros(shape, dtype=np.float32)").explain("""
    every gamma is 0
    why: gamma is a factor: with 0, a layer norm returns its beta, whatever its input is.
    ask: Which gamma leaves the normalized vector as it is?""")
mistake("zeros-are-ones", "np.zeros(shape, dtype=np.float32)", "np.ones(shape, dtype=np.float32)").explain("""
    every beta and every bias is 1
    why: They are added: only 0 leaves the other term as it is.
    ask: What is x @ W + b for x = 0 if every entry of b is 1? For which b is it x @ W, whatever x is?""")
mistake("head-transposed", "normal(d, config.vocab_size)", "normal(config.vocab_size, d)").explain("""
    W_head is transposed: (V, D) instead of (D, V)
    why: A layer computes x @ W, so its first axis is the input. PyTorch stores weights the other way round.
    ask: Which shape must W_head have so that x @ W_head has one column for each token?""")
for name, (code, transposed) in _MATRICES.items():
    if transposed:
        mistake(f"{name}-transposed", f'"{name}": {code}', f'"{name}": {transposed}').explain(f"""
    {name} is transposed
    why: A layer computes x @ W, so its first axis is the input. PyTorch stores weights the other way round.
    ask: With D = 4 and F = 16, how many entries has a vector that is multiplied by {name}? How many rows has yours?""")
mistake("positions-for-every-token", "normal(config.block_size, d)", "normal(config.vocab_size, d)").explain("""
    W_pos has one row for each token of the vocabulary
    why: It needs one row for each position, block_size in all.
    ask: Which field of the configuration is the number of positions?""")
mistake("tokens-for-every-position", ": normal(config.vocab_size, d)", ": normal(config.block_size, d)").explain("""
    W_tok has block_size rows
    why: It needs one row for each token of the vocabulary.
    ask: Which field of the configuration is the number of different tokens?""")
mistake("one-block-less", "range(config.n_layers)", "range(config.n_layers - 1)").explain("""
    the parameters of the last block are missing
    why: range(n) already ends at n - 1, so range(n - 1) is one block short.
    ask: Which values does i take in your loop when there are two blocks?""")
mistake("blocks-counted-from-1", 'f"blocks.{i}."', 'f"blocks.{i + 1}."').explain("""
    the blocks are counted from 1 in the names
    why: gpt counts its blocks from 0, and would find no parameters for the first of them.
    ask: In the first pass of `for i in range(n_layers)`, what is f"blocks.{i}.", and how do your names begin?""")
mistake("last-norm-missing", 'if config.norm == "pre":', "if False:").explain("""
    ln_f.gamma and ln_f.beta are missing
    why: The norm between the last block and the head has parameters of its own.
    ask: Which two arrays does gpt pass to layernorm after the last block, and where do you create them?""")
mistake("biases-always", _FILTER, "True").explain(f"""
    the biases were created although config.bias does not name them
    {_UNNAMED}""")
mistake("ffn.b_2-always", _FILTER, f"{_FILTER} or name == 'ffn.b_2'").explain(f"""
    ffn.b_2 was created, not named in config.bias
    {_UNNAMED}""")
mistake("betas-of-blocks-left-out", _FILTER, f'({_FILTER}) and (config.bias or not name.endswith("beta"))').explain("""
without config.bias, ln1.beta and ln2.beta are missing, too
why: config.bias concerns linear layers only. Layer norms always have their beta.
ask: What does block pass to layernorm as beta, and what happens there if params has none?""")
mistake(
    "all-betas-left-out",
    _FILTER,
    f'({_FILTER}) and (config.bias or not name.endswith("beta"))',
    '"ln_f.beta": zeros(d)}',
    '**({"ln_f.beta": zeros(d)} if config.bias else {})}',
).explain("""
    without config.bias, all betas are missing, too
    why: config.bias concerns linear layers only. Layer norms always have their beta.
    ask: What does block pass to layernorm as beta, and what happens there if params has none?""")
