"""M1 machine-learning efficacy: models trained on generated rows, tested on real ones, beside those trained on real."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import spearmanr

from bench.metrics.tabular.cache import Array, RealSideCache
from bench.metrics.tabular.learners import GRIDS, LEARNERS, Learner, Learnt, Problem, ScoreSet, Tuned
from bench.metrics.tabular.result import Result, table_of, undefined
from bench.metrics.tabular.table import EncodedTable, check_same_layout, concatenate

NAMES = ("ml_gap", "ml_augment", "ml_importance")


def efficacy(
    *,
    real: EncodedTable,
    generated: EncodedTable,
    test: EncodedTable,
    learners: Sequence[Learner] = LEARNERS,
    seed: int = 0,
    cache: RealSideCache | None = None,
) -> dict[str, Result]:
    """`ml_gap`, `ml_augment` and `ml_importance` of predicting the target column.

    Gradient boosting, random forest and a linear model; settings chosen once on the real rows, and kept in `cache`
    with the scores of the real rows. Score: ROC AUC (one against the rest, weighted by prevalence) or R^2.

    ml_gap (0 is best, sign kept): score of the model trained on generated rows minus that of the same kind of model
    trained on real rows, for the kind that validates best on the real rows. Facets: both scores, the mean gap over
    kinds, log-loss, balanced accuracy and macro F1, or RMSE and MAE. Detail: all scores of all kinds.
    ml_augment (up): trained on real and generated rows together, minus trained on real rows.
    ml_importance (up, [-1, 1]): Spearman correlation of the columns' permutation importances in both models.

    Rows with a missing target are left out. Undefined without a target that takes two values in real and test rows.
    Generated rows without a second class give AUC 0.5 and the log-loss of the constant prediction.
    """
    check_same_layout(real=real, generated=generated, test=test)
    reason = _unusable(real, test)
    if reason:
        return dict.fromkeys(NAMES, undefined(reason))
    problem = Problem(real, test, seed=seed)
    known = _Known(problem, learners, test, seed, cache or RealSideCache())
    best = max(learners, key=lambda name: known.settings[name].validation)
    options = {name: known.settings[name].options for name in learners}
    on_generated = {n: problem.learn(n, generated, options[n]) for n in learners}
    together = problem.learn(best, concatenate([real, generated]), options[best])
    rows = int((~test.missing(problem.target)).sum())
    augment = together.scores.main - known.scores[best].main
    return {
        "ml_gap": _gap(known.scores, {n: m.scores for n, m in on_generated.items()}, best, rows),
        "ml_augment": Result(augment, rows, facets=together.scores.named, flags=(f"learner={best}",)),
        "ml_importance": _importance(problem, known.importance(best), on_generated[best]),
    }


class _Known:
    """What the real rows say: settings, scores and importances, kept in the cache for the next generator."""

    def __init__(
        self,
        problem: Problem,
        learners: Sequence[Learner],
        test: EncodedTable,
        seed: int,
        cache: RealSideCache,
    ) -> None:
        self._problem, self._cache, self._learnt = problem, cache, dict[Learner, Learnt]()
        self._key = ("efficacy", problem.real.fingerprint, test.fingerprint, tuple(learners), seed)
        settings = cache.array((*self._key, "settings"), (len(learners), 2), lambda: self._tuned(learners))
        self.settings = {
            name: Tuned(GRIDS[name][int(place)], float(validation))
            for name, (place, validation) in zip(learners, settings, strict=True)
        }
        width = len(problem.score_names)
        scores = cache.array((*self._key, "scores"), (len(learners), width), lambda: self._scores(learners))
        self.scores = {
            name: ScoreSet.of(problem.score_names, row) for name, row in zip(learners, scores, strict=True)
        }

    def importance(self, learner: Learner) -> Array:
        """Importance of each input for the model trained on the real rows."""
        return self._cache.array(
            (*self._key, "importance", learner),
            (len(self._problem.inputs),),
            lambda: self._problem.importance(self._model(learner)),
        )

    def _tuned(self, learners: Sequence[Learner]) -> Array:
        """For each learner the place of its settings in the grid, and their validation score."""
        found = [self._problem.tuned(name) for name in learners]
        places = [GRIDS[n].index(t.options) for n, t in zip(learners, found, strict=True)]
        return np.column_stack([places, [tuned.validation for tuned in found]])

    def _scores(self, learners: Sequence[Learner]) -> Array:
        return np.array([list(self._model(name).scores.named.values()) for name in learners])

    def _model(self, learner: Learner) -> Learnt:
        if learner not in self._learnt:
            options = self.settings[learner].options
            self._learnt[learner] = self._problem.learn(learner, self._problem.real, options)
        return self._learnt[learner]


def _unusable(real: EncodedTable, test: EncodedTable) -> str:
    if real.target is None:
        return "the data have no target column"
    name = real.columns[real.target].name
    for where, table in (("real", real), ("test", test)):
        known = table.values(real.target)[~table.missing(real.target)]
        if len(np.unique(known)) < 2:
            return f"{name}, the target, has fewer than two values in the {where} rows"
    return "" if len(real.columns) > 1 else "there is no column to predict from"


def _gap(
    on_real: Mapping[Learner, ScoreSet],
    on_generated: Mapping[Learner, ScoreSet],
    best: Learner,
    rows: int,
) -> Result:
    gaps = {n: on_generated[n].main - on_real[n].main for n in on_real}
    facets = {"trtr": on_real[best].main, "tstr": on_generated[best].main}
    facets |= {"mean_gap": float(np.mean(list(gaps.values())))}
    facets |= {f"tstr_{name}": value for name, value in on_generated[best].named.items()}
    detail = table_of(
        {
            "learner": list(gaps),
            "value": list(gaps.values()),
            **_columns("trtr", [on_real[n] for n in gaps]),
            **_columns("tstr", [on_generated[n] for n in gaps]),
        }
    )
    return Result(gaps[best], rows, detail=detail, facets=facets, flags=(f"learner={best}",))


def _columns(prefix: str, scores: list[ScoreSet]) -> dict[str, list[float]]:
    return {f"{prefix}_{name}": [s.named[name] for s in scores] for name in scores[0].named}


def _importance(problem: Problem, on_real: Array, model: Learnt) -> Result:
    pair = [on_real, problem.importance(model)]
    names = [problem.real.columns[j].name for j in problem.inputs]
    if len(names) < 3:
        return undefined("a rank correlation needs at least three columns")
    if np.ptp(pair[0]) == 0:
        return undefined("no column matters to the model trained on real rows")
    # A generated table without structure makes all columns equally unimportant: no agreement at all.
    value = 0.0 if np.ptp(pair[1]) == 0 else float(spearmanr(*pair).statistic)
    detail = table_of({"column": names, "real": pair[0], "generated": pair[1]})
    return Result(value, len(names), detail=detail)
