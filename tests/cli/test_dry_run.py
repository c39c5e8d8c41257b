# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`profile --dry-run` on programs that would tell if they were started."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.phrases import ONLY_A_SERVER, too_large_batch


@pytest.fixture(autouse=True)
def in_rounds(setting) -> None:
    """As without any option: a plan has to count what confirms the best, too."""
    setting.config["measurement"] = "auto"


def files(directory: Path) -> set[Path]:
    return {path for path in directory.rglob("*") if path.name != "config.yaml"}


def planned(setting, **changes: Any) -> Any:
    """The JSON of a dry run."""
    output = setting.succeeds("--dry-run", "--json", **changes)
    return json.loads(output)


def test_nothing_is_started_and_nothing_is_written(setting, pretend, tmp_path: Path) -> None:
    before = files(tmp_path)

    output = setting.succeeds("--dry-run")

    assert pretend.server_calls == []
    assert pretend.launches == []
    assert files(tmp_path) == before
    assert "m: brute search" in output
    assert "varies m max_batch_size: 1, 2" in output
    assert "measurements: at most 10, fewer where throughput stops growing, plus at most" in output
    assert "at most 12 to confirm the best" in output
    assert "m_config_3 (2:CPU x 2)  " in output


def test_what_is_told_is_what_is_done(setting, pretend) -> None:
    setting.config["perf_analyzer_path"] = str(
        pretend.perf_analyzer(*[{"throughput": 100.0 * 1.5**n} for n in range(20)])
    )
    plan = planned(setting)["subjects"][0]

    output = setting.succeeds()

    done = [
        line.rpartition("Profiling ")[2] for line in output.splitlines() if "Profiling m" in line
    ]
    names = [
        f"{workload['variant']}: concurrency={workload['concurrency']}"
        for (workload,) in plan["trials"]
    ]
    assert names == done[: len(names)]
    assert len(done) <= plan["most_measurements"]  # the best are confirmed
    loads = [call for call in pretend.server_calls if call.startswith("load")]
    starts = [call for call in pretend.server_calls if call.startswith("start")]
    assert plan["loads"] >= len(loads)
    assert plan["server_starts"] == len(starts)


def test_programs_read_all_of_it(setting) -> None:
    document = planned(
        setting,
        latency_budget=50,
        perf_analyzer_flags={"measurement-mode": "time_windows", "measurement-interval": 2000},
    )

    (plan,) = document["subjects"]
    assert plan["models"] == ["m"]
    assert plan["mode"] == "brute"
    assert plan["size"] == 10
    assert plan["variants"] == 5
    assert plan["objectives"] == {"m": {"perf_throughput": 10}}
    assert plan["constraints"] == {"m": {"perf_latency_p99": {"min": None, "max": 50}}}
    assert plan["seconds_per_measurement"] == 6.5
    # the measurements with the most refinement, the loads and one start
    seconds = plan["most_measurements"] * 6.5 + plan["loads"] * 1 + 3
    assert abs(plan["minutes"] - seconds / 60) <= 0.1
    assert document["minutes"] == plan["minutes"]
    assert abs(plan["minutes_low"] - seconds / 180) <= 0.1  # a search may end early
    assert abs(plan["minutes_high"] - seconds / 30) <= 0.1  # or measure again what is not stable
    assert document["minutes_high"] == plan["minutes_high"]
    assert document["assumptions"]["windows_per_measurement"] == 3


def test_what_nobody_could_list_is_told_in_numbers(setting) -> None:
    output = setting.succeeds("--dry-run", run_config_search_max_instance_count=10**9)

    (counts,) = [line for line in output.splitlines() if "m instance_count:" in line]
    assert counts.endswith(" 13, 14, …")
    assert "too many to list" in output
    assert "  space: 4,000,000,002 combinations" in output


def test_a_search_that_decides_as_it_goes_says_so(setting) -> None:
    output = setting.succeeds("--dry-run", run_config_search_mode="quick")

    assert "quick search" in output
    assert "chosen during the search" in output
    plan = planned(setting, run_config_search_mode="quick")["subjects"][0]
    assert plan["trials"] is None
    assert plan["size"] == 4


def test_a_budget_bounds_what_is_told(setting) -> None:
    adaptive = {
        "run_config_search_mode": "adaptive",
        "perf_analyzer_flags": {"measurement-mode": "time_windows", "measurement-interval": 5000},
    }
    (whole,) = planned(setting, **adaptive)["subjects"]
    assert whole["most_measurements"] == 12

    document = planned(setting, budget="1m30s", **adaptive)

    (plan,) = document["subjects"]
    assert (plan["most_measurements"], plan["variants"], plan["loads"]) == (5, 5, 5)  # of 15.5 s
    assert plan["minutes"] == document["minutes"] == 1.5
    _, output = setting.profile("--dry-run", budget="1m30s", **adaptive)
    assert "measurements: at most 5:" in output
    assert "time: roughly 0.5 to 1.5 minutes" in output


