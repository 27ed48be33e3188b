"""Mistakes in `generation`: generating text."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_CONTEXT = "ids[..., -config.block_size :]"
_OPTIONS = "_choose(logits[..., -1, :], rng, temperature, top_k, top_p)"

mistake = MISTAKES.for_functions("generation.generate")
mistake("not-cropped", _CONTEXT, "ids", common=True).explain("""
    the context was not cropped to block_size tokens
    why: The model has only block_size positions, and gpt raises ValueError for longer texts.
    ask: How many tokens do you pass to gpt once the text is longer than block_size?""")
mistake("first-tokens", _CONTEXT, "ids[..., : config.block_size]", common=True).explain("""
    the context was the first block_size tokens, not the last
    why: The model then reads the same beginning every time, and not what it has just written.
    ask: Which tokens of the text help most to predict the next one?""")
mistake("one-token-context", _CONTEXT, "ids[..., -1:]").explain("""
    the model was given only the last token
    why: Without a cache, the model needs the whole context in every call.
    ask: How many tokens do you pass to gpt in the second iteration?""")
mistake("first-position", "logits[..., -1, :]", "logits[..., 0, :]", common=True).explain("""
    the scores of the first position were used
    why: They predict the token after the first one. The scores at the last position predict the new token.
    ask: Which position can attend to the whole text?""")
mistake("all-positions", "logits[..., -1, :]", "logits.reshape(*ids.shape[:-1], -1)", common=True).explain("""
    the token was chosen from the scores of all positions
    why: An index into the flattened (T, V) scores is not a token id: it can be larger than the vocabulary.
    ask: What is the shape of the scores from which you choose?""")
mistake("prompt-lost", "    return ids", "    return ids[..., ids.shape[-1] - n_new :]").explain("""
    only the new tokens were returned
    why: The result should be the whole text: each prompt and its continuation.
    ask: Which shape does the docstring give for the result, and what is the shape of yours?""")
mistake(
    "text-cropped",
    "    for _ in range(n_new):\n",
    "    for _ in range(n_new):\n        ids = " + _CONTEXT + "\n",
    "gpt(" + _CONTEXT,
    "gpt(ids",
).explain("""
    the text itself was cropped, not only the context
    why: The model reads the last block_size tokens, but the text keeps all of them.
    ask: To which array do you append the new token: to the cropped one or to the whole text?""")
mistake("one-too-few", "range(n_new)", "range(n_new - 1)").explain("""
    one new token too few was generated
    why: range(n_new) already has n_new values.
    ask: How many new tokens does your code return with n_new=1?""")
mistake("one-too-many", "range(n_new)", "range(n_new + 1)").explain("""
    one new token too many was generated
    why: range(n_new) already has n_new values.
    ask: How many new tokens does your code return with n_new=0?""")
mistake("window-one-short", _CONTEXT, "ids[..., -max(config.block_size - 1, 1) :]").explain("""
    the context was cropped to block_size - 1 tokens
    why: The model has a position for each of block_size tokens.
    ask: What is the longest text that gpt accepts?""")
mistake("options-ignored", _OPTIONS, "_choose(logits[..., -1, :], rng, 1.0, None, None)").explain("""
    temperature, top_k and top_p had no effect
    why: The mistake stays hidden with the defaults.
    ask: Which of the functions that you call needs these options?""")
mistake("always-greedy", _OPTIONS, "_choose(logits[..., -1, :], rng, 0, None, None)").explain("""
    the most probable token was always taken
    why: Every generator then gives the same text.
    ask: Where is rng used?""")
mistake("written-in-front", "np.concatenate([ids, new], axis=-1)", "np.concatenate([new, ids], axis=-1)").explain("""
    the new tokens were put in front of the text
    why: The next token belongs after the last one.
    ask: In which order do you concatenate the text and the new token?""")
mistake(
    "first-token-of-all",
    "        ids = np.conc",
    "        new = np.zeros_like(new) + new.flat[0]\n        ids = np.conc",
).explain("""
    all texts got the new token of the first one
    why: All texts of the batch grow together, but each gets its own new token.
    ask: What is the shape of the tokens that sample returns?""")
mistake(
    "position-of-the-prompt",
    "    for _ in range(n_new):",
    "    n_prompt = ids.shape[-1]\n    for _ in range(n_new):",
    "logits[..., -1, :]",
    "logits[..., min(n_prompt, config.block_size) - 1, :]",
).explain("""
    the scores of the prompt's last position were used for every new token
    why: The text grows. The scores at its last position, not at that of the prompt, predict the next token.
    ask: Which position predicts the third new token?""")
mistake("second-last-position", "logits[..., -1, :]", "logits[..., max(-2, -logits.shape[-2]), :]").explain("""
    the scores of the second-last position were used
    why: They predict the last token, which is already there.
    ask: Which token do the scores at position t predict?""")
mistake(
    "prompt-read-every-time",
    "    for _ in range(n_new):",
    "    prompt = ids\n    for _ in range(n_new):",
    "gpt(" + _CONTEXT,
    "gpt(prompt[..., -config.block_size :]",
).explain("""
    the model read the prompt every time, without the new tokens
    why: The prediction should depend on what has just been written.
    ask: What do you pass to gpt in the second iteration?""")
mistake(
    "prompt-cropped", "    for _ in range(n_new):", "    ids = " + _CONTEXT + "\n    for _ in range(n_new):"
).explain("""
    the beginning of a long prompt was missing from the result
    why: The model reads the last block_size tokens, but the text keeps all of them.
    ask: With a prompt longer than block_size, what is the shape of your result?""")
mistake(
    "cropped-once",
    "    for _ in range(n_new):",
    "    head, ids = ids[..., : -config.block_size], " + _CONTEXT + "\n    for _ in range(n_new):",
    "gpt(" + _CONTEXT,
    "gpt(ids",
    "    return ids",
    "    return np.concatenate([head, ids], axis=-1)",
).explain("""
    only the prompt was cropped to block_size tokens, not the text as it grows
    why: The text grows with every token, and gpt raises ValueError for more than block_size.
    ask: How long is the text after the first new token?""")
mistake(
    "stops-at-block-size", "range(n_new)", "range(min(n_new, max(config.block_size - ids.shape[-1], 0)))"
).explain("""
    generation stopped when the text was as long as block_size
    why: The text may be longer. Only the context, the part that the model reads, is cropped.
    ask: What is the shape of your result if T + n_new is larger than block_size?""")
mistake(
    "tokens-for-all-positions",
    "new = " + _OPTIONS,
    "new = _choose(logits, rng, temperature, top_k, top_p)[..., -1, :]",
).explain("""
    tokens were drawn for all positions, and the last one was kept
    why: Each draw uses a random number, so the draws of the new tokens are no longer those of the docstring.
    ask: How many rows of probabilities do you pass to sample?""")
mistake("softmax-twice", "_choose(logits[..., -1, :]", "_choose(softmax(logits[..., -1, :])").explain("""
    probabilities were passed to next_token_probs, which expects scores
    why: Softmax of probabilities is much flatter: improbable tokens are then drawn far too often.
    ask: What does next_token_probs compute first?""")
mistake(
    "generator-restarts",
    "(logits[..., -1, :], rng,",
    "(logits[..., -1, :], copy.deepcopy(rng),",
    "    ids = _check",
    "    import copy\n\n    ids = _check",
).explain("""
    every new token was drawn with the same random numbers
    why: If rng is copied or created again inside the loop, all draws begin with the same state.
    ask: How often does your code create the generator that the loop uses?""")

mistake = MISTAKES.for_functions("generation.generate", "generation.generate_cached")
mistake(
    "greedy-without-sample",
    "return sample(",
    "if temperature == 0:\n        return logits.argmax(axis=-1)[..., None]\n    return sample(",
    inside="_choose",
).explain("""
    with temperature 0, sample was not called
    why: The docstring promises one call per new token, so that rng is in the same state afterwards.
    ask: How many random numbers does a greedy text use in your code?""")
mistake(
    "drawn-twice", "return sample(", "sample(next_token_probs(logits), rng)\n    return sample(", inside="_choose"
).explain("""
    sample was called twice for each new token
    why: Each call uses random numbers, so all later draws are different.
    ask: How often does your loop call sample?""")
mistake(
    "k-and-p-exchanged", "logits, temperature, top_k, top_p", "logits, temperature, top_p, top_k", inside="_choose"
).explain("""
    top_k and top_p were swapped
    why: top_k is a number of tokens, top_p a probability.
    ask: In which order does next_token_probs take its options?""")
mistake("temperature-twice", "probs(logits,", "probs(logits / (temperature or 1),", inside="_choose").explain("""
    the scores were divided by the temperature twice
    why: next_token_probs divides by it, too.
    ask: Where does your code use the temperature, and where does next_token_probs?""")
for kept, lost in (
    ("temperature", "top_k and top_p"),
    ("top_k", "temperature and top_p"),
    ("top_p", "temperature and top_k"),
):
    mistake(
        f"only-{kept}-passed-on", "logits, temperature, top_k, top_p", f"logits, {kept}={kept}", inside="_choose"
    ).explain(f"""
        {lost} had no effect
        why: The mistake stays hidden with the defaults.
        ask: Which of the functions that you call needs these options?""")
for name, edits, text in (
    (
        "prompt-unchecked",
        ("if ids.shape[-1] < 1:", "if False:", "if n_new < 0:", "if False:"),
        "neither the prompt nor n_new was checked",
    ),
    ("negative-n-accepted", ("if n_new < 0:", "if False:"), "a negative n_new was accepted"),
    ("empty-prompt-accepted", ("if ids.shape[-1] < 1:", "if False:"), "an empty prompt was accepted"),
    (
        "empty-prompt-without-new-accepted",
        ("if ids.shape[-1] < 1:", "if ids.shape[-1] < 1 and n_new > 0:"),
        "an empty prompt was accepted for n_new = 0",
    ),
    ("none-new-refused", ("if n_new < 0:", "if n_new < 1:"), "n_new = 0 was rejected"),
    ("single-token-refused", ("if ids.shape[-1] < 1:", "if ids.shape[-1] < 2:"), "a prompt of one token was rejected"),
):
    group = "an empty prompt" if "empty" in name else ""
    tried = "T = 1, and with n_new = 0" if name.endswith("refused") else "T = 0, and with n_new = -1"
    mistake(name, *edits, inside="_check_prompt", group=group).explain(f"""
        {text}
        why: The docstring promises ValueError for an empty prompt and for a negative n_new. T = 1 and n_new = 0 are
             allowed.
        ask: What does your code do with {tried}?""")
mistake(
    "assertions",
    'raise ValueError("the prompt must have at least one token")',
    "raise AssertionError",
    'raise ValueError(f"n_new must not be negative, got {n_new}")',
    "raise AssertionError",
    inside="_check_prompt",
).explain("""
    assertions were used, which raise AssertionError, not ValueError
    why: Callers expect the documented type, and `python -O` removes assertions.
    ask: Which exception does `assert` raise?""")
mistake("dtype-of-the-prompt", "np.array(ids, dtype=np.int64)", "np.array(ids)", inside="_check_prompt").explain("""
    the prompt was not converted to int64
    why: The result is int64, even where no token is added.
    ask: Which dtype does your result have for an int32 prompt and n_new = 0?""")
mistake(
    "errors-of-probabilities-lost",
    "return sample(",
    "temperature = 1.0 if temperature < 0 else temperature\n"
    "    top_k = None if top_k is not None and top_k < 1 else top_k\n"
    "    top_p = None if top_p is not None and not 0 < top_p <= 1 else top_p\n"
    "    return sample(",
    inside="_choose",
).explain("""
    wrong options were replaced by their defaults
    why: next_token_probs rejects them. Its ValueError should reach the caller.
    ask: What does your code do with temperature=-1 and with top_k=0?""")

mistake = MISTAKES.for_functions("generation.generate")
for name, change in (("clipped", ".clip(0, len(params['W_tok']) - 1)"), ("taken-modulo-v", " % len(params['W_tok'])")):
    mistake(
        f"ids-{name}",
        "_check_prompt(ids, n_new)",
        f"_check_prompt(ids, n_new){change}",
    ).explain("""
        ids outside the vocabulary were moved into it
        why: They come from a bug in the calling code, which gpt reports with ValueError.
        ask: What happens in your code to an id of -1, or of V?""")
mistake(
    "always-greedy-options-checked",
    "_choose(logits[..., -1, :], rng, temperature, top_k, top_p)",
    "_choose(logits[..., -1, :], rng, min(temperature, 0), top_k, top_p)",
).explain("""
    the most probable token was always taken
    why: Every generator then gives the same text.
    ask: Where is rng used?""")
