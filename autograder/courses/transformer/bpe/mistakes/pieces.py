"""Mistakes in `bpe`: the pieces of a text."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

# The parts of the pattern of the solution, and the line that uses it.
ENDINGS = "'s|'t|'re|'ve|'m|'ll|'d"
LETTERS, NUMBERS, OTHERS = r" ?\p{L}+", r" ?\p{N}+", r" ?[^\s\p{L}\p{N}]+"
SPACES, LAST = r"\s+(?!\S)", r"\s+"
PARTS = (ENDINGS, LETTERS, NUMBERS, OTHERS, SPACES, LAST)

mistake = MISTAKES.for_functions("bpe.split_text")


def pattern(*parts: str, text: str = "text") -> tuple[str, str]:
    """Return the edit that splits with the pattern of these parts."""
    return "_PIECE.findall(text)", f'regex.findall(r"""{"|".join(parts)}""", {text})'


def changed(**new: str) -> tuple[str, str]:
    """Return the edit that replaces parts of the pattern, named in lower case."""
    names = ("endings", "letters", "numbers", "others", "spaces", "last")
    return pattern(*(new.get(name, part) for name, part in zip(names, PARTS, strict=True)))


mistake("split-at-whitespace", "_PIECE.findall(text)", "text.split()").explain("""
    the text was split at whitespace, which was dropped
    why: Spaces and line breaks are part of the text, and punctuation is a piece of its own. Joined, the pieces must be
         the text.
    ask: What is "".join of your pieces for "a b"?""")
mistake("space-as-a-piece", *changed(letters=r"\p{L}+", numbers=r"\p{N}+", others=r"[^\s\p{L}\p{N}]+")).explain("""
    the space was not kept with the word after it
    why: GPT-2's tokens contain the space before a word, such as Ġthe. With the space as a piece of its own, they are
         never found, and each word costs one token more.
    ask: To which piece does the space of "a b" belong?""")
mistake("space-after-the-word",
        *changed(letters=r"\p{L}+ ?", numbers=r"\p{N}+ ?", others=r"[^\s\p{L}\p{N}]+ ?")).explain("""
    the space was kept with the word before it, not with the one after it
    why: In GPT-2's vocabulary, tokens begin with the space. " low" is one piece, "low " is not.
    ask: Where does the space stand in your first piece of "a b"?""")  # fmt: skip
for part, what in (("letters", "words"), ("numbers", "numbers"), ("others", "punctuation")):
    old = {"letters": LETTERS, "numbers": NUMBERS, "others": OTHERS}[part]
    mistake(f"space-not-with-{part}", *changed(**{part: old.removeprefix(" ?")})).explain(f"""
        the space before {what} was not kept with the piece
        why: A single space belongs to what follows it, be it letters, numbers or other characters.
        ask: What are your pieces for "a b", "a 1" and "a !"?""")
    mistake(f"spaces-with-{part}", *changed(**{part: old.replace(" ?", " *", 1)})).explain(f"""
        all spaces before {what} were put into the piece
        why: Only one space belongs to the piece; those before it are a piece of their own.
        ask: What are your pieces for "a" and "b" with three spaces between them?""")
    mistake(f"whitespace-with-{part}", *changed(**{part: old.replace(" ?", r"\s?", 1)})).explain(f"""
        a line break or tab before {what} was put into the piece
        why: Only the space itself belongs to the next piece. Other whitespace is separate.
        ask: What are your pieces for a text of two lines?""")
    mistake(f"one-character-of-{part}", *changed(**{part: old.removesuffix("+")})).explain(f"""
        each character of {what} became a piece of its own
        why: The rule takes as many characters of its kind as there are: in a regular expression, a plus sign.
        ask: How many pieces do "ab", "12" and "!!" have?""")
mistake("endings-missing", *pattern(*PARTS[1:]), group="endings").explain("""
    contractions such as 's and 'll were not split off as rule 1 says
    why: Then the apostrophe is one piece, and the letters after it are another.
    ask: What are your pieces for "it's"?""")
mistake("endings-in-capitals", *changed(endings="(?i:'s|'t|'re|'ve|'m|'ll|'d)")).explain("""
    contractions in capitals were split off, too
    why: GPT-2's rule knows only lower case. (Later tokenizers changed this.)
    ask: What are your pieces for "IT'S"?""")
for ending in ENDINGS.split("|"):
    kept = "|".join(part for part in ENDINGS.split("|") if part != ending)
    mistake(f"ending-{ending[1:]}-missing", *changed(endings=kept)).explain(f"""
        the contraction {ending} is missing from the rules
        why: There are seven of them: 's, 't, 're, 've, 'm, 'll and 'd.
        ask: Which contractions are in your expression?""")
mistake("endings-last", *pattern(*PARTS[1:], ENDINGS), group="endings").explain("""
    contractions were tried after the other rules
    why: The first alternative that fits is taken, and an apostrophe also fits the rule for other characters.
    ask: In which order are your alternatives? Which of them fits 's first?""")
