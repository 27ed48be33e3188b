"""Texts to train on: small ones that come with Headway, public corpora with a known SHA-256, and the user's files."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from autograder.core.files import read_plain_file, user_folder
from autograder.core.text import clean, counted, did_you_mean
from autograder.course.stubs import bundled
from autograder.courses.transformer.training import synthetic_corpus
from autograder.courses.transformer.training.settings import TrainingSettings
from autograder.errors import UsageError, missing_package
from autograder.workspace.files import text_digest

LARGEST = 100_000_000  # bytes of a user's file: each character becomes an integer of eight bytes
TRAIN_FRACTION = 0.9  # of the text, as in `tokenizer.train_val_split`


@dataclass(frozen=True)
class Dataset:
    """A text to train on."""

    name: str
    description: str
    size: int  # its length in bytes (in characters if it is generated)
    file: str = ""  # its file name; empty if it is generated
    url: str = ""  # where to download it; empty if it comes with Headway
    sha256: str = ""
    lines: bool = False  # whether each line is an independent example, so that the lines are shuffled


_CATALOG = (
    Dataset("names", "32,033 given names; comes with Headway", 228_145, "names.txt",
            sha256="0a30b5557f192f32ab962680889aac5f6fda0f4cecf40a6d0b5694f58ea8cc4d", lines=True),
    Dataset("synthetic", "an artificial language of known entropy; generated", 1_000_000),
    Dataset("digits", "random digits, for the preset annotated; generated", 100_000),
    Dataset("tinyshakespeare", "40,000 lines of Shakespeare, from the char-rnn repository", 1_115_394,
            "tinyshakespeare.txt",
            "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt",
            "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"),
)  # fmt: skip

DATASETS = {dataset.name: dataset for dataset in _CATALOG}


def find_dataset(name: str) -> Dataset:
    """Return the dataset with this name."""
    if name not in DATASETS:
        advice = "List them all: headway data list. Or give a text file of your own: --data FILE"
        raise UsageError(f"no such dataset: {name!r}. {did_you_mean(name, DATASETS)}{advice}")
    return DATASETS[name]


def data_folder() -> Path:
    """Return the folder of downloaded datasets: $HEADWAY_DATA, or the platform's folder for user data."""
    if (folder := user_folder("HEADWAY_DATA", "data")) is None:
        raise UsageError("there is no home folder to keep datasets in. Name another: export HEADWAY_DATA=FOLDER")
    return folder


def dataset_path(dataset: Dataset) -> Path | None:
    """Return the path of the dataset's file, which may not exist yet; None if it is generated."""
    if not dataset.file:
        return None
    return (data_folder() if dataset.url else bundled("data")) / dataset.file


def is_available(dataset: Dataset) -> bool:
    """Return whether the dataset can be loaded without downloading it."""
    path = dataset_path(dataset)
    return path is None or path.is_file()


def is_file(name: str) -> bool:
    """Return whether the user named a text file, and not a dataset."""
    return name not in DATASETS and (Path(name).exists() or bool(Path(name).suffix) or len(Path(name).parts) > 1)


def shown_name(data: str) -> str:
    """Return what a run's text is called: the name of the dataset, or of the file without its folders."""
    return clean(Path(data).name, 100) if is_file(data) else data


def load(name: str, seed: int = 0, shuffle_lines: bool = False) -> str:
    """Return the text of a dataset, or of a file of the user's.

    Where lines are independent examples (of a file, if `shuffle_lines`), they are shuffled by `seed`.
    """
    if is_file(name):
        text = read_text_file(Path(name))
        return _shuffled(text, seed) if shuffle_lines else text
    dataset = find_dataset(name)
    path = dataset_path(dataset)
    if name == "digits":
        return "".join(map(str, np.random.default_rng(0).integers(0, 10, dataset.size)))
    if path is None:
        return synthetic_corpus.text(dataset.size, seed=0)
    try:
        content = path.read_bytes()
    except OSError:
        advice = f"Download it: headway data fetch {name}. Or use what comes with Headway: --data names"
        raise UsageError(f"{name} has not been downloaded yet. {advice}") from None
    _verify(dataset, content, path)
    text = content.decode("utf-8")
    return _shuffled(text, seed) if dataset.lines else text


