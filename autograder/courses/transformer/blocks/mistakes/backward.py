"""Mistakes in the backward pass of a block."""

from autograder.courses.transformer.common.mistakes.block_forms import InBothForms
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_GRADIENTS = '{name: grads[name] for name in cache["names"]}'
_RETURN = f"return dx, {_GRADIENTS}"
_PRE_LN1 = 'dbranch, dln1["gamma"], dln1["beta"] = layernorm_backward(dbranch, *cache["ln1"])'
_PRE_LN2 = 'dbranch, dln2["gamma"], dln2["beta"] = layernorm_backward(dbranch, *cache["ln2"])'
_POST_LN1 = 'dsum, dln1["gamma"], dln1["beta"] = layernorm_backward(dstream, *cache["ln1"])'
_POST_LN2 = 'dsum, dln2["gamma"], dln2["beta"] = layernorm_backward(dout, *cache["ln2"])'
_PRE_SUMS, _POST_SUMS = (
    ("dstream = dout + dbranch", "dx = dstream + dbranch"),
    ("dstream = dsum + dbranch", "dx = dsum + dbranch"),
)
_PREFIXES = {"ln1": "dln1", "attn": "dattn", "ln2": "dln2", "ffn": "dffn"}


def _with_inputs_exchanged(line: str) -> str:
    norm, other = ("ln1", "ln2") if "ln1" in line else ("ln2", "ln1")
    return line.replace(f'*cache["{norm}"]', f'cache["{other}"][0], cache["{norm}"][1]')


def _with_gradients_exchanged(line: str) -> str:
    norm = "dln1" if "ln1" in line else "dln2"
    return line.replace(f'{norm}["gamma"], {norm}["beta"]', f'{norm}["beta"], {norm}["gamma"]')


mistake = MISTAKES.for_functions("blocks.block_backward")
in_forms = InBothForms(MISTAKES, "blocks.block_backward")

# The sums.
in_forms(
    "no-second-residual", _PRE_SUMS[0], "dstream = dbranch", _POST_SUMS[0], "dstream = dbranch", common=True
).explain("""
    the gradient did not go past the feed-forward network along the stream
    why: The stream was used twice: by the step, and in the sum. The two gradients are added.
    ask: By how many paths does after_attention reach the output?""")
in_forms("no-first-residual", _PRE_SUMS[1], "dx = dbranch", _POST_SUMS[1], "dx = dbranch", common=True).explain("""
    the gradient did not go past the attention along the stream
    why: x was used twice: by the attention, and in the sum. The two gradients are added.
    ask: By how many paths does x reach the stream after the attention?""")
in_forms(
    "no-residuals",
    *(_PRE_SUMS[0], "dstream = dbranch", _PRE_SUMS[1], "dx = dbranch"),
    *(_POST_SUMS[0], "dstream = dbranch", _POST_SUMS[1], "dx = dbranch"),
).explain("""
    the gradient did not go past either of the two steps along the stream
    why: Each sum of the forward pass passes its gradient to both of its terms.
    ask: How many sums are there in the forward pass? To what does each pass its gradient?""")
in_forms("second-branch-lost", _PRE_SUMS[0], "dstream = dout * 1.0", _POST_SUMS[0], "dstream = dsum * 1.0").explain("""
    the gradient through the feed-forward network was dropped
    why: The output of the network depends on the stream that it read, so its gradient is added to that of the stream.
    ask: What do you do with the gradient that ffn_backward returns for its input?""")
in_forms("first-branch-lost", _PRE_SUMS[1], "dx = dstream * 1.0", _POST_SUMS[1], "dx = dsum * 1.0").explain("""
    the gradient through the attention was dropped
    why: The output of the attention depends on x, so its gradient is added to that of the stream.
    ask: What do you do with the gradient that multihead_attention_backward returns for x?""")
in_forms(
    "branches-lost",
    *(_PRE_SUMS[0], "dstream = dout * 1.0", _PRE_SUMS[1], "dx = dstream * 1.0"),
    *(_POST_SUMS[0], "dstream = dsum * 1.0", _POST_SUMS[1], "dx = dsum * 1.0"),
).explain("""
    the gradients through the attention and the feed-forward network were both dropped
    why: The output of a step depends on the stream that it read, so its gradient is added to that of the stream.
    ask: What do you do with the gradients that the backward passes of the two steps return for their inputs?""")
mistake(
    "dout-to-both-steps",
    "dropout_backward(dstream,",
    "dropout_backward(dout,",
    common=True,
).explain("""
    with "pre", the attention got dout instead of the gradient of the stream
    why: The output of the attention also went through the feed-forward network, so its gradient has two parts.
    ask: Which gradients are added at after_attention?""")
