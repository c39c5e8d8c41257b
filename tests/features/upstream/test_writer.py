# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What is known is written in upstream's format, and nothing is lost on the way there and back."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from model_analyzer.domain.measurements import Measurement, ModelMeasurement
from model_analyzer.domain.models import freeze
from model_analyzer.domain.profiles import Profile, TrialRecord
from model_analyzer.domain.trials import Load, Trial
from model_analyzer.features.upstream.reader import read_upstream
from model_analyzer.features.upstream.writer import write_upstream
from tests.features.upstream.samples import (
    ALL,
    GPU,
    content,
    read,
    read_changed,
    results,
    with_gpus,
)
from tests.unit.builders import one_round
from tests.unit.state.samples import (
    SECRETS,
    failure,
    measurement,
    rich_measurement,
    rich_trial,
    trial,
)


def written(profile: Profile, seed: int | None = None) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(write_upstream(profile, seed=seed).text)
    return document


def profile_of(*records: tuple[Trial, Any]) -> Profile:
    return Profile(records=tuple(TrialRecord(trial=trial_, outcome=out) for trial_, out in records))


def values(measurement_: Measurement) -> list[Any]:
    """What a checkpoint of upstream can hold of a measurement."""
    return [[model.values for model in measurement_.models], measurement_.gpus, measurement_.host]


@pytest.mark.parametrize("name", ALL)
def test_a_checkpoint_of_upstream_is_exported_unchanged(name: str) -> None:
    expected = content(name)
    table = expected["ModelManager.model_variant_name_manager"]["_model_config_dicts"]
    for config in table.values():  # its optuna search writes this for a batcher without settings
        if config.get("dynamic_batching") == []:
            config["dynamic_batching"] = {}

    checkpoint = read(name)

    assert written(checkpoint.profile, checkpoint.seed) == expected


def test_keys_are_in_the_order_of_upstream() -> None:
    text = write_upstream(read("plain").profile, seed=None).text

    assert text == json.dumps(content("plain"))


@pytest.mark.parametrize("name", ALL)
def test_an_exported_checkpoint_is_read_again(name: str) -> None:
    checkpoint = read(name)

    reread = read_upstream(
        write_upstream(checkpoint.profile, seed=checkpoint.seed).text.encode(), name
    )

    assert reread == checkpoint


def test_gpus_are_written() -> None:
    document = written(read_changed("plain", with_gpus).profile)

    expected = content("plain")
    with_gpus(expected)
    for part in ("MetricsManager.gpus", "ResultManager.server_only_data"):
        assert document[part] == expected[part]
    first = next(iter(results(document)["add_sub"]["add_sub_config_default"][1].values()))
    assert first["_gpu_data"][GPU][0][1]["_value"] == 100.5
    over_gpus = {tag: content["_value"] for tag, content in first["_avg_gpu_data"]}
    assert over_gpus == {"gpu_used_memory": 300.5, "gpu_utilization": 50.0}


def test_a_measurement_of_ours_is_read_again() -> None:
    profile = profile_of((rich_trial(), rich_measurement()), (rich_trial(8), rich_measurement()))

    reread = read_upstream(write_upstream(profile, seed=7).text.encode(), "x")

    assert reread.seed == 7
    assert [record.trial.variants for record in reread.profile.records] == [
        "ensemble_config_7,plain_config_default"
    ] * 2
    for record in reread.profile.measured:
        assert values(record.measurement) == values(rich_measurement())
    for ours, theirs in zip(profile.records, reread.profile.records, strict=True):
        assert [work.load for work in theirs.trial.workloads] == [
            work.load for work in ours.trial.workloads
        ]
        assert [work.variant.full_name for work in theirs.trial.workloads] == [
            work.variant.full_name for work in ours.trial.workloads
        ]


def test_times_of_tokens_are_written_in_upstreams_unit() -> None:
    spoken = freeze({"time_to_first_token_p99": 12.3456, "output_token_throughput": 250.5})
    (work,) = trial().workloads
    llm_trial = replace(
        trial(),
        workloads=(replace(work, times_tokens=True, genai_perf=freeze({"tokenizer": "small"})),),
    )
    profile = profile_of((llm_trial, Measurement(models=(ModelMeasurement(values=spoken),))))

    document = written(profile)

    run, measurements = results(document)["m"]["m_config_default"]
    (stored,) = measurements.values()
    records = dict(stored["_model_config_measurements"][0]["_non_gpu_data"])
    assert records["time_to_first_token_p99"]["_value"] == 12345.6
    assert records["output_token_throughput"]["_value"] == 250.5
    assert run["_genai_perf_config"]["_args"]["tokenizer"] == "small"
    reread = read_upstream(json.dumps(document).encode(), "x").profile.measured[0]
    assert reread.measurement.models[0].values == spoken
    assert reread.trial.workloads[0].times_tokens


