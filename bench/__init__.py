"""One bench on which any generative or representation model can be measured.

Importing this package is cheap: nothing heavy (torch, pandas, pyarrow, rdkit, sklearn, plotly) is
loaded until a job, a store or a site needs it.
"""

from bench.errors import BenchError, InvalidOutput, MissingRequirement, StoreError, UsageError
from bench.spec import (
    Adapter,
    Artifact,
    Context,
    DatasetInfo,
    Measure,
    MetricInfo,
    ModelInfo,
    Resources,
    Task,
    TaskInfo,
    TaskOutput,
    Unit,
)

__version__ = "0.1.0"

__all__ = [
    "Adapter",
    "Artifact",
    "BenchError",
    "Context",
    "DatasetInfo",
    "InvalidOutput",
    "Measure",
    "MetricInfo",
    "MissingRequirement",
    "ModelInfo",
    "Resources",
    "StoreError",
    "Task",
    "TaskInfo",
    "TaskOutput",
    "Unit",
    "UsageError",
    "__version__",
]
