"""Mistakes in assignment 11 about choices: options that are not used, ties, axes, and how many tokens there are."""

from autograder.engine.diagnosis.mistake import Mistake

_OPTIONS = "_choose(logits[..., -1, :], rng, temperature, top_k, top_p)"
_CONTEXT = "ids[..., -config.block_size :]"

CHOICES = (
    # --- next_token_probs
    *(
        Mistake(
            "generation.next_token_probs",
            name,
            title,
            explanation,
            hint,
            edits=edits,
            group="equal scores share" if name in ("temperature-kept-above-small", "equals-share") else "",
        )
        for name, title, explanation, hint, edits in (
            (
                "temperature-ignored",
                "the temperature is not used",
                "Above 0, every temperature gives the same probabilities.",
                "Where in your code is the temperature, but for the case 0?",
                (("softmax(logits, temperature=temperature)", "softmax(logits)"),),
            ),
            (
                "temperature-plus-small",
                "1e-8 was added to the temperature",
                (
                    "It hides the division by 0 and changes all the other answers a little. Temperature 0 is a case of "
                    "its own."
                ),
                "What should temperature 0 give, and which line of yours makes sure of that?",
                (
                    ("if temperature == 0:", "if False:"),
                    ("softmax(logits, temperature=temperature)", "softmax(logits, temperature=temperature + 1e-8)"),
                ),
            ),
            (
                "temperature-kept-above-small",
                "temperature 0 was replaced by a tiny temperature",
                "Where two scores are equal, or nearly, both keep a share: that is not greedy.",
                "What should temperature 0 give for the scores 3, 3, 0?",
                (
                    ("if temperature == 0:", "if False:"),
                    ("softmax(logits, temperature=temperature)", "softmax(logits, temperature=max(temperature, 1e-8))"),
                ),
            ),
            (
                "equals-share",
                "with temperature 0, equal scores share the probability",
                "All of it goes to one token: of equal ones, that with the lowest index.",
                "What does argmax return if the largest number stands there twice?",
                (
                    (
                        "np.put_along_axis(probs, logits.argmax(axis=-1, keepdims=True), 1.0, axis=-1)",
                        (
                            "probs[logits == logits.max(axis=-1, keepdims=True)] = 1.0\n"
                            "        probs /= probs.sum(axis=-1, keepdims=True)"
                        ),
                    ),
                ),
            ),
            (
                "top-k-ignored",
                "top_k is not used",
                "Every token may be drawn, however unlikely.",
                "With top_k=1, how many of your probabilities are not 0?",
                (("if top_k is not None:", "if False:"),),
            ),
            (
                "top-p-ignored",
                "top_p is not used",
                "Every token may be drawn, however unlikely.",
                "With a tiny top_p, how many of your probabilities should not be 0?",
                (("if top_p is not None and top_p < 1:", "if False:"),),
            ),
            (
                "least-probable-kept",
                "top-k keeps the least probable tokens, not the most probable",
                "A sort in ascending order has the smallest numbers in front.",
                "With top_k=1 and the scores 1, 5, 2: which token is kept?",
                (("ranked[..., top_k:] = 0.0", "ranked[..., : max(ranked.shape[-1] - top_k, 0)] = 0.0"),),
            ),
            (
                "top-p-mixes-equals",
                "top-p does not take equal tokens in the order of their index: NumPy's usual sort mixes them",
                "From 17 numbers on, np.argsort may put equal ones in any order, unless it is asked for a stable sort.",
                'What is kind="stable" good for in np.argsort?',
                (
                    (
                        "    if top_p is not None and top_p < 1:\n",
                        (
                            "    if top_p is not None and top_p < 1:\n"
                            "        np.put_along_axis(probs, order, ranked, axis=-1)\n"
                            "        order = np.argsort(-probs, axis=-1)\n"
                            "        ranked = np.take_along_axis(probs, order, axis=-1)\n"
                        ),
                    ),
                ),
            ),
        )
    ),
    # --- sample
    *(
        Mistake("generation.sample", name, title, explanation, hint, edits=edits)
        for name, title, explanation, hint, edits in (
            (
                "columns-added",
                "the probabilities were added up along the rows of the batch, not along the tokens",
                "The running sum belongs to one row of probabilities.",
                "Along which axis do probabilities add up to 1?",
                (
                    ("np.cumsum(probs, axis=-1, dtype", "np.cumsum(probs, axis=0, dtype"),
                    ("if not (total > 0).all():", "if False:"),
                ),
            ),
            (
                "all-alike",
                "every token is as likely as every other: the probabilities are not used",
                "That is a temperature without end.",
                "How often should a token of probability 0.9 be drawn?",
                (
                    (
                        "return (cumulative <= u * total).sum(axis=-1, dtype=np.int64)",
                        "return (u[..., 0] * cumulative.shape[-1]).astype(np.int64)",
                    ),
                ),
            ),
        )
    ),
    # --- generate
    *(
        Mistake("generation.generate", name, title, explanation, hint, edits=edits)
        for name, title, explanation, hint, edits in (
            (
                "one-too-few",
                "one new token too few is written",
                "range(n_new) has n_new values.",
                "How many tokens come out with n_new=1?",
                (("range(n_new)", "range(n_new - 1)"),),
            ),
            (
                "one-too-many",
                "one new token too many is written",
                "range(n_new) has n_new values.",
                "How many tokens come out with n_new=0?",
                (("range(n_new)", "range(n_new + 1)"),),
            ),
            (
                "window-one-short",
                "the context is block_size - 1 tokens long, not block_size",
                "The model has a position for each of block_size tokens.",
                "What is the longest text that gpt accepts?",
                ((_CONTEXT, "ids[..., -max(config.block_size - 1, 1) :]"),),
            ),
            (
                "options-ignored",
                "temperature, top_k and top_p are not passed on",
                "With the defaults nothing shows.",
                "Which of the functions that you call has to know the options?",
                ((_OPTIONS, "_choose(logits[..., -1, :], rng, 1.0, None, None)"),),
            ),
            (
                "always-greedy",
                "the most probable token was always taken",
                "Then every generator writes the same text.",
                "What is rng for?",
                ((_OPTIONS, "_choose(logits[..., -1, :], rng, 0, None, None)"),),
            ),
            (
                "written-in-front",
                "the new tokens were put in front of the text",
                "The next token belongs behind the last one.",
                "In which order do you join the text and the new token?",
                (("np.concatenate([ids, new], axis=-1)", "np.concatenate([new, ids], axis=-1)"),),
            ),
        )
    ),
)
