"""The vocabulary of the bench as types: what is declared, what runs, what comes out.

Everything here is plain data or an abstract base class and imports nothing heavy, so that listing and
planning stay instant.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bench.errors import InvalidOutput, MissingRequirement, UsageError

if TYPE_CHECKING:
    import numpy as np
    import torch

JSONScalar = str | int | float | bool | None
Size = Literal["tiny", "small", "full"]
Direction = Literal["max", "min", "none"]
Protocol = Literal["paper", "predecessor", "own"]
DataLabel = Literal["real", "generated", "subset"]
#: What the true answers rest on: answers of people to these very items, published averages over people, the
#: exact posterior, or known parameters of a generator; "" where there is no such answer to agree with.
Evidence = Literal["human_trials", "human_aggregate", "ideal_observer", "physical_truth", ""]
SubmissionKind = Literal["class", "command", "artifacts"]

SIZES: tuple[Size, ...] = ("tiny", "small", "full")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}\Z")


def check_name(name: str, what: str) -> str:
    """Return `name` if it may be used in file names and URLs, else raise `UsageError` naming the fault."""
    if _NAME.match(name):
        return name
    if not name:
        raise UsageError(f"{what} name is empty; use 1-64 characters out of a-z, 0-9, '.', '_' and '-'")
    if len(name) > 64:
        raise UsageError(f"{what} name {name[:20]!r}... has {len(name)} characters; at most 64 are allowed")
    allowed = "abcdefghijklmnopqrstuvwxyz0123456789"
    bad = name[0] if name[0] not in allowed else next(c for c in name if c not in allowed + "._-")
    raise UsageError(
        f"{what} name {name!r} contains {bad!r} at a place where it is not allowed; "
        "use a-z, 0-9, '.', '_' and '-', starting with a letter or digit"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What one job may use. Not part of a job's key: changing them never invalidates a result."""

    gpus: float = 0.0  # 0, 0.5, 1, 2 ...; fractions share one device
    cpus: int = 1
    memory_mb: int = 4096  # host memory of the job's whole process group
    timeout_s: float = 3600.0  # wall clock of one job, set-up included


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricInfo:
    """One number a task reports."""

    name: str  # snake_case, unique within a task
    direction: Direction  # "none": descriptive, never ranked
    lo: float = float("-inf")  # closed theoretical range
    hi: float = float("inf")
    unit: str = ""
    kind: Literal["sample_mean", "set", "time", "count"] = "set"
    primary: bool = False  # exactly one per task
    title: str = ""  # short label for table heads; the name if empty
    definition: str = ""  # one sentence, shown as tooltip and on the methods page
    cite: str = ""  # authors, year, title
    target: float | None = None  # the value of an ideal model, where that is neither lo nor hi
    evidence: Evidence = ""  # where it differs from the dataset's


