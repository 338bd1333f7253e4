"""How a run tells what it is doing: a bar, plain lines, JSON lines, or nothing."""

from __future__ import annotations

import json
import sys
import time
from typing import Literal, Protocol, TextIO

from bench.planned import PlannedJob
from bench.work import Outcome

Style = Literal["auto", "plain", "json", "none"]


class Reporter(Protocol):
    """What the coordinator tells about a run."""

    def start(self, planned: int, seconds: float) -> None: ...
    def step(self, job_key: str, stage: str, done: int, total: int) -> None: ...
    def finish(self, planned: PlannedJob, outcome: Outcome, seconds_left: float) -> None: ...
    def note(self, text: str) -> None: ...
    def close(self) -> None: ...


def make_reporter(style: Style, stream: TextIO | None = None) -> Reporter:
    """The reporter for `style`; "auto" draws a bar on a terminal and prints plain lines elsewhere."""
    stream = stream or sys.stderr
    if style == "auto":
        style = "bar" if stream.isatty() else "plain"  # type: ignore[assignment]
    if style == "none":
        return Silent()
    if style == "json":
        return JsonLines(stream)
    return PlainLines(stream) if style == "plain" else Bar(stream)


def printable(text: str, limit: int = 200) -> str:
    """`text` on one line, without anything a terminal would obey, at most `limit` characters."""
    line = " ".join(text.split())
    line = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)
    return line if len(line) <= limit else line[: limit - 1] + "…"


def plain_lines(text: str, limit: int = 20_000) -> str:
    """`text` on its own lines, without anything a terminal would obey; lines after the first are set in."""
    lines = ["".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line.expandtabs(4))
             for line in text[:limit].splitlines()]  # fmt: skip
    return "\n    ".join(lines)


def describe(outcome: Outcome) -> str:
    """The status of an outcome with its cause in a few words."""
    if outcome.status == "ok":
        return "ok"
    detail = f"{outcome.error_type}: {outcome.error_message}".strip(": ")
    return printable(f"{outcome.status}  {detail}" if detail else outcome.status)


def duration(seconds: float) -> str:
    """`seconds` as people say it: 0.4 s, 12 s, 3 min 20 s, 2 h 5 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


class Silent:
    """Says nothing."""

    def start(self, planned: int, seconds: float) -> None: ...
    def step(self, job_key: str, stage: str, done: int, total: int) -> None: ...
    def finish(self, planned: PlannedJob, outcome: Outcome, seconds_left: float) -> None: ...
    def note(self, text: str) -> None: ...
    def close(self) -> None: ...


class PlainLines(Silent):
    """One line per finished job, without control characters: for logs and pipes."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._planned = self._done = 0

    def start(self, planned: int, seconds: float) -> None:
        self._planned = planned
        self.note(f"{planned} jobs to run, about {duration(seconds)}")

    def finish(self, planned: PlannedJob, outcome: Outcome, seconds_left: float) -> None:
        self._done += 1
        left = f", {duration(seconds_left)} left" if self._done < self._planned else ""
        self.note(
            f"[{self._done}/{self._planned}] {planned.label}: {describe(outcome)}"
            f" ({duration(outcome.duration_s)}{left})"
        )

    def note(self, text: str) -> None:
        print(text, file=self._stream, flush=True)


class JsonLines(Silent):
    """One JSON object per event, for other programs."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def start(self, planned: int, seconds: float) -> None:
        self._write(event="start", planned=planned, expected_s=round(seconds, 3))

    def step(self, job_key: str, stage: str, done: int, total: int) -> None:
        self._write(event="step", job=job_key, stage=stage, done=done, total=total)

    def finish(self, planned: PlannedJob, outcome: Outcome, seconds_left: float) -> None:
        self._write(
            event="finish",
            job=planned.job.key,
            model=planned.job.model,
            task=planned.job.task,
            dataset=planned.job.dataset,
            repeat=planned.job.repeat,
            status=outcome.status,
            error_type=outcome.error_type,
            error_message=outcome.error_message,
            duration_s=round(outcome.duration_s, 3),
            seconds_left=round(seconds_left, 1),
        )

    def note(self, text: str) -> None:
        self._write(event="note", text=text)

    def _write(self, **event: object) -> None:
        print(json.dumps(event), file=self._stream, flush=True)


class Bar(Silent):
    """A progress bar with an estimate; failures and notes scroll above it."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        self._console = Console(file=stream, highlight=False)
        self._bar = Progress(
            TextColumn("{task.fields[what]}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}", markup=False),
            console=self._console,
        )
        self._task = self._bar.add_task("run", total=None, what="starting", left="")
        self._last_step = 0.0

    def start(self, planned: int, seconds: float) -> None:
        self._bar.update(self._task, total=planned, left=f"about {duration(seconds)}")
        self._bar.start()

    def step(self, job_key: str, stage: str, done: int, total: int) -> None:
        if time.monotonic() - self._last_step > 0.2:
            self._last_step = time.monotonic()
            self._bar.update(self._task, what=f"{stage} {done}/{total}")

    def finish(self, planned: PlannedJob, outcome: Outcome, seconds_left: float) -> None:
        left = f"{duration(seconds_left)} left"
        self._bar.update(self._task, advance=1, what=printable(planned.label, 60), left=left)
        if outcome.status not in ("ok", "skipped"):
            self.note(f"{planned.label}: {describe(outcome)}")

    def note(self, text: str) -> None:
        self._console.print(printable(text), markup=False)

    def close(self) -> None:
        self._bar.stop()
