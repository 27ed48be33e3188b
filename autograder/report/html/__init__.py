"""HTML pages of a class and of one student's result, from Jinja2 templates that escape all text.

A page is a single file that loads nothing else. Its Content-Security-Policy allows only its own script and style, by
their hashes, so that even markup that was not escaped could not run.
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


def safe_environment(package: str, folder: str) -> "Environment":
    """Return the templates in a folder of a package: they escape all text, and an unknown name is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader(package, folder)
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


@cache
def template_environment() -> "Environment":
    """Return the templates of reports."""
    try:
        templates = safe_environment("autograder.report", "html")
    except ImportError:
        raise missing_package("HTML pages need Jinja2", "report") from None
    from markupsafe import Markup

    from autograder.report.html.code_block import code_html

    templates.globals["code_html"] = code_html
    templates.filters["points"] = lambda value: f"{value:.2f}".rstrip("0").rstrip(".")
    templates.filters["qualified"] = lambda name: Markup(".<wbr>").join(name.split("."))  # may break after a dot
    templates.filters["percent"] = lambda share: f"{share:.0%}"
    return templates


@cache
def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def render_page(template: str, *, styles: tuple[str, ...], script: str = "", data: Any = None, **values: Any) -> str:
    """Return the text of a page: a template with `values`, style sheets, and a script that reads `data` as JSON."""
    from markupsafe import Markup

    style, code = "\n".join(map(_asset, styles)), _asset(script) if script else ""
    allowed = (f"script-src {_hash(code)}; " if code else "") + f"style-src {_hash(style)}; img-src data:"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    # Only "</script" ends a data block; without "<" there is none.
    packed = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    trusted = {"style": Markup(style), "code": Markup(code), "data": Markup(packed)}
    return template_environment().get_template(template).render(policy=policy, version=__version__, **trusted, **values)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
