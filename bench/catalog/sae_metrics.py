"""The metrics of the family `sae` as they are declared, by task."""

from __future__ import annotations

from typing import Any

from bench.spec import Direction, MetricInfo

_RDP = (
    "F. Mencattini, F. Montagna and F. Locatello (2026), The Rate-Distortion-Polysemanticity Tradeoff in SAEs; "
    "operational definition ours"
)
_MDL = "K. Ayonrinde, M. Pearce and L. Sharkey (2024), Interpretability as Compression"
_SAELENS = "D. Chanin and A. Garriga-Alonso (2026), SynthSAEBench"
_ABSORB = "D. Chanin et al. (2024), A is for Absorption; without a probe, as the concepts are known"
_GAO = "L. Gao et al. (2024), Scaling and evaluating sparse autoencoders"
_OWN = "this project, 2026"


def _metric(
    name: str, direction: Direction, title: str, definition: str, cite: str = _OWN, **more: Any
) -> MetricInfo:
    """A metric in [0, inf) if nothing else is said."""
    limits = {"lo": 0.0} | more
    return MetricInfo(name=name, direction=direction, title=title, definition=definition, cite=cite, **limits)


QUALITY = (
    _metric(
        "fvu", "min", "Unexplained variance",
        "sum ||x - x_hat||^2 / sum ||x - mean||^2 over evaluation rows, mean per dimension.", _GAO,
    ),
    _metric(
        "fvu_q", "min", "Unexplained variance, quantised",
        "The same for the reconstruction from magnitudes rounded to the quantiser's steps: the message whose bits are "
        "counted.",
    ),
    _metric("mse", "min", "Squared error", "Mean ||x - x_hat||^2 of unscaled rows.", _GAO),
    _metric("cosine", "max", "Cosine", "Mean cosine of row and reconstruction.", lo=-1.0, hi=1.0),
    _metric("shrinkage", "none", "Length kept", "Mean ||x_hat|| / ||x||; 1 is ideal.", target=1.0),
    _metric("l0", "min", "L0", "Mean number of active latents in a row.", _RDP),
    _metric(
        "bits", "min", "Bits",
        "support_bits + magnitude_bits: length of the message of one row under a code that takes latents one by one.",
        _MDL, unit="bits",
    ),
    _metric("support_bits", "min", "Bits, which", "Sum over latents of the binary entropy of their density.", _MDL,
            unit="bits"),
    _metric(
        "magnitude_bits", "min", "Bits, how strong",
        "Density times the entropy (Miller-Madow) of f ||w|| in steps of a quarter of the rows' root mean square, over "
        "active values only.", _MDL, unit="bits",
    ),
    _metric("index_bits", "min", "Bits, fixed length", "l0 (7 + log2 m).", _MDL, unit="bits"),
    _metric("latents", "none", "Latents", "Number of latents of the coder."),
)  # fmt: skip

