"""Scores of coders that every task on activations shares: rate and distortion of the evaluation rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench.metrics.sae.distortion import Distortion, distortion
from bench.metrics.sae.rate import Rate, quantised, rate
from bench.spec import Measure
from bench.tasks.sae.artifact import Coded

NO_DECODER = "the decoder is not linear, so that there are no atoms"
NO_INTERVAL = "no interval within a run: repeats draw world, rows and coder anew"
_BITS = ("bits", "support_bits", "magnitude_bits", "index_bits")

Values = dict[str, Measure]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """Rate and distortion of one point; `rate` is None without atoms."""

    distortion: Distortion
    rate: Rate | None
    fvu_quantised: float | None
    l0: float


def quality(coded: Coded, rows: npt.NDArray[np.float32], scale: float) -> Quality:
    """Of the first rows of `coded`, which are `rows` (n, d), unscaled."""
    part = slice(0, len(rows))
    x = rows.astype(np.float64) * scale
    codes = coded.codes[part]
    found = distortion(rows=x, reconstruction=coded.rebuilt(part))
    if coded.decoder is None:
        return Quality(distortion=found, rate=None, fvu_quantised=None, l0=codes.nnz / len(rows))
    said = rate(codes=codes, decoder=coded.decoder, rows=x)
    coarse = coded.rebuilt(part, quantised(codes=codes, decoder=coded.decoder, step=said.step))
    quantised_fvu = distortion(rows=x, reconstruction=coarse).fvu
    return Quality(distortion=found, rate=said, fvu_quantised=quantised_fvu, l0=said.l0)


def quality_measures(found: Quality, *, rows: int, width: int, scale: float) -> Values:
    """The same as measures."""
    r, d = found.rate, found.distortion
    bits = {} if r is None else {name: float(getattr(r, name)) for name in _BITS}
    return {
        "fvu": measure(d.fvu, rows, d.reason),
        "fvu_q": measure(found.fvu_quantised, rows, NO_DECODER if r is None else d.reason),
        "mse": measure(d.mse / scale**2, rows),
        "cosine": measure(d.cosine, rows),
        "shrinkage": measure(d.shrinkage, rows, "every row is 0"),
        "l0": measure(found.l0, rows),
        **{name: measure(bits.get(name), rows, NO_DECODER) for name in _BITS},
        "latents": measure(float(width), None),
    }


def measure(value: float | None, n: int | None, reason: str = "") -> Measure:
    """A value without an interval, or why there is none."""
    if value is None or not np.isfinite(value):
        return Measure(value=None, n=n, reason=reason or "not defined here")
    return Measure(value=float(value), n=n, reason=NO_INTERVAL)
