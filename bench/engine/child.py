"""The process in which a stage runs: cut off from its parent, then handed to the stage.

Forked from a warm supervisor as a rule; started afresh as `python -m bench.engine.child` where forking is
not wanted. Either way descriptors 0, 1 and 2 belong to the job, and the report goes over a descriptor so
high that nobody closes it by accident.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn, cast

from bench.engine.audit import NOTE, WriteAudit
from bench.engine.base import Grant
from bench.engine.frames import FrameError, write_frame
from bench.engine.processes import die_with_parent
from bench.engine.report import StageReport
from bench.errors import MissingRequirement
from bench.work import Stage, WorkOrder, order_from_json, to_json

CHANNEL_FD, FAULT_FD, ASSIGNMENT_FD = 240, 241, 242
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """Everything a child must know."""

    order: WorkOrder
    stage: Stage
    grant: Grant
    deadline: float  # of time.monotonic(), which all processes of a machine share
    supervisor: int  # the parent, or 0 if another program stands between
    sandbox: str = (
        ""  # a way of `bench.engine.sandbox`, or "-" and why there is none; "" if none is asked for
    )

    def to_json(self) -> dict[str, Any]:
        return {
            "order": to_json(self.order),
            "stage": self.stage,
            "grant": self.grant.to_json(),
            "deadline": self.deadline,
            "supervisor": self.supervisor,
            "sandbox": self.sandbox,
        }


def assignment_from_json(data: dict[str, Any]) -> Assignment:
    """Inverse of `Assignment.to_json`."""
    return Assignment(**{**data, "order": order_from_json(data["order"]), "grant": Grant(**data["grant"])})


def enter_fork(assignment: Assignment, channel: int, log: int) -> NoReturn:
    """Turn a fresh fork of the supervisor into a job. Never returns."""
    try:
        os.setpgid(0, 0)
        _rewire(channel, log)
        _reset_signals()
        live(assignment)
    finally:
        os._exit(70)  # only if something above raised: the supervisor's own code must not go on here


def live(assignment: Assignment) -> NoReturn:
    """Run the stage and report it. Descriptors are in place."""
    from bench.engine.stages import run_stage

    if assignment.supervisor:
        die_with_parent(assignment.supervisor)
    with suppress(OSError):  # if the machine runs out of memory, the job goes before the bench does
        Path("/proc/self/oom_score_adj").write_text("800")
    assignment, fault = _confine(assignment)
    own_pid = os.getpid()  # in a sandbox another one than before
    _settle(assignment)
    order, stage = assignment.order, assignment.stage

    def tell(done: int, total: int) -> None:
        if os.getpid() == own_pid:
            with suppress(OSError):
                write_frame(CHANNEL_FD, {"progress": [done, total]})

    def on_artifact(sha256: str, size: int) -> None:
        write_frame(CHANNEL_FD, {"artifact": [sha256, size]})

    audit = _audit(order) if order.audit_writes and stage == "collect" else None
    report = StageReport(stage=stage)
    if fault is not None:
        report.fail(fault)
    else:
        report = run_stage(order, stage, assignment.deadline, tell, on_artifact)
    if audit is not None:
        report.notes[NOTE] = json.dumps(audit.outside())
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    if os.getpid() == own_pid:  # else this is a fork that the job made and that ran out of its code
        _send(report)
    os._exit(0)  # neither exit handlers nor threads of the job get another turn


def _confine(assignment: Assignment) -> tuple[Assignment, MissingRequirement | None]:
    """Enter the sandbox if there is to be one; the cache is then a private one. Why that failed, if it did."""
    from bench.engine import sandbox

    if not assignment.sandbox:
        return assignment, None
    if assignment.sandbox.startswith("-"):
        return assignment, MissingRequirement(assignment.sandbox[1:])
    order = assignment.order
    try:
        private = sandbox.make_private_cache(order)
        sandbox.enter(order, cast(sandbox.Way, assignment.sandbox))
    except MissingRequirement as error:
        return assignment, error
    os.environ["BENCH_CACHE"] = str(private)
    return replace(assignment, order=replace(order, cache_dir=str(private))), None


def _audit(order: WorkOrder) -> WriteAudit:
    from bench.engine.stages import stage_cache

    own = [Path(order.work_dir, name) for name in ("artifact", "scratch")]
    # Data sets unpack themselves into the cache's root while they are loaded.
    return WriteAudit([*own, Path(order.cache_dir)], forbidden=[stage_cache(order, "score")])


def _send(report: StageReport) -> None:
    try:
        write_frame(CHANNEL_FD, {"report": report.to_json()})
    except FrameError as error:
        report = StageReport(stage=report.stage)
        report.fail(error)
        write_frame(CHANNEL_FD, {"report": report.to_json()})


def _rewire(channel: int, log: int) -> None:
    """Give the job its own 0, 1, 2, move the channel out of reach, and close what is the supervisor's."""
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (log, 1), (log, 2), (channel, CHANNEL_FD), (log, FAULT_FD)):
        os.dup2(source, target, inheritable=target < 3)
    os.closerange(3, CHANNEL_FD)
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    os.closerange(FAULT_FD + 1, 2**16 if soft == resource.RLIM_INFINITY else soft)


def _reset_signals() -> None:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _settle(assignment: Assignment) -> None:
    """Streams, environment, limits and working folder of the job."""
    faulthandler.enable(file=FAULT_FD, all_threads=True)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    scratch = str(Path(assignment.order.work_dir, "scratch"))
    if "CUDA_VISIBLE_DEVICES" not in os.environ:  # then the granted names are nvidia-smi's, in this order
        os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
    os.environ.update(CUDA_VISIBLE_DEVICES=assignment.grant.gpus, TMPDIR=scratch)
    os.chdir(scratch)
    _set_threads(assignment.grant.threads)


def _set_threads(threads: int) -> None:
    """The libraries were loaded with one thread each; raise that to what was granted."""
    for name in THREAD_VARIABLES:
        os.environ[name] = str(threads)
    import torch

    if torch.get_num_threads() != threads:
        torch.set_num_threads(threads)
    if threads > 1:
        import threadpoolctl  # type: ignore[import-untyped]

        threadpoolctl.threadpool_limits(threads)


def main() -> NoReturn:
    """A child that was started instead of forked: its assignment waits in descriptor ASSIGNMENT_FD."""
    with open(ASSIGNMENT_FD, "rb") as file:
        assignment = assignment_from_json(json.load(file))
    for fd in (CHANNEL_FD, FAULT_FD):
        os.set_inheritable(fd, False)
    live(assignment)


if __name__ == "__main__":
    main()
