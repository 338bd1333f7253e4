"""The columns of the results store: what every Parquet file holds, in every version.

Columns are only ever added, nullable; rows written by an older bench are read with nulls in new columns.
"""

from __future__ import annotations

import pyarrow as pa

SCHEMA_VERSION = 1
STORE_FORMAT = 1

_TEXT = pa.dictionary(pa.int32(), pa.string())
_TIME = pa.timestamp("us", tz="UTC")

JOBS = pa.schema(
    [
        # identity
        ("schema_version", pa.int16()),
        ("record_id", pa.string()),  # unique per row; equal ids are the same row
        ("run_id", _TEXT),
        ("job_key", pa.string()),
        ("attempt", pa.int16()),
        ("stages", _TEXT),  # "collect+score" or "score"
        # the job
        ("task", _TEXT),
        ("task_version", pa.int32()),
        ("scoring", pa.int32()),
        ("family", _TEXT),
        ("protocol", _TEXT),
        ("model", _TEXT),
        ("model_version", _TEXT),
        ("model_source_sha256", _TEXT),
        ("model_params", _TEXT),  # JSON
        ("model_info", _TEXT),  # JSON of ModelInfo, TaskInfo and DatasetInfo as they were then: rows tell
        ("task_info", _TEXT),  # titles, units, ranges and licences without the code that declared them
        ("dataset_info", _TEXT),
        ("baseline", pa.bool_()),
        ("dataset", _TEXT),
        ("dataset_sha256", _TEXT),
        ("data", _TEXT),  # real, generated, subset
        ("size", _TEXT),
        ("repeat", pa.int32()),
        ("suite_seed", pa.int64()),
        ("unit_seed", pa.int64()),
        ("limit", pa.int64()),
        ("resources", _TEXT),  # JSON
        # how it ended
        ("status", _TEXT),
        ("stage", _TEXT),
        ("error_type", _TEXT),
        ("error_message", pa.string()),
        ("traceback", pa.string()),
        ("exit_code", pa.int32()),
        ("signal", _TEXT),
        ("started_at", _TIME),
        ("ended_at", _TIME),
        ("duration_s", pa.float64()),
        ("setup_s", pa.float64()),
        ("collect_s", pa.float64()),
        ("score_s", pa.float64()),
        ("cpu_s", pa.float64()),
        ("peak_rss_mb", pa.float64()),
        ("peak_gpu_mb", pa.float64()),
        ("engine", _TEXT),
        ("worker", _TEXT),
        ("hostname", _TEXT),
        ("device", _TEXT),
        ("device_name", _TEXT),
        ("n_samples", pa.int64()),
        ("log_path", pa.string()),  # relative to the store
        # what it left
        ("artifact_sha256", pa.string()),
        ("artifact_bytes", pa.int64()),
        ("flags", pa.string()),  # JSON list
        ("exhibits", pa.string()),  # JSON list of Exhibit; files in exhibits/<job_key>/<score_id[:16]>/
        ("score_id", pa.string()),
        ("notes", pa.string()),  # JSON object
        # provenance
        ("bench_version", _TEXT),
        ("git_sha", _TEXT),
        ("git_dirty", pa.bool_()),
        ("python_version", _TEXT),
        ("platform", _TEXT),
        ("torch_version", _TEXT),
        ("cuda_version", _TEXT),
        ("packages", _TEXT),  # JSON, sorted
        ("argv_sha256", _TEXT),
    ]
)

METRICS = pa.schema(
    [
        ("schema_version", pa.int16()),
        ("record_id", pa.string()),
        ("job_key", pa.string()),
        ("run_id", _TEXT),
        ("attempt", pa.int16()),
        ("model", _TEXT),
        ("model_version", _TEXT),
        ("task", _TEXT),
        ("task_version", pa.int32()),
        ("scoring", pa.int32()),
        ("family", _TEXT),
        ("dataset", _TEXT),
        ("data", _TEXT),
        ("size", _TEXT),
        ("repeat", pa.int32()),
        ("suite_seed", pa.int64()),
        ("limit", pa.int64()),
        ("metric", _TEXT),
        ("facet", _TEXT),  # "" for the task's own value, else "name=value" or several with commas between
        ("value", pa.float64()),  # null: not measurable, see `reason`
        ("ci_low", pa.float64()),
        ("ci_high", pa.float64()),
        ("ci_method", _TEXT),
        ("reason", _TEXT),
        ("n", pa.int64()),
        ("direction", _TEXT),
        ("unit", _TEXT),
        ("evidence", _TEXT),  # what the true answers rest on; see bench.spec.Evidence
        ("primary", pa.bool_()),
        ("ended_at", _TIME),
    ]
)

# A cached job leaves no row in `jobs`; where its key had been replaced by a later one (an adapter was edited
# and the edit undone), this says that it is the current one again.
USES = pa.schema(
    [
        ("schema_version", pa.int16()),
        ("record_id", pa.string()),
        ("run_id", _TEXT),
        ("job_key", pa.string()),
        ("used_at", _TIME),
    ]
)

TABLES = {"jobs": JOBS, "metrics": METRICS, "uses": USES}
# A file without these columns, or with a row that lacks one of the identity columns, is not one of ours.
IDENTITY = ("record_id", "job_key", "attempt", "status")
REQUIRED = {
    "jobs": (*IDENTITY, "run_id"),
    "metrics": ("record_id", "job_key", "attempt", "run_id", "metric", "value"),
    "uses": ("record_id", "job_key", "used_at"),
}
