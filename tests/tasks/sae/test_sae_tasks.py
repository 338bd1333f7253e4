"""The synthetic tasks from adapter to numbers, and what a coder must keep to be scored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from bench.adapters.sae import Codes, as_dense
from bench.catalog.sae import TASKS
from bench.errors import InvalidOutput, MissingRequirement
from bench.models.sae.fixed import DataDictionary
from bench.models.sae.topk import TopK
from bench.spec import Context, TaskOutput
from bench.tasks.sae.artifact import file_of, read
from tests.tasks.sae.conftest import Run, adapter_of, task_of, unit_of, value


@pytest.mark.parametrize("name", ["sae.toy2", "sae.synth"])
def test_every_declared_metric_is_reported(name: str, run: Run) -> None:
    output, _ = run(name, adapter_of("data-dictionary"))
    info = next(t for t in TASKS if t.name == name)
    assert set(output.metrics) == {m.name for m in info.metrics}
    for metric, found in output.metrics.items():
        assert not isinstance(found, float)
        assert found.value is None or np.isfinite(found.value), metric
        assert found.value is not None or found.reason, metric


def test_two_concepts_have_the_optimum_of_the_closed_form(run: Run) -> None:
    output, _ = run("sae.toy2", adapter_of("tied-topk"))
    assert value(output, "distortion") == pytest.approx(0.0381966, abs=1e-4)
    assert value(output, "turn") == pytest.approx(31.7175, abs=0.1)
    assert value(output, "gap") < 1e-4


def test_the_rate_tax_of_monosemanticity_is_the_probability_of_both(run: Run) -> None:
    output, _ = run("sae.toy2", adapter_of("tied-topk"), settings={"budget": 128_000})
    assert value(output, "rate_tax") == pytest.approx(0.1)
    assert value(output, "l0", "dictionary=conjunction") == pytest.approx(0.3)
    assert value(output, "support_bits", "dictionary=conjunction") == pytest.approx(1.406987, abs=1e-6)
    assert value(output, "support_bits", "dictionary=concepts") == pytest.approx(1.443856, abs=1e-6)


def test_the_true_concepts_with_one_active_cost_what_they_leave_out(run: Run) -> None:
    output, _ = run("sae.toy2", adapter_of("oracle"))
    assert value(output, "distortion") == pytest.approx(0.1)
    assert value(output, "turn") == pytest.approx(0.0, abs=1e-4)
    assert value(output, "rate_tax") is None


def test_known_concepts(run: Run) -> None:
    poly = {}
    for name in ("oracle-codes", "oracle", "random-dictionary"):
        output, _ = run("sae.synth", adapter_of(name))
        poly[name] = value(output, "poly")
        if name == "oracle-codes":
            assert value(output, "fvu") == pytest.approx(0.0, abs=1e-9)
            assert value(output, "coverage") == 1.0
            assert value(output, "f1_matched") == 1.0
        if name != "random-dictionary":
            assert value(output, "mcc_factors") == pytest.approx(1.0)
            assert value(output, "dec_neff") == pytest.approx(1.0)
    assert poly["oracle-codes"] == pytest.approx(1.0)
    assert poly["oracle"] < 1.3 < poly["random-dictionary"]


def test_training_separates_concepts_that_occur_apart(run: Run) -> None:
    settings = {"budget": 60_000, "train": 20_000}
    trained = value(run("sae.synth", adapter_of("sae-topk"), settings=settings)[0], "poly")
    assert (
        trained < value(run("sae.synth", adapter_of("random-dictionary"), settings=settings)[0], "poly") - 0.5
    )


def test_a_sweep_gives_facets_and_a_volume(run: Run) -> None:
    sweep = {"sweep_repeats": 1, "sparsities": "0.5,2", "widths": "0.5"}
    output, artifact = run("sae.synth", adapter_of("oracle"), settings=sweep)
    assert set(output.facets) == {"sparsity=0.5", "sparsity=2", "width=0.5"}
    assert len(artifact.names()) == 4
    assert value(output, "latents", "width=0.5") == 8
    assert value(output, "l0", "sparsity=0.5") < value(output, "l0") < value(output, "l0", "sparsity=2")
    volume = value(output, "hv")
    assert 0 < volume < 1
    assert value(run("sae.synth", adapter_of("random-dictionary"), settings=sweep)[0], "hv") < volume


class Rescaled(DataDictionary):
    """The same code, scale split differently between codes and atoms."""

    def _factors(self) -> Tensor:
        rng = torch.Generator().manual_seed(0)
        return torch.exp(torch.randn(len(self._weights["b_enc"]), generator=rng))

    def encode(self, x: Tensor) -> Tensor:
        return as_dense(super().encode(x)) * self._factors()

    def decode(self, codes: Codes | Tensor) -> Tensor:
        return super().decode(as_dense(codes) / self._factors())

    def decoder(self) -> tuple[Tensor, Tensor]:
        return self._weights["dec"] / self._factors()[:, None], self._weights["b_dec"]


def test_scores_do_not_depend_on_how_scale_is_split(run: Run) -> None:
    plain, _ = run("sae.synth", DataDictionary())
    other, _ = run("sae.synth", Rescaled())
    for name in plain.metrics:
        first, second = value(plain, name), value(other, name)
        assert (first is None) == (second is None)
        assert first is None or second == pytest.approx(first, rel=1e-4, abs=1e-6), name


class NotLinear(DataDictionary):
    def decoder(self) -> None:
        return None


def test_without_atoms_their_metrics_say_why(run: Run) -> None:
    plain, _ = run("sae.synth", DataDictionary())
    output, _ = run("sae.synth", NotLinear())
    for name in ("bits", "fvu_q", "mcc_factors", "dec_neff"):
        assert value(output, name) is None
        assert "not linear" in output.metrics[name].reason  # type: ignore[union-attr]
    for name in ("poly", "fvu", "l0"):
        assert value(output, name) == pytest.approx(value(plain, name), rel=1e-5)


class Silent(DataDictionary):
    def _encode(self, rows: Tensor) -> Tensor:
        return torch.zeros(len(rows), len(self._weights["b_enc"]))


def test_a_coder_without_a_living_latent_is_scored(run: Run) -> None:
    output, _ = run("sae.synth", Silent())
    assert value(output, "l0") == 0
    assert value(output, "poly") is None
    assert value(output, "fvu") == pytest.approx(1.0, abs=0.05)
    assert "all-dead" in output.flags


def broken(encode: Callable[[Any, Tensor], Any]) -> DataDictionary:
    coder = type("Broken", (DataDictionary,), {"encode": encode})
    return coder()  # type: ignore[no-any-return]


def dense(self: Any, x: Tensor) -> Tensor:
    return as_dense(DataDictionary.encode(self, x))


def nan_at(self: Any, x: Tensor) -> Tensor:
    codes = dense(self, x)
    if len(codes) > 7:
        codes[7, 0] = torch.nan
    return codes


FAULTS: list[tuple[Callable[[Any, Tensor], Any], str]] = [
    (lambda self, x: -dense(self, x), r"negative values, the first in row \d+; .* signed = True"),
    (nan_at, "codes has 1 values that are not finite, the first in row 7"),
    (lambda self, x: dense(self, x)[:-1], r"encode returned \d+ rows for \d+"),
    (lambda self, x: dense(self, x) + dense(self, x).mean(dim=0), "depends on the other rows of the batch"),
    (lambda self, x: torch.zeros(len(x), 17), "returned 17 latents; 16 were asked for"),
    (lambda self, x: dense(self, x).numpy(), "return a torch tensor"),
    (
        lambda self, x: Codes(
            indices=torch.full((len(x), 1), 99), values=torch.ones(len(x), 1), n_latents=16
        ),
        r"outside \[-1, 16\), the first in row 0",
    ),
    (
        lambda self, x: Codes(
            indices=torch.zeros(len(x), 2, dtype=torch.int64), values=torch.ones(len(x), 2), n_latents=16
        ),
        "names a latent twice",
    ),
]


@pytest.mark.parametrize(("encode", "message"), FAULTS)
def test_what_cannot_be_scored_is_refused(encode: Any, message: str, run: Run) -> None:
    with pytest.raises(InvalidOutput, match=message):
        run("sae.synth", broken(encode))


def test_a_decoder_must_be_what_decode_does(run: Run) -> None:
    class Wrong(DataDictionary):
        def decode(self, codes: Codes | Tensor) -> Tensor:
            return super().decode(codes) + 1

    with pytest.raises(InvalidOutput, match="is not f W"):
        run("sae.synth", Wrong())


def test_no_coder_at_all_is_named(run: Run) -> None:
    class Nothing:
        def setup(self, ctx: Context) -> None:
            return

    with pytest.raises(InvalidOutput, match="Nothing has no method 'fit'"):
        run("sae.synth", Nothing())


def test_a_coder_of_other_activations_is_skipped(run: Run) -> None:
    class Bound(TopK):
        bound_to = ("smollm2-l9",)

    with pytest.raises(MissingRequirement, match="trained on smollm2-l9, not on pairs-tiny"):
        run("sae.synth", Bound())


def test_equal_seeds_give_equal_artifacts(run: Run) -> None:
    first = run("sae.synth", adapter_of("sae-batchtopk"))[1].sha256
    assert first == run("sae.synth", adapter_of("sae-batchtopk"))[1].sha256
    assert first != run("sae.synth", adapter_of("sae-batchtopk"), seed=12)[1].sha256


DAMAGE: list[tuple[dict[str, Any], str]] = [
    ({"starts": np.array([0, 1])}, "starts"),
    ({"latents": np.array([0, 16], np.int32)}, "latents"),
    ({"latents": np.array([3, 3], np.int32)}, "no latent twice"),
    ({"values": np.array([1.0, np.inf], np.float32)}, "values"),
    ({"bias": np.zeros(3, np.float32)}, "bias"),
    ({"decoder": np.zeros((17, 4), np.float32)}, "1 to 16 latents"),
]


@pytest.mark.parametrize(("change", "words"), DAMAGE)
def test_damaged_artifacts_are_named(
    change: dict[str, Any], words: str, context: Callable[[], Context]
) -> None:
    from bench.spec import Artifact

    folder = context().artifact_dir
    good = {
        "starts": np.array([0, 2, 2]), "latents": np.array([0, 5], np.int32), "values": np.ones(2, np.float32),
        "decoder": np.zeros((16, 4), np.float32), "bias": np.zeros(4, np.float32),
    }  # fmt: skip
    artifact = Artifact(dir=folder, sha256="", notes={})
    np.savez(folder / file_of(0), **good)
    assert read(artifact, 0, rows=2, dim=4, most_latents=16, decoded=2).codes.nnz == 2
    np.savez(folder / file_of(0), **{**good, **change})
    with pytest.raises(InvalidOutput, match=words):
        read(artifact, 0, rows=2, dim=4, most_latents=16, decoded=2)


def test_inputs_for_commands(context: Callable[[], Context]) -> None:
    ctx = context()
    fields = task_of("sae.synth").export_inputs(unit_of("sae.synth"), ctx, ctx.artifact_dir)
    train, rows = (np.load(ctx.artifact_dir / f"{name}.npy") for name in ("train", "encode"))
    assert len(rows) == fields["n"]
    assert train.shape[1] == rows.shape[1] == fields["d_in"]
    assert np.linalg.norm(train, axis=1).mean() == pytest.approx(np.sqrt(train.shape[1]), rel=1e-4)


def test_proxies_are_judged(run: Run) -> None:
    """The pilot's findings: the score MS confuses co-occurrence with clean latents, decoders do not."""
    found: dict[str, TaskOutput] = {}
    for name in ("proxy-ms-self", "proxy-interference"):
        found[name], _ = run("sae.proxy_audit", adapter_of(name))
    score, overlap = found["proxy-ms-self"], found["proxy-interference"]
    assert value(score, "c5") == 0.0
    assert value(overlap, "c5") == 1.0
    assert value(score, "trained") < 0 < value(overlap, "trained")
    assert value(score, "c2") == 1.0
    assert value(score, "c8") is None  # one draw of rows only
    assert {e.name for e in score.exhibits} == {"points", "verdicts"}


def test_the_worlds_of_the_population_are_those_of_the_recipes() -> None:
    from bench.datasets.sae.recipes import RECIPES
    from bench.tasks.sae.audit.population import world_of

    world = world_of("pairs-95")
    assert world.dictionary == pytest.approx(RECIPES["pairs-95"].make(world.seed).dictionary, abs=1e-5)
