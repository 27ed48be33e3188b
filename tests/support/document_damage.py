"""Damage each key of a stored document in turn: Headway and the JSON Schema must refuse every such document."""

import json

import jsonschema
import pytest

from autograder.documents.reading import read_document
from autograder.documents.schema import json_schema


def require_exact(path, name):
    """Assert that a document is valid, and that none is with a key removed, renamed or of another type."""
    schema = json_schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    document = read_document(path, name)
    validator.validate(document)
    seen = set()
    for key, change in _damaged(schema, schema, document, seen):
        path.write_text(json.dumps(document))
        assert not validator.is_valid(document), (key, change)
        with pytest.raises(ValueError, match=key):
            read_document(path, name)
    every = {(part["title"], key) for part in (schema, *schema["$defs"].values()) for key in part["properties"]}
    assert every == seen


def _damaged(schema, part, value, seen):
    """Yield each key and what was done to it, once for each type, while it is done."""
    part = next((one for one in part.get("anyOf", ()) if "$ref" in one), part)
    part = schema["$defs"][part["$ref"].rpartition("/")[2]] if "$ref" in part else part
    if isinstance(value, list):
        for item in value:
            yield from _damaged(schema, part.get("items", {}), item, seen)
    elif isinstance(value, dict):
        for key in list(value):
            if "properties" not in part:
                yield from _damaged(schema, part.get("additionalProperties", {}), value[key], seen)
                continue
            if (part["title"], key) not in seen:
                seen.add((part["title"], key))
                kept = value.pop(key)
                if key in part["required"]:
                    yield key, "removed"
                yield key, value.update({f"new_{key}": kept}) or "renamed"
                del value[f"new_{key}"]
                value[key] = {} if isinstance(kept, list) else [[]]
                yield key, "of another type"
                value[key] = kept
            yield from _damaged(schema, part["properties"][key], value[key], seen)
