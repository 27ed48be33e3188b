"""Loops, character by character."""

import numpy as np


def build_vocab(text, start=0):
    seen = {}
    for character in text:
        seen[character] = True
    chars = list(seen)
    chars.sort()
    stoi = {}
    itos = {}
    number = start
    for character in chars:
        stoi[character] = number
        itos[number] = character
        number += 1
    return chars, stoi, itos


def encode(text, stoi):
    ids = []
    for position in range(len(text)):
        if text[position] not in stoi:
            raise ValueError("unknown character " + text[position] + " at " + str(position))
        ids.append(stoi[text[position]])
    return np.array(ids, dtype=np.int64).reshape(len(text))


def decode(ids, itos):
    text = ""
    for position in range(len(ids)):
        try:
            text += itos[int(ids[position])]
        except KeyError as error:
            raise ValueError(f"unknown id {ids[position]} at {position}") from error
    return text


def train_val_split(ids, train_fraction=0.9):
    if train_fraction <= 0:
        raise ValueError("train_fraction must be positive")
    if train_fraction > 1:
        raise ValueError("train_fraction must not be above 1")
    border = int(len(ids) * train_fraction)
    train = np.zeros(border, dtype=ids.dtype)
    val = np.zeros(len(ids) - border, dtype=ids.dtype)
    for i in range(len(ids)):
        if i < border:
            train[i] = ids[i]
        else:
            val[i - border] = ids[i]
    return train, val


def get_batch(ids, batch_size, block_size, rng):
    if len(ids) <= block_size:
        raise ValueError("not enough text for one block and its last answer")
    x = np.zeros((batch_size, block_size), dtype=np.int64)
    y = np.zeros((batch_size, block_size), dtype=np.int64)
    for b in range(batch_size):
        start = int(rng.random() * (len(ids) - block_size))
        for t in range(block_size):
            x[b, t] = ids[start + t]
            y[b, t] = ids[start + t + 1]
    return x, y
