"""The commands that train, run and show the whole model: train, generate, plot, and data for its datasets."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from autograder.cli import options
from autograder.errors import UsageError
from autograder.models.training.sampling import Sampling

PRESET_HELP = (
    "Model: names, shakespeare, synthetic, bigram, dropout, bias-free-attention, lecture, annotated, post-norm, "
    "llama or small."
)
DATA_HELP = "A dataset (see headway data list) or your own text file (default: the preset's dataset)."
SET_HELP = "Change a setting of the model, such as d_model=64; repeatable."
CHARACTERS, TOKENS = 400, 100  # of a generated text, by default
QUESTION = "\nEnter: go on · t 0.8: go on at this temperature · n TEXT: a new text · q: quit"
LENGTH_HELP = f"Characters to generate (default: {CHARACTERS}); of an imported model: tokens (default: {TOKENS})."
LINES_HELP = "Generate N non-empty lines, such as names."
TOP_P_HELP = "Choose only among the most likely ones whose probabilities add up to P."
solution_option = click.option("--solution", is_flag=True, help="Use the official solution instead of your code.")


@click.command(context_settings=options.WITH_DEFAULTS)
@options.submission_folder
@solution_option
@click.option("--preset", default="names", help=PRESET_HELP)
@click.option("--data", metavar="NAME|FILE", help=DATA_HELP)
@click.option("--shuffle-lines", is_flag=True, help="--data FILE: each line is a separate example, such as a name.")
@click.option("--steps", type=click.IntRange(1, 10_000_000), help="Number of steps (default: the preset's).")
@click.option("--set", "changes", metavar="NAME=VALUE", multiple=True, help=SET_HELP)
@click.option("--lr", type=click.FloatRange(0, 1000, min_open=True), help="Learning rate (default: the preset's).")
@click.option("--batch-size", type=click.IntRange(1, 4096), help="Windows per step (default: the preset's).")
@click.option("--schedule", type=click.Choice(["constant", "cosine"]), help="Learning rate (default: the preset's).")
@click.option("--seed", type=click.IntRange(0), default=0, help="Seed of the initial parameters and batches.")
@click.option("--out", type=options.PATH, default="model.safetensors", help="The checkpoint to write.")
@click.option("--resume", is_flag=True, help="Continue the run saved in --out, with its settings.")
@options.force
@click.option("--plain", is_flag=True, help="Print plain lines instead of a loss curve, for screen readers and logs.")
@click.pass_context
def train(
    context: click.Context,
    /,
    folder: Path,
    solution: bool,
    preset: str,
    out: Path,
    resume: bool,
    force: bool,
    plain: bool,
    **choices: Any,
) -> None:
    """Train your GPT, or your bigram model, and watch it learn. Ctrl-C saves the run.

    Uses your code for each assignment that passes, and the official solution for the rest.
    """
    from autograder.models.training import checkpoint, datasets, in_terminal, runs, select_modules

    resumed = None
    if resume:
        _require_no_settings(context)
        resumed = checkpoint.load(out)
        if choices["data"] is not None:  # Its text is there now: the file was moved.
            resumed.settings.data = choices["data"]
        settings = resumed.settings
    else:
        settings = runs.new_settings(preset, **choices)
    console = options.make_console()
    with select_modules.use_modules(folder, solution, settings.kind) as modules:
        if not solution:
            console.print(modules.describe(), markup=False)
        for note in datasets.advice_about_lines(settings) if resumed is None else ():
            console.print(note, markup=False)
        if resumed is None:  # last, so that other errors are reported first
            runs.require_new_checkpoint(out, force)
        in_terminal.require_new_plot(out, force)
        run = in_terminal.train(
            modules.folder, settings, out, console, resumed, choices["steps"] or settings.steps, plain=plain,
            student=modules.student,
        )  # fmt: skip
        for line in select_modules.award_loss_badge(folder, modules, run):
            console.print(line, style="bold", markup=False)


def _require_no_settings(context: click.Context) -> None:
    """Raise UsageError if a setting was given that a resumed run would not use."""
    names = {"changes": "--set"}
    for name in ("preset", "changes", "lr", "batch_size", "schedule", "seed", "shuffle_lines"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = names.get(name, f"--{name.replace('_', '-')}")
            raise UsageError(
                f"a resumed run keeps its settings, so {option} cannot change them. Leave it out, or start a new run: "
                "headway train --out ANOTHER.safetensors"
            )


@click.command(context_settings=options.WITH_DEFAULTS)
@click.argument("path", metavar="[MODEL]", type=options.PATH, default="model.safetensors")
@options.submission_folder
@solution_option
@click.option("--prompt", metavar="TEXT", help="The beginning of the text (default: the start of a text).")
@click.option("--length", type=click.IntRange(1), help=LENGTH_HELP)
@click.option("--lines", type=click.IntRange(1, 10_000), metavar="N", help=LINES_HELP)
@click.option("--temperature", type=click.FloatRange(0), default=1.0, help="0 always takes the most likely one.")
@click.option("--top-k", type=click.IntRange(1), metavar="K", help="Choose among the K most likely only.")
@click.option("--top-p", type=click.FloatRange(0, 1, min_open=True), metavar="P", help=TOP_P_HELP)
@click.option("--seed", type=click.IntRange(0), help="Seed of the sampling (default: another one each time).")
def generate(
    path: Path, folder: Path, solution: bool, prompt: str | None, length: int | None, lines: int | None, **choices: Any
) -> None:
    """Generate text with a model: one you trained (default: model.safetensors), or one from headway import-model.

    Uses your code for each assignment that passes, and the official solution for the rest. In a terminal, without
    --prompt and --lines, it asks after each text what to do next.
    """
    import random

    from autograder.models.pretrained import generation, model_file
    from autograder.models.training import runs, select_modules

    if lines is not None and length is not None:
        raise UsageError("--length and --lines exclude each other. Leave one of them out")
    seed = choices.pop("seed")
    sampling = Sampling(seed=random.randrange(10**6) if seed is None else seed, **choices)
    model = model_file.load(path)
    kind = select_modules.kind_of(model)

    def write(start: str | None, sampling: Sampling, hidden: int = 0) -> str:
        if not isinstance(model, model_file.ImportedModel):
            return _print(runs.generate(modules.folder, model, start, length or CHARACTERS, sampling), hidden)
        speed = generation.Speed()
        pieces = generation.stream_text(modules.folder, model, start or "", length or TOKENS, sampling, speed)
        text = _print(pieces, hidden)
        click.echo(str(speed), err=True)
        return text

    with select_modules.use_modules(folder, solution, kind) as modules:
        if isinstance(model, model_file.ImportedModel):
            if lines is not None:
                raise UsageError("--lines is for models that were trained here. Use --length for an imported one")
            click.echo(modules.describe(), err=True)
            text = write(prompt, sampling)
        else:
            text = "" if lines is not None else write(prompt, sampling)
            for line in runs.generate_lines(modules.folder, model, prompt, lines, sampling) if lines else ():
                click.echo(line)
                text += f"\n{line}\n"
            for line in select_modules.award_name_badge(folder, modules, model, text):
                click.echo(line, err=True)
            if kind == "encoder-decoder":
                click.echo("Its answer is at most as long as the prompt; give a longer one: --prompt", err=True)
        if seed is None:
            click.echo(f"To get this text again: --seed {sampling.seed}", err=True)
        if prompt is None and lines is None and sys.stdin.isatty() and sys.stdout.isatty():
            _converse(write, text, sampling)


def _print(pieces: Iterable[str], hidden: int) -> str:
    """Print a text piece by piece, without its first `hidden` characters, and return all of it."""
    text = ""
    try:
        for piece in pieces:
            click.echo(piece[max(0, hidden - len(text)) :], nl=False)
            text += piece
    finally:
        click.echo()
    return text


def _converse(write: Callable[[str | None, Sampling, int], str], text: str, sampling: Sampling) -> None:
    """Ask what to do after each text, until the answer is q."""
    while (answer := click.prompt(QUESTION, default="", show_default=False).strip()) != "q":
        key, _, rest = answer.partition(" ")
        sampling = replace(sampling, seed=sampling.seed + 1)
        try:
            if key == "t":
                if not 0 <= (temperature := float(rest)) <= 100:  # False for nan
                    raise UsageError(f"the temperature must be a number from 0 to 100, not {rest}")
                sampling = replace(sampling, temperature=temperature)
            text = write(rest or None, sampling, 0) if key == "n" else write(text, sampling, len(text))
        except (UsageError, ValueError) as error:
            click.echo(f"{error}", err=True)


@click.command(context_settings=options.WITH_DEFAULTS)
@click.argument("name", required=False)
@click.argument("models", metavar="[MODEL]...", nargs=-1, type=options.PATH)
@options.submission_folder
@solution_option
@click.option("--checkpoint", type=options.PATH, default="model.safetensors", help="The trained model to show.")
@click.option("--text", help="The text to show, for plots that show one.")
@click.option("--out", type=options.PATH, help="The file, as .png, .svg or .pdf; the attention viewer as .html.")
@options.force
def plot(
    name: str | None,
    models: tuple[Path, ...],
    folder: Path,
    solution: bool,
    checkpoint: Path,
    text: str | None,
    out: Path | None,
    force: bool,
) -> None:
    """Draw plots with your functions.

    Without a name, lists the plots. MODEL is a trained model, as with --checkpoint; headway plot loss A B compares
    several.
    """
    from autograder.course import registry, stubs
    from autograder.models import plots
    from autograder.models.plot_data import find_plot, functions_in_folder
    from autograder.models.plots.inputs import PlotInputs
    from autograder.models.pretrained.model_file import load
    from autograder.workspace.workspace import Workspace

    if name is None:
        from autograder.report import help_texts

        titles = {
            module: {plot.name: plot.title + " (trained model)" * plot.trained for plot in assignment.plots}
            for module, assignment in registry.default().modules.items()
            if assignment.plots
        }
        help_texts.render_by_assignment(titles, registry.default(), options.make_console())
        click.echo(
            "\nDraw one with your own functions: headway plot NAME. To use the official ones, add --solution.\n"
            "Plots of a trained model need a checkpoint from headway train: --checkpoint model.safetensors"
        )
        return
    chosen = find_plot(name)
    path = out or Path(f"{name}.{chosen.suffixes[0]}")
    if models and not chosen.trained:
        raise UsageError(f"{name} does not show a trained model. Leave out {models[0]}")
    if len(models) > 1:
        from autograder.models.plots.training import write_comparison

        click.echo("\n".join(write_comparison(chosen, models, path, force=force)))
        return
    checkpoint = models[0] if models else checkpoint
    workspace = Workspace.open(folder, registry.default())
    if not solution:
        workspace.require_assignments()
    source = stubs.bundled("solutions") if solution else workspace.module_folder
    with functions_in_folder(source) as functions:
        inputs = PlotInputs(functions, text, lambda: load(checkpoint))
        plots.write(chosen, lambda: plots.draw(chosen, inputs), path, force=force)
    click.echo(f"Wrote {path}. {chosen.caption}")


@click.group(invoke_without_command=True)
@click.pass_context
def data(context: click.Context) -> None:
    """List and download datasets."""
    if context.invoked_subcommand is None:
        context.invoke(data_list)


@data.command("list")
def data_list() -> None:
    """List the datasets and show which are available offline."""
    from rich.table import Table
    from rich.text import Text

    from autograder.models.training import datasets

    table = Table(box=None, pad_edge=False, header_style="dim")
    for title in ("name", "characters", "available", "description"):
        table.add_column(title, justify="right" if title == "characters" else "left")
    available = {dataset: datasets.is_available(dataset) for dataset in datasets.DATASETS.values()}
    for dataset, offline in available.items():
        cells = (dataset.name, f"{dataset.size:,}", "yes" if offline else "no", dataset.description)
        table.add_row(*map(Text, cells))
    console = options.make_console()
    console.print(table)
    if not all(available.values()):
        console.print("\nDownload one: headway data fetch NAME")


@data.command()
@click.argument("name")
def fetch(name: str) -> None:
    """Download a dataset and verify it."""
    from autograder.models.training import datasets

    click.echo(f"{name} is in {datasets.fetch(name)}")
