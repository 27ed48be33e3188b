"""Write the repository's address into the package's metadata where it is known: in GitHub's workflows.

A build elsewhere has no addresses, and the README's links stay as they are. The source distribution keeps what it was
built with, so a wheel that is built from it has the same.
"""

import os
import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

# Links to files of this repository. An address of its own has a scheme; "#…" is a heading of the README.
IMAGE = re.compile(r"(!\[[^\]]*\]\()(?!https?:|#)([^)]+\))")
LINK = re.compile(r"(\]\()(?!https?:|#)([^)]+\))")


class RepositoryAddresses(MetadataHookInterface):
    """The project's addresses, and the README as PyPI shows it."""

    def update(self, metadata: dict[str, object]) -> None:
        """Set the fields that `pyproject.toml` calls dynamic, unless a source distribution brought them."""
        server, name = os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY")
        repository = f"{server}/{name}" if server and name else ""
        if "readme" not in metadata:
            text = Path(self.root, "README.md").read_text("utf-8")
            if repository:  # PyPI does not resolve links to files, and shows an image only from its own address.
                text = IMAGE.sub(rf"\1{repository}/raw/HEAD/\2", text)
                text = LINK.sub(rf"\1{repository}/blob/HEAD/\2", text)
            metadata["readme"] = {"content-type": "text/markdown", "text": text}
        if repository and "urls" not in metadata:
            metadata["urls"] = {
                "Repository": repository,
                "Issues": f"{repository}/issues",
                "Documentation": f"{repository}/blob/HEAD/docs/students.md",
                "Changelog": f"{repository}/blob/HEAD/CHANGELOG.md",
            }
