"""What is fixed about a unit of real activations: tokens, which of them count, activations, texts to probe."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.datasets.sae import texts
from bench.datasets.sae.corpus import hidden_of, is_evaluation, sources_of, tokens_of
from bench.datasets.sae.hooks import Hook
from bench.datasets.sae.labelled import ProbeSet, chosen_texts, hidden_rows, token_rows
from bench.errors import UsageError
from bench.spec import Unit
from bench.tasks.caching import cached_array
from bench.tasks.sae.coding import Array, Work, scale_of
from bench.tasks.sae.points import Point, sweep

MASSIVE = 5.0  # times the median norm
MIN_ROWS = 20  # of tokens, for evaluation


@dataclass(frozen=True, kw_only=True)
class LmUnit:
    """Activations of a hook. Left out everywhere: the first token of a row, separators, massive activations."""

    hook: Hook
    points: tuple[Point, ...]
    rows_per_source: int
    ce_rows: int
    train_rows: int
    probe_sets: int
    probe_texts: tuple[int, int]
    probe_length: int
    seed: int
    cache: Path
    report: Callable[[int, int], None]

    @cached_property
    def tokens(self) -> npt.NDArray[np.int32]:
        """All rows of tokens (rows, 128)."""
        return self._kept("tokens", lambda: tokens_of(self.hook, self.rows_per_source))

    @cached_property
    def evaluation(self) -> npt.NDArray[np.bool_]:
        """Which rows are for evaluation."""
        return is_evaluation(self.rows_per_source)

    @cached_property
    def hidden(self) -> npt.NDArray[np.float16]:
        """Activations of the evaluation rows, (rows, 128, dim)."""
        return self._hidden("evaluation", self.evaluation)

    @cached_property
    def counts(self) -> npt.NDArray[np.bool_]:
        """Which tokens of the evaluation rows count, (rows, 128)."""
        return self._counts(self.tokens[self.evaluation], self.hidden)

    @cached_property
    def rows(self) -> Array:
        """Activations of the evaluation tokens that count, float32 (n, dim)."""
        return self.hidden[self.counts].astype(np.float32)

    @cached_property
    def train(self) -> Array:
        """The same for training."""
        hidden = self._hidden("training", ~self.evaluation)
        return hidden[self._counts(self.tokens[~self.evaluation], hidden)].astype(np.float32)

    @cached_property
    def scale(self) -> float:
        """What a coder's rows are multiplied by: from the evaluation rows, so that both halves know it."""
        return scale_of(self.rows)

    @cached_property
    def row_of(self) -> npt.NDArray[np.int64]:
        """The evaluation row of each token that counts, (n,)."""
        return np.nonzero(self.counts)[0]

    @cached_property
    def source_of(self) -> npt.NDArray[np.int64]:
        """The source of each token that counts, (n,)."""
        return np.asarray(sources_of(self.rows_per_source)[self.evaluation][self.row_of])

    @cached_property
    def spliced_rows(self) -> npt.NDArray[np.int64]:
        """The evaluation rows whose activations are replaced, evenly spread."""
        n = int(self.evaluation.sum())
        return np.linspace(0, n - 1, min(self.ce_rows, n)).astype(np.int64)

    @cached_property
    def probes(self) -> tuple[ProbeSet, ...]:
        """Labelled texts."""
        return tuple(self._probe(name) for name in texts.PROBES[: self.probe_sets])

    def work(self, dataset: str) -> Work:
        """What a coder gets."""
        probed = [p.hidden.astype(np.float32) for p in self.probes]
        return Work(
            dataset=dataset,
            train=self.train,
            encode=np.concatenate([self.rows, *probed]),
            decoded=len(self.rows),
            scale=self.scale,
            points=self.points,
            train_rows=self.train_rows,
            seed=self.seed,
        )

    def kept(self, name: str, compute: Callable[[], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """An array that is the same for every coder on this unit."""
        return self._kept(f"{name}|{self.ce_rows}", compute)

    def _kept(self, name: str, compute: Callable[[], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        key = hashlib.sha256(f"{self.hook.sha256()}|{self.rows_per_source}|{name}".encode()).hexdigest()[:32]
        return cached_array(self.cache / "sae" / f"{key}.npy", compute, fits=lambda a: a.size > 0)

    def _hidden(self, name: str, rows: npt.NDArray[np.bool_]) -> npt.NDArray[np.float16]:
        return self._kept(name, lambda: hidden_of(self.hook, self.tokens[rows], report=self.report))

    def _counts(
        self, tokens: npt.NDArray[np.int32], hidden: npt.NDArray[np.float16]
    ) -> npt.NDArray[np.bool_]:
        counts = np.linalg.norm(hidden.astype(np.float32), axis=2) <= MASSIVE * self._median
        counts &= tokens != self.hook.separator
        counts[:, 0] = False
        return np.asarray(counts)

    @cached_property
    def _median(self) -> float:
        return float(np.median(np.linalg.norm(self.hidden.astype(np.float32), axis=2)))

    def _probe(self, name: str) -> ProbeSet:
        train, test = self.probe_texts
        key = f"probe|{name}|{train}|{test}|{self.probe_length}"
        found, labels, n_train = chosen_texts(name, train=train, test=test)
        rows = token_rows(self.hook, found, self.probe_length)
        hidden = self._kept(key, lambda: hidden_rows(self.hook, rows)[0])
        starts = np.concatenate([[0], np.cumsum([len(row) - 1 for row in rows])])
        return ProbeSet(name=name, hidden=hidden, starts=starts, labels=labels, n_train=n_train)


def lm_unit(hook: Hook, unit: Unit, cache: Path, report: Callable[[int, int], None]) -> LmUnit:
    """Work out `unit`. Settings: `rows` of tokens for each source, `latents`, `k`, `budget` rows seen, `ce_rows`, and
    `probes` sets of `probe_train` and `probe_test` texts of `probe_tokens` tokens.
    """
    rows = int(unit.setting("rows"))
    if unit.limit is not None:
        rows = min(rows, max(8, unit.limit // 1280 * 8))
    if rows < 8:
        raise UsageError(f"8 rows for each source are the least, this unit has {rows}")
    swept = unit.repeat < int(unit.settings.get("sweep_repeats") or 0)
    return LmUnit(
        hook=hook,
        points=sweep(
            n_latents=int(unit.setting("latents")),
            l0=float(unit.setting("k")),
            sparsities=str(unit.settings.get("sparsities") or "") if swept else "",
            widths=str(unit.settings.get("widths") or "") if swept else "",
        ),
        rows_per_source=rows,
        ce_rows=int(unit.setting("ce_rows")),
        train_rows=int(unit.setting("budget")),
        probe_sets=int(unit.setting("probes")),
        probe_texts=(int(unit.setting("probe_train")), int(unit.setting("probe_test"))),
        probe_length=int(unit.setting("probe_tokens")),
        seed=unit.seed,
        cache=cache,
        report=report,
    )
