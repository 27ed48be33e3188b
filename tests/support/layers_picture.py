"""The layers of the code as a picture for CONTRIBUTING.md: names from pyproject.toml, texts from the docstrings.

`make picture` writes it.
"""

import ast
import textwrap
import tomllib
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "layers.svg"
WIDTH, MARGIN, GAP, LINE = 900, 16, 8, 18
CHARACTER = 6.9  # width of a character of the texts, on average
STYLE = (
    "text{font:13px system-ui,'Segoe UI','DejaVu Sans',sans-serif;fill:#333}"
    ".name{font:bold 14px Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#0b3d66}"
    ".box{fill:#fff;stroke:#9db4c8}.back{fill:#eef3f8}.note{fill:#555;font-style:italic}"
)


def layers() -> list[list[str]]:
    """The top packages from the highest layer to the lowest; those of one layer do not import each other."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    contract = next(c for c in settings["contracts"] if c["type"] == "layers" and c["containers"] == ["autograder"])
    return [[name.strip() for name in layer.split("|")] for layer in contract["layers"]]


def description(name: str) -> str:
    """The first sentence of the docstring of a package or module."""
    package = ROOT / "autograder" / name / "__init__.py"
    path = package if package.is_file() else ROOT / "autograder" / f"{name}.py"
    docstring = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return " ".join(docstring.partition("\n\n")[0].split()).partition(". ")[0].rstrip(".").replace("`", "")


def svg() -> str:
    """The picture: a row for each layer, the highest first."""
    rule = "A package imports only from the rows below its own."
    parts, y = [f'<text class="note" x="{MARGIN}" y="{MARGIN + LINE - 4}">{rule}</text>'], MARGIN + LINE + 6
    for names in layers():
        width = (WIDTH - 2 * MARGIN - GAP * (len(names) - 1)) / len(names)
        is_wide = len(names) == 1
        indent = 150 if is_wide else 10
        columns = int((width - indent - 10) / CHARACTER)
        texts = [textwrap.wrap(description(name), columns) for name in names]
        height = LINE * (max(map(len, texts)) + (not is_wide)) + 12
        for i, (name, lines) in enumerate(zip(names, texts, strict=True)):
            x = MARGIN + i * (width + GAP)
            parts.append(f'<rect class="box" x="{x:.0f}" y="{y}" width="{width:.0f}" height="{height}" rx="5"/>')
            parts.append(f'<text class="name" x="{x + 10:.0f}" y="{y + LINE}">{name}</text>')
            for row, line in enumerate(lines, start=int(not is_wide)):
                at = f'x="{x + indent:.0f}" y="{y + LINE * (row + 1)}"'
                parts.append(f"<text {at}>{escape(line)}</text>")
        y += height + GAP
    title = "<title>The layers of the code, from the command line down to the shared tools</title>"
    size = f'viewBox="0 0 {WIDTH} {y + MARGIN - GAP}" width="{WIDTH}"'
    head = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">', title, f"<style>{STYLE}</style>"]
    return "\n".join([*head, '<rect class="back" width="100%" height="100%"/>', *parts, "</svg>\n"])


if __name__ == "__main__":
    PICTURE.write_text(svg(), encoding="utf-8")
