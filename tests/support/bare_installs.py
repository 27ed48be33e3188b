"""Find where a text tells somebody to install Headway by its bare name, from whoever owns that name in an index."""

import re

NAME = r"(?:headway|autograder)(?:\[[^\]\s]*\])?"
COMMAND = re.compile(
    r"\b(?:(?:pip3?|uv pip|uv tool|uv|pipx|conda|poetry)\s+(?:install|add|download|inject)|pipx\s+run|uvx)\b"
)
PIN = re.compile(rf"\b{NAME}\s*[=<>~!]=\s*[\d{{*]")  # "{" is that of an f-string
REQUIREMENT = re.compile(rf"(?m)^\s*(?:- )?[\"']?{NAME}[\"']?,?\s*$")


def bare_installs(text: str, *, requirements: bool = False) -> list[str]:
    """Return what each place says; `requirements`: the text is a list of what pip installs."""
    found = [match[0].strip() for match in PIN.finditer(text)]
    found += [match[0].strip() for match in REQUIREMENT.finditer(text)] if requirements else []
    for command in COMMAND.finditer(text):
        # The command's line, or two: a document may break it anywhere.
        rest = re.split(r"[`#;&|<]|\n\s*\n", text[command.end() :], maxsplit=1)[0]
        line, _, following = rest.partition("\n")
        ends = line.strip() and not line.rstrip().endswith("\\")
        words = [word.strip("'\"") for word in re.findall(r"'[^']*'|\"[^\"]*\"|\S+", line if ends else following)]
        words = [word.rstrip("'\".,:)") for word in words]
        if command[0].split()[-1] in ("run", "uvx"):  # Of these, one word is what is installed.
            origin = next((word for word in ("--from", "--spec") if word in words), None)
            at = words.index(origin) + 1 if origin else 0
            words = [word for word in words[at:] if not word.startswith("-")][:1]
        found += [f"{command[0]} … {word}" for word in words if re.fullmatch(NAME, word)]
    return found
