"""Keys and seeds: the reference values of the specification, and what changes a key."""

import pytest

from bench.keys import digest, job_key, score_id, unit_seed

IDENTITY = {
    "task": "images.fidelity",
    "task_version": 1,
    "model": "kde",
    "model_version": "1",
    "model_source_sha256": "a" * 64,
    "model_params": {"noise": 0.05},
    "dataset": "digits",
    "dataset_sha256": "b" * 64,
    "size": "small",
    "repeat": 0,
    "suite_seed": 0,
    "limit": None,
}


def test_canonical_digest_has_the_reference_value() -> None:
    value = {
        "dataset": "digits",
        "dataset_sha256": "0" * 64,
        "limit": None,
        "model": "gaussian",
        "model_params": {"cov": "full", "n": 2},
        "model_version": "1",
        "repeat": 0,
        "suite_seed": 0,
        "task": "fid",
        "task_version": "1",
    }
    assert digest(value) == "d54adf5e6bdeafcc7cdd6e521c4246f216cb124e4722cb74fed46f35c07cd43e"


@pytest.mark.parametrize(("repeat", "seed"), [(0, 924665837474333078), (1, 8140560415153435687)])
def test_unit_seed_has_the_reference_value(repeat: int, seed: int) -> None:
    assert unit_seed(task="fid", task_version=1, dataset="digits", repeat=repeat, suite_seed=0) == seed


@pytest.mark.parametrize("name", IDENTITY)
def test_every_part_of_the_identity_changes_the_key(name: str) -> None:
    changed = {"size": "full", "limit": 7, "model_params": {"noise": 0.1}}.get(name)
    if changed is None:
        changed = IDENTITY[name] + (1 if isinstance(IDENTITY[name], int) else "x")
    assert job_key(**{**IDENTITY, name: changed}) != job_key(**IDENTITY)


def test_the_order_of_parameters_does_not_change_the_key() -> None:
    one = job_key(**{**IDENTITY, "model_params": {"a": 1, "b": 2}})
    assert one == job_key(**{**IDENTITY, "model_params": {"b": 2, "a": 1}})


def test_nan_has_no_canonical_form() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        digest({"x": float("nan")})


def test_scores_follow_artifact_and_scoring_version() -> None:
    base = {"artifact_sha256": "a", "task": "t.x", "task_version": 1, "scoring": 1}
    assert score_id(**base) == score_id(**base)
    assert score_id(**base) != score_id(**{**base, "scoring": 2})
    assert score_id(**base) != score_id(**{**base, "artifact_sha256": "b"})
