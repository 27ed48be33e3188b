"""Code as HTML with classes, which the style sheet colors."""

import html
from functools import cache
from typing import Any

_LANGUAGES = {"python": "python", "py": "python", "pycon": "pycon", "sh": "bash", "bash": "bash", "toml": "toml"}


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
