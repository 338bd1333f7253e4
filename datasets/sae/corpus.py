"""The rows of tokens whose activations are coded: ten sources, documents packed into rows of 128 tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.datasets.sae import texts
from bench.datasets.sae.hooks import LENGTH, Hook

EVERY = 8  # every eighth row of a source is for evaluation
_SEED = 0
Tokens = npt.NDArray[np.int32]


def tokens_of(hook: Hook, rows_per_source: int) -> Tokens:
    """int32 (sources * rows_per_source, 128), source by source.

    Documents are the unique texts of a source in an order drawn once (seed 0, one permutation per source). One
    longer than a row is cut; shorter ones follow each other with the separator between.
    """
    rng = np.random.default_rng(_SEED)
    tokenizer, separator, first = hook.load().tokenizer, hook.separator, hook.first_token
    found: list[list[int]] = []
    for source in texts.CORPUS:
        documents = texts.table(source)["prompt"].drop_duplicates().to_numpy()
        order = rng.permutation(len(documents))
        encoded = (tokenizer.encode(str(documents[i])) for i in order)
        found += _packed(encoded, rows_per_source, separator, first, source)
    return np.array(found, np.int32)


def sources_of(rows_per_source: int) -> npt.NDArray[np.int64]:
    """The source of each row."""
    return np.repeat(np.arange(len(texts.CORPUS)), rows_per_source)


def is_evaluation(rows_per_source: int) -> npt.NDArray[np.bool_]:
    """Which rows are for evaluation."""
    return np.tile(np.arange(rows_per_source) % EVERY == EVERY - 1, len(texts.CORPUS))


def _packed(
    documents: Iterable[list[int]], wanted: int, separator: int, first: int | None, source: str
) -> list[list[int]]:
    start = [] if first is None else [first]
    rows: list[list[int]] = []
    row = list(start)
    for ids in documents:
        if len(ids) < 2:
            continue  # nothing to predict
        row += ([separator] if len(row) > len(start) else []) + ids[: LENGTH - len(start)]
        if len(row) >= LENGTH:
            rows.append(row[:LENGTH])
            row = list(start)
        if len(rows) == wanted:
            return rows
    raise ValueError(f"the source {source} fills {len(rows)} rows of {LENGTH} tokens, {wanted} are wanted")


def hidden_of(
    hook: Hook, tokens: Tokens, *, batch: int = 16, report: Callable[[int, int], Any] | None = None
) -> npt.NDArray[np.float16]:
    """Activations float16 (rows, T, dim) at the hook.

    Raises `OverflowError` if one does not fit into float16.
    """
    import torch

    model, parts = hook.load(), []
    for at in range(0, len(tokens), batch):
        rows = torch.from_numpy(tokens[at : at + batch].astype(np.int64))
        values = model.hidden(rows, hook.layer).numpy()
        if np.abs(values).max() > np.finfo(np.float16).max:
            raise OverflowError(f"activations of {hook.name} exceed 65,504; keep them as float32")
        parts.append(values.astype(np.float16))
        if report is not None:
            report(min(at + batch, len(tokens)), len(tokens))
    return np.concatenate(parts)
