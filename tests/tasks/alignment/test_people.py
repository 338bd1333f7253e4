"""Images that people answered, through the mirror: loaders, EfficientNet-lite0 as published, people left out."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from bench.adapters.efflite import FILE
from bench.datasets import packaged
from bench.datasets.alignment import bapps, human, sources
from bench.errors import MissingRequirement
from bench.metrics.alignment.calibration import softmax
from tests.tasks.alignment.conftest import SHARED, Lab, load, model, values


@pytest.mark.usefixtures("people")
def test_people_are_loaded_as_published() -> None:
    edge, silhouette = load("edge-silhouette").conditions
    assert (edge.responses == edge.labels).mean() == pytest.approx(0.8712, abs=5e-5)
    assert (silhouette.responses == silhouette.labels).mean() == pytest.approx(0.7531, abs=5e-5)
    (cues,) = load("cue-conflict").conditions
    assert cues.images.shape == (160, 3, 224, 224)
    assert cues.responses.shape == (10, 160)
    assert (cues.labels != cues.textures).all()


@pytest.mark.slow
@pytest.mark.usefixtures("people")
@pytest.mark.skipif(packaged.absence(*FILE) is not None, reason=str(packaged.absence(*FILE)))
def test_efficientnet_decides_as_published_on_the_lossless_images(lab: Lab) -> None:
    unit = lab.unit("cue_conflict", "cue-conflict")
    output = lab.run(model("efficientnet-lite0"), unit)
    assert (output.notes["n_shape"], output.notes["n_texture"]) == (19, 87)
    found = values(output.metrics)
    assert found["shape_bias"] == pytest.approx(19 / 106)
    assert (found["kappa"] or 1) < (found["ceiling"] or 0)
    assert found["ceiled"] == pytest.approx((found["kappa"] or 0) / (found["ceiling"] or 1), rel=1e-12)


@pytest.mark.slow
@pytest.mark.usefixtures("people")
@pytest.mark.skipif(packaged.absence(*FILE) is not None, reason=str(packaged.absence(*FILE)))
def test_efficientnet_reproduces_its_stored_category_scores() -> None:
    from bench.metrics.alignment.categories import category_scores
    from bench.tasks.alignment.seeing import logits_of

    network = model("efficientnet-lite0")
    network.setup(type("Here", (), {"device": "cpu"})())
    (cues,) = load("cue-conflict").conditions
    chosen = np.arange(0, 160, 8)
    found = category_scores(softmax(logits_of(network, cues.images[chosen], "cpu", 1000)))
    stored = pd.read_parquet(SHARED / "human_alignment" / "efficientnet_lite0_16class_probs.parquet")
    stored = stored[stored["dataset"] == "cue-conflict"].set_index("name")
    expected = stored.loc[[cues.names[i] for i in chosen], list(human.CATEGORIES)].to_numpy()
    assert np.abs(found - expected).max() < 1e-3


@pytest.mark.usefixtures("people")
def test_people_left_out_reach_the_ceiling_and_the_oracle_nothing(lab: Lab) -> None:
    unit = lab.unit("robustness", "edge-silhouette")
    people, oracle = (values(lab.run(model(name), unit).metrics) for name in ("human-loo", "label-oracle"))
    assert people["kappa"] == pytest.approx(people["ceiling"], abs=1e-9)
    assert people["ceiled"] == pytest.approx(1.0)
    assert people["ceiling"] == pytest.approx((0.3184 + 0.4757) / 2, abs=1e-4)
    assert oracle["kappa"] == pytest.approx(0.0, abs=1e-9)
    assert oracle["accuracy"] == 1.0
    cues = values(lab.run(model("human-loo"), lab.unit("cue_conflict", "cue-conflict")).metrics)
    assert cues["shape_bias"] == pytest.approx(0.9687, abs=0.002)


@pytest.mark.usefixtures("people")
def test_models_without_imagenet_classes_say_what_is_missing(lab: Lab) -> None:
    with pytest.raises(MissingRequirement, match="need logits of ImageNet's 1,000 classes"):
        lab.run(model("pixels"), lab.unit("cue_conflict", "cue-conflict"))


@pytest.mark.usefixtures("people")
def test_soft_labels_have_a_ceiling_and_real_order(lab: Lab) -> None:
    found = values(lab.run(model("pixels"), lab.unit("uncertainty", "cifar10h", images=300)).metrics)
    assert 0.4 < (found["ceiling"] or 0) < 0.9
    assert found["ceiled"] == pytest.approx((found["rho_ent"] or 0) / (found["ceiling"] or 1), rel=1e-12)


# Loaders without the packed tables


def picture(colour: int) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (224, 224), (colour, 0, 0)).save(out, format="PNG")
    return out.getvalue()


def archive(path: Path, files: dict[str, bytes]) -> None:
    with tarfile.open(path, "w") as made:
        for name, content in files.items():
            info = tarfile.TarInfo(f"repo-abc/{name}")
            info.size = len(content)
            made.addfile(info, io.BytesIO(content))


@pytest.fixture
def authors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mirror with archives as the authors publish them."""
    folder = tmp_path / "mirror" / "human_alignment"
    folder.mkdir(parents=True)
    monkeypatch.setenv("BENCH_MIRROR", str(folder.parent))
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "cache"))
    names = ["cat1-dog2.png", "dog3-cat4.png"]
    place = "stimuli/style-transfer-preprocessed-512"
    archive(
        folder / sources.TEXTURE_VS_SHAPE.name,
        {f"{place}/{n[:3]}/{n}": picture(40 * i) for i, n in enumerate(names)},
    )
    rows = [
        f"subject-01,1,1,0.5,{answer},{name[:3]},0,0001_cue_s01_0_{name[:3]}_00_{name}"
        for answer, name in zip(("cat", "na"), names, strict=True)
    ]
    head = "subj,session,trial,rt,object_response,category,condition,imagename"
    csv = "\n".join([head, *rows]).encode()
    archive(
        folder / sources.MODEL_VS_HUMAN.name,
        {"raw-data/cue-conflict/cue-conflict_subject-01_session_1.csv": csv},
    )
    return folder


