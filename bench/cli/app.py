"""Assembles the verbs into one command and turns exceptions into messages and exit codes."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from bench.cli import author, cluster, compare, importing, publish, run, show, stored, submit, tab
from bench.cli.common import printable_lines
from bench.errors import BenchError

app = typer.Typer(
    name="bench",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Measure generative and representation models, and browse the results.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for module in (run, show, compare, author, submit, stored, importing, publish, cluster, tab):
    module.register(app)


def _version(wanted: bool) -> None:
    if wanted:
        from bench import __version__

        typer.echo(f"bench {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Measure generative and representation models, and browse the results."""


def main() -> None:
    """Run the command line; a deliberate error prints one message and sets its exit code."""
    try:
        app()
    except BenchError as error:
        print(f"bench: {printable_lines(str(error))}", file=sys.stderr)  # it may quote what was submitted
        sys.exit(error.exit_code)
    except BrokenPipeError:  # `bench list | head`
        sys.stderr.close()
        sys.exit(141)
