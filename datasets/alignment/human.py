"""Images that people have answered, with every answer: cue conflict, edges and silhouettes, CIFAR-10H."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bench.datasets import cache
from bench.datasets.alignment import sources
from bench.errors import MissingRequirement

if TYPE_CHECKING:
    import pandas as pd

CATEGORIES = (
    "airplane", "bear", "bicycle", "bird", "boat", "bottle", "car", "cat",
    "chair", "clock", "dog", "elephant", "keyboard", "knife", "oven", "truck",
)  # fmt: skip
NO_ANSWER = -1
_NUMBER = {name: number for number, name in enumerate(CATEGORIES)}
_NAME = re.compile(r"([a-z]+)\d+(?:-([a-z]+)\d+)?\.png\Z")

Images = npt.NDArray[np.uint8]
Labels = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Condition:
    """Images that a group of observers answered, row by row the same."""

    name: str
    images: Images  # (n, 3, 224, 224)
    names: tuple[str, ...]
    labels: Labels  # (n,) category, of the shape
    textures: Labels  # (n,) category of the texture, -1 without one
    responses: Labels  # (observers, n) category, -1 without an answer


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Experiment:
    """A data set of 16 categories with the trials of people."""

    name: str
    conditions: tuple[Condition, ...]
    classes: tuple[str, ...] = CATEGORIES
    evidence: str = "human_trials"
    stimuli: str = "original"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SoftLabels:
    """Images with the answers of many people, and others to learn from; pictures are decoded when asked for."""

    name: str
    labels: Labels  # (n,)
    counts: Labels  # (n, classes)
    test: tuple[bytes, ...]  # (n,) encoded pictures
    train: tuple[bytes, ...]  # classes in turn, so that prefixes are balanced
    train_labels: Labels
    evidence: str = "human_trials"
    stimuli: str = "recoded"

    def images(self, n: int) -> Images:
        """The first `n` images that people answered, uint8 (n, 3, 32, 32)."""
        return _pictures(self.test[:n])

    def training(self, n: int) -> tuple[Images, Labels]:
        """`n` training images, or as many as there are, with their classes."""
        return _pictures(self.train[:n]), self.train_labels[:n]


def locate_cues() -> str | None:
    """None if images and trials of the cue conflict can be had, else why not."""
    return sources.locate((sources.CUES, sources.TRIALS), (sources.TEXTURE_VS_SHAPE, sources.MODEL_VS_HUMAN))


def load_cues() -> Experiment:
    """The cue-conflict images (the packed 160, else all 1,280) and the answers of ten people.

    Source: R. Geirhos et al. (2019), ImageNet-trained CNNs are biased towards texture.
    """
    if cache.is_near(sources.CUES):
        frame = sources.table(sources.CUES)
        pictures = dict(zip(frame["name"], frame["webp_lossless"], strict=True))
    else:
        pictures = _from_archive("stimuli/style-transfer-preprocessed-512/")
    return Experiment(name="cue-conflict", conditions=(_condition("cue-conflict", pictures, trials()),))


def locate_edges() -> str | None:
    """None if edges, silhouettes and trials can be had, else why not."""
    return sources.locate((sources.EDGES, sources.TRIALS), (sources.TEXTURE_VS_SHAPE, sources.MODEL_VS_HUMAN))


def load_edges() -> Experiment:
    """160 edge drawings and 160 filled silhouettes with the answers of ten people each; source as above."""
    if cache.is_near(sources.EDGES):
        frame = sources.table(sources.EDGES)
        found = {
            kind: dict(zip(part["name"], part["png"], strict=True))
            for kind, part in frame.groupby("kind", sort=True)
        }
    else:
        folders = {"edge": "stimuli/edges/", "silhouette": "stimuli/filled-silhouettes/"}
        found = {kind: _from_archive(folder) for kind, folder in folders.items()}
    answers = trials()
    conditions = tuple(_condition(str(kind), pictures, answers) for kind, pictures in found.items())
    return Experiment(name="edge-silhouette", conditions=conditions)


def trials() -> pd.DataFrame:
    """Every trial of the 17 experiments: dataset, subj, condition, category, object_response, image_id."""
    if cache.is_near(sources.TRIALS):
        return sources.table(sources.TRIALS)
    import pandas as pd

    parts = []
    for path, content in sources.members(sources.MODEL_VS_HUMAN, "/raw-data/"):
        folder, _, file = path.rpartition("/")
        if "subject" in file and file.endswith(".csv"):
            part = pd.read_csv(io.BytesIO(content), keep_default_na=False)  # "na" is an answer
            part["dataset"] = folder.rpartition("/")[2]
            part["image_id"] = part["imagename"].str.split("_", n=3).str[3]
            parts.append(part)
    if not parts:
        raise MissingRequirement(f"{sources.MODEL_VS_HUMAN.name} holds no trials of people; replace it")
    return pd.concat(parts, ignore_index=True)


def locate_soft_labels() -> str | None:
    """None if answers and images of CIFAR-10H can be had, else why not."""
    own = (sources.COUNTS, sources.CIFAR_TEST, sources.CIFAR_TRAIN)
    return sources.locate(own, (sources.COUNTS_ORIGINAL, *own[1:]))


def load_soft_labels() -> SoftLabels:
    """CIFAR-10H: 511,000 answers of people to the 10,000 test images of CIFAR-10.

    Source: J. C. Peterson et al. (2019), Human uncertainty makes classification more robust.
    """
    test, train = sources.table(sources.CIFAR_TEST), sources.table(sources.CIFAR_TRAIN)
    if cache.is_near(sources.COUNTS):
        counts = sources.table(sources.COUNTS)[[f"c{i}" for i in range(10)]].to_numpy(dtype=np.int64)
    else:
        counts = np.load(cache.fetch(sources.COUNTS_ORIGINAL), allow_pickle=False).astype(np.int64)
    if counts.shape != (len(test), 10):
        raise MissingRequirement(
            f"the answers of CIFAR-10H have the shape {counts.shape}, not ({len(test)}, 10)"
        )
    test = test.sort_values("index")
    train = train.assign(turn=train.groupby("label").cumcount()).sort_values(["turn", "label"], kind="stable")
    return SoftLabels(
        name="cifar10h",
        labels=test["label"].to_numpy(dtype=np.int64),
        counts=counts,
        test=tuple(test["jpeg"]),
        train=tuple(train["jpeg"]),
        train_labels=train["label"].to_numpy(dtype=np.int64),
    )


def _condition(dataset: str, pictures: dict[str, bytes], answers: pd.DataFrame) -> Condition:
    names = tuple(sorted(pictures))
    parts = [_NAME.fullmatch(name) for name in names]
    if not names or not all(parts):
        raise MissingRequirement(
            f"{dataset}: {len(names)} images, not all of them named like cat7-elephant1.png"
        )
    return Condition(
        name=dataset,
        images=_pictures([pictures[name] for name in names]),
        names=names,
        labels=np.array([_NUMBER[p[1]] for p in parts if p], dtype=np.int64),
        textures=np.array([_NUMBER.get(p[2] or "", -1) for p in parts if p], dtype=np.int64),
        responses=_responses(dataset, names, answers),
    )


def _responses(dataset: str, names: tuple[str, ...], answers: pd.DataFrame) -> Labels:
    """Answers (observers, n), paired by the name of the image."""
    own = answers[answers["dataset"].astype(str) == dataset]
    table = own.assign(
        image=own["image_id"].astype(str).str.rpartition("_")[2],
        number=own["object_response"].astype(str).map({**_NUMBER, "na": NO_ANSWER}),
        who=own["subj"].astype(str),
    )
    table = table[table["image"].isin(names)]
    twice = table.duplicated(["who", "image"])
    if twice.any() or table["number"].isna().any():
        bad = table[twice | table["number"].isna()]
        cases = list(
            zip(bad["who"][:5], bad["image"][:5], bad["object_response"].astype(str)[:5], strict=True)
        )
        raise MissingRequirement(f"{dataset}: answers given twice or of no known category: {cases}")
    wide = table.pivot(index="who", columns="image", values="number").reindex(columns=list(names))
    if wide.isna().to_numpy().any():
        absent = [(str(wide.index[i]), names[j]) for i, j in np.argwhere(wide.isna().to_numpy())[:5]]
        raise MissingRequirement(f"{dataset}: no answer for {absent}")
    return wide.to_numpy(dtype=np.int64)


def _from_archive(folder: str) -> dict[str, bytes]:
    found = sources.members(sources.TEXTURE_VS_SHAPE, f"/{folder}")
    return {path.rpartition("/")[2]: content for path, content in found if path.endswith(".png")}


def _pictures(contents: Any) -> Images:
    """Decoded pictures, uint8 (n, 3, H, W); gray ones are repeated to three channels."""
    from PIL import Image

    decoded = []
    for content in contents:
        with Image.open(io.BytesIO(content)) as picture:
            decoded.append(np.asarray(picture.convert("RGB")))
    return np.ascontiguousarray(np.stack(decoded).transpose(0, 3, 1, 2))