def read_text_file(path: Path) -> str:
    """Return the text of a file, with line breaks as Linux writes them."""
    shown = clean(path, 300)
    try:
        if path.is_file() and path.stat().st_size > LARGEST:
            size = f"{path.stat().st_size / 1e6:,.0f} MB, and at most {LARGEST / 1e6:.0f} MB can be read"
            raise UsageError(f"{shown} is too large: {size}. Train on a part of it")
        content = read_plain_file(path)
    except FileNotFoundError:
        raise UsageError(f"no such file: {shown}. Check the path") from None
    except OSError as error:
        raise UsageError(f"cannot read {shown} ({error.strerror}). Give a text file: --data FILE") from None
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UsageError(f"{shown} is encoded as UTF-16. Save it as UTF-8")
    if b"\0" in content:
        raise UsageError(
            f"{shown} is not a text file: it contains bytes with the value 0. Give a text file: --data FILE"
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{shown} is not encoded as UTF-8 (line {line:,}). Save it as UTF-8") from None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise UsageError(f"{shown} is empty. Give a file with text: --data FILE")
    return text


def has_lines(settings: TrainingSettings) -> bool:
    """Return whether each line of a run's text is a separate example, such as a name."""
    dataset = DATASETS.get(settings.data)
    return dataset.lines if dataset else settings.shuffle_lines


def text_of(settings: TrainingSettings) -> str:
    """Return the text of a run; raise UsageError if it is not the one that the run was started with."""
    text = load(settings.data, settings.seed, settings.shuffle_lines)
    if text_digest(text) != settings.data_sha256:
        raise UsageError(f"{settings.data} has changed since this run started. Start a new run: headway train")
    return text


def advice_about_lines(settings: TrainingSettings) -> list[str]:
    """Return a note about a text file of the user's whose lines are sorted, and are not shuffled; none otherwise.

    The end of the text is for validation, so sorted lines would make it a text of another kind.
    """
    if not is_file(settings.data) or settings.shuffle_lines:
        return []
    lines = text_of(settings).splitlines()
    if len(lines) < 20 or len(set(lines)) < 2 or [line.lower() for line in lines] != sorted(map(str.lower, lines)):
        return []
    note = f"The lines of {settings.data} are sorted, so the validation text (the last tenth) differs from the rest."
    return [f"{note} If each line is a separate example, add --shuffle-lines."]


def require_length(text: str, block_size: int, name: str) -> None:
    """Raise UsageError unless both parts of the text hold at least one window of `block_size` characters and one."""
    held_out = len(text) - int(len(text) * TRAIN_FRACTION)
    if held_out > block_size:
        return
    needed = 10 * block_size + 1
    raise UsageError(
        f"{clean(name, 300)} is too short: it has {counted(len(text), 'character')}, and at least {needed:,} are "
        f"needed, because a tenth is for validation and the model reads {block_size} characters at once. "
        "Use a longer text, or a smaller block_size: --set block_size=N"
    )


def _shuffled(text: str, seed: int) -> str:
    lines = text.removesuffix("\n").split("\n")
    return "".join(f"{lines[i]}\n" for i in np.random.default_rng(seed).permutation(len(lines)))


def _verify(dataset: Dataset, content: bytes, path: Path) -> None:
    if hashlib.sha256(content).hexdigest() != dataset.sha256:
        remedy = f"Delete it, then run: headway data fetch {dataset.name}" if dataset.url else "Install Headway again"
        raise UsageError(f"{path} is damaged or is a different file: its SHA-256 differs. {remedy}")


def fetch(name: str) -> Path:
    """Download a dataset, unless it is already there, verify it, and return the path of its file."""
    dataset = find_dataset(name)
    path = dataset_path(dataset)
    if path is None or not dataset.url:
        raise UsageError(f"{name} needs no download: {dataset.description}. Train on it: headway train --data {name}")
    if path.is_file():
        _verify(dataset, path.read_bytes(), path)
        return path
    try:
        import pooch
    except ImportError:
        raise missing_package("downloading needs pooch", "train") from None
    pooch.get_logger().setLevel("ERROR")
    try:
        pooch.retrieve(dataset.url, known_hash=f"sha256:{dataset.sha256}", fname=dataset.file, path=data_folder())
    except Exception as error:  # the network libraries below pooch raise various errors; the remedy is the same
        raise UsageError(
            f"cannot download {name} ({type(error).__name__}). Download it by hand: "
            f"save {dataset.url} as {path} ({dataset.size:,} bytes, SHA-256 {dataset.sha256[:12]}…)"
        ) from None
    return path
