"""Statuses and points: what a submission gets for what it does."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.commands import SOFTMAX as RIGHT

import autograder
from autograder.courses.transformer import TRANSFORMER
from autograder.curriculum import registry
from autograder.engine.session import Options, check, check_many, run_in_session
from autograder.results import SubmissionResult, to_document

pytestmark = pytest.mark.slow

ATTENTION = """
import numpy as np
from softmax import softmax
def attention(q, k, v, mask=None):
    scores = np.asarray(q) @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    weights = softmax(scores)
    return weights @ v, weights
"""


CHECKS = registry.checks(TRANSFORMER.package)
SOME = ("softmax.softmax", "softmax.cross_entropy", "attention.attention")


def by_name(result):
    return {check.id.partition("::")[2]: check for check in result.checks}


def statuses(result):
    return {check.function: check.status for check in result.checks}


def test_right_code_gets_every_point(submission, check_submission):
    result = check_submission(submission(softmax=RIGHT), "softmax.softmax")
    assert result.passed, [c.message for c in result.checks if c.status != "passed"]
    assert result.earned == result.possible(TRANSFORMER) > 0


def test_wrong_code_fails_with_everything_a_reader_needs(submission, check_submission):
    wrong = RIGHT.replace("/ temperature", "* temperature")
    checks = by_name(check_submission(submission(softmax=wrong), "softmax.softmax"))
    assert checks["rows"].status == "passed"
    failed = checks["temperature"]
    assert (failed.status, failed.earned) == ("failed", 0.0)
    assert failed.message == "probs is not close to PyTorch's softmax"
    assert failed.inputs == "x (3, 8), temperature 0.3"
    assert failed.location == {"file": "softmax.py", "line": 3}
    assert failed.worst["axes"] == ["row", "class"]


def test_a_stub_is_not_started_and_costs_no_other_function(submission, check_submission):
    text = RIGHT + "def log_softmax(x, axis=-1):\n    raise NotImplementedError\n"
    found = statuses(check_submission(submission(softmax=text), "softmax.softmax", "softmax.log_softmax"))
    assert found == {"softmax.softmax": "passed", "softmax.log_softmax": "not_started"}


def test_the_stubs_line_left_behind_is_said_with_its_place(submission, check_submission):
    left = RIGHT.replace("    return", '    raise NotImplementedError("softmax.softmax")\n    return')
    assert left != RIGHT
    checks = [
        check
        for check in check_submission(submission(softmax=left), "softmax.softmax").checks
        if check.status == "error"
    ]
    line = left.split("\n").index('    raise NotImplementedError("softmax.softmax")') + 1
    assert len(checks) > 3
    assert {check.message for check in checks} == {
        f"softmax still raises NotImplementedError in softmax.py, line {line}"
    }
    assert all("take it out" in check.help and check.location["line"] == line for check in checks)


def test_a_file_that_python_cannot_read_is_nobodys_input(submission, check_submission):
    checks = check_submission(submission(softmax=RIGHT.replace("):", ")")), "softmax.softmax").checks
    assert {check.status for check in checks} == {"error"}
    for found in checks:
        assert found.message.startswith("Python cannot read this file: SyntaxError in softmax.py, line ")
        assert found.inputs is None
    evaluated = RIGHT.replace("    return", '    eval("1 +")\n    return')
    checks = check_submission(submission(softmax=evaluated), "softmax.softmax").checks
    assert all(check.message.startswith("softmax raised SyntaxError") and check.inputs for check in checks)


def test_another_exception_than_the_one_asked_for_says_what_it_is(submission, check_submission):
    text = "def encode(text, stoi):\n    raise TypeError('unknown ' + 1)\n"
    result = check_submission(submission(tokenizer=text), "tokenizer.encode")
    messages = [check.message for check in result.checks]
    assert any(m.startswith("encode must raise ValueError here, not TypeError: can only concatenate") for m in messages)


def test_no_return_and_several_values(submission, check_submission):
    text = "def build_vocab(text, start=0):\n    {body}\n"
    for body, message, help in (
        ("pass", "must return a tuple (chars, stoi, itos), not None", "without a return statement"),
        ("return [1, 2, 3]", "must return a tuple (chars, stoi, itos), not list", "return chars, stoi, itos"),
        ("return 1, 2", "must return 3 values (chars, stoi, itos), not 2", None),
    ):
        check = check_submission(submission(tokenizer=text.format(body=body)), "tokenizer.build_vocab").checks[0]
        assert message in check.message
        assert help in check.help if help else check.help is None


def test_blocked_by_a_wrong_prerequisite_also_when_it_was_not_selected(submission, check_submission):
    folder = submission(softmax=RIGHT.replace("x.max", "x.min"), attention=ATTENTION)
    for selected in (("attention.attention",), ("softmax.softmax", "attention.attention")):
        result = check_submission(folder, *selected)
        found = [check for check in result.checks if check.function == "attention.attention"]
        blocked = [check for check in found if check.status == "blocked"]
        assert blocked, "a wrong mask handling must at least be seen"
        assert {check.status for check in found} <= {"blocked", "passed"}
        assert blocked[0].blocked_by == ["softmax.softmax"]
        assert "softmax.softmax must be right first" in blocked[0].message


def test_a_prerequisite_that_is_not_used_blocks_nothing(submission, check_submission):
    stub = "def embed_tokens(ids, W_tok):\n    raise NotImplementedError\n"
    embed = "def embed(ids, W_tok, W_pos, scale=1.0):\n    return {} + W_pos\n"
    for look_up, said in (("W_tok[ids]", {"error", "failed"}), ("embed_tokens(ids, W_tok)", {"blocked"})):
        text = f"{stub}\n\n{embed.format(look_up)}"
        result = check_submission(submission(embeddings=text), "embeddings.embed_tokens", "embeddings.embed")
        found = {check.status for check in result.checks if check.function == "embeddings.embed"}
        assert said & found
        assert found <= said | {"passed"}


def test_answers_that_are_the_questions_are_told_so(submission, check_submission):
    text = """import numpy as np
