"""Mistakes in `bpe`: encoding."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

BEST = "min(pairwise(tokens), key=lambda pair: ranks.get(pair, len(ranks)))"
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
mistake("leftmost-first", "ranks.get(pair, len(ranks))", "pair not in ranks").explain("""
    the first pair in the piece was merged first, not the one with the lowest rank
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
mistake("pairs-across-pieces", "for piece in pieces", "for piece in ([text] if text else [])").explain("""
    the text was not split into pieces, and pairs were merged across them
    why: Such tokens were never learned. Also, one long text takes much longer than many short pieces.
    ask: Where does your code call split_text?""")
mistake("one-round", "while len(tokens) > 1:", "for _ in range(1):",
        BEST, BEST.replace("pairwise(tokens)", "[*pairwise(tokens), (None, None)]")).explain("""
    only one pair was merged in each piece
    why: After a merge there are new pairs. Repeat until none of them is in the list.
    ask: How often does your loop run for one piece?""")  # fmt: skip
mistake("first-merge-skipped", "enumerate(merges)}", "enumerate(merges[1:])}").explain("""
    the first merge of the list was never made
    why: 0 is false in Python: `if ranks.get(pair)` treats rank 0 like a missing pair. Or the first entry was skipped as
         if it were the line "#version: 0.2" of a file.
    ask: Which rank does merges[0] have in your code?""")
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
mistake("code-points", IDS, "[vocab[token] if len(token) > 1 else ord(token) for token in tokens]").explain("""
    single symbols got their code points as ids
    why: Only `vocab` says which id a token has.
    ask: Where does your code look up a token that is a single symbol?""")
mistake("empty-is-float", RESULT, "np.array(ids)").explain("""
    the empty text gave an array of floats
    why: NumPy cannot know the dtype of an empty list, and takes float64.
    ask: What is np.array([]).dtype?""")
mistake("as-a-row", RESULT, "np.array([ids], dtype=np.int64)").explain("""
    the ids are in an array with two axes
    why: The result has the shape (N,). A batch is made later.
    ask: What is the shape of your result?""")
mistake("key-error", "if token not in vocab:", "if False:").explain("""
    a token that the vocabulary does not have raises a KeyError, not a ValueError
    why: A KeyError shows the token, but does not say that the vocabulary lacks it. A ValueError can say both.
    ask: What does Python do if a dictionary does not have a key, and what should your function do?""")
mistake("message-without-token", "the token {token!r} is not in the", "a token is not in the"
        ).explain("""
    the message does not contain the token
    why: The reader wants to know which token it was.
    ask: Which values does your message contain?""")  # fmt: skip
mistake("memory-without-spaces", "if piece not in known:", "key = piece.strip()\n        if key not in known:",
        "known[piece] = ", "known[key] = ", "ids += known[piece]", "ids += known[key]").explain("""
    the ids of a word were also used for the same word with a space before it
    why: "low" and " low" are different pieces with different tokens. The memory needs the piece itself as its key.
    ask: What are the keys of the dictionary that remembers ids?""")  # fmt: skip
mistake("different-order", "for piece in pieces", "for piece in sorted(pieces)").explain("""
    the ids are not in the order of the text
    why: The order of the words is lost, and decoding cannot bring it back.
    ask: Is bpe_decode(bpe_encode(text)) the text?""")
mistake("lower-case", "split_text(part, pattern)", "split_text(part.lower(), pattern)").explain("""
    the text was converted to lower case
    why: The case is lost, so decoding cannot restore the text.
    ask: Is bpe_decode(bpe_encode(text)) the text?""")
mistake("special-tokens-ignored", "if special else [text]", "if False else [text]", common=True).explain("""
    special tokens were encoded as text
    why: No merges lead to a special token. It has to be cut out before the text is split into pieces.
    ask: What does your code do with `special_tokens` before it calls split_text?""")
mistake("special-tokens-not-escaped", "regex.escape(token)", "token").explain("""
    the special tokens were used as a regular expression as they are
    why: In a regular expression, | separates alternatives. `regex.escape` puts a backslash before such characters.
    ask: What does the expression <|end|> match?""")
mistake(
    "special-tokens-in-the-given-order", "sorted(special_tokens, key=len, reverse=True)", "special_tokens"
).explain("""
    of two special tokens that begin at the same place, the first in the list was taken
    why: The longest counts. In a regular expression, the first alternative that fits is taken.
    ask: In which order are your alternatives?""")
mistake("pattern-not-passed-on", "split_text(part, pattern)", "split_text(part)").explain("""
    the argument pattern was not used: the text was split by GPT-2's rules
    why: Other models learned their tokens with other rules.
    ask: Which arguments does your code give to split_text?""")
mistake("whole-pieces-merged", "ignore_merges and", "False and", common=True).explain("""
    the argument ignore_merges was not used
    why: If it is True, a piece that is a token of the vocabulary is not merged from its parts.
    ask: Where does your code look whether a whole piece is in the vocabulary?""")