@dataclass(frozen=True, slots=True, kw_only=True)
class SizePlan:
    """How a task runs at one size."""

    datasets: tuple[str, ...]
    repeats: int
    settings: Mapping[str, JSONScalar] = field(default_factory=dict)  # handed to the task as `unit.settings`


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskInfo:
    """A protocol with declared metrics and data."""

    name: str  # "family.task"
    title: str
    version: int  # raised whenever an artifact could change; part of key and seed
    scoring: int  # raised whenever only the numbers computed from an artifact could change
    entry: str  # "module:Class"
    sizes: Mapping[Size, SizePlan]
    metrics: tuple[MetricInfo, ...]
    summary: str  # one sentence, shown on the site
    protocol: Protocol
    protocol_note: str = ""  # what deviates from the source, or why the protocol is ours
    requires: tuple[str, ...] = ()  # importable modules
    resources: Resources = field(default_factory=Resources)  # of a model that does not state its own
    only_tags: tuple[str, ...] = ()  # models with one of these take part; empty: every model of the family

    def takes(self, model: ModelInfo) -> bool:
        """Whether `model` takes part: it is of the family, has a tag that is asked for, and no other task only."""
        return (
            self.family in model.families
            and (not self.only_tags or bool(set(self.only_tags) & set(model.tags)))
            and (not model.only_tasks or self.name in model.only_tasks)
        )

    @property
    def family(self) -> str:
        return self.name.split(".", 1)[0]

    @property
    def primary(self) -> MetricInfo:
        return next(m for m in self.metrics if m.primary)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo:
    """What is measured; everything the model card on the site shows."""

    name: str
    version: str
    families: tuple[str, ...]
    entry: str = ""  # "module:Class"; filled in by the registry for submitted files
    title: str = ""  # display name; the name if empty
    summary: str = ""
    params: Mapping[str, JSONScalar] = field(
        default_factory=dict
    )  # keyword arguments of the adapter's constructor
    requires: tuple[str, ...] = ()  # importable modules
    programs: tuple[str, ...] = ()  # programs on PATH
    form: SubmissionKind = "class"  # "command": runs outside Python; "artifacts": was run elsewhere
    resources: Resources | None = None  # None: what the task suggests
    license: str = ""
    url: str = ""
    paper: str = ""
    n_parameters: int | None = None
    training_data: tuple[str, ...] = ()
    baseline: bool = False  # a floor, ceiling or control, not a contender
    tags: tuple[str, ...] = ()
    only_tasks: tuple[str, ...] = ()  # the only tasks it is made for; empty: every task of its families


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetInfo:
    """The card of a dataset: where it comes from, who may use it, how its bytes are recognised."""

    name: str
    entry: str  # "module:function", called without arguments, returns the family's dataset type
    title: str
    summary: str
    license: str
    data: DataLabel
    evidence: Evidence = ""  # never averaged over different ones
    sha256: str  # of the canonical content, verified by the loader
    url: str = ""
    citation: str = ""
    requires: tuple[str, ...] = ()
    locate: str = ""  # "module:function" -> None if present, else the reason and the remedy


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What every model sees identically: task x dataset x repeat at one size."""

    task: str
    dataset: str
    repeat: int
    size: Size
    seed: int
    limit: int | None
    settings: Mapping[str, JSONScalar]

    def setting(self, name: str) -> Any:
        """The value of a declared setting of the task at this size."""
        try:
            return self.settings[name]
        except KeyError:
            raise UsageError(f"task {self.task} declares no setting {name!r} for size {self.size}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One model on one unit. `key` identifies everything its artifact depends on."""

    task: str
    task_version: int
    model: str
    model_version: str
    model_source_sha256: str
    model_params: Mapping[str, JSONScalar]
    dataset: str
    dataset_sha256: str
    size: Size
    repeat: int
    suite_seed: int
    limit: int | None
    key: str
    resources: Resources


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A value with what is known of its uncertainty. `value=None` means "not measurable", with `reason`."""

    value: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    ci_method: str = ""
    n: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """A picture or table that a score leaves for the site, as a file below `ctx.exhibit_dir`."""

    name: str  # unique within the job, e.g. "samples"
    kind: Literal["image", "table", "series"]  # png; json records; json {x, y, ...}
    file: str  # relative to the exhibit folder
    caption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOutput:
    """What a task returns: every declared metric, and whatever explains it."""

    metrics: Mapping[str, Measure | float]
    facets: Mapping[str, Mapping[str, Measure | float]] = field(default_factory=dict)  # "k=3" -> metrics
    samples: Mapping[str, np.ndarray] | None = None  # metric -> float32[n], aligned over models
    sample_ids: np.ndarray | None = None  # int64 or str, strictly unique
    flags: tuple[str, ...] = ()  # short words shown as badges, e.g. "contraction"
    exhibits: tuple[Exhibit, ...] = ()
    notes: Mapping[str, JSONScalar] = field(default_factory=dict)  # sizes, k, encoder hash, seconds


class Context:
    """The only handle a job has on the outside."""

    def __init__(
        self,
        *,
        device: str,
        seed: int,
        size: Size,
        limit: int | None,
        deadline: float,
        cache_dir: Path,
        artifact_dir: Path,
        exhibit_dir: Path,
        load_dataset: Callable[[str], Any],
        report: Callable[[int, int], None] | None = None,
    ) -> None:
        self.device = device  # "cpu" or "cuda:0": a job sees only its own devices
        self.seed = seed
        self.size: Size = size
        self.limit = limit
        self.deadline = deadline  # time.monotonic() value at which the job is killed
        self.cache_dir = cache_dir  # kept between jobs, one for collect and another for score
        self.artifact_dir = artifact_dir  # collect writes here, score reads
        self.exhibit_dir = exhibit_dir  # score writes pictures and tables here
        self._load_dataset = load_dataset
        self._report = report

    @property
    def rng(self) -> np.random.Generator:
        """A fresh generator seeded from `seed`, so that the order of calls never matters.

        Every call starts the same stream: where there are several purposes, seed a generator for each with
        `derived_seed(ctx.seed, purpose)`.
        """
        import numpy as np

        return np.random.default_rng(self.seed)

    @property
    def seconds_left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())

    def torch_generator(self, device: str = "cpu") -> torch.Generator:
        """A fresh torch generator on `device` seeded from `seed`."""
        import torch

        return torch.Generator(device=device).manual_seed(self.seed)

    def load_dataset(self, name: str) -> Any:
        """The registered dataset `name`, in its family's dataset type."""
        return self._load_dataset(name)

    def progress(self, done: int, total: int) -> None:
        """Tell the bench how far the job is; shown while it runs."""
        if self._report is not None:
            self._report(done, total)


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """What a model produced for a unit: files in open formats, and small notes."""

    dir: Path
    sha256: str
    notes: Mapping[str, JSONScalar]

    def path(self, name: str) -> Path:
        """The path of file `name`; `InvalidOutput` if the model did not produce it."""
        path = self.dir / name
        if not path.is_file():
            raise InvalidOutput(f"the artifact has no file {name!r}; it has {self.names() or 'no file'}")
        return path

    def names(self) -> list[str]:
        return sorted(p.relative_to(self.dir).as_posix() for p in self.dir.rglob("*") if p.is_file())


