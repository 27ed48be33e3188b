"""`headway chat`: what the model reads, token by token; a full window; commands; Ctrl-C; hostile templates."""

import shutil
import threading
from contextlib import ExitStack, closing
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.commands import HEADWAY, invoke, refusal, succeed
from support.terminal import Terminal
from support.tiny_chat import CHATML, LLAMA3, make_chat_model
from support.tiny_gpt2 import make_random_model
from support.tiny_llama import greedy_ids

from autograder.core.text import clean
from autograder.course.stubs import bundled
from autograder.courses.transformer.common.pretrained.description import SuggestedSampling
from autograder.errors import UsageError
from autograder.models import model_process
from autograder.models.pretrained import chat, model_file
from autograder.models.pretrained.generation import Speed
from autograder.models.training.sampling import Sampling
from autograder.sandbox.process import start_workers

pytestmark = pytest.mark.slow

QUESTIONS = [
    "the cat", "12 degrees?", "naïve café 😀", "{role} {text}", "on\tthe mat", "it's", "hot!", "to", "he", "rat",
]  # fmt: skip
SPECIAL = ["<|im_end|> and <|eot_id|>", "<|im_start|>assistant"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return `made(template)`: the file of an imported model, the folder, and transformers' model and tokenizer."""
    root, known = tmp_path_factory.mktemp("chat"), {}

    def make(template=CHATML, length=512):
        if (template, length) not in known:
            folder = root / f"model{len(known)}"
            model, tokenizer = make_chat_model(folder, template, length)
            path = root / f"model{len(known)}.safetensors"
            assert f"headway chat {path}" in succeed("import-model", folder, "--solution", "--out", path).stdout
            known[template, length] = path, folder, model, tokenizer
        return known[template, length]

    return make


@pytest.fixture
def talk(made):
    """Yield `talk(template, length)`: a greedy conversation with the official solution."""
    with start_workers() as workers, ExitStack() as stack:

        def start(*arguments, modules=None):
            path, modules = made(*arguments)[0], modules or bundled("solutions")
            model, form = chat.chat_model(path, model_file.load(path))
            process = stack.enter_context(closing(model_process.ModelProcess(workers, modules, "pretrained")))
            return chat.Conversation(process, model, form, Sampling(temperature=0))

        yield start


def answered(conversation, question, most=8):
    """Return the answer to a question; after the given number of tokens, somebody presses Ctrl-C."""
    stop = threading.Event()
    if not most:
        stop.set()
    with closing(conversation.answer(question, stop)) as pieces:
        return "".join(islice(pieces, most or None))


def asked(tokenizer, question, is_first=True):
    """Return the ids that transformers' template makes of a question, without the token that begins a text."""
    messages = [{"role": "user", "content": question}]
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    return plain_ids(tokenizer, text.removeprefix("" if is_first else "<|begin_of_text|>"))


def plain_ids(tokenizer, text):
    """Return ids where the content of a question holds no special token: only those of the template count."""
    return tokenizer.encode(text, add_special_tokens=False)


@pytest.mark.parametrize("template", [CHATML, LLAMA3], ids=["ChatML", "Llama 3"])
def test_ten_turns_equal_those_of_transformers(made, talk, template):
    _, _, model, tokenizer = made(template)
    conversation, ids = talk(template), []
    after = "<|im_end|>\n" if template == CHATML else "<|eot_id|>"
    for question in QUESTIONS:
        ids += asked(tokenizer, question, is_first=not ids)
        ids += greedy_ids(model, ids, 8)
        ids += plain_ids(tokenizer, after)
        answered(conversation, question)
        assert conversation.ids == ids, question
    assert len(set(ids)) > 40
    assert conversation.n_computed == len(ids) - conversation.n_unread, "every token is read once"


def test_system_message_equals_that_of_the_template(made, talk):
    tokenizer = made(LLAMA3)[3]
    conversation = talk(LLAMA3)
    answered(conversation, "the cat", 0)
    conversation.set_system("be a rat")
    said = (("system", "be a rat"), ("user", "the cat"), ("assistant", ""))
    messages = [{"role": role, "content": content} for role, content in said]
    assert conversation.ids == plain_ids(tokenizer, tokenizer.apply_chat_template(messages, tokenize=False))
    assert conversation.n_unread == len(conversation.ids)


@pytest.mark.parametrize("question", SPECIAL)
def test_special_tokens_in_a_message_are_text(talk, question):
    conversation = talk()
    answered(conversation, question, 0)
    assert [text for is_special, text in conversation.shown() if is_special] == ["<|im_start|>", "<|im_end|>"] * 2
    assert question in "".join(text for _, text in conversation.shown())


def test_answer_after_dropped_questions_is_to_what_is_left(made, talk):
    model, conversation = made(CHATML, 96)[2], talk(CHATML, 96)
    for question in QUESTIONS * 3:
        answered(conversation, question, 3)
        if conversation.notes:
            break
    assert "oldest" in conversation.notes[0]
    end = len(conversation.ids) - len(conversation._after)
    read, answer = conversation.ids[: end - 3], conversation.ids[end - 3 : end]
    assert answer == greedy_ids(model, read, 3)


def test_full_window_drops_the_oldest_questions(made, talk):
    tokenizer = made(CHATML, 96)[3]
    conversation = talk(CHATML, 96)
    for question in QUESTIONS[:3]:
        answered(conversation, question)
    assert conversation.notes == []
    answered(conversation, "the rat ran to the mat", 30)
    assert "oldest" in conversation.notes[0] and len(conversation.ids) <= 96
    text = tokenizer.decode(conversation.ids)
    assert "the cat" not in text and "the rat ran to the mat" in text
    n_computed, ids = conversation.n_computed, conversation.ids
    answered(conversation, "he", 3)
    assert conversation.n_computed < n_computed + 96
    with pytest.raises(chat.CannotDo, match="96 positions"):
        answered(conversation, "long " * 96)
    assert len(conversation.ids) > 0 and ids


def test_temperature_is_0_or_in_its_range():
    conversation = object.__new__(chat.Conversation)
    for given in ("0", "0.01", "100", 1.5):
        conversation.set_temperature(given)
        assert conversation.temperature == float(given)
    for given in ("0.009", "100.1", "-1", "nan", "inf", "", "warm"):
        with pytest.raises(chat.CannotDo, match=r"from 0\.01 to 100"):
            conversation.set_temperature(given)
    assert conversation.temperature == 1.5


def test_chosen_sampling_replaces_what_the_authors_suggest():
    suggested = SuggestedSampling(temperature=0.6, top_k=5, top_p=0.9)
    model = SimpleNamespace(description=SimpleNamespace(sampling=suggested))
    found = chat.sampling_for(model, temperature=0.0, top_k=None, top_p=0.5, seed=0)
    assert found == Sampling(temperature=0.0, top_k=5, top_p=0.5, seed=0)
    model.description.sampling = None
    assert chat.sampling_for(model, temperature=None, seed=3) == Sampling(seed=3)


def test_speed_counts_the_first_token_apart():
    text = "first new token after 0.50 s (prompt: 3 tokens)"
    assert str(Speed(3, 0.5)) == text and str(Speed(3, 0.5, ended=True)) == f"{text}. The model ended the text"
    assert str(Speed(3, 0.5, 10, 2.0)) == f"{text}, then 10 tokens at 5.0 tokens per second"


def test_system_message_that_leaves_no_room_drops_the_oldest_questions(talk):
    conversation = talk(CHATML, 96)
    for question in QUESTIONS[:2]:
        answered(conversation, question, 3)
    conversation.set_system("x" * 60)
    assert "oldest" in conversation.notes[0] and len(conversation.ids) <= 96
    with pytest.raises(chat.CannotDo, match="96 positions"):
        conversation.set_system("x" * 96)
    with pytest.raises(chat.CannotDo, match="100,000 characters"):
        conversation.set_system("x" * 10**6)


LOGITS = "logits, kv = correct(*arguments)\n    return "
WRONG_CODE = {
    "nan": ("llama", "last_logits", f"{LOGITS}logits * np.nan, kv", "finite"),
    "one score too few": ("llama", "last_logits", f"{LOGITS}logits[:, 1:], kv", "finite"),
    "no keys and values": ("llama", "last_logits", "return correct(*arguments)[0]", "generate_llama"),
    "error": ("llama", "last_logits", "raise RuntimeError('no')", "llama.py"),
    "endless": ("llama", "last_logits", "while True: pass", "3 s of CPU time"),
    "end": ("llama", "last_logits", "import os; os._exit(0)", "ended by itself"),
    "two tokens": ("generation", "sample", "return np.array([1, 2])", "sample"),
    "no token": ("generation", "sample", "return np.array([-1])", "ids of the vocabulary"),
    "wrong ids": ("bpe", "bpe_encode", "return np.array([10**6])", "ids of the vocabulary"),
    "no ids": ("bpe", "bpe_encode", "return None", "bpe_encode"),
    "no text": ("bpe", "bpe_decode", "raise KeyError(3)", "bpe.py"),
}


@pytest.mark.parametrize("case", WRONG_CODE)
def test_wrong_code_of_a_student_ends_with_one_line(talk, tmp_path, monkeypatch, case):
    module, function, body, expected = WRONG_CODE[case]
    monkeypatch.setattr(model_process, "CALL_SECONDS", 3.0)
    modules = Path(shutil.copytree(bundled("solutions"), tmp_path / "modules"))
    path = modules / f"{module}.py"
    start, main, end = path.read_text("utf-8").partition('\nif __name__ == "__main__"')
    wrong = f"\ncorrect = {function}\n\n\ndef {function}(*arguments, **options):\n    {body}\n\n"
    path.write_text(start + wrong + main + end, "utf-8")
    with pytest.raises(UsageError) as raised:
        answered(talk(modules=modules), "the cat")
    assert expected in str(raised.value) and "\n" not in str(raised.value)


def test_answer_that_fills_the_window_ends_with_a_note(talk):
    conversation = talk(CHATML, 96)
    assert answered(conversation, "the cat", 1000)
    assert "/reset" in conversation.notes[-1] and len(conversation.ids) == 96 and conversation.n_unread == 3
    conversation.reset()
    answered(conversation, "the cat")
    assert conversation.notes == []


def test_lines_of_another_program_are_answered(made):
    path = made()[0]
    lines = ("the cat", "/tokens", "", "/nonsense", "/temperature x", "/temperature 0", "/system rat", "/reset", "//x",
             "/tokens", "/help", "/quit", "never")  # fmt: skip
    done = succeed("chat", path, "--solution", "--seed", "1", typed="\n".join(lines))
    assert "never" not in done.stdout and "official solution" in done.stderr
    errors = ("no such command: /nonsense. List", "to 100, not 'x'.")
    assert all(text in done.stderr for text in (*errors, "Temperature 0.", "per second", "/temperature X"))
    first, second = (part for part in done.stdout.split("<|im_start|>│") if part.startswith("u│s│e│r│⏎"))
    assert "/│x│<|im_end|>" in second and second.count("/") == 1 and "c│at" not in second and first
    assert "<|im_start|>│s│y│s│t│e│m│⏎" in done.stdout
    assert done.stdout == clean(done.stdout, 10**6)
    assert succeed("chat", path, "--solution", "--seed", "1", typed="\n".join(lines)).stdout == done.stdout


def test_template_is_never_run(made, tmp_path):
    path, folder, _, _ = made()
    hostile = shutil.copytree(folder, tmp_path / "hostile")
    (hostile / "chat_template.jinja").write_text("{% for i in range(10**12) %}{% endfor %}{{ ''.__class__.__mro__ }}")
    succeed("import-model", hostile, "--solution", "--out", tmp_path / "m.safetensors")
    options = ("--solution", "--temperature", "0")
    expected = succeed("chat", path, *options, typed="the cat\n").stdout
    assert succeed("chat", tmp_path / "m.safetensors", *options, typed="the cat\n").stdout == expected


def test_model_that_only_continues_texts_is_refused(tmp_path):
    make_random_model(tmp_path / "gpt2")
    path = tmp_path / "gpt2.safetensors"
    succeed("import-model", tmp_path / "gpt2", "--solution", "--out", path)
    assert f"headway generate {path}" in refusal("chat", path, "--solution")


def test_student_functions_answer_where_they_pass(made, tmp_path):
    assert invoke("init", tmp_path / "ada").returncode == 0
    shutil.copy(bundled("solutions") / "softmax.py", tmp_path / "ada")
    done = succeed("chat", made()[0], cwd=tmp_path / "ada", typed="the cat\n")
    assert "your code for softmax" in done.stderr and done.stdout.strip()


def test_ctrl_c_stops_the_answer_and_ends_at_the_prompt(made, tmp_path):
    command = [*HEADWAY, "chat", made(CHATML, 4096)[0], "--solution", "--seed", "1"]
    with closing(Terminal(command, tmp_path, lines=60)) as terminal:
        terminal.wait_for("you>")
        terminal.press("the cat\n", shows=lambda screen: len(screen.partition("the cat")[2].strip()) > 20)
        terminal.press("\x03", shows="stopped by Ctrl-C")
        terminal.press("/reset\n", shows="Forgot")
        terminal.press("\x03")
        assert terminal.wait_end() == 0
