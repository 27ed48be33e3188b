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
mistake("second-branch-lost", _STREAM, "dstream = dout").explain("""
    the gradient through the feed-forward network was dropped
    why: The output of the network depends on the stream that it read, so its gradient is added to that of the stream.
    ask: What do you do with the gradient that swiglu_backward returns for its input?""")
mistake("first-branch-lost", _RETURN, f"return dstream, {_NAMED}").explain("""
    the gradient through the attention was dropped
    why: The output of the attention depends on x, so its gradient is added to that of the stream.
    ask: What do you do with the gradient that grouped_query_attention_backward returns for its input?""")
mistake("branches-lost", _STREAM, "dstream = dout", _RETURN, f"return dstream, {_NAMED}").explain("""
    the gradients through both steps were dropped
    why: The output of a step depends on the stream that it read, so its gradient is added to that of the stream.
    ask: What do you do with the gradients that the backward passes of the two steps return for their inputs?""")
mistake("dout-to-both-steps", _ATTENTION, _ATTENTION.replace("dstream", "dout"), common=True).explain("""
    the attention got dout instead of the gradient of the stream
    why: The output of the attention also went through the feed-forward network, so its gradient has two parts.
    ask: Which gradients are added at after_attention?""")
mistake("branch-gradient-to-attention", _ATTENTION, _ATTENTION.replace("dstream", "dbranch")).explain("""
    the attention got only the gradient that came through the feed-forward network
    why: The output of the attention also went past the network along the stream, so its gradient has two parts.
    ask: Which gradients are added at after_attention?""")
mistake("last-residual-from-dout", _RETURN, f"return dout + dbranch, {_NAMED}", common=True).explain("""
    dout was added at the end instead of the gradient of the stream
    why: x also reaches the output past the attention and then through the feed-forward network.
    ask: Which gradient arrives at the first sum, the one after the attention?""")
mistake("dout-added-again", _RETURN, f"return dout + dstream + dbranch, {_NAMED}").explain("""
    dout was added again at the end, although the gradient of the stream contains it
    why: The gradient of the stream is dout plus what came through the feed-forward network. It is passed on once.
    ask: If both steps return 0, how often is dout in your dx?""")
mistake("dout-in-place", _STREAM, "dout += dbranch\n    dstream = dout").explain("""
    dout += … changed the caller's array
    why: The caller may still need dout.
    ask: Which of your lines write into an array that you did not create?""")

# The norms.
for line, norm, step in ((_NORM1, "norm1", "attention"), (_NORM2, "norm2", "feed-forward network")):
    mistake(f"{norm}-skipped", line, line.replace("dbranch,", "_,", 1), common=True).explain(f"""
        the gradient of the {step} did not go through {norm}
        why: The step read the normalized stream. Its gradient must go back through the norm.
        ask: What do you do with the first of the two gradients that rmsnorm_backward returns?""")
    mistake(f"eps-ignored-{norm}", line, line.replace(f'*cache["{norm}"]', f'*cache["{norm}"][:2]')).explain(f"""
        the backward pass of {norm} did not use the eps of the configuration
        why: It was 1e-5 then, the default of rmsnorm_backward.
        ask: Which arguments does rmsnorm_backward take?""")
    mistake(
        f"output-for-input-{norm}",
        line,
        line.replace(
            f'*cache["{norm}"]', f'cache["{"attn" if norm == "norm1" else "ffn"}"]["x"], *cache["{norm}"][1:]'
        ),
    ).explain(f"""
        rmsnorm_backward got the output of {norm} instead of the input
        why: The gradient of a norm depends on the mean square of its input.
        ask: What does rmsnorm_backward expect as its second argument? Did you keep it in the cache?""")
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
for part, index, what in (("inputs", 0, "input"), ("gammas", 1, "gamma")):
    lines = []
    for line, norm, other in ((_NORM1, "norm1", "norm2"), (_NORM2, "norm2", "norm1")):
        got = [f'cache["{other if i == index else norm}"][{i}]' for i in range(3)]
        lines += [line, line.replace(f'*cache["{norm}"]', ", ".join(got))]
    mistake(f"{part}-exchanged", *lines).explain(f"""
        each of the two norms got the {what} of the other
        why: The gradient of a norm depends on its own input and its own gamma.
        ask: What were the {what} of norm1 and that of norm2 in the forward pass?""")
mistake(
    "input-of-norm1-for-both", _NORM2, _NORM2.replace('*cache["norm2"]', 'cache["norm1"][0], *cache["norm2"][1:]')
).explain("""
    norm2 got x in the backward pass, not the stream after the attention
    why: The gradient of a norm depends on its input.
    ask: Which array was the input of norm2 in the forward pass?""")
mistake(
    "gradients-exchanged",
    *(_NORM1, _NORM1.replace('grads["norm1.gamma"]', 'grads["norm2.gamma"]')),
    *(_NORM2, _NORM2.replace('grads["norm2.gamma"]', 'grads["norm1.gamma"]')),
).explain("""
    the gradients of norm1.gamma and norm2.gamma were swapped
    why: They have the same shape, so there is no error message.
    ask: Which of the two norms belongs to the attention?""")

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
    "ffn-gradients-missing", _NAMED, '{name: grads[name] for name in cache["names"] if "ffn" not in name}'
).explain("""
    the gradients of the feed-forward network are missing
    why: The grads have the same keys as the params.
    ask: What is the second value that swiglu_backward returns?""")
for ending, count in (("batch", "len(dout)"), ("positions", "(dout.size / dout.shape[-1])")):
    mistake(
        f"averaged-over-{ending}",
        _NAMED,
        f'{{name: grads[name] / {count} for name in cache["names"]}}',
    ).explain(f"""
        the gradients of the parameters were averaged over the {"first axis" if ending == "batch" else "positions"}
        why: They are sums over all positions. The mean belongs to the loss, and dout already includes it.
        ask: By what do your gradients differ from the sum over all positions?""")
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
mistake(
    "one-cache-for-all-calls",
    "    return after_ffn, cache |",
    '    cache |= {"norm1": (x, gamma1, eps), "norm2": (after_attention, gamma2, eps)}\n'
    '    llama_block.__dict__.setdefault("kept", {}).update(cache)\n'
    "    return after_ffn, llama_block.kept if True else cache |",
    inside="llama_block",
).explain("""
    all calls of llama_block shared one cache
    why: A model has many blocks. All of them run forward before the first runs backward.
    ask: Where is your cache created: inside the function, or once for all calls?""")
