"""The lines of code of a page, as HTML. A page may hold thousands of them, so they are not made by a template."""

from collections.abc import Sequence

from markupsafe import Markup, escape

from autograder.report.code_lines import ShownLine
from autograder.report.wording import STATUS_MARKS


def code_html(lines: Sequence[ShownLine]) -> Markup:
    """Return the lines with their numbers, marks and notes. Lines that are counted from 1 are numbered by the style."""
    if len(lines) > 1 and all(line.number == i for i, line in enumerate(lines, 1)):
        return Markup("<div class=counted>{}</div>").format(Markup("").join(map(_counted_line, lines)))
    parts = []
    for line in lines:
        if line.number is None:
            parts.append('<div class="l gap"><span class=n></span><span class=m></span><code>…</code></div>')
            continue
        status = f" k-{escape(line.status)}" if line.status else ""
        cells = f"<span class=n>{line.number}</span><span class=m>{_mark(line)}</span><code>{escape(line.text)}</code>"
        parts.append(f'<div class="l{status}">{cells}</div>{_notes(line)}')
    return Markup("".join(parts))


def _counted_line(line: ShownLine) -> Markup:
    if not line.status:
        return Markup("<code>{}</code>").format(line.text)
    mark = f'<code class="k-{escape(line.status)}" data-mark="{_mark(line)}">{escape(line.text)}</code>'
    return Markup(mark + _notes(line))


def _mark(line: ShownLine) -> str:
    return STATUS_MARKS.get(line.status, "→" if line.status else "")


def _notes(line: ShownLine) -> str:
    notes = []
    for note in line.notes:
        link = f'<a href="#{escape(note.function)}">{escape(note.function)}</a>' if note.function else ""
        text = ": ".join(filter(None, [link, escape(note.text)]))
        notes.append(f"<div class=note>{text}</div>")
    return "".join(notes)
