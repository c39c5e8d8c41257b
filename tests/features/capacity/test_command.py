# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer capacity`: how many replicas serve a rate."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
import yaml

from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.features.capacity.capacity_text import capacity_schema
from tests.cli.conftest import error_of, output_of
from tests.features.capacity.replicas import DEFAULT, closed_load, open_load
from tests.unit.builders import failure
from tests.unit.state.samples import store

UNKNOWN = 1
USAGE = 2

LIMIT = ("--constraint", "perf_latency_p99<50")

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def capacity(run: Run, tmp_path: Path) -> Callable[..., Run]:
    """The command with the limit of p99, where these were measured."""

    def measured(*records: TrialRecord) -> Run:
        store(tmp_path / "checkpoints", records)
        return lambda *arguments: run("capacity", *LIMIT, *arguments)

    return measured


@pytest.fixture
def known(capacity: Callable[..., Run]) -> Run:
    return capacity(closed_load(2, 90), open_load(60, 12), open_load(80, 20), open_load(100, 200))


def test_headroom_and_nodes_change_the_number(known: Run) -> None:
    none = known("--rate", "500", "--headroom", "0%")[1]
    nodes = known("--rate", "500", "--replicas-per-node", "4")[1]

    assert none.startswith("6 replicas of m_config_1 serve 500 requests/s with p99 Latency")
    assert "on 2 nodes." in nodes
    assert "with 3 nodes, one node" in nodes


def test_programs_get_all_of_it(known: Run, run: Run) -> None:
    status, output, _ = known("--rate", "500", "--format", "json")

    document = json.loads(output)
    jsonschema.validate(document, capacity_schema())
    assert status == 0
    (hardware,) = document["hardware"]
    assert (hardware["kind"], document["cheapest"]) == ("no GPU", None)
    assert hardware["answer"]["replicas"] == 7
    assert [each["requests_per_s"] for each in hardware["replica"]["measured"]] == [60, 80, 100]
    assert json.loads(run("config", "schema", "--capacity")[1]) == capacity_schema()


def test_a_day_is_planned_from_a_trace(known: Run, tmp_path: Path) -> None:
    (tmp_path / "day.csv").write_text("time,rate\n0:00,100\n8:00,500\n16:00,200\n")

    output = output_of(known("--trace", "day.csv"))

    assert "7 replicas of m_config_1 serve 500 requests/s" in output
    assert "Over 24.0 hours, 7 replicas take 168 replica-hours; an autoscaler takes" in output
    rows = [line.split() for line in output.splitlines()]
    assert ["8:00", "500", "7", "7"] in rows
    document = json.loads(known("--trace", "day.csv", "--format", "json")[1])
    jsonschema.validate(document, capacity_schema())
    assert document["hardware"][0]["over_time"]["fixed_replica_hours"] == 168


def test_a_million_requests_of_a_trace_cost_what_the_trace_has(
    capacity: Callable[..., Run], tmp_path: Path
) -> None:
    """Most hours have fewer requests than that of the peak, but as many replicas."""
    (tmp_path / "prices.yaml").write_text("currency: USD\ndate: 2026-11-25\ngpus: {NVIDIA L4: 1}\n")
    (tmp_path / "day.csv").write_text("time,rate\n0:00,100\n8:00,500\n16:00,200\n")
    on_gpu = ServerSetup(devices=("NVIDIA L4",))
    known = capacity(
        *(
            each._replace(trial=replace(each.trial, setup=on_gpu))
            for each in (open_load(80, 20), open_load(100, 200))
        )
    )
    question = ("--trace", "day.csv", "--prices", "prices.yaml", "--format", "json")

    document = json.loads(known(*question)[1])

    jsonschema.validate(document, capacity_schema())
    (hardware,) = document["hardware"]
    day, cost = hardware["over_time"], hardware["cost"]
    assert day["requests"] == 8 * 3600 * 800
    assert (cost["per_hour"], day["fixed_cost"]) == ("7.00", "168.00")
    assert cost["per_million_requests"] == pytest.approx(168 / 23.04)
    assert 50 < float(day["autoscaled_cost"]) < 168


