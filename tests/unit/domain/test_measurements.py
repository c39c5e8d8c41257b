# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The value of a metric over everything that a trial measured; packed rows of values behave like
read-only dictionaries.

Which times of the server follow one another.
"""

from __future__ import annotations

import pickle
from array import array
from typing import Any

import pytest

from model_analyzer.domain.measurements import Columns, ValueRow, ValueTable, best_of
from model_analyzer.domain.models import ModelVariant
from model_analyzer.noise.laws import add_up, longest_path
from tests.unit.builders import measurement, together, variant

TWO_GPUS = {
    "GPU-a": {"gpu_used_memory": 100.0, "gpu_utilization": 20.0},
    "GPU-b": {"gpu_used_memory": 300.0, "gpu_utilization": 60.0},
}


def test_the_value_of_one_model_is_its_own() -> None:
    assert measurement(184.5).value("perf_throughput") == 184.5


def test_throughput_of_several_models_adds_up_and_latency_is_averaged() -> None:
    both = together(
        {"perf_throughput": 184.5, "perf_latency_p99": 23.9},
        {"perf_throughput": 236.5, "perf_latency_p99": 17.5},
    )
    assert both.value("perf_throughput") == 421.0
    assert both.value("perf_latency_p99") == pytest.approx(20.7)
    assert both.model_value(1, "perf_throughput") == 236.5


def test_a_model_without_the_value_takes_no_part_in_the_average() -> None:
    some = together({"perf_latency_p99": 8.0}, {})
    assert some.value("perf_latency_p99") == 8.0
    assert some.model_value(1, "perf_latency_p99") is None


def test_memory_adds_up_over_gpus_and_utilization_is_averaged() -> None:
    on_gpus = measurement(gpus=TWO_GPUS)
    assert on_gpus.value("gpu_used_memory") == 400
    assert on_gpus.value("gpu_utilization") == 40


def test_a_gpu_without_the_value_takes_no_part() -> None:
    some = measurement(gpus={**TWO_GPUS, "GPU-c": {}})
    assert some.value("gpu_utilization") == 40


def test_values_of_devices_and_host_are_those_of_every_model() -> None:
    measured = measurement(gpus=TWO_GPUS, host={"cpu_used_ram": 512.0})
    assert measured.model_value(0, "gpu_used_memory") == 400
    assert measured.model_value(0, "cpu_used_ram") == measured.value("cpu_used_ram") == 512


@pytest.mark.parametrize(
    "tag",
    [
        "perf_throughput", "perf_latency", "perf_latency_p99", "gpu_used_memory", "cpu_used_ram",
        "output_token_throughput",
    ],
)  # fmt: skip
def test_a_column_has_the_value_of_each_measurement(tag: str) -> None:
    alike = [measurement(n, 10 + n, host={"cpu_used_ram": 5.0 + n}) for n in range(1, 4)]
    several = together({"perf_throughput": 1.5, "perf_latency_p99": 8.0}, {"perf_throughput": 2.0})
    odd = [*alike, several, measurement(gpus=TWO_GPUS), measurement(cpu_used_ram=7.0)]
    for measurements in ([], alike, odd):
        column = Columns(measurements).of(tag)
        assert list(column) == [run.value(tag) for run in measurements]


def test_columns_have_the_tags_of_all_measured_metrics() -> None:
    columns = Columns(
        [measurement(1), measurement(gpus=TWO_GPUS), measurement(host={"cpu_used_ram": 1.0})]
    )
    assert columns.tags == ["perf_throughput", "gpu_used_memory", "gpu_utilization", "cpu_used_ram"]


@pytest.mark.parametrize("tag", ["perf_throughput", "gpu_used_memory", "cpu_used_ram"])
def test_an_unmeasured_metric_has_no_value(tag: str) -> None:
    assert measurement().value(tag) is None
    assert measurement().model_value(0, tag) is None


def test_a_measured_zero_is_a_value() -> None:
    assert measurement(gpus={"GPU-a": {"gpu_utilization": 0.0}}).value("gpu_utilization") == 0
    assert measurement(0.0).value("perf_throughput") == 0


def test_the_old_name_of_latency_gives_p99() -> None:
    assert measurement(p99=4.0).value("perf_latency") == 4
    assert measurement(p99=4.0).model_value(0, "perf_latency") == 4


def test_the_best_value_follows_the_direction_of_the_metric() -> None:
    several = [1.0, 3.0, 2.0]

    assert best_of(several, "perf_throughput") == 3.0
    assert best_of(several, "perf_latency_p99") == 1.0
    assert best_of(several, "perf_latency") == 1.0
    assert best_of([], "perf_throughput") is None


VALUES = {"a": 1.5, "b": -0.1}


def row(**values: float) -> ValueRow:
    return ValueRow(tuple(values), array("d", values.values()))


def test_a_row_is_equal_to_a_dictionary() -> None:
    packed = row(**VALUES)
    assert packed == VALUES
    assert packed == VALUES
    assert packed != {"a": 1.5}
    assert dict(packed) == {**packed} == VALUES
    assert list(packed.items()) == list(VALUES.items())


def test_a_name_may_be_missing() -> None:
    packed = row(**VALUES)
    assert "c" not in packed
    assert packed.get("c") is None
    assert packed.get("c", 2.0) == 2.0
    with pytest.raises(KeyError):
        packed["c"]


def test_a_row_can_be_sent_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(row(**VALUES))) == VALUES


@pytest.mark.parametrize(
    "rows",
    [
        [row(a=1.0, b=2.0), row(a=3.0, b=4.0)],
        [row(a=1.0, b=2.0), row(b=4.0, a=3.0)],
        [row(a=1.0, b=2.0), {"a": 3.0, "b": 4.0}],
        [{"b": 2.0}, {"b": 4.0}],
    ],
)
def test_a_column_has_the_value_of_each_row(rows: list[ValueRow]) -> None:
    assert ValueTable(rows).column("b") == [2.0, 4.0]


def test_a_column_that_a_row_lacks_is_refused() -> None:
    for rows in ([row(a=1.0)], [row(a=1.0), row(b=1.0)], [{"a": 1.0}]):
        with pytest.raises(KeyError):
            ValueTable(rows).column("b")


def test_a_table_may_be_empty() -> None:
    assert ValueTable([]).column("a") == []


TIMES = {"a": 1.0, "b": 5.0, "c": 3.0, "d": 2.0}


def part(model: str, **config: Any) -> ModelVariant:
    return variant(f"{model}_config_0", model=model, **config)


def step(model: str, inputs: str, outputs: str) -> dict[str, Any]:
    return {
        "model_name": model,
        "input_map": {f"IN{tensor}": tensor for tensor in inputs},
        "output_map": {f"OUT{tensor}": tensor for tensor in outputs},
    }


def ensemble(*steps: dict[str, Any], parts: str = "abcd", model: str = "m") -> ModelVariant:
    config: dict[str, Any] = {"ensemble_scheduling": {"step": list(steps)}}
    return (
        part(model, **config)
        if not parts
        else variant(f"{model}_config_0", model=model, composing=[*map(part, parts)], **config)
    )


def path(of: ModelVariant) -> str:
    return "".join(each.model for each in longest_path(of, lambda part: TIMES[part.model]))


CHAIN = ensemble(step("a", "X", "Y"), step("b", "Y", "Z"))
DIAMOND = ensemble(
    step("d", "UV", "Z"), step("a", "X", "Y"), step("b", "Y", "U"), step("c", "Y", "V")
)


def test_a_chain_adds_up() -> None:
    assert add_up(CHAIN)
    assert path(CHAIN) == "ab"


def test_branches_run_at_the_same_time() -> None:
    assert not add_up(DIAMOND)
    assert path(DIAMOND) == "abd"


def test_a_step_that_is_an_ensemble_stands_for_its_path() -> None:
    config: dict[str, Any] = {
        "ensemble_scheduling": {"step": [step("m", "X", "Z"), step("a", "Z", "W")]}
    }
    outer = variant("o_config_0", model="o", composing=[DIAMOND, part("a")], **config)
    assert path(outer) == "abda"
    assert not add_up(outer)
    of_chain = variant("o_config_0", model="o", composing=[CHAIN, part("a")], **config)
    assert path(of_chain) == "aba"
    assert add_up(of_chain)


def test_a_model_that_is_called_twice_counts_twice() -> None:
    assert path(ensemble(step("a", "X", "Y"), step("a", "Y", "Z"))) == "aa"


@pytest.mark.parametrize(
    "config",
    [{"model_transaction_policy": {"decoupled": True}}, {"response_cache": {"enable": True}}],
)
def test_a_model_that_answers_otherwise_does_not_add_up(config: dict[str, Any]) -> None:
    assert not add_up(variant(**config))
    assert add_up(variant())


def test_invalid_ensembles_do_not_hang() -> None:
    assert path(ensemble(step("a", "Z", "Y"), step("b", "Y", "Z"))) in ("ab", "ba")
    assert path(ensemble(step("unknown", "X", "Y"), step("a", "Y", "Z"), parts="a")) == "a"
    assert path(ensemble()) == ""
