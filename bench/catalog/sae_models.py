"""The reference coders of the family `sae`."""

from __future__ import annotations

from bench.spec import JSONScalar, ModelInfo

_MODULE = "bench.models.sae"
_SKLEARN = ("sklearn",)
_KNOWN = ("sae.toy2", "sae.synth", "sae.cooccurrence")  # tasks with true concepts
_TRUTH = (
    "F. Mencattini, F. Montagna and F. Locatello (2026), The Rate-Distortion-Polysemanticity Tradeoff in SAEs"
)


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
    only_tasks: tuple[str, ...] = (),
) -> ModelInfo:
    return ModelInfo(
        name=name,
        version="1",
        families=("sae",),
        entry=f"{_MODULE}.{entry}",
        title=title,
        summary=summary,
        params=params or {},
        requires=requires,
        license="Apache-2.0",
        paper=paper,
        baseline="baseline" in tags,
        tags=("reference", *tags),
        only_tasks=only_tasks,
    )


_TRAINED = (
    _model(
        "sae-topk",
        "topk:TopK",
        "TopK SAE",
        "Keeps the k largest pre-activations; dead latents learn from the error that is left (AuxK).",
        paper="L. Gao et al. (2024), Scaling and evaluating sparse autoencoders",
        tags=("core", "sae"),
    ),
    _model(
        "sae-batchtopk",
        "batchtopk:BatchTopK",
        "BatchTopK SAE",
        "Keeps k latents per row on average over a batch; encodes with one threshold.",
        paper="B. Bussmann, P. Leask and N. Nanda (2024), BatchTopK Sparse Autoencoders",
        tags=("sae",),
    ),
    _model(
        "sae-l1",
        "relu_l1:ReluL1",
        "ReLU SAE, L1",
        "Rectified linear code under an L1 penalty times the lengths of the atoms.",
        paper="T. Bricken et al. (2023), Towards Monosemanticity",
        tags=("core", "sae"),
    ),
    _model(
        "sae-jumprelu",
        "jumprelu:JumpReLU",
        "JumpReLU SAE",
        "A learned threshold per latent, and a loss that aims at the number of active latents.",
        paper="S. Rajamanoharan et al. (2024), Jumping Ahead",
        tags=("sae",),
    ),
    _model(
        "sae-gated",
        "gated:Gated",
        "Gated SAE",
        "Whether a latent is active and how strongly are decided apart.",
        paper="S. Rajamanoharan et al. (2024), Improving Dictionary Learning with Gated Sparse Autoencoders",
        tags=("sae",),
    ),
    _model(
        "sae-matryoshka",
        "matryoshka:Matryoshka",
        "Matryoshka SAE",
        "BatchTopK whose prefixes must reconstruct as well.",
        paper="B. Bussmann et al. (2025), Learning Multi-Level Features with Matryoshka Sparse Autoencoders",
        tags=("sae",),
    ),
    _model(
        "sae-padl",
        "relu_l1:ReluL1",
        "ReLU SAE, L1 and column norm",
        "The L1 coder with a second penalty, the largest activation of each latent in a batch, under which whole atoms "
        "vanish.",
        paper="J. Zhao et al. (2025), on dictionary learning that prunes its atoms; as an autoencoder by this project",
        params={"together": 0.02},
        tags=("sae",),
    ),
    _model(
        "tied-topk",
        "tied:Tied",
        "Tied atoms",
        "Unit atoms that are the encoder as well, no bias; in small worlds the best of eight starts.",
        paper=_TRUTH,
        params={"restarts": 8},
        tags=("sae",),
    ),
    _model(
        "omp-dictionary",
        "omp_sae:OmpDictionary",
        "Matching pursuit",
        "A learned dictionary with orthogonal matching pursuit as encoder.",
        paper="Y. C. Pati, R. Rezaiifar and P. S. Krishnaprasad (1993), Orthogonal Matching Pursuit",
        tags=("dictionary", "slow"),
    ),
    _model(
        "padl-dictionary",
        "padl:PenalisedDictionary",
        "Penalised dictionary",
        "Dictionary learning under L1 and column norms by proximal gradient steps.",
        paper="J. Zhao et al. (2025), on dictionary learning that prunes its atoms",
        tags=("dictionary", "slow"),
    ),
)

