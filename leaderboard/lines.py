"""Lines: who stands in a row of a table. Limited results are a line of their own, never mixed with full ones."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bench.leaderboard import text
from bench.leaderboard.records import IMPORTED, JobRecord
from bench.registry import Registered, Registry
from bench.spec import ModelInfo

Role = Literal["bound", "baseline", "contender"]
LineKey = tuple[str, int]  # model, limit (-1: none)

UPPER_BOUND_TAGS = frozenset({"oracle", "upper-bound"})
FEATURES_ONLY_TAG = "features"
TRAINED_ON_TEST_TAG = "trained-on-test"  # else a card says so by "<dataset>:test" in `training_data`


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """A short word beside a model with an explanation."""

    word: str
    kind: str  # chooses the look: role, warn, flag, info
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A model as it stands in tables."""

    model: str
    limit: int | None
    slug: str
    title: str
    role: Role
    tags: tuple[str, ...]
    badges: tuple[Badge, ...]

    @property
    def key(self) -> LineKey:
        return self.model, -1 if self.limit is None else self.limit

    @property
    def competes(self) -> bool:
        """Whether the line may be called best of a column."""
        return self.role == "contender" and self.limit is None


def by_line(jobs: Iterable[JobRecord]) -> dict[LineKey, list[JobRecord]]:
    groups: dict[LineKey, list[JobRecord]] = defaultdict(list)
    for job in jobs:
        groups[job.model, -1 if job.limit is None else job.limit].append(job)
    return dict(groups)


def card(jobs: Sequence[JobRecord], registry: Registry) -> Mapping[str, Any]:
    """The model card: as stored with the newest result, completed from the registry."""
    newest = max(jobs, key=lambda j: (j.ended_at.timestamp() if j.ended_at else 0.0, j.job_key))
    registered = registry.models.get(newest.model)
    fields: dict[str, Any] = {}
    if registered is not None:
        fields = {name: getattr(registered.info, name) for name in ModelInfo.__slots__}
    return {**fields, **newest.model_info, "name": newest.model, "version": newest.model_version}


def line(jobs: Sequence[JobRecord], registry: Registry) -> Line:
    """The line that `jobs` (of one model and limit) belong to, with badges for exactly these jobs."""
    model, limit = jobs[0].model, jobs[0].limit
    info = card(jobs, registry)
    tags = strings(info.get("tags"))
    role = _role(jobs, tags)
    return Line(
        model=model,
        limit=limit,
        slug=text.slug(model),
        title=text.visible(str(info.get("title") or model), 80),
        role=role,
        tags=tags,
        badges=(
            *_badges(jobs, role, tags, str(info.get("form") or "class")),
            *_history(jobs, registry.models.get(model)),
            *_contamination(jobs, info, tags),
            *_flags(jobs),
        ),
    )


def strings(value: Any) -> tuple[str, ...]:
    """`value` as a tuple of texts, whatever a foreign store holds."""
    if isinstance(value, (list, tuple)):
        return tuple(str(v) for v in value)
    return (str(value),) if value else ()


def _role(jobs: Sequence[JobRecord], tags: tuple[str, ...]) -> Role:
    if UPPER_BOUND_TAGS.intersection(tags):
        return "bound"
    return "baseline" if any(j.baseline for j in jobs) else "contender"


def _badges(jobs: Sequence[JobRecord], role: Role, tags: tuple[str, ...], form: str) -> Iterable[Badge]:
    limit = jobs[0].limit
    if role == "bound":
        yield Badge(word="upper bound", kind="role", note="An oracle or real held-out data, not a contender")
    if role == "baseline":
        yield Badge(word="baseline", kind="role", note="A floor or control, not a contender")
    if limit is not None:
        note = f"Run with --limit {limit}; never ranked with full results"
        yield Badge(word=f"limited {limit}", kind="warn", note=note)
    if FEATURES_ONLY_TAG in tags:
        yield Badge(
            word="features only", kind="info", note="Only features exist; there are no samples to look at"
        )
    if form == "artifacts":
        note = "Artifacts made elsewhere and handed in; the bench scored them but did not run the model"
        yield Badge(word="made elsewhere", kind="info", note=note)
    # Each artifact made elsewhere has a hash of its own; of code they must be the same.
    if len({(j.model_version, "" if form == "artifacts" else j.model_source_sha256) for j in jobs}) > 1:
        yield Badge(
            word="mixed versions", kind="warn", note="Results come from more than one version of the model"
        )


def _history(jobs: Sequence[JobRecord], registered: Registered[ModelInfo] | None) -> Iterable[Badge]:
    """Results that came from a table, or from another version than the registered one."""
    if any(j.engine == IMPORTED for j in jobs):
        note = "The numbers come from a table made elsewhere; the bench neither ran nor scored this"
        yield Badge(word="imported", kind="info", note=note)
    versions = sorted({j.model_version for j in jobs})
    if registered is not None and registered.info.version not in versions:
        old = text.visible(", ".join(versions), 40)
        note = f"Results are of version {old}; the registered one is {registered.info.version}"
        yield Badge(word="changed version", kind="warn", note=note)


def _contamination(
    jobs: Sequence[JobRecord], info: Mapping[str, Any], tags: tuple[str, ...]
) -> Iterable[Badge]:
    """Models whose card says that they were trained on what they are tested with."""
    trained = {name.strip().lower() for name in strings(info.get("training_data"))}
    tested = {f"{j.dataset.lower()}:test" for j in jobs}
    if trained & tested or TRAINED_ON_TEST_TAG in tags:
        note = "The model card names the test part of this data as training data"
        yield Badge(word="trained on test data", kind="flag", note=note)


def _flags(jobs: Sequence[JobRecord]) -> Iterable[Badge]:
    scored = [j for j in jobs if j.ok]
    for flag, n in sorted(Counter(f for j in scored for f in set(j.flags)).items()):
        word = text.visible(flag, 32)
        share = "" if n == len(scored) else f" {n}/{len(scored)}"
        note = f"The task flagged this in {n} of {text.count(len(scored), 'result')}"
        yield Badge(word=word + share, kind="flag", note=note)
