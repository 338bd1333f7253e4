"""One run from selection to exit code: plan, check the ground, run, compact, report.

The command line and Python callers share this; nothing here parses options.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bench import plan as plans
from bench.coordinator import Coordinator, Summary
from bench.errors import MissingRequirement, StoreError, UsageError
from bench.live_site import LiveSite
from bench.plan import Selection
from bench.planned import Past, Plan
from bench.progress import Style, make_reporter
from bench.registry import Registry

if TYPE_CHECKING:
    from bench.engine import Engine
    from bench.stopping import Watcher
    from bench.store import RunWriter, Store

EngineName = Literal["local", "inline", "dask"]
CLUSTER_GPUS = 1024  # a plan for a cluster does not know how many there are: jobs that miss them say so


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to run, as opposed to what."""

    results: Path = Path("results")
    engine: EngineName = "local"
    workers: int | None = None  # None: one per core, or per GPU share; of a cluster all that come
    scheduler: str = ""  # of the cluster; "": the run starts its own
    listen: str = "127.0.0.1:0"  # where a scheduler of its own listens
    device: str = "auto"
    sandbox: bool = False
    progress: Style = "auto"
    fail_fast: bool = False
    allow_failures: bool = False
    samples: Literal["none", "scores"] = "scores"
    anonymous: bool = False
    min_free_mb: int = 512
    site: Path | None = None  # rebuilt while results arrive
    submissions: Path = field(default_factory=lambda: Path("submissions"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A plan and the store it was made against."""

    plan: Plan
    store: Store
    past: Sequence[Past]


def prepare(registry: Registry, selection: Selection, settings: Settings) -> Prepared:
    """Open the store, check it can be written, and plan against what it holds."""
    from bench.store import Store

    store = Store.open(settings.results, create=True)
    store.probe(min_free_mb=settings.min_free_mb)
    past = store.history()
    return Prepared(plan=plans.make_plan(registry, selection, past), store=store, past=past)


def execute(
    prepared: Prepared, settings: Settings, argv: Sequence[str], watcher: Watcher | None = None
) -> Summary:
    """Run what the plan says, as far as `watcher` still wants it, and leave the store compacted."""
    from bench.datasets.cache import cache_folder
    from bench.engine import make_engine

    prepared.store.touch([p.job.key for p in prepared.plan.with_action("cached")])
    if prepared.plan.is_done():
        return _nothing_to_do(prepared.plan)
    device, gpus = resolve_device(settings.device, settings.engine)
    reporter = make_reporter(settings.progress)
    for notice in prepared.plan.notices():
        reporter.note(notice)
    if settings.sandbox:
        reporter.note(_sandbox_notice(settings.engine))
    if settings.engine == "inline":
        reporter.note("engine inline: models run in this process, without isolation or limits")
    engine: Engine = make_engine(
        settings.engine,
        workers=settings.workers,
        gpus=gpus,
        scheduler=settings.scheduler,
        listen=settings.listen,
        on_progress=reporter.step,
        on_note=reporter.note,
    )
    writer = prepared.store.start_run(
        argv=argv,
        settings=_plain(settings),
        plan=[{"job": p.job.key, "action": p.action, "reason": p.reason} for p in prepared.plan.jobs],
        anonymous=settings.anonymous,
        engine=settings.engine,
        keep_samples=settings.samples == "scores",
    )
    with LiveSite(settings.results, settings.site, settings.submissions) as live:
        coordinator = Coordinator(
            store=prepared.store,
            writer=writer,
            engine=engine,
            reporter=reporter,
            cache_dir=cache_folder(),
            expected=plans.expected_seconds(prepared.past),
            device=device,
            sandbox=settings.sandbox,
            fail_fast=settings.fail_fast,
            on_stored=live.refresh,
            watcher=watcher,
        )
        summary = coordinator.run(prepared.plan)
        if settings.allow_failures and summary.exit_code == 1:
            summary.exit_code = 0
        _close(writer, summary)
        if not summary.interrupted and not summary.aborted:
            live.finish()
    return summary


def check_engine(engine: EngineName, scheduler: str, listen: str, sandbox: bool) -> None:
    """Raise `UsageError` for options that do not go together, before anything slow is done."""
    if engine == "inline" and sandbox:
        raise UsageError("--sandbox needs processes of their own for models; use --engine local or dask")
    if engine == "dask":
        from bench.engine import check_cluster

        check_cluster(scheduler, listen)


def _sandbox_notice(engine: EngineName) -> str:
    """What --sandbox means here; `UsageError` if it cannot be had."""
    if engine == "dask":
        return "sandbox: in each worker as its system allows; where it does not, jobs are skipped"
    from bench.engine import sandbox

    try:
        return sandbox.NOTICES[sandbox.find_way()]
    except MissingRequirement as error:
        raise UsageError(str(error)) from None


def _close(writer: RunWriter, summary: Summary) -> None:
    """End the run in the store; a full disk then is no other than a full disk before."""
    try:
        writer.close(exit_code=summary.exit_code)
    except StoreError as error:
        summary.aborted = summary.aborted or str(error)
        summary.exit_code = error.exit_code
    summary.stored = writer.stored


def _nothing_to_do(plan: Plan) -> Summary:
    summary = Summary()
    summary.counts["skipped"] = len(plan.with_action("skip"))
    summary.count_cached(plan)
    summary.exit_code = 1 if summary.failed_before else 0
    return summary


def gpu_count(device: str, engine: EngineName) -> int:
    """How many GPUs a plan may reckon with."""
    if engine == "dask":
        return 0 if device == "cpu" else CLUSTER_GPUS
    return len(resolve_device(device, engine)[1])


def resolve_device(device: str, engine: EngineName = "local") -> tuple[str, tuple[str, ...]]:
    """The kind of device ("cpu" or "cuda") and the GPUs of this machine that jobs may use.

    "auto" takes CUDA where there is one; asking for a device that is absent is a `UsageError`. On a cluster
    each worker knows its own: the kind then stays as asked for, "auto" included.
    """
    from bench.engine.devices import visible_gpus

    if engine == "dask":
        if device in ("auto", "cpu", "cuda"):
            return device, ()
        raise UsageError(
            f"device {device!r}: with --engine dask use auto, cpu or cuda; `bench worker --gpus` says which"
        )
    if device == "cpu":
        return "cpu", ()
    gpus = visible_gpus()
    if device == "auto":
        return ("cuda" if gpus else "cpu"), gpus
    name, _, indices = device.partition(":")
    if name != "cuda":
        raise UsageError(f"device {device!r} is unknown; use auto, cpu, cuda or cuda:0,1")
    if not gpus:
        raise UsageError(
            f"device {device!r} was asked for, but there is no CUDA GPU; use --device auto or cpu"
        )
    wanted = [index for index in indices.split(",") if index]
    for index in wanted:
        if not index.isdigit() or int(index) >= len(gpus):
            raise UsageError(f"device {device!r}: there is no GPU {index!r}; this machine has {len(gpus)}")
    return "cuda", tuple(gpus[int(index)] for index in wanted) or gpus


def _plain(settings: Settings) -> dict[str, Any]:
    """The settings as JSON: paths become text."""

    return {
        name: str(value) if isinstance(value := getattr(settings, name), Path) else value
        for name in Settings.__dataclass_fields__
    }
