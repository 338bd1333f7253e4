"""Representations of texts that need no training here: layers of real models, bags of words, lengths."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.datasets.sae.hooks import HOOKS, Hook
from bench.datasets.sae.labelled import token_rows

Layers = dict[str, npt.NDArray[np.float32]]
_BUCKETS = 256
_DEPTHS = {"minilm": (0, 1, 2, 3, 4, 5, 6), "smollm2": (0, 3, 6, 9, 12, 18, 24, 30)}


def model_layers(hook: Hook, texts: Sequence[str], length: int) -> Layers:
    """Mean over the tokens of each text after several layers, each (n, dim)."""
    import torch

    rows = token_rows(hook, list(texts), length)
    model: Any = hook.load()
    depths = _DEPTHS[hook.model]
    found = {f"layer-{depth:02d}": np.zeros((len(rows), hook.dim), np.float32) for depth in depths}
    by_length: dict[int, list[int]] = {}
    for i, row in enumerate(rows):
        by_length.setdefault(len(row), []).append(i)
    for size, places in by_length.items():
        for at in range(0, len(places), max(1, 2048 // size)):
            part = places[at : at + max(1, 2048 // size)]
            hidden, before = model.hidden(torch.tensor([rows[i] for i in part]), 0), 0
            for depth in depths:
                hidden, before = model.tail(hidden, before, depth), depth
                found[f"layer-{depth:02d}"][part] = hidden.mean(dim=1).numpy()
    return found


def bag_of_words(texts: Sequence[str], length: int) -> Layers:
    """Words counted in 256 buckets by their hash, square roots taken."""
    out = np.zeros((len(texts), _BUCKETS), np.float32)
    for i, text in enumerate(texts):
        for word in text.lower().split()[:length]:
            out[i, int.from_bytes(hashlib.sha256(word.encode()).digest()[:2], "big") % _BUCKETS] += 1
    return {"counts": np.sqrt(out)}


def lengths(texts: Sequence[str], length: int) -> Layers:
    """Six numbers that know nothing of meaning: characters, words, capitals, digits, marks, blanks."""
    rows = [
        [
            len(text),
            len(text.split()),
            sum(c.isupper() for c in text),
            sum(c.isdigit() for c in text),
            sum(not c.isalnum() and not c.isspace() for c in text),
            sum(c.isspace() for c in text),
        ]
        for text in texts
    ]
    return {"numbers": np.log1p(np.array(rows, np.float32))}


REPRESENTATIONS: dict[str, Callable[[Sequence[str], int], Layers]] = {
    "minilm": lambda texts, length: model_layers(HOOKS["minilm-l3"], texts, length),
    "smollm2": lambda texts, length: model_layers(HOOKS["smollm2-l9"], texts, length),
    "bag-of-words": bag_of_words,
    "lengths": lengths,
}
