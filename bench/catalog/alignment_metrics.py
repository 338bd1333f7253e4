"""The metrics of the family `alignment`: definitions, ranges, directions and sources."""

from __future__ import annotations

from typing import Literal

from bench.spec import Direction, Evidence, MetricInfo

_GEIRHOS18 = "R. Geirhos et al. (2018), Generalisation in humans and deep neural networks"
_GEIRHOS19 = "R. Geirhos et al. (2019), ImageNet-trained CNNs are biased towards texture"
_CONSISTENCY = "R. Geirhos, K. Meding and F. A. Wichmann (2020), Beyond accuracy"
_GAP = "R. Geirhos et al. (2021), Partial success in closing the gap between human and machine vision"
_PETERSON = "J. C. Peterson et al. (2019), Human uncertainty makes classification more robust"
_STORRS = (
    "K. R. Storrs, B. L. Anderson and R. W. Fleming (2021), Unsupervised learning predicts human perception"
)
_ZHANG = "R. Zhang et al. (2018), The unreasonable effectiveness of deep features as a perceptual metric"
_MADRY = "A. Madry et al. (2018), Towards deep learning models resistant to adversarial attacks"


def _metric(
    name: str,
    title: str,
    direction: Direction,
    lo: float,
    hi: float,
    definition: str,
    *,
    cite: str = "",
    primary: bool = False,
    evidence: Evidence = "",
    target: float | None = None,
    kind: Literal["sample_mean", "set"] = "set",
) -> MetricInfo:
    return MetricInfo(
        name=name, direction=direction, lo=lo, hi=hi, primary=primary, title=title, definition=definition, cite=cite,
        evidence=evidence, target=target, kind=kind,
    )  # fmt: skip


_INF = float("inf")
_CEILING = (
    _metric("ceiling", "Ceiling", "none", -1, 1, "What people reach among themselves on the same images."),
    _metric(
        "ceiled", "Of the ceiling", "none", -_INF, _INF, "The value divided by the ceiling; not clipped."
    ),
)
_KAPPA = _metric(
    "kappa", "Error consistency", "max", -1, 1,
    "Cohen's kappa of being right on the same images as people, mean over observers, then conditions: 0 is what "
    "accuracies alone explain.",
    cite=_CONSISTENCY,
)  # fmt: skip