SYNTH = (
    _metric(
        "poly", "min", "Polysemanticity",
        "Effective number of concepts that move a latent when they are switched on and off, mean over alive latents "
        "weighted by their density; 1 is monosemantic.", _RDP, lo=1.0, primary=True,
    ),
    *QUALITY[:1],
    _metric("purity", "max", "Purity", "Share of a latent's response that its strongest concept has, mean over alive "
            "latents.", _RDP, hi=1.0),
    _metric("coverage", "max", "Coverage",
            "Share of concepts with a latent of purity >= 0.9 that detects them with F1 >= 0.9.", hi=1.0),
    _metric("poly_mean", "min", "Polysemanticity, unweighted", "The same, every alive latent counting alike.", _RDP,
            lo=1.0),
    _metric("poly_frac", "min", "Polysemantic latents", "Share of alive latents with purity below 0.9.", _RDP, hi=1.0),
    _metric("dead_frac", "min", "Dead latents", "Share of latents that no concept moves or that are never active.",
            hi=1.0),
    *QUALITY[1:],
    _metric(
        "hv", "max", "Trade-off volume",
        "Volume dominated by the sweep in (bits, quantised unexplained variance, polysemanticity), from the ideal to "
        "random atoms.", hi=1.0,
    ),
    _metric("mcc_factors", "max", "Atoms matched", "Matched |cosine| of atoms and concepts over all concepts.",
            _SAELENS, hi=1.0),
    _metric("mcc_min", "max", "Atoms matched, SAELens", "The same over the smaller number of the two.", _SAELENS,
            hi=1.0),
    _metric("f1_matched", "max", "F1, matched", "F1 of latents as detectors of the concepts they are matched with, "
            "over all concepts.", hi=1.0),
    _metric("f1_best", "max", "F1, SAELens", "F1 of each latent with its nearest concept, mean over latents.", _SAELENS,
            hi=1.0),
    _metric("splits", "none", "Latents per concept", "Latents with purity >= 0.5 per covered concept; 1 is ideal.",
            target=1.0),
    _metric(
        "absorption", "min", "Absorption",
        "1 - recall of a parent's latent while a child is on / recall without a child, mean over parents.", _ABSORB,
        hi=1.0,
    ),
    _metric("dec_neff", "min", "Concepts per atom",
            "Participation ratio of the concepts that make up an atom, by non-negative matching pursuit.", lo=1.0),
)  # fmt: skip

TOY = (
    _metric(
        "gap", "min", "Distance from the optimum",
        "|expected squared error - closed form| of two latents of which one is active. Coders with a bias may be "
        "better than the closed form, which has none.", primary=True,
    ),
    _metric("distortion", "min", "Squared error", "Expected squared error, exact."),
    _metric("turn", "none", "Turn of the atom",
            "Largest angle between an atom and the concept next to it; 0 would be monosemantic.", unit="deg", hi=90.0),
    _metric("angle_error", "min", "Error of the angle", "|turn - closed form|.", unit="deg", hi=90.0),
    _metric("l0", "min", "L0", "Expected number of latents above a thousandth of a concept's magnitude."),
    _metric("support_bits", "min", "Bits, which", "Bits of the support.", unit="bits"),
    _metric(
        "rate_tax", "none", "Rate tax",
        "L0 of the exact dictionary of the two concepts less that of the one with an atom for both; q in closed form.",
        lo=-2.0,
    ),
)  # fmt: skip

_PACH = "M. Pach et al. (2025), Sparse Autoencoders Learn Monosemantic Features in Vision-Language Models"
_GURNEE = "W. Gurnee et al. (2023), Finding Neurons in a Haystack: Case Studies with Sparse Probing"

LM = (
    _metric(
        "fvu", "min", "Unexplained variance",
        "sum ||x - x_hat||^2 / sum ||x - mean||^2 over evaluation tokens, mean per dimension.", _GAO, primary=True,
    ),
    _metric(
        "recovered_mean", "max", "Recovered",
        "(loss with the mean put in - loss with the reconstruction) / (loss with the mean - loss). Loss: next-token "
        "cross entropy; of a sentence encoder 1 - cosine with the original sentence vector.",
        _GAO, lo=float("-inf"), hi=1.0,
    ),
    *QUALITY[4:7],
    *QUALITY[1:2],
    _metric("probe_k1", "max", "Probe, 1 latent", "Area under the ROC curve of a logistic regression on the latent "
            "whose class means differ most, mean over sets of texts.", _GURNEE, hi=1.0),
    _metric("probe_k16", "max", "Probe, 16 latents", "The same on 16 latents.", _GURNEE, hi=1.0),
    _metric("probe_dense", "none", "Probe, dense", "The same on all dimensions of the mean activation: the same for "
            "every coder.", _GURNEE, hi=1.0),
    _metric("recovered_zero", "max", "Recovered, zero", "The same with 0 put in instead of the mean.", _GAO,
            lo=float("-inf"), hi=1.0),
    _metric("loss_added", "min", "Loss added", "Loss with the reconstruction - loss.", _GAO, lo=float("-inf")),
    _metric("kl", "min", "KL", "Mean Kullback-Leibler divergence of next-token probabilities, in nats.", _GAO),
    _metric("dead_frac", "min", "Dead latents", "Share of latents never active on evaluation tokens.", hi=1.0),
    _metric("ms_self", "none", "Monosemanticity score", "A proxy whose order can be wrong, see sae.proxy_audit: mean "
            "similarity of the inputs that activate a latent.", _PACH, lo=-1.0, hi=1.0),
    _metric("top_entropy", "none", "Token entropy", "A proxy: entropy of the token at the 20 strongest activations of "
            "a latent, one a row.", unit="bits"),
    _metric("max_dec_cos", "none", "Nearest atom", "A proxy: largest |cosine| of an atom with another.", hi=1.0),
    *QUALITY[2:4],
    *QUALITY[7:],
)  # fmt: skip

