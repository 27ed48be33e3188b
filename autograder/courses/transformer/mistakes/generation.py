"""Mistakes in assignment 11: generation."""

from autograder.courses.transformer.mistakes._generation_choices import CHOICES
from autograder.engine.diagnosis.mistake import Mistake

_CUT = "ranked[..., 1:][mass[..., :-1] >= top_p] = 0.0"
_SCALE = "        ranked /= ranked.sum(axis=-1, keepdims=True)\n"
_TOP_K = "    if top_k is not None:\n        ranked[..., top_k:] = 0.0\n" + _SCALE
_CONTEXT = "ids[..., -config.block_size :]"
_FULL = "if n_cached == 0 or n_cached == config.block_size:"

_PROBS = (
    Mistake(
        "generation.next_token_probs",
        "temperature-multiplied",
        "the scores were multiplied by the temperature",
        "A low temperature should make the probable more probable; here it makes everything alike.",
        "Should the differences between scores grow or shrink when the temperature is 0.5?",
        edits=(("softmax(logits, temperature=temperature)", "softmax(logits * temperature)"),),
        common=True,
    ),
    Mistake(
        "generation.next_token_probs",
        "divided-by-0",
        "temperature 0 is a division by 0",
        "The result is nan. 0 stands for the limit: all the probability on the largest score.",
        "What is a score divided by 0?",
        edits=(
            ("if temperature == 0:", "if False:"),
            ("softmax(logits, temperature=temperature)", "softmax(logits / temperature)"),
        ),
        common=True,
    ),
    Mistake(
        "generation.next_token_probs",
        "ties-kept",
        "more than k tokens are kept where scores are equal",
        "“At least as large as the k-th score” keeps all of the equal ones; here exactly k are kept.",
        "How many tokens do you keep if all scores are 0 and k is 2?",
        edits=(("ranked[..., top_k:]", "ranked[ranked < ranked[..., min(top_k, ranked.shape[-1]) - 1, None]]"),),
        common=True,
    ),
    Mistake(
        "generation.next_token_probs",
        "last-of-equals",
        "of equal scores, those with the higher index come first",
        "A sort in ascending order, turned round, turns equal ones round as well.",
        "Sort [0, 0, 0] your way: which index comes first?",
        edits=(
            ('np.argsort(-logits, axis=-1, kind="stable")', 'np.argsort(logits, axis=-1, kind="stable")[..., ::-1]'),
        ),
    ),
    Mistake(
        "generation.next_token_probs",
        "top-k-last-of-equals",
        "top-k takes the higher index first where scores are equal",
        "The last k of a sort in ascending order are the largest, but of equal ones the last.",
        "Which two tokens do you keep if all scores are 0 and k is 2?",
        edits=(
            (
                "ranked[..., top_k:]",
                (
                    "cut = np.zeros(logits.shape, dtype=bool)\n"
                    '        lowest = np.argsort(logits, axis=-1, kind="stable")[..., :-top_k]\n'
                    "        np.put_along_axis(cut, lowest, True, axis=-1)\n"
                    "        ranked[np.take_along_axis(cut, order, axis=-1)]"
                ),
            ),
        ),
    ),
    Mistake(
        "generation.next_token_probs",
        "top-p-not-scaled",
        "what top-p has kept was not scaled to sum 1",
        "Without the tail, the rest adds up to less than 1.",
        "Add up the probabilities that you return.",
        edits=((_SCALE + "    np.put_along_axis", "    np.put_along_axis"),),
        common=True,
    ),
    Mistake(
        "generation.next_token_probs",
        "not-scaled",
        "what is kept was not scaled to sum 1",
        "Without the tokens that were cut off, the rest adds up to less than 1.",
        "Add up the probabilities that you return.",
        edits=(
            ("ranked[..., top_k:] = 0.0\n" + _SCALE, "ranked[..., top_k:] = 0.0\n"),
            (_SCALE + "    np.put_along_axis", "    np.put_along_axis"),
        ),
    ),
    Mistake(
        "generation.next_token_probs",
        "scores-of-0",
        "the scores that top-k cuts off were set to 0",
        "A score of 0 is not impossible: exp(0) is 1.",
        "Which score gives the probability 0 in a softmax?",
        edits=(
            (
                "ranked[..., top_k:] = 0.0",
                (
                    "best = order[..., :top_k]\n"
                    "        kept = np.zeros_like(logits)\n"
                    "        np.put_along_axis(kept, best, np.take_along_axis(logits, best, axis=-1), axis=-1)\n"
                    "        probs = softmax(kept / temperature)\n"
                    '        order = np.argsort(-kept, axis=-1, kind="stable")\n'
                    "        ranked = np.take_along_axis(probs, order, axis=-1)"
                ),
            ),
        ),
    ),
    Mistake(
        "generation.next_token_probs",
        "crossing-token-dropped",
        "the token that crosses the line of top-p was dropped",
        "Without it the set does not have the mass that was asked for.",
        "With 0.5, 0.3, 0.2 and top_p = 0.7: which tokens have at least 0.7 together?",
        edits=((_CUT, "ranked[..., 1:][mass[..., 1:] > top_p] = 0.0"),),
        common=True,
    ),
    Mistake(
        "generation.next_token_probs",
        "nothing-left",
        "the token that crosses the line of top-p was dropped, even if it is the first",
        "If the most probable token alone has more than p, nothing is left, and 0/0 is nan.",
        "With 0.9, 0.1 and top_p = 0.5: which tokens do you keep?",
        edits=((_CUT, "ranked[mass > top_p] = 0.0"),),
    ),
    Mistake(
        "generation.next_token_probs",
        "exactly-p-not-enough",
        "top-p keeps one token more where the sum is exactly p",
        "A set is large enough if its probabilities add up to at least p.",
        "With four equal scores and top_p = 0.5, how many tokens do you keep?",
        edits=((_CUT, _CUT.replace(">=", ">")),),
    ),
    Mistake(
        "generation.next_token_probs",
        "top-p-before-scaling",
        "top-p counts the probabilities that top-k has left before they are scaled to sum 1",
        "They add up to less, so that it takes more tokens to reach p.",
        "What do the probabilities add up to when top-p looks at them?",
        edits=(
            ("ranked[..., top_k:] = 0.0\n" + _SCALE, "ranked[..., top_k:] = 0.0\n"),
            ("    np.put_along_axis(probs, order", _SCALE[4:] + "    np.put_along_axis(probs, order"),
        ),
        group="top-p on the unscaled rest",
    ),
    Mistake(
        "generation.next_token_probs",
        "top-p-first",
        "top-p comes before top-k",
        "The order matters: top-p should look at what top-k has left, scaled to sum 1.",
        "Which probabilities does top-p add up: those of all tokens, or those of the k that were kept?",
        edits=((_TOP_K, ""), ("    np.put_along_axis(probs, order", _TOP_K + "    np.put_along_axis(probs, order")),
        group="top-p on the unscaled rest",
    ),
    Mistake(
        "generation.next_token_probs",
        "temperature-last",
        "top-p looked at the probabilities without temperature",
        "A high temperature needs more tokens to reach p. It comes first.",
        "To which probabilities does top_p apply: with or without temperature?",
        edits=(
            (
                "mass = np.cumsum(ranked,",
                (
                    "plain = np.take_along_axis(softmax(logits), order, axis=-1) * (ranked > 0)\n"
                    "        mass = np.cumsum(plain / plain.sum(axis=-1, keepdims=True),"
                ),
            ),
        ),
    ),
    Mistake(
        "generation.next_token_probs",
        "left-sorted",
        "the probabilities stand in sorted order, not in that of the tokens",
        "The first number then belongs to the most probable token, whichever that is.",
        "Which token does the first number of your result belong to?",
        edits=(("np.put_along_axis(probs, order, ranked, axis=-1)", "probs = ranked"),),
    ),
)

