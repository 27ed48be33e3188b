"""Mistakes in `gpt2`: where each tensor of a checkpoint goes."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_RETURN = "    return params"
_MATRICES = ("attn.W_qkv", "attn.W_o", "ffn.W_1", "ffn.W_2")

mistake = MISTAKES.for_functions("gpt2.gpt2_params")


def _changed(condition: str, change: str) -> str:
    """Return the code that changes the parameters whose names fulfil a condition, before the result is returned."""
    return f"    for name in params:\n        if {condition}:\n            params[name] = {change}\n" + _RETURN


mistake("all-transposed", _RETURN, _changed(f"name.endswith({_MATRICES})", "params[name].T")).explain("""
    the matrices of the blocks were transposed
    why: A linear layer of PyTorch stores (out, in), but GPT-2 has the layer Conv1D, which stores (in, out) as you do.
    ask: Which shape does h.0.attn.c_attn.weight have, and which one W_qkv?""")
for matrix in _MATRICES:
    mistake(
        f"{matrix.partition('.')[2]}-transposed", _RETURN, _changed(f"name.endswith('{matrix}')", "params[name].T")
    ).explain(f"""
        {matrix} was transposed
        why: GPT-2's layer Conv1D stores its matrix as (in, out), as you do. The mistake shows no wrong shape if the
             matrix is square.
        ask: Which of your matrices are transposed, and why?""")
mistake(
    "only-square-matrices-kept",
    _RETURN,
    _changed(f"name.endswith({_MATRICES}) and params[name].shape[0] < params[name].shape[1]", "params[name].T"),
).explain("""
    the matrices that are wider than high were transposed
    why: The shape does not say which axis is the input. GPT-2's layer Conv1D stores (in, out), as you do.
    ask: Which of your matrices are transposed, and why?""")
mistake("tables-transposed", _RETURN, _changed("name in ('W_tok', 'W_pos')", "params[name].T")).explain("""
    the tables W_tok and W_pos were transposed
    why: Each token and each position has a row, in the checkpoint and in your model.
    ask: Which shape does init_gpt give for W_tok?""")
for name, first, second, why in (
    ("norms", ".ln_1.", ".ln_2.", "ln_1 comes before attention, and ln_2 before the feed-forward network."),
    (
        "projections",
        ".attn.c_proj.",
        ".mlp.c_proj.",
        "Both are called c_proj: that of attn is W_o, and that of mlp is W_2.",
    ),
    (
        "ffn-biases",
        ".mlp.c_fc.bias",
        ".mlp.c_proj.bias",
        "c_fc is the first layer, whose bias is b_1, and c_proj is the second.",
    ),
    (
        "attention-biases",
        ".attn.c_attn.bias",
        ".attn.c_proj.bias",
        "c_attn has the bias b_qkv, and c_proj the bias b_o.",
    ),
    ("ffn-layers", ".mlp.c_fc.", ".mlp.c_proj.", "c_fc is the first layer, D → F, and c_proj is the second, F → D."),
    (
        "weights-and-biases-of-norms",
        "ln_1.weight",
        "ln_1.bias",
        "The weight of a norm is its gamma, the bias its beta.",
    ),
    ("final-gamma-and-beta", "ln_f.weight", "ln_f.bias", "The weight of a norm is its gamma, the bias its beta."),
    ("tables", "wte.", "wpe.", "wte is the table of the tokens, and wpe that of the positions."),
):
    mistake(
        f"{name}-exchanged",
        "    params = {ours: tensors[theirs]",
        f"    swap = {{'{first}': '{second}', '{second}': '{first}'}}\n"
        "    def other(name):\n"
        "        part = next((part for part in swap if part in name), None)\n"
        "        return name.replace(part, swap[part]) if part else name\n"
        "    params = {ours: tensors[other(theirs)]",
    ).explain(f"""
        {first.strip(".")} and {second.strip(".")} were swapped
        why: {why}
        ask: Which name of the course did you give {first.strip(".")}?""")
for name, order, what in (
    ("queries-and-keys-exchanged", "(1, 0, 2)", "queries and keys were swapped in W_qkv and b_qkv"),
    ("keys-and-values-exchanged", "(0, 2, 1)", "keys and values were swapped in W_qkv and b_qkv"),
    ("values-first", "(2, 0, 1)", "W_qkv and b_qkv have the values first"),
):
    mistake(
        name,
        _RETURN,
        _changed(
            "name.endswith('_qkv')",
            f"np.concatenate([np.split(params[name], 3, axis=-1)[i] for i in {order}], axis=-1)",
        ),
    ).explain(f"""
        {what}
        why: c_attn holds queries, keys and values side by side, in the order that W_qkv has: nothing has to be moved.
        ask: What do you do with the columns of c_attn.weight?""")
mistake(
    "queries-keys-values-interleaved",
    _RETURN,
    _changed(
        "name.endswith('_qkv')",
        "params[name].reshape(*params[name].shape[:-1], -1, 3).swapaxes(-1, -2).reshape(params[name].shape)",
    ),
).explain("""
    the columns of c_attn were taken as interleaved: one of q, one of k, one of v
    why: All columns of the queries come first, then those of the keys, then those of the values, as in W_qkv.
    ask: Which columns of c_attn.weight belong to the keys?""")
mistake("query-bias-from-c_proj", 'f"h.{i}.attn.c_attn.bias"', 'f"h.{i}.attn.c_proj.bias"').explain("""
    b_qkv is the bias of c_proj
    why: The names of the tensors in attn are similar: c_attn belongs to W_qkv, c_proj to W_o.
    ask: Which shape does b_qkv have?""")
mistake("same-norm-twice", 'f"h.{i}.ln_2.weight"', 'f"h.{i}.ln_1.weight"').explain("""
    both norms of a block have the gamma of the first
    why: Each norm has its own parameters, ln_1 and ln_2.
    ask: Which tensor is ln2.gamma?""")
mistake(
    "all-blocks-from-block-0",
    "    params = {ours: tensors[theirs]",
    "    params = {ours: tensors['.'.join(['h', '0', *theirs.split('.')[2:]]) if theirs[:2] == 'h.' else theirs]",
).explain("""
    every block has the tensors of block 0
    why: Each block has its own: h.0.…, h.1.…, and so on.
    ask: Which tensor is blocks.1.attn.W_o?""")
mistake(
    "blocks-counted-from-1",
    _RETURN,
    "    params = {name if name[:7] != 'blocks.' else f\"blocks.{int(name.split('.')[1]) + 1}.\" + "
    "name.split('.', 2)[2]: value for name, value in params.items()}\n" + _RETURN,
).explain("""
    the blocks are numbered from 1
    why: Both the checkpoint and init_gpt count from 0.
    ask: Which is the first block in init_gpt?""")
mistake(
    "biases-left-out",
    _RETURN,
    "    params = {name: value for name, value in params.items() if '.b_' not in name}\n" + _RETURN,
).explain("""
    the biases of the linear layers were left out
    why: All linear layers of GPT-2's blocks have a bias.
    ask: Which entries does init_gpt have that your result does not?""")
mistake(
    "betas-left-out",
    _RETURN,
    "    params = {name: value for name, value in params.items() if 'beta' not in name}\n" + _RETURN,
).explain("""
    the betas of the layer norms were left out
    why: ln_1.bias, ln_2.bias and ln_f.bias are the betas.
    ask: Which entries does init_gpt have that your result does not?""")
mistake("positions-left-out", _RETURN, "    del params['W_pos']\n" + _RETURN).explain("""
    W_pos was left out
    why: wpe.weight is the table of the positions, which GPT-2 has learned.
    ask: Which entries does init_gpt have that your result does not?""")
mistake(
    "names-of-the-checkpoint",
    _RETURN,
    "    params = {theirs: tensors[theirs] for theirs in names.values()}\n" + _RETURN,
).explain("""
    the parameters still have the names of the checkpoint
    why: Your functions look for the names of init_gpt.
    ask: Which keys does your result have, and which ones does init_gpt have?""")
for dtype in ("float64", "float32", "float16"):
    mistake(f"converted-to-{dtype}", _RETURN, _changed("True", f"params[name].astype(np.{dtype})")).explain(f"""
        the arrays were converted to {dtype}
        why: The arrays should stay as they are in the checkpoint{
        ": a copy in float64 needs twice the memory" if dtype == "float64" else ", with all their digits"
    }.
        ask: What is the dtype of your arrays, and what is that of the tensors?""")
mistake(
    "scaled-tokens", _RETURN, _changed("name == 'W_tok'", "params[name] * np.sqrt(params[name].shape[1])")
).explain("""
    the token vectors were multiplied by √D
    why: That is done in the 2017 transformer. GPT-2's token vectors are used as they are.
    ask: What do you do with wte.weight?""")
mistake(
    "tensors-removed",
    "    return params",
    "    original.clear()\n    return params",
    "    tensors = {name",
    "    original = tensors\n    tensors = {name",
).explain("""
    tensors were removed from the caller's dictionary
    why: The dictionary belongs to the caller, who may use it again.
    ask: How many entries does tensors have after your function was called?""")