def test_a_budget_that_is_not_needed_changes_nothing(setting) -> None:
    adaptive = {"run_config_search_mode": "adaptive"}

    assert planned(setting, budget="1h", **adaptive) == planned(setting, **adaptive)


def test_the_first_is_measured_whatever_the_budget(setting) -> None:
    document = planned(setting, budget=0.001, run_config_search_mode="adaptive")

    assert document["subjects"][0]["most_measurements"] == 1
    assert document["minutes"] == 0.1


def test_rounds_take_less_time_than_windows(setting) -> None:
    planned_s = {
        measurement: planned(setting, measurement=measurement)["subjects"][0]
        for measurement in ("auto", "perf_analyzer")
    }

    assert planned_s["auto"]["seconds_per_measurement"] == pytest.approx(1.58)
    assert planned_s["perf_analyzer"]["seconds_per_measurement"] == 3.5
    _, output = setting.profile("--dry-run", run_config_search_mode="quick", measurement="auto")
    assert "time: about 1.6 s for each measurement" in output


def test_one_of_a_thing_is_no_plural(setting) -> None:
    only = {"run_config_search_disable": True, "concurrency": 1}
    intervals = {"measurement-mode": "time_windows", "measurement-interval": 18500}

    output = setting.succeeds("--dry-run", perf_analyzer_flags=intervals, **only)

    assert "  space: 1 combination\n" in output
    assert "loaded 1 time\n" in output
    # exactly one measurement: it takes its windows at least
    assert "time: roughly 1 to 2 minutes\n" in output


def test_a_model_that_only_a_server_can_complete_is_named(setting, pretend, tmp_path: Path) -> None:
    for path in tmp_path.rglob("m/config.pbtxt"):
        path.unlink()

    output = setting.succeeds("--dry-run")

    assert f"m: cannot be planned: {ONLY_A_SERVER} m" in output
    assert pretend.server_calls == []
    document = planned(setting)
    assert "complete" in document["subjects"][0]["unknown"]
    assert document["minutes"] is document["minutes_low"] is document["minutes_high"] is None


def test_servers_are_counted_as_they_are_wanted(setting) -> None:
    of_each = {"server_restart": "variant", "measurement": "perf_analyzer"}
    assert planned(setting, **of_each)["subjects"][0]["server_starts"] == 5
    in_turn = planned(setting, server_restart="variant")["subjects"][0]
    assert in_turn["server_starts"] == 5 + 12  # the best are confirmed
    remote = planned(setting, triton_launch_mode="remote")["subjects"][0]
    assert remote["server_starts"] == 0


def test_what_is_wrong_is_said_as_in_a_run(setting) -> None:
    output = setting.fails(2, "--dry-run", profile_models="n")

    assert "no model 'n'" in output


def test_all_that_is_wrong_is_said_at_once(setting, pretend, make_model) -> None:
    make_model("small", max_batch_size=2, kind="KIND_GPU")
    models = {
        "nn": None,
        "small": {"parameters": {"batch_sizes": 4}, "model_config_parameters": {"backend": "x"}},
    }
    for arguments in (["--dry-run"], []):
        output = setting.fails(2, *arguments, profile_models=models)

        first, second, third = output.splitlines()[-3:]
        assert "config.yaml:3:3: no model 'nn' in " in first
        assert too_large_batch(4, largest=2) in second
        assert "model small: all its instances are KIND_GPU, and this machine has no GPU" in third
    assert pretend.server_calls == []


def test_the_checkpoint_that_a_run_would_resume_from_is_named(setting, pretend) -> None:
    assert planned(setting)["resumes_from"] is None
    assert "Resumes from" not in setting.profile("--dry-run")[1]
    setting.succeeds("--run-config-search-disable", "-c", "1")

    for which in ((), ("--resume-from", "0"), ("--checkpoint-load-file", "checkpoints/0.ckpt")):
        output = setting.succeeds("--dry-run", *which)

        assert "checkpoints/0.ckpt with 1 measurement: what is among them" in output
    assert "Resumes from" not in setting.profile("--dry-run", "--no-checkpoint")[1]
    resumed = planned(setting)["resumes_from"]
    assert (resumed["measurements"], resumed["failures"]) == (1, 0)


@pytest.mark.parametrize(
    ("which", "problem"),
    [
        (("--resume-from", "7"), "no checkpoint '7': there is none"),
        (("--checkpoint-load-file", "nowhere.ckpt"), "nowhere.ckpt: cannot be read"),
        (("--checkpoint-load-directory", "nowhere"), "nowhere: no checkpoint found"),
    ],
)
def test_a_checkpoint_that_is_missing_is_told_as_in_a_run(
    setting, pretend, which: tuple[str, str], problem: str
) -> None:
    for arguments in (("--dry-run",), ()):
        output = setting.fails(2, *arguments, *which)

        assert problem in output.splitlines()[-1]
    assert pretend.launches == []


