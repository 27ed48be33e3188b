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
mistake("spaces-dropped", "in split_text(text)]", "in text.split()]").body(PLAIN).explain("""
    the text was split at whitespace, and the spaces were dropped
    why: In GPT-2's tokens a space belongs to the word after it: the symbol Ġ is part of the piece.
    ask: Does Ġ occur in your merges?""")
mistake("ties-first-in-the-text", BEST, "max(counts, key=counts.get)").body(PLAIN).explain("""
    of equally frequent pairs, the one that comes first in the text was merged
    why: max returns the first of several, and a dictionary has the order in which pairs were counted. The docstring
         gives another rule, which depends on the vocabulary.
    ask: Which of two equally frequent pairs does your code take? Does it depend on the order of the words?""")
mistake("ties-last-in-the-text", BEST, "min(reversed(counts), key=lambda pair: -counts[pair])").body(PLAIN).explain("""
    of equally frequent pairs, the one that comes last in the text was merged
    why: The docstring gives another rule: the place of the left token in the vocabulary, then that of the right one.
    ask: Which of two equally frequent pairs does your code take?""")
for name, key, rule in (
    ("largest-string", "max(counts, key=lambda pair: (counts[pair], pair))", "comes last in alphabetical order"),
    ("smallest-string", "min(counts, key=lambda pair: (-counts[pair], pair))", "comes first in alphabetical order"),
    ("largest-place", BEST.replace("places[", "-places["), "has the tokens that came last into the vocabulary"),
    ("right-token-first", BEST.replace("places[pair[0]], places[pair[1]]", "places[pair[1]], places[pair[0]]"),
     "has the earliest right token"),
    ("left-token-only", BEST.replace(", places[pair[1]]", ""), "has the earliest left token, whatever the right one"),
    ("right-token-descending", BEST.replace("places[pair[1]]", "-places[pair[1]]"),
     "has the earliest left token, but the latest right one"),
    ("left-token-descending", BEST.replace("places[pair[0]]", "-places[pair[0]]"),
     "has the latest left token, and the earliest right one"),
    ("longest", BEST.replace("places[pair[0]]", "-len(pair[0] + pair[1]), places[pair[0]]"), "gives the longest token"),
    ("shortest", BEST.replace("places[pair[0]]", "len(pair[0] + pair[1]), places[pair[0]]"),
     "gives the shortest token"),
    ("merged-string", BEST.replace("places[pair[0]], places[pair[1]]", '"".join(pair)'),
     "gives the token that comes first in alphabetical order"),
):  # fmt: skip
    mistake(f"ties-{name}", BEST, key).body(PLAIN).explain(f"""
        of equally frequent pairs, the one was merged that {rule}
        why: Everybody must get the same result: the earliest left token decides, then the earliest
             right one, in the order in which tokens came into the vocabulary.
        ask: Which two numbers does your code compare if two pairs are equally frequent?""")
mistake(
    "symbols-in-order-of-bytes", "enumerate(sorted(symbols.values()))", "enumerate(map(symbols.get, range(256)))"
).body(PLAIN).explain("""
    the vocabulary began with the symbols in the order of their bytes, not of their code points
    why: The two differ: the space is byte 32, before all letters, but its symbol Ġ has the code point 288, after them.
    ask: Which is first in your vocabulary, Ġ or a?""")
mistake("pieces-counted-once", "in split_text(text)]", "in dict.fromkeys(split_text(text))]").body(PLAIN).explain("""
    each different piece was counted once, however often it occurs
    why: Merging each different piece once saves time, but its pairs count as often as the piece occurs in the text.
    ask: How often is the pair of "ab ab ab" counted?""")
mistake(
    "overlaps-counted-once",
    COUNTS,
    "Counter()\n        for word in words:\n            previous = None\n            for pair in pairwise(word):\n"
    "                if pair == previous:\n                    previous = None\n                else:\n"
    "                    counts[pair] += 1\n                    previous = pair",
).body(PLAIN).explain("""
    overlapping pairs were counted once
    why: In a a a the pair a a occurs twice, at the first and at the second place. It counts twice, although only one of
         them can be merged.
    ask: How often does your code count the pair in a a a?""")
mistake(
    "merged-from-the-right",
    AGAIN,
    "words = [[token[::-1] for token in _merge([t[::-1] for t in word][::-1], (best[1][::-1], best[0][::-1]))][::-1]"
    " for word in words]",
).body(PLAIN).explain("""
    overlapping pairs were merged from right to left
    why: a a a becomes aa a, because the first two are merged.
    ask: Which two of a a a does your code merge?""")
mistake(
    "one-occurrence-merged",
    AGAIN,
    "for word in words:\n            for at, pair in enumerate(pairwise(word)):\n                if pair == best:\n"
    "                    word[at : at + 2] = [best[0] + best[1]]\n                    break",
).body(PLAIN).explain("""
    only the first occurrence of the pair in each piece was merged
    why: The pair is merged wherever it occurs. Otherwise it may be the most frequent one again in the next round.
    ask: What are the tokens of "abab" after the first merge?""")