_CLASSIC = (
    _model(
        "dictionary-learning",
        "classic:DictionaryLearning",
        "Mini-batch dictionary learning",
        "Atoms by online dictionary learning, codes by matching pursuit.",
        paper="J. Mairal, F. Bach, J. Ponce and G. Sapiro (2009), Online Dictionary Learning for Sparse Coding",
        requires=_SKLEARN,
        tags=("dictionary", "slow"),
    ),
    _model(
        "ica",
        "classic:IndependentComponents",
        "FastICA",
        "Independent components; the k strongest of each row.",
        paper="A. Hyvärinen and E. Oja (2000), Independent Component Analysis: Algorithms and Applications",
        requires=_SKLEARN,
        tags=("classic", "slow"),
    ),
    _model(
        "nmf-split",
        "classic:SplitNmf",
        "NMF on both signs",
        "Non-negative factors of [x+, x-], codes by matching pursuit.",
        paper="D. D. Lee and H. S. Seung (1999), Learning the parts of objects by non-negative matrix factorization",
        requires=_SKLEARN,
        tags=("classic", "slow"),
    ),
    _model(
        "kmeans",
        "classic:SphericalMeans",
        "Spherical k-means",
        "One latent per row: its nearest direction.",
        paper="I. S. Dhillon and D. S. Modha (2001), Concept Decompositions for Large Sparse Text Data",
        tags=("classic",),
    ),
    _model(
        "pca",
        "fixed:Components",
        "PCA, first k",
        "The first k principal components.",
        tags=("baseline", "classic", "deterministic"),
    ),
    _model(
        "pca-topk",
        "fixed:Components",
        "PCA, k strongest",
        "Of all principal components the k strongest in each row.",
        params={"largest": True},
        tags=("baseline", "classic", "deterministic"),
    ),
)

_CONTROLS = (
    _model(
        "random-dictionary",
        "fixed:RandomDictionary",
        "Random atoms",
        "The floor: random unit atoms, the k largest inner products.",
        tags=("baseline", "core", "control"),
    ),
    _model(
        "data-dictionary",
        "fixed:DataDictionary",
        "Training rows as atoms",
        "Control: atoms are training rows, codes in one scale. Proxies may like it better than what was learned.",
        tags=("baseline", "control"),
    ),
    *(
        _model(
            f"control-{name}",
            f"controls:{entry}",
            title,
            summary,
            paper="A. Korznikov et al. (2026), Sanity Checks for Sparse Autoencoders",
            tags=("baseline", "control"),
        )
        for name, entry, title, summary in (
            (
                "frozen-decoder",
                "FrozenDecoder",
                "Frozen decoder",
                "BatchTopK with random atoms that never change.",
            ),
            (
                "frozen-encoder",
                "FrozenEncoder",
                "Frozen encoder",
                "BatchTopK with a random encoder that stays.",
            ),
            (
                "soft-frozen",
                "SoftFrozen",
                "Nearly frozen decoder",
                "BatchTopK whose atoms stay near random ones.",
            ),
        )
    ),
    _model(
        "identity",
        "fixed:Identity",
        "Identity",
        "Coordinates as latents: no distortion, the highest rate.",
        tags=("baseline", "control", "deterministic"),
    ),
    _model(
        "oracle",
        "truth:Oracle",
        "True atoms",
        "Upper bound: the concepts of the world as atoms, the k largest inner products.",
        tags=("baseline", "core", "oracle", "deterministic"),
        only_tasks=_KNOWN,
    ),
    _model(
        "oracle-codes",
        "truth:OracleCodes",
        "True codes",
        "Upper bound: the concepts as atoms and their true values as codes.",
        tags=("baseline", "oracle", "deterministic"),
        only_tasks=_KNOWN,
    ),
    _model(
        "frozen-truth",
        "truth:FrozenTruth",
        "True atoms, learned encoder",
        "What a monosemantic coder reaches; the distance to it is what monosemanticity costs.",
        paper=_TRUTH,
        tags=("baseline", "core", "oracle"),
        only_tasks=_KNOWN,
    ),
)

MODELS: tuple[ModelInfo, ...] = (*_TRAINED, *_CLASSIC, *_CONTROLS)