def get_batch(ids, batch_size, block_size, rng):
    starts = np.random.randint(len(ids) - block_size, size=(batch_size, 1))  # not rng: no known mistake gives this
    x = ids[starts + np.arange(block_size)].astype(np.int64)
    return x, x
"""
    check = check_submission(submission(tokenizer=text), "tokenizer.get_batch").checks[0]
    assert check.status == "failed"
    assert check.help == "y is the same as x: its windows begin one position further on"


def test_blocked_by_a_stub(submission, check_submission):
    stub = "def softmax(x, axis=-1):\n    raise NotImplementedError\n"
    result = check_submission(submission(softmax=stub, attention=ATTENTION), "attention.attention")
    assert {check.status for check in result.checks} == {"blocked"}


def test_right_by_its_own_means_is_passed(submission, check_submission):
    own = ATTENTION.replace("from softmax import softmax", RIGHT)
    stub = "def softmax(x, axis=-1):\n    raise NotImplementedError\n"
    result = check_submission(submission(softmax=stub, attention=own), "attention.attention")
    assert "passed" in {check.status for check in result.checks}


def test_an_exit_and_a_loop_cost_their_checks_only(submission, check_submission):
    from autograder.sandbox import Limits

    text = RIGHT + (
        "import os\ndef log_softmax(x, axis=-1):\n    os._exit(0)\n"
        "def cross_entropy(logits, targets):\n    while True: pass\n"
    )
    names = ("softmax.softmax", "softmax.log_softmax", "softmax.cross_entropy")
    result = check_submission(submission(softmax=text), *names, limits=Limits(call_seconds=0.3, retry_seconds=0.1))
    assert statuses(result) == dict(zip(names, ("passed", "error", "timeout"), strict=True))


def test_a_warning_never_decides(submission, check_submission):
    noisy = RIGHT.replace("    z =", "    np.log(np.zeros(1))\n    z =")
    result = check_submission(submission(softmax=noisy), "softmax.softmax")
    assert result.passed
    assert "divide by zero" in result.checks[0].warnings[0]


def test_seeds_change_the_inputs_and_nothing_else(submission, check_submission):
    table = RIGHT + "SEEN = []\n"
    public, fresh = (check_submission(submission(softmax=table), "softmax.softmax", seed=seed) for seed in (0, 41))
    assert public.passed
    assert fresh.passed
    hard_coded = (
        "import numpy as np\ndef softmax(x, axis=-1, temperature=1.0):\n    return np.ones(x.shape) / x.shape[axis]\n"
    )
    assert not check_submission(submission(softmax=hard_coded), "softmax.softmax").passed


def test_one_pytest_session_serves_a_class(submission, tmp_path):
    folders = []
    for name, text in (("ada", RIGHT), ("ben", "syntax error here"), ("cem", RIGHT.replace("max", "min"))):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "softmax.py").write_text(text)
        folders.append((name, folder))
    results: list[SubmissionResult] = []
    check_many(folders, Options(functions=("softmax.softmax",)), results.append)
    assert [result.submission for result in results] == ["ada", "ben", "cem"]
    assert [result.passed for result in results] == [True, False, False]
    assert all("SyntaxError" in check.message for check in results[1].checks)
    assert results[1].checks[0].location == {"file": "softmax.py", "line": 1, "text": "syntax error here"}


def test_the_submission_cannot_configure_pytest(submission, check_submission, tmp_path, monkeypatch):
    folder = submission(softmax=RIGHT, conftest="raise SystemExit('loaded')", pytest="raise SystemExit('loaded')")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTEST_ADDOPTS", "--no-such-option")
    assert check_submission(folder, "softmax.softmax").passed


def test_plain_pytest_with_the_plugin_works_by_itself(submission, tmp_path):
    folder = submission(softmax=RIGHT.replace("/ temperature", "* temperature"))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "autograder.engine.pytest_plugin",
        str(CHECKS / "test_softmax.py"),
    ]
    done = subprocess.run(
        [*command, "--submission", str(folder), "-v"], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 1
    assert "test_softmax.py::test_rows PASSED" in done.stdout
    assert "test_softmax.py::test_temperature FAILED" in done.stdout
    assert "failed: probs is not close to PyTorch's softmax" in done.stdout
    assert "short test summary" in done.stdout, "pytest's own reporter is left alone"


def test_plain_pytest_without_a_submission_skips(tmp_path):
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "autograder.engine.pytest_plugin",
        str(CHECKS / "test_softmax.py"),
        "-rs",
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert "--submission DIR" in done.stdout
    assert done.returncode == 0


def test_a_check_that_breaks_is_the_kits_failure_not_the_students(submission, monkeypatch):
    from autograder.engine.reference import Reference
    from autograder.engine.reference.memo import Memo

    class Broken(Reference):
        def call(self, *args):
            raise RuntimeError("the reference broke")

    options = Options(functions=("softmax.softmax",), reference=Broken(Memo(CHECKS)))
    result = check("s", submission(softmax=RIGHT), options)
    assert result.internal_errors
    assert "the reference broke" in result.internal_errors[0]


def test_the_document_follows_its_schema(submission, check_submission):
    import json

    import jsonschema

    schema = json.loads((Path(autograder.__file__).parent / "schema" / "result-2.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validate = jsonschema.Draft202012Validator(schema).validate
    texts = [
        RIGHT,
        RIGHT.replace("max", "min"),
        "1/0",
        RIGHT.replace("return z", "return np.nan * z"),
        "",
        "def softmax(x): exit()",
    ]
    for text in texts:
        document = to_document(check_submission(submission(softmax=text, attention=ATTENTION), *SOME), TRANSFORMER)
        validate(document)
        json.loads(json.dumps(document, allow_nan=False))
    broken = {**document, "schema": "headway.result/9"}
    with pytest.raises(jsonschema.ValidationError):
        validate(broken)


def test_a_nan_in_the_answer_survives_json(submission, check_submission):
    import json

    result = check_submission(submission(softmax=RIGHT.replace("return z", "return np.nan * z")), "softmax.softmax")
    document = json.loads(json.dumps(to_document(result, TRANSFORMER), allow_nan=False))
    check = document["assignments"][0]["functions"][0]["checks"][0]
    assert np.isnan(float(check["worst"]["yours"]))


def test_a_backward_whose_forward_is_a_stub_is_blocked_by_it(submission, check_submission):
    text = "def multihead_attention(x, params, n_heads, mask=None, memory=None):\n    {body}\n"
    backward = "def multihead_attention_backward(dout, cache):\n    return 1\n"
    stub = submission(multihead=text.format(body="raise NotImplementedError") + backward)
    result = check_submission(stub, "multihead.multihead_attention_backward")
    assert {check.status for check in result.checks} == {"blocked"}
    assert result.checks[0].blocked_by == ["multihead.multihead_attention"]
    no_pair = submission(multihead=text.format(body="return x") + backward)
    result = check_submission(no_pair, "multihead.multihead_attention")
    assert "must return a tuple (out, cache), not an array" in result.checks[0].message
    assert result.internal_errors == []


WRONG_SOFTMAX = RIGHT.replace("return z / z.sum(axis, keepdims=True)", "return z / z.sum(axis, keepdims=True) * 1.5")
WHOLE_ATTENTION = """
import numpy as np
from softmax import softmax
def attention(q, k, v, mask=None):
    q, k, v = (a if a.dtype.kind == "f" else a.astype(float) for a in map(np.asarray, (q, k, v)))
    scores = q @ np.swapaxes(k, -1, -2) / q.dtype.type(np.sqrt(q.shape[-1]))
    mask = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = softmax(np.where(mask, scores, q.dtype.type(-1e9))) * mask
    return weights @ v, weights
