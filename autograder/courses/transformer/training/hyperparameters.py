"""The settings of a model that `headway train --set NAME=VALUE` can change: their types, bounds and relations."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from autograder.core.text import did_you_mean
from autograder.courses.transformer.training.settings import PRESETS, Model, TrainingSettings
from autograder.errors import UsageError

MOST_PARAMETERS = 50_000_000  # of a model that can still be trained in NumPy
_OPTIONS = {"lr": "--lr", "batch_size": "--batch-size", "steps": "--steps", "seed": "--seed", "schedule": "--schedule"}


@dataclass(frozen=True)
class Hyperparameter:
    """A setting of a model: what it must be, in words, how a text is converted, and which values are allowed."""

    description: str
    convert: Callable[[str], int | float | bool | str]  # raises ValueError for a text that is no value
    allows: Callable[[Any], bool]

    def parse(self, text: str) -> int | float | bool | str | None:
        """Return the value; None if the text is none."""
        try:
            value = self.convert(text)
        except ValueError:
            return None
        return value if self.allows(value) else None


def _whole(most: int) -> Hyperparameter:
    return Hyperparameter(f"a whole number from 1 to {most:,}", int, lambda value: 1 <= value <= most)


def _number(least: float, below: float, *, closed: bool = False) -> Hyperparameter:
    """Return a number from `least` to below `below`; `least` itself is allowed only if `closed`."""
    description = f"a number {'from' if closed else 'above'} {least:g} and below {below:g}"
    return Hyperparameter(description, float, lambda value: least < value < below or (closed and value == least))


def _choice(*words: str) -> Hyperparameter:
    """Return one of some words; "true" and "false" stand for the values True and False."""
    values = {word: {"true": True, "false": False}.get(word, word) for word in words}
    return Hyperparameter(
        " or ".join(words), lambda text: values.get(text.lower(), text), lambda value: value in values.values()
    )


_FLAG = _choice("true", "false")
_BIASES = Hyperparameter(
    "true, false, or names such as b_o,b_head (of b_qkv, b_o, b_1, b_2 and b_head)",
    lambda text: {"true": True, "false": False}.get(text.lower(), text),
    lambda value: value in (True, False) or {"b_qkv", "b_o", "b_1", "b_2", "b_head"}.issuperset(value.split(",")),
)
_NORM = _choice("pre", "post")
_SIZES = {
    "block_size": _whole(4096),
    "n_layers": _whole(48),
    "n_heads": _whole(64),
    "d_model": _whole(4096),
    "d_ff": _whole(16_384),
}
_TRAINED = {**_SIZES, "init_std": _number(0, 10)}

# The fields of the course's configurations, by the kind of model.
HYPERPARAMETERS: dict[str, dict[str, Hyperparameter]] = {
    "gpt": {
        **_TRAINED,
        "activation": _choice("gelu", "relu"),
        "bias": _BIASES,
        "dropout": _number(0, 1, closed=True),
        "norm": _NORM,
        "positions": _choice("learned", "sinusoidal"),
        "tied": _FLAG,
    },
    "llama": {
        **_TRAINED,
        "n_kv_heads": _whole(64),
        "norm_eps": _number(0, 1),
        "rope_base": _number(1, 1e9),
        "tied": _FLAG,
    },
    "encoder-decoder": {**_SIZES, "bias": _FLAG, "head_bias": _FLAG, "norm": _NORM},
    "bigram": {},
}


def changed_model(preset: TrainingSettings, assignments: Iterable[str]) -> Model:
    """Return the settings of a preset's model with `NAME=VALUE` changes; raise UsageError for what cannot work."""
    known = HYPERPARAMETERS[preset.kind]
    changes: Model = {}
    for assignment in assignments:
        name, equals, text = (part.strip() for part in assignment.partition("="))
        name = name.replace("-", "_")
        if name in _OPTIONS:
            value = f" {text}" if text else ""
            raise UsageError(f"{name} is not a setting of the model. Use {_OPTIONS[name]}{value}")
        if not known:
            raise UsageError(f"the model of the preset {preset.preset} has no settings to change. Leave out --set")
        if name not in known:
            settings = f"The settings of the preset {preset.preset}: {', '.join(sorted(known))}"
            raise UsageError(f"no such setting: {name!r}. {did_you_mean(name, known)}{settings}")
        if not equals or not text:
            raise UsageError(f"--set {assignment} has no value. Write a name and a value: --set {name}=VALUE")
        if name in changes:
            raise UsageError(f"{name} is set twice. Give it once")
        parsed = known[name].parse(text)
        if parsed is None:
            raise UsageError(f"{name} must be {known[name].description}, got {text!r}")
        changes[name] = parsed
    changed = {**preset.model, **changes}
    if changes:
        _require_consistent(changed, preset.kind)
    return changed


def require_valid(model: Model, kind: str) -> None:
    """Raise ValueError or UsageError for a model that `changed_model` could not return."""
    known = {"block_size": _whole(4096), **HYPERPARAMETERS[kind]}
    for name, value in {"block_size": None, **model}.items():
        if name not in known or known[name].parse(str(value)) is None:
            raise ValueError(f"its model has {assignment_text(name, value)}")
    if kind != "bigram":
        _require_consistent(model, kind)


def _require_consistent(model: Model, kind: str) -> None:
    """Raise UsageError for settings that exclude each other, and for a model that is too large for NumPy."""
    width, heads = int(model.get("d_model", 64)), int(model.get("n_heads", 4))
    unit = 2 * heads if kind == "llama" else heads
    if width % unit:
        why = "twice n_heads, because positions rotate pairs" if kind == "llama" else "n_heads"
        nearest = max(unit, round(width / unit) * unit)
        raise UsageError(
            f"d_model ({width}) must be a multiple of {why} (n_heads={heads}). For example: --set d_model={nearest}"
        )
    shared = int(model.get("n_kv_heads", 2))
    if kind == "llama" and heads % shared:
        fitting = max(number for number in range(1, shared) if heads % number == 0)
        raise UsageError(
            f"n_heads ({heads}) must be a multiple of n_kv_heads ({shared}). For example: --set n_kv_heads={fitting}"
        )
    inner, layers = int(model.get("d_ff", 4 * width)), int(model.get("n_layers", 4))
    size = layers * (4 * width * width + 2 * width * inner) + int(model["block_size"]) * width  # without the tokens
    if size > MOST_PARAMETERS:
        raise UsageError(
            f"this model would have about {size / 1e6:,.0f} million parameters; training in NumPy is limited to "
            f"{MOST_PARAMETERS / 1e6:.0f} million. Choose a smaller d_model or n_layers"
        )


def changed_settings(settings: TrainingSettings) -> list[str]:
    """Return the settings of a run that are not those of its preset, as NAME=VALUE."""
    preset = PRESETS.get(settings.preset)
    if preset is None:  # of another version
        return []
    changed = {name: value for name, value in settings.model.items() if preset.model.get(name) != value}
    others = {name: getattr(settings, name) for name in ("batch_size", "lr", "schedule")}
    changed |= {name: value for name, value in others.items() if value != getattr(preset, name)}
    return [assignment_text(name, value) for name, value in changed.items()]


def assignment_text(name: str, value: object) -> str:
    """Return a setting as it is typed: NAME=VALUE."""
    if isinstance(value, bool):
        return f"{name}={str(value).lower()}"
    return f"{name}={value:g}" if isinstance(value, float) and math.isfinite(value) else f"{name}={value}"
