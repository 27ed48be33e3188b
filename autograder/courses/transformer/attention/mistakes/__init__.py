"""Mistakes in `attention`: the masks. Those of the averages and of attention are in modules of their own."""

from autograder.courses.transformer.attention.mistakes.averages import MISTAKES as AVERAGES
from autograder.courses.transformer.attention.mistakes.backward import MISTAKES as BACKWARD
from autograder.courses.transformer.attention.mistakes.forward import MISTAKES as FORWARD
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(AVERAGES, FORWARD, BACKWARD)

_TRI = "np.tri(n_queries, n_keys, k=n_keys - n_queries, dtype=bool)"
_TRIL = "np.tril(np.ones((n_queries, n_keys), dtype=bool), k=n_keys - n_queries)"


mistake = MISTAKES.for_functions("attention.causal_mask")
mistake("inverted", "return np.tri", "return ~np.tri", common=True).explain("""
    the mask was inverted: True where a query must not attend
    why: Some libraries mark the hidden keys with True. Here True means that the query may attend to the key.
    ask: What is the entry for the first query and the last key, and what should it be?""")
mistake(
    "upper-triangle",
    "return np.tri(n_queries, n_keys, k=n_keys - n_queries, dtype=bool)",
    "return np.triu(np.ones((n_queries, n_keys), dtype=bool), k=n_keys - n_queries)",
).explain("""
    the upper triangle was kept, not the lower one
    why: Every query then sees itself and later positions, but not earlier ones.
    ask: Rows are queries and columns are keys. Which keys may the first query see?""")
mistake("no-keys-taken-for-none", "if n_keys is None:\n        n_keys =", "n_keys = n_keys or").explain("""
    0 keys were treated like None
    why: `n_keys or n_queries` gives n_queries for 0 as well as for None. With 0 keys there are more queries than keys.
    ask: Which values of n_keys count as false in Python?""")
mistake("aligned-with-the-first-keys", "k=n_keys - n_queries, ", "", common=True).explain("""
    the queries were treated as the first positions, not as the last
    why: If there are fewer queries than keys, they are the newest positions and may see all earlier keys.
    ask: With a single query and six keys, how many keys may the query see?""")
mistake("without-diagonal", "k=n_keys - n_queries", "k=n_keys - n_queries - 1", common=True).explain("""
    a query cannot see itself
    why: The first query then sees nothing at all.
    ask: Should the condition be j < i or j ≤ i?""")
mistake("sees-the-next", "k=n_keys - n_queries", "k=n_keys - n_queries + 1").explain("""
    every query sees one later key
    why: A model that sees the next token does not need to learn to predict it.
    ask: With four queries and four keys, how many keys may the first query see?""")
mistake("offset-reversed", "k=n_keys - n_queries", "k=n_queries - n_keys").explain("""
    the offset of the diagonal has the wrong sign
    why: The mistake stays hidden with as many queries as keys. With fewer, the queries see too few keys.
    ask: With a single query and six keys, how many keys may the query see?""")
mistake("numbers", ", dtype=bool", "", common=True).explain("""
    the mask holds 1.0 and 0.0, not True and False
    why: The pattern is correct, but ~mask, indexing with a mask and `where=` need booleans.
    ask: What is the dtype of np.tri if none is given?""")
mistake("keys-ignored", "(n_queries, n_keys, k=n_keys - n_queries, dtype=bool)", "(n_queries, dtype=bool)").explain("""
    the mask is always square: n_keys was ignored
    why: While a model writes text, there are fewer queries than keys.
    ask: What is the shape of the mask for two queries and five keys?""")
for name, more in (("keys-required", (_TRI, _TRIL)), ("keys-required-for-offset", ())):
    mistake(
        name,
        "    if n_keys is None:\n        n_keys = n_queries\n",
        "",
        "    if n_queries > n_keys:",
        "    if False:",
        *more,
        group="without the number of keys",
    ).explain("""
        the function does not work without n_keys
        why: n_keys is None if the caller does not give it. There are then as many keys as queries.
        ask: What is n_keys in causal_mask(4), and how many columns should the mask have then?""")
