"""Representations of texts that take part in `sae.target_linearity`."""

from __future__ import annotations

from bench.spec import ModelInfo

_TABLE = (
    ("minilm", "MiniLM", "Layers of all-MiniLM-L6-v2, mean over tokens.",
     "W. Wang et al. (2020), MiniLM: Deep Self-Attention Distillation", ("model",)),
    ("smollm2", "SmolLM2-135M", "Residual stream of SmolLM2-135M-Instruct at eight depths, mean over tokens.",
     "L. B. Allal et al. (2025), SmolLM2: When Smol Goes Big", ("model", "slow")),
    ("bag-of-words", "Bag of words", "Words counted in 256 buckets by their hash.", "", ("baseline",)),
    ("lengths", "Lengths", "The floor: six numbers about length and signs, nothing about meaning.", "", ("baseline",)),
)  # fmt: skip

REPRESENTATIONS: tuple[ModelInfo, ...] = tuple(
    ModelInfo(
        name=f"text-{name}",
        version="1",
        families=("sae",),
        entry="bench.models.sae.representation:NamedRepresentation",
        title=title,
        summary=summary,
        params={"representation": name},
        license="Apache-2.0",
        paper=paper,
        baseline="baseline" in tags,
        tags=("representation", "reference", *tags),
        only_tasks=("sae.target_linearity",),
    )
    for name, title, summary, paper, tags in _TABLE
)
