"""Markdown of lessons and documents as HTML: formulas, figures, code, links to terms and functions."""

import html
import re
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal

from autograder.course import Curriculum, glossary
from autograder.errors import HeadwayError
from autograder.web.site.formulas import to_mathml

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

Linked = Literal["nothing", "code", "everything"]

_LANGUAGES = {"python": "python", "py": "python", "pycon": "pycon", "sh": "bash", "bash": "bash", "toml": "toml"}
LONG_FORMULA = 30  # characters of TeX: a longer formula in a line gets a scroll bar on a narrow screen
# Terms that are also everyday words: elsewhere they often have that meaning, so only their own lesson links them.
EVERYDAY_WORDS = {"buffer", "context", "gain", "head", "key", "memory", "value"}


@dataclass(frozen=True)
class Term:
    """A term of the glossary."""

    text: str
    meaning: str
    module: str  # that introduces it

    @property
    def anchor(self) -> str:
        """Return the id of its entry on the page of the glossary."""
        return "term-" + re.sub(r"\W+", "-", self.text.lower()).strip("-")


@dataclass(frozen=True)
class CourseLinks:
    """What the text of a course can be linked to."""

    curriculum: Curriculum
    commands: Mapping[str, str] = field(default_factory=dict)  # anchors on the page of the command line, by name
    exercises: Collection[str] = ()  # names of modules besides the assignments that have a page

    @cached_property
    def terms(self) -> dict[str, Term]:
        """Return the terms of the glossary by their normalized form."""
        tables = glossary.load(self.curriculum)
        found = [Term(text, meaning, module) for module in tables for text, meaning in tables[module].items()]
        return {glossary.normalize(term.text): term for term in found}

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        forms = sorted({_forms(term.text) for term in self.terms.values()}, key=len, reverse=True)
        return re.compile(rf"(?<![\w-])({'|'.join(forms)})(?![\w-])", re.IGNORECASE) if forms else None

    def find_terms(self, text: str, module: str) -> Iterator[tuple[int, int, Term]]:
        """Yield where the text contains terms that the lessons up to `module` have introduced."""
        for match in self._pattern.finditer(text) if self._pattern and module else ():
            term = self.terms.get(glossary.normalize(match[0]))
            if term is None or (term.text in EVERYDAY_WORDS and term.module != module):
                continue
            if self.curriculum.modules[term.module].number <= self.curriculum.modules[module].number:
                yield match.start(), match.end(), term

    def find_code(self, code: str, module: str) -> str:
        """Return the address of the function, assignment or command that code names; empty if it names none."""
        if command := re.match(r"headway ([a-z-]+)", code):
            return f"commands.html#{self.commands[command[1]]}" if command[1] in self.commands else ""
        name = re.sub(r"\([\w, ]*\)$", "", code).removesuffix(".py")
        qualified = ""
        if name in self.curriculum.functions:
            qualified = name
        elif module:
            same = [function.qualified for function in self.curriculum.functions.values() if function.name == name]
            qualified = f"{module}.{name}" if f"{module}.{name}" in same else same[0] if len(same) == 1 else ""
        if qualified:
            page = qualified.partition(".")[0]
            return f"#{qualified}" if page == module else f"{page}.html#{qualified}"
        return f"{name}.html" if name in {*self.curriculum.modules, *self.exercises} - {module} else ""


def _forms(term: str) -> str:
    """Return a pattern for the singular and the plural of a term, in any line breaking."""
    if term.endswith("axis"):
        stem, ending = term[:-2], "(?:is|es)"
    elif term.endswith("y"):
        stem, ending = term[:-1], "(?:y|ies)"
    else:
        stem, ending = term.removesuffix("s"), "s?"
    return r"\s+".join(map(re.escape, stem.split())) + ending


@dataclass
class PageText:
    """What the renderer knows and collects while it renders the texts of one page."""

    module: str = ""  # whose page it is; empty for other pages
    figures: Mapping[str, str] = field(default_factory=dict)  # SVG by path
    resolve: Callable[[str], str] = lambda target: target  # the address of a link's target; empty to leave it out
    ids: set[str] = field(default_factory=set)
    used: dict[str, Term] = field(default_factory=dict)  # the terms that are linked on this page
    function: str = ""  # of the section
    linked: set[str] = field(default_factory=set)  # what is linked in this section

    def begin_section(self, function: str = "") -> None:
        """Begin a section, in which terms and functions are linked once more."""
        self.function, self.linked = function, set()

    def new_id(self, text: str) -> str:
        """Return an id that is not used on this page."""
        slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") or "section"
        number = 1
        while (name := slug if number == 1 else f"{slug}-{number}") in self.ids:
            number += 1
        self.ids.add(name)
        return name


