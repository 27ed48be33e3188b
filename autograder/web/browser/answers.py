"""PyTorch's answers in the browser: only those of some assignments have been downloaded."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from autograder.engine.reference.memo import Memo, shipped_file
from autograder.errors import UsageError


class MissingAnswers(UsageError):
    """The answers of an assignment have not been downloaded yet; the page downloads them and asks again."""

    def __init__(self, module: str) -> None:
        super().__init__(f"the right answers of {module} have not been downloaded")
        self.module = module


class DownloadedAnswers(Memo):
    """The shipped answers, as far as they have been downloaded. There is no PyTorch that could compute others."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._folder = folder

    def get_or_compute(self, module: str, request: bytes, compute: Callable[[], Any]) -> Any:
        """Return the answer to a request; raise MissingAnswers if those of its assignment are missing."""
        if not shipped_file(self._folder, module).is_file():
            raise MissingAnswers(module)
        return super().get_or_compute(module, request, compute)
