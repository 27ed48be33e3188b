"""CONTRIBUTING.md agrees with the code: commands, paths, the picture of the layers, the ten words, the examples."""

import re

import pytest
from support import layers_picture
from support.paths import ROOT

from autograder.classroom.exporters import csv_cells
from autograder.cli import export

TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
PAGES = [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs" / "contributing").glob("*.md"))]
PAGES += [ROOT / "RELEASING.md", ROOT / ".github" / "pull_request_template.md"]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
# What the recipes create.
CREATED = ("autograder/classroom/exporters/brightspace.py",)


def shell_commands(text):
    """Return the words of each command in shell blocks and inline code."""
    blocks = "\n".join(re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S))
    inline = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
    lines = [*(line.partition("  #")[0] for line in blocks.splitlines()), *inline]
    return [line.split() for line in lines if line.strip()]


def table_rows(heading):
    section = TEXT.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = [line.strip().strip("|").split("|") for line in section.splitlines() if line.strip().startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def code_blocks(language="python"):
    return re.findall(rf"^ *```{language}\n(.*?)^ *```", TEXT, re.M | re.S)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_make_targets_exist(page):
    for words in shell_commands(page.read_text("utf-8")):
        if words[0] == "make" and len(words) > 1:
            target = words[1].replace(".venv", "$(VENV)")
            assert re.search(rf"^{re.escape(target)}:", MAKEFILE, re.M), words


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pytest_commands_name_files_that_have_tests(page):
    for words in shell_commands(page.read_text("utf-8")):
        if words[0] == "pytest" and len(words) > 1:
            files = [word for word in words if word.startswith("tests")]
            assert files and all((ROOT / file).exists() for file in files), words
            if words[2:3] == ["-k"]:
                modules = {path.stem for path in (ROOT / "solutions").glob("*.py")}  # A test for each assignment.
                assert words[3] in modules or f"_{words[3]}" in (ROOT / words[1]).read_text("utf-8"), words


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_exist(page):
    text = page.read_text("utf-8")
    for path in re.findall(r"`((?:\.?\w[\w-]*/)+[\w.-]*)`", text):
        if path in CREATED or "NAME" in path or "STYLE" in path:
            continue
        folders = (ROOT, ROOT / "autograder" / "web" / "site", ROOT / "autograder" / "courses" / "transformer")
        assert path == "site/" or any((folder / path).exists() for folder in folders), path


def test_layers_picture_is_current():
    assert layers_picture.PICTURE.read_text("utf-8") == layers_picture.svg(), "draw it again: make picture"


def test_ten_words_are_ours():
    rows = table_rows("Ten words")
    refused = {line.partition("->")[0] for line in (ROOT / "docs" / "vocabulary.txt").read_text().splitlines()}
    assert len(rows) == 10
    for word, meaning, where in rows:
        assert word not in refused
        assert meaning
        path = ROOT / where.strip("`")
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        last = word.split()[-1]
        assert any(last in file.read_text("utf-8").lower() for file in files if file.suffix in (".py", ".toml")), word


def test_example_of_a_mistake_fits_the_solution():
    [example] = [block for block in code_blocks() if "MISTAKES.for_functions" in block]
    [old] = re.findall(r'mistake\("[\w-]+", "([^"]+)"', example)
    solution = (ROOT / "solutions" / "softmax.py").read_text("utf-8")
    function = solution.partition("\ndef softmax(")[2].partition("\n\n\n")[0]
    assert function.count(old) == 1


def test_example_of_an_exporter_uses_what_exists():
    [module] = [block for block in code_blocks() if "def write(book" in block]
    [command] = [block for block in code_blocks() if "@_format\n" in block]
    for block in (module, command):
        compile(re.sub(r"^   ", "", block, flags=re.M), "example", "exec")
    for name in re.findall(r"csv_cells\.(\w+)", module):
        assert hasattr(csv_cells, name)
    name = re.search(r"@_format\s+def (\w+)", command)[1]
    assert f"headway export {name} " in TEXT
    assert all(hasattr(export, used) for used in ("_format", "_write", "ExportOutput") if used in command)
