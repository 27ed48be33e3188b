"""Texts to train on: small ones that the kit owns, and real corpora that are fetched and checked by SHA-256."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from autograder.core.files import user_folder
from autograder.curriculum.stubs import bundled
from autograder.errors import UsageError, missing_package
from autograder.workspace.training import synthetic_corpus

SYNTHETIC_CHARACTERS = 1_000_000


@dataclass(frozen=True)
class Dataset:
    """One text.

    Attributes:
        file: its file name; empty if it is generated.
        url: where it is fetched from; empty if it comes with the kit.
        sha256: digest of the file that is fetched.
        size: its length, bytes (characters, if it is generated).
        lines: whether each line is an example of its own, so that their order carries nothing and is shuffled.
    """

    name: str
    about: str
    size: int
    file: str = ""
    url: str = ""
    sha256: str = ""
    lines: bool = False


DATASETS = {
    dataset.name: dataset
    for dataset in (
        Dataset("given-names", "names from many languages; comes with the kit", 63_110, "names.txt", lines=True),
        Dataset("synthetic", "a made-up language of known entropy; generated", SYNTHETIC_CHARACTERS),
        Dataset(
            "names",
            "32,033 names, from the makemore repository",
            228_145,
            "names.txt",
            "https://raw.githubusercontent.com/karpathy/makemore/master/names.txt",
            "0a30b5557f192f32ab962680889aac5f6fda0f4cecf40a6d0b5694f58ea8cc4d",
            lines=True,
        ),
        Dataset(
            "tinyshakespeare",
            "40,000 lines of Shakespeare, from the char-rnn repository",
            1_115_394,
            "tinyshakespeare.txt",
            "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt",
            "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
        ),
    )
}


def find(name: str) -> Dataset:
    """The dataset of that name.

    Raises:
        UsageError: if there is none.
    """
    if name not in DATASETS:
        import difflib

        close = difflib.get_close_matches(name, DATASETS, n=1)
        hint = f"Did you mean {close[0]!r}? " if close else ""
        raise UsageError(f"there is no dataset {name!r}. {hint}All of them: headway data list")
    return DATASETS[name]


def folder() -> Path:
    """Where fetched files lie: $HEADWAY_DATA, or the platform's place for a user's data.

    Raises:
        UsageError: if there is no such place.
    """
    found = user_folder("HEADWAY_DATA", "data")
    if found is None:
        raise UsageError("you have no home folder to keep datasets in. Name another: export HEADWAY_DATA=FOLDER")
    return found


def path_of(dataset: Dataset) -> Path | None:
    """Where the dataset's file lies or would lie; None if it is generated."""
    if not dataset.file:
        return None
    return (folder() if dataset.url else bundled("data")) / dataset.file


def is_here(dataset: Dataset) -> bool:
    """Whether the dataset can be read now."""
    path = path_of(dataset)
    return path is None or path.is_file()


def load(name: str, seed: int = 0) -> str:
    """The text of a dataset. Where each line is an example of its own, the lines are shuffled by `seed`.

    Raises:
        UsageError: if it has not been fetched, or is not what it should be.
    """
    dataset = find(name)
    path = path_of(dataset)
    if path is None:
        return synthetic_corpus.text(dataset.size, seed=0)
    try:
        content = path.read_bytes()
    except OSError:
        raise UsageError(f"{name} is not here yet. Fetch it: headway data fetch {name}") from None
    if dataset.url:
        _verify(dataset, content, path)
    text = content.decode("utf-8")
    if dataset.lines:
        lines = text.splitlines()
        order = np.random.default_rng(seed).permutation(len(lines))
        text = "\n".join(lines[i] for i in order) + "\n"
    return text


def _verify(dataset: Dataset, content: bytes, path: Path) -> None:
    if hashlib.sha256(content).hexdigest() != dataset.sha256:
        raise UsageError(
            f"{path} is not {dataset.name}: its SHA-256 differs. Remove it, then: headway data fetch {dataset.name}"
        )


def fetch(name: str) -> Path:
    """Fetch a dataset, unless it is here already, and check it.

    Returns:
        Where it lies.

    Raises:
        UsageError: if it cannot be fetched (with the place to put it by hand), or is not what it should be.
    """
    dataset = find(name)
    path = path_of(dataset)
    if path is None or not dataset.url:
        raise UsageError(f"{name} needs no fetching: {dataset.about}. Train on it: headway train --data {name}")
    if path.is_file():
        _verify(dataset, path.read_bytes(), path)
        return path
    try:
        import pooch
    except ImportError:
        raise missing_package("fetching needs pooch", "train") from None
    pooch.get_logger().setLevel("ERROR")
    try:
        pooch.retrieve(dataset.url, known_hash=f"sha256:{dataset.sha256}", fname=dataset.file, path=folder())
    except Exception as error:  # whatever the network layer below pooch raises: the remedy is the same
        raise UsageError(
            f"{name} could not be fetched ({type(error).__name__}). Put the file there by hand: "
            f"{dataset.url} as {path} ({dataset.size:,} bytes, SHA-256 {dataset.sha256[:12]}…)"
        ) from None
    return path
