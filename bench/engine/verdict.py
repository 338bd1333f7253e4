"""From what was seen of a child to how its stage ended."""

from __future__ import annotations

from typing import Any

from bench.engine.report import StageReport, clean_text, report_from_json
from bench.engine.watch import StageEnd
from bench.errors import InvalidOutput
from bench.work import MESSAGE_LIMIT, Stage, Status, WorkOrder


def judge(end: StageEnd, stage: Stage, order: WorkOrder) -> tuple[StageReport, dict[str, Any]]:
    """The report of a child, or what its death says; and exit code and signal, if it died without one."""
    limits = order.job.resources
    if end.breach == "timeout":
        text = f"not done after {limits.timeout_s:g} s, in stage {stage} (see --timeout)"
        return _died(end, stage, "timeout", "Timeout", text)
    if end.breach == "oom":
        text = f"used {end.used_mb:.0f} MB; the limit is {limits.memory_mb} MB (see --memory)"
        return _died(end, stage, "oom", "MemoryLimit", text)
    cause = end.garbled
    if end.report is not None and not cause:
        try:
            return report_from_json(end.report, stage), {}
        except (ValueError, TypeError, KeyError, AttributeError, InvalidOutput) as error:
            cause = str(error)
    how = f"by {end.signal}" if end.signal else f"with exit code {end.exit_code}"
    text = f"the process ended {how} without a result"
    if cause:
        text = f"the process sent something that is no result: {cause}"
    elif end.signal == "SIGKILL":
        text += "; the bench did not send that: the system may have run out of memory"
    return _died(end, stage, "crash", "Crash", text)


def _died(
    end: StageEnd, stage: Stage, status: Status, kind: str, message: str
) -> tuple[StageReport, dict[str, Any]]:
    report = StageReport(
        stage=stage, status=status, error_type=kind, error_message=clean_text(message, MESSAGE_LIMIT)
    )
    if stage == "score" and end.artifact is not None:  # what scored badly need not be collected again
        report.artifact_sha256, report.artifact_bytes = end.artifact
    return report, {"exit_code": end.exit_code, "signal": end.signal}