@pytest.mark.parametrize("form", ["hpa", "keda", "helm"])
def test_an_autoscaler_is_printed_alone(known: Run, form: str) -> None:
    status, output, error = known("--rate", "500", "--format", form)

    assert (status, error) == (0, "")
    assert "73.299" in output.replace("73299m", "73.299")
    assert yaml.safe_load(output)


def test_without_an_answer_no_autoscaler_is_printed(capacity: Callable[..., Run]) -> None:
    status, output, error = capacity(closed_load(1, 100))("--rate", "500", "--format", "hpa")

    assert (status, output) == (UNKNOWN, "")
    assert "The measurements do not tell" in error
    assert "Missing: m_config_1" in error


def test_a_limit_below_a_single_request_is_met_by_no_number_of_replicas(
    capacity: Callable[..., Run],
) -> None:
    closed = capacity(closed_load(1, 100, p99=10), closed_load(2, 200, p99=11))

    status, output, error = closed("--rate", "500", "--latency-budget", "5")

    assert (status, "Missing" in error) == (UNKNOWN, False)
    assert (
        "No number of replicas of m serves 500 requests/s with p99 Latency of at most 5 ms and 20 %"
        " headroom: p99 Latency of m_config_1 was 10.0 ms at best, even with one request in flight."
    ) in output


def test_without_an_answer_the_missing_measurement_is_named(capacity: Callable[..., Run]) -> None:
    closed = capacity(closed_load(1, 100), closed_load(2, 200, of=DEFAULT))

    status, output, error = closed("--rate", "500")

    assert status == UNKNOWN
    assert "The measurements do not tell how many replicas of m serve 500 requests/s" in output
    assert (
        "Missing: m_config_default under Poisson arrivals at 100, 140 and 170 requests/s (a fixed"
        " concurrency: a slow server gets fewer requests); --measure takes it"
    ) in error
    document = json.loads(closed("--rate", "500", "--format", "json")[1])
    jsonschema.validate(document, capacity_schema())
    (hardware,) = document["hardware"]
    assert hardware["answer"] is None
    assert hardware["missing"][0]["requests_per_s"] == [100, 140, 170]


def test_each_kind_of_hardware_has_its_answer(capacity: Callable[..., Run], tmp_path: Path) -> None:
    (tmp_path / "prices.yaml").write_text(
        "currency: USD\ndate: 2026-11-25\ngpus: {NVIDIA L4: 1, NVIDIA H100: 4}\n"
    )
    records = [
        each._replace(trial=replace(each.trial, setup=ServerSetup(devices=(name,))))
        for name, scale in (("NVIDIA L4", 1), ("NVIDIA H100", 5))
        for each in (open_load(80 * scale, 20), open_load(100 * scale, 200))
    ]
    both = capacity(*records)

    output = output_of(both("--rate", "500", "--prices", "prices.yaml"))

    assert "Cheapest: 1 x NVIDIA L4, at 7.00 USD an hour." in output
    assert "2 replicas of m_config_1 serve 500 requests/s" in output
    manifest = both("--rate", "500", "--prices", "prices.yaml", "--format", "keda")[1]
    assert 'threshold: "73.299"' in manifest
    error = error_of(both("--rate", "500", "--format", "keda"), USAGE)
    assert "--conditions: 2 kinds of hardware were measured: choose one" in error
    alone = both("--rate", "500", "--format", "keda", "--conditions", "2")[1]
    assert 'threshold: "366.' in alone


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--rate: give the rate that the replicas must serve, or a --trace of it"),
        (("--trace", "/dev/null"), "at least two rows"),
        (("--trace", "nowhere.csv"), "nowhere.csv: cannot be read"),
        (("--rate", "1", "--trace", "day.csv"), "--rate: not together with --trace"),
        (("--rate", "1e300"), "--rate: must be at most 1e+09"),
        (("--rate", "0"), "--rate: must be above 0"),
        (("--rate", "many"), "--rate: expected a number"),
        (("--rate", "1", "--headroom", "0.2"), "--headroom: expected a percentage such as 20%"),
        (("--rate", "1", "--headroom", "99999%"), "--headroom: expected a percentage such as"),
        (("--rate", "1", "--replicas-per-node", "0"), "--replicas-per-node: must be at least 1"),
        (("--rate", "1", "--variant", "m_config_9"), "m has no measurement of m_config_9"),
        (
            ("--rate", "1", "-o", "answer"),
            "-o: a table cannot be written to a file: choose --format",
        ),
        (("--rate", "1", "-m", "other"), "model 'other' was not measured"),
    ],
)
def test_a_wrong_question_is_named(
    known: Run, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "day.csv").write_text("0:00,100\n8:00,500\n")

    status, output, error = known(*arguments)

    assert (status, output) == (USAGE, "")
    assert message in error
    assert not (tmp_path / "answer").exists()