_CONDITIONS = {
    "c1": ("Extremes", "The true concepts are at or below every trained coder, random atoms above them all."),
    "c2": (
        "Invariance",
        "Order and scale of latents, dead latents, order of rows and rotation do not matter.",
    ),
    "c3": (
        "Merging",
        "A merged latent is above its parts; an atom that turns towards another rises all the way.",
    ),
    "c4": ("Duplicates", "Splitting latents into equal halves does not make a coder look better."),
    "c5": (
        "No confounding",
        "The true concepts look alike however often concepts occur together (10 % of the range).",
    ),
    "c6": ("Sensitivity", "Trained coders rise with co-occurrence, as they do in truth."),
    "c7": (
        "Monotone",
        "Where better bits and distortion are paid for in truth, it does not deny it (in 9 of 10 pairs).",
    ),
    "c8": (
        "Reliability",
        "Other evaluation rows move it by less than a third of the gap between neighbouring coders.",
    ),
}
_AGREEMENT = "Spearman's rank correlation with polysemanticity by intervention"

AUDIT = (
    _metric("trained", "max", "Agreement, trained", f"{_AGREEMENT}, over trained coders of all worlds.", lo=-1.0,
            hi=1.0, primary=True),
    _metric("passed", "max", "Conditions met", "Share of the conditions that can be judged.", hi=1.0),
    _metric("everyone", "max", "Agreement, all", f"{_AGREEMENT}, over trained coders and controls.", lo=-1.0, hi=1.0),
    _metric("latents", "max", "Agreement, latents",
            f"{_AGREEMENT}, over the latents of trained coders in the world with most co-occurrence.", lo=-1.0, hi=1.0),
    _metric("trained_kendall", "max", "Kendall, trained", "Kendall's tau-b in the place of Spearman's.", lo=-1.0,
            hi=1.0),
    *(
        _metric(name, "max", title, definition, hi=1.0)
        for name, (title, definition) in _CONDITIONS.items()
    ),
    _metric("fooled", "min", "Fooled by", "Of three controls (rows as atoms, permuted decoder, shuffled encoder) those "
            "that look less polysemantic than a trained coder.", hi=3.0),
)  # fmt: skip

_TL = "The Weight Gram Matrix Captures Sequential Feature Linearization (2026)"

LINEARITY = (
    _metric("held_out", "max", "Held-out linearity", "Target linearity fitted on two thirds of the texts (a principal "
            "component for ten texts) and scored on the rest, last layer, mean over sets of texts.",
            lo=float("-inf"), hi=1.0, primary=True),
    _metric("best_layer", "max", "Best layer", "The same at the layer where it is largest.", lo=float("-inf"), hi=1.0),
    _metric("tl", "none", "Linearity, published", "1 - ||Y - H (H'H)^-1 H'Y||^2 / ||Y||^2 with centred targets, on "
            "the same "
            "texts it is fitted on.", _TL, hi=1.0),
    _metric("tl_centred", "none", "Linearity, centred", "The same with a centred representation.", _TL, hi=1.0),
    _metric("rank", "none", "Rank", "Rank of the representation of these texts."),
)  # fmt: skip
