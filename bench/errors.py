"""Every exception the bench raises on purpose.

    BenchError
    ├── UsageError            the user asked for something impossible          exit code 2
    ├── InvalidOutput         a model or task broke its contract               job status invalid_output
    ├── MissingRequirement    a module, file, weight or device is not there    job status skipped
    ├── StoreError            results cannot be written or read                exit code 3
    └── EngineError           the machinery that runs jobs failed              exit code 1

(and `bench.engine.command.CommandFailed`, which ends one job with status error, and the `UsageError`
`bench.datasets.tabular.schema.SchemaError`, which names the column of a table that does not fit)

A message says what was expected, what came, and what to do about it.
"""

from __future__ import annotations


class BenchError(Exception):
    """Base of all deliberate errors; `exit_code` is what the command line returns for it."""

    exit_code = 1


class UsageError(BenchError):
    """A command, name, option or configuration file is wrong; nothing was run."""

    exit_code = 2


class InvalidOutput(BenchError):
    """A model's artifact or a task's output breaks the declared contract."""


class MissingRequirement(BenchError):
    """Something a model, task or dataset needs is absent; the message carries the install line."""


class StoreError(BenchError):
    """The results folder cannot be written or is not one of ours."""

    exit_code = 3


class EngineError(BenchError):
    """The machinery itself failed (a supervisor can't start); never the fault of a job."""