def test_a_variant_whose_model_died_now_and_then_is_named(capacity: Callable[..., Run]) -> None:
    alive = open_load(60, 12)
    again = replace(alive.trial, repetition=1)
    known = capacity(alive, TrialRecord(trial=again, outcome=failure("the model died")))

    status, output, error = known("--rate", "50")
    assert status == 0
    assert "serves 50 requests/s" in output or "serve 50 requests/s" in output
    assert "m_config_1 failed at 60 requests/sec: the model died; look at its log." in error


# ------------------------------------------------------------------------------------ --measure

# the pretend perf_analyzer says a p99 of 0.1 ms for each request per second, and of 10 ms for each
# request in flight: a single one would break the limit
BUSY = ("--concurrency", "2")
MEASURE = ("--rate", "1000", "--constraint", "perf_latency_p99<7", "--measure")


def measured_rates(output: str) -> list[int]:
    line = r"(?:Profiling m_\w+|Measuring m_\w+ again): request-rate-range=(\d+)"
    return [int(rate) for rate in re.findall(line, output)]


@pytest.mark.parametrize("how", ["auto", "perf_analyzer"])
def test_the_missing_measurements_are_taken(setting, pretend, how: str) -> None:
    """In rounds, however the run measures."""
    setting.succeeds(*BUSY)

    output = setting.succeeds(*MEASURE, command="capacity", measurement=how)

    # shares of the highest throughput; lower rates, since all of them break; and one between
    rates = measured_rates(output)
    assert [*dict.fromkeys(rates)] == [100, 140, 170, 40, 65, 77]
    # near the limit, a round does not tell
    assert {rate for rate in rates if rates.count(rate) > 1} <= {65, 77}
    assert "Missing" not in output
    assert "--request-intervals" in pretend.launches[-1]
    # what it told about a rate is what it answers
    told = dict(re.findall(r" at (\d+) requests/sec.*together: p99 Latency ([0-9.]+) ms", output))
    cells = [line.split() for line in output.split("Measured:")[1].splitlines()]
    rows = {float(row[0]): row for row in cells if row and row[0][0].isdigit()}
    assert {int(rate) for rate in told} == {*rates}
    assert all(float(rows[int(rate)][2]) == float(value) for rate, value in told.items())
    carried = re.search(r"One replica carries ([0-9.]+) requests/s", output)
    assert carried is not None
    assert 68 < float(carried[1]) < 72


def test_a_metric_that_the_machine_does_not_have_is_measured_for_only_once(
    setting, pretend
) -> None:
    setting.profile(*BUSY)
    setting.profile(*MEASURE, command="capacity")
    count = len(pretend.launches)
    limit = ("--constraint", "gpu_metered_power<500")

    output = setting.fails(UNKNOWN, "--rate", "1000", *limit, "--measure", command="capacity")

    assert "a constrained metric was not measured" in output
    assert "--measure takes it, if this machine has the metric" in output
    assert len(pretend.launches) == count + 6


