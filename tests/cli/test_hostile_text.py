"""No text of a file reaches the terminal as a control sequence, whichever field, file and command it comes through."""

import contextlib
import csv
import io
import json
import re
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from rich.live import Live
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text
from safetensors.numpy import save, save_file
from support.commands import SOFTMAX, headway, invoke, succeed
from support.editing import write_files, zip_bytes
from support.softmax_class import CachingPool, grade_arguments

import autograder
from autograder.classroom import grade as grade_module
from autograder.cli import main
from autograder.core import safe_output
from autograder.models.training import checkpoint
from autograder.report.console import SafeConsole

pytestmark = pytest.mark.slow

# Fill the clipboard, set the title (in 7 and 8 bits), blink, change the device, overwrite, turn the direction around.
HOSTILE = "\x1b]52;c;cA==\x07\x1b]0;t\x1b\\\x9d0;t\x9c\x1b[5;41m\x9b5m\x1bPq\x1b\\\x1bc\r\x08\u202e\u2066x[blink red]"
# Rich's own sequences are colors without blinking, and the movements of displays that redraw themselves.
_OWN = re.compile(r"\r?\x1b\[(?!5[;m])(?:[0-9;]*m|[0-9]*[AGK]|\?25[hl])")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def require_harmless(output: bytes, own: bool = False):
    text = output.decode("utf-8")
    found = _CONTROL.search(_OWN.sub("", text) if own else text)
    assert found is None, text[max(0, found.start() - 60) : found.end() + 60]


def run(*arguments, cwd=None, **environment):
    """Run a command in this process, as in a terminal with colors; it may only fail in one line."""
    environment = environment or {"FORCE_COLOR": "1", "TERM": "xterm-256color", "NO_COLOR": None}
    with contextlib.chdir(cwd or Path.cwd()):
        done = CliRunner().invoke(main, [str(argument) for argument in arguments], env=environment)
    for output in (done.stdout_bytes, done.stderr_bytes):
        require_harmless(output, own="FORCE_COLOR" in environment)
    assert done.exit_code in (0, 1, 2, 4), done.output


def variants(value, path=()):
    """Yield the path of each text in a JSON value, and a copy of the value in which that text is hostile.

    Of the items of a list, only the first is changed. Each object also gets a hostile key.
    """
    if isinstance(value, dict):
        for key, item in value.items():
            yield from (((*path, *way), {**value, key: changed}) for way, changed in variants(item, (key,)))
        if value:
            yield (*path, "KEY"), {**value, HOSTILE: next(iter(value.values()))}
    elif isinstance(value, list) and value:
        yield from (((*path, *way), [changed, *value[1:]]) for way, changed in variants(value[0], (0,)))
    elif isinstance(value, str):
        yield path, value + HOSTILE


SETTINGS = {
    "preset": "bigram", "data": "names", "model": {"block_size": 8}, "batch_size": 4, "lr": 0.1,
    "schedule": "constant", "steps": 3, "seed": 0, "prompt": "a", "data_sha256": "", "kind": "bigram",
}  # fmt: skip
CHARACTERS = sorted({*HOSTILE, *"ab\n"})
HEADER = {
    "format": checkpoint.FORMAT, "step": 3, "chars": CHARACTERS, "settings": SETTINGS, "order": ["W"], "adamw_step": 0,
    "seconds": 1.0, "student": ["bigram"],
}  # fmt: skip


def write_checkpoint(path, header, names=("W",)):
    table = np.zeros((len(CHARACTERS), len(CHARACTERS)))
    tensors = {f"params.{name}": table for name in names} | {"history.losses": np.ones(3)}
    tensors["history.validation"] = np.ones((1, 2))
    path.write_bytes(save(tensors, {"headway": json.dumps(header)}))
    return path


def test_commands_with_a_hostile_checkpoint_write_no_control_sequences(tmp_path):
    write_checkpoint(tmp_path / "other.safetensors", HEADER)
    for _, header in variants(HEADER):
        model = write_checkpoint(tmp_path / "model.safetensors", header, header["order"])
        for arguments in (["runs"], ["runs", "--plain"], ["runs", "--json", "-"], ["generate", model, "--prompt", "z"]):
            run(*arguments, cwd=tmp_path)
        run("plot", "loss", "model.safetensors", "other.safetensors", "--force", cwd=tmp_path)
        run("train", "--resume", "--solution", "--data", "none", "--out", model, cwd=tmp_path)
        run("train", "--steps", "1", "--out", model, cwd=tmp_path)  # It exists, and the message describes it.


