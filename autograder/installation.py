"""Find out how Headway was installed, so that messages name a command that works for this installation."""

import importlib.metadata
import json
import shlex
import shutil
import sys
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

_DISTRIBUTION = "headway"


def install_command(extra: str) -> str:
    """Return the command that installs one of Headway's extras where this Headway runs.

    Sources: PEP 610 for `direct_url.json`, which pip and uv write for a clone or a file; uv and pipx keep a file of
    their own in the environment of each tool.
    """
    address, editable = _origin()
    requirement = _requirement(extra, address)
    if Path(sys.prefix, "uv-receipt.toml").is_file():
        return f"uv tool install --force {'--editable ' if editable else ''}{requirement}"
    if Path(sys.prefix, "pipx_metadata.json").is_file():
        return f"pipx install --force {'--editable ' if editable else ''}{requirement}"
    return f"{_pip_install()} {'-e ' if editable else ''}{requirement}"


def reinstall_command() -> str:
    """Return the command that installs Headway again, with the files that it came with."""
    address, editable = _origin()
    return f"{_pip_install()} --force-reinstall {'-e ' if editable else ''}{_requirement('', address)}"


def foreign_distributions() -> list[str]:
    """Return the installed distributions, with versions, that also provide a package `autograder`.

    PyPI has an unrelated distribution of that name. Both write into the same folder, so one breaks the other.
    """
    return [f"autograder {importlib.metadata.version('autograder')}"] if _is_installed("autograder") else []


def _is_installed(distribution: str) -> bool:
    try:
        importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def describe() -> str:
    """Return how Headway was installed, in words without a path or an address."""
    address, editable = _origin()
    source = "a version control address" if "://" in address else "a folder or file" if address else "a package index"
    tools = {"uv-receipt.toml": "uv tool", "pipx_metadata.json": "pipx"}
    tool = next((name for file, name in tools.items() if Path(sys.prefix, file).is_file()), "pip or uv")
    environment = "a virtual environment" if sys.prefix != sys.base_prefix else "no virtual environment"
    return f"from {source}{', editable' if editable else ''}, with {tool}, in {environment}"


@cache
def _origin() -> tuple[str, bool]:
    """Return the folder, file or address that Headway was installed from ('' for an index), and if it is editable."""
    try:
        text = importlib.metadata.distribution(_DISTRIBUTION).read_text("direct_url.json")
        record = json.loads(text or "{}")
        url, editable = record.get("url", ""), bool(record.get("dir_info", {}).get("editable"))
        is_file = url.startswith("file:")
    except (importlib.metadata.PackageNotFoundError, ValueError, AttributeError):
        return "", False
    if not is_file:
        kind = record.get("vcs_info", {}).get("vcs", "")
        return (f"{kind}+{url}" if kind else url), False
    return url2pathname(unquote(urlsplit(url).path)), editable


def _requirement(extra: str, address: str) -> str:
    """Return what to install, quoted for a shell."""
    extras = f"[{extra}]" if extra else ""
    if not address:
        return f"'{_DISTRIBUTION}{extras}'"
    if "://" in address:
        return shlex.quote(f"{_DISTRIBUTION}{extras} @ {address}")
    path = Path(address)
    if path.is_dir() and path.resolve() == Path.cwd():
        return f"'.{extras}'" if extras else "."
    return shlex.quote(f"{address}{extras}")


def _pip_install() -> str:
    """Return the command that installs packages beside Headway: pip's, or uv's where the environment has no pip."""
    if not _is_installed("pip") and shutil.which("uv"):
        return f"uv pip install --python {shlex.quote(sys.executable)}"
    pip = shutil.which("pip")
    is_active = pip is not None and Path(pip).parent == Path(sys.executable).parent
    return "pip install" if is_active else f"{shlex.quote(sys.executable)} -m pip install"
