"""Mistakes in `gpt2`: names, buffers and the head of a checkpoint."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_PREFIX = '{name.removeprefix("transformer."): tensor for name, tensor in tensors.items()}'
_CHECK = "if missing or unknown:"
_PARAMS = "params = {ours: tensors[theirs] for ours, theirs in names.items()}"
_IGNORED = 'ignored |= {f"h.{i}.attn.bias", f"h.{i}.attn.masked_bias"}'
_TIED = 'if head is not None and not np.array_equal(head, params["W_tok"]):'
_LAYERS = "n_layers = 1 + max((int(number) for number in numbers if number.isdecimal()), default=0)"
_UNKNOWN = "unknown = sorted(tensors.keys() - ignored - set(names.values()))"

mistake = MISTAKES.for_functions("gpt2.gpt2_params")
mistake("prefix-kept", _PREFIX, "dict(tensors)").explain("""
    names that begin with `transformer.` were not recognized
    why: transformers saves a language model with this prefix, and the file on the hub does not have it.
    ask: Which names do the tensors of your file begin with?""")
mistake(
    "prefix-required",
    _PREFIX,
    '{name.removeprefix("transformer."): tensor for name, tensor in tensors.items()'
    ' if name.startswith("transformer.")}',
).explain("""
    names without `transformer.` were ignored
    why: The file of GPT-2 small on the hub has no prefix, and lm_head.weight never has it.
    ask: Which names do the tensors of your file begin with?""")
mistake("first-part-cut", _PREFIX, '{name.partition(".")[2]: tensor for name, tensor in tensors.items()}').explain("""
    the first part of every name was removed, whatever it is
    why: Without the prefix, `wte.weight` then becomes `weight`.
    ask: What do you make of wte.weight?""")
mistake(
    "prefix-cut-unless-a-head",
    _PREFIX,
    '{name[12:] if "lm_head.weight" in tensors and name != "lm_head.weight" else name: tensor'
    " for name, tensor in tensors.items()}",
).explain("""
    the presence of lm_head.weight decided whether the names have a prefix
    why: A file may have the prefix without a head, and a head without the prefix.
    ask: What do you make of transformer.wte.weight in a file without lm_head.weight?""")
mistake("buffers-refused", _IGNORED, "pass").explain("""
    the mask buffers were rejected as unknown tensors
    why: Old versions of transformers saved the causal mask in every block. The file of GPT-2 small has these buffers.
    ask: What is in h.0.attn.bias?""")
mistake("masked-bias-refused", _IGNORED, 'ignored |= {f"h.{i}.attn.bias"}').explain("""
    the buffer h.{i}.attn.masked_bias was rejected as an unknown tensor
    why: It is the large negative number that old versions of transformers wrote into hidden scores.
    ask: Which two buffers does the docstring mention?""")
mistake(
    "buffers-kept",
    _PARAMS,
    _PARAMS + "\n    for name in ignored - {'lm_head.weight'}:\n        if name in tensors:\n"
    "            params[name.replace('h.', 'blocks.', 1)] = tensors[name]",
).explain("""
    the mask buffers were kept as parameters
    why: They are no parameters: the causal mask, and a large negative number. Training would change them.
    ask: Which entries of your result are not in the list of init_gpt?""")
mistake(
    "query-biases-taken-for-buffers",
    _PARAMS,
    "names = {ours: theirs for ours, theirs in names.items() if not theirs.endswith('attn.bias')}\n    " + _PARAMS,
).explain("""
    every name that ends with attn.bias was left out, and with it h.{i}.attn.c_attn.bias
    why: c_attn.bias is the bias of queries, keys and values. Only attn.bias is a buffer.
    ask: How does the name h.0.attn.c_attn.bias end?""")
mistake(
    "all-attention-biases-left-out",
    _PARAMS,
    "names = {ours: theirs for ours, theirs in names.items() if not ('.attn.' in theirs and 'bias' in theirs)}\n    "
    + _PARAMS,
).explain("""
    all biases of attention were left out, not only the mask buffers
    why: c_attn.bias and c_proj.bias are parameters. Only attn.bias and attn.masked_bias are buffers.
    ask: Which tensors of block 0 have "attn" and "bias" in their names?""")
mistake("head-always-kept", _TIED, "if head is not None:").explain("""
    a head that equals the token table was kept as W_head
    why: A tied head is the token table itself. Kept apart, it takes the memory of 39 million numbers in GPT-2 small.
    ask: What is the difference between lm_head.weight and wte.weight in a tied model?""")
mistake("head-ignored", _TIED, "if False:", group="head-lost").explain("""
    lm_head.weight was always left out
    why: A model whose head is not tied has its own matrix there.
    ask: Where does your code look at lm_head.weight?""")
mistake("head-not-transposed", 'params["W_head"] = head.T', 'params["W_head"] = head').explain("""
    W_head is not transposed
    why: lm_head is an ordinary linear layer of PyTorch, stored as (out, in) = (V, D). W_head is (D, V).
    ask: Which shape does init_gpt give for W_head?""")
mistake("head-compared-roughly", "np.array_equal(head,", "np.allclose(head,").explain("""
    a head that is nearly equal to the token table was left out
    why: After a few steps of training with separate matrices, they still differ only a little.
    ask: Which comparison is exact: np.allclose or np.array_equal?""")
mistake(
    "head-compared-by-shape", _TIED, 'if head is not None and head.shape != params["W_tok"].shape:', group="head-lost"
).explain("""
    the head was left out because its shape is that of the token table
    why: Both are (V, D), whether or not they are equal.
    ask: Which two arrays do you compare, and what of them?""")
mistake(
    "head-compared-by-one-row", _TIED, 'if head is not None and not np.array_equal(head[0], params["W_tok"][0]):'
).explain("""
    only one row of the head was compared with the token table
    why: Two tables may agree in some rows and not in others.
    ask: How many entries do you compare?""")
mistake(
    "head-from-the-table", "    return params", "    params.setdefault('W_head', params['W_tok'].T)\n    return params"
).explain("""
    a tied model got a W_head, the transposed token table
    why: init_gpt has no W_head if the head is tied.
    ask: Which names does init_gpt return for a tied model?""")
mistake("layers-by-text", _LAYERS, "n_layers = 1 + int(max(numbers, default=0))").explain("""
    the numbers of the blocks were compared as text, where "9" comes after "11"
    why: With more than ten blocks, the last ones are lost.
    ask: What is max(["9", "10", "11"])?""")
mistake(
    "blocks-sorted-by-text",
    _PARAMS,
    "places = {number: place for place, number in enumerate(sorted(map(str, range(n_layers))))}\n"
    "    names = {ours if not ours.startswith('blocks.') else f\"blocks.{places[ours.split('.')[1]]}.\" +"
    " ours.split('.', 2)[2]: theirs for ours, theirs in names.items()}\n    " + _PARAMS,
).explain("""
    the blocks were sorted as text: 0, 1, 10, 11, 2, …
    why: With more than ten blocks, they are computed in the wrong order.
    ask: What is sorted(["2", "10", "1"])?""")
mistake(
    "last-block-lost",
    _LAYERS,
    _LAYERS.replace("1 + max", "max") + "\n    n_layers = max(n_layers, 1)",
    _CHECK,
    "if missing:",
).explain("""
    the last block was lost
    why: The blocks are numbered from 0, so their number is the largest number plus 1.
    ask: How many blocks does a file with h.0 and h.1 have?""")
mistake("always-12-layers", _LAYERS, "n_layers = 12").explain("""
    the number of blocks was 12, as in GPT-2 small
    why: Other sizes of GPT-2 have 24, 36 or 48.
    ask: How many blocks are in the tensors that you were given?""")
mistake("no-blocks-accepted", "default=0", "default=-1").explain("""
    a checkpoint without blocks was accepted
    why: A GPT has at least one block. Here, all of them are missing.
    ask: What does your code return if no name begins with h?""")
mistake(
    "gaps-closed",
    _PARAMS,
    "numbers = sorted({int(number) for number in numbers if number.isdecimal()})\n    " + _PARAMS,
    _CHECK,
    "missing = [name for name in missing if not name.startswith('h.') or name.split('.')[1] in numbers]\n"
    "    names = {ours: theirs for ours, theirs in names.items() if theirs in tensors}\n    if missing or unknown:",
).explain("""
    a gap in the numbers of the blocks was not noticed
    why: If block 1 of three is missing, the file is not complete.
    ask: Which blocks should there be if the largest number is 2?""")
mistake("missing-not-checked", _CHECK, "if unknown:").explain("""
    a missing tensor did not raise ValueError with its name
    why: The docstring promises it. A KeyError shows only the first name, and says nothing about the file.
    ask: What does your code do if ln_f.bias is missing?""")
mistake(
    "missing-left-out",
    _CHECK,
    "names = {ours: theirs for ours, theirs in names.items() if theirs in tensors}\n    if unknown:",
).explain("""
    parameters whose tensors are missing were left out silently
    why: The docstring promises a ValueError. A file that is not complete should not be used.
    ask: What does your code do if ln_f.bias is missing?""")
mistake("unknown-ignored", _CHECK, "if missing:").explain("""
    unknown tensors were ignored
    why: A tensor that nothing uses is a sign that the model does more than this GPT, such as cross-attention.
    ask: What does your code do with h.0.crossattention.c_attn.weight?""")
mistake("unknown-kept", _CHECK, "names |= {name: name for name in unknown}\n    if missing:").explain("""
    unknown tensors were kept under their own names
    why: A tensor that nothing uses is a sign that the model does more than this GPT, such as cross-attention.
    ask: What does your code do with h.0.crossattention.c_attn.weight?""")
mistake(
    "unknown-in-blocks-ignored",
    _UNKNOWN,
    _UNKNOWN + "\n    unknown = [name for name in unknown if not name.startswith('h.')]",
).explain("""
    unknown tensors inside the blocks were ignored
    why: A tensor that nothing uses is a sign that the model does more than this GPT, such as cross-attention.
    ask: What does your code do with h.0.crossattention.c_attn.weight?""")
