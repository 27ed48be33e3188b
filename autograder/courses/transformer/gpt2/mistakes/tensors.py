"""Mistakes in `gpt2`: where each tensor of a checkpoint goes."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_RETURN = "    return params"
_MATRICES = ("attn.W_qkv", "attn.W_o", "ffn.W_1", "ffn.W_2")

mistake = MISTAKES.for_functions("gpt2.gpt2_params")


def _changed(condition: str, change: str) -> str:
    """Return the code that changes the parameters whose names fulfill a condition, before the result is returned."""
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
        why: GPT-2's layer Conv1D stores its matrix as (in, out), as you do. The square W_o fits either
             way; the others give an error far from here.
        ask: Which shape does the tensor have in the file, and which one does {matrix.partition(".")[2]} have?""")
for name, first, second, why in (
    ("norms", ".ln_1.", ".ln_2.", "ln_1 comes before attention, and ln_2 before the feed-forward network."),
    (
        "ffn-biases",
        ".mlp.c_fc.bias",
        ".mlp.c_proj.bias",
        "c_fc is the first layer, whose bias is b_1, and c_proj is the second.",
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
mistake(
    "values-first",
    _RETURN,
    _changed(
        "name.endswith('_qkv')", "np.concatenate([np.split(params[name], 3, axis=-1)[i] for i in (2, 0, 1)], axis=-1)"
    ),
).explain("""
    W_qkv and b_qkv have the values first
    why: c_attn holds queries, keys and values side by side, in the order that W_qkv has: nothing has to be moved.
    ask: What do you do with the columns of c_attn.weight?""")
mistake("same-norm-twice", 'f"h.{i}.ln_2.weight"', 'f"h.{i}.ln_1.weight"').explain("""
    both norms of a block have the gamma of the first
    why: Each norm has its own parameters, ln_1 and ln_2.
    ask: Which tensor is ln2.gamma?""")
mistake(
    "names-of-the-checkpoint",
    _RETURN,
    "    params = {theirs: tensors[theirs] for theirs in names.values()}\n" + _RETURN,
).explain("""
    the parameters still have the names of the checkpoint
    why: Your functions look for the names of init_gpt.
    ask: Which keys does your result have, and which ones does init_gpt have?""")
mistake("converted-to-float64", _RETURN, _changed("True", "params[name].astype(np.float64)")).explain("""
    the arrays were converted to float64
    why: The arrays should stay as they are in the checkpoint: a copy in float64 needs twice the memory.
    ask: What is the dtype of your arrays, and what is that of the tensors?""")
