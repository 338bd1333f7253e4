"""What a proxy is measured on: every coder on its world, and coders changed in ways that should or should not count."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bench.adapters.sae_proxies import ProxyCase
from bench.tasks.sae.audit.population import Member, members, tied, world_of

Float = npt.NDArray[np.float64]
INVARIANCES = ("order", "scale", "dead", "rows", "rotation")
ANGLES = (0, 15, 30, 45)
CHANGED = 20  # latents that are merged, turned or doubled
RESEEDED = ("topk-a", "topk-b", "topk-narrow", "batchtopk", "l1", "jumprelu", "oracle", "random")
_EMBEDDING, _DEAD = 32, 16


@dataclass(frozen=True, kw_only=True)
class AuditUnit:
    """The worlds in ascending co-occurrence, rows for each, seeds of rows, and which trained coders are there."""

    worlds: tuple[str, ...]
    rows: int
    reseeds: int
    trained: tuple[str, ...]
    seed: int

    def members(self) -> list[Member]:
        """All coders."""
        return members(self.worlds, self.trained)


def cases(plan: AuditUnit) -> Iterator[tuple[str, ProxyCase]]:
    """Every case with its name, always in the same order."""
    everyone = plan.members()
    for member in everyone:
        yield member.key, case_of(plan, member)
    by_key = {member.key: member for member in everyone}
    trained = next(m for m in everyone if m.is_trained and m.world == plan.worlds[-1])
    base = case_of(plan, trained)
    for name, change in _INVARIANT.items():
        yield f"same/{name}", change(base)
    oracle = by_key[f"{plan.worlds[0]}/oracle"]
    yield "merged/pairs", _merged(case_of(plan, oracle))
    for angle in ANGLES:
        yield f"turned/{angle}", case_of(plan, _turned(oracle, angle))
    yield "doubled/latents", _doubled(case_of(plan, oracle))
    for again in range(1, plan.reseeds):
        for name in RESEEDED:
            if (key := f"{plan.worlds[-1]}/{name}") in by_key:
                yield f"again{again}/{name}", case_of(plan, by_key[key], again)


def case_sizes(plan: AuditUnit) -> dict[str, int]:
    """How many latents each case has."""
    everyone = plan.members()
    sizes = {member.key: len(member.dec) for member in everyone}
    base = sizes[next(m for m in everyone if m.is_trained and m.world == plan.worlds[-1]).key]
    oracle = sizes[f"{plan.worlds[0]}/oracle"]
    sizes |= {f"same/{name}": base + (_DEAD if name == "dead" else 0) for name in INVARIANCES}
    sizes |= {"merged/pairs": oracle - CHANGED // 2, "doubled/latents": oracle + CHANGED}
    sizes |= {f"turned/{angle}": oracle for angle in ANGLES}
    for again in range(1, plan.reseeds):
        here = {name: sizes.get(f"{plan.worlds[-1]}/{name}") for name in RESEEDED}
        sizes |= {f"again{again}/{name}": size for name, size in here.items() if size is not None}
    return sizes


def case_of(plan: AuditUnit, member: Member, again: int = 0) -> ProxyCase:
    """`member` on evaluation rows of its world; `again` draws others."""
    z, embeddings = _drawn(plan, member.world, again)
    rows = z @ world_of(member.world).dictionary * member.scale
    return ProxyCase(
        codes=member.encode(rows),
        decoder=member.dec,
        encoder=member.enc.T,
        rows=rows,
        labels=np.where(z.max(axis=1) > 0, z.argmax(axis=1), -1),
        embeddings=embeddings,
    )


@lru_cache(maxsize=4)
def _drawn(plan: AuditUnit, world: str, again: int) -> tuple[Float, Float]:
    """Factors of the rows, and a random projection of which of them are there."""
    z = world_of(world).factors(plan.rows, f"audit {plan.seed} {again}").astype(np.float64)
    projection = np.random.default_rng(plan.seed).standard_normal((z.shape[1], _EMBEDDING))
    embeddings = (z > 0) @ projection
    return z, embeddings - embeddings.mean(axis=0)


def _order(case: ProxyCase) -> ProxyCase:
    order = np.random.default_rng(0).permutation(len(case.decoder))
    return replace(
        case, codes=case.codes[:, order], decoder=case.decoder[order], encoder=case.encoder[:, order]
    )


def _scale(case: ProxyCase) -> ProxyCase:
    factor = np.exp(np.random.default_rng(0).standard_normal(len(case.decoder)))
    return replace(
        case,
        codes=sparse.csr_matrix(case.codes @ sparse.diags(factor)),
        decoder=case.decoder / factor[:, None],
        encoder=case.encoder * factor,
    )


def _dead(case: ProxyCase) -> ProxyCase:
    """Latents that are never active, with atoms of their own."""
    n, d = _DEAD, case.decoder.shape[1]
    extra = np.random.default_rng(0).standard_normal((n, d))
    wider = sparse.hstack([case.codes, sparse.csr_matrix((case.codes.shape[0], n))])
    return replace(
        case,
        codes=sparse.csr_matrix(wider),
        decoder=np.concatenate([case.decoder, extra]),
        encoder=np.concatenate([case.encoder, extra.T], axis=1),
    )


def _rows(case: ProxyCase) -> ProxyCase:
    order = np.random.default_rng(0).permutation(len(case.rows))
    return replace(
        case,
        codes=case.codes[order],
        rows=case.rows[order],
        labels=case.labels[order],
        embeddings=case.embeddings[order],
    )


def _rotation(case: ProxyCase) -> ProxyCase:
    d = case.rows.shape[1]
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((d, d)))[0]
    return replace(case, rows=case.rows @ turn, decoder=case.decoder @ turn, encoder=turn.T @ case.encoder)


_INVARIANT: dict[str, Callable[[ProxyCase], ProxyCase]] = {
    "order": _order, "scale": _scale, "dead": _dead, "rows": _rows, "rotation": _rotation
}  # fmt: skip


def _merged(case: ProxyCase) -> ProxyCase:
    """The first 20 latents two by two made one: codes added, atoms averaged by activation."""
    codes = case.codes.tocsc()
    mass = np.asarray(codes.sum(axis=0)).ravel()
    sums = sparse.csr_matrix(codes[:, 0:CHANGED:2] + codes[:, 1:CHANGED:2])
    atoms = (
        mass[0:CHANGED:2, None] * case.decoder[0:CHANGED:2]
        + mass[1:CHANGED:2, None] * case.decoder[1:CHANGED:2]
    )
    unit = atoms / np.linalg.norm(atoms, axis=1, keepdims=True)
    return replace(
        case,
        codes=sparse.csr_matrix(sparse.hstack([sums, codes[:, CHANGED:]])),
        decoder=np.concatenate([unit, case.decoder[CHANGED:]]),
        encoder=np.concatenate([unit.T, case.encoder[:, CHANGED:]], axis=1),
    )


def _turned(member: Member, angle: int) -> Member:
    """The first, third, ... of the first 20 atoms turned towards the next one."""
    t = np.radians(angle)
    atoms = member.dec.copy()
    atoms[0:CHANGED:2] = np.cos(t) * member.dec[0:CHANGED:2] + np.sin(t) * member.dec[1:CHANGED:2]
    return tied(member, member.name, atoms)


def _doubled(case: ProxyCase) -> ProxyCase:
    """The first 20 latents split into two equal halves."""
    codes = case.codes.tocsc()
    half = codes[:, :CHANGED] * 0.5
    return replace(
        case,
        codes=sparse.csr_matrix(sparse.hstack([half, half, codes[:, CHANGED:]])),
        decoder=np.concatenate([case.decoder[:CHANGED], case.decoder]),
        encoder=np.concatenate([case.encoder[:, :CHANGED], case.encoder], axis=1),
    )
