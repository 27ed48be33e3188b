"""Print the JSON Schema (2020-12) of a stored document: `python -m autograder.documents.schema [result|class|code]`."""

import argparse
import json
import sys
from typing import Any

import msgspec

from autograder.documents.types import DOCUMENTS


def json_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a stored document, given its name, for example `headway.result/1`."""
    parts = msgspec.json.schema(DOCUMENTS[name])["$defs"]
    for part in parts.values():
        part["additionalProperties"] = False
    document = parts.pop(DOCUMENTS[name].__name__)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": name, **document, "$defs": parts}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("document", choices=("result", "class", "code"), nargs="?", default="result")
    json.dump(json_schema(f"headway.{parser.parse_args().document}/1"), sys.stdout, indent=2)
    sys.stdout.write("\n")