def test_metrics_unknown_to_upstream_are_left_out() -> None:
    ours = Measurement(
        models=(
            ModelMeasurement(values=freeze({"perf_latency_p50": 1.0, "perf_latency_p99": 2.0})),
        )
    )

    text = write_upstream(profile_of((trial(), ours), (trial(2), failure())), seed=None)

    assert "perf_latency_p50" not in text.text
    assert (text.failures, text.outdated) == (1, 0)
    assert len(results(json.loads(text.text))["m"]["m_config_default"][1]) == 1


def test_a_variant_that_only_failed_keeps_its_name() -> None:
    profile = profile_of((trial(name="m_config_4"), failure()), (trial(), measurement()))

    table = written(profile)["ModelManager.model_variant_name_manager"]

    assert table == {"_model_config_dicts": {"m_config_4": {"name": "m"}},
                     "_model_name_index": {"m": 4}}  # fmt: skip


def test_of_a_model_that_changed_the_newest_measurements_are_written() -> None:
    def version(files: str, concurrency: int) -> Trial:
        (work,) = trial().workloads
        variant = replace(work.variant, files=files)
        load = Load(value=concurrency)
        return replace(trial(), workloads=(replace(work, variant=variant, load=load),))

    profile = profile_of(
        (version("old", 1), measurement(1.0)),
        (version("old", 2), measurement(2.0)),
        (version("", 4), measurement(4.0)),
        (version("new", 1), measurement(10.0)),
        (version("", 2), measurement(20.0)),
    )

    text = write_upstream(profile, seed=None)

    reread = read_upstream(text.text.encode(), "x").profile.measured
    assert [item.measurement.value("perf_throughput") for item in reread] == [4.0, 10.0, 20.0]
    assert text.outdated == 2


def test_the_last_of_two_equal_measurements_is_written() -> None:
    original = trial()
    newer = replace(original, setup=replace(original.setup, version="2.60.0"))

    text = write_upstream(
        profile_of((original, measurement(1.0)), (newer, measurement(2.0))), seed=None
    )

    (reread,) = read_upstream(text.text.encode(), "x").profile.measured
    assert reread.measurement.value("perf_throughput") == 2.0
    assert text.outdated == 1


def test_secrets_are_not_written() -> None:
    text = write_upstream(profile_of((rich_trial(), rich_measurement())), seed=None).text

    for secret in SECRETS:
        assert secret not in text
    assert "Authorization: ******" in text


def test_only_numbers_that_options_set_are_numbers_in_the_table() -> None:
    def variant(name: str, delay: int) -> Trial:
        base = trial(name=name)
        config = freeze(
            {
                "name": "m",
                "input": [{"name": "IN", "dims": [16]}],
                "dynamic_batching": {"priority_levels": 2, "max_queue_delay_microseconds": delay},
            }
        )
        (work,) = base.workloads
        return replace(
            base, workloads=(replace(work, variant=replace(work.variant, config=config)),)
        )

    profile = profile_of(
        (variant("m_config_default", 5), measurement()), (variant("m_config_0", 100), measurement())
    )

    table = written(profile)["ModelManager.model_variant_name_manager"]["_model_config_dicts"]
    assert table["m_config_0"]["dynamic_batching"] == {
        "priority_levels": "2",
        "max_queue_delay_microseconds": 100,
    }
    assert table["m_config_0"]["input"] == [{"name": "IN", "dims": ["16"]}]


def test_an_empty_profile_gives_an_empty_checkpoint() -> None:
    reread = read_upstream(write_upstream(Profile(), seed=None).text.encode(), "x")

    assert reread.profile == Profile()


def test_the_measurements_of_a_trial_are_written_as_one() -> None:
    """Upstream has one place for them, and the last round is not the value of the trial."""
    runs = [
        replace(one_round([latency] * 10, seconds=seconds), started=seconds)
        for latency, seconds in ((10.0, 1.0), (100.0, 2.0))
    ]
    old = replace(one_round([1.0] * 10, seconds=0.1), started=0.1)
    own_windows = replace(measurement(7.0), started=0.2)
    repeated = [
        (replace(trial(), repetition=number), run)
        for number, run in enumerate([own_windows, *runs, old])
    ]

    text = write_upstream(profile_of(*repeated[1:3]), seed=None)
    replaced = write_upstream(profile_of(repeated[0], repeated[3]), seed=None)

    (reread,) = read_upstream(text.text.encode(), "x").profile.measured
    assert reread.measurement.value("perf_throughput") == pytest.approx(20 / 3)
    assert text.outdated == 0
    (reread,) = read_upstream(replaced.text.encode(), "x").profile.measured
    assert reread.measurement.value("perf_throughput") == pytest.approx(7.0)
    assert replaced.outdated == 1
