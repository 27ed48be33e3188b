"""Mistakes in the backward pass of a Llama block."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_NORM2 = 'dbranch, grads["norm2.gamma"] = rmsnorm_backward(dbranch, *cache["norm2"])'
_NORM1 = 'dbranch, grads["norm1.gamma"] = rmsnorm_backward(dbranch, *cache["norm1"])'
_STREAM = "dstream = dout + dbranch"
_ATTENTION = 'grouped_query_attention_backward(dstream, cache["attn"])'
_NAMED = '{name: grads[name] for name in cache["names"]}'
_RETURN = f"return dstream + dbranch, {_NAMED}"

mistake = MISTAKES.for_functions("llama.llama_block_backward")

# The sums.
mistake("no-second-residual", _STREAM, "dstream = dbranch", common=True).explain("""
    the gradient did not go past the feed-forward network along the stream
    why: The stream was used twice: by the step, and in the sum. The two gradients are added.
    ask: By how many paths does after_attention reach the output?""")
mistake("no-first-residual", _RETURN, f"return dbranch, {_NAMED}", common=True).explain("""
    the gradient did not go past the attention along the stream
    why: x was used twice: by the attention, and in the sum. The two gradients are added.
    ask: By how many paths does x reach the stream after the attention?""")
mistake("no-residuals", _STREAM, "dstream = dbranch", _RETURN, f"return dbranch, {_NAMED}").explain("""
    the gradient did not go past either of the two steps along the stream
    why: Each sum of the forward pass passes its gradient to both of its terms.
    ask: How many sums are there in the forward pass? To what does each pass its gradient?""")
mistake("first-branch-lost", _RETURN, f"return dstream, {_NAMED}").explain("""
    the gradient through the attention was dropped
    why: The output of the attention depends on x, so its gradient is added to that of the stream.
    ask: What do you do with the gradient that grouped_query_attention_backward returns for its input?""")
mistake("dout-to-both-steps", _ATTENTION, _ATTENTION.replace("dstream", "dout"), common=True).explain("""
    the attention got dout instead of the gradient of the stream
    why: The output of the attention also went through the feed-forward network, so its gradient has two parts.
    ask: Which gradients are added at after_attention?""")
mistake("last-residual-from-dout", _RETURN, f"return dout + dbranch, {_NAMED}", common=True).explain("""
    dout was added at the end instead of the gradient of the stream
    why: x also reaches the output past the attention and then through the feed-forward network.
    ask: Which gradient arrives at the first sum, the one after the attention?""")

# The norms.
for line, norm, step in ((_NORM1, "norm1", "attention"), (_NORM2, "norm2", "feed-forward network")):
    mistake(f"{norm}-skipped", line, line.replace("dbranch,", "_,", 1), common=True).explain(f"""
        the gradient of the {step} did not go through {norm}
        why: The step read the normalized stream. Its gradient must go back through the norm.
        ask: What do you do with the first of the two gradients that rmsnorm_backward returns?""")
mistake(
    "norm1-of-later-stream", _NORM1, _NORM1.replace('*cache["norm1"]', 'cache["norm2"][0], *cache["norm1"][1:]')
).explain("""
    the backward pass of norm1 was given the stream after the attention, not x
    why: rmsnorm_backward computes the statistics of its second argument again: that must be the input of the forward
         pass.
    ask: Which array did norm1 read in the forward pass?""")
mistake(
    "eps-ignored",
    *(_NORM1, _NORM1.replace('*cache["norm1"]', '*cache["norm1"][:2]')),
    *(_NORM2, _NORM2.replace('*cache["norm2"]', '*cache["norm2"][:2]')),
).explain("""
    the backward pass did not use the eps of the configuration
    why: It was 1e-5 then, the default of rmsnorm_backward.
    ask: Which arguments does rmsnorm_backward take?""")
mistake(
    "norms-skipped", _NORM1, _NORM1.replace("dbranch,", "_,", 1), _NORM2, _NORM2.replace("dbranch,", "_,", 1)
).explain("""
    the gradients of both steps did not go through the norms
    why: Each step read the normalized stream. Its gradient must go back through the norm.
    ask: What do you do with the first of the two gradients that rmsnorm_backward returns?""")

# The dictionary.
mistake("no-prefixes", _NAMED, '{name.rpartition(".")[2]: value for name, value in grads.items()}').explain("""
    the gradients have the short names of the parts
    why: The keys should be those of params: `attn.W_q`, not `W_q`. The two gammas even have the same short name.
    ask: Which function puts a prefix before each name?""")
mistake(
    "norm-gradients-missing", _NAMED, '{name: grads[name] for name in cache["names"] if "gamma" not in name}'
).explain("""
    the gradients of the two gammas are missing
    why: They are parameters as well, and training changes them.
    ask: What is the second value that rmsnorm_backward returns?""")
mistake(
    "summed-over-calls",
    _RETURN,
    'kept = cache.setdefault("kept", {})\n'
    f"    for name, value in {_NAMED}.items():\n"
    "        kept[name] = kept.get(name, 0.0) + value\n"
    "    return dstream + dbranch, dict(kept)",
).explain("""
    the gradients were added up from call to call
    why: The cache may be used again, with the same result.
    ask: Which of your lines change the cache?""")
mistake(
    "cache-used-up",
    "    grads = {}\n",
    '    if cache.setdefault("calls", 0):\n        raise KeyError("ffn")\n    cache["calls"] += 1\n    grads = {}\n',
).explain("""
    an entry was removed from the cache, so a second call fails
    why: The cache may be used again, with the same result.
    ask: Which of your lines change the cache? What does .pop do?""")
mistake(
    "always-float64",
    _RETURN,
    f'return (dstream + dbranch).astype("float64"), {{n: g.astype("float64") for n, g in {_NAMED}.items()}}',
).explain("""
    everything was converted to float64
    why: The gradients have the dtype of the inputs: float32 should stay float32.
    ask: What is the dtype of your results when x is float32? Which line causes it?""")
mistake("second-norm-of-x", '*cache["norm2"])', 'cache["norm1"][0], *cache["norm2"][1:])').explain("""
    the backward pass of the second norm got x, not the stream after the attention
    why: A norm's backward pass needs the vectors that this norm has read.
    ask: What did the second norm read in the forward pass?""")