class Adapter(ABC):
    """Lets the bench measure a model. Families subclass it with their own methods."""

    info: ModelInfo

    def setup(self, ctx: Context) -> None:
        """Load weights on `ctx.device`; called once before anything else."""
        return

    def close(self) -> None:
        """Free what `setup` took; may be called twice."""
        return


class Task(ABC):
    """A protocol in two halves: `collect` runs the model, `score` never sees it."""

    info: TaskInfo

    @abstractmethod
    def collect(self, adapter: Any, unit: Unit, ctx: Context) -> Mapping[str, JSONScalar]:
        """Run the model on `unit`, write its artifact below `ctx.artifact_dir`, return small notes."""

    @abstractmethod
    def score(self, artifact: Artifact, unit: Unit, ctx: Context) -> TaskOutput:
        """Turn an artifact (untrusted input) into numbers. Deterministic; re-runnable at any time."""

    def export_inputs(self, unit: Unit, ctx: Context, folder: Path) -> Mapping[str, Any]:
        """Write the data of `unit` into the empty `folder`, for models that are not Python classes.

        Files are in formats that any language reads. Returns JSON-ready fields for `unit.json`: "n", how many
        things to make; "files", what each file holds; "output", what artifact is expected; and whatever else
        a model must know. The bench adds what all units have in common, the seed among it.
        """
        raise MissingRequirement(f"task {unit.task} takes no commands; submit a Python class")

    def check_artifact(self, artifact: Artifact, unit: Unit, ctx: Context) -> None:
        """Raise `InvalidOutput`, naming file and cause, if `score` could not use a submitted `artifact`."""
        raise MissingRequirement(f"task {unit.task} takes no artifacts made elsewhere; submit a Python class")


def canonical_json(value: Any) -> str:
    """The one JSON text of `value`: sorted keys, no spaces, ASCII, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def derived_seed(seed: int, purpose: str) -> int:
    """A seed in [0, 2^31) for one purpose: first 4 bytes, big endian, of SHA-256("seed|purpose"), top bit
    cleared. Small enough for every library; different purposes never share a random stream.
    """
    digest = hashlib.sha256(f"{seed}|{purpose}".encode()).digest()
    return int.from_bytes(digest[:4], "big") & (2**31 - 1)
