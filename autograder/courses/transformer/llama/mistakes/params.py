"""Mistakes in reading the tensors of a Llama checkpoint."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_GIVEN = 'n.removeprefix("model."): v for n, v in tensors.items()'
_TABLES = ' if not n.endswith("rotary_emb.inv_freq")'
_NAMES = 'f"blocks.{i}.{ours}" for theirs, ours in _TENSORS.items()'
_HEAD = 'if "lm_head.weight" in given:'
_CHECKS = '(("missing", names.keys() - given.keys()), ("unknown", given.keys() - names.keys()))'
_WIDENED = "value = (value.astype(np.uint32) << 16).view(np.float32)"
_VALUE = 'params[ours] = value if ours == "W_tok" else value.T'

mistake = MISTAKES.for_functions("llama.llama_params")

# The matrices.
mistake("not-transposed", _VALUE, "params[ours] = value", common=True).explain("""
    the matrices were not transposed
    why: Hugging Face stores (out, in), and here a layer computes x W with (in, out).
    ask: Which shape has down_proj in the file, and which has W_down here?""")
mistake(
    "square-not-transposed",
    _VALUE,
    'params[ours] = value if ours == "W_tok" or value.shape == value.shape[::-1] else value.T',
).explain("""
    the square matrices were not transposed
    why: They fit either way, and no shape shows the mistake.
    ask: Does Hugging Face store W_q in another order than W_down?""")
mistake("head-not-transposed", _VALUE, 'params[ours] = value if ours in ("W_tok", "W_head") else value.T').explain("""
    W_head was not transposed
    why: Hugging Face stores it as (V, D), like the token table. Here it is (D, V).
    ask: By which matrix does llama multiply the final vectors?""")
mistake("table-transposed", _VALUE, "params[ours] = value.T", common=True).explain("""
    the token table was transposed, too
    why: Rows are looked up in it, here and in the file: (V, D).
    ask: Which tensors are used in a product x W?""")

# The names.
for first, second in (("ffn.W_gate", "ffn.W_up"), ("norm1.gamma", "norm2.gamma")):
    a, b = (name.partition(".")[2] if "W_" in name else name for name in (first, second))
    swapped = f'{{"{first}": "{second}", "{second}": "{first}"}}'
    renamed = f'f"blocks.{{i}}." + {swapped}.get(ours, ours) for theirs, ours in _TENSORS.items()'
    mistake(f"{a}-and-{b}-exchanged", _NAMES, renamed).explain(f"""
        {a} and {b} were swapped
        why: Where the shapes are the same, nothing reports it.
        ask: Which tensor of the file belongs to {a}?""")
mistake("prefix-kept", _GIVEN, "n: v for n, v in tensors.items()", common=True).explain("""
    names that begin with `model.` were not recognized
    why: Most files have this prefix, some do not. Both should be read.
    ask: What does your code do with the first part of `model.norm.weight`?""")
mistake(
    "prefix-required",
    _GIVEN,
    'n.removeprefix("model.") if n.startswith(("model.", "lm_head")) else f"?{n}": v for n, v in tensors.items()',
).explain("""
    names that do not begin with `model.` were not recognized
    why: Some files do not have this prefix. Both should be read.
    ask: What does your code do with the name `norm.weight`?""")
mistake(
    "prefix-in-names", "params =", 'names = {theirs: f"model.{ours}" for theirs, ours in names.items()}\n    params ='
).explain("""
    the names of the parameters begin with `model.`
    why: The names should be those of init_llama.
    ask: What is the first key of your params?""")
mistake(
    "names-of-the-file",
    "    params = {}",
    "    names = {theirs: theirs for theirs in names}\n    params = {}",
    _VALUE,
    'params[ours] = value if ours == "embed_tokens.weight" else value.T',
).explain("""
    the parameters have the names of the file
    why: llama looks for the names of init_llama.
    ask: Which key of params has the token table?""")
mistake(
    "head-always", _HEAD, 'if given.setdefault("lm_head.weight", given.get("embed_tokens.weight")) is not None:'
).explain("""
    without lm_head.weight, W_head was the transposed token table
    why: Such a model is tied: it has no W_head, and llama uses the table.
    ask: What should params contain if there is no lm_head.weight?""")
mistake("head-lost", _HEAD, 'if given.pop("lm_head.weight", None) is None and False:').explain("""
    lm_head.weight was ignored
    why: Without W_head, a model that is not tied has no head.
    ask: What do you do with lm_head.weight?""")
mistake("head-required", _HEAD, "if True:").explain("""
    a file without lm_head.weight was not accepted
    why: The head may be tied. Then the file has no matrix for it.
    ask: In which case may lm_head.weight be missing?""")
mistake("tables-refused", _TABLES, "").explain("""
    the tables rotary_emb.inv_freq were not ignored
    why: Older files have them. They hold the angles that rope computes by itself.
    ask: Which tensors of a file may be ignored?""")
mistake("tables-of-layers-refused", _TABLES, ' if n.removeprefix("model.") != "rotary_emb.inv_freq"').explain("""
    the tables rotary_emb.inv_freq of the layers were not ignored
    why: Older files have one in each layer: layers.0.self_attn.rotary_emb.inv_freq.
    ask: With which names do your files have such a table?""")


# BF16.
mistake("bf16-as-integers", _WIDENED, "value = value.astype(np.float32)", common=True).explain("""
    the bits of BF16 numbers were read as integers
    why: astype keeps the number and changes the bits. The bits 0x3F80 stand for 1.0, and not for 16,256.
    ask: What is np.array([0x3F80], dtype=np.uint16).astype(np.float32)?""")
mistake("bf16-as-float16", _WIDENED, "value = value.view(np.float16).astype(np.float32)", common=True).explain("""
    the bits of BF16 numbers were read as float16
    why: float16 has 5 bits for the exponent and 10 for the fraction, BF16 has 8 and 7.
    ask: How many bits of the exponent does each of the two formats have?""")
mistake("bf16-to-float64", _WIDENED, f"{_WIDENED}.astype(np.float64)").explain("""
    BF16 numbers became float64
    why: float32 is enough for every BF16 number, and needs half the memory.
    ask: How many gigabytes do a billion numbers take in your dtype, and how many in float32?""")
mistake("all-float32", _VALUE, 'params[ours] = (value if ours == "W_tok" else value.T).astype(np.float32)').explain("""
    everything was converted to float32
    why: Arrays other than BF16 keep their dtype: float64 should stay float64.
    ask: What is float(np.float32(0.1)), and what happens to 0.1 in a float64 tensor in your code?""")
mistake("all-float64", _VALUE, 'params[ours] = (value if ours == "W_tok" else value.T).astype(np.float64)').explain("""
    everything was converted to float64
    why: Arrays other than BF16 keep their dtype, and BF16 numbers become float32.
    ask: How many bytes does a float32 tensor of shape (32000, 2048) take in the file, and how many in your params?""")

# What is refused.
mistake(
    "missing-unnoticed",
    _CHECKS,
    '(("unknown", given.keys() - names.keys()),)',
    "for theirs, ours in names.items():\n        value",
    "for theirs, ours in names.items():\n        if theirs not in given:\n            continue\n        value",
).explain("""
    a missing tensor was not reported
    why: The error then comes later, from llama, and does not say what is wrong with the file.
    ask: What does your code do if norm.weight is missing?""")
mistake("unknown-ignored", _CHECKS, '(("missing", names.keys() - given.keys()),)', common=True).explain("""
    unknown tensors were ignored
    why: A tensor that is not used, such as a bias, would change what the model computes.
    ask: What does your code do with layers.0.self_attn.q_proj.bias?""")
