"""The proxies of polysemanticity that take part in `sae.proxy_audit`."""

from __future__ import annotations

from bench.spec import ModelInfo

_SCHERLIS = "A. Scherlis et al. (2022), Polysemanticity and Capacity in Neural Networks"
_PACH = "M. Pach et al. (2025), Sparse Autoencoders Learn Monosemantic Features in Vision-Language Models"
_SHARKEY = "L. Sharkey, D. Braun and B. Millidge (2022), Taking features out of superposition with sparse autoencoders"
_BRICKEN = "T. Bricken et al. (2023), Towards Monosemanticity"

_TABLE = (
    ("max_dec_cos", "Nearest atom", "Largest |cosine| of a latent's atom with another.", _SHARKEY),
    ("interference", "Interference", "Sum of squared cosines of an atom with all others.", _SCHERLIS),
    ("capacity", "Capacity", "1 / sum of squared cosines of an atom with all, itself included.", _SCHERLIS),
    ("enc_dec_cos", "Encoder and decoder", "Cosine of a latent's encoder direction and its atom.", _BRICKEN),
    ("density", "Density", "How often a latent is active.", _BRICKEN),
    ("ms_self", "Monosemanticity score", "Mean similarity of the inputs that activate a latent.", _PACH),
    ("ms_ext", "Monosemanticity score, other view", "The same with an independent embedding of the inputs.", _PACH),
    ("top_entropy", "Entropy of the strongest", "Entropy of the label of the 20 strongest activations.", _BRICKEN),
    ("bimodality", "Two modes", "Gain of two Gaussians over one on the logarithm of activations.", _BRICKEN),
    ("input_rank", "Rank of the inputs", "Participation ratio of the covariance of the inputs that activate a latent.",
     _SCHERLIS),
    ("coactivation", "Co-activation", "Largest Jaccard index with another latent.", _SHARKEY),
    ("label_entropy", "Entropy of labels", "Entropy of labels weighted by activation.", _BRICKEN),
    ("separability", "Separability", "Jensen-Shannon distance of activations inside and outside a label.", _PACH),
)  # fmt: skip


def _proxy(name: str, title: str, summary: str, paper: str, tags: tuple[str, ...] = ()) -> ModelInfo:
    return ModelInfo(
        name=f"proxy-{name.replace('_', '-')}",
        version="1",
        families=("sae",),
        entry="bench.models.sae.proxy:NamedProxy",
        title=title,
        summary=summary,
        params={"proxy": name},
        license="Apache-2.0",
        paper=paper,
        baseline="baseline" in tags,
        tags=("proxy", "deterministic", *tags),
        only_tasks=("sae.proxy_audit",),
    )


PROXIES: tuple[ModelInfo, ...] = (
    *(_proxy(*row) for row in _TABLE),
    _proxy(
        "noise", "Noise", "The floor: numbers that have nothing to do with the latent.", "", ("baseline",)
    ),
)
