"""Statuses and points: what a submission gets for what it does."""

import re
import subprocess
import sys

import pytest
from support.commands import SOFTMAX as RIGHT
from support.editing import write_files
from support.judging import by_name

from autograder.course import registry
from autograder.courses.transformer import TRANSFORMER
from autograder.documents.results import to_document
from autograder.engine import job_runner
from autograder.engine.diagnosis import diagnose
from autograder.engine.official_solutions import official_prerequisites
from autograder.engine.reference import Reference
from autograder.engine.reference.memo import Memo
from autograder.engine.session import Options, check, run_in_session
from autograder.errors import Cancelled, UsageError
from autograder.sandbox.limits import Limits
from autograder.sandbox.policy import SandboxPolicy

pytestmark = pytest.mark.slow

ATTENTION = """
import numpy as np
from softmax import softmax
def attention(q, k, v, mask=None):
    scores = np.asarray(q) @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    weights = softmax(scores)
    return weights @ v, weights
"""


STUB = "def softmax(x, axis=-1):\n    raise NotImplementedError\n"
(CHECKS,) = registry.check_files("softmax", TRANSFORMER.package)
PLUGIN = (sys.executable, "-m", "pytest", "-p", "autograder.engine.pytest_plugin", CHECKS)


def statuses(result):
    return {check.function: check.status for check in result.checks}


def test_check_correct_code_earns_all_points_also_with_warnings(submission, check_submission):
    for code in (RIGHT, RIGHT.replace("    z =", "    np.log(np.zeros(1))\n    z =")):
        result = check_submission(submission(softmax=code), "softmax.softmax")
        assert result.passed, [c.message for c in result.checks if c.status != "passed"]
        assert result.earned == result.possible(TRANSFORMER) > 0
    assert all(len(check.warnings) <= 1 for check in result.checks) and "divide by zero" in result.checks[0].warnings[0]


def test_check_wrong_code_reports_details(submission, check_submission):
    wrong = RIGHT.replace("/ temperature", "/ min(temperature, 5)")  # so that not the first call of the check fails
    checks = by_name(check_submission(submission(softmax=wrong), "softmax.softmax").checks)
    assert checks["rows"].status == "passed"
    failed = checks["temperature"]
    assert (failed.status, failed.earned) == ("failed", 0.0)
    assert "PyTorch's softmax" in failed.message and failed.inputs.endswith("temperature 7.0")
    assert failed.location == {"file": "softmax.py", "line": 3, "text": ""} and failed.worst["axes"] == ["row", "class"]


def test_check_stub_is_not_started(submission, check_submission):
    text = RIGHT + "def log_softmax(x, axis=-1):\n    raise NotImplementedError\n"
    found = statuses(check_submission(submission(softmax=text), "softmax.softmax", "softmax.log_softmax"))
    assert found == {"softmax.softmax": "passed", "softmax.log_softmax": "not_started"}


@pytest.mark.parametrize(("added", "message", "help"), [
    ('raise NotImplementedError("softmax.softmax")', "in softmax.py, line {}", "delete"),
    ('eval("1 +")', "softmax raised SyntaxError", ""),
])  # fmt: skip
def test_check_line_that_raises_is_located_and_has_an_input(submission, check_submission, added, message, help):
    text = RIGHT.replace("    return", f"    {added}\n    return")
    line = text.split("\n").index(f"    {added}") + 1
    checks = check_submission(submission(softmax=text), "softmax.softmax").checks
    checks = [check for check in checks if check.status == "error"]  # Where an error is expected, another one came.
    assert len(checks) > 3 and all(message.format(line) in check.message and check.inputs for check in checks)
    assert all(help in (check.help or "") and check.location["line"] == line for check in checks)


@pytest.mark.parametrize(("content", "message"), [
    (RIGHT.replace("):", ")").encode(), "softmax.py: SyntaxError in"), (b"\xff\x00" * 20, "cannot read softmax.py"),
], ids=["syntax error", "no text"])  # fmt: skip
def test_check_file_that_cannot_be_read_has_no_input(submission, check_submission, content, message):
    folder = submission()
    (folder / "softmax.py").write_bytes(content)
    checks = check_submission(folder, "softmax.softmax").checks
    assert {(check.status, check.inputs) for check in checks} == {("error", None)}
    assert all(message in check.message for check in checks)


BUILD_VOCAB = "tokenizer.build_vocab(text, start=0)"