_SAMPLE = (
    Mistake(
        "generation.sample",
        "greedy",
        "the most probable token was taken, nothing was drawn",
        "Greedy decoding is temperature 0; sample draws.",
        "How often should a token of probability 0.3 come?",
        body="""
    if not (np.sum(probs, axis=-1) > 0).all():
        raise ValueError("a row of probabilities adds up to 0 or is nan")
    return np.asarray(np.argmax(probs, axis=-1))
""",
    ),
    Mistake(
        "generation.sample",
        "one-dart",
        "one number was drawn for all rows",
        "All texts of a batch then draw alike.",
        "How many random numbers does a batch of 500 texts need?",
        edits=(("rng.random(cumulative.shape[:-1])[..., None]", "rng.random()"),),
        common=True,
    ),
    Mistake(
        "generation.sample",
        "line-too-long",
        "the dart is thrown at a line of length 1, whatever the probabilities add up to",
        "If they add up to less, it may hit nothing, and the token is one that does not exist.",
        "What happens in your code if the probabilities add up to 0.999 and u is 0.9995?",
        edits=(("u * total", "u"),),
        common=True,
    ),
    Mistake(
        "generation.sample",
        "one-too-few",
        "the token before the right one was taken",
        "The token is the number of stretches that end at or before the dart: no 1 has to be subtracted.",
        "The dart lands in the first stretch. How many stretches end before it, and which token is it?",
        edits=(
            (
                "return (cumulative <= u * total).sum(axis=-1, dtype=np.int64)",
                "return np.maximum((cumulative <= u * total).sum(axis=-1, dtype=np.int64) - 1, 0)",
            ),
        ),
    ),
)

