"""Mistakes in `bpe`: training. They are changes of a plain version, which counts anew in every round."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

PLAIN = """
    if vocab_size < 256:
        raise ValueError("vocab_size must be at least 256")
    symbols = byte_symbols()
    words = [[symbols[byte] for byte in piece.encode("utf-8")] for piece in split_text(text)]
    places = {symbol: place for place, symbol in enumerate(sorted(symbols.values()))}
    merges = []
    while len(merges) < vocab_size - 256:
        counts = Counter(pair for word in words for pair in pairwise(word))
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], places[pair[0]], places[pair[1]]))
        merges.append(best)
        places["".join(best)] = len(places)
        words = [_merge(word, best) for word in words]
    return merges
"""
WORDS = 'words = [[symbols[byte] for byte in piece.encode("utf-8")] for piece in split_text(text)]'
KEY = "(-counts[pair], places[pair[0]], places[pair[1]])"
BEST = f"min(counts, key=lambda pair: {KEY})"
COUNTS = "Counter(pair for word in words for pair in pairwise(word))"
AGAIN = "words = [_merge(word, best) for word in words]"

mistake = MISTAKES.for_functions("bpe.train_bpe")
mistake("pairs-across-pieces", WORDS, 'words = [[symbols[byte] for byte in text.encode("utf-8")]]').body(
    PLAIN
).explain("""
    pairs were counted and merged across the pieces
    why: Tokens such as "e." or "of the" then take the places of words. `split_text` says where no token may cross.
    ask: Can the last letter of one piece and the first of the next be a pair in your code?""")
mistake("ties-first-in-the-text", BEST, "max(counts, key=counts.get)").body(PLAIN).explain("""
    of equally frequent pairs, the one that comes first in the text was merged
    why: max returns the first of several, and a dictionary has the order in which pairs were counted. Here
         the vocabulary decides, so that the same pieces in another order give the same merges.
    ask: Which of two equally frequent pairs does your code take? Does it depend on the order of the words?""")
for name, key, rule in (
    ("smallest-string", "min(counts, key=lambda pair: (-counts[pair], pair))", "comes first in alphabetical order"),
    ("left-token-only", BEST.replace(", places[pair[1]]", ""), "has the earliest left token, whatever the right one"),
):
    mistake(f"ties-{name}", BEST, key).body(PLAIN).explain(f"""
        of equally frequent pairs, the one was merged that {rule}
        why: Everybody must get the same result: the earliest left token decides, then the earliest
             right one, in the order in which tokens came into the vocabulary.
        ask: Which two numbers does your code compare if two pairs are equally frequent?""")
mistake("pieces-counted-once", "in split_text(text)]", "in dict.fromkeys(split_text(text))]").body(PLAIN).explain("""
    each different piece was counted once, however often it occurs
    why: Merging each different piece once saves time, but its pairs count as often as the piece occurs in the text.
    ask: How often is the pair of "ab ab ab" counted?""")
mistake(
    "replaced-in-the-string",
    AGAIN,
    'words = [" ".join(word).replace(" ".join(best), "".join(best)).split(" ") for word in words]',
).body(PLAIN).explain("""
    the pair was replaced in a string, also where it is only a part of two tokens
    why: If "a b" is replaced in "ca b", the tokens ca and b are merged, too. Compare whole tokens.
    ask: What does "ca b".replace("a b", "ab") return?""")
for name, size, what in (
    ("one-merge-too-many", "vocab_size - 255", "one merge too many was learned"),
    ("as-many-merges-as-tokens", "vocab_size", "`vocab_size` merges were learned: the 256 bytes were not counted"),
    (
        "counted-from-the-symbols-in-the-text",
        "vocab_size - len({symbols[byte] for byte in text.encode()})",
        "the vocabulary began with the symbols of the text only, not with all 256",
    ),
):
    group = "number of merges" if "as" in name or "counted" in name else ""
    mistake(name, "vocab_size - 256", size, group=group).body(PLAIN).explain(f"""
        {what}
        why: The vocabulary begins with 256 symbols, and each merge adds one token.
        ask: How many merges are there if vocab_size is 257?""")
mistake("size-not-checked", "vocab_size < 256", "False").body(PLAIN).explain("""
    a vocabulary below 256 was accepted
    why: The 256 symbols are always in it, so a smaller one is impossible.
    ask: What does your function do with vocab_size=100?""")
mistake("size-256-refused", "vocab_size < 256", "vocab_size <= 256").body(PLAIN).explain("""
    a vocabulary of 256 was refused
    why: It is the 256 symbols without any merge: an empty list.
    ask: What should train_bpe("abab", 256) return?""")
mistake("no-pair-left-raises", "        if not counts:\n            break\n", "").body(PLAIN).explain("""
    a text with no pair left raised an error
    why: The minimum of nothing is a ValueError. If no pair is left, training ends early.
    ask: What does your code do when every piece is a single token?""")
mistake(
    "characters-not-bytes",
    'symbols[byte] for byte in piece.encode("utf-8")',
    'char.replace(" ", "Ġ") for char in piece',
    "places = {",
    "places = defaultdict(int) | {",
).body(PLAIN).explain("""
    characters were merged, not the symbols of bytes
    why: Characters above ASCII have several bytes, and the vocabulary begins with bytes, so that no text is unknown.
    ask: How many symbols does "é" have?""")  # fmt: skip
mistake("rarest-first", "(-counts[pair], places", "(counts[pair], places").body(PLAIN).explain("""
    the rarest pair was merged, not the most frequent one
    why: Frequent pairs make texts shorter.
    ask: Does your code look for the largest or the smallest count?""")
mistake(
    "counted-once-for-all",
    AGAIN,
    "words = [word for word in words]\n        left_out = set(merges)\n"
    "        words = [[]] if left_out >= set(counts) else words",
    COUNTS,
    "Counter(pair for word in words for pair in pairwise(word) if pair not in merges)",
).body(PLAIN).explain("""
    the pairs were not merged: only pairs of single symbols were learned
    why: After each merge the new token is part of other pairs. That is how words of many letters become one token.
    ask: Does your code change the tokens of the pieces after it has found the best pair?""")
for name, result, what in (
    ("joined", '["".join(pair) for pair in merges]', "the merged tokens were returned, not the pairs"),
    ("reversed", "merges[::-1]", "the merges were returned in reverse order"),
):
    mistake(f"returned-{name}", "return merges", f"return {result}").body(PLAIN).explain(f"""
        {what}
        why: bpe_encode needs both halves of each pair, and its place: pairs that were learned first are merged first.
        ask: What is your merges[0] for the text "ab"?""")
mistake("lower-case", "split_text(text)]", "split_text(text.lower())]").body(PLAIN).explain("""
    the text was converted to lower case
    why: Tokens with capital letters are learned like all others.
    ask: Which merges does your function learn from "AB"?""")
