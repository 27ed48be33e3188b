"""Say how to install Headway, in one way for every message and every file that Headway writes.

Nothing names Headway as a package of an index: whoever owns the name there would run code where Headway runs.
"""

import importlib.metadata
import json
import sys
from pathlib import Path
from typing import Any

_DISTRIBUTION = "headway"
_GUIDE = "docs/students.md"
_PACKAGE = Path(__file__).resolve().parent


def install_step(extra: str = "") -> str:
    """Return the step that installs one of Headway's extras, or Headway again with the files that it came with."""
    what = f'Headway\'s extra "{extra}"' if extra else "Headway again"
    return f'install {what} (see "Installing" in {guide()})'


def guide() -> str:
    """Return where the guide is that says how to install Headway: an address, or a file beside this Headway."""
    if address := _project_urls().get("Documentation"):
        return address
    files = (_PACKAGE / "_bundle" / _GUIDE, _PACKAGE.parent / _GUIDE)
    return str(next(filter(Path.is_file, files), _GUIDE))


def requirement() -> str:
    """Return what pip can install anywhere to get this Headway, with its address; empty if no address is known."""
    record = _origin()
    kind = record.get("vcs_info", {}).get("vcs", "")
    if kind and (url := str(record.get("url", ""))).startswith(("https://", "ssh://")):
        return f"{_DISTRIBUTION} @ {kind}+{url}@{record['vcs_info'].get('commit_id', 'HEAD')}"
    if repository := _project_urls().get("Repository"):  # only the release workflow writes it, for the tag of a version
        return f"{_DISTRIBUTION} @ git+{repository}@v{importlib.metadata.version(_DISTRIBUTION)}"
    return ""


def names_no_address(requirement: str) -> bool:
    """Return whether pip would look for this requirement of Headway in a package index, by its name alone."""
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    try:
        parsed = Requirement(requirement)
    except InvalidRequirement:  # a path, or options of pip
        return False
    return canonicalize_name(parsed.name) == _DISTRIBUTION and parsed.url is None


def describe() -> str:
    """Return how Headway was installed, in words without a path or an address."""
    record = _origin()
    is_file = str(record.get("url", "")).startswith("file:")
    source = "a folder or file" if is_file else "an address" if record else "a package index"
    editable = ", editable" if record.get("dir_info", {}).get("editable") else ""
    environment = "a virtual environment" if sys.prefix != sys.base_prefix else "no virtual environment"
    return f"from {source}{editable}, in {environment}"


def _origin() -> dict[str, Any]:
    """Return what pip or uv recorded about the origin of this Headway (PEP 610); empty if it came from an index."""
    try:
        text = importlib.metadata.distribution(_DISTRIBUTION).read_text("direct_url.json")
        record = json.loads(text or "{}")
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _project_urls() -> dict[str, str]:
    """Return the addresses in Headway's metadata, by name."""
    try:
        lines = importlib.metadata.distribution(_DISTRIBUTION).metadata.get_all("Project-URL") or []
    except importlib.metadata.PackageNotFoundError:
        return {}
    return {name: address for name, _, address in (line.partition(", ") for line in lines)}
