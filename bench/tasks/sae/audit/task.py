"""Task `sae.proxy_audit`: the contestants are proxies of polysemanticity, measured on coders whose truth is known."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.artifacts import load_npz
from bench.errors import InvalidOutput
from bench.metrics.sae.agreement import RankAgreement
from bench.metrics.sae.distortion import distortion
from bench.metrics.sae.polysemanticity import effects, polysemanticity
from bench.metrics.sae.rate import rate
from bench.spec import Artifact, Context, Exhibit, JSONScalar, Measure, Task, TaskOutput, Unit, derived_seed
from bench.tasks.caching import cached_array
from bench.tasks.sae.audit.cases import AuditUnit, case_of, case_sizes, cases
from bench.tasks.sae.audit.findings import CONDITIONS, Findings, Known, findings
from bench.tasks.sae.audit.population import Member, world_of
from bench.tasks.sae.audit.proxies import PROXIES

FILE = "values.npz"
_FEW = "fewer than four coders have a value, or all have the same"
_UNJUDGED = "cannot be judged: the proxy has no value where it would have to"


class ProxyAudit(Task):
    """Measures a proxy on every case and compares it with what is known.

    Artifact: `values.npz`, a float64 array (m,) for each case, and `direction`, 1 or -1.
    """

    def collect(self, adapter: Any, unit: Unit, ctx: Context) -> Mapping[str, JSONScalar]:
        """The proxy's values."""
        name = getattr(adapter, "proxy", None)
        if name is not None and name not in PROXIES:
            raise InvalidOutput(f"there is no proxy {name!r}; the bench has {', '.join(PROXIES)}")
        measure = PROXIES[name][1] if name else getattr(adapter, "measure", None)
        direction = PROXIES[name][0] if name else getattr(adapter, "direction", 1)
        if not callable(measure) or direction not in (1, -1):
            raise InvalidOutput("a proxy has measure(case) and a direction of 1 or -1; derive it from Proxy")
        values: dict[str, npt.NDArray[np.float64]] = {"direction": np.array(direction)}
        for key, case in cases(_unit(unit)):
            found = np.asarray(measure(case), dtype=np.float64)
            if found.shape != (len(case.decoder),) or np.isinf(found).any():
                raise InvalidOutput(
                    f"measure returned {found.shape} for {len(case.decoder)} latents, or infinities"
                )
            values[key.replace("/", "|")] = found
        np.savez(ctx.artifact_dir / FILE, **values)  # type: ignore[arg-type]
        return {"cases": len(values) - 1, "direction": int(direction)}

    def score(self, artifact: Artifact, unit: Unit, ctx: Context) -> TaskOutput:
        """Agreement with the truth, conditions met, controls that fool it."""
        plan = _unit(unit)
        sizes = case_sizes(plan)
        arrays = load_npz(artifact.path(FILE), ["direction", *(k.replace("/", "|") for k in sizes)])
        direction = float(arrays.pop("direction"))
        values = {}
        for key, size in sizes.items():
            array = arrays[key.replace("/", "|")]
            if array.shape != (size,) or array.dtype.kind != "f" or np.isinf(array).any():
                raise InvalidOutput(f"{FILE}[{key}]: expected finite floats or NaN ({size},)")
            values[key] = direction * array.astype(np.float64)
        known = [_known(member, plan, ctx) for member in plan.members()]
        found = findings(values, known, plan)
        return TaskOutput(
            metrics=_metrics(found),
            flags=tuple(f"fooled-by-{name}" for name in found.fooled),
            exhibits=_exhibits(found, direction, ctx),
            notes={
                "coders": len(known),
                "trained": sum(k.trained for k in known),
                "rows": plan.rows,
                "direction": int(direction),
            },
        )


def _unit(unit: Unit) -> AuditUnit:
    rows = int(unit.setting("rows"))
    return AuditUnit(
        worlds=tuple(str(unit.setting("worlds")).split(",")),
        rows=rows if unit.limit is None else max(200, min(rows, unit.limit)),
        reseeds=int(unit.setting("reseeds")),
        trained=tuple(name for name in str(unit.settings.get("trained") or "").split(",") if name),
        seed=derived_seed(unit.seed, "audit"),
    )