@pytest.mark.usefixtures("authors")
def test_archives_of_the_authors_are_read_without_unpacking() -> None:
    assert human.locate_cues() is None
    (cues,) = human.load_cues().conditions
    assert cues.names == ("cat1-dog2.png", "dog3-cat4.png")
    assert cues.responses.tolist() == [
        [human.CATEGORIES.index("cat"), human.NO_ANSWER]
    ]  # "na" survived the CSV
    assert cues.images[1, 0, 0, 0] == 40


def test_a_missing_answer_is_named(authors: Path) -> None:
    empty = b"subj,object_response,category,condition,imagename\nsubject-01,cat,cat,0,a_b_c_0_cat_00_cat1-dog2.png\n"
    (authors / sources.MODEL_VS_HUMAN.name).unlink()
    archive(authors / sources.MODEL_VS_HUMAN.name, {"raw-data/cue-conflict/x_subject-01.csv": empty})
    for record in (authors.parents[1] / "cache").rglob("*.sha256"):
        record.unlink()
    with pytest.raises(MissingRequirement, match=r"no answer for \[\('subject-01', 'dog3-cat4.png'\)\]"):
        human.load_cues()


def triplet(kind: str, number: int, share: float) -> dict[str, bytes]:
    """A reference in black, a first version near to it and a second far away."""
    judge = io.BytesIO()
    np.save(judge, np.array([share], dtype=np.float32))
    made = {
        f"{kind}/{part}/{number:06d}.png": small_picture(c, number)
        for part, c in (("ref", 0), ("p0", 9), ("p1", 99))
    }
    return {f"val/{name}": content for name, content in made.items()} | {
        f"val/{kind}/judge/{number:06d}.npy": judge.getvalue()
    }


def small_picture(amplitude: int, seed: int) -> bytes:
    rng = np.random.default_rng(seed)
    pixels = 100 + rng.integers(0, 50, (64, 64, 3)) + amplitude * rng.random((64, 64, 3))
    out = io.BytesIO()
    Image.fromarray(pixels.astype(np.uint8)).save(out, format="PNG")
    return out.getvalue()


def test_triplets_of_people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lab: Lab) -> None:
    (tmp_path / "human_alignment").mkdir()
    monkeypatch.setenv("BENCH_MIRROR", str(tmp_path))
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "cache"))
    parts: dict[str, bytes] = {}
    for kind in bapps.KINDS:
        for number, share in enumerate((0.2, 0.6, 0.0)):
            parts |= triplet(kind, number, share)
    archive(tmp_path / "human_alignment" / bapps.FILE.name, parts)
    assert bapps.locate() is None
    found = bapps.load().triplets(12)
    assert found.kinds == (*bapps.KINDS, *bapps.KINDS)  # two of each, in turn
    assert found.chose_1.tolist() == pytest.approx([0.2] * 6 + [0.6] * 6)
    output = lab.run(model("pixels"), lab.unit("similarity", "bapps", triplets=12))
    measured = values(output.metrics)
    # The first version is always nearer, with which 80 % and 40 % of the people agree.
    assert measured["two_afc"] == pytest.approx((0.8 + 0.4) / 2)
    assert measured["ceiling"] == pytest.approx((0.8 + 0.6) / 2)
    assert measured["ceiled"] == pytest.approx(0.6 / 0.7)
    assert measured["dose_response"] is None
    assert len(output.facets) == 6
    assert output.notes["evidence"] == "human_trials"


def test_what_is_not_there_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_MIRROR", str(tmp_path))
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("BENCH_ALLOW_DOWNLOAD", raising=False)
    for located in (bapps.locate(), human.locate_cues(), human.locate_edges(), human.locate_soft_labels()):
        assert located is not None
        assert "BENCH_MIRROR" in located
        assert "--allow-download" in located


def test_a_damaged_table_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "human_alignment"
    folder.mkdir()
    (folder / sources.TRIALS.name).write_bytes(b"changed")
    monkeypatch.setenv("BENCH_MIRROR", str(tmp_path))
    with pytest.raises(MissingRequirement, match="expected 824,387; replace or remove it"):
        human.trials()