@pytest.mark.parametrize("options", [("--length", "300"), ("--lines", "2")])
def test_generate_with_hostile_prompt_and_characters_writes_none_of_them(tmp_path, options):
    header = HEADER | {"settings": SETTINGS | {"prompt": HOSTILE}}
    model = write_checkpoint(tmp_path / "model.safetensors", header)
    done = succeed("generate", model, "--solution", *options, cwd=tmp_path, run=headway)
    assert "[blink" in done.stdout
    require_harmless(done.stdout.encode())
    require_harmless(done.stderr.encode())


def test_card_of_a_hostile_checkpoint_is_written_without_control_sequences(tmp_path):
    header = HEADER | {"settings": SETTINGS | {"prompt": HOSTILE, "data": HOSTILE, "preset": HOSTILE}}
    run("card", write_checkpoint(tmp_path / "m.safetensors", header), "--solution", "--force", cwd=tmp_path)


def test_commands_with_a_hostile_tensor_header_write_no_control_sequences(tmp_path):
    entry = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
    for _, header in variants({"__metadata__": {"headway": "{}"}, "W": entry}):
        content = json.dumps(header).encode()
        (tmp_path / "m.safetensors").write_bytes(len(content).to_bytes(8, "little") + content + b"\0" * 4)
        run("generate", "m.safetensors", cwd=tmp_path)
        run("runs", cwd=tmp_path)


def test_commands_with_a_hostile_imported_model_write_no_control_sequences(tmp_path):
    config = {"vocab_size": 1, "block_size": 1, "n_layers": 1, "n_heads": 1, "d_model": 1, "d_ff": 1, "tied": True}
    header = {"format": "headway.model/1", "source": "gpt2", "config": config, "tokens": ["a"], "merges": [["a", "b"]]}
    for _, changed in variants({**header, "end": None}):
        content = save({"W_tok": np.zeros((1, 1), np.float32)}, {"headway": json.dumps(changed)})
        (tmp_path / "m.safetensors").write_bytes(content)
        run("generate", "m.safetensors", "--solution", cwd=tmp_path)
        run("plot", "gpt2-heads", "--checkpoint", "m.safetensors", "--solution", cwd=tmp_path)


def test_import_model_with_hostile_files_writes_no_control_sequences(tmp_path):
    config = {"model_type": "gpt2", "vocab_size": 3, "n_positions": 4, "n_embd": 4, "n_layer": 1, "n_head": 2}
    config["activation_function"] = "gelu_new"
    files = {"config.json": config, "vocab.json": {"a": 0, "b": 1, "ab": 2}}
    files["model.safetensors.index.json"] = {"weight_map": {"wte.weight": "part.safetensors"}}

    def write(changed, merges="a b\n", tensor="wte.weight"):
        for name, value in (files | changed).items():
            (tmp_path / name).write_text(json.dumps(value), "utf-8")
        (tmp_path / "merges.txt").write_text(merges, "utf-8")
        save_file({tensor: np.zeros((3, 4), np.float32)}, tmp_path / "part.safetensors")
        run("import-model", tmp_path, "--solution", "--out", tmp_path / "m.safetensors", "--force")

    for name, value in files.items():
        for _, changed in variants(value):
            write({name: changed})
    for merges in (f"a {HOSTILE}\n", f"{HOSTILE} b {HOSTILE}\n", f"a b\n{HOSTILE}\n"):
        write({}, merges)
    write({}, tensor=HOSTILE)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile") / "workspace"
    succeed("init", folder, "--assignment", "softmax")
    (folder / "softmax.py").write_text(SOFTMAX, "utf-8")
    invoke("check", "softmax.softmax", cwd=folder)
    invoke("hint", "softmax.softmax", cwd=folder)
    return folder


def test_commands_with_a_hostile_state_write_no_control_sequences(workspace):
    state = workspace / ".headway.json"
    content = json.loads(state.read_text("utf-8"))
    for _, changed in variants(content | {"curriculum": "autograder.courses.transformer"}):
        for arguments in (["list"], ["hint"], ["solution", "softmax"], ["diff", "softmax"], ["submit", "--help"],
                          ["update"], ["list", "--all"], ["check", "nothing"]):  # fmt: skip
            state.write_text(json.dumps(changed), "utf-8")
            run(*arguments, cwd=workspace)
    state.write_text(json.dumps(content), "utf-8")


