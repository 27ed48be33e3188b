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
    ask: How many tokens should the caller get for a prompt of three and n_new=2, and how many does yours return?""")
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

mistake = MISTAKES.for_functions("generation.generate", "generation.generate_cached")
mistake("text-cropped", "    return ids", "    return ids[..., -config.block_size - 1 :] if n_new else ids").explain("""
    the text itself was cropped to block_size tokens, so its beginning is missing from the result
    why: Only what the model reads is cropped. The result is the whole text.
    ask: Is there an array that still holds the whole text after you have cropped it?""")
mistake(
    "greedy-without-sample",
    "return sample(",
    "if temperature == 0:\n        return logits.argmax(axis=-1)[..., None]\n    return sample(",
    inside="_choose",
).explain("""
    with temperature 0, sample was not called
    why: A greedy text then leaves rng as it was, so everything that is drawn from it afterwards is different.
    ask: How many random numbers does a greedy text of ten new tokens use in your code?""")
mistake("drawn-twice", "return", "sample(next_token_probs(logits), rng)\n    return", inside="_choose").explain("""
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
for kept, lost in (("temperature", "top_k and top_p"), ("top_k", "temperature and top_p")):
    mistake(
        f"only-{kept}-passed-on", "logits, temperature, top_k, top_p", f"logits, {kept}={kept}", inside="_choose"
    ).explain(f"""
        {lost} had no effect
        why: The mistake stays hidden with the defaults.
        ask: Which of the functions that you call needs these options?""")
for name, edits, text in (
    ("negative-n-accepted", ("if n_new < 0:", "if False:"), "a negative n_new was accepted"),
    ("empty-prompt-accepted", ("if ids.shape[-1] < 1:", "if False:"), "an empty prompt was accepted"),
    ("single-token-refused", ("if ids.shape[-1] < 1:", "if ids.shape[-1] < 2:"), "a prompt of one token was rejected"),
):
    group = "an empty prompt" if "empty" in name else ""
    tried = "T = 1, and with n_new = 0" if name.endswith("refused") else "T = 0, and with n_new = -1"
    mistake(name, *edits, inside="_check_prompt", group=group).explain(f"""
        {text}
        why: An empty prompt has no last position to predict from, and a negative n_new is a bug of the caller. T = 1
             and n_new = 0 are allowed.
        ask: What does your code do with {tried}?""")
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
mistake("ids-clipped", "(ids, n_new)", "(ids, n_new).clip(0, len(params['W_tok']) - 1)").explain("""
    ids outside the vocabulary were moved into it
    why: They come from a bug in the calling code, which gpt reports with ValueError.
    ask: What happens in your code to an id of -1, or of V?""")
mistake("always-greedy-options-checked", ", rng, temperature, top_k,", ", rng, min(temperature, 0), top_k,").explain("""
    the most probable token was always taken
    why: Every generator then gives the same text.
    ask: Where is rng used?""")
