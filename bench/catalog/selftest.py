"""The family `selftest`: hostile models for testing the harness itself. No part of the suite `all`."""

from __future__ import annotations

from collections.abc import Mapping

from bench.spec import DatasetInfo, JSONScalar, MetricInfo, ModelInfo, Resources, SizePlan, TaskInfo

_PLAN = SizePlan(datasets=("selftest-ramp",), repeats=2, settings={"n": 100})

DATASETS = (
    DatasetInfo(
        name="selftest-ramp",
        entry="bench.selftest:ramp",
        title="Ramp",
        summary="100 evenly spaced numbers from 0 to 1.",
        license="Apache-2.0",
        data="generated",
        sha256="2c9971c955c082df41a396402320d6a109051c511decdba4cbcdcebc201c4078",
    ),
)

TASKS = (
    TaskInfo(
        name="selftest.echo",
        title="Echo",
        version=1,
        scoring=1,
        entry="bench.selftest:EchoTask",
        sizes={"tiny": _PLAN, "small": _PLAN, "full": _PLAN},
        metrics=(
            MetricInfo(
                name="mean",
                direction="max",
                lo=0.0,
                hi=1.0,
                kind="sample_mean",
                primary=True,
                definition="The mean of what the model returned.",
            ),
            MetricInfo(
                name="spread",
                direction="none",
                lo=0.0,
                hi=1.0,
                definition="The largest minus the smallest value.",
            ),
        ),
        summary="Asks a model for numbers and reports their mean.",
        protocol="own",
        protocol_note="Tests the harness; measures nothing.",
        resources=Resources(memory_mb=2048, timeout_s=60.0),
    ),
)


def _model(
    name: str, entry: str, summary: str, params: Mapping[str, JSONScalar], **fields: object
) -> ModelInfo:
    return ModelInfo(
        name=f"selftest-{name}",
        version="1",
        families=("selftest",),
        entry=f"bench.selftest:{entry}",
        summary=summary,
        params=params,
        license="Apache-2.0",
        tags=("selftest",),
        **fields,  # type: ignore[arg-type]
    )


def _does(deed: str, summary: str, **fields: object) -> ModelInfo:
    return _model(deed, "Does", summary, {"deed": deed}, **fields)


def _claims(name: str, metric: str, value: float | str, summary: str) -> ModelInfo:
    return _model(name, "Claims", summary, {"metric": metric, "value": value})


_SHORT = Resources(memory_mb=2048, timeout_s=1.5)
_SMALL = Resources(memory_mb=600, timeout_s=60.0)
_GPU = Resources(gpus=1.0)

MODELS = (
    _model("uniform", "Uniform", "Behaves.", {}, baseline=True),
    _model("slow", "Uniform", "Behaves, after five seconds.", {"seconds": 5.0}),
    _model("many-samples", "Uniform", "Returns ten million values.", {"n": 10_000_000}),
    _does("raise", "Raises ValueError('bad')."),
    _does("raise-unprintable", "Raises an exception that can't be printed."),
    _does("raise-forged", "Raises an exception with a long and hostile text."),
    _does("raise-memory-error", "Raises MemoryError."),
    _does("sys-exit", "Calls sys.exit(0)."),
    _does("exit-0", "Ends its process with code 0."),
    _does("exit-3", "Ends its process with code 3."),
    _does("segfault", "Reads address 0."),
    _does("abort", "Calls abort()."),
    _does("sleep", "Sleeps for ever.", resources=_SHORT),
    _does("loop", "Computes for ever.", resources=_SHORT),
    _does("ignore-sigterm", "Sleeps for ever and ignores SIGTERM.", resources=_SHORT),
    _does("fill-memory", "Allocates without end.", resources=_SMALL),
    _does("fill-memory-below", "Allocates without end in a process of its own.", resources=_SMALL),
    _does("print-much", "Prints 100 MB."),
    _does("print-garbage", "Prints binary garbage and closes its descriptors."),
    _does("grandchildren", "Leaves processes behind."),
    _does("return-twice", "Forks, and returns in both processes."),
    _does("kill-supervisor", "Kills the process that watches it."),
    _does("garble-channel", "Writes garbage where its result should go."),
    _does("threads", "Leaves a thread running and lets another fail."),
    _model("polluter", "Polluter", "Changes global state; notices if an earlier job did.", {}),
    _claims("nan", "spread", "nan", "Makes the task return NaN."),
    _claims("missing", "spread", "missing", "Makes the task leave out a metric."),
    _claims("extra", "bonus", 1.0, "Makes the task return an undeclared metric."),
    _claims("out-of-range", "spread", 1.5, "Makes the task return a value out of range."),
    _claims("score-crash", "spread", "crash", "Makes the task crash while it scores."),
    _claims("wrong-mean", "mean", 0.9, "Makes the task return a mean that its samples do not have."),
    _model(
        "needs-module",
        "Uniform",
        "Needs a module that nobody has.",
        {},
        requires=("module_that_does_not_exist",),
    ),
    _model("needs-module-late", "FailingSetup", "Imports a module that nobody has.", {}),
    _model("needs-gpu", "CudaUser", "Needs a GPU.", {}, resources=_GPU),
    _model("cuda-hog", "CudaHog", "Wants more GPU memory than there is.", {}, resources=_GPU),
    _model("writer", "Writer", "Writes outside its folders.", {}),
    _model("trapper", "Trapper", "Puts links where the bench will write.", {}),
    _model("smuggler", "Smuggler", "Puts a link into its artifact.", {}),
)
