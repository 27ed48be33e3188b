"""Mistakes in `gpt2`: names, buffers and the head of a checkpoint."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_PREFIX = '{name.removeprefix("transformer."): tensor for name, tensor in tensors.items()}'
_CHECK = "if missing or unknown:"
_LAYERS = "n_layers = 1 + max((int(number) for number in numbers if number.isdecimal()), default=0)"
_PARAMS = "params = {ours: tensors[theirs] for ours, theirs in names.items()}"
_TIED = 'if head is not None and not np.array_equal(head, params["W_tok"]):'

mistake = MISTAKES.for_functions("gpt2.gpt2_params")
mistake("prefix-kept", _PREFIX, "dict(tensors)").explain("""
    names that begin with `transformer.` were not recognized
    why: transformers saves a language model with this prefix, and the file on the hub does not have it.
    ask: Which names do the tensors of your file begin with?""")
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
mistake("head-always-kept", _TIED, "if head is not None:").explain("""
    a head that equals the token table was kept as W_head
    why: A tied head is the token table itself. Kept apart, it takes the memory of 39 million numbers in GPT-2 small.
    ask: What is the difference between lm_head.weight and wte.weight in a tied model?""")
mistake("head-not-transposed", 'params["W_head"] = head.T', 'params["W_head"] = head').explain("""
    W_head is not transposed
    why: lm_head is an ordinary linear layer of PyTorch, stored as (out, in) = (V, D). W_head is (D, V).
    ask: Which shape does init_gpt give for W_head?""")
mistake("head-from-the-table", "return", "params.setdefault('W_head', params['W_tok'].T)\n    return").explain("""
    a tied model got a W_head, the transposed token table
    why: init_gpt has no W_head if the head is tied.
    ask: Which names does init_gpt return for a tied model?""")
mistake("layers-by-text", _LAYERS, "n_layers = 1 + int(max(numbers, default=0))").explain("""
    the numbers of the blocks were compared as text, where "9" comes after "11"
    why: With more than ten blocks, the last ones are lost.
    ask: What is max(["9", "10", "11"])?""")
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
    why: A KeyError shows only the first missing name, and does not say that the file is incomplete.
    ask: What does your code do if ln_f.bias is missing?""")
mistake("unknown-ignored", _CHECK, "if missing:").explain("""
    unknown tensors were ignored
    why: A tensor that nothing uses is a sign that the model does more than this GPT, such as cross-attention.
    ask: What does your code do with h.0.crossattention.c_attn.weight?""")
