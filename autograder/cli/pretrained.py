"""The command that imports a model trained elsewhere."""

from pathlib import Path

import click

from autograder.cli import options
from autograder.cli.train import selected_modules, solution_option


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
    from autograder.models.pretrained import hugging_face, importing

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