mistake(
    "branch-gradient-to-attention",
    "dropout_backward(dstream,",
    "dropout_backward(dbranch,",
).explain("""
    with "pre", the attention got only the gradient that came through the feed-forward network
    why: The output of the attention also went past the network along the stream, so its gradient has two parts.
    ask: Which gradients are added at after_attention?""")
mistake("last-residual-from-dout", _PRE_SUMS[1], "dx = dout + dbranch", common=True).explain("""
    with "pre", dout was added at the end instead of the gradient of the stream
    why: x also reaches the output past the attention and then through the feed-forward network.
    ask: Which gradient arrives at the first sum, the one after the attention?""")
mistake("dout-added-again", _PRE_SUMS[1], "dx = dout + dstream + dbranch").explain("""
    with "pre", dout was added again at the end, although the gradient of the stream contains it
    why: The gradient of the stream is dout plus what came through the feed-forward network. It is passed on once.
    ask: If both steps return 0, how often is dout in your dx?""")
mistake("dout-in-place", _PRE_SUMS[0], "dout += dbranch\n        dstream = dout").explain("""
    dout += … changed the caller's array
    why: The caller may still need dout.
    ask: Which of your lines write into an array that you did not create?""")

# The norms.
_PAST_NORM = {
    "first": (_POST_SUMS[1], "dx = dstream + dbranch"),
    "second": (_POST_SUMS[0], "dstream = dout + dbranch"),
}
_BRANCH_PAST_NORM = {
    "first": ('dropout_backward(dsum, cache["attn_mask"])', 'dropout_backward(dstream, cache["attn_mask"])'),
    "second": ('dropout_backward(dsum, cache["ffn_mask"])', 'dropout_backward(dout, cache["ffn_mask"])'),
}
for norms, which in ((("first",), "ln1"), (("second",), "ln2"), (("first", "second"), "the norms")):
    ending = "" if len(norms) == 2 else f"-{norms[0]}"
    mistake(f"residuals-past-norms{ending}", *(text for norm in norms for text in _PAST_NORM[norm])).explain(f"""
        with "post", the gradient along the stream bypassed {which}
        why: In this form the norm comes after the sum, so both terms of the sum go through it.
        ask: In the backward pass of a post-norm step, which comes first: the norm or the sum?""")
    mistake(f"branches-past-norms{ending}", *(text for norm in norms for text in _BRANCH_PAST_NORM[norm])).explain(f"""
        with "post", the gradient of the branch bypassed {which}
        why: In this form the norm comes after the sum, so both terms of the sum go through it.
        ask: In the backward pass of a post-norm step, which comes first: the norm or the sum?""")
for name, norm, pre, post in (("second", "ln2", _PRE_LN2, _POST_LN2), ("first", "ln1", _PRE_LN1, _POST_LN1)):
    upstream = {"ln2": "dout", "ln1": "dstream"}[norm]
    skipped = post.replace("dsum, ", "dsum, (", 1).replace("] = layer", f"]) = {upstream}, layer")
    skipped = skipped.replace(f'(d{norm}["gamma"]', f'(_, d{norm}["gamma"]')
    in_forms(f"{name}-norm-skipped", pre, pre.replace("dbranch,", "_,", 1), post, skipped).explain(f"""
        the gradient did not go through {norm}
        why: The gain and the bias get their gradients, but the gradient of the stream must also go through the norm.
        ask: What do you do with the first of the three gradients that layernorm_backward returns?""")
    in_forms(
        f"gamma-beta-exchanged-{norm}",
        *(pre, pre.replace(f'{norm}["gamma"], d{norm}["beta"]', f'{norm}["beta"], d{norm}["gamma"]')),
        *(post, post.replace(f'{norm}["gamma"], d{norm}["beta"]', f'{norm}["beta"], d{norm}["gamma"]')),
    ).explain(f"""
        the gradients of gamma and beta of {norm} were swapped
        why: Both have the shape (D,), so there is no error message.
        ask: In which order does layernorm_backward return them?""")
    other = {"ln1": "ln2", "ln2": "ln1"}[norm]
    for part, index, what in (("input", 0, "input"), ("gamma", 1, "gamma")):
        got = [f'cache["{norm}"][{i}]' if i != index else f'cache["{other}"][{i}]' for i in (0, 1)]
        changed = (f'*cache["{norm}"]', ", ".join(got))
        in_forms(f"{part}-of-other-norm-{norm}", pre, pre.replace(*changed), post, post.replace(*changed)).explain(f"""
            {norm} got the {what} of {other} in the backward pass
            why: The gradient of a norm depends on its own input and its own gamma.
            ask: What were the {what} of ln1 and the {what} of ln2 in the forward pass?""")
