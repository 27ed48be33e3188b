"""Masks, for several assignments."""

from autograder.engine.inputs import Array, RandomInputs


def random_mask(draw: RandomInputs, *shape: int) -> Array:
    """Return a random mask in which every query may attend to at least one key."""
    mask = draw.booleans(*shape)
    mask[..., 0] |= ~mask.any(axis=-1)
    return mask