for name, title, mask in (
    ("without-diagonal", "no query sees itself", "np.tri(n_queries, n_keys, k=-1, dtype=bool)"),
    ("inverted", "the mask was inverted", "~np.tri(n_queries, n_keys, dtype=bool)"),
    ("upper-triangle", "the upper triangle was kept", "np.triu(np.ones((n_queries, n_keys), dtype=bool))"),
):
    mistake(f"{name}-from-the-first-keys", _TRI, mask).explain(f"""
        {title}, with the queries as the first positions
        why: A query may see its own position and all earlier ones. With fewer queries than keys, the queries are the
             last positions, so the diagonal has to be shifted.
        ask: With one query and three keys, how many keys may the query see? And with three queries, may the first see
             key 0?""")
mistake("integers", ", dtype=bool)", ", dtype=np.int64)").explain("""
    the mask holds 1 and 0, not True and False
    why: The pattern is correct, but ~mask, indexing with a mask and `where=` need booleans. For example, ~1 is -2.
    ask: What is ~np.array(1), and what is ~np.array(True)?""")
mistake("axes-for-batch-and-heads", "dtype=bool)", "dtype=bool)[None, None]").explain("""
    the mask has extra axes in front: (1, 1, T, S)
    why: Broadcasting adds axes in front by itself, wherever they are needed. With (1, 1, T, S), the mask does not
         fit the scores of a single text, (T, S).
    ask: What does broadcasting do with (T, S) and (B, H, T, S)?""")

mistake("transposed", _TRI, f"{_TRI}.T").explain("""
    the mask was transposed: (S, T)
    why: Rows are queries and columns are keys.
    ask: What is the shape of your mask for two queries and five keys?""")
mistake("sizes-exchanged", _TRI, "np.tri(n_keys, n_queries, k=n_keys - n_queries, dtype=bool)").explain("""
    the sizes were given in the wrong order: (S, T)
    why: Rows are queries and columns are keys.
    ask: What is the shape of your mask for two queries and five keys?""")
mistake("all-true", _TRI, "np.ones((n_queries, n_keys), dtype=bool)").explain("""
    the mask is True everywhere
    why: It then hides nothing, and every position sees the later ones.
    ask: With four queries and four keys, how many keys may the first query see?""")
for name, offset in (
    ("small", "max(n_keys - n_queries - 1, 0)"),
    ("large", "(n_keys - n_queries and n_keys - n_queries + 1)"),
):
    mistake(f"offset-too-{name}", "k=n_keys - n_queries", f"k={offset}").explain(f"""
        with fewer queries than keys, the offset of the diagonal is one too {name}
        why: The mistake stays hidden with as many queries as keys. The last query may see exactly all keys.
        ask: With two queries and five keys, how many keys may the first query see, and how many the last?""")
for name, condition, title in (
    ("more-queries-accepted", "False", "more queries than keys were accepted"),
    ("one-query-more-accepted", "n_queries > n_keys + 1", "one query more than keys was accepted"),
):
    mistake(name, "n_queries > n_keys:", f"{condition}:").explain(f"""
        {title}
        why: The queries are the last of the positions, so there cannot be more of them than keys. The first queries
             would see nothing.
        ask: Which numbers of queries and keys make no sense? What does your function do with them?""")
mistake("fewer-queries-refused-only", "n_queries > n_keys:", "n_queries < n_keys:").explain("""
    fewer queries than keys were rejected, and more were accepted
    why: The comparison is the wrong way round.
    ask: Which of the two numbers may be the larger one?""")

for function, mask in (("causal_mask", _TRI), ("padding_mask", "np.asarray(keep, dtype=bool)")):
    mistake = MISTAKES.for_functions(f"attention.{function}")
    mistake("additive", mask, f"np.where({mask}, 0.0, -np.inf)").explain("""
        the mask holds 0 and -inf, to be added to the scores
        why: That is another convention. In this course a mask is boolean.
        ask: What should the dtype of the mask be?""")

mistake = MISTAKES.for_functions("attention.padding_mask")
mistake("query-axis", "[..., None, None, :]", "[:, None, :, None]", common=True).explain("""
    the padding is along the query axis, not along the key axis
    why: That prevents padding from attending, but does not prevent other positions from attending to padding.
    ask: The scores are (B, H, T, S). With which of these axes should the S of `keep` be aligned?""")