_BOTH = (_PRE_LN2, _PRE_LN1, _POST_LN2, _POST_LN1)
in_forms(
    "norm-inputs-exchanged",
    *(text for line in _BOTH for text in (line, _with_inputs_exchanged(line))),
).explain("""
    each of the two norms got the input of the other
    why: The gradient of a norm depends on its input.
    ask: Which array was the input of ln2 in the forward pass?""")
in_forms(
    "gamma-beta-exchanged",
    *(text for line in _BOTH for text in (line, _with_gradients_exchanged(line))),
).explain("""
    the gradients of gamma and beta were swapped
    why: Both have the shape (D,), so there is no error message.
    ask: In which order does layernorm_backward return them?""")
_OUTPUTS = {
    ("pre", "ln1"): 'cache["attn"]["x"]',
    ("pre", "ln2"): 'cache["ffn"]["x"]',
    ("post", "ln1"): 'cache["after_attention"]',
    ("post", "ln2"): 'cache["after_ffn"]',
}
_LINES = {("pre", "ln1"): _PRE_LN1, ("pre", "ln2"): _PRE_LN2, ("post", "ln1"): _POST_LN1, ("post", "ln2"): _POST_LN2}
_NOT_SUMS = {"ln1": 'cache["attn"]["x"]', "ln2": 'cache["after_attention"]'}
for norms in (("ln1",), ("ln2",), ("ln1", "ln2")):
    ending, which = "-".join(norms), " and ".join(norms)
    for form in ("pre", "post"):
        edits = [
            (_LINES[form, n], _LINES[form, n].replace(f'*cache["{n}"]', f'{_OUTPUTS[form, n]}, cache["{n}"][1]'))
            for n in norms
        ]
        mistake(f"norm-output-for-input-{ending}-with-{form}", *(text for edit in edits for text in edit)).explain(f"""
            with "{form}", layernorm_backward got the output of {which} instead of the input
            why: The gradient of a norm depends on the mean and the variance of its input.
            ask: What does layernorm_backward expect as its second argument? Did you keep it in the cache?""")
    edits = [
        (_LINES["post", n], _LINES["post", n].replace(f'*cache["{n}"]', f'{_NOT_SUMS[n]}, cache["{n}"][1]'))
        for n in norms
    ]
    mistake(f"norm-input-without-branch-{ending}", *(text for edit in edits for text in edit)).explain(f"""
        with "post", {which} got the stream without the output of the branch in the backward pass
        why: In this form the input of a norm is the sum of the two.
        ask: What was the argument of {which} in the forward pass?""")
mistake("norm-gradients-exchanged", '(dln1, "ln1.")', '(dln2, "ln1.")', '(dln2, "ln2.")', '(dln1, "ln2.")').explain("""
    the gradients of ln1 and ln2 were swapped
    why: They have the same shapes, so there is no error message.
    ask: Under which names do you store the gradients of the norm that belongs to the attention?""")

# The form.
for name, condition, title in (
    ("always-pre", "if True:", 'the backward pass is always that of "pre"'),
    ("always-post", "if False:", 'the backward pass is always that of "post"'),
    ("pre-and-post-exchanged", 'if cache["norm"] == "post":', 'the backward passes of "pre" and "post" were swapped'),
):
    mistake(name, 'if cache["norm"] == "pre":', condition).explain(f"""
        {title}
        why: Each of the two forms has its own backward pass.
        ask: How does the backward pass find out which form was used?""")

# The dictionary.
for names in (tuple(_PREFIXES), *((name,) for name in _PREFIXES)):
    renamed = [text for name in names for text in (f'prefixed({_PREFIXES[name]}, "{name}.")', _PREFIXES[name])]
    names_of = "" if len(names) == 4 else f" of {names[0]}"
    mistake(f"no-prefixes{names_of.replace(' of ', '-')}", *renamed, _GRADIENTS, "grads").explain(f"""
        the prefixes are missing from the keys of the gradients{names_of}
        why: The gradient of attn.W_o is stored under that name. In a network of many blocks, W_o alone is ambiguous.
        ask: Which keys does `params` have, and which keys does your dict have?""")
