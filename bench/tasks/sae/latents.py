"""Cards of latents: where each is strongest, in context."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.datasets.sae import texts
from bench.metrics.sae.activity import FEWEST
from bench.metrics.sae.monosemanticity import monosemanticity_scores
from bench.tasks.sae.artifact import Coded
from bench.tasks.sae.lm_unit import LmUnit

SHOWN, CONTEXTS, REACH = 24, 5, 6  # latents, contexts of each, tokens to each side


def latent_cards(coded: Coded, plan: LmUnit) -> dict[str, Any]:
    """`latents`: cards of 24 latents, spread evenly over the densities; the seed and nobody's taste decides.

    A card has `latent`, `density`, `ms` (or None), `sources` (share by source) and `contexts`: lists of
    [text of the token, strength in [0, 1]].
    """
    n = len(plan.rows)
    columns = np.abs(coded.codes[:n]).tocsc()
    counts = np.diff(columns.indptr)
    usable = np.flatnonzero(counts >= FEWEST)
    if not len(usable):
        return {"latents": []}
    ordered = usable[np.argsort(counts[usable], kind="stable")]
    chosen = ordered[np.linspace(0, len(ordered) - 1, min(SHOWN, len(ordered))).astype(int)]
    scores = monosemanticity_scores(codes=columns[:, chosen], embeddings=plan.rows - plan.rows.mean(axis=0))
    positions = np.argwhere(plan.counts)
    return {
        "latents": [
            {
                "latent": int(j),
                "density": round(float(counts[j] / n), 6),
                "ms": None if np.isnan(score) else round(float(score), 4),
                "sources": _sources(columns, j, plan),
                "contexts": _contexts(columns, j, plan, positions),
            }
            for j, score in zip(chosen, scores, strict=True)
        ]
    }


def _sources(columns: Any, j: int, plan: LmUnit) -> dict[str, float]:
    """Share of the activation that falls on each of the three sources with most of it."""
    rows, values = _active(columns, j)
    mass = np.bincount(plan.source_of[rows], weights=values, minlength=len(texts.CORPUS))
    most = np.argsort(-mass)[:3]
    return {
        texts.CORPUS[s].partition("_")[2]: round(float(mass[s] / mass.sum()), 3) for s in most if mass[s] > 0
    }


def _contexts(columns: Any, j: int, plan: LmUnit, positions: np.ndarray) -> list[list[list[Any]]]:
    """The strongest activation of each of five rows of tokens."""
    rows, values = _active(columns, j)
    order = rows[np.argsort(-values, kind="stable")]
    _, first = np.unique(plan.row_of[order], return_index=True)
    strength = dict(zip((tuple(p) for p in positions[rows]), values / values.max(), strict=True))
    return [_context(positions[i], strength, plan) for i in order[np.sort(first)][:CONTEXTS]]


def _context(position: np.ndarray, strength: dict[tuple[Any, ...], float], plan: LmUnit) -> list[list[Any]]:
    row, place = (int(v) for v in position)
    tokens = plan.tokens[plan.evaluation][row]
    tokenizer = plan.hook.load().tokenizer
    around = range(max(0, place - REACH), min(len(tokens), place + REACH + 1))
    return [[tokenizer.text(int(tokens[i])), round(float(strength.get((row, i), 0.0)), 3)] for i in around]


def _active(columns: Any, j: int) -> tuple[np.ndarray, np.ndarray]:
    part = slice(columns.indptr[j], columns.indptr[j + 1])
    return columns.indices[part], columns.data[part].astype(np.float64)
