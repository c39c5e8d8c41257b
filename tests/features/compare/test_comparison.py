# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What is compared with what."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.features.compare.facts.comparison import ModelComparison, compare, verdict
from model_analyzer.results.change import ChangeVerdict
from model_analyzer.results.ranking import Ranking
from tests.unit.builders import measurement, ranking, record, variant

TAGS = ("perf_throughput", "perf_latency_p99")
LOADS = (1, 2, 4, 8)


def size(number: int, *, files: str = "files") -> ModelVariant:
    return variant(f"m_config_{number}", files=files, max_batch_size=2**number)


def run(
    seed: int,
    *,
    faster: float = 1,
    noise: float = 0.01,
    files: str = "files",
    variants: Sequence[int] = (0, 1, 2),
) -> Ranking:
    """Three variants under four loads, measured in three windows each."""
    random = Random(seed)
    records: list[TrialRecord] = []
    for number in variants:
        for load in LOADS:
            true = 100 * (number + 1) * load * faster
            windows = [true * random.gauss(1, noise) for _ in range(3)]
            latency = 1000 * load / true * random.gauss(1, noise)
            outcome = measurement(sum(windows) / 3, latency, windows=windows)
            records.append(record(size(number, files=files), outcome, concurrency=load))
    return ranking(*records)


def best_verdicts(of: ModelComparison) -> list[ChangeVerdict]:
    assert of.best is not None
    return [verdict(tag, of.best.changes[tag]) for tag in TAGS]


def test_a_slower_model_is_worse_by_every_metric() -> None:
    comparison = compare(run(1), run(2, faster=0.85), TAGS)

    assert best_verdicts(comparison) == [ChangeVerdict.WORSE, ChangeVerdict.WORSE]
    assert [verdict(tag, comparison.overall[tag]) for tag in TAGS] == [
        ChangeVerdict.WORSE,
        ChangeVerdict.WORSE,
    ]
    assert comparison.overall["perf_throughput"].percent == pytest.approx(-15, abs=1)
    assert len(comparison.trials) == 12


def test_an_unchanged_model_differs_in_one_case_of_twenty() -> None:
    comparisons = [compare(run(100 + seed), run(200 + seed), TAGS) for seed in range(30)]

    best = [judgement for of in comparisons for judgement in best_verdicts(of)]
    overall = [verdict(tag, of.overall[tag]) for of in comparisons for tag in TAGS]
    assert best.count(ChangeVerdict.SAME) >= 54
    assert overall.count(ChangeVerdict.SAME) >= 54


def test_trials_are_common_even_if_files_differ() -> None:
    """It is for changes of the model that people compare."""
    comparison = compare(run(1), run(2, files="others", variants=(1, 2)), TAGS)

    assert {pair.new.trial.variants for pair in comparison.trials} == {"m_config_1", "m_config_2"}
    assert all(pair.base.trial.loads == pair.new.trial.loads for pair in comparison.trials)


def test_the_name_of_a_variant_does_not_matter_but_its_configuration() -> None:
    base = ranking(record(variant("m_config_7", max_batch_size=1), measurement(1)))
    new = ranking(
        record(variant("m_config_0", max_batch_size=1), measurement(2)),
        record(variant("m_config_7", max_batch_size=9), measurement(3)),
    )
    (pair,) = compare(base, new, TAGS).trials

    assert pair.new.trial.variants == "m_config_0"


def test_without_common_trials_only_throughput_can_be_judged() -> None:
    comparison = compare(run(1, variants=(0,)), run(2, variants=(1,)), TAGS)

    assert comparison.trials == ()
    assert best_verdicts(comparison) == [ChangeVerdict.BETTER, ChangeVerdict.UNKNOWN]


def test_measurements_taken_over_from_the_base_are_left_out() -> None:
    base = run(1)
    comparison = compare(base, base, TAGS)

    assert (comparison.trials, comparison.taken_over) == ((), 12)
    assert best_verdicts(comparison) == [ChangeVerdict.SAME, ChangeVerdict.SAME]
    assert comparison.overall["perf_throughput"].interval is None


def test_the_trial_that_got_worst_comes_first() -> None:
    variants = [size(number) for number in range(3)]
    base = ranking(*(record(changed, measurement(100, 1)) for changed in variants))
    new = ranking(
        *(
            record(changed, measurement(rate, 1))
            for changed, rate in zip(variants, (90, 70, 120), strict=True)
        )
    )

    shown = compare(base, new, TAGS).trials
    assert [pair.new.measurement.value("perf_throughput") for pair in shown] == [70, 90, 120]
    shown = compare(new, base, ["perf_latency_p99"]).trials
    assert len(shown) == 3


def test_the_windows_of_one_measurement_do_not_hide_the_noise_between_runs() -> None:
    """Windows that agree to a thousandth, and runs that are apart by a tenth."""
    random = Random(5)

    def noisy() -> Ranking:
        records = []
        for number in range(3):
            for load in LOADS:
                rate = 100 * random.gauss(1, 0.1)
                windows = [rate * random.gauss(1, 0.001) for _ in range(3)]
                records.append(
                    record(size(number), measurement(rate, windows=windows), concurrency=load)
                )
        return ranking(*records)

    comparison = compare(noisy(), noisy(), ["perf_throughput"])
    judged = [
        verdict("perf_throughput", pair.changes["perf_throughput"]) for pair in comparison.trials
    ]
    assert judged.count(ChangeVerdict.UNKNOWN) >= 11