class Markdown:
    """Renders texts; one instance serves all pages of a course."""

    def __init__(self, links: CourseLinks) -> None:
        self._links = links
        self._parser = _parser()
        rules: dict[str, Any] = self._parser.renderer.rules  # type: ignore[attr-defined]
        rules["fence"] = _fence
        rules["code_inline"] = self._code
        rules["image"] = _image
        rules["table_open"] = lambda *_: '<div class="table"><table>\n'
        rules["table_close"] = lambda *_: "</table></div>\n"
        rules["math_inline"] = lambda tokens, i, *_: _inline_formula(tokens[i].content)
        rules["math_inline_double"] = rules["math_block"] = lambda tokens, i, *_: _block_formula(tokens[i].content)
        rules["term"] = _term

    def render(self, text: str, page: PageText) -> str:
        """Return a text as HTML."""
        env = {"page": page}
        tokens = self._parser.parse(text, env)
        _prepare_blocks(tokens, page)
        for token, linked in _inline_tokens(tokens):
            token.children = self._link(token.children or [], page, linked)
        return str(self._parser.renderer.render(tokens, self._parser.options, env))

    def render_inline(self, text: str, page: PageText) -> str:
        """Return the text of a heading as HTML, without links."""
        env = {"page": page}
        (token,) = self._parser.parseInline(text, env)
        for child in token.children or []:
            child.meta["linkable"] = False
        return str(self._parser.renderer.render([token], self._parser.options, env))

    def _link(self, children: "list[Token]", page: PageText, linked: Linked) -> "list[Token]":
        result: list[Token] = []
        bold: list[Token] = []
        depth = 0
        for token in children:
            if token.type == "link_open":
                target = page.resolve(str(token.attrs["href"]))
                token.hidden = not target
                token.attrs["href"] = target
            depth += token.nesting if token.type in ("link_open", "link_close", "strong_open", "strong_close") else 0
            if token.type == "link_close":
                token.hidden = next(t.hidden for t in reversed(result) if t.type == "link_open")
            token.meta["linkable"] = linked != "nothing" and depth == 0
            if token.type == "strong_open":
                bold.append(token)
            if token.type == "text" and bold and children[children.index(token) - 1] is bold[-1]:
                self._mark_introduction(bold[-1], token.content, page)
            if token.type == "text" and token.meta["linkable"] and linked == "everything":
                result += self._link_terms(token, page)
            else:
                result.append(token)
        return result

    def _mark_introduction(self, bold: "Token", text: str, page: PageText) -> None:
        term = self._links.terms.get(glossary.normalize(text))
        if term and term.module == page.module and term.anchor not in page.ids:
            page.ids.add(term.anchor)
            bold.attrSet("id", term.anchor)
            page.linked.add(term.text)

    def _link_terms(self, token: "Token", page: PageText) -> "list[Token]":
        from markdown_it.token import Token

        result, end = [], 0
        for start, stop, term in self._links.find_terms(token.content, page.module):
            if term.text in page.linked:
                continue
            page.linked.add(term.text)
            page.used[term.text] = term
            result.append(Token("text", "", 0, content=token.content[end:start]))
            result.append(Token("term", "", 0, content=token.content[start:stop], meta={"term": term}))
            end = stop
        return [*result, Token("text", "", 0, content=token.content[end:])] if result else [token]

    def _code(self, tokens: "list[Token]", i: int, _options: Any, env: Any) -> str:
        page: PageText = env["page"]
        token = tokens[i]
        code = f"<code>{html.escape(token.content)}</code>"
        address = self._links.find_code(token.content, page.module) if token.meta.get("linkable") else ""
        if not address or address in page.linked or (page.function and address == f"#{page.function}"):
            return code
        page.linked.add(address)
        return f'<a class="code" href="{html.escape(address)}">{code}</a>'


def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    parser = MarkdownIt("commonmark", {"html": False, "typographer": True}).enable(["table", "smartquotes"])
    return parser.use(dollarmath_plugin, allow_labels=False, allow_space=False, double_inline=True)