mistake("apostrophes-as-letters", *pattern(r" ?[\p{L}']+", NUMBERS, r" ?[^\s\p{L}\p{N}']+", SPACES, LAST)).explain("""
    apostrophes were treated as letters, so that contractions stay in the word
    why: "it's" is two pieces, "it" and "'s".
    ask: What are your pieces for "it's"?""")
mistake("words-by-w", *pattern(ENDINGS, r" ?\w+", r" ?[^\s\w]+", SPACES, LAST)).explain(r"""
    \w was used for letters, which contains digits and the underscore
    why: Numbers then stick to letters. A letter is \p{L}, and a number \p{N}.
    ask: What are your pieces for "x2_y"?""")
mistake("letters-and-numbers-together",
        *pattern(ENDINGS, r" ?[\p{L}\p{N}]+", OTHERS, SPACES, LAST)).explain("""
    letters and numbers were put into the same piece
    why: They are two rules, so that "3rd" is two pieces.
    ask: What are your pieces for "3rd"?""")  # fmt: skip
mistake("ascii-letters", *changed(letters=" ?[A-Za-z]+", others=r" ?[^\sA-Za-z\p{N}]+")).explain(r"""
    only the letters A to Z count as letters
    why: Accents and other scripts are letters as well: \p{L}.
    ask: What are your pieces for "naïve"?""")
mistake("ascii-digits", *changed(numbers=" ?[0-9]+", others=r" ?[^\s\p{L}0-9]+")).explain(r"""
    only the digits 0 to 9 count as numbers
    why: Other scripts have digits, too, and ½ and Ⅷ are numbers: \p{N}.
    ask: Which rule fits ½ in your expression?""")
mistake("decimal-digits", *changed(numbers=r" ?\d+", others=r" ?[^\s\p{L}\d]+")).explain(r"""
    \d was used for numbers, which leaves out fractions and Roman numerals
    why: \p{N} contains all characters that are numbers, such as ½, ² and Ⅷ.
    ask: Which rule fits ½ in your expression?""")
mistake("numbers-in-threes", *changed(numbers=r" ?\p{N}{1,3}")).explain("""
    numbers were split after three digits
    why: Later tokenizers do so. In GPT-2 a piece has all digits of a number.
    ask: What are your pieces for "12345"?""")
mistake("numbers-as-others", *pattern(ENDINGS, LETTERS, r" ?[^\s\p{L}]+", SPACES, LAST)).explain("""
    numbers were not separated from punctuation
    why: Numbers have a rule of their own, and the rule for other characters excludes them.
    ask: What are your pieces for "$5!"?""")
mistake("last-space-not-left", *pattern(ENDINGS, LETTERS, NUMBERS, OTHERS, LAST)).explain("""
    whitespace does not leave its last character to the word after it
    why: Of three spaces before a word, two are a piece, and the third belongs to the word: rule 5, (?!\\S).
    ask: What are your pieces for "a" and "b" with two spaces between them?""")
mistake("whitespace-dropped", *pattern(ENDINGS, LETTERS, NUMBERS, OTHERS)).explain("""
    whitespace that does not belong to a word was dropped
    why: Joined, the pieces must be the text again: line breaks and further spaces are pieces.
    ask: What is "".join of your pieces for a text of two lines?""")
