# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What is kept comes back as it was, from the journal and from a numbered checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.domain.goals import Constraint, Goal, ModelGoal, Objective
from model_analyzer.domain.hardware import Device
from model_analyzer.domain.measurements import Measurement, ModelMeasurement, Outcome
from model_analyzer.domain.models import freeze
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import Failure, FailureReason, LoadKind, ServerSetup, Trial
from model_analyzer.state import records
from model_analyzer.state.checkpoint import Checkpoint, load
from model_analyzer.state.profile_state import ProfileState
from tests.unit.state.samples import (
    SECRETS,
    entries,
    failure,
    measurement,
    rich_failure,
    rich_measurement,
    rich_round,
    rich_trial,
    several,
    trial,
)

Reload = Callable[..., Checkpoint]


@pytest.fixture(params=["journal", "checkpoint", "very many"])
def reload(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Reload:
    """Records (trial, outcome) pairs in one run, and reads them as a later one would; also as it
    does behind so many that records are made again each time they are looked at.
    """
    if request.param == "very many":
        monkeypatch.setattr(records, "_KEPT", 0)
        monkeypatch.setattr(records, "_PLAIN", 0)

    def keep(*pairs: tuple[Trial, Outcome]) -> Checkpoint:
        with ProfileState(tmp_path) as state:
            for sample, outcome in pairs:
                state.record(sample, outcome)
            if request.param != "journal":
                state.save()
        loaded = load(tmp_path)
        assert loaded.damage == ()
        return loaded

    return keep


def without_secrets(sample: Trial) -> Trial:
    """The same trial with nothing in it that must be masked."""
    first, *others = sample.workloads
    return replace(
        sample,
        workloads=(replace(first, flags=freeze({"shape": ["IN:4"], "percentile": 95})), *others),
        setup=replace(
            sample.setup,
            environment=freeze({"LD_PRELOAD": "/lib/x.so"}),
            container=freeze({"image": "triton:1", "init": True, "environment": ["TZ=UTC"]}),
        ),
    )


def test_the_samples_leave_no_field_empty() -> None:
    for sample in (rich_measurement(), rich_failure()):
        empty = [field.name for field in fields(sample) if not getattr(sample, field.name)]
        assert empty in ([], ["doubts"])  # these are not stored


@pytest.mark.parametrize("outcome", [rich_measurement(), rich_round(), rich_failure()])
def test_a_full_outcome_comes_back(reload: Reload, outcome: Outcome) -> None:
    (record,) = reload((rich_trial(), outcome)).profile.records

    assert record.outcome == outcome


def test_only_rounds_write_seconds_and_histograms(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(rich_trial(), rich_measurement())
        state.record(rich_trial(5), rich_round())

    careful, one_round = (
        set().union(*entry["models"])
        for entry in entries(tmp_path / "journal")
        if "models" in entry
    )
    assert one_round - careful == {"seconds", "histograms", "joint"}


def test_the_models_of_records_are_named_in_their_order(reload: Reload) -> None:
    pairs = [(rich_trial(5), rich_round()), (trial(1), measurement(1.0)), (trial(2), failure())]

    records = reload(*pairs).records

    assert [*records.models()] == [sample.models for sample, _ in pairs]


@pytest.mark.parametrize(
    "outcome",
    [
        Measurement(models=(ModelMeasurement(values={}),)),
        *(Failure(reason=reason, message="") for reason in FailureReason),
    ],
)
def test_an_empty_outcome_comes_back(reload: Reload, outcome: Outcome) -> None:
    (record,) = reload((trial(), outcome)).profile.records

    assert record.outcome == outcome


def test_missing_statistics_are_not_written(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(), measurement())

    assert "statistics" not in entries(tmp_path / "journal")[-1]


def test_a_trial_of_several_models_comes_back(reload: Reload) -> None:
    sample = without_secrets(rich_trial())

    (record,) = reload((sample, rich_measurement())).profile.records

    assert record == TrialRecord(trial=sample, outcome=rich_measurement())


@pytest.mark.parametrize("kind", LoadKind)
def test_every_kind_of_load_comes_back(reload: Reload, kind: LoadKind) -> None:
    plain = trial()
    work = plain.workloads[0]
    sample = replace(plain, workloads=(replace(work, load=replace(work.load, kind=kind)),))

    (record,) = reload((sample, measurement())).profile.records

    assert record.trial == sample


def test_one_variant_under_two_names_keeps_both(reload: Reload) -> None:
    pairs: list[tuple[Trial, Outcome]] = [
        (trial(1, name="m_config_default"), measurement()),
        (trial(2, name="m_config_4"), failure()),
    ]

    records = reload(*pairs).profile.records

    assert [record.trial.variants for record in records] == ["m_config_default", "m_config_4"]


def test_keys_and_identities_do_not_change_on_the_way(reload: Reload) -> None:
    trials = [rich_trial(1), rich_trial(2), *several(2)]

    outcomes = [rich_measurement(), rich_measurement(), measurement(), measurement()]

    records = reload(*zip(trials, outcomes, strict=True)).profile.records

    for sample, record in zip(trials, records, strict=True):
        assert record.trial.key == sample.key
        assert record.trial.setup.identity == sample.setup.identity
        assert [work.variant.identity for work in record.trial.workloads] == [
            work.variant.identity for work in sample.workloads
        ]


def test_secrets_are_in_no_file(reload: Reload, tmp_path: Path) -> None:
    reload((rich_trial(), rich_measurement()), (rich_trial(5), rich_failure()))

    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())

    for secret in SECRETS:
        assert secret.encode() not in written
    for readable in ("Authorization: ******", "X-Other: ******", "HF_TOKEN", "/lib/x.so"):
        assert readable.encode() in written


def test_a_changed_secret_is_no_reason_to_measure_again(tmp_path: Path) -> None:
    def with_token(token: str) -> Trial:
        return replace(trial(), setup=ServerSetup(environment={"HF_TOKEN": token}))

    with ProfileState(tmp_path) as state:
        state.record(with_token("old"), measurement())
    with ProfileState(tmp_path) as state:
        assert state.outcome_of(with_token("new")) == measurement()


def test_records_that_are_read_back_are_read_only(reload: Reload) -> None:
    (record,) = reload((rich_trial(), rich_measurement())).profile.records
    assert isinstance(record.outcome, Measurement)
    mappings: list[Any] = [
        record.outcome.host,
        record.outcome.gpus["GPU-aaaa"],
        record.outcome.statistics,
        record.outcome.models[0].values,
        record.outcome.models[0].composing["größe"],
        record.trial.workloads[0].flags,
        record.trial.workloads[0].variant.config,
        record.trial.setup.environment,
    ]

    for mapping in mappings:
        with pytest.raises(TypeError):
            mapping["new"] = 1


@pytest.mark.parametrize("save", [False, True])
def test_machine_and_tools_come_back(tmp_path: Path, save: bool) -> None:
    devices = (
        Device(uuid="GPU-aaaa", name="NVIDIA H200", memory=150_754.0),
        Device(uuid="GPU-bbbb", name="größer", memory=1.5),
    )
    host = {"Server": "Triton 2.51.0", "CPU": "模型"}
    with ProfileState(tmp_path) as state:
        state.describe(devices=devices, host=host, cores=16)
        state.record(trial(), measurement())
        if save:
            state.save()

    with ProfileState(tmp_path) as state:
        profile = state.profile

    assert profile.devices == devices
    assert profile.host == host
    assert profile.cores == 16


def test_a_variant_and_a_setup_are_written_once_and_copied_once(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        for sample in several(5):
            state.record(sample, measurement())
        state.save()
        for sample in several(7)[5:]:
            state.record(sample, measurement())

    saved = [entry["entry"] for entry in entries(tmp_path / "0.ckpt")]
    later = [entry["entry"] for entry in entries(tmp_path / "journal")]
    definitions = ["setup", "variant", "generator"]
    copies = ["copy"] * 3  # with the second outcome that needs them
    assert saved == ["header", *definitions, *["measurement"] * 5, "copy", "contents", "end"]
    assert later == ["header", *definitions, "measurement", *copies, "measurement"]


def test_a_variant_with_composing_models_is_written_after_them(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(rich_trial(), failure())

    variants = [entry for entry in entries(tmp_path / "journal") if entry["entry"] == "variant"]
    assert [entry["name"] for entry in variants] == [
        "größe_config_0",
        "模型_config_3",
        "ensemble_config_7",
        "plain_config_default",
    ]


def test_repetitions_come_back_as_trials_of_their_own(reload: Reload) -> None:
    sample = trial(1)
    repeated = replace(sample, repetition=2)

    loaded = reload((sample, measurement(1.0)), (repeated, measurement(2.0)))

    assert [(record.trial, record.outcome) for record in loaded.profile.records] == [
        (sample, measurement(1.0)),
        (repeated, measurement(2.0)),
    ]


# ---------------------------------------------------------------------------------------- goals

GOAL = Goal(
    models=(
        ModelGoal(
            objectives=(
                Objective(tag="perf_latency_p99", weight=2.5),
                Objective(tag="gpu_power_usage"),
            ),
            constraints=(
                Constraint(tag="perf_latency_p99", maximum=20.5),
                Constraint(tag="perf_throughput", minimum=3),
            ),
            weighting=4,
        ),
        ModelGoal(),
    )
)


def test_the_goal_of_a_search_comes_back_as_it_was(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record_search("a,b", {}, GOAL)
        assert state.save() is None, "nothing was measured for it yet"
        state.record(trial(), measurement())
        state.save()

    loaded = load(tmp_path)

    assert loaded.goal_of("a,b") == GOAL
    assert loaded.goal_of("a,b").identity == GOAL.identity  # type: ignore[union-attr]
    assert loaded.goal_of("a") is None
    assert Checkpoint.from_bytes(loaded.to_bytes()).goal_of("a,b") == GOAL


def test_another_goal_for_the_same_measurements_is_kept(tmp_path: Path) -> None:
    plain = Goal(models=(ModelGoal(),))
    strict = Goal(models=(ModelGoal(constraints=GOAL.models[0].constraints),))
    for goal in (plain, strict, strict):
        with ProfileState(tmp_path) as state:
            state.record_search("m", {"search.mode": "brute"}, goal)
            state.record(trial(), measurement())
            state.save()

    assert load(tmp_path).goal_of("m") == strict
    assert [path.name for path in sorted(tmp_path.glob("*.ckpt"))] == ["0.ckpt", "1.ckpt"]


@pytest.mark.parametrize(
    "goals",
    [
        None,
        [],
        "perf_throughput",
        [{"objectives": [], "constraints": [], "weighting": 1}],
        [{"objectives": [{"tag": "perf_throughput", "weight": 1}], "constraints": []}],
        [{"objectives": [{"tag": "later", "weight": 1}], "constraints": [], "weighting": 1}],
        [
            {
                "objectives": [{"tag": "perf_throughput", "weight": 1}],
                "constraints": [{"tag": "perf_latency_p99", "minimum": None, "maximum": "20"}],
                "weighting": 1,
            }
        ],
        [
            {
                "objectives": [{"tag": "perf_throughput", "weight": 1}],
                "constraints": [],
                "weighting": 0,
            }
        ],
    ],
)
def test_goals_that_cannot_be_used_are_none(goals: Any) -> None:
    """As in checkpoints from before they were kept, or with metrics of a newer program."""
    assert Checkpoint(searches={"m": {"goals": goals}}).goal_of("m") is None
    assert Checkpoint(searches={"m": {}}).goal_of("m") is None