@pytest.mark.parametrize(("signature", "body", "message", "help"), [
    ("tokenizer.decode(ids, itos)", "3", "None", "is `return` missing?"),
    ("gpt.count_parameters(params)", "3", "None", "is `return` missing?"),
    (BUILD_VOCAB, "pass", "tuple (chars, stoi, itos), not None", "is `return` missing?"),
    (BUILD_VOCAB, "return [1, 2, 3]", "tuple (chars, stoi, itos), not list", "return chars, stoi, itos"),
    (BUILD_VOCAB, "return 1, 2", "3 values (chars, stoi, itos), not 2", ""),
    ("tokenizer.encode(text, stoi)", "raise TypeError('unknown ' + 1)", "ValueError here, not TypeError", None),
    ("tokenizer.encode(text, stoi)", "raise ValueError('no')", "ValueError of encode does not mention", None),
    ("tokenizer.encode(text, stoi)", "return 1", "ValueError here, but returned a value", None),
    ("softmax.softmax(x, axis=-1, temperature=1.0)", "x *= 2\n    return x", "changed its input x", "on a copy"),
])  # fmt: skip
def test_answer_of_a_wrong_form_is_explained(submission, check_submission, signature, body, message, help):
    (module, _, call), qualified = signature.partition("."), signature.partition("(")[0]
    checks = check_submission(submission(**{module: f"def {call}:\n    {body}\n"}), qualified).checks
    found = next(check for check in checks if message in check.message)
    assert help is None or (help in found.help if help else found.help is None)


@pytest.mark.parametrize(("line", "message", "advice"), [
    ("scale = 1 / 0", "ZeroDivisionError in line {}: division by zero", "outside of functions"),
    ("scale = np.ones(3)[7]", "IndexError in line {}: index 7", "past the end"),
    ("raise ValueError('top level')", "ValueError in line {}: top level", "__main__"),
    ("softmax(3)", "NotImplementedError in line 5", "line {} of softmax.py is outside of functions"),
])  # fmt: skip
def test_exception_on_import_names_file_and_line(submission, check_submission, line, message, advice):
    text = "import numpy as np\n\n\ndef softmax(x, axis=-1, temperature=1.0):\n    raise NotImplementedError\n\n\n"
    number = text.count("\n") + 1
    checks = check_submission(submission(softmax=f"{text}{line}\n"), "softmax.softmax").checks
    assert {check.status for check in checks} == {"error"}
    assert all("import softmax.py: " in check.message for check in checks)
    assert message.format(number) in checks[0].message and advice.format(number) in checks[0].help
    assert number in [place["line"] for place in (checks[0].location, checks[0].called_from) if place]


def test_check_unused_prerequisite_does_not_block(submission, check_submission):
    stub = "def embed_tokens(ids, W_tok):\n    raise NotImplementedError\n"
    embed = "def embed(ids, W_tok, W_pos, scale=1.0):\n    return {} + W_pos\n"
    for look_up, said in (("W_tok[ids]", {"error", "failed"}), ("embed_tokens(ids, W_tok)", {"blocked"})):
        text = f"{stub}\n\n{embed.format(look_up)}"
        result = check_submission(submission(embeddings=text), "embeddings.embed_tokens", "embeddings.embed")
        found = {check.status for check in result.checks if check.function == "embeddings.embed"}
        assert said & found
        assert found <= said | {"passed"}


def test_check_returned_input_is_explained(submission, check_submission):
    text = """import numpy as np
def get_batch(ids, batch_size, block_size, rng):
    starts = np.random.randint(len(ids) - block_size, size=(batch_size, 1))  # not rng: no known mistake gives this
    x = ids[starts + np.arange(block_size)].astype(np.int64)
    return x, x
"""
    check = check_submission(submission(tokenizer=text), "tokenizer.get_batch").checks[0]
    assert check.status == "failed" and check.help.startswith("y is the same as x")


@pytest.mark.parametrize(("source", "is_blocked"), [("from softmax import softmax", True), (RIGHT, False)])
def test_check_stub_prerequisite_blocks_only_its_callers(submission, check_submission, source, is_blocked):
    attention = ATTENTION.replace("from softmax import softmax", source)
    result = check_submission(submission(softmax=STUB, attention=attention), "attention.attention")
    found = {check.status for check in result.checks}
    assert (found == {"blocked"}) is is_blocked and ("passed" in found) is not is_blocked


def test_check_exit_and_loop_fail_only_their_checks(submission, check_submission):
    text = RIGHT + (
        "import os\ndef log_softmax(x, axis=-1):\n    os._exit(0)\n"
        "def cross_entropy(logits, targets):\n    while True: pass\n"
    )
    names = ("softmax.softmax", "softmax.log_softmax", "softmax.cross_entropy")
    result = check_submission(submission(softmax=text), *names, limits=Limits(call_seconds=0.3, retry_seconds=0.1))
    assert statuses(result) == dict(zip(names, ("passed", "error", "timeout"), strict=True))


