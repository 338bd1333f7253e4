"""Shape against texture: which cue decides where they disagree?

Source: R. Geirhos et al. (2019), ImageNet-trained CNNs are biased towards texture.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench.metrics.alignment.result import Float, Score, function_of_means, undefined

HUMAN_BIAS = 0.9587  # of 10 observers, 12,000 trials
LOW_COVERAGE = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeBias:
    """Decisions on images whose shape and texture disagree."""

    bias: Score  # n_shape / (n_shape + n_texture), in [0, 1]
    n_shape: int
    n_texture: int
    covered: float  # share of decisions that follow either cue
    by_category: dict[int, float | None]  # of the shape

    @property
    def low_coverage(self) -> bool:
        """Whether so few decisions follow a cue that the bias says little."""
        return self.covered < LOW_COVERAGE


def shape_bias(*, decisions: npt.ArrayLike, shape: npt.ArrayLike, texture: npt.ArrayLike) -> ShapeBias:
    """`decisions`, `shape` and `texture` (n,) are class numbers; images with shape = texture are dropped."""
    chosen, by_shape, by_texture = (np.asarray(v, dtype=np.int64) for v in (decisions, shape, texture))
    if not chosen.shape == by_shape.shape == by_texture.shape or chosen.ndim != 1:
        raise ValueError(
            f"expected three vectors of one length, got {chosen.shape}, {by_shape.shape}, {by_texture.shape}"
        )
    kept = by_shape != by_texture
    chosen, by_shape, by_texture = chosen[kept], by_shape[kept], by_texture[kept]
    s, t = chosen == by_shape, chosen == by_texture
    categories = {int(c): _ratio(s[by_shape == c], t[by_shape == c]) for c in np.unique(by_shape)}
    dropped = int((~kept).sum())
    return ShapeBias(
        bias=_bias(s, t, dropped),
        n_shape=int(s.sum()),
        n_texture=int(t.sum()),
        covered=float((s | t).mean()) if len(s) else 0.0,
        by_category=categories,
    )


def _bias(s: npt.NDArray[np.bool_], t: npt.NDArray[np.bool_], dropped: int) -> Score:
    if not (s | t).any():
        return undefined("no decision follows shape or texture", n_dropped=dropped)
    return function_of_means(np.stack([s, t], axis=1).astype(np.float64), bias_of, n_dropped=dropped)


def bias_of(means: Float) -> Float:
    """Shape bias from means (..., 2) of decisions for shape and for texture."""
    return np.asarray(means[..., 0] / (means[..., 0] + means[..., 1]))


def _ratio(s: npt.NDArray[np.bool_], t: npt.NDArray[np.bool_]) -> float | None:
    total = int(s.sum() + t.sum())
    return int(s.sum()) / total if total else None
