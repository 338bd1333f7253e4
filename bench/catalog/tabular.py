"""Catalogue of the family `tabular`: plain data, nothing heavy is imported here."""

from __future__ import annotations

from bench.catalog.tabular_tasks import TASKS
from bench.datasets.tabular.cards import CARDS
from bench.datasets.tabular.dataset import Card
from bench.datasets.tabular.openml import TABLES, card
from bench.spec import DatasetInfo, JSONScalar, ModelInfo, Resources

__all__ = ["DATASETS", "MODELS", "TASKS"]

_LOADING = "bench.datasets.tabular.loading"


def _dataset(about: Card) -> DatasetInfo:
    return DatasetInfo(
        name=about.name,
        entry=f"{_LOADING}:{about.name}",
        locate=f"{_LOADING}:locate_{about.name}",
        title=about.title,
        summary=f"{about.summary} {about.rows:,} rows, {about.columns:,} columns. {about.notes}".strip(),
        license=about.licence,
        data=about.data,
        sha256=about.sha256,
        url=about.url,
        citation=about.citation,
        requires=about.requires,
    )


DATASETS: tuple[DatasetInfo, ...] = tuple(
    _dataset(about) for about in (*CARDS.values(), *(card(name) for name in TABLES))
)

_SKLEARN = ("sklearn",)


def _model(
    name: str,
    entry: str,
    title: str,
    summary: str,
    *,
    paper: str = "",
    tags: tuple[str, ...] = (),
    requires: tuple[str, ...] = (),
    params: dict[str, JSONScalar] | None = None,
    url: str = "",
    license: str = "Apache-2.0",
    gpus: float | None = None,
    training_data: tuple[str, ...] = (),
) -> ModelInfo:
    return ModelInfo(
        name=name,
        version="1",
        families=("tabular",),
        entry=f"bench.models.tabular.{entry}",
        title=title,
        summary=summary,
        params=params or {},
        requires=requires,
        resources=None if gpus is None else Resources(gpus=gpus, memory_mb=16_384, timeout_s=7_200.0),
        license=license,
        url=url,
        paper=paper,
        training_data=training_data,
        baseline="baseline" in tags,
        tags=tags,
    )


_XU = (
    "L. Xu, M. Skoularidou, A. Cuesta-Infante and K. Veeramachaneni (2019), Modeling Tabular Data using Conditional "
    "GAN"
)
_JIANG = "X. Jiang et al. (2026), Tabular Foundation Model for Generative Modelling"

