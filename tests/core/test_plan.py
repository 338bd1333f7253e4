"""What runs and why, without running anything."""

import dataclasses
from pathlib import Path

import pytest

from bench import registry as registries
from bench.errors import UsageError
from bench.plan import Selection, make_plan
from bench.planned import Past, Plan
from bench.registry import Registry
from bench.work import FAILED

SELECTION = Selection(suites=("selftest",), models=("selftest-uniform", "selftest-raise"), size="tiny")


@pytest.fixture(scope="module")
def registry() -> Registry:
    return registries.builtin()


def past_of(plan: Plan, **changes: object) -> list[Past]:
    """A store in which every job of `plan` ended, as `changes` say."""
    return [
        dataclasses.replace(
            Past(
                key=p.job.key, task=p.job.task, task_version=p.job.task_version, scoring=p.task.info.scoring,
                model=p.job.model, model_source_sha256=p.job.model_source_sha256, dataset=p.job.dataset,
                dataset_sha256=p.job.dataset_sha256, size=p.job.size, repeat=p.job.repeat, status="ok",
                attempts=1, artifact_sha256="a" * 64, duration_s=2.0,
            ),
            **changes,
        )
        for p in plan.jobs
    ]  # fmt: skip


def reasons(plan: Plan) -> set[tuple[str, str]]:
    return {(p.action, p.reason) for p in plan.jobs}


def test_everything_is_new_at_first(registry: Registry) -> None:
    plan = make_plan(registry, SELECTION, past=())
    assert len(plan.jobs) == 4  # two models, one dataset, two repeats
    assert reasons(plan) == {("run", "new")}
    assert not plan.is_done()
    assert {p.stages for p in plan.jobs} == {("collect", "score")}


def test_what_is_stored_does_not_run_again(registry: Registry) -> None:
    plan = make_plan(registry, SELECTION, past_of(make_plan(registry, SELECTION, past=())))
    assert reasons(plan) == {("cached", "cached")}
    assert plan.is_done()


@pytest.mark.parametrize(
    ("past", "selection", "expected"),
    [
        ({}, {"force": True}, ("run", "forced")),
        ({}, {"resume": False}, ("run", "not resuming")),
        ({"scoring": 0}, {}, ("rescore", "scoring changed (0 -> 1)")),
        ({"key": "other", "model_source_sha256": "x"}, {}, ("run", "adapter changed")),
        ({"key": "other", "dataset_sha256": "x"}, {}, ("run", "dataset changed")),
        ({"key": "other", "task_version": 0}, {}, ("run", "task changed (0 -> 1)")),
        ({"key": "other"}, {}, ("run", "new settings")),
        ({"status": "cancelled"}, {}, ("run", "not finished before (cancelled)")),
        ({"status": "skipped"}, {}, ("run", "skipped before")),
        ({"status": "lost"}, {}, ("run", "not finished before (lost)")),
    ],
)
def test_the_reason_is_named(
    registry: Registry, past: dict[str, object], selection: dict[str, object], expected: tuple[str, str]
) -> None:
    stored = past_of(make_plan(registry, SELECTION, past=()), **past)
    plan = make_plan(registry, dataclasses.replace(SELECTION, **selection), stored)
    assert reasons(plan) == {expected}


@pytest.mark.parametrize("status", sorted(FAILED - {"lost"}))
def test_failures_run_again_only_on_request(registry: Registry, status: str) -> None:
    stored = past_of(make_plan(registry, SELECTION, past=()), status=status, artifact_sha256="")
    plan = make_plan(registry, SELECTION, stored)
    assert all(p.has_failed for p in plan.jobs)
    [(action, reason)] = reasons(plan)
    assert action == "cached"
    assert reason == f"failed before ({status}); --retry-failed runs it again"
    retried = make_plan(registry, dataclasses.replace(SELECTION, retry_failed=True), stored)
    assert reasons(retried) == {("run", f"failed before ({status})")}
    assert {p.attempt for p in retried.jobs} == {2}


