"""What a language model keeps when its activations are replaced by reconstructions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from bench.metrics.sae.tradeoff import recovered
from bench.spec import Measure
from bench.tasks.sae.lm_unit import LmUnit
from bench.tasks.sae.scoring import Values, measure

_BATCH = 8
_CHEAP = "the ablation costs less than 0.05, so that there is nothing to recover"
NO_LOSS = "this model predicts no next token"

Loss = Callable[[LmUnit, "npt.NDArray[np.float64] | None"], tuple[float, float]]


def splice_measures(plan: LmUnit, rebuilt: npt.NDArray[np.float64]) -> Values:
    """Loss recovered by `rebuilt` (n, dim), the unscaled reconstruction of all evaluation tokens that count.

    Loss: mean next-token cross entropy in nats, or for a sentence encoder 1 - cosine of the sentence vector with the
    original. The reference ablations put the mean activation, or 0, in the same places.
    """
    loss = _loss_of(plan)
    base, mean, zero = reference_losses(plan)
    value, divergence = loss(plan, rebuilt)
    n = len(plan.spliced_rows)
    is_lm = plan.hook.model == "smollm2"
    return {
        "recovered_mean": measure(recovered(base=base, spliced=value, ablated=mean), n, _CHEAP),
        "recovered_zero": measure(recovered(base=base, spliced=value, ablated=zero), n, _CHEAP),
        "loss_added": measure(value - base, n),
        "kl": measure(divergence, n) if is_lm else Measure(value=None, n=n, reason=NO_LOSS),
    }


def reference_losses(plan: LmUnit) -> tuple[float, float, float]:
    """Losses without change, with the mean, with 0."""
    base, mean, zero = (float(v) for v in plan.kept("losses", lambda: _references(plan, _loss_of(plan))))
    return base, mean, zero


def _loss_of(plan: LmUnit) -> Loss:
    return _token_loss if plan.hook.model == "smollm2" else _sentence_loss


def _references(plan: LmUnit, loss: Loss) -> npt.NDArray[np.float64]:
    mean = np.broadcast_to(plan.rows.mean(axis=0, dtype=np.float64), plan.rows.shape)
    values = [loss(plan, replaced)[0] for replaced in (None, mean, np.zeros_like(mean))]
    return np.array(values)


def _spliced(plan: LmUnit, rebuilt: npt.NDArray[np.float64] | None, rows: npt.NDArray[np.int64]) -> Tensor:
    """Activations of evaluation rows with what counts replaced."""
    hidden = plan.hidden[rows].astype(np.float32)
    if rebuilt is not None:
        for i, row in enumerate(rows):
            hidden[i, plan.counts[row]] = rebuilt[plan.row_of == row]
    return torch.from_numpy(hidden)


def _batches(plan: LmUnit) -> list[npt.NDArray[np.int64]]:
    rows = plan.spliced_rows
    return [rows[at : at + _BATCH] for at in range(0, len(rows), _BATCH)]


def _token_loss(plan: LmUnit, rebuilt: npt.NDArray[np.float64] | None) -> tuple[float, float]:
    model: Any = plan.hook.load()
    total, divergence, count = 0.0, 0.0, 0
    for rows in _batches(plan):
        tokens = torch.from_numpy(plan.tokens[plan.evaluation][rows].astype(np.int64))
        losses, logs = model.losses(_spliced(plan, rebuilt, rows), tokens, plan.hook.layer)
        total += float(losses.double().sum())
        count += losses.numel()
        if rebuilt is not None:
            original = model.losses(_spliced(plan, None, rows), tokens, plan.hook.layer)[1]
            divergence += float((original.exp() * (original - logs)).sum())
    return total / count, divergence / count


def _sentence_loss(plan: LmUnit, rebuilt: npt.NDArray[np.float64] | None) -> tuple[float, float]:
    model: Any = plan.hook.load()
    if rebuilt is None:
        return 0.0, 0.0
    original = torch.from_numpy(plan.kept("sentences", lambda: _sentences(plan, model, None)))
    changed = torch.from_numpy(_sentences(plan, model, rebuilt))
    return float(1 - torch.cosine_similarity(original, changed, dim=1).double().mean()), 0.0


def _sentences(plan: LmUnit, model: Any, rebuilt: npt.NDArray[np.float64] | None) -> npt.NDArray[np.float32]:
    """The vector of each spliced row."""
    parts = [
        model.tail(_spliced(plan, rebuilt, rows), plan.hook.layer, model.layers).mean(dim=1)
        for rows in _batches(plan)
    ]
    return np.asarray(torch.cat(parts).numpy())
