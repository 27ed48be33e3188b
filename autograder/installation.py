"""Find out how Headway was installed, so that messages name a command that works for this installation."""

import importlib.metadata
import json
import re
import shlex
import shutil
import sys
import tomllib
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

_DISTRIBUTION = "headway"
_UV_RECEIPT, _PIPX_RECEIPT = "uv-receipt.toml", "pipx_metadata.json"


def install_command(extra: str) -> str:
    """Return the command that installs one of Headway's extras where this Headway runs.

    Sources: PEP 610 for `direct_url.json`, which pip and uv write for a clone or a file; uv and pipx keep a file of
    their own in the environment of each tool. Both replace that environment, so the command names its extras, too.
    """
    address, editable = _origin()
    option = "--editable " if editable else ""
    if Path(sys.prefix, _UV_RECEIPT).is_file():
        return f"uv tool install --force {option}{_requirement(_with(extra, _uv_extras()), address)}"
    if Path(sys.prefix, _PIPX_RECEIPT).is_file():
        return f"pipx install --force {option}{_requirement(_with(extra, _pipx_extras()), address)}"
    if _runs_in_uvx():
        return f"uvx --from {_requirement(extra, address)} headway"
    return f"{_pip_install()} {'-e ' if editable else ''}{_requirement(extra, address)}"


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
    tools = {_UV_RECEIPT: "uv tool", _PIPX_RECEIPT: "pipx"}
    tool = next((name for file, name in tools.items() if Path(sys.prefix, file).is_file()), "pip or uv")
    tool = "uvx" if _runs_in_uvx() else tool
    environment = "a virtual environment" if sys.prefix != sys.base_prefix else "no virtual environment"
    return f"from {source}{', editable' if editable else ''}, with {tool}, in {environment}"


def _runs_in_uvx() -> bool:
    """Return whether this environment is one that `uvx` made in uv's cache, where nothing can be added."""
    return any(re.fullmatch(r"archive-v\d+", part) for part in Path(sys.prefix).parts)


def _uv_extras() -> list[str]:
    """Return the extras that `uv tool install` was given, or none if uv's record has another form."""
    try:
        requirements = tomllib.loads(Path(sys.prefix, _UV_RECEIPT).read_text("utf-8"))["tool"]["requirements"]
        return [extra for each in requirements if each["name"] == _DISTRIBUTION for extra in each.get("extras", ())]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []


def _pipx_extras() -> list[str]:
    """Return the extras that `pipx install` was given, or none if pipx's record has another form."""
    try:
        record = json.loads(Path(sys.prefix, _PIPX_RECEIPT).read_text("utf-8"))
        extras = re.search(r"\[([\w.,\s-]+)\]", record["main_package"]["package_or_url"])
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [extra.strip() for extra in extras[1].split(",")] if extras else []


def _with(extra: str, installed: list[str]) -> str:
    """Return the installed extras and one more, as they are written between brackets."""
    return ",".join(dict.fromkeys([*installed, extra]))


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


def _requirement(extras: str, address: str) -> str:
    """Return what to install, quoted for a shell."""
    extras = f"[{extras}]" if extras else ""
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
