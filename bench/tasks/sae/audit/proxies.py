"""The proxies that the bench has, by name: (direction, values of a case). 1: higher means more polysemantic."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from bench.adapters.sae_proxies import ProxyCase
from bench.metrics.sae import activity
from bench.metrics.sae.decoder import decoder_overlap, encoder_cosines
from bench.metrics.sae.inputs import codes_matrix, density
from bench.metrics.sae.monosemanticity import monosemanticity_scores

Values = npt.NDArray[np.float64]


def _density(case: ProxyCase) -> Values:
    return _enough(case, density(codes_matrix(case.codes)))


def _similarity(case: ProxyCase, embeddings: Values) -> Values:
    return _enough(case, monosemanticity_scores(codes=case.codes, embeddings=embeddings))


def _noise(case: ProxyCase) -> Values:
    """Numbers that depend on the atoms and say nothing of them: the floor of the audit."""
    phases = np.abs(case.decoder).sum(axis=1) * 1e4
    return _enough(case, np.modf(phases)[0])


def _enough(case: ProxyCase, values: Values) -> Values:
    """NaN for latents with fewer than 20 activations."""
    return np.where(activity.active_enough(codes=case.codes), values, np.nan)


PROXIES: dict[str, tuple[int, Callable[[ProxyCase], Values]]] = {
    "max_dec_cos": (1, lambda c: _enough(c, decoder_overlap(decoder=c.decoder).max_cosine)),
    "interference": (1, lambda c: _enough(c, decoder_overlap(decoder=c.decoder).interference)),
    "capacity": (-1, lambda c: _enough(c, decoder_overlap(decoder=c.decoder).capacity)),
    "enc_dec_cos": (-1, lambda c: _enough(c, encoder_cosines(encoder=c.encoder, decoder=c.decoder))),
    "density": (1, _density),
    "ms_self": (-1, lambda c: _similarity(c, c.rows - c.rows.mean(axis=0))),
    "ms_ext": (-1, lambda c: _similarity(c, c.embeddings)),
    "top_entropy": (1, lambda c: activity.top_entropy(codes=c.codes, labels=c.labels)),
    "bimodality": (1, lambda c: activity.bimodality(codes=c.codes)),
    "input_rank": (1, lambda c: activity.input_rank(codes=c.codes, rows=c.rows)),
    "coactivation": (1, lambda c: activity.coactivation(codes=c.codes)),
    "label_entropy": (1, lambda c: activity.label_entropy(codes=c.codes, labels=c.labels)),
    "separability": (-1, lambda c: activity.separability(codes=c.codes, labels=c.labels)),
    "noise": (1, _noise),
}
