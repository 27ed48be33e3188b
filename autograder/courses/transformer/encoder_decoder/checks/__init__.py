"""Checks of `encoder_decoder`: the encoder–decoder."""
