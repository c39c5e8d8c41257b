# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The adaptive search finds the best by metrics that follow the throughput, as by that itself."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from model_analyzer.domain.measurements import Measurement, ModelMeasurement
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.settings import AdaptiveSettings, SearchMode
from model_analyzer.domain.trials import Trial
from model_analyzer.search.choose import choose
from tests.sizes import small_and_full
from tests.unit.search.surfaces import (
    batch_limit,
    config,
    instances,
    latency_within,
    limits,
    load,
    sequence,
    subject,
)

LIMIT_MS = 34.2
# By instances of 1 to 4, batches of up to 16 and loads of 1 to 64, within the limit.
BEST = 720.0


def served(trial: Trial) -> tuple[float, float]:
    """Throughput and latency (ms): one execution at a time, of 11 ms and 0.7 ms for each request of
    its batch; further instances gain a little.
    """
    most = batch_limit(trial) if "dynamic_batching" in config(trial) else 1
    working = min(instances(trial), load(trial))
    others = working - 1
    together = max(1.0, min(most, load(trial) / instances(trial)))
    execution_ms = (11 + 0.7 * together) * (1 + 0.03 * others)
    rate = 1000 * together * (1 + 0.1 * others) / execution_ms
    return rate, 1100 * load(trial) / rate


def measured(trial: Trial) -> Measurement:
    rate, latency = served(trial)
    noisy = rate * Random(trial.key).gauss(1, 0.02)
    values = {
        "perf_throughput": noisy,
        "perf_latency_avg": latency / 1.1,
        "perf_latency_p99": latency,
        "output_token_throughput": 7.3 * noisy,
        "cost_per_million_inferences": 1e6 / noisy / 3600,
    }
    return replace(Measurement(models=(ModelMeasurement(values=values),)), duration_s=3.0)


@small_and_full(
    "objective", "cost_per_million_inferences", "output_token_throughput", "perf_throughput"
)
def test_a_metric_that_follows_the_throughput_is_searched_as_well(objective: str) -> None:
    target = subject(objective=objective, constraints=[latency_within(LIMIT_MS)])
    where = limits(
        mode=SearchMode.ADAPTIVE,
        instances=(1, 4),
        batch=(1, 16),
        concurrency=(1, 64),
        adaptive=AdaptiveSettings(max_trials=18),
    )
    asked = choose(target, where, VariantNames())
    rates: dict[str, float] = {}

    def respond(trial: Trial) -> Measurement:
        rate, _ = served(trial)
        rates[trial.first.key] = rate
        return measured(trial)

    sequence(asked, respond)

    assert asked.conclusion is not None
    assert rates[asked.conclusion.recommended] > 0.9 * BEST
