"""The tasks on real models and texts, on as little of them as shows that everything fits together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bench.adapters.sae_representations import Representation
from bench.catalog.sae import TASKS
from bench.datasets.sae import packages
from bench.errors import InvalidOutput
from bench.spec import Artifact, Context, Unit
from tests.tasks.sae.conftest import adapter_of, task_of, value

pytestmark = pytest.mark.skipif(
    bool(packages.MINILM.absence() or packages.PROBES.absence()), reason="MiniLM or the texts are not here"
)


def small(task: str, **settings: Any) -> Unit:
    plan = next(t for t in TASKS if t.name == task).sizes["small"]
    return Unit(
        task=task, dataset=plan.datasets[0], repeat=0, size="small", seed=5, limit=None,
        settings={**plan.settings, **settings},
    )  # fmt: skip


def both(task: str, adapter: Any, unit: Unit, ctx: Context) -> Any:
    adapter.setup(ctx)
    notes = task_of(task).collect(adapter, unit, ctx)
    return task_of(task).score(Artifact(dir=ctx.artifact_dir, sha256="", notes=notes), unit, ctx)


def test_a_language_model_keeps_what_is_rebuilt(context: Callable[[], Context]) -> None:
    tiny = {"rows": 8, "latents": 48, "k": 8, "budget": 2_560, "ce_rows": 4, "probes": 1, "probe_train": 60}
    unit = small("sae.lm", **tiny, probe_test=44, probe_tokens=12)
    exact = both(
        "sae.lm", adapter_of("identity"), replace(unit, settings={**unit.settings, "latents": 384}), context()
    )
    assert value(exact, "fvu") == pytest.approx(0.0, abs=1e-6)
    assert value(exact, "recovered_mean") == pytest.approx(1.0, abs=1e-3)
    trained = both("sae.lm", adapter_of("sae-topk"), unit, context())
    floor = both("sae.lm", adapter_of("random-dictionary"), unit, context())
    assert set(trained.metrics) == {m.name for m in next(t for t in TASKS if t.name == "sae.lm").metrics}
    assert value(trained, "fvu") < value(floor, "fvu")
    assert value(trained, "recovered_mean") > value(floor, "recovered_mean")
    assert value(trained, "kl") is None  # a sentence encoder predicts no token
    assert value(trained, "probe_dense") == value(floor, "probe_dense")
    assert {e.name for e in trained.exhibits} == {"latents", "density"}


class Knows(Representation):
    """Returns whatever it was made with."""

    def __init__(self, layers: Callable[[int], Any]) -> None:
        self._layers = layers

    def represent(self, texts: Any) -> Any:
        return self._layers(len(texts))


def test_linearity_of_layers(context: Callable[[], Context]) -> None:
    unit = small("sae.target_linearity", sets=1, texts=120, tokens=8)
    output = both("sae.target_linearity", adapter_of("text-lengths"), unit, context())
    assert value(output, "rank") <= 6
    assert -0.5 < value(output, "held_out") < 1
    noise = Knows(lambda n: {"a": np.zeros((n, 2)) + np.arange(n)[:, None], "b": np.eye(n)})
    wide = both("sae.target_linearity", noise, unit, context())
    assert set(wide.facets) == {"layer=a", "layer=b"}
    assert value(wide, "tl") is None  # as many dimensions as texts
    assert value(wide, "held_out") <= 0
    assert value(wide, "tl", "layer=a") == pytest.approx(0.0, abs=0.2)


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        (lambda n: {}, "a dictionary of 1 to 64 layers"),
        (lambda n: {"a": np.zeros((n + 1, 2))}, "layer 'a' has shape"),
        (lambda n: {"a": np.full((n, 2), np.nan)}, "not finite"),
    ],
)
def test_wrong_representations_are_named(layers: Any, message: str, context: Callable[[], Context]) -> None:
    unit = small("sae.target_linearity", sets=1, texts=120, tokens=8)
    with pytest.raises(InvalidOutput, match=message):
        both("sae.target_linearity", Knows(layers), unit, context())
