"""HTML views of the class and of one student's result, from Jinja2 templates that escape everything.

A page is one file: it loads nothing, and its Content-Security-Policy allows no script and no style but its own, by
their hashes, so that even markup that slipped through could not run.
"""

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from autograder import __version__
from autograder.errors import missing_package

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def template_environment() -> "Environment":
    """The templates; escaping is on, and an unknown name is an error."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError:
        raise missing_package("HTML pages need Jinja2", "class") from None
    made = Environment(
        loader=PackageLoader("autograder.report", "html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["points"] = lambda value: f"{value:.2f}".rstrip("0").rstrip(".")
    made.filters["qualified"] = lambda name: Markup(".<wbr>").join(name.split("."))  # breaks after a dot, if at all
    made.filters["percent"] = lambda share: f"{share * 100:.0f}\u00a0%"
    return made


@cache
def asset(name: str) -> str:
    """The text of a style sheet or script that lies beside the templates."""
    return files(__package__).joinpath(name).read_text("utf-8")


def render(template: str, *, styles: tuple[str, ...], script: str = "", data: Any = None, **values: Any) -> str:
    """A whole page.

    Args:
        template: its file name.
        styles: style sheets, put one after the other.
        script: the script; empty for none.
        data: what the script reads, as JSON.
        values: what the template reads.
    """
    from markupsafe import Markup

    style, code = "\n".join(asset(name) for name in styles), asset(script) if script else ""
    allowed = f"script-src {_hash(code)}; " if code else ""
    policy = (
        f"default-src 'none'; {allowed}style-src {_hash(style)}; img-src data:; base-uri 'none'; form-action 'none'"
    )
    # In a data block nothing ends but at "</script": without "<" there is none.
    packed = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return (
        template_environment()
        .get_template(template)
        .render(policy=policy, style=Markup(style), code=Markup(code), data=Markup(packed), kit=__version__, **values)
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
