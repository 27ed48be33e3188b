"""What a report prints on a terminal without colors, as text."""

import io

from rich.console import Console


def words(text):
    """Return a text without the borders of panels and without line breaks."""
    return " ".join(text.translate(dict.fromkeys(map(ord, "│╭╮╰╯─"), " ")).split())


def printed(render, *arguments, width=200, **options):
    """Call `render` with these arguments, a console of this width and the options; return what it printed."""
    file = io.StringIO()
    render(*arguments, Console(file=file, width=width, no_color=True, highlight=False), **options)
    return file.getvalue()
