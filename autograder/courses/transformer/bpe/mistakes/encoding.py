"""Mistakes in `bpe`: encoding."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

BEST = "min(pairwise(tokens), key=lambda pair: ranks.get(pair, len(ranks)))"
SYMBOLS = '[symbols[byte] for byte in piece.encode("utf-8")]'
RAISE = """raise ValueError(f"the token {token!r} is not in the vocabulary")"""
IDS = "[vocab[token] for token in tokens]"
RESULT = "np.array(ids, dtype=np.int64)"

mistake = MISTAKES.for_functions("bpe.bpe_encode")
mistake(
    "by-frequency",
    "known = {}",
    "known = {}\n    counts = Counter(pair for piece in split_text(text) "
    'for pair in pairwise([symbols[byte] for byte in piece.encode("utf-8")]))',
    BEST,
    "min(pairwise(tokens), key=lambda pair: (pair not in ranks, -counts[pair], ranks.get(pair)))",
).explain("""
    the pair that is most frequent in this text was merged first, not the one with the lowest rank
    why: Frequencies matter in training only. The same word must have the same tokens in every text.
    ask: Do the tokens of a word in your code depend on the words around it?""")
for name, key, what in (
    ("leftmost-first", "pair not in ranks", "the first pair in the piece"),
    ("longest-first", "(pair not in ranks, -len(pair[0] + pair[1]), ranks.get(pair))",
     "the pair with the longest token"),
    ("shortest-first", "(pair not in ranks, len(pair[0] + pair[1]), ranks.get(pair))",
     "the pair with the shortest token"),
    ("highest-rank-first", "-ranks.get(pair, -1)", "the pair with the highest rank"),
    ("lowest-id-first", "(pair not in ranks, vocab.get(pair[0] + pair[1], 0))",
     "the pair whose token has the lowest id"),
    ("alphabetical", "(pair not in ranks, pair)", "the first pair in alphabetical order"),
):  # fmt: skip
    mistake(name, "ranks.get(pair, len(ranks))", key).explain(f"""
        {what} was merged first, not the one with the lowest rank
        why: Merges are applied in the order in which they were learned. Otherwise a word is split in another way than
             in training.
        ask: Which of all pairs in a piece does your code merge first?""")
mistake("last-lowest-first", BEST, BEST.replace("pairwise(tokens)", "reversed([*pairwise(tokens)])"),
        "tokens = _merge(tokens, best)",
        "at = len(tokens) - 2 - [*pairwise(tokens)][::-1].index(best)\n"
        "                tokens[at : at + 2] = [tokens[at] + tokens[at + 1]]").explain("""
    overlapping pairs were merged from right to left
    why: a a a becomes aa a: the first two are merged.
    ask: Which two of a a a does your code merge?""")  # fmt: skip
GREEDY = """
    symbols = byte_symbols()
    ids = []
    for piece in split_text(text):
        rest = "".join(symbols[byte] for byte in piece.encode("utf-8"))
        while rest:
            fitting = (end for end in range(len(rest), 0, -1) if rest[:end] in vocab)
            end = next(fitting, 0)
            if not end:
                raise ValueError(f"the token {rest[0]!r} is not in the vocabulary")
            ids.append(vocab[rest[:end]])
            rest = rest[end:]
    return np.array(ids, dtype=np.int64)
