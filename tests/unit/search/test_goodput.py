# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Every search takes goodput as its objective: it is low at low and at high loads; the adaptive
search finds the best by metrics that follow the throughput, as by that itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from random import Random

import pytest

from model_analyzer.domain.goals import Constraint
from model_analyzer.domain.measurements import Measurement, ModelMeasurement, Outcome
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.profiles import Profile
from model_analyzer.domain.settings import AdaptiveSettings, SearchMode
from model_analyzer.domain.trials import Trial
from model_analyzer.noise.pooling import pool
from model_analyzer.search.choose import choose
from tests.sizes import small_and_full
from tests.unit import builders
from tests.unit.search.surfaces import (
    batch_limit,
    config,
    instances,
    latency_within,
    limits,
    load,
    search,
    sequence,
    shares,
    subject,
)

# Half of the requests have to meet the limit, and of those that do, as many as possible.
TARGET = subject(
    objective="perf_goodput",
    constraints=[Constraint(tag="perf_latency_p50", maximum=14.0)],
    in_rounds=True,
)


def served(trial: Trial) -> Measurement:
    """Each instance answers 250 requests per second while it has up to three of them. Latencies
    are log-normal, and grow with the load.
    """
    rate = 250 * min(load(trial) / 3, instances(trial))
    seconds = trial.round_s or min(1.0, 150 / rate)
    average = 1000 * load(trial) / rate
    random = Random(trial.key)
    latencies = [
        average * math.exp(random.gauss(0, 0.3)) for _ in range(max(round(rate * seconds), 3))
    ]
    measured = builders.one_round(latencies, seconds, windows=[rate] * 4)
    return replace(measured, duration_s=seconds + 0.2)


def goodputs(outcomes: Mapping[str, list[Measurement]]) -> list[float]:
    """The goodput of each trial that meets the constraints, highest first."""
    means = map(pool, outcomes.values())
    passing = [mean.totals["perf_goodput"] for mean in means if TARGET.goal.passes(mean)]
    return sorted(passing, reverse=True)


# random draws may miss it
@pytest.mark.parametrize("mode", [mode for mode in SearchMode if mode is not SearchMode.RANDOM])
def test_every_search_maximizes_goodput(mode: SearchMode) -> None:
    where = limits(mode=mode, instances=(1, 4), batch=(1, 2), concurrency=(1, 64))
    complete = Profile().completion(TARGET.goal)
    asked = search(TARGET, where, optuna=shares(20, 40))
    outcomes: dict[str, list[Measurement]] = {}

    def respond(trial: Trial) -> Outcome:
        completed = complete(trial, served(trial))
        assert isinstance(completed, Measurement)
        outcomes.setdefault(trial.first.key, []).append(completed)
        return completed

    sequence(asked, respond)

    # the best of four instances: three requests for each, and 70 % of 1000 per second in time
    assert goodputs(outcomes)[0] > 600
    if asked.conclusion is not None:
        best = pool(outcomes[asked.conclusion.recommended]).totals["perf_goodput"]
        assert best > 0.85 * goodputs(outcomes)[0]
        assert asked.conclusion.goal == TARGET.goal.identity


def slept(trial: Trial) -> Measurement:
    """Each execution takes 50 ms, for one request or a batch; the default does not batch."""
    most = batch_limit(trial) if "dynamic_batching" in config(trial) else 1
    together = min(most, max(1, load(trial) // instances(trial)))
    rate = 20 * together * min(instances(trial), load(trial))
    latency, random = 1000 * load(trial) / rate, Random(trial.key)
    count = max(round(rate), 10)
    latencies = [latency * random.uniform(0.98, 1.02) for _ in range(count)]
    return replace(builders.one_round(latencies, count / rate), duration_s=1.2)


def test_a_goodput_of_zero_is_no_reason_to_stay_at_low_loads() -> None:
    """The default misses the limit under the higher load: what that has is found all the same."""
    target = subject(objective="perf_goodput", constraints=[latency_within(180.0)], in_rounds=True)
    where = limits(
        mode=SearchMode.ADAPTIVE,
        instances=(1, 2),
        batch=(1, 2),
        concurrency=(1, 8),
        adaptive=AdaptiveSettings(max_trials=10),
    )
    complete = Profile().completion(target.goal)
    asked = choose(target, where, VariantNames())
    outcomes: list[Measurement] = []

    def respond(trial: Trial) -> Outcome:
        completed = complete(trial, slept(trial))
        assert isinstance(completed, Measurement)
        outcomes.append(completed)
        return completed

    sequence(asked, respond)

    assert max(each.totals["perf_goodput"] for each in outcomes) == pytest.approx(80, rel=0.05)


LIMIT_MS = 34.2
# By instances of 1 to 4, batches of up to 16 and loads of 1 to 64, within the limit.
BEST = 720.0


def served_variant(trial: Trial) -> tuple[float, float]:
    """Throughput and latency (ms): one execution at a time, of 11 ms and 0.7 ms for each request of
    its batch; further instances gain a little.
    """
    most = batch_limit(trial) if "dynamic_batching" in config(trial) else 1
    others = min(instances(trial), load(trial)) - 1
    together = max(1.0, min(most, load(trial) / instances(trial)))
    execution_ms = (11 + 0.7 * together) * (1 + 0.03 * others)
    rate = 1000 * together * (1 + 0.1 * others) / execution_ms
    return rate, 1100 * load(trial) / rate


def measured(trial: Trial) -> Measurement:
    rate, latency = served_variant(trial)
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
        rate, _ = served_variant(trial)
        rates[trial.first.key] = rate
        return measured(trial)

    sequence(asked, respond)

    assert asked.conclusion is not None
    assert rates[asked.conclusion.recommended] > 0.9 * BEST
