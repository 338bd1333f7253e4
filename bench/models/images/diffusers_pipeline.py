"""Any unconditional image pipeline of the library `diffusers`, from a local folder or its hub."""

from __future__ import annotations

import importlib
import os
from typing import Any

import numpy as np

from bench.adapters.images import ImageGenerator
from bench.errors import MissingRequirement
from bench.models.images._arrays import Images, Labels, to_images
from bench.spec import Context

_BATCH = 64
_FOLDER = "BENCH_DIFFUSERS"  # environment variable: a folder that `save_pretrained` wrote


class DiffusersPipeline(ImageGenerator):
    """A pretrained `DiffusionPipeline`; nothing is fitted.

    The pipeline is that of the folder in BENCH_DIFFUSERS, else `pipeline`, which is a folder or a name on the
    hub; the hub is asked only with `--allow-download`. `nfe` is its number of inference steps. Images must
    come out in the data set's size: nothing is resized, a mismatch is a missing requirement. `labels` is
    ignored.
    """

    def __init__(self, *, pipeline: str = "google/ddpm-cifar10-32", nfe: int = 50) -> None:
        self.pipeline = pipeline
        self.nfe = nfe

    def setup(self, ctx: Context) -> None:
        library = importlib.import_module("diffusers")
        source = os.environ.get(_FOLDER) or self.pipeline
        allowed = os.environ.get("BENCH_ALLOW_DOWNLOAD", "").lower() in {"1", "true", "yes"}
        try:
            loaded = library.DiffusionPipeline.from_pretrained(
                source, local_files_only=not allowed, use_safetensors=True
            )
        except OSError as error:  # what the library raises for files that are not there
            raise MissingRequirement(
                f"no pipeline {source!r} here ({type(error).__name__}); name a folder in {_FOLDER}, or allow the "
                "download (--allow-download or BENCH_ALLOW_DOWNLOAD=1)"
            ) from error
        self._pipeline: Any = loaded.to(ctx.device)
        self._pipeline.set_progress_bar_config(disable=True)

    def fit(self, images: Images, labels: Labels | None, *, seed: int, device: str, budget_s: float) -> None:
        self._shape = images.shape[1:]

    def sample(self, n: int, *, seed: int, labels: Labels | None = None, nfe: int | None = None) -> Images:
        import torch

        steps = self.nfe if nfe is None else nfe
        if steps < 1:
            raise ValueError(f"nfe must be at least 1, got {steps}")
        rng = torch.Generator().manual_seed(seed)  # on the CPU: the same images on every device
        parts = []
        for start in range(0, n, _BATCH):
            result = self._pipeline(
                batch_size=min(_BATCH, n - start),
                generator=rng,
                num_inference_steps=steps,
                output_type="np",
            )
            parts.append(self._checked(np.asarray(result.images)))
        return np.concatenate(parts)

    def _checked(self, values: np.ndarray) -> Images:
        """float (n, H, W, C) in [0, 1] as uint8 (n, C, H, W)."""
        images = values.transpose(0, 3, 1, 2)
        if images.shape[1:] != self._shape:
            raise MissingRequirement(
                f"the pipeline makes images {images.shape[1:]}, this data set has {self._shape}; "
                "use a pipeline trained on it"
            )
        return to_images(images, self._shape)