def _known(member: Member, plan: AuditUnit, ctx: Context) -> Known:
    """The truth about a coder; it costs most and is the same for every proxy."""
    content = resources.files("bench.tasks.sae").joinpath("weights/population.npz").read_bytes()
    identity = f"1|{hashlib.sha256(content).hexdigest()}|{member.key}|{plan.rows}|{plan.seed}"
    path = ctx.cache_dir / "sae" / f"{hashlib.sha256(identity.encode()).hexdigest()[:32]}.npy"
    size = len(member.dec)
    array = cached_array(path, lambda: _truth(member, plan), fits=lambda a: a.shape == (size + 3,))
    poly, bits, fvu = (float(v) for v in array[:3])
    return Known(
        world=member.world,
        name=member.name,
        trained=member.is_trained,
        neff=array[3:],
        poly=poly,
        bits=bits,
        fvu=fvu,
    )


_BASES = 32


def _truth(member: Member, plan: AuditUnit) -> npt.NDArray[np.float64]:
    """(polysemanticity, bits, distortion, effective number of factors of each latent)."""
    world = world_of(member.world)
    pairs = [world.interventions(i, _BASES) for i in range(world.recipe.n_factors)]
    on, off = (member.encode(np.concatenate(side) * member.scale) for side in zip(*pairs, strict=True))
    case = case_of(plan, member)
    shares = np.diff(case.codes.tocsc().indptr) / len(case.rows)
    found = polysemanticity(
        effect=effects(on=on, off=off, n_factors=world.recipe.n_factors),
        prevalence=world.prevalence,
        density=shares,
    )
    rebuilt = case.codes @ member.dec + member.b_dec
    bits = rate(codes=case.codes, decoder=member.dec, rows=case.rows).bits
    fvu = distortion(rows=case.rows, reconstruction=rebuilt).fvu
    poly = np.nan if found.poly is None else found.poly
    return np.array([poly, bits, np.nan if fvu is None else fvu, *found.neff])


def _metrics(found: Findings) -> dict[str, Measure]:
    judged = [v for v in found.conditions.values() if v is not None]
    share = sum(judged) / len(judged) if judged else None
    return {
        "trained": _agreement(found.trained),
        "passed": Measure(
            value=share, n=len(judged), reason=_UNJUDGED if share is None else "no interval: a count"
        ),
        "everyone": _agreement(found.everyone),
        "latents": _agreement(found.latents),
        "trained_kendall": Measure(
            value=found.trained.kendall if found.trained else None,
            n=found.trained.n if found.trained else None,
            reason="" if found.trained else _FEW,
        ),
        **{
            name: Measure(
                value=None if verdict is None else float(verdict),
                reason=_UNJUDGED if verdict is None else "no interval: a verdict",
            )
            for name, verdict in found.conditions.items()
        },
        "fooled": Measure(value=float(len(found.fooled)), n=3, reason="no interval: a count"),
    }


def _agreement(found: RankAgreement | None) -> Measure:
    if found is None:
        return Measure(value=None, reason=_FEW)
    method = "percentile bootstrap"
    return Measure(value=found.spearman, ci_low=found.low, ci_high=found.high, ci_method=method, n=found.n)


def _exhibits(found: Findings, direction: float, ctx: Context) -> tuple[Exhibit, ...]:
    points = [
        {
            "coder": k.key,
            "trained": k.trained,
            "truth": round(k.poly, 5),
            "proxy": None if np.isnan(v) else round(direction * v, 6),
        }
        for k, v in found.points
    ]
    verdicts = [
        {
            "condition": name,
            "meaning": CONDITIONS[name],
            "verdict": "n/a" if v is None else "pass" if v else "fail",
        }
        for name, v in found.conditions.items()
    ]
    shown = {
        "points": (points, "Polysemanticity and proxy of every coder."),
        "verdicts": (verdicts, "Conditions that a proxy must meet."),
    }
    for name, (content, _) in shown.items():
        (ctx.exhibit_dir / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return tuple(
        Exhibit(name=name, kind="table", file=f"{name}.json", caption=caption)
        for name, (_, caption) in shown.items()
    )
