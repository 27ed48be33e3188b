"""Mistakes in generating text with a Llama."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_FULL = "if n_read in (0, config.block_size):"
_FILL = "context, kv, n_read = ids[..., -config.block_size :], None, 0"
_STEP = "logits, kv = last_logits(context, params, config, kv)"
_CHOICE = "sample(next_token_probs(logits, temperature, top_k, top_p), rng)"

mistake = MISTAKES.for_functions("llama.generate_llama")

# The keys and values.
mistake("kv-lost", _STEP, _STEP.replace("logits, kv", "logits, _"), common=True).explain("""
    each new token was read without the tokens before it
    why: last_logits reads only the tokens that it is given. What it knows of the others is in kv.
    ask: What do you do with the second result of last_logits?""")
mistake(
    "everything-read-again",
    *("context = ids[..., -1:]", "context = ids[..., -config.block_size :]"),
    *(_STEP, "logits, kv = last_logits(context[..., -config.block_size :], params, config, kv)"),
    *("n_read += context.shape[-1]", "n_read += 1"),
    common=True,
).explain("""
    tokens whose keys and values are in kv were read again
    why: They are then in kv twice, at two positions.
    ask: Which tokens has last_logits not read yet, in the second round of the loop?""")

# The window.
mistake("window-not-handled", _FULL, "if n_read == 0:", common=True).explain("""
    a text longer than block_size was not handled
    why: The model reads block_size tokens. When the window moves, the cropped text must be read again.
    ask: What does your code do when kv holds block_size keys?""")
mistake(
    "old-keys-shifted",
    _FULL,
    "if n_read == config.block_size:\n"
    "            steps = np.full(n_read - 1, -1)\n"
    "            kv = [(rope(k[..., 1:, :], steps, config.rope_base), v[..., 1:, :]) for k, v in kv]\n"
    "            n_read -= 1\n"
    "        if n_read == 0:",
).explain("""
    when the window moved, the oldest key was dropped and the others were reused
    why: From the second block on, the stored keys and values contain what was read from the dropped token.
    ask: Which tokens did the second position of the window read before the window moved?""")
mistake(
    "long-prompt-not-cropped",
    _FILL,
    "context, kv = ids if n_read == 0 else ids[..., -config.block_size :], None\n            n_read = 0",
).explain("""
    a prompt longer than block_size was not cropped
    why: The context is the last block_size tokens.
    ask: How many positions does your first forward pass compute for a prompt of block_size + 3 tokens?""")
mistake("first-tokens", _FILL, "context, kv, n_read = ids[..., : config.block_size], None, 0", common=True).explain("""
    the first block_size tokens were read, not the last
    why: The model then reads the same beginning every time, and not what it has just written.
    ask: Which tokens of the text help most to predict the next one?""")

# The tokens.
mistake("temperature-only", _CHOICE, "sample(next_token_probs(logits, temperature), rng)").explain("""
    top_k and top_p had no effect
    why: The mistake stays hidden with the defaults.
    ask: Which of the functions that you call needs these options?""")
mistake("top_k-only", _CHOICE, "sample(next_token_probs(logits, top_k=top_k, top_p=top_p), rng)").explain("""
    temperature had no effect
    why: The mistake stays hidden with the default.
    ask: Which of the functions that you call needs this option?""")
mistake(
    "temperature-twice",
    _CHOICE,
    "sample(next_token_probs(logits / max(temperature, 1e-9), temperature, top_k, top_p), rng)",
).explain("""
    the scores were divided by the temperature twice
    why: next_token_probs does that already.
    ask: Which of your lines use the temperature?""")
mistake(
    "greedy-without-sample", f"new = {_CHOICE}", f"new = logits.argmax(axis=-1) if temperature == 0 else {_CHOICE}"
).explain("""
    with temperature 0, sample was not called
    why: A greedy text then leaves rng as it was, so everything that is drawn from it afterwards is different.
    ask: How many random numbers does a greedy text of ten new tokens use in your code?""")
mistake("drawn-twice", f"new = {_CHOICE}", f"{_CHOICE}\n        new = {_CHOICE}").explain("""
    sample was called twice for each new token
    why: Each call uses up random numbers, so the text is a different one.
    ask: How often does your loop call sample in one round?""")
for name, count in (("few", "n_new - 1"), ("many", "n_new + 1")):
    mistake(f"one-too-{name}", "range(n_new)", f"range({count})").explain(f"""
        one new token too {name} was generated
        why: range(n_new) already has n_new values.
        ask: How many new tokens does your code return with n_new=1?""")
mistake("prompt-lost", "    return ids", "    return ids[..., ids.shape[-1] - n_new :]").explain("""
    only the new tokens were returned
    why: The result should be the whole text: each prompt and its continuation.
    ask: How many tokens should the caller get for a prompt of three and n_new=2, and how many does yours return?""")
mistake(
    "first-axis-as-batch", ".array(ids, dtype=np.int64)", ".array(ids, dtype=np.int64)\n    batch, length = ids.shape"
).explain("""
    the prompts must have exactly two axes
    why: There may be any number of leading axes, or none.
    ask: Which of your lines assume that ids is (B, T)?""")
mistake("negative-n-accepted", "if n_new < 0:", "if False:").explain("""
    a negative n_new was accepted
    why: It is a bug of the caller. Without an error, the prompt comes back as if it were the finished text.
    ask: What does range do with a negative number?""")
mistake(
    "empty-prompt-accepted",
    'raise ValueError("the prompt must have at least one token")',
    "ids = np.zeros((*ids.shape[:-1], 1), dtype=np.int64)",
).explain("""
    a prompt without tokens was replaced by the token 0
    why: Token 0 is a token like any other: the model then continues a text that nobody wrote.
    ask: What does your code do with a text of length 0?""")
mistake(
    "errors-of-probabilities-lost",
    f"new = {_CHOICE}",
    "temperature = 1.0 if temperature < 0 else temperature\n"
    "        top_k = None if top_k is not None and top_k < 1 else top_k\n"
    "        top_p = None if top_p is not None and not 0 < top_p <= 1 else top_p\n"
    f"        new = {_CHOICE}",
).explain("""
    wrong options were replaced by their defaults
    why: next_token_probs rejects them. Its ValueError should reach the caller.
    ask: What does your code do with temperature=-1 and with top_k=0?""")
mistake(
    "first-window-not-cropped",
    "if n_read in (0, config.block_size):",
    "if n_read == 0 or n_read >= config.block_size:",
    "context, kv, n_read = ids[..., -config.block_size :], None, 0",
    "context, kv, n_read = ids[..., -config.block_size :] if _ else ids, None, 0",
).explain("""
    a prompt that is longer than block_size was read as a whole
    why: The model looks at no more than the last block_size tokens.
    ask: How many tokens does your model read first if the prompt is longer than block_size?""")