CODE = {
    "docstring": SOFTMAX.replace("import numpy as np", f'"""{HOSTILE!s}"""\nimport numpy as np'.replace("\r", "")),
    "message": "def softmax(x, axis=-1, temperature=1.0):\n    raise ValueError({!r})\n",
    "type": "def softmax(x, axis=-1, temperature=1.0):\n    raise type({!r}, (Exception,), {{}})('x')\n",
    "printed": "def softmax(x, axis=-1, temperature=1.0):\n    print({!r})\n    return {!r}\n",
    "key": "def softmax(x, axis=-1, temperature=1.0):\n    return {{{!r}: {!r}}}\n",
    "warning": "import warnings\ndef softmax(x, axis=-1, temperature=1.0):\n    warnings.warn({!r})\n    return x\n",
    "syntax": "def softmax(x):\n    return '" + HOSTILE.replace("\r", "") + "\n",
    "import": "import numpy as np\nraise ImportError({!r})\n",
}


@pytest.mark.parametrize("name", CODE)
def test_check_with_hostile_code_writes_no_control_sequences(workspace, name):
    text = CODE[name] if name in ("docstring", "syntax") else CODE[name].format(HOSTILE, HOSTILE)
    (workspace / "softmax.py").write_text(text, "utf-8")
    for arguments in (["check", "softmax.softmax", "--all"], ["check", "softmax.softmax", "--json", "-"], ["update"]):
        run(*arguments, cwd=workspace)
    run("diff", "softmax", cwd=workspace)


def test_check_with_a_hostile_notebook_writes_no_control_sequences(workspace):
    path = workspace / "notebooks" / "softmax.ipynb"
    document = json.loads(path.read_text("utf-8"))
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": None, "source": ["x"]}
    for _, changed in variants({"nbformat": 4, "nbformat_minor": 5, "metadata": {"a": {"b": "c"}}, "cells": [cell]}):
        path.write_text(json.dumps(changed), "utf-8")
        run("check", "softmax.ipynb", cwd=workspace)
    path.write_text(json.dumps(document), "utf-8")
    (workspace / "softmax.py").write_text(SOFTMAX, "utf-8")


def test_init_from_a_hostile_archive_writes_no_control_sequences(workspace, tmp_path):
    invoke("submit", "--out", tmp_path / "work.zip", cwd=workspace)
    with zipfile.ZipFile(tmp_path / "work.zip") as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    hostile = [{HOSTILE: b""}, {f"softmax{HOSTILE}.py": b""}, {"softmax.py": HOSTILE.encode()}]
    manifests = [name for name in files if name.endswith(".json")]
    hostile += [{name: json.dumps(v).encode()} for name in manifests for _, v in variants(json.loads(files[name]))]
    for number, changed in enumerate(hostile):
        (tmp_path / "changed.zip").write_bytes(zip_bytes(files | changed))
        run("init", tmp_path / f"new{number}", "--from", tmp_path / "changed.zip")


POLICY = "[class]\ntitle = {0}\n[assignments.softmax]\npoints = 3\n[[exceptions]]\nstudent = {0}\nlate_days = 1\n"


@pytest.fixture
def graded(tmp_path, monkeypatch):
    """The arguments that grade a class in which every name is hostile, and its folder of results."""
    monkeypatch.setattr(grade_module, "WorkerPool", CachingPool)
    for name, code in ((f"ada{HOSTILE}", SOFTMAX), ("bo", CODE["message"].format(HOSTILE)), (HOSTILE, "")):
        write_files(tmp_path / "class" / name, {"softmax.py": code, f"x{HOSTILE}.py": ""})
    rows = io.StringIO()
    csv.writer(rows).writerows([["name", "id", "email", "submission"], [HOSTILE, HOSTILE, "a@b", f"ada{HOSTILE}"]])
    (tmp_path / "roster.csv").write_text(rows.getvalue(), "utf-8")
    arguments = [*grade_arguments(tmp_path / "class", "--out", tmp_path / "out"), "--partial"]
    run(*arguments)
    return arguments, tmp_path / "out"


def test_grading_commands_with_hostile_names_write_no_control_sequences(graded, tmp_path):
    arguments, out = graded
    run(*arguments, "--roster", tmp_path / "roster.csv")
    for text in (json.dumps(HOSTILE), "3\n" + HOSTILE, "[" + HOSTILE):
        (tmp_path / "course.toml").write_text(POLICY.format(text), "utf-8")
        run(*arguments, "--policy", tmp_path / "course.toml")
    run("report", out, "--similar", "--feedback", "--force")
    for name in ("bo", "ada", HOSTILE):
        run("show", out, name)
        run("comment", out, name, HOSTILE, "--by", HOSTILE)
    for form in ("csv", "canvas", "gradescope", "moodle", "junit", "canvas-feedback"):
        run("export", form, out)


