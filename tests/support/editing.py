"""Change files as their owners would."""


def edit(path, old, new):
    """Replace a text, which must occur in the file, everywhere."""
    text = path.read_text("utf-8")
    assert old in text, f"{old!r} is not in {path}"
    path.write_text(text.replace(old, new), "utf-8")
