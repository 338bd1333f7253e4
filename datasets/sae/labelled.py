"""Texts with two classes whose tokens' activations are pooled and probed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.datasets.sae import texts
from bench.datasets.sae.hooks import Hook

_SEED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeSet:
    """Activations of the tokens 1 to the end of texts; text i has the rows starts[i] to starts[i + 1]."""

    name: str
    hidden: npt.NDArray[np.float16]  # (tokens, dim)
    starts: npt.NDArray[np.int64]  # (texts + 1,)
    labels: npt.NDArray[np.bool_]  # (texts,), training texts first
    n_train: int


def chosen_texts(name: str, *, train: int, test: int) -> tuple[list[str], npt.NDArray[np.bool_], int]:
    """`train` + `test` texts of the set, half of each part of either class, drawn once (seed 0); their classes; and
    how many are for training.

    A set with too few texts of a class gives as many as it can, equally of both.
    """
    frame = texts.table(name)
    values = frame["target"].to_numpy()
    classes = np.unique(values)
    if len(classes) != 2:
        raise ValueError(f"the set {name} has {len(classes)} classes, 2 are needed")
    rng = np.random.default_rng(_SEED)
    places = [rng.permutation(np.flatnonzero(values == c)) for c in classes]
    half = [min(train // 2, min(map(len, places)) * train // (train + test)), test // 2]
    half[1] = min(half[1], min(map(len, places)) - half[0])
    rows = np.concatenate([p[: half[0]] for p in places] + [p[half[0] : sum(half)] for p in places])
    labels = np.concatenate([np.repeat([False, True], half[0]), np.repeat([False, True], half[1])])
    return [str(t) for t in frame["prompt"].to_numpy()[rows]], labels, 2 * half[0]


def token_rows(hook: Hook, found: list[str], length: int) -> list[list[int]]:
    """The first `length` tokens of each text, after the start token where the model has one; at least two."""
    start = [] if hook.first_token is None else [hook.first_token]
    return [
        (start + ids if len(ids) > 1 else [*start, *ids, *([hook.separator] * (2 - len(ids)))])
        for text in found
        for ids in [hook.load().tokenizer.encode(text)[:length]]
    ]


def hidden_rows(hook: Hook, rows: list[list[int]]) -> tuple[npt.NDArray[np.float16], npt.NDArray[np.int64]]:
    """Activations of the tokens from the second on of each row, one after another, and where each row starts."""
    import torch

    model: Any = hook.load()
    by_length: dict[int, list[int]] = {}
    for i, row in enumerate(rows):
        by_length.setdefault(len(row), []).append(i)
    found: dict[int, npt.NDArray[np.float16]] = {}
    for length, places in by_length.items():
        for at in range(0, len(places), max(1, 2048 // length)):
            part = places[at : at + max(1, 2048 // length)]
            values = model.hidden(torch.tensor([rows[i] for i in part]), hook.layer).numpy()
            found |= {i: values[j, 1:].astype(np.float16) for j, i in enumerate(part)}
    parts = [found[i] for i in range(len(rows))]
    return np.concatenate(parts), np.concatenate([[0], np.cumsum([len(p) for p in parts])])
