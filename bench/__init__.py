"""One bench on which any generative or representation model can be measured.

What a package of models, tasks or data sets imports is here: the infos it declares (`ModelInfo`, `TaskInfo`
with `MetricInfo` and `SizePlan`, `DatasetInfo`), the classes it derives from (`Task`; of adapters those of
`bench.adapters.<family>`), what a task handles (`Unit`, `Context`, `Artifact`, `TaskOutput`, `Measure`,
`Exhibit`, `derived_seed`), and the errors. Everything else is the bench's own and may change.

Importing this package is cheap: nothing heavy (torch, pandas, pyarrow, rdkit, sklearn, plotly) is
loaded until a job, a store or a site needs it.
"""

from bench.errors import BenchError, InvalidOutput, MissingRequirement, StoreError, UsageError
from bench.spec import (
    Adapter,
    Artifact,
    Context,
    DatasetInfo,
    Exhibit,
    Measure,
    MetricInfo,
    ModelInfo,
    Resources,
    SizePlan,
    Task,
    TaskInfo,
    TaskOutput,
    Unit,
    derived_seed,
)

__version__ = "0.1.0"

__all__ = [
    "Adapter",
    "Artifact",
    "BenchError",
    "Context",
    "DatasetInfo",
    "Exhibit",
    "InvalidOutput",
    "Measure",
    "MetricInfo",
    "MissingRequirement",
    "ModelInfo",
    "Resources",
    "SizePlan",
    "StoreError",
    "Task",
    "TaskInfo",
    "TaskOutput",
    "Unit",
    "UsageError",
    "__version__",
    "derived_seed",
]