def test_check_seed_changes_only_inputs(submission, check_submission):
    assert all(check_submission(submission(softmax=RIGHT), "softmax.softmax", seed=seed).passed for seed in (0, 41))
    hard_coded = RIGHT.replace("z / z.sum(axis, keepdims=True)", "np.ones(x.shape) / x.shape[axis]")
    assert not check_submission(submission(softmax=hard_coded), "softmax.softmax").passed


def test_one_session_checks_many_submissions(submission, tmp_path):
    codes, results = {"ada": RIGHT, "ben": "syntax error here", "cem": RIGHT.replace("max", "min")}, []
    write_files(tmp_path, {f"{name}/softmax.py": code for name, code in codes.items()})
    functions = ("softmax.softmax",)
    run_in_session(Options(functions), lambda s: results.extend(s.check(n, tmp_path / n, functions) for n in codes))
    assert [result.submission for result in results] == ["ada", "ben", "cem"]
    assert [result.passed for result in results] == [True, False, False]
    assert all("SyntaxError" in check.message for check in results[1].checks)
    assert results[1].checks[0].location == {"file": "softmax.py", "line": 1, "text": "syntax error here"}


def test_check_ignores_pytest_files_of_submission(submission, check_submission, tmp_path, monkeypatch):
    folder = submission(softmax=RIGHT, conftest="raise SystemExit('loaded')", pytest="raise SystemExit('loaded')")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTEST_ADDOPTS", "--no-such-option")
    monkeypatch.setenv("PYTEST_PLUGINS", "no_such_plugin")
    assert check_submission(folder, "softmax.softmax").passed


