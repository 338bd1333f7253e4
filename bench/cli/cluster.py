"""The verb `worker`: this machine's part of a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bench.errors import UsageError

if TYPE_CHECKING:
    from bench.engine.worker import Slot


def register(app: typer.Typer) -> None:
    app.command()(worker)


def worker(
    scheduler: Annotated[
        str,
        typer.Option(
            "--scheduler", envvar="BENCH_SCHEDULER", help="Address that `bench run --engine dask` printed."
        ),
    ],
    gpus: Annotated[
        str | None, typer.Option("--gpus", help="GPUs to offer, e.g. 0,1; none for none. Default: all.")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, help="Jobs at a time. Default: one per GPU, else one per core."),
    ] = None,
    death_timeout: Annotated[
        float, typer.Option("--death-timeout", min=1, help="Seconds to wait for the scheduler at the start.")
    ] = 60.0,
    work: Annotated[
        Path | None, typer.Option("--work", help="Where private folders of jobs are made. Default: $TMPDIR.")
    ] = None,
) -> None:
    """Run jobs for a `bench run --engine dask`, here or on another machine, until that ends."""
    import asyncio

    from bench.engine import check_cluster
    from bench.engine.devices import usable_cores, visible_gpus

    check_cluster(scheduler)
    names = _gpus(gpus, visible_gpus())
    slots = _slots(names, workers or len(names) or usable_cores())

    from bench.engine.worker import serve
    from bench.engine.workspace import private_folder

    with private_folder(work) as folder:
        code = asyncio.run(serve(scheduler, slots, folder, death_timeout))
    raise typer.Exit(code)


def _gpus(asked: str | None, there: tuple[str, ...]) -> tuple[str, ...]:
    """The GPUs to offer, as CUDA_VISIBLE_DEVICES names them; numbers count among those that are visible."""
    if asked is None:
        return there
    wanted = [word.strip() for word in asked.split(",") if word.strip()]
    if wanted in ([], ["none"]):
        return ()
    for word in wanted:
        if not (word.isascii() and word.isdigit()) or int(word) >= len(there):
            raise UsageError(f"--gpus {asked!r}: there is no GPU {word!r}; this machine has {len(there)}")
    if len(set(wanted)) < len(wanted):
        raise UsageError(f"--gpus {asked!r} names a GPU twice; use --workers to share one")
    return tuple(there[int(word)] for word in wanted)


def _slots(gpus: tuple[str, ...], count: int) -> list[Slot]:
    """`count` slots; GPUs are dealt out in turn, and those that have more than one slot are shared."""
    import secrets

    from bench.engine.worker import Slot

    name = f"dask-{secrets.token_hex(3)}"
    if not gpus:
        return [Slot(name=f"{name}.{i}") for i in range(count)]
    if count < len(gpus):
        raise UsageError(f"--workers {count} leaves some of {len(gpus)} GPUs idle; name fewer with --gpus")
    places = [i % len(gpus) for i in range(count)]
    return [
        Slot(name=f"{name}.{i}", gpu=gpus[place], share=1 / places.count(place))
        for i, place in enumerate(places)
    ]
