# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A search of ours finds the answers of a real upstream run with the same configuration."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import model_analyzer
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import VariantNames, freeze
from model_analyzer.domain.trials import LoadKind, ServerSetup, Trial
from model_analyzer.runner.repository import ModelRepository
from model_analyzer.search.choose import choose
from model_analyzer.search.plan import SearchedModel, Subject
from model_analyzer.state.records import unverified_key
from tests.features.upstream.samples import read, read_changed, record_at
from tests.unit.builders import settings

STARTER = Path(model_analyzer.__file__).parent / "starter" / "model_repository"

PLAIN = """
profile_models:
  add_sub:
    cpu_only: true
    perf_analyzer_flags: {stability-percentage: 999, measurement-interval: 1000}
run_config_search_mode: brute
run_config_search_max_instance_count: 2
run_config_search_max_model_batch_size: 2
run_config_search_max_concurrency: 2
"""

WINDOWS = "stability-percentage: 999, measurement-interval: 500, measurement-mode: time_windows"

MANUAL = f"""
profile_models:
  add_sub:
    cpu_only: true
    perf_analyzer_flags: {{{WINDOWS}, percentile: 95}}
    parameters: {{batch_sizes: [1, 2], concurrency: [1, 4]}}
    model_config_parameters:
      instance_group: [[{{kind: KIND_CPU, count: [1]}}]]
      max_batch_size: [4]
      dynamic_batching: {{max_queue_delay_microseconds: [100], preferred_batch_size: [[2, 4]]}}
run_config_search_mode: brute
"""

RATES = f"""
profile_models:
  add_sub:
    cpu_only: true
    perf_analyzer_flags: {{{WINDOWS}, input-data: zero, shape: ["INPUT0:16", "INPUT1:16"]}}
run_config_search_mode: brute
run_config_search_disable: true
request_rate: [20, 40]
"""


def asked_and_answered(text: str, sample: str) -> tuple[list[str], dict[str, Trial]]:
    """The variants and loads of our search, each answered from the sample, and the sample's
    trials by their keys.
    """
    profile = read(sample).profile
    outcomes = {unverified_key(record.trial): record.outcome for record in profile.records}
    chosen = settings(text)
    (model,) = chosen.models
    searched = SearchedModel(facts=ModelRepository(STARTER).facts(model.name), settings=model)
    setup = ServerSetup(launch="docker", version="2.51.0", flags=freeze({"log-verbose": "1"}))
    names = VariantNames.known(profile.variants)
    search = choose(Subject(models=(searched,), setup=setup), chosen.search, names)
    asked = []
    while (trial := search.ask()) is not None:
        asked.append(str(trial))
        search.tell(trial, outcomes[unverified_key(trial)])
    return asked, {unverified_key(record.trial): record.trial for record in profile.records}


@pytest.mark.parametrize(
    ("text", "sample"), [(PLAIN, "plain"), (MANUAL, "manual"), (RATES, "request_rate")]
)
def test_every_question_is_answered_under_the_same_name(text: str, sample: str) -> None:
    asked, answered = asked_and_answered(text, sample)

    assert sorted(asked) == sorted(map(str, answered.values()))
    assert len(answered) == len(asked)


# -- what makes an unverified answer another one ---------------------------------------------------


def imported() -> Trial:
    return record_at(read("plain"), 0).trial


def verified(trial: Trial, **changes: Any) -> Trial:
    """The same trial as one of our runs would ask for it."""
    (work,) = trial.workloads
    variant = replace(work.variant, files="fingerprint")
    setup = replace(trial.setup, launch="local", version="2.60.0")
    work = replace(work, variant=variant, **changes)
    return replace(trial, workloads=(work,), setup=setup)


def test_files_and_versions_do_not_count() -> None:
    ours = verified(imported())

    assert unverified_key(ours) == unverified_key(imported())
    assert ours.key != imported().key
    assert (ours.is_unverified, imported().is_unverified) == (False, True)


@pytest.mark.parametrize(
    "flags",
    [
        {"measurement-mode": "count_windows"},
        {"measurement-request-count": "100"},
        {"metrics-url": "http://elsewhere:8002/metrics", "verbose": "true"},
        {"streaming": "false"},
    ],
)
def test_flags_without_effect_do_not_change_the_key(flags: dict[str, str]) -> None:
    (work,) = imported().workloads

    ours = verified(imported(), flags=freeze({**work.flags, **flags}))

    assert unverified_key(ours) == unverified_key(imported())


