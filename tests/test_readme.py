"""Everything that the documents tell people to type exists: commands, options, files, headings, the picture."""

import html
import re
import shlex

import click
import pytest
from support import readme_picture
from support.paths import ROOT

from autograder.cli import COMMANDS, main

DOCUMENTS = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
DOCUMENTS += tuple(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")))
DOCUMENTS += tuple(f"docs/contributing/{path.name}" for path in sorted((ROOT / "docs" / "contributing").glob("*.md")))
DECISIONS = tuple(f"docs/decisions/{path.name}" for path in sorted((ROOT / "docs" / "decisions").glob("*.md")))
# What the recipes of CONTRIBUTING.md create as an example.
EXAMPLES = ("brightspace", "autograder/classroom/exporters/brightspace.py")
FEWEST_COMMANDS = {"README.md": 10, "docs/students.md": 20, "docs/instructors.md": 15}


def commands(text: str) -> list[list[str]]:
    """Every `headway …` of the shell blocks and of inline code, in words."""
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)
    lines = [line for block in blocks for line in block.splitlines()]
    inline = re.findall(r"`([^`\n]*)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S).replace("\n", " "))
    lines += [code for code in inline if "headway" in code]
    found = []
    for line in lines:
        for part in re.split(r"&&|\|\||;", line.partition("  #")[0].partition(" # ")[0]):
            words = shlex.split(part.strip(), posix=False)
            words[:1] = [re.split(r"[/\\]", words[0])[-1]] if words else []
            if words[:1] == ["headway"] and len(words) > 1:
                found.append(words[1:])
    return found


@pytest.mark.parametrize("document", DOCUMENTS)
def test_documents_commands_and_options_exist(document):
    found = commands((ROOT / document).read_text("utf-8"))
    assert len(found) >= FEWEST_COMMANDS.get(document, 1)
    context = click.Context(main)
    for name, *words in found:
        if name in ("--help", "--version"):
            continue
        assert name in COMMANDS, f"headway {name}"
        command = main.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group) and words and not words[0].isupper() and words[0] not in EXAMPLES:
            assert words[0] in command.commands, f"headway {name} {words[0]}"
            command = command.commands[words[0]]
        known = {"--help": None}
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                known |= dict.fromkeys((*parameter.opts, *parameter.secondary_opts), parameter)
        words = words[: words.index("--")] if "--" in words else words  # What follows is another program's.
        for at, word in enumerate(words):
            if not word.startswith("-") or word == "-":
                continue
            option = word.partition("=")[0]
            assert option in known, f"headway {name} {option}"
            parameter = known[option]
            if parameter is not None and isinstance(parameter.type, click.Choice) and at + 1 < len(words):
                for value in words[at + 1].split("|"):
                    known_values = (*EXAMPLES, *parameter.type.choices)
                    assert value.isupper() or value in known_values, f"headway {name} {option} {value}"


def headings(path):
    """Return the anchors of the headings in a document."""
    found = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


@pytest.mark.parametrize("document", [*DOCUMENTS, *DECISIONS, "RELEASING.md"])
def test_documents_links_and_files_exist(document):
    text = (ROOT / document).read_text("utf-8")
    prose = re.sub(r"(?ms)^```.*?^```|`[^`\n]*`", "", text)
    for link in re.findall(r"\]\(([^)]+)\)", prose):
        if link.startswith("https://"):
            continue
        file, _, heading = link.partition("#")
        target = (ROOT / document).parent / file if file else ROOT / document
        assert target.exists(), link
        assert not heading or heading in headings(target), link
    if document == "docs/courses.md":  # Its paths are those of the course that its reader writes.
        return
    for path in re.findall(r"`((?:autograder|assignments|solutions|tests|data)/[\w./-]*)`", text):
        if not {"NAME", "STYLE"} & set(re.split(r"[/_.]", path)):
            assert path in EXAMPLES or (ROOT / path).exists(), path


@pytest.mark.slow
def test_readme_picture_matches_report():
    assert readme_picture.PICTURE.read_text("utf-8") == readme_picture.svg(), "write it again: make picture"
    assert readme_picture.EXAMPLE.read_text("utf-8") == readme_picture.example(), "write it again: make picture"


def test_readme_picture_shows_a_mistake_and_the_repair():
    text = html.unescape(readme_picture.PICTURE.read_text("utf-8")).replace("\xa0", " ")
    wrong, right = text.index(f">3:    {readme_picture.WRONG}<"), text.index(f">3:    {readme_picture.RIGHT}<")
    assert wrong < text.index("the scores were not divided by √d_k") < right < text.index("All 12 checks passed.")
    still, _, moving = text.partition("@media (prefers-reduced-motion: no-preference)")
    assert "animation" not in still and "animation:" in moving