_GENERATE = (
    Mistake(
        "generation.generate",
        "not-cropped",
        "the context is not cropped to block_size tokens",
        "There are no positions beyond block_size; longer texts are refused.",
        "How many tokens do you hand to gpt when the text has become longer than block_size?",
        edits=((_CONTEXT, "ids"),),
        common=True,
    ),
    Mistake(
        "generation.generate",
        "first-tokens",
        "the context is the first block_size tokens, not the last",
        "The model then sees the same beginning for ever, and not what it has just written.",
        "Which tokens tell most about the next one?",
        edits=((_CONTEXT, "ids[..., : config.block_size]"),),
        common=True,
    ),
    Mistake(
        "generation.generate",
        "one-token-context",
        "the model only sees the last token",
        "Without a cache, everything the model should know about the text has to be handed to it.",
        "How long is the text that you hand to gpt in the second round?",
        edits=((_CONTEXT, "ids[..., -1:]"),),
    ),
    Mistake(
        "generation.generate",
        "first-position",
        "the scores of the first position were used",
        "They say what follows the first token. What follows the last one is said at the last position.",
        "Which position has seen the whole text?",
        edits=(("logits[..., -1, :]", "logits[..., 0, :]"),),
        common=True,
    ),
    Mistake(
        "generation.generate",
        "all-positions",
        "the token was chosen among the scores of all positions",
        "The index in a flattened (T, V) is no token: it may be far beyond the vocabulary.",
        "What is the shape of the scores among which you choose?",
        edits=(("logits[..., -1, :]", "logits.reshape(*ids.shape[:-1], -1)"),),
        common=True,
    ),
    Mistake(
        "generation.generate",
        "prompt-lost",
        "only the new tokens are returned",
        "The result is the whole text: the prompts and what follows.",
        "What is the shape of the result, and what is that of yours?",
        edits=(("    return ids", "    return ids[..., ids.shape[-1] - n_new :]"),),
    ),
    Mistake(
        "generation.generate",
        "text-cropped",
        "the text itself was cropped, not only the context",
        "The model looks at the last block_size tokens; the text keeps all of them.",
        "What is the name of your cropped array, and to what is the new token appended?",
        edits=(
            ("    for _ in range(n_new):\n", "    for _ in range(n_new):\n        ids = " + _CONTEXT + "\n"),
            ("gpt(" + _CONTEXT, "gpt(ids"),
        ),
    ),
)

_CACHED = (
    Mistake(
        "generation.generate_cached",
        "position-restarts",
        "every new token was embedded as if it stood at position 0",
        "It is a text of length 1, but its place is after all the tokens in the cache.",
        "Which row of W_pos belongs to the new token?",
        edits=(('params["W_pos"][start:]', 'params["W_pos"]'),),
        inside="_next_logits",
        common=True,
    ),
    Mistake(
        "generation.generate_cached",
        "prompt-without-mask",
        "the positions of the prompt look ahead",
        "A single new token needs no mask, but a prompt goes through with several queries at once.",
        "What may the first token of the prompt look at?",
        edits=(("mask = causal_mask(ids.shape[-1], end)", "mask = None"),),
        inside="_next_logits",
        common=True,
    ),
    Mistake(
        "generation.generate_cached",
        "mask-from-the-first-key",
        "the new token may look at the first key only: the mask takes it for the first position",
        "The queries are the last ones of the keys; the triangle has to be shifted by the length of the cache.",
        "What is your mask for one query and six keys?",
        edits=(
            ("if ids.shape[-1] > 1:", "if True:"),
            ("causal_mask(ids.shape[-1], end)", "np.tri(ids.shape[-1], end, dtype=bool)"),
        ),
        inside="_next_logits",
    ),
    Mistake(
        "generation.generate_cached",
        "old-keys-unused",
        "the new token sees only its own key and value",
        "The keys and values in the cache have to be put in front of the new ones.",
        "How many keys does the query of the tenth token meet?",
        edits=(
            ("attention(q, keys[..., :end, :], values[..., :end, :], mask)", "attention(q, k, v, mask)"),
            ("causal_mask(ids.shape[-1], end)", "causal_mask(ids.shape[-1], ids.shape[-1])"),
        ),
        inside="_next_logits",
        common=True,
    ),
    Mistake(
        "generation.generate_cached",
        "old-keys-shifted",
        "when the window moved, the oldest key was dropped and the others were kept",
        "With learned positions every token has moved up by one place, and all keys and values have changed.",
        "Which row of W_pos went into the second key, before and after the window moved?",
        edits=(
            (
                _FULL,
                (
                    "if n_cached == config.block_size:\n"
                    "            for _, _, keys, values in cache:\n"
                    "                keys[..., :-1, :] = keys[..., 1:, :].copy()\n"
                    "                values[..., :-1, :] = values[..., 1:, :].copy()\n"
                    "            n_cached -= 1\n"
                    "        if n_cached == 0:"
                ),
            ),
        ),
    ),
    Mistake(
        "generation.generate_cached",
        "same-cache",
        "all blocks share one cache",
        "Every block has keys and values of its own; here each overwrites those of the block before.",
        "How many pairs of keys and values does a model with four blocks need?",
        edits=(
            (
                "    for _ in range(n_new):",
                "    cache = [(*entry[:2], *cache[0][2:]) for entry in cache]\n    for _ in range(n_new):",
            ),
        ),
    ),
)

MISTAKES = _PROBS + _SAMPLE + _GENERATE + _CACHED + CHOICES
