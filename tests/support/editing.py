"""Write and change files as their owners would."""

import contextlib
import io
import zipfile


def edit(path, old, new):
    """Replace a text, which must occur in the file, everywhere."""
    text = path.read_text("utf-8")
    assert old in text, f"{old!r} is not in {path}"
    path.write_text(text.replace(old, new), "utf-8")


def write_files(folder, files):
    """Write files, texts or bytes by path, into a folder that need not exist; return the folder."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def zip_bytes(files):
    """Return an archive of files, texts or bytes by path."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


@contextlib.contextmanager
def unchanged(*paths):
    """Fail if a file, or a file in a folder, does not have its old content afterward."""
    before = [_content(path) for path in paths]
    yield
    assert [_content(path) for path in paths] == before


def _content(path):
    if path.is_dir():
        return {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}
    return path.read_bytes()