def test_what_was_measured_is_kept_and_not_measured_again(setting, pretend) -> None:
    setting.profile(*BUSY)
    setting.profile(*MEASURE, command="capacity")
    count = len(pretend.launches)

    setting.succeeds(*MEASURE, command="capacity")

    assert len(pretend.launches) == count
    setting.succeeds("--metric", "perf_throughput", command="best")


def test_without_a_file_flags_say_how_to_measure(setting, run) -> None:
    setting.profile(*BUSY)
    flags = [
        part
        for key in ("model_repository", "triton_server_path", "perf_analyzer_path")
        for part in (f"--{key.replace('_', '-')}", setting.config[key])
    ]

    status, output, error = run("capacity", *MEASURE, *flags, env=dict(setting.variables))

    assert status == 0, error
    assert "One replica carries" in output
    assert measured_rates(error)


def test_a_time_limit_ends_the_measurements(setting) -> None:
    setting.profile(*BUSY)

    output = setting.fails(USAGE, *MEASURE, "--budget", "100ms", command="capacity")
    assert "--budget: expected a duration" in output

    _, output = setting.profile(*MEASURE, "--budget", "0.01s", command="capacity")
    assert measured_rates(output) == [100]
    assert "The time for measurements (0.01 s) is over: --budget gives more" in output


def test_what_is_not_certain_is_not_promised(capacity: Callable[..., Run], run: Run) -> None:
    """Four measurements of 53 to 162 ms, with a limit between: half of them keep it."""
    runs = [open_load(80, p99) for p99 in (53, 60, 148, 162)]
    again = [
        each._replace(trial=replace(each.trial, repetition=number))
        for number, each in enumerate(runs)
    ]
    capacity(*again)
    arguments = ("capacity", "--rate", "60", "--constraint", "perf_latency_p99<110")

    output = output_of(run(*arguments), UNKNOWN)

    assert output.startswith("Not certain: 1 replica of m_config_1 serves 60 requests/s with p99")
    assert "; --measure takes further measurements." in output
    assert "yes" not in output
    document = json.loads(run(*arguments, "--format", "json")[1])
    jsonschema.validate(document, capacity_schema())
    (hardware,) = document["hardware"]
    assert hardware["answer"]["is_certain"] is False
    assert [each["constraints_hold"] for each in hardware["replica"]["measured"]] == [None]


def test_a_resumed_profile_finds_its_search_as_it_was(setting, pretend) -> None:
    setting.profile("--search", "adaptive")
    setting.profile(*MEASURE, command="capacity")
    count = len(pretend.launches)

    output = setting.succeeds("--search", "adaptive")

    assert len(pretend.launches) == count
    assert "Different from the checkpoint" not in output


def test_a_changed_model_is_not_mixed_with_earlier_measurements(setting, make_model) -> None:
    setting.profile(*BUSY)
    config = setting.directory / "models" / "m" / "config.pbtxt"
    config.write_text(config.read_text().replace("max_batch_size: 8", "max_batch_size: 4"))

    output = setting.fails(1, *MEASURE, command="capacity")

    assert "m has changed since the checkpoint: run `model-analyzer profile` first" in output


def test_a_model_that_the_run_does_not_profile_cannot_be_measured(setting, make_model) -> None:
    setting.profile(*BUSY)
    make_model("n")

    output = setting.fails(USAGE, *MEASURE, command="capacity", profile_models="n")

    assert "--measure: the run does not profile m" in output


def test_a_chosen_checkpoint_is_not_added_to(setting) -> None:
    setting.profile(*BUSY)

    output = setting.fails(USAGE, "0", *MEASURE, command="capacity")

    assert "CHECKPOINT: --measure adds to the newest one" in output
