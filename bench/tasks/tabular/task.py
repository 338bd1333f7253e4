"""The tasks `tabular.*`: one synthetic table each, measured in the dimension of the task."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from bench.datasets.tabular.schema import TableSchema
from bench.metrics.tabular.columnwise import PREDICTORS
from bench.metrics.tabular.learners import LEARNERS
from bench.metrics.tabular.result import Result
from bench.metrics.tabular.table import EncodedTable
from bench.metrics.tabular.together import Inputs
from bench.metrics.tabular.together import measure as measure_all
from bench.spec import Artifact, Context, Exhibit, JSONScalar, Task, TaskOutput, Unit, derived_seed
from bench.tasks.tabular import details, scoring
from bench.tasks.tabular.artifact import CSV_FILE, PARQUET_FILE, read_table, write_table
from bench.tasks.tabular.badges import badges
from bench.tasks.tabular.collecting import collect_table
from bench.tasks.tabular.encoding import Encoded, Encoder
from bench.tasks.tabular.keeping import StoredCache
from bench.tasks.tabular.protocol import TableUnit, require_affordable, table_unit
from bench.tasks.tabular.truth import KnownTruth, applicable

MEMORY_BYTES = 512 * 2**20


class TabularTask(Task):
    """Collects one table of `n` rows; `score` compares it with the real rows of the unit.

    Artifact: `synthetic.parquet` (or `synthetic.csv`) with the schema's columns. Seeds of splitting, fitting,
    sampling and measuring are `derived_seed(unit.seed, "split" | "fit" | "sample" | "metrics")`.
    """

    dimensions: ClassVar[tuple[str, ...]] = ()

    @property
    def measured(self) -> tuple[str, ...]:
        """Names of the metrics: those of the task's dimensions."""
        return scoring.names_of(*self.dimensions)

    def collect(self, adapter: Any, unit: Unit, ctx: Context) -> Mapping[str, JSONScalar]:
        """Fit and sample."""
        info = getattr(adapter, "info", None)
        require_affordable(getattr(info, "tags", ()), unit)
        return collect_table(adapter, self._plan(unit, ctx), ctx)

    def export_inputs(self, unit: Unit, ctx: Context, folder: Path) -> Mapping[str, Any]:
        """`train.parquet` and `train.csv`, the same rows twice, and `schema.json`."""
        plan = self._plan(unit, ctx)
        write_table(plan.train, plan.schema, folder / "train.parquet")
        plan.train.set_axis(list(plan.schema.labels), axis=1).to_csv(folder / "train.csv", index=False)
        (folder / "schema.json").write_text(plan.schema.to_json(), encoding="utf-8")
        return {
            "n": plan.n,
            "target": None if plan.schema.target is None else str(plan.schema.target),
            "columns": [
                {"name": label, "kind": column.kind}
                for label, column in zip(plan.schema.labels, plan.schema.columns, strict=True)
            ],
            "files": {
                "train.parquet": f"{plan.n} rows to learn from; empty cells are missing values",
                "train.csv": "the same rows as comma-separated text with a header",
                "schema.json": "kind, levels and decimals of each column",
            },
            "output": {
                PARQUET_FILE: f"{plan.n} rows with the columns of train.parquet, in any order",
                CSV_FILE: "or instead: the same as comma-separated text with a header",
            },
        }

    def check_artifact(self, artifact: Artifact, unit: Unit, ctx: Context) -> None:
        """Exactly `n` rows with the schema's columns."""
        plan = self._plan(unit, ctx)
        read_table(artifact, plan.schema, rows=plan.n)

    def score(self, artifact: Artifact, unit: Unit, ctx: Context) -> TaskOutput:
        """All metrics of the task's dimensions."""
        plan = self._plan(unit, ctx)
        encoder = Encoder(plan.schema)
        synthetic = encoder.encode(read_table(artifact, plan.schema, rows=plan.n), rows=plan.n)
        real, holdout, test = (encoder.encode(rows).table for rows in (plan.train, plan.holdout, plan.test))
        if artifact.notes.get("fits_on") == "holdout":
            holdout = test  # an oracle returns the holdout: it is compared with rows that it was not given
        known = _truth(plan, encoder, unit)
        inputs = Inputs(
            real=real,
            generated=synthetic.table,
            holdout=holdout,
            test=test,
            truth=None if known is None else known.about(synthetic.table, holdout),
            rules=encoder.rules(),
            predictors=_named(unit, "predictors", PREDICTORS),
            learners=_named(unit, "learners", LEARNERS),
            seed=derived_seed(plan.seed, "metrics"),
            device=ctx.device,
            memory_bytes=MEMORY_BYTES,
            cache=StoredCache(ctx.cache_dir),
        )
        results = applicable(measure_all(inputs, self.measured), known)
        return TaskOutput(
            metrics=scoring.measures(results),
            facets=scoring.facets(results),
            flags=badges(real, synthetic.table, results.values(), synthetic.issues, artifact.notes),
            exhibits=self._exhibits(results, inputs, plan, synthetic, ctx.exhibit_dir),
            notes={**_notes(plan, synthetic, artifact), **scoring.settings_of(results)},
        )

    def _plan(self, unit: Unit, ctx: Context) -> TableUnit:
        return table_unit(ctx.load_dataset(unit.dataset), unit)

    def _exhibits(
        self, results: Mapping[str, Result], inputs: Inputs, plan: TableUnit, synthetic: Encoded, folder: Path
    ) -> tuple[Exhibit, ...]:
        shown = [*self._details(results, inputs, plan, folder)]
        left_out = scoring.left_out(results)
        if left_out:
            caption = "What could not be measured, unit by unit, and why."
            shown.append(details.write(folder, "left-out", left_out, caption))
        companions = details.companions(results)
        if companions:
            shown.append(details.write(folder, "companions", companions, "Numbers that belong to a metric."))
        if synthetic.issues:
            content = [
                {
                    "column": "table" if i.column is None else str(i.column),
                    "rows": i.count,
                    "remark": i.reason,
                }
                for i in synthetic.issues
            ]
            shown.append(details.write(folder, "remarks", content, "What is odd about the synthetic table."))
        return tuple(shown)

    @abstractmethod
    def _details(
        self, results: Mapping[str, Result], inputs: Inputs, plan: TableUnit, folder: Path
    ) -> list[Exhibit]:
        """The exhibits of this task's own metrics."""


