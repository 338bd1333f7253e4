"""Verbs that show results to people: site, serve."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Annotated

import typer

from bench.cli.common import (
    DEFAULT_RESULTS,
    DEFAULT_SITE,
    DEFAULT_SUBMISSIONS,
    SubmissionsDir,
    full_registry,
)
from bench.errors import UsageError


class PolicyName(StrEnum):
    baseline = "baseline"
    worst = "worst"
    exclude = "exclude"


def register(app: typer.Typer) -> None:
    app.command()(site)
    app.command()(serve)


def site(
    results: Annotated[
        list[Path] | None,
        typer.Option("--results", envvar="BENCH_RESULTS", help="Results store (repeatable)."),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", envvar="BENCH_SITE", help="Folder of the site.")
    ] = DEFAULT_SITE,
    policy: Annotated[
        PolicyName, typer.Option("--policy", help="How failed and missing results count in rankings.")
    ] = PolicyName.baseline,
    submissions: SubmissionsDir = DEFAULT_SUBMISSIONS,
) -> None:
    """Build the static leaderboard from one or more results stores."""
    from bench.leaderboard.build import build_site

    report = build_site(
        results or [DEFAULT_RESULTS], out, registry=full_registry(submissions), policy=policy.value
    )
    typer.echo(str(report.index.resolve()))


def serve(
    folder: Annotated[Path, typer.Option("--site", help="Folder of the site.")] = DEFAULT_SITE,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 takes a free one.")] = 8000,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
) -> None:
    """Serve the site folder over HTTP until interrupted (it also opens straight from disk)."""
    if not (folder / "index.html").is_file():
        raise UsageError(f"{folder} holds no site; `bench site --out {folder}` builds one")
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    try:
        server = ThreadingHTTPServer((host, port), handler)
    except OSError as error:
        raise UsageError(
            f"cannot listen on {host}:{port}: {error.strerror}; choose another --port"
        ) from error
    with server:
        typer.echo(f"http://{server.server_address[0]!s}:{server.server_address[1]}/  (Ctrl-C ends it)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            typer.echo()