def test_what_could_not_be_scored_is_not_collected_again(registry: Registry) -> None:
    stored = past_of(make_plan(registry, SELECTION, past=()), status="crash")
    assert {p.action for p in make_plan(registry, SELECTION, stored).jobs} == {"cached"}
    retried = make_plan(registry, dataclasses.replace(SELECTION, retry_failed=True), stored)
    assert reasons(retried) == {("rescore", "failed before (crash)")}
    corrected = [dataclasses.replace(p, scoring=0) for p in stored]
    assert reasons(make_plan(registry, SELECTION, corrected)) == {("rescore", "scoring changed (0 -> 1)")}


def test_a_failed_rescoring_is_not_tried_at_every_run(registry: Registry) -> None:
    new = make_plan(registry, SELECTION, past=())
    failed = past_of(new, scoring=0, failed_scoring=1, failed_status="crash")
    plan = make_plan(registry, SELECTION, failed)
    reason = "failed before, scored again (crash); --retry-failed tries once more"
    assert reasons(plan) == {("cached", reason)}
    assert all(p.has_failed for p in plan.jobs)
    again = make_plan(registry, dataclasses.replace(SELECTION, retry_failed=True), failed)
    assert reasons(again) == {("rescore", "scoring changed (0 -> 1)")}
    older = past_of(new, scoring=-1, failed_scoring=0, failed_status="crash")
    assert {p.action for p in make_plan(registry, SELECTION, older).jobs} == {"rescore"}


def test_scoring_again_needs_nothing_of_the_model(registry: Registry) -> None:
    selection = dataclasses.replace(SELECTION, models=("selftest-needs-module", "selftest-needs-gpu"))
    stored = past_of(make_plan(registry, selection, past=()), scoring=0)
    plan = make_plan(registry, selection, stored)
    assert {p.action for p in plan.jobs} == {"rescore"}
    place = Path("unused")
    orders = [
        p.order(device="cpu", work_dir=place, cache_dir=place, log_path=place, artifact_dir="here")
        for p in plan.jobs
    ]
    assert {o.requires for o in orders} == {()}
    assert {o.stages for o in orders} == {("score",)}


def test_rescoring_takes_the_stored_artifact(registry: Registry) -> None:
    stored = past_of(make_plan(registry, SELECTION, past=()), scoring=0)
    plan = make_plan(registry, SELECTION, stored)
    assert {(p.stages, p.artifact_sha256) for p in plan.jobs} == {(("score",), "a" * 64)}


def test_a_missing_module_is_a_skip_with_the_install_line(registry: Registry) -> None:
    selection = dataclasses.replace(SELECTION, models=("selftest-needs-module",))
    plan = make_plan(registry, selection, past=())
    [(action, reason)] = reasons(plan)
    assert action == "skip"
    assert "needs module module_that_does_not_exist (pip install" in reason
    assert plan.notices() == [f"2 skipped: {reason}"]
    known = make_plan(registry, selection, past_of(plan, status="skipped", error_message=reason))
    assert known.is_done()


def test_a_gpu_that_is_not_there_is_a_skip(registry: Registry) -> None:
    selection = dataclasses.replace(SELECTION, models=("selftest-needs-gpu",))
    assert reasons(make_plan(registry, selection, past=())) == {
        ("skip", "needs 1 GPU; this run may use none (see --device)")
    }
    with_gpu = make_plan(registry, dataclasses.replace(selection, gpus=1), past=())
    assert reasons(with_gpu) == {("run", "new")}


def test_all_models_see_the_same_units(registry: Registry) -> None:
    plan = make_plan(registry, SELECTION, past=())
    seeds = {m: [p.unit.seed for p in plan.jobs if p.job.model == m] for m in SELECTION.models}
    assert seeds["selftest-uniform"] == seeds["selftest-raise"]
    assert len(set(seeds["selftest-uniform"])) == 2