def _named(unit: Unit, setting: str, known: tuple[Any, ...]) -> tuple[Any, ...]:
    """The models that a setting names, with commas between; all of them without it."""
    wanted = str(unit.settings.get(setting) or ",".join(known)).split(",")
    return tuple(name for name in known if name in wanted)


def _truth(plan: TableUnit, encoder: Encoder, unit: Unit) -> KnownTruth | None:
    if plan.dataset.truth is None or "oracle_rows" not in unit.settings:
        return None
    return KnownTruth(
        plan.dataset.truth,
        encoder,
        oracle_rows=int(unit.setting("oracle_rows")),
        seed=derived_seed(plan.seed, "oracle"),
    )


def _notes(plan: TableUnit, synthetic: Encoded, artifact: Artifact) -> dict[str, JSONScalar]:
    return {
        "n": plan.n,
        "n_holdout": len(plan.holdout),
        "n_test": len(plan.test),
        "n_capped_by": plan.cap,
        "ids_left_out": ", ".join(plan.ids),
        "remarks": len(synthetic.issues),
        "compared_with": "test" if artifact.notes.get("fits_on") == "holdout" else "holdout",
    }


def level_names(schema: TableSchema, table: EncodedTable) -> dict[str, list[str]]:
    """Texts of the levels of each coded column, by label."""
    pairs = dict(zip(schema.labels, schema.columns, strict=True))
    return {
        c.name: [str(level) for level in pairs[c.name].categories or ()]
        for c in table.columns
        if not c.is_numeric
    }
