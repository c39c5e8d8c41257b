# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The length of further rounds of a trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from model_analyzer.domain.arrivals import is_random
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.trials import Trial
from model_analyzer.noise.first_look import in_flight, least_s

# Seconds: shorter rounds tell little, longer ones are better measured as several.
_LEAST_S, _MOST_S = 2.0, 15.0
# Under random arrivals, a long queue is rare and then lasts: further rounds are so many times
# as long as all before, and may take longer.
_OF_RANDOM, _MOST_OF_RANDOM_S = 2.0, 60.0


def measured_again(trial: Trial, attempt: int, measurements: Sequence[Measurement]) -> Trial:
    """The trial for another attempt, the first of which is 0. A further round is as long as
    all of its `measurements` together, or twice as long under random arrivals; and for a slow model
    as long as any has to be: the runner would not measure for less.
    """
    again = replace(trial, repetition=attempt)
    if trial.round_s is None or not attempt:
        return again
    seconds = sum(min(model.seconds for model in each.models) for each in measurements)
    wanted_s = further_s(seconds, is_random=any(map(is_random, trial.workloads)))
    return replace(again, round_s=max(wanted_s, _least_s(trial, measurements)))


def further_s(earlier_s: float, *, is_random: bool) -> float:
    """The usual length of a further round, by the length of all before together."""
    if is_random:
        return min(max(_OF_RANDOM * earlier_s, _LEAST_S), _MOST_OF_RANDOM_S)
    return min(max(earlier_s, _LEAST_S), _MOST_S)


def _least_s(trial: Trial, measurements: Sequence[Measurement]) -> float:
    """The least length of any round, by the requests per second so far."""
    least = 0.0
    for index, work in enumerate(trial.workloads):
        models = [each.models[index] for each in measurements]
        requests = sum(model.requests or 0 for model in models if model.seconds)
        if requests:
            seconds = sum(model.seconds for model in models)
            least = max(least, least_s(requests / seconds, in_flight(work)))
    return least
