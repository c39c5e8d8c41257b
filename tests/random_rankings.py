# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Measurements of a model that nobody chose, by a seed: of one to five instances under some loads,
with little or much noise, once or several times, with and without windows and rounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import TrialRecord
from tests.unit.builders import measurement, one_round, record, variant

NOISES = (0.005, 0.02, 0.05, 0.15)
REPEATED = (0.0, 0.2, 0.6, 1.0)
KINDS = ("alone", "with windows", "in rounds", "mixed")


def random_records(seed: int) -> Sequence[TrialRecord]:
    """All measurements of two to eight variants."""
    draw = Random(seed)
    noise, repeated, kind = draw.choice(NOISES), draw.choice(REPEATED), draw.choice(KINDS)
    has_memory = draw.random() < 0.3
    records = []
    for place in range(draw.randint(2, 8)):
        instances = draw.randint(1, 5)
        of = variant(
            f"m_config_{place - 1}" if place else "m_config_default",
            instance_group=[{"count": instances, "kind": "KIND_CPU"}],
            max_batch_size=draw.choice([1, 4, 8]),
            metric_tags={"variant": str(place)},  # no two are equal
        )
        memory = 1e9 * instances if has_memory else None
        for load in draw.sample([1, 2, 4, 8, 16], draw.randint(1, 3)):
            per_s = 100 * min(load, instances) / (1 + instances / 20) * draw.uniform(0.9, 1.1)
            p99 = 10 * max(1, load / instances) * draw.uniform(0.9, 1.3)
            times = draw.randint(2, 4) if draw.random() < repeated else 1
            for run in range(times):
                own = draw.choice(KINDS[:3]) if kind == "mixed" else kind
                made = _measured(draw, per_s, p99, noise, own, memory)
                records.append(record(of, made, concurrency=load, repetition=run))
    return records


def random_limits(seed: int, records: Sequence[TrialRecord]) -> Sequence[float]:
    """Six limits of the latency, from one that hardly anything meets to one that all do."""
    draw = Random(seed)
    values = sorted(_p99s(records))
    return sorted(draw.uniform(0.9 * values[0], 1.2 * values[-1]) for _ in range(6))


def _p99s(records: Sequence[TrialRecord]) -> Iterator[float]:
    for each in records:
        assert isinstance(each.outcome, Measurement)
        value = each.outcome.value("perf_latency_p99")
        assert value is not None
        yield value


def _measured(
    draw: Random, per_s: float, p99: float, noise: float, kind: str, memory: float | None
) -> Measurement:
    """What one measurement gave of a true throughput and latency."""
    per_s *= max(0.2, draw.gauss(1, noise))
    p99 *= max(0.2, draw.gauss(1, 2 * noise))
    host = {} if memory is None else {"cpu_used_ram": memory}
    windows = [per_s * draw.gauss(1, noise) for _ in range(3)]
    if kind == "in rounds":
        count = draw.choice([10, 40])
        latencies = [*(p99 * draw.uniform(0.6, 1) for _ in range(count - 1)), p99]
        return one_round(latencies, count / per_s, windows=windows)
    if kind == "alone":
        windows = []
    return measurement(per_s, p99, perf_latency_avg=0.7 * p99, host=host, windows=windows)