mistake(
    "replaced-in-the-string",
    AGAIN,
    'words = [" ".join(word).replace(" ".join(best), "".join(best)).split(" ") for word in words]',
).body(PLAIN).explain("""
    the pair was replaced in a string, also where it is only a part of two tokens
    why: If "a b" is replaced in "ca b", the tokens ca and b are merged, too. Compare whole tokens.
    ask: What does "ca b".replace("a b", "ab") return?""")
mistake("rare-pairs-left", "if not counts:", "if max(counts.values(), default=0) < 2:").body(PLAIN).explain("""
    training stopped when no pair occurred twice
    why: That makes sense, but here it goes on until no pair is left, or the vocabulary is full.
    ask: When does your loop end for "abab" and a vocabulary of 300?""")
for name, size, what in (
    ("one-merge-too-many", "vocab_size - 255", "one merge too many was learned"),
    ("one-merge-too-few", "vocab_size - 257", "one merge too few was learned"),
    ("as-many-merges-as-tokens", "vocab_size", "`vocab_size` merges were learned: the 256 bytes were not counted"),
    ("counted-from-the-symbols-in-the-text", "vocab_size - len({symbols[byte] for byte in text.encode()})",
     "the vocabulary began with the symbols of the text only, not with all 256"),
):  # fmt: skip
    group = "number of merges" if "as" in name or "counted" in name else ""
    mistake(name, "vocab_size - 256", size, group=group).body(PLAIN).explain(f"""
        {what}
        why: The vocabulary begins with 256 symbols, and each merge adds one token.
        ask: How many merges are there if vocab_size is 257?""")
mistake("size-not-checked", "vocab_size < 256", "False").body(PLAIN).explain("""
    a vocabulary below 256 was accepted
    why: The 256 symbols are always in it, so a smaller one is impossible.
    ask: What does your function do with vocab_size=100?""")
mistake("size-0-only-refused", "vocab_size < 256", "vocab_size <= 0").body(PLAIN).explain("""
    only sizes that are not positive were refused
    why: The 256 symbols are always in the vocabulary, so a smaller one is impossible.
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
mistake("bytes-as-symbols", "symbols = byte_symbols()", "symbols = {byte: chr(byte) for byte in range(256)}").body(
    PLAIN
).explain("""
    the symbols were not looked up in the table: bytes were turned into characters by chr
    why: That is right for visible bytes only. The space is Ġ, not chr(32).
    ask: Which symbol does a space have in your merges?""")
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
    ("with-a-space", '[" ".join(pair) for pair in merges]', "strings such as 'a b' were returned, not pairs"),
    ("dict", "{pair: rank for rank, pair in enumerate(merges)}", "a dict of ranks was returned, not a list of pairs"),
    ("lists", "[list(pair) for pair in merges]", "the pairs are lists, not tuples"),
    ("tuple", "tuple(merges)", "a tuple was returned, not a list"),
    ("reversed", "merges[::-1]", "the merges were returned in reverse order"),
    ("sorted", "sorted(merges)", "the merges were sorted"),
    ("exchanged", "[(right, left) for left, right in merges]", "left and right were exchanged in the pairs"),
):
    mistake(f"returned-{name}", "return merges", f"return {result}").body(PLAIN).explain(f"""
        {what}
        why: The docstring asks for a list of tuples (left, right), in the order in which they were learned.
        ask: What is your merges[0] for the text "ab"?""")
mistake("lower-case", "split_text(text)]", "split_text(text.lower())]").body(PLAIN).explain("""
    the text was converted to lower case
    why: Tokens with capital letters are learned like all others.
    ask: Which merges does your function learn from "AB"?""")
mistake("end-of-word", " for piece in split_text", ' + ["</w>"] for piece in split_text',
        "sorted(symbols.values())", '[*sorted(symbols.values()), "</w>"]').body(PLAIN).explain("""
    a symbol for the end of the word was added to each piece
    why: Sennrich, Haddow and Birch did so. In GPT-2 the space before a word takes its place.
    ask: How many symbols does the piece "ab" have?""")  # fmt: skip
mistake("last-piece-missing", "in split_text(text)]", "in split_text(text)[:-1]]").body(PLAIN).explain("""
    the last piece of the text was left out
    why: A text that ends without a space has a last piece as well.
    ask: Which merges does your function learn from "ab"?""")
mistake(
    "pairs-without-order", COUNTS, "Counter(tuple(sorted(pair)) for word in words for pair in pairwise(word))"
).body(PLAIN).explain("""
    a b and b a were counted as the same pair
    why: They give different tokens, ab and ba.
    ask: Which pairs does your code count in "aba"?""")
mistake("weighted-by-length", "-counts[pair], places", "-counts[pair] * len(pair[0] + pair[1]), places").body(
    PLAIN
).explain("""
    the pair that saves the most characters was merged, not the most frequent one
    why: Other methods weigh pairs. Here only their number counts.
    ask: What does your code compare besides the counts?""")
mistake("likelihood", "min(counts, key=lambda pair: (-counts[pair], ",
        "min(counts, key=lambda pair: (-counts[pair] / (alone[pair[0]] * alone[pair[1]]), ",
        "        best = ", "        alone = Counter(token for word in words for token in word)\n        best = "
        ).body(PLAIN).explain("""
    the counts of the pairs were divided by the counts of their tokens
    why: WordPiece, the method of BERT, does so. Byte-pair encoding takes the most frequent pair.
    ask: What does your code compare besides the counts?""")  # fmt: skip
