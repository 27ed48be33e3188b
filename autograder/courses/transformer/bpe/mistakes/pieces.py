"""Mistakes in `bpe`: the pieces of a text."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

# The parts of the pattern of the solution, and the line that uses it.
ENDINGS = "'s|'t|'re|'ve|'m|'ll|'d"
LETTERS, NUMBERS, OTHERS = r" ?\p{L}+", r" ?\p{N}+", r" ?[^\s\p{L}\p{N}]+"
SPACES, LAST = r"\s+(?!\S)", r"\s+"
FOUND = "(_PIECE if pattern is None else regex.compile(pattern)).findall(text)"
PARTS = (ENDINGS, LETTERS, NUMBERS, OTHERS, SPACES, LAST)

mistake = MISTAKES.for_functions("bpe.split_text")


def pattern(*parts: str, text: str = "text") -> tuple[str, str]:
    """Return the edit that splits with the pattern of these parts."""
    return FOUND, f'regex.findall(r"""{"|".join(parts)}""" if pattern is None else pattern, {text})'


def changed(**new: str) -> tuple[str, str]:
    """Return the edit that replaces parts of the pattern, named in lower case."""
    names = ("endings", "letters", "numbers", "others", "spaces", "last")
    return pattern(*(new.get(name, part) for name, part in zip(names, PARTS, strict=True)))


mistake("split-at-whitespace", FOUND, "text.split()").explain("""
    the text was split at whitespace, which was dropped
    why: Spaces and line breaks are part of the text, and punctuation is a piece of its own. Joined, the pieces must be
         the text.
    ask: What is "".join of your pieces for "a b"?""")
mistake("space-as-a-piece", *changed(letters=r"\p{L}+", numbers=r"\p{N}+", others=r"[^\s\p{L}\p{N}]+")).explain("""
    the space was not kept with the word after it
    why: GPT-2's tokens contain the space before a word, such as Ġthe. With the space as a piece of its own, they are
         never found, and each word costs one token more.
    ask: To which piece does the space of "a b" belong?""")
for part, what in (("letters", "words"), ("numbers", "numbers"), ("others", "punctuation")):
    old = {"letters": LETTERS, "numbers": NUMBERS, "others": OTHERS}[part]
    mistake(f"space-not-with-{part}", *changed(**{part: old.removeprefix(" ?")})).explain(f"""
        the space before {what} was not kept with the piece
        why: A single space belongs to what follows it, be it letters, numbers or other characters.
        ask: What are your pieces for "a b", "a 1" and "a !"?""")
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
mistake("endings-last", *pattern(*PARTS[1:], ENDINGS), group="endings").explain("""
    contractions were tried after the other rules
    why: The first alternative that fits is taken, and an apostrophe also fits the rule for other characters.
    ask: In which order are your alternatives? Which of them fits 's first?""")
mistake("words-by-w", *pattern(ENDINGS, r" ?\w+", r" ?[^\s\w]+", SPACES, LAST)).explain(r"""
    \w was used for letters, which contains digits and the underscore
    why: Numbers then stick to letters. A letter is \p{L}, and a number \p{N}.
    ask: What are your pieces for "x2_y"?""")
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
mistake("spaces-only", *changed(spaces=r" +(?!\S)", last=r"\s+")).explain("""
    the rule for whitespace before a word was applied to spaces only
    why: Tabs and line breaks are whitespace as well: of two line breaks before a word, each is a piece.
    ask: What are your pieces for two line breaks and a word?""")
mistake("lower-case", "findall(text)", "findall(text.lower())").explain("""
    the text was converted to lower case
    why: The case is lost, so decoding cannot restore the text.
    ask: Is "".join of your pieces the text?""")
mistake("as-a-tuple", FOUND, "tuple(_PIECE.findall(text))").explain("""
    a tuple was returned, not a list
    why: A tuple is never equal to a list, even with the same pieces.
    ask: What does findall return, and what does your code do with it?""")
mistake("empty-text-raises", FOUND, "[text[0], *_PIECE.findall(text)][1:]").explain("""
    the empty text raised an error
    why: Its list of pieces is empty.
    ask: Does your code look at text[0] before it knows that there is a first character?""")
mistake("pattern-ignored", "(_PIECE if pattern is None else regex.compile(pattern))", "_PIECE").explain("""
    the argument pattern was not used: the text was split by GPT-2's rules
    why: Other models learned their tokens with other rules.
    ask: What changes in your result if `pattern` does?""")
mistake("any-whitespace-before-letters", *changed(letters=r"\s?\p{L}+")).explain("""
    not only a space, but any whitespace was put at the beginning of a word
    why: In " ?" stands a space. A line break or a tab before a word is a piece of its own.
    ask: Into which pieces does your code split a word after a line break?""")