def _prepare_blocks(tokens: "list[Token]", page: PageText) -> None:
    """Give headings their ids, the estimated time its class, and a paragraph that is a figure no `<p>` around it.

    An empty cell in the head of a table is no heading; the cells below it are headings of their rows.
    """
    names_rows = False
    for i, token in enumerate(tokens):
        is_first = tokens[i - 1].type == "tr_open"
        if token.type == "th_open":
            names_rows = not tokens[i + 1].content if is_first else names_rows
            token.tag = tokens[i + 2].tag = "th" if tokens[i + 1].content else "td"
        elif token.type == "td_open" and is_first and names_rows:
            token.tag = tokens[i + 2].tag = "th"
            token.attrSet("scope", "row")
        if token.type == "heading_open":
            token.attrSet("id", page.new_id(tokens[i + 1].content))
        elif token.type == "paragraph_open":
            children = tokens[i + 1].children or []
            if all(child.type in ("image", "softbreak") for child in children):
                token.hidden = tokens[i + 2].hidden = True
            elif i == 0 and re.fullmatch(r"\*[^*]*\d+ (min|h)\b[^*]*\*", tokens[i + 1].content):
                token.attrSet("class", "effort")


def _inline_tokens(tokens: "list[Token]") -> "list[tuple[Token, Linked]]":
    """Return the tokens with text, and what in them becomes a link: nothing in headings, no terms in tables."""
    result: list[tuple[Token, Linked]] = []
    headings = tables = 0
    for token in tokens:
        headings += token.nesting if token.type.startswith("heading_") else 0
        tables += token.nesting if token.type.startswith("table_") else 0
        if token.type == "inline":
            result.append((token, "nothing" if headings else "code" if tables else "everything"))
    return result


def _fence(tokens: "list[Token]", i: int, *_: Any) -> str:
    token = tokens[i]
    language = token.info.strip().partition(" ")[0]
    kind = "code" if language in ("python", "sh", "bash", "toml") else "text"
    code = highlight(textwrap.dedent(token.content).strip("\n"), language)
    return f'<pre class="{kind}"><code>{code}</code></pre>\n'


def highlight(code: str, language: str = "python") -> str:
    """Return code with a `<span>` for each colored token; unknown languages stay plain."""
    if language == "python" and code.lstrip().startswith(">>>"):
        language = "pycon"
    if language not in _LANGUAGES:
        return html.escape(code)
    from pygments import highlight as render

    lexer, formatter = _tools(_LANGUAGES[language])
    return str(render(code, lexer, formatter)).rstrip("\n")


@cache
def _tools(name: str) -> tuple[Any, Any]:
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(name, stripnl=False), HtmlFormatter(nowrap=True)


def _image(tokens: "list[Token]", i: int, _options: Any, env: Any) -> str:
    """Return a figure; a link to the file shows it in its full size."""
    page: PageText = env["page"]
    token = tokens[i]
    source = str(token.attrs["src"])
    if (svg := page.figures.get(source)) is None:
        raise HeadwayError(f"a text shows {source}, which does not exist. Draw it: make figures")
    box = re.search(r'viewBox="[\d.]+ [\d.]+ ([\d.]+) ([\d.]+)"', svg)
    size = f' width="{round(float(box[1]))}" height="{round(float(box[2]))}"' if box else ""
    frames = "".join(re.findall(r' data-frames="[^"]*"', svg))
    description = html.escape(" ".join(token.content.split()))
    image = f'<img src="{source}" alt="{description}"{size}{frames} loading="lazy" decoding="async">'
    kind = "picture" if len(set(re.findall(r"#[0-9a-f]{6}", svg))) > 24 or "<image" in svg else "drawing"
    return f'<figure class="{kind}"><a href="{source}">{image}</a></figure>\n'


def _inline_formula(tex: str) -> str:
    mathml = to_mathml(tex.strip())
    return f'<span class="formula">{mathml}</span>' if len(tex) > LONG_FORMULA else mathml


def _block_formula(tex: str) -> str:
    """Return a displayed formula; formulas with a wide space between them may stand below each other."""
    parts = re.split(r"\\qquad(?:\\quad)?", tex)
    if any(part.count("{") != part.count("}") for part in parts):
        parts = [tex]
    return f'<div class="formula">{"".join(to_mathml(part.strip(), block=True) for part in parts)}</div>\n'


def _term(tokens: "list[Token]", i: int, *_: Any) -> str:
    term: Term = tokens[i].meta["term"]
    meaning = f'data-meaning="{html.escape(term.meaning)}" aria-describedby="meaning-{term.anchor}"'
    return f'<a class="term" href="glossary.html#{term.anchor}" {meaning}>{html.escape(tokens[i].content)}</a>'