mistake("head-axis-missing", "[..., None, None, :]", "[..., None, :]", common=True).explain("""
    only one axis was added: (B, 1, S)
    why: Against scores of shape (B, H, T, S), the B of the mask is aligned with the H of the scores.
    ask: Broadcasting aligns axes from the right. With which axis of the scores is your B aligned?""")
mistake("no-new-axes", "[..., None, None, :]", "").explain("""
    the mask has the shape of `keep`
    why: Against scores of shape (B, H, T, S), the B of the mask is aligned with the T of the scores.
    ask: Broadcasting aligns axes from the right. With which axis of the scores is your B aligned?""")
mistake("inverted", "return np.asarray", "return ~np.asarray", common=True).explain("""
    the mask was inverted: True where there is padding
    why: Some libraries mark the padding with True. Here True means that queries may attend to the key.
    ask: What does True mean in `keep`, and what does it mean in a mask?""")
mistake(
    "both-axes",
    "return np.asarray(keep, dtype=bool)[..., None, None, :]",
    "keep = np.asarray(keep, dtype=bool)\n    return keep[:, None, None, :] & keep[:, None, :, None]",
).explain("""
    padding was masked as a query, too: (B, 1, S, S)
    why: What padding attends to does no harm, and the number of queries need not be the number of keys.
    ask: How many queries are there? Can you tell from `keep`?""")
mistake("numbers", "np.asarray(keep, dtype=bool)", "np.asarray(keep, dtype=np.float64)").explain("""
    the mask holds 1.0 and 0.0, not True and False
    why: The pattern is correct, but ~mask, indexing with a mask and `where=` need booleans.
    ask: What should the dtype of the mask be?""")
mistake("keys-not-last", "[..., None, None, :]", "[..., None, None]").explain("""
    the new axes came last, after the keys
    why: The keys are the last axis of the scores (B, H, T, S), so they must be the last axis of the mask.
    ask: With which axis of (B, H, T, S) is the last axis of your mask aligned?""")
mistake("axes-around", "[..., None, None, :]", "[None, :, None, :]").explain("""
    the mask has the shape (1, B, 1, S)
    why: The B of the mask is then aligned with the heads of the scores (B, H, T, S).
    ask: With which axis of the scores should the B of the mask be aligned?""")
mistake(
    "repeated-for-queries", "[..., None, None, :]", "[:, None, None, :].repeat(np.shape(keep)[-1], axis=-2)"
).explain("""
    the mask was repeated for S queries: (B, 1, S, S)
    why: The number of queries need not be the number of keys. An axis of length 1 fits any number.
    ask: How many queries are there? Can you tell from `keep`?""")
mistake(
    "outer", "(keep, dtype=bool)[..., None, None, :]", "(keep)[:, None, :, None] | np.asarray(keep)[:, None, None, :]"
).explain("""
    the mask depends on the query, too: (B, 1, S, S)
    why: What padding attends to does no harm, and the number of queries need not be the number of keys.
    ask: How many queries are there? Can you tell from `keep`?""")
mistake("causal", "[..., None, None, :]", "[:, None, None, :] & np.tri(np.shape(keep)[-1], dtype=bool)").explain("""
    the causal mask is already part of the result: (B, 1, S, S)
    why: Masks are combined with & where both are needed. In an encoder only the padding is hidden.
    ask: How many rows does your mask have for each text, and should query 0 see a real token after it?""")
mistake("first-text-only", "[..., None, None, :]", "[:1, None, None, :]").explain("""
    only the first text's padding is in the mask
    why: Each text has its own length.
    ask: What is the first size of your result?""")
mistake("in-place", "    return np.asarray", "    keep[..., 0] = True\n    return np.asarray").explain("""
    the first key was set to True in `keep` itself
    why: A text may be all padding: attention gives weights 0 to a query that sees nothing. And the caller's array is
         changed.
    ask: Which of your lines write into the argument?""")
mistake("changed", "np.asarray(keep, dtype=bool)", "np.logical_not(np.logical_not(keep, out=keep))").explain("""
    `keep` was changed in place
    why: The caller may still need it.
    ask: Which of your lines create a new array, and which write into the argument?""")