def test_grade_with_hostile_names_in_an_archive_writes_no_control_sequences(tmp_path, monkeypatch):
    monkeypatch.setattr(grade_module, "WorkerPool", CachingPool)
    for number, name in enumerate((f"ada_4021_1_{HOSTILE}.py", f"Ada{HOSTILE}_18_assignsubmission_file/softmax.py",
                                   f"ada/../{HOSTILE}", f"{HOSTILE}\\softmax.py")):  # fmt: skip
        (tmp_path / f"{number}.zip").write_bytes(zip_bytes({name: SOFTMAX, "bo/softmax.py": SOFTMAX}))
        run(*grade_arguments(tmp_path / f"{number}.zip", "--out", tmp_path / f"out{number}"))


def test_commands_with_hostile_results_write_no_control_sequences(graded):
    _, out = graded
    documents = sorted(path for path in out.rglob("*.json") if path.stat().st_size < 300_000)
    assert {"class.json", "submissions.json"} <= {path.name for path in documents}
    for path in documents[:6]:
        content = path.read_text("utf-8")
        shapes = {way[-2:]: changed for way, changed in variants(json.loads(content))}
        for changed in shapes.values():
            path.write_text(json.dumps(changed), "utf-8")
            run("report", out, "--force")
            run("show", out, "bo")
        path.write_text(content, "utf-8")


@pytest.mark.parametrize(
    "arguments",
    [("generate", "{}"), ("chat", "{}"), ("check", "{}"), ("hint", "{}"), ("grade", "{}"), ("report", "{}"),
     ("plot", "{}"), ("import-model", "{}"), ("train", "--data", "{}"), ("train", "--set", "{}"),
     ("site", "{}", "--course", "{}"), ("init", "{}"), ("new-assignment", "{}"), ("{}",), ("watch", "{}"),
     ("release", "x", "--format", "{}"), ("show", "{}", "{}"), ("export", "{}"), ("comment", "{}"),
     ("doctor", "--dir", "{}"), ("list", "{}"), ("reset", "{}")],
)  # fmt: skip
def test_commands_with_a_hostile_argument_write_no_control_sequences(tmp_path, arguments):
    for environment in ({}, {"NO_COLOR": "1"}):
        run(*(argument.format(HOSTILE) for argument in arguments), cwd=tmp_path, **environment)


def test_safe_console_on_a_terminal_writes_only_its_own_sequences():
    file = io.StringIO()
    console = SafeConsole(file=file, force_terminal=True, color_system="truecolor", width=60, legacy_windows=False)
    table = Table(HOSTILE, title=HOSTILE)
    table.add_row(HOSTILE)
    panel = Panel(Text(HOSTILE), title=Text(HOSTILE))
    console.print(HOSTILE, Text(HOSTILE, "bold"), panel, table, Syntax(HOSTILE, "python"), sep="\n")
    with Live(Text(HOSTILE), console=console, refresh_per_second=1) as live:
        live.update(Text(HOSTILE))
    text = file.getvalue()
    assert "\x1b[1m" in text and "[blink red]" in text
    require_harmless(text.encode(), own=True)


def test_safe_streams_clean_whatever_is_printed(capsys):
    with safe_output.safe_streams():
        print(HOSTILE)
        sys.stderr.write(HOSTILE)
        sys.stdout.buffer.write(HOSTILE.encode())
        safe_output.erase_line()
    output, errors = capsys.readouterr()
    assert output.count("x[blink red]") == 2 and errors.endswith("x[blink red]\r\x1b[K")
    require_harmless(output.encode())


@pytest.mark.parametrize("encoding", ["ascii", "utf-8", "latin-1"])
def test_commands_in_any_encoding_write_no_control_sequences(tmp_path, encoding):
    done = headway("generate", HOSTILE, cwd=tmp_path, PYTHONUTF8="0", PYTHONIOENCODING=encoding, LC_ALL="C")
    assert done.returncode == 2 and "blink" in done.stderr
    require_harmless(done.stderr.encode())


def test_no_other_console_is_made():
    files = Path(autograder.__file__).parent.rglob("*.py")
    assert [path.name for path in files if re.search(r"\bConsole\(", path.read_text("utf-8"))] == []