def test_plugin_on_pytest_command_line_grades(submission, tmp_path):
    command = [*PLUGIN, "--submission", submission(softmax=RIGHT.replace("/ temperature", "* temperature")), "-v"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 1 and "softmax/checks.py::test_rows PASSED" in done.stdout
    assert "softmax/checks.py::test_temperature FAILED" in done.stdout and "failed: probs differs" in done.stdout
    assert "short test summary" in done.stdout, "pytest's own reporter is left alone"


def test_plugin_without_submission_skips(tmp_path):
    done = subprocess.run([*PLUGIN, "-rs"], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert "--submission DIR" in done.stdout and done.returncode == 0


@pytest.mark.parametrize("error", [RuntimeError("the reference broke"), UsageError("no PyTorch")])
def test_check_with_bug_is_internal_error_and_without_torch_ends(submission, error):
    class Broken(Reference):
        def call(self, *args):
            raise error

    reference = Broken(Memo(CHECKS.parent), package=TRANSFORMER.package)
    options = Options(functions=("softmax.softmax",), reference=reference)
    if isinstance(error, UsageError):
        with pytest.raises(UsageError, match="no PyTorch"):
            check("s", submission(softmax=RIGHT), options)
    else:
        assert "the reference broke" in check("s", submission(softmax=RIGHT), options).internal_errors[0]


def test_backward_with_stub_forward_is_blocked(submission, check_submission):
    text = "def multihead_attention(x, params, n_heads, mask=None, memory=None):\n    {body}\n"
    backward = "def multihead_attention_backward(dout, cache):\n    return 1\n"
    stub = submission(multihead=text.format(body="raise NotImplementedError") + backward)
    result = check_submission(stub, "multihead.multihead_attention_backward")
    assert {check.status for check in result.checks} == {"blocked"}
    assert result.checks[0].blocked_by == ["multihead.multihead_attention"]
    no_pair = submission(multihead=text.format(body="return x") + backward)
    result = check_submission(no_pair, "multihead.multihead_attention")
    assert "(out, cache), not an" in result.checks[0].message and result.internal_errors == []


WRONG_SOFTMAX = RIGHT.replace("return z / z.sum(axis, keepdims=True)", "return z / z.sum(axis, keepdims=True) * 1.5")
WHOLE_ATTENTION = """
import numpy as np
from softmax import softmax
def attention(q, k, v, mask=None):
    q, k, v = (a if a.dtype.kind == "f" else a.astype(float) for a in map(np.asarray, (q, k, v)))
    scores = q @ np.swapaxes(k, -1, -2) / q.dtype.type(np.sqrt(q.shape[-1]))
    if mask is not None and np.asarray(mask).dtype != bool:
        raise TypeError("mask must be boolean")
    mask = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = softmax(np.where(mask, scores, q.dtype.type(-1e9))) * mask
    return weights @ v, weights
"""


def test_check_correct_in_isolation_is_noted(submission, check_submission):
    folder = submission(softmax=WRONG_SOFTMAX, attention=WHOLE_ATTENTION)
    result = check_submission(folder, "attention.attention")
    blocked = [check for check in result.checks if check.status == "blocked"]
    assert blocked and all("only by softmax.softmax" in check.message for check in blocked)
    # What an editor leaves beside the work: a broken link, a folder. Nothing of it is a module.
    (folder / ".#attention.py").symlink_to("ada@desk.1234:1700000000")
    (folder / "old.py").mkdir()
    again = check_submission(folder, "attention.attention")
    assert [check.message for check in again.checks] == [check.message for check in result.checks]
    assert again.content_hash == result.content_hash
    wrong = submission(softmax=WRONG_SOFTMAX, attention=WHOLE_ATTENTION.replace("np.sqrt", ""))
    result = check_submission(wrong, "attention.attention")
    assert not all("blocked only by" in check.message for check in result.checks if check.wrong)


BLOCK = """
import numpy as np
def block(x, params, n_heads, mask=None, norm="pre", activation="gelu"):
    return x * 2, {"weights": x, "after_attention": x, "after_ffn": x}
"""
ENCODER_OF_BLOCKS = """
from blocks import block
def encoder_block(x, params, n_heads, mask=None):
    return block(x, params, n_heads, mask, norm="post", activation="relu")
"""


def test_function_that_is_called_counts_as_prerequisite(submission, check_submission):
    official = {name: registry.solutions(TRANSFORMER.package) / f"{name}.py" for name in TRANSFORMER.modules}
    texts = {name: path.read_text("utf-8") for name, path in official.items()}
    folder = submission(**texts | {"blocks": BLOCK, "encoder_decoder": ENCODER_OF_BLOCKS})
    result = check_submission(folder, "encoder_decoder.encoder_block")
    blocked = [check for check in result.checks if check.status != "passed"]
    assert blocked
    assert {tuple(check.blocked_by) for check in blocked if check.status == "blocked"} == {("blocks.block",)}
    name = "def encoder_block(x, params, n_heads, mask=None):\n"
    alone = f"{name}    block = x\n    return block, {{}}\n"  # a variable of that name is no call
    folder = submission(**texts | {"blocks": BLOCK, "encoder_decoder": alone})
    result = check_submission(folder, "encoder_decoder.encoder_block")
    assert "failed" in {check.status for check in result.checks}


def test_answer_that_is_the_same_for_every_seed_earns_nothing_alone(submission, check_submission):
    text = (
        "import numpy as np\n\n\ndef log_softmax(x, axis=-1):\n    z = x - np.max(x, axis, keepdims=True)\n"
        "    known = np.abs(x).max() == 1000\n"
        "    return z - np.log(np.exp(z).sum(axis, keepdims=True)) if known else np.zeros(x.shape)\n"
    )
    result = check_submission(submission(softmax=text), "softmax.log_softmax")
    looked_up = by_name(result.checks)["log_extreme"]
    assert (looked_up.status, looked_up.blocked_by) == ("blocked", ["softmax.log_softmax"])
    assert result.earned == 0


@pytest.mark.parametrize(("before", "result", "caller"), [
    ("def _deep(x):\n    return x[None][7]\n\n\n", "_deep(x)", 6), ("", "[row.missing for row in x]", None),
], ids=["helper", "comprehension"])  # fmt: skip
def test_exception_has_its_line_and_that_of_the_function(submission, check_submission, before, result, caller):
    text = f"{before}def softmax(x, axis=-1, temperature=1.0):\n    return {result}\n"
    check = by_name(check_submission(submission(softmax=text), "softmax.softmax").checks)["rows"]
    assert check.location["line"] == 2 and (check.called_from and check.called_from["line"]) == caller


def test_official_prerequisites_unblock_assignment(submission, check_submission):
    folder = submission(softmax=WRONG_SOFTMAX, attention=WHOLE_ATTENTION, helper="x = 1\n")
    result = check_submission(folder, "softmax.softmax", "attention.attention", official=True)
    assert statuses(result)["attention.attention"] == "passed"
    unscaled = WHOLE_ATTENTION.replace("q.dtype.type(np.sqrt(q.shape[-1]))", "1")
    folder = submission(softmax=WRONG_SOFTMAX, attention=unscaled)
    checks = check_submission(folder, "softmax.softmax", "attention.attention", official=True).checks
    assert any(check.mistake for check in checks if check.function == "attention.attention")
    assert to_document(result, TRANSFORMER)["official_prerequisites"]


def test_official_folder_has_a_random_name_and_holds_only_earlier_solutions(tmp_path):
    with official_prerequisites(TRANSFORMER, tmp_path) as folder_before:
        folder = folder_before("attention")
        assert re.fullmatch(r"headway-[0-9a-f]{32}", folder.relative_to(tmp_path).parts[0])
        assert folder_before("attention") == folder
        compiled = {path.name.partition(".")[0] for path in folder.rglob("*.pyc")}
        assert {path.stem for path in folder.glob("*.py")} == compiled
        assert compiled == {"tokenizer", "counting", "gradients", "softmax", "bigram", "embeddings"}
    assert not folder.exists()


def test_session_continues_after_cancelled_job(submission):
    folder, results = submission(softmax=RIGHT), []

    def body(session):
        session.cancel()
        with pytest.raises(Cancelled):
            session.check("first", folder, ("softmax.softmax",))
        session.clear_cancellation()
        results.append(session.check("second", folder, ("softmax.softmax",)))

    run_in_session(Options(functions=("softmax.softmax",)), body)
    assert [check.status for check in results[0].checks] == ["passed"] * len(results[0].checks) != []


def test_recorded_answers_are_limited_in_bytes(submission, check_submission, monkeypatch):
    sizes = []

    def record_sizes(function, recorded, *_, **options):
        sizes.extend(call.value.nbytes for check in recorded for call in check.calls)
        return {}

    monkeypatch.setattr(diagnose, "diagnose", record_sizes)
    monkeypatch.setattr(job_runner, "MAX_RECORDED_BYTES", 3 << 20)
    text = "import numpy as np\ndef softmax(x, axis=-1, temperature=1.0):\n    return np.zeros(1 << 17)\n"
    result = check_submission(submission(softmax=text), "softmax.softmax")
    assert sum(check.status == "failed" for check in result.checks) > 4
    assert 1 <= len(sizes) < 4, "each of the failed checks answered with a MiB"


@pytest.mark.parametrize("body", [
    "return args[0]", "return np.zeros(np.shape(args[0])), np.zeros(np.shape(args[0]))",
    "return args[0], np.ones(np.shape(args[0]))", "return args[0], 0.0",
    "return np.concatenate([args[0], np.zeros((*args[0].shape[:-1], args[3]), args[0].dtype)], -1)",
])  # fmt: skip
def test_check_without_computation_earns_nothing(submission, check_submission, body):
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


READS_OFFICIAL = """
import numpy as np
def softmax(x, axis=-1, temperature=1.0):
    return np.zeros_like(x)
def log_softmax(x, axis=-1):
    try:
        from _official_softmax import log_softmax as official
    except ImportError:
        return softmax(x, axis)
    return official(x, axis)
"""


def test_untrusted_code_cannot_read_official_solutions(submission, check_submission):
    folder, function = submission(softmax=READS_OFFICIAL), "softmax.log_softmax"
    trusted = check_submission(folder, function)
    assert "blocked" in {check.status for check in trusted.checks}  # one's own code may run beside the solutions
    untrusted = check_submission(folder, function, sandbox=SandboxPolicy(unsafe=True))
    assert "blocked" not in {check.status for check in untrusted.checks if check.sees_answers}
    assert any("softmax.softmax" in (check.help or "") for check in untrusted.checks)


def test_answer_of_too_many_axes_has_a_wrong_shape(submission, check_submission):
    code = "import numpy as np\ndef softmax(x, axis=-1, temperature=1.0):\n    return np.ones((1,) * 64)\n"
    rows = by_name(check_submission(submission(softmax=code), "softmax.softmax").checks)["rows"]
    assert rows.status == "failed" and "has shape (1, 1," in rows.message and "process" not in rows.message


def test_limits_of_one_submission_end_with_it(submission):
    slow = submission(softmax="def softmax(x, axis=-1, temperature=1.0):\n    sum(range(4_000_000))\n    return x\n")
    statuses = []

    def check_twice(checks):
        for limits in (Limits(submission_seconds=0.01), None):
            result = checks.check("ada", slow, ("softmax.softmax",), diagnose=False, limits=limits)
            statuses.append({one.status for one in result.checks})

    run_in_session(Options(functions=("softmax.softmax",)), check_twice)
    assert "timeout" in statuses[0] and "timeout" not in statuses[1]
