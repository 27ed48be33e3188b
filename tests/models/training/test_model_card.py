"""The card of a trained model: what it shows, in which formats, and what it must not contain."""

import io
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from rich.console import Console
from support.commands import invoke, refusal, succeed
from support.html_rules import Elements

from autograder.course.stubs import bundled
from autograder.documents.records import LossPoint
from autograder.models.training import checkpoint, in_terminal, runs
from autograder.models.training.model_card import _code, _setting
from autograder.models.training.select_modules import MODULES
from autograder.report.trained_models import ModelCard, _steps, to_html, to_markdown, training_time

pytestmark = pytest.mark.slow

CARD = ModelCard(
    title="A <GPT> & more",
    summary="Trained on <b>*stars*.",
    facts=[("text", "a|<b>"), ("form", "d_model 16")],
    losses=[("training text", 2.5)],
    curve=[LossPoint(step, 3 - step / 100, 3.1 - step / 100 if step % 25 == 0 else None) for step in range(1, 101)],
    steps=100,
    sample="```\n<script>alert(1)</script>",
    sample_note="Temperature 0.8, seed 0.",
    code=["Written by me: [softmax]."],
    made_with="Made with Headway.",
)


def test_html_card_escapes_texts_and_loads_nothing():
    page = to_html(CARD)
    parsed = Elements(page)
    assert not {"script", "img", "link", "iframe"} & parsed.tags and not {"src", "href"} & parsed.attributes
    assert not [name for name in parsed.attributes if name.startswith("on")]
    for text in (
        "A <GPT> & more",
        "<script>alert(1)</script>",
        "Trained on <b>*stars*.",
        "a|<b>",
        "2.500",
        "Written by me: [softmax].",
    ):
        assert text in parsed.text
    heights = [float(point.split(",")[1]) for point in re.search('points="(.*?)"', page)[1].split()]
    assert heights == sorted(heights), "a loss that falls, seen from above"
    assert page.count("<circle") == 4 and "polyline" in page and "http" not in page


def test_markdown_card_escapes_texts_and_fences_the_sample():
    text = to_markdown(CARD)
    assert text.startswith("# A \\<GPT\\> & more\n\nTrained on \\<b\\>\\*stars\\*.")
    assert "| text | a\\|\\<b\\> |" in text and "\\[softmax\\]" in text and "````text\n```\n<script>" in text
    curve = re.search(r"```text\n( +[\d.]+\|.*?)```", text, re.S)[1]
    assert curve.isascii() and curve.count("o") >= 4
    short = replace(CARD, curve=CARD.curve[:1])
    assert "polyline" not in to_html(short) and "|*" not in to_markdown(short)


def test_time_and_steps_of_a_run_are_shown_as_they_fit():
    assert [*map(training_time, (None, 9.94, 10.4, 59.6, 3600))] == ["", "9.9 s", "10 s", "1 min 0 s", "1 h 0 min"]
    assert [_steps(SimpleNamespace(step=9, steps=n)) for n in (None, 9, 3000)] == ["9", "9", "9 of 3,000"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with two runs: on names, with two assignments of the student's, and on a file of theirs."""
    folder = tmp_path_factory.mktemp("private-folder")
    (folder / "diary.txt").write_text("dear diary, today i wrote softmax\n" * 40)
    chosen = {"names": (None, ("tokenizer", "softmax")), "own": (str(folder / "diary.txt"), ())}
    for name, (data, student) in chosen.items():
        settings = runs.new_settings("names", data=data, steps=40)
        out = folder / f"{name}.safetensors"
        in_terminal.train(bundled("solutions"), settings, out, Console(file=io.StringIO()), None, 40, student=student)
    return folder


@pytest.mark.parametrize("suffix", ["html", "md"])
def test_card_of_a_run_shows_it(trained, tmp_path, suffix):
    out = tmp_path / f"card.{suffix}"
    succeed("card", "names.safetensors", "--solution", "--seed", "5", "--out", out, cwd=trained)
    text = out.read_text("utf-8")
    size = sum(array.size for array in checkpoint.load(trained / "names.safetensors").params.values())
    for part in (f"A GPT with {size:,} parameters", "32,033 given names", "40 steps", "counting pairs", "seed 5"):
        assert part in text
    assert "by the author of this card, and checked against PyTorch: text as numbers, softmax and cross-entropy" in text
    assert "official solution: tokens and positions as vectors" in text


def test_card_contains_nothing_private(trained, tmp_path):
    for suffix in ("html", "md"):
        invoke("card", "own.safetensors", "--solution", "--out", tmp_path / f"c.{suffix}", cwd=trained)
        text = (tmp_path / f"c.{suffix}").read_text("utf-8")
        assert "a text of the author" in text
        assert "diary.txt" not in text and "private-folder" not in text and str(tmp_path) not in text
        assert "by the author of this card" not in text


def test_card_without_its_text_file_still_works(trained, tmp_path):
    (tmp_path / "m.safetensors").write_bytes((trained / "own.safetensors").read_bytes())
    moved = trained / "diary.txt"
    content = moved.read_bytes()
    moved.unlink()
    try:
        done = invoke("card", "m.safetensors", "--solution", cwd=tmp_path)
    finally:
        moved.write_bytes(content)
    assert done.returncode == 0, done.stderr
    assert "counting pairs" not in (tmp_path / "m-card.html").read_text("utf-8")


def test_card_refuses_what_it_should(trained, tmp_path):
    card = tmp_path / "card.md"
    card.write_text("mine")
    for arguments, message in (
        (("names.safetensors", "--out", card), "--force"),
        (("names.safetensors", "--out", tmp_path / "card.pdf"), "--out card.html"),
        (("none.safetensors",), "Train a model first"),
    ):
        assert message in refusal("card", *arguments, "--solution", cwd=trained)
    assert card.read_text() == "mine"
    titled = invoke("card", "names.safetensors", "--solution", "--out", card, "--force", "--title", "Mine", cwd=trained)
    assert titled.returncode == 0 and card.read_text("utf-8").startswith("# Mine\n")


def test_checkpoint_records_the_student_and_the_time(trained, tmp_path):
    run = checkpoint.load(trained / "names.safetensors")
    assert run.student == ["tokenizer", "softmax"] and run.seconds > 0
    first, out, console = run.seconds, tmp_path / "names.safetensors", Console(file=io.StringIO())
    in_terminal.train(bundled("solutions"), run.settings, out, console, run, 60, student=("softmax", "gpt"))
    resumed = checkpoint.load(out)
    assert resumed.student == ["softmax"], "only what was the student's in all steps"
    assert resumed.seconds > first


@pytest.mark.parametrize(("student", "own", "official"), [
    (MODULES["bigram"], "all of the code that it uses", ""), ((), "", "the bigram model"),
    (("softmax", "gpt"), "softmax", "the bigram model"),
])  # fmt: skip
def test_card_says_whose_code_it_was(student, own, official):
    lines = "\n".join(_code(SimpleNamespace(student=student, settings=SimpleNamespace(kind="bigram")))).lower()
    assert ("by the author" in lines, "official solution" in lines) == (bool(own), bool(official))
    written, _, given = lines.partition("from headway's official solution: ")
    assert own in written and official in given and ("softmax" in given) == (not own)
    assert "gpt" not in lines, "it is not needed"
    assert "does not record" in str([*_code(SimpleNamespace(student=None))])


def test_card_words_of_settings():
    assert [_setting(*one) for one in (("n_layers", 4), ("tied", True), ("norm", "pre"))] == [
        "4 blocks", "tied true", "norm pre",
    ]  # fmt: skip
