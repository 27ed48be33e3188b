"""The command that imports a model trained elsewhere, and the text that such a model writes in the terminal."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from autograder.cli import options
from autograder.cli.train import selected_modules, solution_option

if TYPE_CHECKING:
    from autograder.workspace.pretrained.model_file import ImportedModel
    from autograder.workspace.training.sampling import Sampling


@click.command("import-model", context_settings=options.WITH_DEFAULTS)
@click.argument("source", metavar="FOLDER", type=options.PATH)
@options.submission_folder
@solution_option
@click.option("--out", type=options.PATH, default="gpt2.safetensors", help="The file to write.")
@options.force
def import_model(source: Path, folder: Path, solution: bool, out: Path, force: bool) -> None:
    """Import a GPT-2 from a folder of Hugging Face files, so that your code can run it.

    The folder must contain config.json, model.safetensors (or its index and parts), vocab.json and merges.txt. Nothing
    is downloaded. Uses your gpt2_config and gpt2_params if your assignments pass, and the official solution otherwise.
    """
    from autograder.workspace.pretrained import hugging_face, importing

    model = hugging_face.read_folder(source)
    importing.require_new_file(out, model, force)
    console = options.make_console()
    with selected_modules(folder, solution, "gpt2") as modules:
        console.print(modules.describe(), markup=False)
        with options.spinner(console, "importing the model"):
            description = importing.import_model(modules.folder, model, out)
    config = description.config
    console.print(
        f"{importing.count_parameters(config):,} parameters, {config['n_layers']} blocks, {config['n_heads']} heads, "
        f"width {config['d_model']}, {config['vocab_size']:,} tokens, {config['block_size']:,} positions"
    )
    click.echo(f'Wrote {out}. Generate text: headway generate {out} --prompt "Once upon a time"')


def stream_to_terminal(
    folder: Path, solution: bool, model: "ImportedModel", prompt: str, length: int, sampling: "Sampling"
) -> None:
    """Print the prompt and what the model adds to it, piece by piece; then, on standard error, how fast it was."""
    from autograder.core.text import clean
    from autograder.workspace.pretrained.generation import Speed, stream_text

    speed = Speed()
    with selected_modules(folder, solution, "gpt2") as modules:
        click.echo(modules.describe(), err=True)
        pieces = stream_text(modules.folder, model, prompt, length, sampling, speed)
        click.echo(clean(prompt, len(prompt) + 1), nl=False)
        try:
            for piece in pieces:
                click.echo(piece, nl=False)
        finally:
            click.echo()
    click.echo(str(speed), err=True)
