"""The commands about models that exist: runs lists them, card describes one, import-model reads one, chat talks to one.

A conversation is held in a terminal, or with lines from another program.
"""

import contextlib
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autograder.cli import options
from autograder.cli.train import TOP_P_HELP, solution_option
from autograder.errors import UsageError

if TYPE_CHECKING:
    from autograder.models.pretrained.chat import Conversation

TEMPERATURE_HELP = "0 always takes the most likely token (default: what the model's authors suggest, or 1)."
SYSTEM_HELP = "What the model should know, or how it should answer."
HELP = """\
/system TEXT      Say how the model should answer. Without TEXT: nothing.
/temperature X    Change the temperature. 0 always takes the most likely token.
/reset            Forget all questions and answers.
/tokens           Show what the model reads, token by token.
/quit             End the conversation, as Ctrl-D does. Ctrl-C stops an answer.
A message that begins with / is written with two: //"""


@click.command()
@options.workspace_folder
@click.option("--plain", is_flag=True, help="Print one line for each run, for screen readers and logs.")
@options.json_file
def runs(folder: Path, plain: bool, json_file: str | None) -> None:
    """List training runs: settings, losses, steps, time.

    The losses are those of the latest steps. Settings that differ from the preset's are shown.
    """
    from autograder.models.training import checkpoint_list
    from autograder.report import trained_models

    if not folder.is_dir():
        raise UsageError(f"no such folder: {folder}. Check the path")
    found = [run for run in checkpoint_list.model_summaries(folder) if run.step is not None]
    if json_file:
        options.write_json(json_file, [asdict(run) for run in found])
    console = options.make_console(stderr=json_file == "-")
    if not found:
        console.print("No training runs here yet. Start one: headway train")
        return
    trained_models.render_runs(found, console, plain=plain)
    if len(found) > 1:
        first, second = (run.name for run in found[:2])
        console.print(f"\nCompare losses: headway plot loss {second} {first}", markup=False, soft_wrap=True)


@click.command(context_settings=options.WITH_DEFAULTS)
@click.argument("path", metavar="MODEL", type=options.PATH)
@options.submission_folder
@solution_option
@click.option("--title", metavar="TEXT", help="The title of the card (default: the kind of model and its size).")
@click.option("--temperature", type=click.FloatRange(0), default=0.8, help="Temperature of the sample.")
@click.option("--seed", type=click.IntRange(0), default=0, help="Seed of the sample.")
@click.option("--out", type=options.PATH, help="The card, as .html or .md (default: MODEL-card.html).")
@options.force
def card(
    path: Path,
    folder: Path,
    solution: bool,
    title: str | None,
    temperature: float,
    seed: int,
    out: Path | None,
    force: bool,
) -> None:
    """Make a card of a model that you trained, to share.

    It shows the size, the settings, the losses, what the model writes, and which of its functions you wrote. It
    contains no names of people, files or folders. Read the sample before you share it.
    """
    from dataclasses import replace

    from autograder.core.files import report_write_error, write_atomically
    from autograder.core.output_files import require_no_work
    from autograder.models.training import checkpoint
    from autograder.models.training.model_card import make_card
    from autograder.models.training.sampling import Sampling
    from autograder.models.training.select_modules import use_modules
    from autograder.report import trained_models

    target = out or path.with_name(f"{path.stem}-card.html")
    writers = {".html": trained_models.to_html, ".md": trained_models.to_markdown}
    if target.suffix not in writers:
        raise UsageError(f"a card is written as .html or .md, not as {target.name}. Name such a file: --out card.html")
    require_no_work(target, "--out FILE")
    if target.exists() and not force:
        raise UsageError(f"{target} exists, so it was kept. Name another one: --out FILE. To replace it: --force")
    run = checkpoint.load(path)
    with use_modules(folder, solution, run.settings.kind) as modules:
        made = make_card(modules.folder, run, Sampling(temperature, seed=seed))
    if title:
        made = replace(made, title=title)
    with report_write_error(target, "Name another file: --out FILE"):
        write_atomically(target, writers[target.suffix](made).encode())
    click.echo(f"Wrote {target}. Read the sample in it before you share it.")


@click.command("import-model", context_settings=options.WITH_DEFAULTS)
@click.argument("source", metavar="FOLDER", type=options.PATH)
@options.submission_folder
@solution_option
@click.option("--out", type=options.PATH, help="The file (default: gpt2.safetensors or llama.safetensors).")
@options.force
def import_model(source: Path, folder: Path, solution: bool, out: Path | None, force: bool) -> None:
    """Import a GPT-2 or a Llama from a folder of Hugging Face files, so that your code can run it.

    The folder must contain config.json, model.safetensors (or its index and parts), and for GPT-2 vocab.json and
    merges.txt, for a Llama tokenizer.json. Nothing is downloaded. Uses your gpt2_config and gpt2_params, or your
    llama_config and llama_params, if your assignments pass, and the official solution otherwise.
    """
    from autograder.courses.transformer.common.pretrained import hugging_face
    from autograder.models.pretrained import importing
    from autograder.models.pretrained.chat import form_of
    from autograder.models.training.select_modules import use_modules

    model = hugging_face.read_folder(source)
    out = out or Path(f"{model.kind}.safetensors")
    importing.require_new_file(out, model, force)
    console = options.make_console()
    with use_modules(folder, solution, f"imported {model.kind}") as modules:
        console.print(modules.describe(), markup=False)
        with console.status("importing the model"):
            description = importing.import_model(modules.folder, model, out)
    config = description.config
    click.echo(
        f"{importing.count_parameters(description):,} parameters, {config['n_layers']} blocks, "
        f"{config['n_heads']} heads, width {config['d_model']}, {config['vocab_size']:,} tokens, "
        f"{config['block_size']:,} positions"
    )
    text = f'Generate text: headway generate {out} --prompt "Once upon a time"'
    click.echo(f"Wrote {out}. {f'Talk with it: headway chat {out}' if form_of(description) else text}")


