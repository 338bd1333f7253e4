"""What the generators learn: known answers, and the order that the family's validation fixes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import stats
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

from bench.datasets.tabular.schema import TableSchema
from bench.models.tabular._mixed import MAX_LEVELS, MixedTable
from bench.models.tabular._normal import NormalScores
from bench.models.tabular._segments import Segments
from bench.models.tabular._table import Table
from bench.models.tabular._training import Trainer
from tests.models.tabular.conftest import BUDGET, fitted, make


def correlated(n: int = 2_000, r: float = 0.8) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(n)
    y = r * x + np.sqrt(1 - r**2) * rng.standard_normal(n)
    return pd.DataFrame({"x": x, "y": y, "g": np.where(x + 0.3 * rng.standard_normal(n) > 0, "up", "down")})


MODELS = ["smote_nc", "gaussian_copula", "bayes_net", "kde_gmm", "cart_seq", "arf", "forest_flow"]


@pytest.mark.parametrize("name", MODELS)
def test_dependence_is_learned(name: str) -> None:
    frame = correlated()
    made = fitted(name, frame, size="small").sample(2_000, seed=1)
    assert made["x"].corr(made["y"]) == pytest.approx(0.8, abs=0.1)
    gap = made.groupby("g")["x"].mean()
    real = frame.groupby("g")["x"].mean()
    assert gap["up"] - gap["down"] > 0.6 * (real["up"] - real["down"])
    assert stats.ks_2samp(made["x"], frame["x"]).statistic < 0.08


def test_independent_columns_are_independent() -> None:
    made = fitted("independent", correlated()).sample(5_000, seed=1)
    assert abs(made["x"].corr(made["y"])) < 0.05


@pytest.mark.parametrize("name", ["copy", "bootstrap", "real_holdout"])
def test_copies_are_training_rows(name: str) -> None:
    frame = correlated(300)
    made = fitted(name, frame).sample(300, seed=1)
    known = set(map(tuple, frame.to_numpy()))
    assert set(map(tuple, made.to_numpy())) <= known
    distinct = len(made.drop_duplicates())
    assert distinct == 300 if name != "bootstrap" else 0.58 * 300 < distinct < 0.69 * 300


def test_noisy_copies_are_near() -> None:
    frame = correlated(300)
    made = fitted("noisy_copy", frame).sample(300, seed=1)
    nearest = (
        np.abs(made[["x", "y"]].to_numpy()[:, None] - frame[["x", "y"]].to_numpy()).sum(axis=2).min(axis=1)
    )
    assert 0 < np.median(nearest) < 0.1
    assert not set(made["x"]) & set(frame["x"]) or made["x"].isin(frame["x"]).mean() < 0.05


def test_network_keeps_functional_dependence() -> None:
    rng = np.random.default_rng(0)
    code = rng.integers(0, 6, 1_000)
    frame = pd.DataFrame(
        {"code": code.astype(str), "name": np.array(list("abcdef"))[code], "z": rng.random(1_000)}
    )
    model = fitted("bayes_net", frame, smoothing=0.0)
    made = model.sample(1_000, seed=0)
    assert (made["name"] == made["code"].map(dict(zip("012345", "abcdef", strict=True)))).all()
    assert sum(map(len, model.parents)) == 1


def test_smote_lies_between_neighbours() -> None:
    frame = pd.DataFrame({"x": np.r_[np.zeros(20), np.ones(20) * 10], "g": ["a"] * 20 + ["b"] * 20})
    frame["x"] += np.tile(np.arange(20), 2) / 100
    made = fitted("smote_nc", frame).sample(500, seed=0)
    assert ((made["x"] < 0.2) | (made["x"] >= 10)).all()
    assert ((made["g"] == "b") == (made["x"] >= 10)).all()


def income_auc(made: pd.DataFrame, test: pd.DataFrame) -> float:
    """AUC on real rows of trees trained on `made`: income from everything else."""
    both = pd.concat([made, test], ignore_index=True)
    features = pd.DataFrame(
        {c: both[c] if both[c].dtype.kind in "iuf" else pd.factorize(both[c], sort=True)[0] for c in both}
    ).drop(columns="income")
    labels = (both["income"] == ">50K").to_numpy()
    if len(set(labels[: len(made)])) < 2:
        return 0.5
    model = HistGradientBoostingClassifier(max_iter=40, random_state=0)
    model.fit(features[: len(made)], labels[: len(made)])
    return float(roc_auc_score(labels[len(made) :], model.predict_proba(features[len(made) :])[:, 1]))


def test_order_on_adult(adult: tuple[pd.DataFrame, TableSchema]) -> None:
    frame, schema = adult
    train, test = frame.head(900), frame.tail(600)

    def auc(name: str) -> float:
        model = make(name, size="small")
        model.fit(train, schema, seed=1, device="cpu", budget=BUDGET)
        return income_auc(model.sample(900, seed=2), test)

    found = {name: auc(name) for name in ("independent", "gaussian_copula", "smote_nc", "cart_seq", "copy")}
    assert abs(found["independent"] - 0.5) < 0.15
    assert found["independent"] + 0.1 < found["gaussian_copula"] < found["smote_nc"]
    assert found["gaussian_copula"] + 0.03 < found["cart_seq"]
    assert found["copy"] > 0.85


@pytest.mark.parametrize(
    ("name", "steps", "correlation"),
    [("tvae", 500, 0.35), ("tabddpm", 250, 0.6), ("latent_diff", 250, 0.6), ("ctgan", 350, 0.3)],
)
def test_networks_learn_dependence(name: str, steps: int, correlation: float) -> None:
    frame = correlated(500)
    model = make(name, size="small")
    budget = replace(BUDGET, max_steps=steps)
    model.fit(frame, TableSchema.infer(frame), seed=0, device="cpu", budget=budget)
    made = model.sample(1_000, seed=1)
    assert made["x"].corr(made["y"]) > correlation
    assert stats.ks_2samp(made["x"], frame["x"]).statistic < 0.2
    gap = made.groupby("g")["x"].mean()
    assert gap["up"] - gap["down"] > 0.8
    assert model.n_parameters() > 1_000
    assert not model.diverged


def test_training_goes_back_when_a_loss_is_not_finite() -> None:
    layer = torch.nn.Linear(1, 1)
    trainer = Trainer([layer], rate=0.1, seconds=60.0)
    trainer.run(100, lambda step: layer(torch.ones(1, 1)).sum() * (float("nan") if step == 70 else 1.0))
    assert trainer.diverged
    assert bool(torch.isfinite(layer.weight).all())


def test_players_take_turns_and_go_back_together() -> None:
    players, turns = [torch.nn.Linear(1, 1) for _ in range(2)], []
    start = [float(layer.bias.detach()) for layer in players]

    def loss(mine: int) -> Any:
        def value(step: int) -> torch.Tensor:
            turns.append(mine)
            return players[mine](torch.ones(1, 1)).sum() * (float("nan") if step == 60 and mine else 1.0)

        return value

    trainer = Trainer(players[:1], players[1:], rate=0.1, seconds=60.0, cosine=False)
    trainer.run(100, loss(0), loss(1))
    assert turns == [0, 1] * 61
    assert trainer.diverged
    moved = [before - float(layer.bias.detach()) for before, layer in zip(start, players, strict=True)]
    assert moved == pytest.approx([5.1, 5.1], abs=0.01), "51 steps of 0.1: the last kept ones"


def test_adam_finds_a_minimum() -> None:
    layer = torch.nn.Linear(3, 1)
    x = torch.randn(64, 3, generator=torch.Generator().manual_seed(0))
    trainer = Trainer([layer], rate=0.1, seconds=60.0)
    wanted = torch.tensor([[1.0, -2.0, 0.5]])
    trainer.run(400, lambda _: ((layer(x) - x @ wanted.T - 3.0) ** 2).mean())
    assert layer.weight.detach().numpy() == pytest.approx(wanted.numpy(), abs=0.02)
    assert not trainer.diverged


def test_segments_draw_by_weight() -> None:
    segments = Segments([2, 3, 1], "cpu")
    weights = torch.tensor([[0.2, 0.8, 0.5, 0.0, 1.5, 7.0]]).expand(20_000, -1)
    codes = segments.draw(weights, torch.Generator().manual_seed(0)).numpy()
    assert np.bincount(codes[:, 0], minlength=2) / 20_000 == pytest.approx([0.2, 0.8], abs=0.015)
    assert np.bincount(codes[:, 1], minlength=3) / 20_000 == pytest.approx([0.25, 0.0, 0.75], abs=0.015)
    assert (codes[:, 2] == 0).all()
    hot = segments.one_hot(torch.from_numpy(codes))
    assert torch.equal(segments.total(hot), torch.ones(20_000, 3))
    probabilities = segments.log_softmax(torch.randn(5, 6) * 100).exp()
    torch.testing.assert_close(segments.total(probabilities), torch.ones(5, 3))


def test_normal_scores_come_back() -> None:
    rng = np.random.default_rng(0)
    for values in (rng.random(500), rng.integers(0, 4, 500).astype(float), np.array([1.0, 1.0, 2.0])):
        scores = NormalScores(values)
        there = scores.scores(values, rng)
        assert scores.values(there) == pytest.approx(values, abs=0.02)
        assert len(values) < 100 or (abs(there.mean()) < 0.1 and abs(there.std() - 1) < 0.1)


def test_rare_levels_are_merged_and_split() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"k": [f"v{i}" for i in range(1_500)] + ["common"] * 1_500})
    table = Table(frame, TableSchema.infer(frame))
    mixed = MixedTable(table, rng)
    assert mixed.levels == [MAX_LEVELS]
    back = mixed.restore(mixed.numbers, mixed.codes, rng)
    assert (back["k"] == "common").sum() == 1_500
    assert set(back["k"]) <= set(frame["k"])
    assert back["k"].nunique() > 999


@pytest.mark.parametrize(("name", "params"), [("smote_nc", {"neighbors": 0}), ("noisy_copy", {"noise": 1.5})])
def test_impossible_parameters(name: str, params: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be"):
        make(name, **params)