"""
mistake("longest-token").body(GREEDY).explain("""
    the longest token of the vocabulary that fits was taken, again and again; the merges were not used
    why: WordPiece, the method of BERT, does so. In byte-pair encoding the order of the merges decides.
    ask: Where does your code use `merges`?""")
mistake("any-token-of-the-vocabulary", "if best not in ranks:", 'if "".join(best) not in vocab:',
        "ranks.get(pair, len(ranks))", '"".join(pair) not in vocab').explain("""
    every pair whose token is in the vocabulary was merged, the first one first
    why: The order of the merges decides which pairs are merged.
    ask: Where does your code use the place of a pair in `merges`?""")  # fmt: skip
mistake("pairs-across-pieces", "for piece in split_text(text)", "for piece in ([text] if text else [])").explain("""
    the text was not split into pieces, and pairs were merged across them
    why: Such tokens were never learned. Also, one long text takes much longer than many short pieces.
    ask: Where does your code call split_text?""")
mistake("spaces-dropped", "in split_text(text)", "in text.split()").explain("""
    the text was split at whitespace, which was dropped
    why: The space belongs to the word after it, and decoding must give the text back.
    ask: Is bpe_decode(bpe_encode(text)) the text?""")
mistake("one-round", "while len(tokens) > 1:", "for _ in range(1):",
        BEST, BEST.replace("pairwise(tokens)", "[*pairwise(tokens), (None, None)]")).explain("""
    only one pair was merged in each piece
    why: After a merge there are new pairs. Repeat until none of them is in the list.
    ask: How often does your loop run for one piece?""")  # fmt: skip
mistake("rank-0-left-out", "if best not in ranks:", "if not ranks.get(best):").explain("""
    merging stopped when the pair of rank 0 was found
    why: 0 is false in Python, so `if not ranks.get(pair)` treats rank 0 like a missing pair.
    ask: What is bool(ranks[merges[0]])?""")
mistake("first-merge-skipped", "enumerate(merges)}", "enumerate(merges[1:])}").explain("""
    the first merge of the list was never made
    why: 0 is false in Python: `if ranks.get(pair)` treats rank 0 like a missing pair. Or the first entry was skipped as
         if it were the line "#version: 0.2" of a file.
    ask: Which rank does merges[0] have in your code?""")
mistake("last-merge-skipped", "enumerate(merges)}", "enumerate(merges[:-1])}").explain("""
    the last merge of the list was skipped
    why: Every pair of the list counts.
    ask: How many ranks does your dictionary have, and how many merges are there?""")
mistake("merges-ignored", "while len(tokens) > 1:", "while False:").explain("""
    nothing was merged: each byte is a token
    why: Merging is what makes texts short.
    ask: Where does your code use `merges`?""")
mistake("pair-exchanged", "ranks = {pair: rank", "ranks = {pair[::-1]: rank").explain("""
    left and right were exchanged in the pairs
    why: The pair (a, b) is a before b.
    ask: Which of your two tokens comes first in the text?""")
mistake("ids-of-bytes", IDS, "list(piece.encode('utf-8'))").explain("""
    the bytes of the piece were returned, not the ids of its tokens
    why: Only `vocab` says which id a token has.
    ask: Where does your code use `vocab`?""")
mistake(
    "bytes-and-ranks",
    IDS,
    '[piece_bytes[token] if token in piece_bytes else 256 + merged["".join(token)] for token in tokens]',
    "known = {}",
    "known = {}\n    piece_bytes = {symbol: byte for byte, symbol in symbols.items()}\n"
    "    merged = {left + right: rank for rank, (left, right) in enumerate(merges)}",
).explain("""
    the ids were computed: the byte of a symbol, and 256 plus the rank of a merge
    why: Only `vocab` says which id a token has. In GPT-2's vocabulary the byte 65, A, has the id 32.
    ask: Where does your code use `vocab`?""")
mistake(
    "places-in-the-vocabulary", IDS, "[places[token] for token in tokens]",
    "known = {}", "known = {}\n    places = {token: place for place, token in enumerate(vocab)}",
).explain("""
    the place of the token in `vocab` was returned, not its id
    why: Ids may be in any order. They are the values of the dictionary.
    ask: What is vocab[token]?""")  # fmt: skip
mistake("code-points", IDS, "[vocab[token] if len(token) > 1 else ord(token) for token in tokens]").explain("""
    single symbols got their code points as ids
    why: Only `vocab` says which id a token has.
    ask: Where does your code look up a token that is a single symbol?""")
mistake("characters-not-bytes", SYMBOLS, '[char.replace(" ", "Ġ").replace("\\n", "Ċ") for char in piece]').explain("""
    the characters of the text were merged, not the symbols of its bytes
    why: The tokens are made of symbols for bytes. "é" has two: Ã©.
    ask: What does your code do with a character that is not ASCII?""")
for encoding in ("latin-1", "utf-16"):
    mistake(f"encoded-in-{encoding}", 'piece.encode("utf-8")', f'piece.encode("{encoding}", errors="replace")').explain(
        f"""
        the text was encoded in {encoding}, not in UTF-8
        why: The bytes of other encodings are others, and tokens were learned from UTF-8.
        ask: In which encoding are the bytes of your pieces?"""
    )
mistake("bytes-as-symbols", SYMBOLS, '[chr(byte) for byte in piece.encode("utf-8")]').explain("""
    the symbols were not looked up in the table: bytes were turned into characters by chr
    why: That is right for visible bytes only. The space is Ġ, not chr(32).
    ask: Which symbol does a space have in your code?""")
mistake("list", RESULT, "[int(index) for index in ids]").explain("""
    a list was returned, not an array
    why: The model computes with arrays.
    ask: What does np.array do with your list?""")
mistake("empty-is-float", RESULT, "np.array(ids)").explain("""
    the empty text gave an array of floats
    why: NumPy cannot know the dtype of an empty list, and takes float64.
    ask: What is np.array([]).dtype?""")
for dtype in ("int32", "uint16", "float64"):
    mistake(dtype, RESULT, f"np.array(ids).astype(np.{dtype})").explain(f"""
        the ids are {dtype}, not int64
        why: The docstring says int64, as for your first tokenizer.
        ask: What is the dtype of your result?""")
mistake("as-a-row", RESULT, "np.array([ids], dtype=np.int64)").explain("""
    the ids are in an array with two axes
    why: The result has the shape (N,). A batch is made later.
    ask: What is the shape of your result?""")
mistake("key-error", "if token not in vocab:", "if False:").explain("""
    a token that the vocabulary does not have raises a KeyError, not a ValueError
    why: The docstring asks for a ValueError with the token.
    ask: What does Python do if a dictionary does not have a key, and what should your function do?""")
mistake("unknown-skipped", RAISE, "break", IDS, "[vocab[token] for token in tokens if token in vocab]").explain("""
    tokens that the vocabulary does not have were skipped
    why: Part of the text is then lost, and nobody notices.
    ask: What should happen to a token that has no id?""")
mistake("unknown-is-zero", RAISE, "break", IDS, "[vocab.get(token, 0) for token in tokens]").explain("""
    tokens that the vocabulary does not have got the id 0
    why: 0 is the id of another token.
    ask: What should happen to a token that has no id?""")
mistake("message-without-token", "the token {token!r} is not in the vocabulary", "a token is not in the vocabulary"
        ).explain("""
    the message does not contain the token
    why: The reader wants to know which token it was.
    ask: Which values does your message contain?""")  # fmt: skip
mistake("memory-without-spaces", "if piece not in known:", "key = piece.strip()\n        if key not in known:",
        "known[piece] = ", "known[key] = ", "ids += known[piece]", "ids += known[key]").explain("""
    the ids of a word were also used for the same word with a space before it
    why: "low" and " low" are different pieces with different tokens. The memory needs the piece itself as its key.
    ask: What are the keys of the dictionary that remembers ids?""")  # fmt: skip
mistake("repeated-pieces-dropped", "        ids += known[piece]", "            ids += known[piece]").explain("""
    a piece that occurs again was left out
    why: Merging each different piece once is right, but its ids are added each time.
    ask: How many ids does your function return for " a a a"?""")
mistake("different-order", "for piece in split_text(text)", "for piece in sorted(split_text(text))").explain("""
    the ids are not in the order of the text
    why: The order of the words is lost, and decoding cannot bring it back.
    ask: Is bpe_decode(bpe_encode(text)) the text?""")
mistake("text-stripped", "split_text(text)", "split_text(text.strip())").explain("""
    whitespace at the ends of the text was dropped
    why: It is part of the text, and must come back when the ids are decoded.
    ask: What are the ids of a single space?""")
mistake("space-in-front", "split_text(text)", 'split_text(" " + text if text else text)').explain("""
    a space was put before the text
    why: Some tokenizers do so, so that the first word is like all others. GPT-2's does not.
    ask: How does the decoded text begin?""")
mistake("lower-case", "split_text(text)", "split_text(text.lower())").explain("""
    the text was converted to lower case
    why: The case is lost, so decoding cannot restore the text.
    ask: Is bpe_decode(bpe_encode(text)) the text?""")