@pytest.mark.parametrize(
    "flags",
    [
        {"measurement-mode": "time_windows"},
        {"percentile": "95"},
        {"streaming": "true"},
        {"input-data": "data.json"},
        {"shape": ("A:1", "B:2")},
    ],
)
def test_flags_with_an_effect_change_the_key(flags: dict[str, Any]) -> None:
    (work,) = imported().workloads

    ours = verified(imported(), flags=freeze({**work.flags, **flags}))

    assert unverified_key(ours) != unverified_key(imported())


def test_a_flag_is_the_same_in_any_spelling() -> None:
    (work,) = imported().workloads

    def key(**flags: Any) -> str:
        return unverified_key(verified(imported(), flags=freeze({**work.flags, **flags})))

    assert key(streaming="True") == key(streaming="true")
    assert key(shape="A:1") == key(shape=("A:1",))
    assert key(percentile=95) == key(percentile="95")


def test_a_configuration_is_the_same_in_other_words() -> None:
    (work,) = imported().workloads
    spelled_out = freeze({**work.variant.config, "platform": "", "batch_input": []})

    ours = verified(imported())
    ours = replace(
        ours,
        workloads=(replace(work, variant=replace(work.variant, config=spelled_out, files="f")),),
    )

    assert unverified_key(ours) == unverified_key(imported())


def test_another_configuration_load_protocol_or_variable_is_another_trial() -> None:
    trial = imported()
    (work,) = trial.workloads
    config = freeze({**work.variant.config, "max_batch_size": 4})
    others = [
        replace(trial, workloads=(replace(work, variant=replace(work.variant, config=config)),)),
        replace(trial, workloads=(replace(work, load=replace(work.load, value=7)),)),
        replace(trial, workloads=(replace(work, load=replace(work.load, batch_size=2)),)),
        replace(
            trial, workloads=(replace(work, load=replace(work.load, kind=LoadKind.REQUEST_RATE)),)
        ),
        replace(trial, setup=replace(trial.setup, protocol="http")),
        replace(trial, setup=replace(trial.setup, launch="c_api")),
        replace(trial, setup=replace(trial.setup, environment={"LD_PRELOAD": "/lib/x.so"})),
        replace(trial, workloads=(work, work)),
    ]

    keys = {unverified_key(other) for other in others}

    assert len(keys) == len(others)
    assert unverified_key(trial) not in keys


def test_a_repetition_is_another_trial() -> None:
    trial = imported()

    assert unverified_key(replace(trial, repetition=1)) != unverified_key(trial)


def test_called_models_count_in_any_order() -> None:
    trial = record_at(read("ensemble"), -1).trial
    (work,) = trial.workloads

    def with_parts(*parts: Any) -> Trial:
        variant = replace(work.variant, composing=parts)
        return replace(trial, workloads=(replace(work, variant=variant),))

    first, second = work.variant.composing

    assert unverified_key(with_parts(second, first)) == unverified_key(trial)
    assert unverified_key(with_parts(first)) != unverified_key(trial)


def test_times_of_tokens_count_with_the_flags_of_genai_perf() -> None:
    def speak(document: dict[str, Any]) -> None:
        pair = document["ResultManager.results"]["_results"]["add_sub"]["add_sub_config_default"]
        measurement = next(iter(pair[1].values()))["_model_config_measurements"][0]
        measurement["_non_gpu_data"].append(["inter_token_latency_avg", {"_value": 5.0}])
        pair[0]["_genai_perf_config"]["_args"]["tokenizer"] = "small"

    trial = record_at(read_changed("plain", speak), 0).trial
    ours = verified(imported(), times_tokens=True, genai_perf=freeze({"tokenizer": "small"}))

    assert unverified_key(ours) == unverified_key(trial)
    assert unverified_key(trial) != unverified_key(imported())


def test_an_invalid_configuration_equals_no_other() -> None:
    (work,) = imported().workloads
    odd = replace(work.variant, config=freeze({"name": "add_sub", "no_such_field": 1}))

    assert odd.unverified_identity != work.variant.unverified_identity


def test_an_answer_from_upstream_has_a_notice() -> None:
    outcome = record_at(read("plain"), 0).outcome

    assert isinstance(outcome, Measurement)
    assert [notice.kind.value for notice in outcome.notices] == ["unverified"]