mistake("single-whitespace-dropped", *pattern(ENDINGS, LETTERS, NUMBERS, OTHERS, SPACES)).explain("""
    whitespace before a word was dropped where it is no space
    why: Rule 5 leaves out a line break before a word, and without rule 6 nothing else takes it.
    ask: What is "".join of your pieces for a text of two lines?""")
mistake("each-whitespace-alone", *changed(spaces=r"\s(?!\S)", last=r"\s")).explain("""
    each character of whitespace became a piece of its own
    why: A run of whitespace is one piece, but for the character before a word.
    ask: How many pieces do five line breaks at the end have?""")
mistake("spaces-only", *changed(spaces=r" +(?!\S)", last=r"\s+")).explain("""
    the rule for whitespace before a word was applied to spaces only
    why: Tabs and line breaks are whitespace as well: of two line breaks before a word, each is a piece.
    ask: What are your pieces for two line breaks and a word?""")
mistake("marks-as-letters",
        *changed(letters=r" ?[\p{L}\p{M}]+", others=r" ?[^\s\p{L}\p{M}\p{N}]+")).explain(r"""
    combining marks were counted as letters
    why: Their class is \p{M}, not \p{L}, and so GPT-2 splits words at them, also in Hindi.
    ask: Which classes of characters does your rule for letters contain?""")  # fmt: skip
mistake("lower-case", "findall(text)", "findall(text.lower())").explain("""
    the text was converted to lower case
    why: The case is lost, so decoding cannot restore the text.
    ask: Is "".join of your pieces the text?""")
mistake("text-stripped", "findall(text)", "findall(text.strip())").explain("""
    whitespace at the ends of the text was dropped
    why: It is part of the text, and comes back when the ids are decoded.
    ask: What are your pieces for a text that ends with a line break?""")
mistake("space-in-front", "findall(text)", 'findall(" " + text if text else text)').explain("""
    a space was put before the text
    why: Some tokenizers do so, so that the first word is like all others. GPT-2's does not.
    ask: What is "".join of your pieces for "a"?""")
mistake("lines", "_PIECE.findall(text)", "[piece for line in text.splitlines() for piece in _PIECE.findall(line)]"
        ).explain("""
    the text was split into lines first, and the line breaks were dropped
    why: Joined, the pieces must be the text.
    ask: What is "".join of your pieces for a text of two lines?""")  # fmt: skip
mistake("captured", *changed(endings="'(s|t|re|ve|m|ll|d)")).explain("""
    findall returned what is in parentheses, not the pieces
    why: With parentheses in the expression, findall returns only what they capture. (?:…) groups without capturing.
    ask: Are there parentheses in your expression?""")
mistake("as-a-tuple", "_PIECE.findall(text)", "tuple(_PIECE.findall(text))").explain("""
    a tuple was returned, not a list
    why: The docstring asks for a list of strings.
    ask: What does findall return, and what does your code do with it?""")
mistake("as-symbols", "_PIECE.findall(text)",
        '["".join(byte_symbols()[byte] for byte in piece.encode("utf-8")) for piece in _PIECE.findall(text)]'
        ).explain("""
    the symbols of the bytes were returned, not the text of the pieces
    why: Symbols come later. Here the pieces, joined, must be the text.
    ask: Is there a Ġ in your pieces?""")  # fmt: skip
mistake("different-pieces", "_PIECE.findall(text)", "list(dict.fromkeys(_PIECE.findall(text)))").explain("""
    pieces that occur several times were listed once
    why: Joined, the pieces must be the text.
    ask: How many pieces does "a a a" have?""")
mistake("sorted", "_PIECE.findall(text)", "sorted(_PIECE.findall(text))").explain("""
    the pieces were sorted
    why: They must be in the order of the text.
    ask: Is "".join of your pieces the text?""")
mistake("empty-text-raises", "_PIECE.findall(text)", "[text[0], *_PIECE.findall(text)][1:]").explain("""
    the empty text raised an error
    why: Its list of pieces is empty.
    ask: Does your code look at text[0] before it knows that there is a first character?""")
