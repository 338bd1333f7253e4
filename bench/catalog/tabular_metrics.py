"""The metrics of the family `tabular` as they are declared, by task."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bench.spec import Direction, MetricInfo

_SDMETRICS = "SDMetrics, DataCebo (2023)"
_ALAA = "A. Alaa et al. (2022), How Faithful is your Synthetic Data?"
_NAEEM = "M. F. Naeem et al. (2020), Reliable fidelity and diversity metrics for generative models"
_TABSTRUCT = "X. Jiang, N. Simidjievski and M. Jamnik (2026), TabStruct"
_GIOMI = "M. Giomi et al. (2023), A unified framework for quantifying privacy risk in synthetic data"
_BREUGEL = "B. van Breugel et al. (2023), Membership inference attacks against synthetic data"
_YAO = "Z. Yao et al. (2025), The DCR delusion"
_TSTR = "C. Esteban, S. Hyland and G. Raetsch (2017), Real-valued medical time series generation"
_OWN = "this project, 2026"


def _metric(
    name: str, direction: Direction, title: str, definition: str, cite: str = _OWN, **more: Any
) -> MetricInfo:
    """A metric in [0, 1] if nothing else is said."""
    limits = {"lo": 0.0, "hi": 1.0} | more
    return MetricInfo(name=name, direction=direction, title=title, definition=definition, cite=cite, **limits)


_DENSITY = (
    _metric(
        "shape_na", "max", "Column shapes",
        "Mean over columns of 1 - Kolmogorov-Smirnov distance (numbers) or 1 - total variation (categories), with "
        "missing as a value of its own.",
    ),
    _metric("shape", "max", "Column shapes, present values", "As shape_na over the values that are present.",
            _SDMETRICS),
    _metric(
        "pair_tv", "max", "Pairs",
        "Mean over pairs of columns of 1 - total variation of their joint tables, numbers in ten quantile bins of the "
        "real column.",
    ),
    _metric(
        "trend_all", "max", "Pair trends",
        "Mean over pairs of 1 - half the difference of correlations (two numbers) or 1 - total variation of the joint "
        "table.", _SDMETRICS,
    ),
    _metric("trend_strong", "max", "Strong pair trends",
            "trend_all over pairs with real |r| > 0.5 or Cramer's V > 0.3.", _SDMETRICS),
    _metric(
        "c2st", "max", "Two-sample test",
        "1 - |2 AUC - 1| of boosted trees that tell synthetic from real rows, identical rows kept in one fold.",
        "D. Lopez-Paz and M. Oquab (2017), Revisiting classifier two-sample tests", primary=True,
    ),
    _metric(
        "c2st_auc", "none", "Two-sample AUC",
        "The AUC itself: 0.5 is indistinguishable, below 0.45 means rows nearer to real ones than chance allows.",
        "D. Lopez-Paz and M. Oquab (2017), Revisiting classifier two-sample tests", target=0.5,
    ),
    _metric("jensen_shannon", "min", "Jensen-Shannon",
            "Mean over columns of the Jensen-Shannon divergence in bits, numbers in ten quantile bins.",
            "J. Lin (1991), Divergence measures based on the Shannon entropy"),
    _metric("wasserstein", "min", "Wasserstein-1",
            "Mean over numeric columns of the Wasserstein-1 distance divided by the real range.", hi=11.0),
    _metric("alpha_precision", "max", "Alpha-precision",
            "Whether synthetic rows fill the balls around the real centre in the right proportions.", _ALAA),
    _metric("beta_recall", "max", "Beta-recall",
            "The same for real rows near synthetic ones: about 0.5 for fresh data of equal size, 1 for a copy.", _ALAA),
    _metric("authenticity", "max", "Authenticity",
            "Share of synthetic rows farther from their nearest real row than that is from its own nearest: about 0.5 "
            "for fresh data, 0 for a copy.", _ALAA),
    _metric("precision", "max", "Precision", "Share of synthetic rows inside a ball around a real one, k = 5.", _NAEEM),
    _metric("recall", "max", "Recall", "Share of real rows inside a ball around a synthetic one, k = 5.", _NAEEM),
    _metric("density", "max", "Density", "Mean number of real balls that hold a synthetic row, divided by k.", _NAEEM,
            hi=float("inf"), target=1.0),
    _metric("coverage", "max", "Coverage", "Share of real rows whose ball holds a synthetic one.", _NAEEM),
    _metric("mmd2", "min", "Squared MMD",
            "Unbiased squared maximum mean discrepancy, RBF kernel, bandwidth the median real distance.",
            "A. Gretton et al. (2012), A kernel two-sample test", lo=-1.0, hi=2.0),
)  # fmt: skip

_VALIDITY = (
    _metric("category_adherence", "max", "Known categories", "Share of synthetic values that the real column has."),
    _metric("range_adherence", "max", "In range", "Share of synthetic numbers within the real range."),
    _metric("decimals_adherence", "max", "Decimals",
            "Share of synthetic numbers with no more decimals than real ones; whole numbers have none."),
    _metric("missing_rates", "min", "Missing rates", "Mean over columns of |missing share real - synthetic|."),
    _metric("missing_patterns", "min", "Missing patterns",
            "Total variation of which columns are missing together, over the 50 most frequent patterns."),
    _metric("constraint_violations", "min", "Broken rules",
            "Mean over rules that real rows obey, declared or mined, of the share of synthetic rows that break them."),
    _metric("rare_coverage", "max", "Rare categories",
            "Share of rare real categories (0.1 to 1 % of a column) that occur among the synthetic ones."),
    _metric("duplicate_rows", "min", "Duplicates", "|share of duplicate rows real - synthetic|."),
    _metric("high_cardinality", "max", "Many levels",
            "Agreement of the 50 most frequent levels and the rest, over columns with more than 50 levels."),
)  # fmt: skip

FIDELITY = (*_DENSITY, *_VALIDITY)

STRUCTURE = (
    _metric(
        "structure_skill", "max", "Structure skill",
        "Mean over predictable columns of how well each is predicted from the others by models trained on synthetic "
        "rows, relative to real rows; 0 is no better than guessing.", primary=True,
    ),
    _metric("global_utility", "max", "Global utility",
            "Mean over columns of error on real over error on synthetic training rows; 1 is as real rows.",
            _TABSTRUCT, hi=2.0, target=1.0),
    _metric("local_utility", "max", "Local utility", "Global utility of the target column.", _TABSTRUCT, hi=2.0,
            target=1.0),
    _metric("ci_fidelity", "max", "Graph statements",
            "Mean of ci_kept and dep_kept: do the independences and dependences of the true graph hold?", _TABSTRUCT),
    _metric("ci_kept", "max", "Independences kept",
            "Share of the graph's conditional independences that a test at level 0.01 does not reject.", _TABSTRUCT),
    _metric("dep_kept", "max", "Dependences kept", "Share of the graph's dependences that the test finds.", _TABSTRUCT),
    _metric("ci_effect", "max", "Graph effects",
            "How near conditional mutual informations come to those of the truth."),
    _metric("mechanism", "max", "Mechanisms",
            "How well each column, given its parents, obeys the law that made the data: variance and law of the noise, "
            "or conditional tables."),
    _metric("direction", "max", "Edge directions",
            "Share of edges whose direction shows in the synthetic rows; chance is 0.5; for linear models with "
            "non-normal noise.",
            "A. Hyvarinen and S. Smith (2013), Pairwise likelihood ratios for non-Gaussian structural equation models"),
)  # fmt: skip

EFFICACY = (
    _metric("ml_gap", "max", "Learning gap",
            "AUC or R^2 on real test rows of a model trained on synthetic rows, minus that of a model of real rows.",
            _TSTR, lo=float("-inf"), hi=float("inf"), target=0.0, primary=True),
    _metric("tstr", "max", "Synthetic-trained", "AUC or R^2 of the model trained on synthetic rows.", _TSTR,
            lo=float("-inf")),
    _metric("trtr", "none", "Real-trained", "AUC or R^2 of the same kind of model trained on real rows.", _TSTR,
            lo=float("-inf")),
    _metric("ml_augment", "max", "Augmentation",
            "Score of training on real and synthetic rows together, minus that on real rows.",
            lo=float("-inf"), hi=float("inf")),
    _metric("ml_importance", "max", "Importances",
            "Spearman correlation of the columns' permutation importances in both models.", lo=-1.0),
)  # fmt: skip

PRIVACY = (
    _metric("mia_tpr01", "min", "Members found at 1 %",
            "Share of training rows that the best of three attacks finds at 1 % false positives; 0.01 is guessing.",
            _BREUGEL, target=0.01, primary=True),
    _metric("mia_auc", "min", "Membership AUC", "AUC of the best of three membership attacks; 0.5 is guessing.",
            _BREUGEL, target=0.5),
    _metric("exact_copies", "min", "Exact copies",
            "Share of synthetic rows equal to a training row, beyond the share of fresh rows that are."),
    _metric("dcr_share", "min", "Nearer to training rows",
            "Share of synthetic rows nearer to the training rows than to as many fresh ones: 0.5 is clean, 1 a copy.",
            f"{_SDMETRICS}; {_YAO}", target=0.5),
    _metric("dcr_ratio", "none", "Distance ratio",
            "Median distance to the closest training row, over that of fresh rows.", _YAO, hi=float("inf"), target=1.0),
    _metric("nndr", "max", "Neighbour distance ratio",
            "Mean ratio of the distances to the nearest and second nearest training row.", _YAO),
    _metric("singling_out", "min", "Singling out",
            "Added risk that a predicate made of synthetic rows matches exactly one training row.", _GIOMI),
    _metric("linkability", "min", "Linkability",
            "Added risk that two halves of a person's columns lead to the same synthetic row.", _GIOMI),
    _metric("attribute_inference", "min", "Inference",
            "Added risk that a column is guessed from the others by the nearest synthetic row.", _GIOMI),
)  # fmt: skip

_REPORTED = (
    "shape", "trend_all", "trend_strong", "alpha_precision", "beta_recall", "dcr_share", "authenticity",
    "global_utility", "local_utility", "ci_fidelity", "ci_kept", "dep_kept",
)  # fmt: skip
TABSTRUCT = tuple(
    replace(metric, primary=metric.name == "global_utility")
    for metric in (*FIDELITY, *PRIVACY, *STRUCTURE)
    if metric.name in _REPORTED
)
