"""Pictures of `headway watch` in the situations of a student: real screens of a pseudo-terminal, drawn as PNG.

    python tests/support/terminal_pictures.py [FOLDER]     # docs/screenshots/terminal by default

Each situation is drawn twice: dark with 140 columns and light with 80.
"""

import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from PIL import Image, ImageDraw, ImageFont  # noqa: E402

from support.commands import HEADWAY, run_program  # noqa: E402
from support.softmax_code import BODY as RIGHT  # noqa: E402
from support.softmax_code import STUB  # noqa: E402
from support.terminal import Terminal  # noqa: E402

FONT = "DejaVuSansMono.ttf"
SIZE = 13
DARK = {"background": "#1e1e1e", "text": "#d4d4d4"}
LIGHT = {"background": "#ffffff", "text": "#24292f"}
ANSI = {"black": "#3b3b3b", "red": "#cd3131", "green": "#0d9d58", "brown": "#b58900", "blue": "#2472c8",
        "magenta": "#bc3fbc", "cyan": "#1197b5", "white": "#a0a0a0"}  # fmt: skip
SIZES = {"dark": (DARK, 140, 40), "light": (LIGHT, 80, 30)}

WRONG = RIGHT.replace("return z / z.sum(axis, keepdims=True)", "return z / z.sum(keepdims=True)")
LOOP = RIGHT.replace("    return z", "    while z.max() <= 1:\n        x = x * 1.0\n    return z")
# The code of softmax, the text to wait for, the keys to press, and the text that these show.
SITUATIONS = {
    "not-written": (None, "is not written yet", "", ""), "wrong": (WRONG, "✗ softmax.softmax", "", ""),
    "hint": (WRONG, "✗ softmax.softmax", "hm", "hint 2 of 3"),
    "syntax-error": (RIGHT.replace("return z /", "return (z /"), "Python cannot read", "", ""),
    "endless-loop": (LOOP, "stopped in", "", ""), "comparison": (RIGHT, "softmax.softmax passes", "d", "the solution"),
}  # fmt: skip


def picture(screen, theme):
    font, bold = (ImageFont.truetype(name, SIZE) for name in (FONT, FONT.replace(".", "-Bold.")))
    width, height = int(font.getlength("M")), SIZE + 4
    image = Image.new("RGB", (width * screen.columns + 16, height * screen.lines + 16), theme["background"])
    draw = ImageDraw.Draw(image)
    for row in range(screen.lines):
        for column in range(screen.columns):
            cell = screen.buffer[row][column]
            color = _color(cell.fg, theme["text"])
            place = 8 + column * width, 8 + row * height
            if cell.reverse:
                draw.rectangle((*place, place[0] + width, place[1] + height), fill=color)
                color = theme["background"]
            if cell.data.strip():
                draw.text(place, cell.data, font=bold if cell.bold else font, fill=color)
            if cell.underscore:
                draw.line((place[0], place[1] + height - 3, place[0] + width, place[1] + height - 3), fill=color)
    return image.quantize(128)


def _color(name, default):
    if name == "default":
        return default
    return ANSI.get(name.removeprefix("bright"), f"#{name}" if len(name) == 6 else default)


def watch(folder, code, wanted, keys, shown, columns, lines):
    path = folder / "softmax.py"
    if code is not None:
        path.write_text(path.read_text("utf-8").replace(STUB, code), "utf-8")
    state = folder / ".headway.json"
    state.write_text(state.read_text("utf-8").replace("{", '{"at": "softmax.softmax", ', 1), "utf-8")
    terminal = Terminal([*HEADWAY, "watch"], folder, columns=columns, lines=lines, COLORTERM="truecolor")
    try:
        terminal.wait_for(wanted)
        if keys:
            for key in keys:
                terminal.press(key)
                terminal.feed(1.0)
            terminal.wait_for(shown)
        while terminal.feed(2.0):  # the background checks
            pass
        return terminal.screen_
    finally:
        terminal.close()


def main():
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "screenshots" / "terminal"
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        fresh = Path(scratch) / "fresh" / "my-gpt"
        run_program(*HEADWAY, "init", fresh)
        for module in ("tokenizer", "gradients"):
            shutil.copy(ROOT / "solutions" / f"{module}.py", fresh)
        for name, situation in SITUATIONS.items():
            for theme, (colors, columns, lines) in SIZES.items():
                folder = shutil.copytree(fresh, Path(scratch) / f"{name}-{theme}" / "my-gpt")
                screen = watch(folder, *situation, columns, lines)
                picture(screen, colors).save(out / f"{name}-{theme}-{columns}.png", optimize=True)
                print(f"{name}-{theme}-{columns}.png")


if __name__ == "__main__":
    main()
