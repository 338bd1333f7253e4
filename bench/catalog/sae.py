"""Catalogue of the family `sae`: plain data, nothing heavy is imported here."""

from __future__ import annotations

from bench.catalog.sae_datasets import DATASETS
from bench.catalog.sae_metrics import AUDIT, LINEARITY, LM, SYNTH, TOY
from bench.catalog.sae_models import MODELS as CODERS
from bench.catalog.sae_proxies import PROXIES
from bench.catalog.sae_representations import REPRESENTATIONS
from bench.spec import JSONScalar, SizePlan, TaskInfo

__all__ = ["DATASETS", "MODELS", "TASKS"]

MODELS = (*CODERS, *PROXIES, *REPRESENTATIONS)

_WORLDS = (
    "indep",
    "pairs-03",
    "pairs-25",
    "pairs-50",
    "pairs-80",
    "pairs-95",
    "anti",
    "copula",
    "hier",
    "zipf",
)


_SWITCHED = (
    "Concepts are switched, not correlated, so that concepts which occur together do not make a clean latent look "
    "polysemantic. Worlds, sizes and the definition of polysemanticity are ours."
)


def _synth(train: int, budget: int, eval: int, bases: int, **more: JSONScalar) -> dict[str, JSONScalar]:
    """`train` rows to draw `budget` rows from, `eval` evaluation rows, `bases` base states for each concept."""
    return {"train": train, "budget": budget, "eval": eval, "bases": bases, **more}


def _lm(
    rows: int,
    latents: int,
    k: int,
    budget: int,
    ce_rows: int,
    probes: int,
    probe_train: int,
    probe_test: int,
    probe_tokens: int,
    **more: JSONScalar,
) -> dict[str, JSONScalar]:
    """`rows` of 128 tokens for each of ten sources, every eighth for evaluation, `ce_rows` of these with activations
    replaced; `probes` sets of texts.
    """
    return {
        "rows": rows,
        "latents": latents,
        "k": k,
        "budget": budget,
        "ce_rows": ce_rows,
        "probes": probes,
        "probe_train": probe_train,
        "probe_test": probe_test,
        "probe_tokens": probe_tokens,
        **more,
    }


