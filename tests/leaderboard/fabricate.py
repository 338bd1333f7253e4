"""A fabricated store and registry: results, failures and hostile texts without running anything.

Rows are written as Parquet parts in the documented layout, so that the real store reads them.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from bench.registry import Registered, Registry
from bench.schema import JOBS, METRICS
from bench.spec import DatasetInfo, MetricInfo, ModelInfo, SizePlan, TaskInfo
from bench.work import Source

RUN = "20250301T120000Z-0a1b2c"
START = datetime(2025, 3, 1, 12, tzinfo=UTC)
HOSTILE = "</script><img src=x onerror=alert(1)>"
RTL = "\u202eevil\u202c"


def sha(*parts: object) -> str:
    return hashlib.sha256("|".join(map(str, parts)).encode()).hexdigest()


@dataclass
class FakeStore:
    """Collects rows and files, then writes them below `root`."""

    root: Path
    jobs: list[dict[str, Any]] = field(default_factory=list)
    metrics: list[dict[str, Any]] = field(default_factory=list)

    def add(
        self,
        *,
        task: str,
        model: str,
        dataset: str,
        repeat: int = 0,
        size: str = "small",
        status: str = "ok",
        values: Mapping[str, Any] | None = None,
        facets: Mapping[str, Mapping[str, Any]] | None = None,
        info: Mapping[str, Any] | None = None,
        exhibits: Iterable[tuple[str, bytes]] = (),
        log: str = "",
        primary: str = "",
        directions: Mapping[str, str] | None = None,
        **columns: Any,
    ) -> str:
        """Add one job; `values` maps metrics to a number, None, or a dict of metric columns. Returns its key."""
        limit, suite_seed = columns.get("limit"), columns.get("suite_seed", 0)
        key = sha(task, model, dataset, repeat, size, limit, suite_seed)
        family = task.split(".", 1)[0]
        end = START + timedelta(seconds=len(self.jobs))
        row = dict.fromkeys(JOBS.names)
        row |= {
            "schema_version": 1, "record_id": sha("job", key)[:32], "run_id": RUN, "job_key": key, "attempt": 0,
            "stages": "collect+score", "task": task, "task_version": 1, "scoring": 1, "family": family,
            "protocol": "own", "model": model, "model_version": "1", "model_source_sha256": sha(model),
            "model_params": "{}", "model_info": json.dumps(info or {"name": model}), "dataset": dataset,
            "baseline": bool((info or {}).get("baseline")), "dataset_sha256": sha(dataset), "data": "real",
            "size": size, "repeat": repeat, "suite_seed": 0, "unit_seed": 1, "status": status,
            "started_at": end, "ended_at": end + timedelta(seconds=1), "duration_s": 1.5 + repeat + 3 * len(model),
            "peak_rss_mb": 700.0, "engine": "local", "hostname": "host-1", "device": "cpu",
            "score_id": sha("score", key), "bench_version": "0.1.0", "git_sha": sha("git")[:40],
            "git_dirty": False, "python_version": "3.11.9", "platform": "Linux-x86_64",
            "torch_version": "2.9.0", "packages": json.dumps({"numpy": "2.4", "torch": "2.9"}),
        }  # fmt: skip
        row |= columns
        shown = list(exhibits)
        row["exhibits"] = json.dumps(
            [{"name": n, "kind": "image", "file": f"{n}.png", "caption": f"64 {n}"} for n, _ in shown]
        )
        for name, content in shown:
            folder = self.root / "exhibits" / key / row["score_id"][:16]
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{name}.png").write_bytes(content)
        if log:
            row["log_path"] = f"runs/{RUN}/logs/{key}.0.log"
            path = self.root / row["log_path"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(log)
        self.jobs.append(row)
        for facet, found in {"": values or {}, **(facets or {})}.items():
            for metric, value in found.items():
                self._metric(row, facet, metric, value, primary, directions or {})
        return key

    def _metric(
        self,
        job: dict[str, Any],
        facet: str,
        metric: str,
        value: Any,
        primary: str,
        directions: Mapping[str, str],
    ) -> None:
        row = {name: job.get(name) for name in METRICS.names}
        row |= value if isinstance(value, dict) else {"value": value}
        row |= {
            "record_id": sha("metric", job["job_key"], facet, metric)[:32], "metric": metric, "facet": facet,
            "direction": directions.get(metric, "min"), "primary": metric == primary,
        }  # fmt: skip
        self.metrics.append(row)

    def write(self) -> Path:
        self.root.mkdir(parents=True, exist_ok=True)
        (self.root / "store.json").write_text('{"format": 1}\n')
        for name, rows, schema in (("jobs", self.jobs, JOBS), ("metrics", self.metrics, METRICS)):
            folder = self.root / "parts" / name
            folder.mkdir(parents=True, exist_ok=True)
            plain = pa.schema(
                [(f.name, f.type.value_type if pa.types.is_dictionary(f.type) else f.type) for f in schema]
            )
            table = pa.Table.from_pylist(rows, schema=plain).cast(schema)
            pq.write_table(table, folder / f"{RUN}.0.parquet", compression="zstd")
        run = self.root / "runs" / RUN
        run.mkdir(parents=True, exist_ok=True)
        (run / "run.json").write_text(json.dumps({"argv": ["bench", "run", "--suite", "all"]}))
        return self.root


def png(seed: int) -> bytes:
    """A small grid of blobs that differ by seed."""
    import io

    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:14, 0:14]
    tiles = [
        np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / (2 * s**2)) * 255
        for cx, cy, s in zip(
            rng.uniform(3, 11, 64), rng.uniform(3, 11, 64), rng.uniform(1, 4, 64), strict=True
        )
    ]
    grid = np.vstack([np.hstack(tiles[i : i + 8]) for i in range(0, 64, 8)]).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(grid).save(buffer, "PNG")
    return buffer.getvalue()


IMAGE_METRICS = (
    MetricInfo(name="chamfer_dev", direction="min", lo=0, primary=True, title="Chamfer deviation",
               definition="|ln r2g ratio| + |ln g2r ratio| + |ln self ratio|; 0 is best"),
    MetricInfo(name="chamfer", direction="min", lo=0, title="Chamfer",
               definition="Half the sum of both one-sided mean nearest-neighbour distances"),
    MetricInfo(name="g2r_ratio", direction="none", lo=0, title="g2r ratio", target=1.0,
               definition="Distance of generated to real, relative to real among themselves"),
    MetricInfo(name="r2g_ratio", direction="none", lo=0, title="r2g ratio", target=1.0,
               definition="Distance of real to generated, relative to real among themselves"),
    MetricInfo(name="fd", direction="min", lo=0, title="FD", definition="Fréchet distance of two Gaussians",
               cite="Heusel et al. 2017, GANs trained by a two time-scale update rule"),
    MetricInfo(name="kid", direction="min", title="KID", definition="Unbiased squared MMD, cubic kernel"),
    MetricInfo(name="precision", direction="max", lo=0, hi=1, title="Precision", definition="Share of samples "
               "inside the real support"),
    MetricInfo(name="recall", direction="max", lo=0, hi=1, title="Recall", definition="Share of real samples "
               "inside the generated support"),
    MetricInfo(name="seconds", direction="min", lo=0, unit="s", kind="time", title="Sampling"),
)  # fmt: skip

MODELS: dict[str, dict[str, Any]] = {
    "real-hold": {"title": "Held-out real images", "baseline": True, "tags": ["baseline", "oracle"], "q": 0.0},
    "gauss-feature": {"title": "Gaussian with exact moments", "baseline": True, "tags": ["baseline", "features"],
                      "q": 1.3},
    "uniform-noise": {"title": "Uniform noise", "baseline": True, "tags": ["baseline"], "q": 3.0},
    "mean-image": {"title": "Mean image", "baseline": True, "tags": ["baseline", "collapse"], "q": 2.2},
    "ppca-64": {"title": "Probabilistic PCA, 64 dimensions", "tags": ["likelihood"], "q": 0.9},
    "gmm-50": {"title": "Mixture of 50 Gaussians", "tags": ["likelihood"], "q": 0.5},
    "kde": {"title": "Kernel density estimate", "tags": ["likelihood", "memoriser"], "q": 0.25},
    "vae": {"title": "Variational autoencoder", "tags": ["latent"], "q": 0.6, "n_parameters": 1234567},
    "flow-matching": {"title": "Flow matching", "tags": ["flow"], "q": 0.35, "url": "https://example.org/flow",
                      "paper": "Lipman et al. 2023, Flow Matching for Generative Modeling"},
}  # fmt: skip


def model_card(name: str) -> dict[str, Any]:
    card = {k: v for k, v in MODELS[name].items() if k != "q"}
    return {"name": name, "version": "1", "families": ["images"], "license": "Apache-2.0", **card}


def registry() -> Registry:
    """Tasks, models and data sets of the fabricated results."""
    found = Registry()
    sizes = {
        "tiny": SizePlan(datasets=("digits",), repeats=1, settings={"n": 50}),
        "small": SizePlan(datasets=("digits", "mnist5k"), repeats=3, settings={"n": 500, "k": 5}),
    }
    task = TaskInfo(
        name="images.fidelity", title="Image fidelity", version=1, scoring=1, entry="x:X", sizes=sizes,
        metrics=IMAGE_METRICS, summary="How near are generated images to real ones, and do they cover them?",
        protocol="own", protocol_note="The paper's code is not public; the definitions are ours.",
    )  # fmt: skip
    infos: list[Any] = [task]
    infos += [
        DatasetInfo(
            name=name, entry="x:x", title=title, summary=f"{title}, gray", license="CC-BY-4.0", data="real",
            sha256=sha(name), url="https://example.org/data", citation="A. Author (1998), Digits",
        )
        for name, title in (("digits", "Digits 8x8"), ("mnist5k", "MNIST, 5,000 images"))
    ]  # fmt: skip
    for name in MODELS:
        card = model_card(name)
        infos.append(
            ModelInfo(**{**card, "families": ("images",), "tags": tuple(card["tags"]), "entry": "m:M"})
        )
    for info in infos:
        found.add(Registered(info=info, origin="test", source=Source(entry="x:X")))
    return found


def image_values(quality: float, rng: random.Random) -> dict[str, Any]:
    """Plausible values: `quality` 0 is real data, larger is worse."""
    noise = lambda scale: rng.gauss(0, scale)  # noqa: E731
    return {
        "chamfer_dev": max(0.0, quality * 0.8 + abs(noise(0.02))),
        "chamfer": 2.0 + quality + noise(0.03),
        "g2r_ratio": 1 + quality * 0.5 + noise(0.02),
        "r2g_ratio": 1 + quality * 0.3 + noise(0.02),
        "fd": 0.0 if abs(quality - 1.3) < 1e-9 else 1.5 * 10 ** (quality * 0.9) + noise(0.1),
        "kid": 0.001 + quality**2 * 0.3 + noise(0.001),
        "precision": min(1.0, max(0.0, 0.9 - quality * 0.25 + noise(0.02))),
        "recall": min(1.0, max(0.0, 0.9 - quality * 0.3 + noise(0.02))),
        "seconds": 0.2 + quality,
    }


_TRACEBACK = """Traceback (most recent call last):
  File "bench/engine/child.py", line 90, in run
    notes = task.collect(adapter, unit, ctx)
  File "models/vae.py", line 41, in fit
    raise FloatingPointError("loss is not finite at step 312")