def test_models_that_take_longest_come_first(registry: Registry) -> None:
    stored = past_of(make_plan(registry, SELECTION, past=()))
    slow = [dataclasses.replace(p, duration_s=9.0) if p.model == "selftest-uniform" else p for p in stored]
    plan = make_plan(registry, dataclasses.replace(SELECTION, force=True), slow)
    assert [p.job.model for p in plan.jobs] == ["selftest-uniform"] * 2 + ["selftest-raise"] * 2


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (Selection(suites=("imagse",)), r"suite 'imagse' is unknown; did you mean images"),
        (
            Selection(tasks=("images.fidelty",)),
            r"task 'images.fidelty' is unknown; did you mean images.fidelity",
        ),
        (Selection(models=("nothing*",)), r"model 'nothing\*' matches nothing"),
        (Selection(tasks=("selftest.echo",), models=("kde",)), "nothing to run"),
    ],
)
def test_selections_that_mean_nothing_are_refused(
    registry: Registry, selection: Selection, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        make_plan(registry, selection, past=())


@pytest.mark.parametrize(
    ("only_tags", "only_tasks", "expected"),
    [
        ((), (), {"selftest-uniform", "selftest-raise"}),
        (("quick",), (), {"selftest-uniform"}),
        (("quick", "other"), ("selftest.echo",), {"selftest-uniform"}),
        (("slow",), (), set()),
        ((), ("selftest.another",), {"selftest-raise"}),
    ],
)
def test_tasks_ask_for_tags_and_models_name_their_tasks(
    only_tags: tuple[str, ...], only_tasks: tuple[str, ...], expected: set[str]
) -> None:
    changed = registries.builtin()
    task, model = changed.tasks["selftest.echo"], changed.models["selftest-uniform"]
    changed.tasks["selftest.echo"] = dataclasses.replace(
        task, info=dataclasses.replace(task.info, only_tags=only_tags)
    )
    changed.models["selftest-uniform"] = dataclasses.replace(
        model, info=dataclasses.replace(model.info, tags=("quick",), only_tasks=only_tasks)
    )
    if not expected:
        with pytest.raises(UsageError, match="no selected model takes part"):
            make_plan(changed, SELECTION, past=())
    else:
        assert {p.job.model for p in make_plan(changed, SELECTION, past=()).jobs} == expected


def test_the_suite_all_leaves_the_selftest_out(registry: Registry) -> None:
    plan = make_plan(registry, Selection(size="tiny"), past=())
    assert not any(p.job.model.startswith("selftest") for p in plan.jobs)


def test_settings_of_the_run_reach_the_jobs(registry: Registry) -> None:
    selection = dataclasses.replace(SELECTION, repeats=3, limit=7, timeout_s=1.5, memory_mb=99, seed=5)
    plan = make_plan(registry, selection, past=())
    assert {p.job.repeat for p in plan.jobs} == {0, 1, 2}
    assert {p.unit.limit for p in plan.jobs} == {7}
    assert {(p.job.resources.timeout_s, p.job.resources.memory_mb) for p in plan.jobs} == {(1.5, 99)}
    plain = {p.job.key for p in make_plan(registry, SELECTION, past=()).jobs}
    assert not plain & {p.job.key for p in plan.jobs}


def test_resources_are_no_part_of_the_key(registry: Registry) -> None:
    bigger = make_plan(registry, dataclasses.replace(SELECTION, memory_mb=9999), past=())
    assert [p.job.key for p in bigger.jobs] == [
        p.job.key for p in make_plan(registry, SELECTION, past=()).jobs
    ]


def test_every_dataset_of_the_catalogue_is_registered(registry: Registry) -> None:
    for task in registry.tasks.values():
        for size in task.info.sizes.values():
            assert set(size.datasets) <= set(registry.datasets), task.info.name


def test_every_entry_of_the_catalogue_resolves(registry: Registry) -> None:
    items = [*registry.tasks.values(), *registry.models.values(), *registry.datasets.values()]
    for item in items:
        assert registries.resolve(item.info.entry) is not None
        locate = getattr(item.info, "locate", "")
        assert not locate or callable(registries.resolve(locate))
