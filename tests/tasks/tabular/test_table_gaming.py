"""Tables that cheat: each must be caught by some dimension. And the order of methods on Adult."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

from bench.metrics.tabular.cache import RealSideCache
from bench.metrics.tabular.together import Inputs, measure
from bench.metrics.tabular.utility import structure_utility
from bench.models.tabular.cart_seq import SequentialCart
from bench.models.tabular.collapsed import Collapsed
from bench.models.tabular.copy import Copy
from bench.models.tabular.gaussian_copula import GaussianCopula
from bench.models.tabular.independent import Independent
from bench.models.tabular.smote_nc import SmoteNC
from bench.stats.anchors import Anchored, anchored, dimension_score, total
from bench.tasks.tabular.encoding import Encoder
from bench.tasks.tabular.evaluate import evaluate

from .conftest import adult, load_dataset, made

HEADLINES = {
    "density": ("shape_na", "pair_tv", "c2st"),
    "structure": ("structure_skill",),
    "privacy": ("mia_tpr01", "mia_auc", "exact_copies"),
}
ROWS = 300


def values(
    train: pd.DataFrame, synthetic: pd.DataFrame, fresh: pd.DataFrame, test: pd.DataFrame
) -> dict[str, float]:
    encoder = Encoder(load_dataset("gpa2").schema)
    real, generated, holdout, tested = (encoder.encode(f).table for f in (train, synthetic, fresh, test))
    names = [name for group in HEADLINES.values() for name in group]
    inputs = Inputs(real, generated, holdout, tested, predictors=("trees",), cache=CACHE)
    found = measure(inputs, names)
    return {name: result.value for name, result in found.items() if result.value is not None}


CACHE = RealSideCache()


@pytest.fixture(scope="module")
def parts() -> list[pd.DataFrame]:
    shuffled = load_dataset("gpa2").frame.sample(frac=1, random_state=1)
    return [shuffled[i * ROWS : (i + 1) * ROWS].reset_index(drop=True) for i in range(4)]


@pytest.fixture(scope="module")
def anchors(parts: list[pd.DataFrame]) -> dict[str, dict[str, float]]:
    train, fresh, test, other = parts
    schema = load_dataset("gpa2").schema
    return {
        "independent": values(train, made(Independent(), train, schema), fresh, test),
        "copy": values(train, made(Copy(), train, schema), fresh, test),
        "real": values(train, other, fresh, test),
    }


def anchored_total(found: dict[str, float], anchors: dict[str, dict[str, float]]) -> float:
    dimensions: dict[str, Anchored] = {}
    for dimension, names in HEADLINES.items():
        low = anchors["copy" if dimension == "privacy" else "independent"]
        dimensions[dimension] = dimension_score(
            {n: anchored(found[n], low=low[n], high=anchors["real"][n]) for n in names}
        )
    score = total(dimensions).value
    assert score is not None
    return score


def constant(train: pd.DataFrame) -> pd.DataFrame:
    return train.iloc[[0] * len(train)].reset_index(drop=True)


CHEATS: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "independent": lambda t: made(Independent(), t, load_dataset("gpa2").schema),
    "copy": lambda t: made(Copy(), t, load_dataset("gpa2").schema),
    "collapsed": lambda t: made(Collapsed(), t, load_dataset("gpa2").schema),
    "constant": constant,
    "shifted": lambda t: t.assign(sat=t["sat"] + 5_000),
}


@pytest.mark.parametrize("name", CHEATS)
def test_no_cheat_gets_half_of_what_real_rows_get(
    name: str, parts: list[pd.DataFrame], anchors: dict[str, dict[str, float]]
) -> None:
    train, fresh, test, _ = parts
    assert anchored_total(values(train, CHEATS[name](train), fresh, test), anchors) <= 50


def test_an_honest_generator_gets_more(
    parts: list[pd.DataFrame], anchors: dict[str, dict[str, float]]
) -> None:
    train, fresh, test, _ = parts
    assert anchored_total(anchors["real"], anchors) == pytest.approx(100)
    honest = made(GaussianCopula(), train, load_dataset("gpa2").schema)
    assert anchored_total(values(train, honest, fresh, test), anchors) > 25


def test_a_partial_leak_shows_in_the_tail_not_in_the_median(parts: list[pd.DataFrame]) -> None:
    """A tenth of otherwise fresh rows is copied: TPR at 1 % says so, the median distance hardly moves."""
    train, fresh, _, other = parts
    leaky = pd.concat([train[:30], other[30:]], ignore_index=True)
    schema = load_dataset("gpa2").schema
    clean, leak = (
        evaluate(train, s, holdout=fresh, schema=schema, metrics=["mia_tpr01", "dcr_ratio"])
        for s in (other, leaky)
    )
    caught, missed = leak["mia_tpr01"].value, clean["mia_tpr01"].value
    assert caught is not None
    assert missed is not None
    assert caught > 0.08 > missed
    moved = leak["dcr_ratio"].companions["generated_q50"] / clean["dcr_ratio"].companions["generated_q50"]
    assert moved == pytest.approx(1, abs=0.15)


def test_anchors_say_where_a_score_is_undefined() -> None:
    assert anchored(0.75, low=0.5, high=1.0) == Anchored(pytest.approx(50))
    assert anchored(1.0, low=0.9, high=0.9).value is None
    assert "within 0.01" in anchored(1.0, low=0.9, high=0.9).reason
    assert anchored(0.0, low=1.0, high=0.5).value == 200
    assert total({"a": Anchored(90.0), "b": Anchored(-3.0), "c": Anchored(None, "x")}) == Anchored(-3.0)
    assert dimension_score({"a": Anchored(None, "x")}).value is None
    with pytest.raises(ValueError, match="finite"):
        anchored(float("nan"), low=0, high=1)


# All but four columns that are unpredictable and one of five races, whose trees take most of the time.
MOST = (
    "age", "workclass", "education", "education-num", "marital-status", "occupation", "relationship", "sex",
    "hours-per-week", "income",
)  # fmt: skip


def test_order_of_methods_on_adult() -> None:
    """Structure skill with trees only, as in the table of the prototype."""
    schema, (train, fresh, test) = adult(1_000, MOST)
    encoder, cache, found = Encoder(schema), RealSideCache(), {}
    real, tested = encoder.encode(train).table, encoder.encode(test).table
    adapters = {
        "independent": Independent(), "gaussian_copula": GaussianCopula(), "smote_nc": SmoteNC(),
        "cart_seq": SequentialCart(),
    }  # fmt: skip
    tables = {name: made(adapter, train, schema) for name, adapter in adapters.items()} | {"holdout": fresh}
    for name, frame in tables.items():
        generated = encoder.encode(frame).table
        result = structure_utility(
            real=real, generated=generated, test=tested, predictors=("trees",), seed=4_000, cache=cache
        )["structure_skill"]
        assert result.value is not None
        found[name] = result.value
    order = ["independent", "gaussian_copula", "smote_nc", "cart_seq", "holdout"]
    assert sorted(found, key=lambda name: found[name]) == order, found
    assert found["independent"] < 0.1
    assert found["holdout"] > 0.85