@click.command(context_settings=options.WITH_DEFAULTS)
@click.argument("path", metavar="MODEL", type=options.PATH)
@options.submission_folder
@solution_option
@click.option("--system", metavar="TEXT", default="", help=SYSTEM_HELP)
@click.option("--temperature", type=click.FloatRange(0), help=TEMPERATURE_HELP)
@click.option("--top-k", type=click.IntRange(1), metavar="K", help="Choose among the K most likely only.")
@click.option("--top-p", type=click.FloatRange(0, 1, min_open=True), metavar="P", help=TOP_P_HELP)
@click.option("--seed", type=click.IntRange(0), help="Seed of the sampling (default: another one each time).")
def chat(path: Path, folder: Path, solution: bool, system: str, seed: int | None, **choices: Any) -> None:
    """Talk with a model from headway import-model that was trained to answer.

    Uses your code for each assignment that passes, and the official solution for the rest. Ctrl-C stops an answer, and
    Ctrl-D ends the conversation; /help lists the commands, such as /system and /tokens.
    """
    import random

    from autograder.models.model_process import ModelProcess
    from autograder.models.pretrained import model_file
    from autograder.models.pretrained.chat import CannotDo, Conversation, chat_model, sampling_for
    from autograder.models.training import select_modules
    from autograder.sandbox.process import start_workers

    model, form = chat_model(path, model_file.load(path))
    sampling = sampling_for(model, seed=random.randrange(10**6) if seed is None else seed, **choices)
    with select_modules.use_modules(folder, solution, select_modules.kind_of(model)) as modules, start_workers() as w:
        click.echo(modules.describe(), err=True)
        with closing(ModelProcess(w, modules.folder, "pretrained")) as process:
            conversation = Conversation(process, model, form, sampling)
            conversation.set_system(system)
            about = f"{form.name} format, up to {conversation.n_positions:,} tokens"
            about += f", temperature {sampling.temperature:g}, seed {sampling.seed}"
            click.echo(f"{about}. List the commands: /help", err=True)
            for line in _lines():
                if line == "/quit":
                    break
                try:
                    _obey(line, conversation)
                except CannotDo as error:
                    click.echo(f"{error}.", err=True)


def _lines() -> Iterator[str]:
    """Yield what the user types until the end of the input, or Ctrl-C at the prompt."""
    if not sys.stdin.isatty():
        yield from (line.decode("utf-8", "replace").strip() for line in sys.stdin.buffer)
        return
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  # With it, a line can be edited, and earlier ones come back.
    while True:
        try:
            yield click.prompt("\nyou", prompt_suffix="> ", default="", show_default=False).strip()
        except click.Abort:
            click.echo()
            return


def _obey(line: str, conversation: "Conversation") -> None:
    """Do what a line asks for; raise CannotDo if that is not possible."""
    from autograder.models.pretrained.chat import CannotDo

    command, _, text = line.partition(" ")
    if not line:
        return
    if not line.startswith("/") or line.startswith("//"):
        _answer(line[line.startswith("/") :], conversation)
    elif command == "/system":
        conversation.set_system(text.strip())
        done = "The model reads the conversation anew, with this" if text else "No system message"
        click.echo(f"{'; '.join([done, *conversation.notes])}.", err=True)
    elif command == "/temperature":
        conversation.set_temperature(text)
        click.echo(f"Temperature {conversation.temperature:g}.", err=True)
    elif command == "/reset":
        conversation.reset()
        click.echo("Forgot all questions and answers.", err=True)
    elif command == "/tokens":
        _show_tokens(conversation)
    elif command == "/help":
        click.echo(HELP, err=True)
    else:
        raise CannotDo(f"no such command: {command}. List all commands: /help")


def _answer(question: str, conversation: "Conversation") -> None:
    """Print the answer to a question as it comes, then how long it took."""
    from autograder.core.interruption import stop_on_ctrl_c
    from autograder.core.text import counted

    n_before, started, times, n_read = conversation.n_computed, time.perf_counter(), [], 0
    with stop_on_ctrl_c() as stop:
        try:
            for piece in conversation.answer(question, stop):
                times.append(time.perf_counter())
                n_read = n_read or conversation.n_computed - n_before  # without those of the answer
                click.echo(piece, nl=False)
        finally:
            click.echo()
    line = f"read {counted(n_read or conversation.n_computed - n_before, 'token')}"
    if times:
        line += f", first token after {times[0] - started:.2f} s"
    if len(times) > 1:
        line += f", then {(len(times) - 1) / (times[-1] - times[0]):.1f} per second"
    reasons = [*conversation.notes, *(["stopped by Ctrl-C"] if stop.is_set() else [])]
    click.echo(f"({'; '.join([line, *reasons])})", err=True)


def _show_tokens(conversation: "Conversation") -> None:
    """Print what the model reads, its tokens apart, and the special ones in color."""
    from rich.text import Text

    shown = Text()
    for is_special, text in conversation.shown():
        shown.append(text.replace("\n", "⏎"), style="bold cyan" if is_special else "")
        shown.append("\n" if text.endswith("\n") else "│", style="dim")
    options.make_console().print(shown, soft_wrap=False)
    n_unread, n = conversation.n_unread, len(conversation.ids)
    click.echo(f"{n:,} of {conversation.n_positions:,} tokens; {n_unread:,} are read with the next message.", err=True)
