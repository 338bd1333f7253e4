"""M1 machine-learning efficacy: models trained on generated rows, tested on real ones, beside those trained on real."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import spearmanr

from bench.metrics.tabular.cache import RealSideCache
from bench.metrics.tabular.learners import LEARNERS, Learner, Learnt, Problem, ScoreSet
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
    kept = RealSideCache() if cache is None else cache
    key = ("efficacy", real.fingerprint, test.fingerprint, tuple(learners), seed)
    settings = kept.get((*key, "settings"), lambda: {n: problem.tuned(n) for n in learners})
    on_real = kept.get(
        (*key, "real"), lambda: {n: problem.learn(n, real, settings[n].options) for n in learners}
    )
    on_generated = {n: problem.learn(n, generated, settings[n].options) for n in learners}
    best = max(learners, key=lambda name: settings[name].validation)
    together = problem.learn(best, concatenate([real, generated]), settings[best].options)
    rows = int((~test.missing(problem.target)).sum())
    augment = together.scores.main - on_real[best].scores.main
    return {
        "ml_gap": _gap(on_real, on_generated, best, rows),
        "ml_augment": Result(augment, rows, facets=together.scores.named, flags=(f"learner={best}",)),
        "ml_importance": _importance(problem, on_real[best], on_generated[best]),
    }


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
    on_real: dict[Learner, Learnt], on_generated: dict[Learner, Learnt], best: Learner, rows: int
) -> Result:
    gaps = {n: on_generated[n].scores.main - on_real[n].scores.main for n in on_real}
    facets = {"trtr": on_real[best].scores.main, "tstr": on_generated[best].scores.main}
    facets |= {"mean_gap": float(np.mean(list(gaps.values())))}
    facets |= {f"tstr_{name}": value for name, value in on_generated[best].scores.named.items()}
    detail = table_of(
        {
            "learner": list(gaps),
            "value": list(gaps.values()),
            **_columns("trtr", [on_real[n].scores for n in gaps]),
            **_columns("tstr", [on_generated[n].scores for n in gaps]),
        }
    )
    return Result(gaps[best], rows, detail=detail, facets=facets, flags=(f"learner={best}",))


def _columns(prefix: str, scores: list[ScoreSet]) -> dict[str, list[float]]:
    return {f"{prefix}_{name}": [s.named[name] for s in scores] for name in scores[0].named}


def _importance(problem: Problem, on_real: Learnt, on_generated: Learnt) -> Result:
    pair = [problem.importance(model) for model in (on_real, on_generated)]
    names = [problem.real.columns[j].name for j in problem.inputs]
    if len(names) < 3:
        return undefined("a rank correlation needs at least three columns")
    if np.ptp(pair[0]) == 0:
        return undefined("no column matters to the model trained on real rows")
    # A generated table without structure makes all columns equally unimportant: no agreement at all.
    value = 0.0 if np.ptp(pair[1]) == 0 else float(spearmanr(*pair).statistic)
    detail = table_of({"column": names, "real": pair[0], "generated": pair[1]})
    return Result(value, len(names), detail=detail)
