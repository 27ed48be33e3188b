"""Stored documents are read only if they are what their schema requires."""

import json

import pytest
from bench.synthetic_class import make
from support.document_damage import require_exact

from autograder.classroom.storage import gradebook
from autograder.courses.transformer import TRANSFORMER
from autograder.documents.reading import RESULT_SCHEMA, SchemaError, read_document
from autograder.documents.results import to_document
from autograder.errors import UsageError


@pytest.mark.parametrize(("content", "error"), [
    ('{"schema": "headway.result/2"}', SchemaError), ('{"schema": "headway.class/1"}', SchemaError),
    ('{"schema": ["headway.result/1"]}', SchemaError), ("[]", SchemaError),
    ('{"schema": "headway.result/1"}', ValueError),
    ('{"schema": "headway.result/1", "assignments": [{"functions": 7}]}', ValueError), ("{", ValueError),
])  # fmt: skip
def test_read_document_invalid_content_raises(tmp_path, content, error):
    (tmp_path / "result.json").write_text(content)
    with pytest.raises(error):
        read_document(tmp_path / "result.json", RESULT_SCHEMA)


LINES = """
import numpy as np
def softmax(x, axis=-1, temperature=1.0):
    z = np.exp(np.asarray(x, float) - np.max(x, axis, keepdims=True))
    return z / z.sum(axis, keepdims=True) * 1.5
def log_softmax(x, axis=-1):
    return np.ones(7)
def cross_entropy(logits, targets):
    return _mean(targets)
def _mean(targets):
    return targets.nothing
"""


@pytest.mark.slow
def test_result_document_is_exactly_of_its_schema(tmp_path, submission, check_submission):
    functions = ("softmax.softmax", "softmax.log_softmax", "softmax.cross_entropy")
    result = check_submission(submission(softmax=LINES), *functions)
    result.files = [{"name": "softmax.py", "counts_as": ["softmax"], "ignored": "", "changed": None}]
    (tmp_path / "result.json").write_text(json.dumps(to_document(result, TRANSFORMER), allow_nan=False))
    require_exact(tmp_path / "result.json", RESULT_SCHEMA)


@pytest.mark.parametrize("policy", [{}, {"bonus": "cap"}, {"bonus": 7}, 7])
def test_gradebook_with_another_policy_is_refused(tmp_path, policy):
    make(tmp_path, 1, assignments=("softmax",))
    document = json.loads((tmp_path / "class.json").read_bytes())
    document["course"]["policy"] = policy
    (tmp_path / "class.json").write_text(json.dumps(document))
    with pytest.raises(UsageError, match="is damaged"):
        gradebook.read(tmp_path)
