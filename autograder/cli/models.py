"""The commands about models that exist: runs lists them, card describes one, import-model reads one."""

from dataclasses import asdict
from pathlib import Path

import click

from autograder.cli import options
from autograder.cli.train import solution_option


@click.command()
@options.workspace_folder
@click.option("--plain", is_flag=True, help="Print one line for each run, for screen readers and logs.")
@options.json_file
@options.no_color
def runs(folder: Path, plain: bool, json_file: str | None) -> None:
    """List training runs: settings, losses, steps, time.

    The losses are those of the latest steps. Settings that differ from the preset's are shown.
    """
    from autograder.errors import UsageError
    from autograder.models.training import checkpoint_list
    from autograder.report import runs_table

    if not folder.is_dir():
        raise UsageError(f"no such folder: {folder}. Check the path")
    found = [run for run in checkpoint_list.model_summaries(folder) if run.step is not None]
    if json_file:
        options.write_json(json_file, [asdict(run) for run in found])
    console = options.make_console(stderr=json_file == "-")
    if not found:
        console.print("No training runs here yet. Start one: headway train")
        return
    runs_table.render(found, console, plain=plain)
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
    from autograder.errors import UsageError
    from autograder.models.training import checkpoint
    from autograder.models.training.model_card import make_card
    from autograder.models.training.sampling import Sampling
    from autograder.models.training.select_modules import use_modules
    from autograder.report import model_card as report

    target = out or path.with_name(f"{path.stem}-card.html")
    writers = {".html": report.to_html, ".md": report.to_markdown}
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
    from autograder.models.pretrained import hugging_face, importing
    from autograder.models.pretrained.chat import form_of
    from autograder.models.training.select_modules import imported_kind, use_modules

    model = hugging_face.read_folder(source)
    out = out or Path(f"{model.kind}.safetensors")
    importing.require_new_file(out, model, force)
    console = options.make_console()
    with use_modules(folder, solution, imported_kind(model.kind)) as modules:
        console.print(modules.describe(), markup=False)
        with options.spinner(console, "importing the model"):
            description = importing.import_model(modules.folder, model, out)
    config = description.config
    click.echo(
        f"{importing.count_parameters(description):,} parameters, {config['n_layers']} blocks, "
        f"{config['n_heads']} heads, width {config['d_model']}, {config['vocab_size']:,} tokens, "
        f"{config['block_size']:,} positions"
    )
    text = f'Generate text: headway generate {out} --prompt "Once upon a time"'
    click.echo(f"Wrote {out}. {f'Talk with it: headway chat {out}' if form_of(description) else text}")