MODELS: tuple[ModelInfo, ...] = (
    _model(
        "real_holdout",
        "real_holdout:RealHoldout",
        "Held-out real rows",
        "Upper bound: real rows that no model was trained on.",
        tags=("baseline", "oracle"),
    ),
    _model(
        "independent",
        "independent:Independent",
        "Independent columns",
        "The floor of structure: every column resampled for itself.",
        tags=("baseline",),
    ),
    _model(
        "bootstrap",
        "bootstrap:Bootstrap",
        "Bootstrap",
        "Training rows drawn with replacement: fidelity without privacy.",
        paper="B. Efron (1979), Bootstrap Methods: Another Look at the Jackknife",
        tags=("baseline", "memoriser"),
    ),
    _model(
        "copy",
        "copy:Copy",
        "Copies of the training rows",
        "A perfect memoriser.",
        tags=("baseline", "memoriser"),
    ),
    _model(
        "noisy_copy",
        "noisy_copy:NoisyCopy",
        "Noisy copies",
        "Training rows with five per cent of noise, which exact matching does not see.",
        params={"noise": 0.05},
        tags=("baseline", "memoriser"),
    ),
    _model(
        "collapsed",
        "collapsed:Collapsed",
        "Mean and mode",
        "A collapsed model: one row, again and again.",
        tags=("baseline", "collapse", "deterministic"),
    ),
    _model(
        "smote_nc",
        "smote_nc:SmoteNC",
        "SMOTE-NC",
        "Interpolation between a training row and one of its five nearest, the mode of all five in categories.",
        params={"neighbors": 5},
        requires=_SKLEARN,
        paper="N. V. Chawla, K. W. Bowyer, L. O. Hall and W. P. Kegelmeyer (2002), SMOTE: Synthetic Minority "
        "Over-sampling Technique",
        tags=("interpolation",),
    ),
    _model(
        "gaussian_copula",
        "gaussian_copula:GaussianCopula",
        "Gaussian copula",
        "Empirical margins and one shrunk correlation matrix of normal scores.",
        requires=_SKLEARN,
        paper="N. Patki, R. Wedge and K. Veeramachaneni (2016), The Synthetic Data Vault",
        tags=("statistical",),
    ),
    _model(
        "bayes_net",
        "bayes_net:LearnedBayesNet",
        "Bayesian network",
        "At most three parents a column, found by hill climbing on BIC over binned columns.",
        params={"bins": 10, "max_parents": 3},
        paper="N. Friedman, I. Nachman and D. Pe'er (1999), Learning Bayesian Network Structure from Massive Datasets",
        tags=("statistical", "structure"),
    ),
    _model(
        "kde_gmm",
        "kde_gmm:ClusteredMixture",
        "Clustered Gaussian mixtures",
        "Clusters of categories, in each of them a Gaussian mixture of normal scores.",
        requires=_SKLEARN,
        paper="A. P. Dempster, N. M. Laird and D. B. Rubin (1977), Maximum Likelihood from Incomplete Data via the EM "
        "Algorithm",
        tags=("statistical",),
    ),
    _model(
        "cart_seq",
        "cart_seq:SequentialCart",
        "Sequential CART",
        "One tree a column given the columns before it; values of random training rows of the leaf.",
        params={"min_leaf": 10},
        requires=_SKLEARN,
        paper="J. P. Reiter (2005), Using CART to Generate Partially Synthetic, Public Use Microdata",
        tags=("trees",),
    ),
    _model(
        "arf",
        "arf:AdversarialForest",
        "Adversarial random forest",
        "A forest that can no longer tell real rows from its own; columns are independent within a leaf.",
        params={"min_leaf": 5},
        requires=_SKLEARN,
        paper="D. S. Watson, K. Blesch, J. Kapar and M. N. Wright (2023), Adversarial Random Forests for Density "
        "Estimation and Generative Modeling",
        tags=("trees",),
    ),
    _model(
        "ctgan",
        "ctgan:CTGAN",
        "CTGAN",
        "Conditional Wasserstein GAN with mode-specific normalisation and packed rows; 350 steps at size small, "
        "4,000 at full.",
        requires=_SKLEARN,
        paper=_XU,
        tags=("gan", "deep", "heavy"),
    ),
    _model(
        "tvae",
        "tvae:TVAE",
        "TVAE",
        "Variational autoencoder with mode-specific normalisation; 1,000 steps at size small, 15,000 at full.",
        requires=_SKLEARN,
        paper=_XU,
        tags=("vae", "deep", "heavy"),
    ),
    _model(
        "tabddpm",
        "tabddpm:TabDDPM",
        "TabDDPM",
        "Gaussian and multinomial diffusion with one denoiser; 800 steps at size small, 20,000 at full.",
        paper="A. Kotelnikov, D. Baranchuk, I. Rubachev and A. Babenko (2023), TabDDPM: Modelling Tabular Data with "
        "Diffusion Models",
        tags=("diffusion", "deep", "heavy"),
    ),
    _model(
        "latent_diff",
        "latent_diff:LatentDiffusion",
        "Latent diffusion",
        "Autoencoder of column tokens, EDM diffusion on its latents, decoder trained on denoised latents; 1,650 steps "
        "at size small, 25,000 at full.",
        paper="H. Zhang et al. (2024), Mixed-Type Tabular Data Synthesis with Score-based Diffusion in Latent Space; "
        + _JIANG,
        tags=("diffusion", "deep", "heavy"),
    ),
    _model(
        "forest_flow",
        "forest_flow:ForestFlow",
        "Forest flow",
        "Flow matching with gradient-boosted trees; up to 8 times at size small, 20 at full.",
        requires=_SKLEARN,
        paper="A. Jolicoeur-Martineau, K. Fatras and T. Kachman (2024), Generating and Imputing Tabular Data via "
        "Diffusion and Flow-based Gradient-Boosted Trees",
        tags=("flow", "trees", "heavy"),
    ),
    _model(
        "tabforge_official",
        "tabforge_official:OfficialTabForge",
        "TabFORGE (authors' code)",
        "The authors' foundation model: structure-aware encoder, diffusion transformer, aligned decoder.",
        params={"checkpoint": "pretrained", "encoder": "auto"},
        requires=("tabforge",),
        url="https://github.com/SilenceX12138/TabFORGE",
        gpus=1.0,
        paper=_JIANG,
        tags=("diffusion", "deep", "wrapper"),
        training_data=("the pre-training corpus of TabFORGE",),
    ),
    _model(
        "great",
        "great:GReaT",
        "GReaT",
        "A language model fine-tuned on rows as sentences.",
        params={"llm": "distilgpt2"},
        requires=("be_great",),
        url="https://github.com/tabularis-ai/be_great",
        license="MIT",
        gpus=1.0,
        paper="V. Borisov et al. (2023), Language Models are Realistic Tabular Data Generators",
        tags=("language-model", "deep", "wrapper"),
        training_data=("the corpus of the language model",),
    ),
    _model(
        "nrgboost",
        "nrgboost:NRGBoost",
        "NRGBoost",
        "Energy-based boosted trees, sampled by Gibbs steps.",
        requires=("nrgboost",),
        url="https://github.com/ajoo/nrgboost",
        license="MIT",
        gpus=0.0,
        paper="J. Bravo (2025), NRGBoost: Energy-Based Generative Boosted Trees",
        tags=("trees", "heavy", "wrapper"),
    ),
    _model(
        "tabicl",
        "tabicl:TabICL",
        "TabICL",
        "Draws each column given those before it with an in-context foundation model; nothing is trained.",
        requires=("tabicl",),
        url="https://github.com/soda-inria/tabicl",
        license="BSD-3-Clause",
        gpus=1.0,
        paper="J. Qu, D. Holzmüller, G. Varoquaux and M. Le Morvan (2025), TabICL: A Tabular Foundation Model for "
        "In-Context Learning on Large Data",
        tags=("in-context", "deep", "wrapper"),
        training_data=("synthetic prior data sets",),
    ),
)
