"""TabFORGE by its authors, through the package `tabforge-ml`."""

from __future__ import annotations

from typing import Any

import pandas as pd

from bench.adapters.tabular import Budget
from bench.errors import MissingRequirement
from bench.models.tabular._foreign import ForeignGenerator, import_package
from bench.models.tabular._nets import seeded


class OfficialTabForge(ForeignGenerator):
    """`TabFORGEGenerator(task="unsupervision")`.

    `checkpoint` is "pretrained", the path of a checkpoint, or "" for training from scratch; `encoder` is
    "auto", "mock" or the path of the feature encoder's weights. Absent weights mean: skipped.
    """

    def __init__(self, *, checkpoint: str = "pretrained", encoder: str = "auto", max_steps: int = 0) -> None:
        self.checkpoint = checkpoint
        self.encoder = encoder
        self.max_steps = max_steps

    def _learn(self, frame: pd.DataFrame, seed: int, budget: Budget) -> None:
        package = import_package("tabforge", "tabforge-ml")
        steps = budget.max_steps or self.max_steps
        options: dict[str, Any] = (
            {"training_config": package.TabFORGETrainingConfig(max_steps=steps)} if steps else {}
        )
        self._model = package.TabFORGEGenerator(
            task="unsupervision",
            embedding_config=package.TabFORGEEmbeddingConfig(model_path=self.encoder),
            runtime_config=package.TabFORGERuntimeConfig(device=self._device),
            random_state=seed,
            **options,
        )
        with seeded(seed, self._device):
            try:
                self._model.fit(frame, checkpoint=self.checkpoint or None)
            except (OSError, ConnectionError) as error:
                raise MissingRequirement(f"the weights of TabFORGE cannot be had: {error}") from error

    def _make(self, n: int, seed: int) -> pd.DataFrame:
        with seeded(seed, self._device):
            return pd.DataFrame(self._model.generate(n, random_state=seed))