"""


def test_right_with_a_wrong_prerequisite_is_said(submission, check_submission):
    folder = submission(softmax=WRONG_SOFTMAX, attention=WHOLE_ATTENTION)
    result = check_submission(folder, "attention.attention")
    blocked = [check for check in result.checks if check.status == "blocked"]
    assert blocked
    assert all("with the official softmax.softmax it passes" in check.message for check in blocked)
    # What an editor leaves beside the work: a broken link, a folder. Nothing of it is a module.
    (folder / ".#attention.py").symlink_to("ada@desk.1234:1700000000")
    (folder / "old.py").mkdir()
    again = check_submission(folder, "attention.attention")
    assert [check.message for check in again.checks] == [check.message for check in result.checks]
    assert again.content_hash == result.content_hash
    wrong = submission(softmax=WRONG_SOFTMAX, attention=WHOLE_ATTENTION.replace("np.sqrt", ""))
    result = check_submission(wrong, "attention.attention")
    assert not all("it passes" in check.message for check in result.checks if check.wrong)


def test_with_official_prerequisites_an_assignment_stands_by_itself(submission, check_submission):
    folder = submission(softmax=WRONG_SOFTMAX, attention=WHOLE_ATTENTION, helper="x = 1\n")
    result = check_submission(folder, "softmax.softmax", "attention.attention", official=True)
    assert statuses(result)["attention.attention"] == "passed"
    assert "failed" in {check.status for check in result.checks if check.function == "softmax.softmax"}
    assert to_document(result, TRANSFORMER)["official_prerequisites"]


def test_an_assignment_sees_earlier_solutions_and_nothing_later(tmp_path):
    from autograder.engine.prerequisites import OfficialPrerequisites

    own = tmp_path / "own"
    own.mkdir()
    for name in ("softmax", "attention", "blocks", "helper"):
        (own / f"{name}.py").write_text(f"mine = {name!r}\n")
    official = OfficialPrerequisites(TRANSFORMER)
    folder = official.folder_for(own, "attention")
    assert official.folder_for(own, "attention") == folder
    found = {path.stem: path.read_text() for path in folder.glob("*.py")}
    compiled = {path.name.partition(".")[0] for path in folder.rglob("*.pyc")}
    assert compiled == {"softmax"}, "what attention is built on comes compiled, and nothing that is not there as text"
    assert set(found) == {"tokenizer", "softmax", "embeddings", "attention", "helper"}
    assert "mine" in found["attention"]
    assert "mine" in found["helper"]
    assert "mine" not in found["softmax"]
    official.close()
    assert not folder.exists()


def test_what_the_whole_run_lacks_ends_it_with_one_line(submission, check_submission):
    from autograder.engine.reference import Reference
    from autograder.engine.reference.memo import Memo
    from autograder.errors import UsageError

    class NoTorch(Reference):
        def call(self, *args):
            raise UsageError("PyTorch is not installed")

    with pytest.raises(UsageError, match="PyTorch is not installed"):
        check_submission(submission(softmax=RIGHT), "softmax.softmax", reference=NoTorch(Memo(CHECKS)))


def test_after_a_cancelled_job_another_one_is_done(submission):
    from autograder.curriculum import stubs
    from autograder.errors import Cancelled

    folder = submission(
        **{name: (stubs.bundled("solutions") / f"{name}.py").read_text("utf-8") for name in ("softmax", "layernorm")}
    )
    results = []

    def body(session):
        session.cancel()
        with pytest.raises(Cancelled):
            session.check("first", folder, ("softmax.softmax",))
        session.clear_cancellation()
        results.append(session.check("second", folder, ("layernorm.layernorm",)))

    run_in_session(Options(functions=("softmax.softmax", "layernorm.layernorm")), body)
    assert [check.status for check in results[0].checks] == ["passed"] * len(results[0].checks) != []


def test_answers_that_are_kept_to_be_explained_do_not_fill_the_graders_memory(
    submission, check_submission, monkeypatch
):
    from autograder.engine import pytest_plugin
    from autograder.engine.diagnosis import diagnose

    kept = []

    def look(function, replays, package):
        kept.extend(call.value.nbytes for replay in replays for call in replay.calls)
        return {}

    monkeypatch.setattr(diagnose, "diagnose", look)
    monkeypatch.setattr(pytest_plugin, "KEPT_BYTES", 3 << 20)
    text = "import numpy as np\ndef softmax(x, axis=-1, temperature=1.0):\n    return np.zeros(1 << 17)\n"
    result = check_submission(submission(softmax=text), "softmax.softmax")
    assert sum(check.status == "failed" for check in result.checks) > 4
    assert 1 <= len(kept) < 4, "each of the failed checks answered with a MiB"


@pytest.mark.parametrize(
    "body",
    [
        "return args[0]",
        "return np.zeros(np.shape(args[0])), np.zeros(np.shape(args[0]))",
        "return args[0], np.ones(np.shape(args[0]))",
        "return args[0], 0.0",
        "return np.concatenate([args[0], np.zeros((*args[0].shape[:-1], args[3]), args[0].dtype)], -1)",
    ],
)
def test_work_that_computes_nothing_earns_nothing(submission, check_submission, body):
    config = "class {}:\n    def __init__(self, **fields): self.__dict__.update(fields)\n"
    configs = {"gpt": config.format("GPTConfig"), "encoder_decoder": config.format("TransformerConfig")}
    texts = {
        name: "import numpy as np\n"
        + configs.get(name, "")
        + "".join(f"def {function.name}(*args, **kwargs):\n    {body}\n" for function in assignment.functions)
        for name, assignment in TRANSFORMER.modules.items()
    }
    result = check_submission(submission(**texts), official=True, diagnose=False)
    assert not result.internal_errors
    assert [check.id for check in result.checks if check.earned] == []
