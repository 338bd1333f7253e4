"""GReaT: a language model that writes rows, through the package `be-great`."""

from __future__ import annotations

import tempfile

import pandas as pd

from bench.adapters.tabular import Budget
from bench.errors import MissingRequirement
from bench.models.tabular._foreign import ForeignGenerator, import_package
from bench.models.tabular._nets import seeded


class GReaT(ForeignGenerator):
    """GReaT (Borisov et al. 2023): fine-tunes the language model `llm` on rows as sentences.

    `llm` is the name of a model in the local cache of transformers, or a folder. Absent weights mean: skipped.
    """

    def __init__(self, *, llm: str = "distilgpt2", epochs: int = 50, batch_size: int = 32) -> None:
        self.llm = llm
        self.epochs = epochs
        self.batch_size = batch_size

    def _learn(self, frame: pd.DataFrame, seed: int, budget: Budget) -> None:
        package = import_package("be_great", "be-great")
        with seeded(seed, self._device), tempfile.TemporaryDirectory() as folder:
            try:
                self._model = package.GReaT(
                    llm=self.llm,
                    experiment_dir=folder,
                    epochs=self.epochs,
                    batch_size=self.batch_size,
                    save_strategy="no",
                    seed=seed,
                )
            except OSError as error:
                raise MissingRequirement(f"the language model {self.llm!r} cannot be had: {error}") from error
            self._model.fit(frame)

    def _make(self, n: int, seed: int) -> pd.DataFrame:
        with seeded(seed, self._device):
            made: pd.DataFrame = self._model.sample(n_samples=n, device=self._device)
        return made.head(n).reset_index(drop=True)