TASKS: tuple[TaskInfo, ...] = (
    TaskInfo(
        name="sae.toy2",
        title="Two concepts",
        version=1,
        scoring=1,
        entry="bench.tasks.sae.toy:Toy",
        sizes={
            "tiny": SizePlan(datasets=("toy2-q10",), repeats=1, settings={"train": 4_000, "budget": 20_000}),
            "small": SizePlan(
                datasets=("toy2-q10",), repeats=1, settings={"train": 10_000, "budget": 128_000}
            ),
            "full": SizePlan(
                datasets=("toy2-q02", "toy2-q05", "toy2-q10", "toy2-q20", "toy2-skew"),
                repeats=3,
                settings={"train": 10_000, "budget": 1_000_000},
            ),
        },
        metrics=TOY,
        summary="A world of two concepts whose best coder is known in closed form: with one active latent it must mix "
        "them.",
        protocol="own",
        protocol_note="Closed forms of this project after the setup of Mencattini et al. (2026). Values are exact "
        "expectations over the four kinds of rows.",
    ),
    TaskInfo(
        name="sae.synth",
        title="Known concepts",
        version=1,
        scoring=1,
        entry="bench.tasks.sae.synth:Synth",
        sizes={
            "tiny": SizePlan(datasets=("pairs-tiny",), repeats=1, settings=_synth(4_000, 20_000, 1_000, 32)),
            "small": SizePlan(
                datasets=("pairs-95",),
                repeats=2,
                settings=_synth(60_000, 320_000, 8_000, 48, sweep_repeats=1, sparsities="0.5"),
            ),
            "full": SizePlan(
                datasets=_WORLDS,
                repeats=3,
                settings=_synth(
                    250_000, 1_280_000, 20_000, 256, sweep_repeats=3, sparsities="0.5,2", widths="0.5,2"
                ),
            ),
        },
        metrics=SYNTH,
        summary="Worlds whose concepts are known: every concept is switched on and off to see which latents it moves.",
        protocol="own",
        protocol_note=_SWITCHED,
    ),
    TaskInfo(
        name="sae.cooccurrence",
        title="What co-occurrence does",
        version=1,
        scoring=1,
        entry="bench.tasks.sae.synth:Synth",
        sizes={
            "small": SizePlan(
                datasets=("pairs-03", "pairs-80", "pairs-95"),
                repeats=3,
                settings=_synth(60_000, 320_000, 8_000, 48),
            ),
            "full": SizePlan(
                datasets=("pairs-03", "pairs-25", "pairs-50", "pairs-80", "pairs-95"),
                repeats=5,
                settings=_synth(250_000, 1_280_000, 20_000, 256),
            ),
        },
        metrics=SYNTH,
        summary="The same coders in worlds whose concepts come together more and more often, beside the true "
        "concepts: what "
        "it costs to keep latents monosemantic.",
        protocol="own",
        protocol_note=f"{_SWITCHED} Models with the tag core take part, others by giving themselves this tag.",
        only_tags=("core",),
    ),
    TaskInfo(
        name="sae.lm",
        title="Language models",
        version=1,
        scoring=1,
        entry="bench.tasks.sae.lm:LanguageModel",
        sizes={
            "small": SizePlan(
                datasets=("minilm-l3",),
                repeats=1,
                settings=_lm(24, 1_024, 32, 40_960, 30, 3, 120, 80, 32, held_back="slow"),
            ),
            "full": SizePlan(
                datasets=("smollm2-l9", "minilm-l3"),
                repeats=1,
                settings=_lm(
                    160,
                    2_304,
                    32,
                    1_024_000,
                    64,
                    8,
                    300,
                    200,
                    64,
                    sweep_repeats=1,
                    sparsities="0.25,0.5,2",
                    widths="2",
                ),
            ),
        },
        metrics=LM,
        summary="Coders of activations of a real language model: what is explained, what the model keeps, what can be "
        "read off a latent.",
        protocol="own",
        protocol_note="Models and texts come from pinned packages, nothing is downloaded. First tokens, separators and "
        "activations above five times the median norm are left out everywhere and keep their original value when "
        "activations are replaced. The random dictionary stands in the same table: probes alone do not tell it from a "
        "trained coder.",
        requires=("pandas", "pyarrow", "safetensors"),
    ),
    TaskInfo(
        name="sae.proxy_audit",
        title="Can proxies be believed?",
        version=1,
        scoring=1,
        entry="bench.tasks.sae.audit.task:ProxyAudit",
        sizes={
            "tiny": SizePlan(
                datasets=("pairs-03",),
                repeats=1,
                settings={
                    "worlds": "pairs-03,pairs-95",
                    "rows": 600,
                    "reseeds": 1,
                    "trained": "topk-a,topk-narrow,l1",
                },
            ),
            "small": SizePlan(
                datasets=("pairs-03",),
                repeats=1,
                settings={"worlds": "pairs-03,pairs-80,pairs-95", "rows": 3_000, "reseeds": 3},
            ),
            "full": SizePlan(
                datasets=("pairs-03",),
                repeats=3,
                settings={"worlds": "pairs-03,pairs-80,pairs-95", "rows": 20_000, "reseeds": 3},
            ),
        },
        metrics=AUDIT,
        summary="Proxies of polysemanticity are the contestants: do they order coders as the truth does, and what "
        "moves "
        "them that should not?",
        protocol="own",
        protocol_note="18 coders of six kinds, trained once in three worlds of pairs, and six controls for each "
        "world. The "
        "eight conditions are ours. A proxy that fails some may still be useful where these do not matter.",
        only_tags=("proxy",),
    ),
    TaskInfo(
        name="sae.target_linearity",
        title="Target linearity",
        version=1,
        scoring=1,
        entry="bench.tasks.sae.linearity:Linearity",
        sizes={
            "small": SizePlan(
                datasets=("probe-texts",),
                repeats=1,
                settings={"sets": 2, "texts": 800, "tokens": 24, "held_back": "slow"},
            ),
            "full": SizePlan(
                datasets=("probe-texts",), repeats=3, settings={"sets": 8, "texts": 900, "tokens": 64}
            ),
        },
        metrics=LINEARITY,
        summary="Dense representations of texts, layer by layer: how much of a class label is a linear function of "
        "them.",
        protocol="own",
        protocol_note="The formula is that of the 2026 abstract; sets of texts, pooling and the held-out variant, "
        "which leads "
        "here because the published one is 1 as soon as there are fewer texts than dimensions, are ours.",
        requires=("pandas", "pyarrow", "safetensors"),
        only_tags=("representation",),
    ),
)