for ending, test, which in (
    *((f"{n}-gradients", f'not name.startswith("{n}.")', f"gradients of {n}") for n in _PREFIXES),
    ("norm-gradients", '"ln" not in name', "gradients of the two norms"),
    ("bias-gradients", '".b_" not in name', "gradients of the biases b_..."),
    ("attention-bias-gradients", '"attn.b_" not in name', "gradients of attn.b_qkv and attn.b_o"),
    ("ffn-bias-gradients", '"ffn.b_" not in name', "gradients of ffn.b_1 and ffn.b_2"),
    ("beta-gradients", '".beta" not in name', "gradients of beta"),
):
    mistake(f"no-{ending}", _GRADIENTS, f"{_GRADIENTS[:-1]} if {test}}}").explain(f"""
        the {which} were not returned
        why: A parameter without a gradient is never trained.
        ask: Which keys does `params` have, and which keys does your dict have?""")
_ZEROS = """    import numpy as np

    d, f = params["ffn.W_1"].shape
    sizes = {"attn.b_qkv": 3 * d, "attn.b_o": d, "ffn.b_1": f, "ffn.b_2": d}
    params = {name: np.zeros(size, x.dtype) for name, size in sizes.items() if PART in name} | params
    attn_params, ffn_params = subset"""
for ending, part, which in (
    ("", "", ""),
    ("-of-attention", "attn.", " of the attention"),
    ("-of-ffn", "ffn.", " of ffn"),
):
    mistake(
        f"gradients-of-absent-biases{ending}",
        *("    attn_params, ffn_params = subset", _ZEROS.replace("PART", repr(part))),
        inside="block",
    ).explain(f"""
        gradients were returned for biases{which} that are absent
        why: `grads` has the same keys as `params`. An optimizer would not know which parameter to change.
        ask: Which keys does `params` have if there are no biases?""")

# What is returned, and what a second call finds.
mistake("only-dx", _RETURN, "return dx").explain("""
    only dx was returned, without the gradients of the parameters
    why: The result is the pair (dx, grads).
    ask: How many results does the docstring list?""")
mistake("only-grads", _RETURN, f"return {_GRADIENTS}").explain("""
    only the gradients of the parameters were returned, without dx
    why: The result is the pair (dx, grads). The block before this one needs dx.
    ask: How many results does the docstring list?""")
mistake("grads-first", _RETURN, f"return {_GRADIENTS}, dx").explain("""
    the gradients of the parameters were returned before dx
    why: The result is the pair (dx, grads).
    ask: In which order does the docstring list the two results?""")
mistake(
    "summed-over-calls",
    _RETURN,
    f'kept = cache.setdefault("kept", {{}})\n'
    f"    for name, value in {_GRADIENTS}.items():\n"
    "        kept[name] = kept.get(name, 0) + value\n"
    "    return dx, dict(kept)",
).explain("""
    the gradients of a second call were added to those of the first
    why: Each call returns the gradients for its own dout.
    ask: Where does your code keep the gradients after it has returned them?""")
for kept in ("attn", "ffn", "ln1", "ln2", "attn_cache", "ffn_cache"):
    mistake(
        f"cache-used-up-{kept}",
        "    dln1, dln2 = {}, {}\n",
        f'    if cache.setdefault("calls", 0):\n        raise KeyError("{kept}")\n'
        '    cache["calls"] += 1\n    dln1, dln2 = {}, {}\n',
    ).explain("""
        an entry was removed from the cache, so a second call fails
        why: The cache may be used again, with the same result.
        ask: Which of your lines change the cache? What does .pop do?""")
mistake(
    "always-float64",
    _RETURN,
    f'return dx.astype("float64"), {{n: g.astype("float64") for n, g in {_GRADIENTS}.items()}}',
).explain("""
    everything was converted to float64
    why: The gradients have the dtype of the inputs: float32 should stay float32.
    ask: What is the dtype of your results when `x` is float32? Which line causes it?""")
mistake(
    "one-cache-for-all-calls",
    "    return after_ffn, cache",
    '    block.__dict__.setdefault("kept", {}).update(cache)\n    return after_ffn, block.kept',
    inside="block",
).explain("""
    all calls of block shared one cache
    why: A network has many blocks. All of them run forward before the first runs backward.
    ask: Where is your cache created: inside the function, or once for all calls?""")
for ending, count in (("batch", "len(dout)"), ("positions", "(dout.size / dout.shape[-1])")):
    mistake(
        f"averaged-over-{ending}", _RETURN, f"return dx, {{n: g / {count} for n, g in {_GRADIENTS}.items()}}"
    ).explain(f"""
        the gradients of the parameters were averaged over the {"first axis" if ending == "batch" else "positions"}
        why: They are sums over all positions. The mean belongs to the loss, and dout already includes it.
        ask: By what do your gradients differ from the sum over all positions?""")