def test_json_is_for_a_dry_run(setting) -> None:
    output = setting.fails(2, "--json")

    assert "--json needs --dry-run" in output


def test_of_several_models_each_is_told_and_all_together(setting, make_model, pretend) -> None:
    make_model("n")

    document = planned(setting, profile_models={"m": {"cpu_only": True}, "n": {"cpu_only": True}})

    assert [subject["models"] for subject in document["subjects"]] == [["m"], ["n"]]
    minutes = [subject["minutes"] for subject in document["subjects"]]
    assert abs(document["minutes"] - sum(minutes)) <= 0.2
    together = planned(
        setting,
        profile_models={"m": {"cpu_only": True}, "n": {"cpu_only": True}},
        run_config_profile_models_concurrently_enable=True,
    )
    assert [subject["models"] for subject in together["subjects"]] == [["m", "n"]]
    assert together["subjects"][0]["mode"] == "quick"
    assert pretend.server_calls == []


def test_the_requests_of_a_log_are_told_with_their_unit(setting) -> None:
    """Times with fractions of a trace that has the same columns as one in milliseconds."""
    text = (
        '{"timestamp": %.3f, "input_length": 64, "output_length": 8, "turn": 1, "hash_ids": [%d]}'
    )
    lines = [text % (0.039 + number / 10, number) for number in range(61)]
    (setting.directory / "log.jsonl").write_text("\n".join(lines))
    replay = {
        "load": {"replay": "log.jsonl"},
        "run_config_search_disable": True,
        "run_config_search_max_concurrency": None,
    }
    expected = (
        "log.jsonl: 61 requests in 6.00 s (10.0/s, at most 10 in a second),"
        " times in 'timestamp' read as seconds, as in Bailian's traces"
    )

    assert f"  replays {expected}\n" in setting.profile("--dry-run", **replay)[1]
    (subject,) = planned(setting, **replay)["subjects"]
    assert subject["replays"] == {"m": expected}

    replay["load"] = {"replay": "log.jsonl", "unit": "ms", "speed": 0.001}
    assert "61 requests in 6.00 s" in setting.profile("--dry-run", **replay)[1]


PREFERS_64 = "dynamic_batching { preferred_batch_size: [ 16, 64 ] }"


def test_variants_that_the_server_would_refuse_are_counted(setting, make_model, run) -> None:
    make_model("wide", max_batch_size=64, extra=PREFERS_64)
    bounds = {
        "profile_models": {"wide": {"cpu_only": True}},
        "run_config_search_max_instance_count": 4,
        "run_config_search_max_model_batch_size": 32,
        "run_config_search_max_concurrency": 1,
    }
    expected = (
        "wide: 24 of 24 variants left out, because the server would refuse them:"
        " preferred_batch_size 64 is above max_batch_size 1, 2, 4, 8, 16, 32;"
        " raise run_config_search_max_model_batch_size"
    )

    for arguments in (("--dry-run",), ()):
        output = setting.succeeds(*arguments, **bounds)
        assert expected in output
    assert output.count(expected) == 1  # before the run; a remark of its answer, which is counted
    status, _, error = run("config", "validate", "config.yaml")
    assert status == 0
    assert expected in error


@pytest.mark.parametrize("arguments", [("--dry-run",), ()])
def test_an_impossible_rate_limit_is_known_before_the_run(
    setting, make_model, arguments: tuple[str, ...]
) -> None:
    limiter = 'rate_limiter { resources [{ name: "R1" count: 1 }] }'
    make_model("limited", extra=f"instance_group [{{ count: 1 kind: KIND_CPU {limiter} }}]")
    options = {
        "profile_models": {"limited": {"cpu_only": True}},
        "run_config_search_disable": True,
        "triton_server_flags": {"rate-limit": "execution_count", "rate-limit-resource": "R1:0"},
    }

    output = setting.fails(2, *arguments, **options)

    assert "limited needs 1 of the resource R1, but rate-limit-resource has 0" in output


@pytest.mark.parametrize("arguments", [("--dry-run",), ()])
def test_a_model_that_the_server_would_refuse_as_it_is(
    setting, make_model, pretend, arguments: tuple[str, ...]
) -> None:
    make_model("narrow", max_batch_size=32, extra=PREFERS_64)

    output = setting.fails(2, *arguments, profile_models=["narrow"], run_config_search_disable=True)

    assert (
        "narrow: the server would refuse its own configuration: preferred_batch_size 64 is above"
        " max_batch_size 32 (correct its config.pbtxt)"
    ) in output
    assert pretend.server_calls == []


def test_a_log_without_a_certain_unit_is_refused(setting) -> None:
    (setting.directory / "log.csv").write_text("time\n0\n5\n10\n")

    output = setting.fails(2, "--dry-run", load={"replay": "log.csv"})

    assert "log.csv: does not say the unit of its times" in output
    assert "(say unit: s or unit: ms)" in output
