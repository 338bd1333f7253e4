"""The data sets of the family `sae`: worlds with known concepts, activations of real models, labelled texts."""

from __future__ import annotations

from bench.spec import DatasetInfo

_LOADING = "bench.datasets.sae.loading"


def _world(name: str, title: str, summary: str, sha256: str) -> DatasetInfo:
    return DatasetInfo(
        name=name,
        entry=f"{_LOADING}:{name.replace('-', '_')}",
        title=title,
        summary=summary,
        license="Apache-2.0",
        data="generated",
        evidence="physical_truth",
        sha256=sha256,
    )


def _pairs(name: str, c: str, sha256: str) -> DatasetInfo:
    return _world(
        name,
        f"Pairs, {c}",
        "128 concepts in 64 dimensions, each in 3 % of the rows; concepts come in pairs, and given one, its partner "
        f"is there with probability {c}.",
        sha256,
    )


def _toy(name: str, p1: float, p2: float, q: float, sha256: str) -> DatasetInfo:
    return _world(
        name,
        f"Two concepts, q = {q:g}",
        f"Two orthonormal concepts: only the first {p1:g}, only the second {p2:g}, both {q:g}, else nothing.",
        sha256,
    )


WORLDS: tuple[DatasetInfo, ...] = (
    _pairs("pairs-03", "0.03", "fe93b83cb7a9b13c053f33b5e92e1131d3410cd56937b6009df905e686a17e3e"),
    _pairs("pairs-25", "0.25", "6c290f3f9973546db08ca3402eec6dc2eda8dcbf4149d198ecfa39bc79d4bdf6"),
    _pairs("pairs-50", "0.5", "e6435812eb2bb20bde529839c55382d07748c4ee98870cc0fc3ad2e8f47a5eab"),
    _pairs("pairs-80", "0.8", "362717d445db4e8533c24e3d33fdd545f6590f969f22ed74b4ac99b80bc0f70c"),
    _pairs("pairs-95", "0.95", "349c68e9b7f4b27db836e347e502f6ac388fb54a440f8ce8635afd8fa2a100ba"),
    _pairs("anti", "0", "11b46102f4512e36a0fe2a38336e471b659802f6e092f9cb5ee4ab5d65e4b4a6"),
    _world(
        "indep",
        "Independent concepts",
        "128 concepts in 64 dimensions, each in 3 % of the rows, independent of each other.",
        "39e2b42aaef902e7f8534433e562c0848703ca7ed857230c80fa757c195e6921",
    ),
    _world(
        "copula",
        "Correlated concepts",
        "512 concepts in 128 dimensions with a few common causes (Gaussian copula of rank 8).",
        "7709ccbdf46c74c8b5805cb81fe02ddde2de03366707213df6913566354559b5",
    ),
    _world(
        "hier",
        "Hierarchy",
        "32 concepts with 4 children each in 96 dimensions; a child needs its parent and excludes its siblings.",
        "05d46834610a0b59fba591c0c99087431a3808351bc6820d7654c840960d2935",
    ),
    _world(
        "zipf",
        "Rare and common concepts",
        "1,024 concepts in 256 dimensions whose probabilities fall like a power; a hierarchy, correlated roots.",
        "6bea615749038abc3b9effc387cef27d09dd7d04a2d7ca654cb19bdb8044e7b6",
    ),
    _world(
        "pairs-tiny",
        "Pairs, tiny",
        "16 concepts in 12 dimensions, in pairs.",
        "aeafd196fd57448842c44dda840bfc14b1c08e10c3746624a9f6a39b739276c1",
    ),
    _toy("toy2-q02", 0.1, 0.1, 0.02, "e02fd90d8186d92e059cb773a824612a6a450f9e772554dbdd327bd260f9ab18"),
    _toy("toy2-q05", 0.1, 0.1, 0.05, "f025641fd24cce6b68ba9479af11a23eba93440a7c3416795bd904fdff19cd4b"),
    _toy("toy2-q10", 0.1, 0.1, 0.1, "11138ff77c713b2691b514e733177cdd621494cd125652dc8f70436e77994585"),
    _toy("toy2-q20", 0.1, 0.1, 0.2, "bb04058825a5fb477cf509332521b52e8d0cd8aabe3fd16210d5d033496cce34"),
    _toy("toy2-skew", 0.1, 0.05, 0.1, "99e092e7aa7e26f7a716132570c6b525e516325575aeaff0714af93277aed23c"),
)


def _hook(name: str, title: str, summary: str, license: str, sha256: str) -> DatasetInfo:
    return DatasetInfo(
        name=name,
        entry=f"{_LOADING}:{name.replace('-', '_')}",
        locate=f"{_LOADING}:locate_{name.replace('-', '_')}",
        title=title,
        summary=summary,
        license=license,
        data="real",
        sha256=sha256,
        requires=("pandas", "pyarrow", "safetensors"),
    )


_TEXTS = "Texts of ten sources from the package sae-probes (mixed licences; read, never passed on)."

HOOKS: tuple[DatasetInfo, ...] = (
    _hook(
        "minilm-l3",
        "MiniLM, layer 3",
        f"Outputs of layer 3 of all-MiniLM-L6-v2, 384 dimensions. {_TEXTS}",
        "Apache-2.0 (model)",
        "76888a0d6f8d3af232e95061924e68a20b5e399549e731b07dac88c9248f9f5c",
    ),
    _hook(
        "smollm2-l9",
        "SmolLM2-135M, block 9",
        f"Residual stream of SmolLM2-135M-Instruct after 9 of 30 blocks, 576 dimensions. {_TEXTS}",
        "Apache-2.0 (model)",
        "bfe73029a43aa66e20bfec4d20bb1e2dc94056f6d2e9325500bad93bef3a9b21",
    ),
)

PROBE_TEXTS = DatasetInfo(
    name="probe-texts",
    entry=f"{_LOADING}:probe_texts",
    locate=f"{_LOADING}:locate_probe_texts",
    title="Labelled texts",
    summary="Eight sets of texts with two classes from the package sae-probes (mixed licences; read, never passed on).",
    license="mixed",
    data="real",
    sha256="245700c8df310760e3d5b23d657ae5196489813f3012b55975057d8239d8be03",
    url="https://pypi.org/project/sae-probes/",
    requires=("pandas", "pyarrow", "safetensors"),
)

DATASETS = (*WORLDS, *HOOKS, PROBE_TEXTS)
