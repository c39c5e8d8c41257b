# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Language models: times of tokens, from what perf_analyzer exports of every response."""

from __future__ import annotations

import json

import pytest

from model_analyzer.state.checkpoint import load
from tests.sizes import small_and_full

ONE = ("--run-config-search-disable",)


def tokens(scene) -> dict[str, float]:
    """The values of the only measurement."""
    profile = load(scene.directory / "checkpoints").profile
    (record,) = profile.measured
    return dict(record.measurement.models[0].values)


@small_and_full("model_type", "LLM", "llm")
def test_times_and_rates_of_tokens_are_what_the_model_sleeps(scene, model_type: str) -> None:
    """30 ms to the first of eight words and 5 ms to each other, 1 ms more for a second stream.

    A model sleeps at least as long, and on a busy machine longer: bounds from above come from the
    other metrics of the same requests, not from a clock.
    """
    status, output = scene.profile(
        *ONE, "-c", "2",
        model_type=model_type,
        profile_models=["sim_llm"],
        perf_analyzer_flags={**scene.config["perf_analyzer_flags"], "measurement-interval": 500},
    )  # fmt: skip

    assert status == 0, output
    values = tokens(scene)
    first, between = values["time_to_first_token_avg"], values["inter_token_latency_avg"]
    assert values["time_to_first_token_min"] >= 30
    assert values["inter_token_latency_p50"] >= 5
    # what is wrong is so by a factor of two and more; windows that differ, by less
    assert first + 7 * between == pytest.approx(values["perf_latency_avg"], rel=0.4)
    # two streams, eight words each
    assert values["output_token_throughput"] == pytest.approx(
        2 * 8 / (first + 7 * between) * 1000, rel=0.4
    )
    assert values["output_token_throughput"] == pytest.approx(
        8 * values["perf_throughput"], rel=0.4
    )
    header = (scene.directory / "results" / "metrics-model-inference.csv").read_text()
    assert header.splitlines()[0].endswith(
        "p99 Inter Token Latency (ms),p99 Time To First Token (ms),"
        "Output Token Throughput (tokens/sec)"
    )


@pytest.mark.slow
def test_variants_are_ranked_by_what_users_of_language_models_wish(scene) -> None:
    status, output = scene.profile(
        *ONE, "-c", "1",
        model_type="LLM",
        profile_models={
            "sim_llm": {
                "objectives": ["time_to_first_token_p90"],
                "constraints": {"inter_token_latency_avg": {"max": 12}},
                "model_config_parameters": {
                    "parameters": {
                        "first_ms": {"string_value": ["5", "10"]},
                        "next_ms": {"string_value": ["4", "20"]},
                    }
                },
            }
        },
    )  # fmt: skip

    assert status == 0, output
    satisfies = {row[3]: row[6] for row in scene.rows}
    assert sorted(satisfies.values()) == ["No", "No", "Yes", "Yes", "Yes"]
    best = (scene.directory / "best" / "sim_llm" / "config.pbtxt").read_text()
    assert 'string_value: "5"' in best
    assert 'string_value: "4"' in best


@pytest.mark.slow
def test_a_response_that_says_how_many_tokens_it_holds_is_believed(scene) -> None:
    """And the empty one that closes a stream holds none."""
    config = scene.models / "sim_llm" / "config.pbtxt"
    text = config.read_text()
    for key, old, new in (("closing", 0, 1), ("tokens", 1, 3), ("next_ms", 5, 12)):
        text = text.replace(
            f'"{key}" value: {{ string_value: "{old}"', f'"{key}" value: {{ string_value: "{new}"'
        )
    config.write_text(text)
    data = {"data": [{"PROMPT": ["tell me"], "return_num_output_tokens": [True]}]}
    (scene.directory / "in.json").write_text(json.dumps(data))

    status, output = scene.profile(
        *ONE, "-c", "1",
        model_type="LLM",
        profile_models=["sim_llm"],
        perf_analyzer_flags={
            **scene.config["perf_analyzer_flags"],
            "measurement-interval": 400,
            "input-data": "in.json",
        },
    )  # fmt: skip

    assert status == 0, output
    values = tokens(scene)
    first, word = values["time_to_first_token_avg"], 3 * values["inter_token_latency_avg"]
    assert values["inter_token_latency_p50"] >= 4
    assert first + 7 * word == pytest.approx(values["perf_latency_avg"], rel=0.15)
    assert values["output_token_throughput"] == pytest.approx(
        24 * values["perf_throughput"], rel=0.25
    )


@pytest.mark.slow
def test_a_model_that_does_not_stream_has_times_to_its_only_answer(scene) -> None:
    status, output = scene.profile(*ONE, "-c", "1", model_type="LLM", profile_models=["sim_gpu"])

    assert status == 0, output
    values = tokens(scene)
    assert values["time_to_first_token_avg"] == pytest.approx(values["perf_latency_avg"], rel=0.2)
    assert "inter_token_latency_avg" not in values


@pytest.mark.slow
def test_without_genai_perf_one_line_says_where_the_metrics_come_from(scene) -> None:
    status, output = scene.profile(
        *ONE, "-c", "1",
        model_type="LLM",
        genai_perf_flags={"backend": "vllm"},
        profile_models=["sim_llm"],
    )  # fmt: skip

    assert status == 0, output
    assert "genai-perf is not installed: token metrics come from perf_analyzer" in output
    assert tokens(scene)["time_to_first_token_avg"] > 0


@pytest.mark.slow
def test_trials_without_tokens_are_measured_again_for_tokens(scene) -> None:
    arguments = (*ONE, "-c", "1")

    scene.profile(*arguments, profile_models=["sim_llm"])
    status, output = scene.profile(*arguments, model_type="LLM", profile_models=["sim_llm"])

    assert status == 0, output
    assert "Profiling sim_llm_config_default" in output
    # the earlier measurement, without tokens, stays in the checkpoint and in the table
    assert sorted("None" in row for row in scene.rows) == [False, True]
