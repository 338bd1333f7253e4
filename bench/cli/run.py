"""The verb `run`: options in, exit code out."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bench.cli.common import (
    DEFAULT_RESULTS,
    DEFAULT_SUBMISSIONS,
    ProgressName,
    ResultsDir,
    SubmissionsDir,
    full_registry,
    printable_lines,
    show_json,
    show_table,
    warn,
)
from bench.errors import UsageError

if TYPE_CHECKING:
    from bench.registry import Registry


class SizeName(StrEnum):
    tiny = "tiny"
    small = "small"
    full = "full"


class EngineChoice(StrEnum):
    local = "local"
    inline = "inline"
    dask = "dask"


class SamplesName(StrEnum):
    none = "none"
    scores = "scores"


def register(app: typer.Typer) -> None:
    app.command()(run)


def _read_config(ctx: typer.Context, path: Path | None) -> Path | None:
    """Values of a TOML file become defaults of the options: flag > environment > file > default."""
    if path is None:
        return None
    from bench.submissions import line_of, unknown_key

    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except OSError as error:
        raise UsageError(f"config file {path}: {error.strerror}") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"config file {path}: {error}") from error
    known = {str(p.name): p for p in ctx.command.params if p.name != "config"}
    values: dict[str, Any] = {}
    for key, value in data.items():
        name = _CONFIG_NAMES.get(key, key.replace("-", "_"))
        if name not in known:
            keys = tuple(sorted({*known} - {*_CONFIG_NAMES.values()} | {*_CONFIG_NAMES}))
            raise UsageError(f"{path}:{line_of(text, key)}: {unknown_key(key, keys)}")
        if getattr(known[name], "multiple", False) and isinstance(value, str):
            value = [value]
        values[name] = value
    ctx.default_map = {**(ctx.default_map or {}), **values}
    return path


# option name -> parameter name, where they differ
_CONFIG_NAMES = {"out": "results", "no-resume": "no_resume"}


def _workers(text: str) -> int | None:
    if text == "auto":
        return None
    if not text.isdigit() or int(text) < 1:
        raise UsageError(f"--workers {text!r}: use a positive number or auto")
    return int(text)


def run(
    suite: Annotated[
        list[str] | None, typer.Option("--suite", envvar="BENCH_SUITE", help="all, or a family (repeatable).")
    ] = None,
    task: Annotated[list[str] | None, typer.Option("--task", help="Task name or glob (repeatable).")] = None,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", help="Model name, glob, FILE.py:CLASS or submission folder (repeatable)."),
    ] = None,
    dataset: Annotated[
        list[str] | None, typer.Option("--dataset", help="Dataset name or glob (repeatable).")
    ] = None,
    size: Annotated[
        SizeName, typer.Option("--size", envvar="BENCH_SIZE", help="How much to run.")
    ] = SizeName.small,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="At most N samples a unit; shown as limited.")
    ] = None,
    repeats: Annotated[
        int | None, typer.Option("--repeats", min=1, help="Seeds per task and dataset.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", envvar="BENCH_SEED", help="Seed of the whole suite.")] = 0,
    results: ResultsDir = DEFAULT_RESULTS,
    site: Annotated[
        Path | None, typer.Option("--site", help="Rebuild this site while results arrive, and at the end.")
    ] = None,
    workers: Annotated[
        str, typer.Option("--workers", envvar="BENCH_WORKERS", help="Jobs at a time, or auto.")
    ] = "auto",
    device: Annotated[
        str, typer.Option("--device", envvar="BENCH_DEVICE", help="auto, cpu, cuda or cuda:0,1.")
    ] = "auto",
    timeout: Annotated[
        float | None, typer.Option("--timeout", min=0.1, help="Seconds a job may take.")
    ] = None,
    memory: Annotated[int | None, typer.Option("--memory", min=64, help="MB a job may take.")] = None,
    engine: Annotated[
        EngineChoice, typer.Option("--engine", envvar="BENCH_ENGINE", help="Where jobs run.")
    ] = EngineChoice.local,
    scheduler: Annotated[
        str,
        typer.Option(
            "--scheduler", envvar="BENCH_SCHEDULER", help="With dask: its address; else the run starts one."
        ),
    ] = "",
    listen: Annotated[
        str, typer.Option("--listen", metavar="HOST:PORT", help="With dask: where its own scheduler listens.")
    ] = "127.0.0.1:0",
    sandbox: Annotated[
        bool,
        typer.Option(
            "--sandbox", envvar="BENCH_SANDBOX", help="Models see no network and write to their folders only."
        ),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Run everything again.")] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run failed jobs again.")] = False,
    no_resume: Annotated[bool, typer.Option("--no-resume", help="Do not use stored results.")] = False,
    samples: Annotated[
        SamplesName, typer.Option("--samples", help="Which per-sample values are kept.")
    ] = SamplesName.scores,
    stop_when_decided: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--stop-when-decided", metavar="A B", help="Run no more repeats of A and B than it takes."
        ),
    ] = None,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="Stop at the first failure.")] = False,
    allow_failures: Annotated[
        bool, typer.Option("--allow-failures", help="Exit 0 even if jobs failed.")
    ] = False,
    anonymous: Annotated[bool, typer.Option("--anonymous", help="Do not store host names.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would run, and why.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --dry-run: print JSON.")] = False,
    progress: Annotated[
        ProgressName, typer.Option("--progress", envvar="BENCH_PROGRESS", help="How to report.")
    ] = ProgressName.auto,
    submissions: SubmissionsDir = DEFAULT_SUBMISSIONS,
    config: Annotated[
        Path | None,
        typer.Option("--config", callback=_read_config, is_eager=True, help="TOML file with these options."),
    ] = None,
) -> None:
    """Run models on tasks and store the results; what is stored already is not run again."""
    from bench import runner
    from bench.plan import Selection

    runner.check_engine(engine.value, scheduler, listen, sandbox)
    registry = full_registry(submissions, model or ())
    warn(registry)
    selection = Selection(
        suites=tuple(suite or ["all"]),
        tasks=tuple(task or ()),
        models=tuple(find_models(registry, model or ())),
        datasets=tuple(dataset or ()),
        size=size.value,
        repeats=repeats,
        seed=seed,
        limit=limit,
        timeout_s=timeout,
        memory_mb=memory,
        force=force,
        retry_failed=retry_failed,
        resume=not no_resume,
        gpus=runner.gpu_count(device, engine.value),
    )
    settings = runner.Settings(
        results=results,
        engine=engine.value,
        workers=_workers(workers),
        scheduler=scheduler,
        listen=listen,
        device=device,
        sandbox=sandbox,
        progress=progress.value,
        fail_fast=fail_fast,
        allow_failures=allow_failures,
        samples=samples.value,
        anonymous=anonymous,
        site=site,
        submissions=submissions,
    )
    prepared = runner.prepare(registry, selection, settings)
    if dry_run:
        _show_plan(prepared.plan, selection, settings, as_json)
        return
    watcher = None
    if stop_when_decided is not None:
        from bench.stopping import StopWhenDecided

        watcher = StopWhenDecided(prepared.store, prepared.plan, *stop_when_decided)
    summary = runner.execute(prepared, settings, sys.argv[1:], watcher)
    for line in watcher.report() if watcher is not None else ():
        typer.echo(printable_lines(line), err=True)
    if prepared.plan.is_done():
        typer.echo("nothing to run: everything is stored already", err=True)
    if summary.failed_before:
        typer.echo("jobs that failed before were left alone; --retry-failed runs them again", err=True)
    if summary.aborted:
        stored = f"{summary.stored} jobs of this run are stored"
        typer.echo(f"bench: stopped: {printable_lines(summary.aborted)} ({stored})", err=True)
    if summary.broken:
        typer.echo(f"bench: stopped: {printable_lines(summary.broken)}", err=True)
    typer.echo(summary.line(results), err=True)
    raise typer.Exit(summary.exit_code)


def find_models(registry: Registry, wanted: Sequence[str]) -> list[str]:
    """The names meant by --model: registered names, globs, and models registered from paths."""
    from bench.submissions import CARD, is_path

    names: list[str] = []
    for text in wanted:
        if text not in registry.models and is_path(text):
            origins = {text, str(Path(text) / CARD)}
            names += [m.info.name for m in registry.models.values() if m.origin in origins]
        else:
            names += registry.match("model", [text])
    return list(dict.fromkeys(names))


def _show_plan(plan: Any, selection: Any, settings: Any, as_json: bool) -> None:
    import dataclasses

    rows = [
        [p.action, p.reason, p.job.model, p.job.task, p.job.dataset, p.job.repeat, p.job.key[:12]]
        for p in plan.jobs
    ]
    head = ["action", "reason", "model", "task", "dataset", "repeat", "key"]
    effective = {**dataclasses.asdict(selection), **dataclasses.asdict(settings)}
    if as_json:
        jobs = [
            dict(zip(head, row, strict=True)) | {"key": p.job.key}
            for row, p in zip(rows, plan.jobs, strict=True)
        ]
        show_json({"jobs": jobs, "settings": effective})
        return
    show_table(head, rows)
    typer.echo()
    show_table(["setting", "value"], [[k, v] for k, v in effective.items() if v not in (None, (), False)])
    counts = {a: len(plan.with_action(a)) for a in ("run", "rescore", "cached", "skip")}
    typer.echo("\n" + ", ".join(f"{n} to {a}" if a != "cached" else f"{n} cached" for a, n in counts.items()))
