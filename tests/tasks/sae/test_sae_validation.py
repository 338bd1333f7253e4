"""The claim of the paper on our worlds: merging pays where concepts come together, keeping them apart costs."""

from __future__ import annotations

import pytest

from tests.tasks.sae.conftest import Run, adapter_of, value


@pytest.mark.slow
def test_polysemanticity_grows_with_co_occurrence_and_monosemanticity_costs(run: Run) -> None:
    settings = {"train": 60_000, "budget": 320_000, "eval": 8_000, "bases": 32}
    poly, tax, bits = {}, {}, {}
    for world in ("pairs-03", "pairs-95"):
        outputs = {
            name: run("sae.synth", adapter_of(name), dataset=world, settings=settings)[0]
            for name in ("sae-topk", "frozen-truth")
        }
        poly[world] = value(outputs["sae-topk"], "poly")
        tax[world] = value(outputs["frozen-truth"], "fvu") - value(outputs["sae-topk"], "fvu")
        bits[world] = value(outputs["frozen-truth"], "bits") - value(outputs["sae-topk"], "bits")
        assert value(outputs["frozen-truth"], "poly") < 1.06
    assert poly["pairs-03"] < 1.05
    assert poly["pairs-95"] > 1.3
    assert abs(tax["pairs-03"]) < 0.04
    assert tax["pairs-95"] > 0.08
    assert bits["pairs-95"] > 1.0