METRICS: dict[str, tuple[MetricInfo, ...]] = {
    "similarity": (
        _metric("two_afc", "Agreement", "max", 0, 1, "Share of pairs of equal error in which the mildly distorted "
                "image is nearer to the reference, by cosine distance of features.", cite=_ZHANG, primary=True,
                kind="sample_mean"),
        _metric("two_afc_euclidean", "Agreement, Euclidean", "max", 0, 1, "The same by Euclidean distance after every "
                "feature is divided by its deviation over the references.", cite=_ZHANG),
        _metric("dose_response", "Dose and response", "max", -1, 1, "Spearman correlation of distance with severity, "
                "mean over kinds of distortion and patches.", evidence="physical_truth"),
        *_CEILING,
    ),
    "gloss": (
        _metric("gloss", "Gloss", "max", 0, 1, "Root of the product of both parts, each from 0 at chance to 1: the "
                "correlation with the win curve of people, and telling gloss from matte.", cite=_STORRS, primary=True),
        _metric("curve_r", "Win curve", "max", -1, 1, "Correlation over seven bump heights of how often a height looks "
                "glossier than another, with people (experiment 3a).", cite=_STORRS),
        _metric("curve_r_3b", "Win curve, 3b", "max", -1, 1, "The same for experiment 3b.", cite=_STORRS),
        _metric("scene_r", "Win curve by scene", "max", -1, 1, "Mean over surfaces of their own curve's correlation."),
        _metric("nonmono", "Inner peak", "none", 0, 1, "Share of surfaces whose curve peaks at an inner height; of "
                "people 0.5 in experiment 3a."),
        _metric("gloss_acc", "Gloss from matte", "max", 0, 1, "Accuracy of a linear decoder of matte against glossy on "
                "other surfaces.", cite=_STORRS, evidence="physical_truth"),
    ),
    "uncertainty": (
        _metric("rho_ent", "Entropy correlation", "max", -1, 1, "Spearman correlation over images of the entropies of "
                "the true and the model's distributions of answers.", primary=True),
        _metric("ce", "Cross-entropy", "min", 0, _INF, "Mean cross-entropy to the true distributions, in nats; an "
                "oracle of the labels does well on it.", cite=_PETERSON),
        _metric("ce_cal", "Cross-entropy, calibrated", "min", 0, _INF, "The same on images of odd number with one "
                "temperature fitted on the others."),
        _metric("kl", "KL", "min", 0, _INF, "Cross-entropy less the mean entropy of the true distributions."),
        _metric("js", "Jensen-Shannon", "min", 0, 0.6931471805599454, "Mean Jensen-Shannon divergence, in nats."),
        _metric("js_cal", "Jensen-Shannon, calibrated", "min", 0, 0.6931471805599454, "The same with the temperature."),
        _metric("tv", "Total variation", "min", 0, 1, "Mean total variation distance."),
        _metric("second_choice", "Second choice", "max", 0, 1, "Agreement of the second most likely classes, on images "
                "with a unique one."),
        _metric("conf_rho", "Confusions", "max", -1, 1, "Spearman correlation of the mean answers to wrong classes."),
        _metric("ece", "Calibration error", "min", 0, 1, "Expected calibration error against the labels, 15 bins."),
        _metric("temperature", "Temperature", "none", 0.2231, 4.4817, "The fitted temperature: above 1, the model is "
                "too sure."),
        _metric("accuracy", "Accuracy", "max", 0, 1, "Against the labels.", evidence="physical_truth"),
        *_CEILING,
    ),
    "robustness": (
        _metric("human_gap", "Gap to people", "min", 0, _INF, "Mean over conditions of the squared difference of the "
                "accuracies of model and people.", cite=_GAP, primary=True, target=0.0),
        _metric("accuracy", "Accuracy", "max", 0, 1, "Over all conditions.", evidence="physical_truth"),
        _metric("curve_area", "Above people", "none", -2, 2, "Mean area between the accuracy curves of the model and "
                "of people, above chance; positive: the model stands more.", cite=_GEIRHOS18),
        _KAPPA,
        _metric("observed_consistency", "Same outcome", "max", 0, 1, "Share of images on which model and people are "
                "both right or both wrong.", cite=_CONSISTENCY),
        *_CEILING,
        _metric("pgd_linf", "PGD-20, 8/255", "max", 0, 1, "Accuracy after 20 steps of projected gradient ascent within "
                "8/255 of every pixel; stronger attacks exist.", cite=_MADRY, evidence="physical_truth"),
        _metric("pgd_l2", "PGD-20, L2 0.5", "max", 0, 1, "The same within a distance of 0.5.", cite=_MADRY,
                evidence="physical_truth"),
    ),
    "cue_conflict": (
        _metric("human_gap", "Gap to people", "min", 0, 1, "Distance of the shape bias from that of people, 0.9587.",
                cite=_GEIRHOS19, primary=True, target=0.0),
        _metric("shape_bias", "Shape bias", "none", 0, 1, "Of decisions that follow shape or texture, the share that "
                "follows shape.", cite=_GEIRHOS19, target=0.9587),
        _metric("covered", "Follows a cue", "none", 0, 1, "Share of decisions that follow shape or texture."),
        _metric("acc_matched", "Both cues", "max", 0, 1, "Accuracy where shape and texture agree.",
                evidence="physical_truth"),
        _metric("acc_shape", "Shape alone", "max", 0, 1, "Accuracy without texture.", evidence="physical_truth"),
        _metric("acc_texture", "Texture alone", "max", 0, 1, "Accuracy without shape.", evidence="physical_truth"),
        _KAPPA,
        *_CEILING,
    ),
    "attribution": (
        _metric("rho", "Agreement", "max", -1, 1, "Spearman correlation over pixels of the gradient of the true "
                "class's score with the mask of the shape, mean over images.", primary=True, kind="sample_mean"),
        _metric("iou", "IoU", "max", 0, 1, "Overlap of the top tenth of the pixels, intersection over union."),
        _metric("dice", "Dice", "max", 0, 1, "Overlap of the top tenth of the pixels, Dice coefficient."),
        _metric("mask_energy", "Energy in the mask", "max", 0, _INF, "Share of the map inside the mask over the mask's "
                "share of the image: 1 is chance.", target=None),
        _metric("pointing", "Pointing", "max", 0, 1, "Share of maps whose largest pixel is inside the mask."),
    ),
}  # fmt: skip