FloatingPointError: loss is not finite at step 312
"""


def standard_store(root: Path) -> Path:
    """Nine image models with repeats, facets, pictures, failures, a limited row, hostile texts, a retired task."""
    store = FakeStore(root)
    rng = random.Random(0)
    common: dict[str, Any] = {"task": "images.fidelity", "primary": "chamfer_dev"}
    for d, dataset in enumerate(("digits", "mnist5k")):
        for m, (model, spec) in enumerate(MODELS.items()):
            card = model_card(model)
            for repeat in range(3):
                job = {**common, "model": model, "dataset": dataset, "repeat": repeat, "info": card}
                if model == "vae" and dataset == "mnist5k":
                    store.add(
                        **job, status="error", stage="collect", error_type="FloatingPointError",
                        error_message="loss is not finite at step 312", traceback=_TRACEBACK, exit_code=1,
                        log="epoch 1 loss 0.41\nepoch 2 loss nan\n",
                    )  # fmt: skip
                elif model == "flow-matching" and repeat == 2 and dataset == "digits":
                    store.add(**job, status="timeout", stage="collect", error_message="no result after 60 s")
                elif model == "kde" and dataset == "mnist5k":
                    message = "needs module sklearn (pip install scikit-learn)"
                    store.add(**job, status="skipped", error_message=message)
                elif model != "mean-image" or dataset == "digits":
                    values = image_values(spec["q"] + 0.1 * d, rng)
                    if model == "mean-image":
                        values["kid"] = {"value": None, "reason": "all samples are equal"}
                    flags = ["contraction"] if model == "kde" else []
                    pictures = [] if "features" in spec["tags"] or repeat else [("samples", png(10 * d + m))]
                    facets = {f"encoder=pixels,k={k}": image_values(spec["q"] + 0.2, rng) for k in (1, 5)}
                    store.add(
                        **job, values=values, facets=facets, flags=json.dumps(flags), exhibits=pictures,
                        notes=json.dumps({"n": 500, "k": 5}),
                    )  # fmt: skip
    for model in ("gmm-50", "ppca-64"):
        info = model_card(model)
        values = image_values(0.4, rng)
        store.add(**common, model=model, dataset="digits", info=info, values=values, size="tiny")
    store.add(
        **common, model="gmm-50", dataset="digits", info=model_card("gmm-50"), limit=100,
        values=image_values(0.1, rng),
    )  # fmt: skip
    _hostile(store, common, rng)
    _retired(store)
    return store.write()


def _hostile(store: FakeStore, common: dict[str, Any], rng: random.Random) -> None:
    card = {
        "name": "hostile", "title": HOSTILE, "summary": HOSTILE + RTL, "url": "javascript:alert(1)",
        "paper": "=cmd()", "license": "<b>", "tags": [HOSTILE, RTL], "families": ["images"],
    }  # fmt: skip
    store.add(
        **common, model="hostile", dataset="digits", info=card, values=image_values(0.7, rng),
        flags=json.dumps([HOSTILE]), facets={HOSTILE: {"fd": 2.0}},
    )  # fmt: skip
    store.add(
        **common, model="hostile", dataset="mnist5k", info=card, status="crash", stage="collect",
        error_type=HOSTILE, error_message=HOSTILE + RTL + "x" * 10_000, traceback=HOSTILE + "\u2028", signal="SIGSEGV",
        log=f"{HOSTILE}\n\x1b[31mred\x1b[0m\n{RTL}\n" + "y" * 10_000,
    )  # fmt: skip
    store.add(**common, model=HOSTILE, dataset=HOSTILE, info={"name": HOSTILE}, values={"fd": 1.0})


def _retired(store: FakeStore) -> None:
    for model, value in (("kde", 0.4), ("gmm-50", 0.3)):
        store.add(
            task="images.old", model=model, dataset="digits", info=model_card(model), values={"score": value},
            primary="score", directions={"score": "max"},
        )  # fmt: skip


def large_registry(n_tasks: int, n_metrics: int) -> Registry:
    """`n_tasks` tasks of two families with `n_metrics` metrics each."""
    found = Registry()
    sizes = {"small": SizePlan(datasets=("digits",), repeats=3)}
    metrics = tuple(
        MetricInfo(name=f"metric_{i}", direction="max", lo=0, hi=1, primary=i == 0, definition=f"Metric {i}")
        for i in range(n_metrics)
    )
    for t in range(n_tasks):
        info = TaskInfo(
            name=f"{'images' if t % 2 else 'tabular'}.task-{t:02}", title=f"Task {t}", version=1, scoring=1,
            entry="x:X", sizes=sizes, metrics=metrics, summary="A task.", protocol="paper",
        )  # fmt: skip
        found.add(Registered(info=info, origin="test", source=Source(entry="x:X")))
    return found


def large_store(root: Path, n_models: int, n_tasks: int, n_metrics: int, repeats: int = 3) -> Path:
    """`n_models` x `n_tasks` cells, some of them failed or missing."""
    store = FakeStore(root)
    rng = random.Random(1)
    for t in range(n_tasks):
        task = f"{'images' if t % 2 else 'tabular'}.task-{t:02}"
        for m in range(n_models):
            kind = rng.random()
            for repeat in range(repeats if kind > 0.02 else 0):
                status = "ok" if kind > 0.06 else "timeout"
                values = {f"metric_{i}": rng.random() for i in range(n_metrics)}
                store.add(
                    task=task, model=f"model-{m:04}", dataset="digits", repeat=repeat, status=status,
                    values=values if status == "ok" else {}, primary="metric_0",
                    directions=dict.fromkeys(values, "max"), error_message="" if status == "ok" else "too slow",
                    duration_s=0.1 * 1.2 ** (m + repeat), peak_rss_mb=100.0 + 7 * m,
                )  # fmt: skip
    return store.write()


RANKED = {"ours": 0.78, "theirs": 0.72, "older": 0.60, "chance": 0.50}  # share of items answered right
RANKED_TASKS = tuple(f"alignment.choice-{i}" for i in range(7))


def ranked_registry() -> Registry:
    """Seven tasks of one family; the first has per-sample scores."""
    found = Registry()
    for name in RANKED_TASKS:
        metric = MetricInfo(
            name="accuracy", direction="max", lo=0, hi=1, kind="sample_mean", primary=True, title="Accuracy",
            definition="Share of items answered like most people",
        )  # fmt: skip
        info = TaskInfo(
            name=name, title=f"Choice {name[-1]}", version=2, scoring=1, entry="x:X", metrics=(metric,),
            sizes={"small": SizePlan(datasets=("items",), repeats=4)}, summary="Which of two?", protocol="paper",
        )  # fmt: skip
        found.add(Registered(info=info, origin="test", source=Source(entry="x:X")))
    version = ModelInfo(name="older", version="2", families=("alignment",), entry="m:M")
    found.add(Registered(info=version, origin="test", source=Source(entry="m:M")))
    return found


def ranked_store(root: Path) -> Path:
    """Four models on seven tasks with four repeats: samples, an older version, a failure, every kind of badge."""
    store = FakeStore(root)
    rng = np.random.default_rng(3)
    for t, task in enumerate(RANKED_TASKS):
        for m, (model, skill) in enumerate(RANKED.items()):
            card = {"name": model, "title": model.capitalize(), "baseline": model == "chance"}
            if model == "theirs":
                card["training_data"] = ["web", "items:test"]
            for repeat in range(4):
                right = rng.random(400) < skill + 0.01 * t
                job: dict[str, Any] = {
                    "task": task, "model": model, "dataset": "items", "repeat": repeat, "info": card,
                    "task_version": 2, "primary": "accuracy", "directions": {"accuracy": "max"},
                    "duration_s": 2.0 * 10 ** (2 - m) + repeat, "peak_rss_mb": 300.0 * (m + 1),
                }  # fmt: skip
                if model == "older" and t == 3 and repeat == 1:
                    store.add(**job, status="oom", error_message="needed more than 4096 MB")
                    continue
                samples = right if t == 0 else None
                key = store.add(
                    **job, values={"accuracy": float(right.mean())}, n_samples=400 if t == 0 else None
                )
                if samples is not None:
                    _samples(root, key, samples)
        old = {**job, "model": "older", "repeat": 9, "info": {"name": "older"}, "model_version": "0"}
        old |= {"task_version": 1, "ended_at": START - timedelta(days=30 + t)}
        store.add(**old, values={"accuracy": 0.5})
    return store.write()


def _samples(root: Path, key: str, right: np.ndarray) -> None:
    path = root / "samples" / RUN / f"{key}.0.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table({"sample_id": np.arange(right.size), "accuracy": right.astype(np.float32)})
    pq.write_table(table, path)
