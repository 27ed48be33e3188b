"""What a small GPT that was trained on the names shows. `make figures` draws it; `--train` measures it again."""

import json
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("trained_model.json")


@cache
def measured() -> dict[str, Any]:
    """Return what was measured."""
    content: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    return content
