# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What an adaptive search knows about servers before it measures: batches that wait until they are
full, batches that are uneven, and what instances need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.settings import SearchMode
from model_analyzer.search.adaptive.encoding import Encoding
from model_analyzer.search.adaptive.queueing_model import (
    Floats,
    Settings,
    closed_loop,
    open_loop,
    parameter_count,
)
from model_analyzer.search.adaptive.surrogate import THROUGHPUT, Points, Surrogate, unevenness
from model_analyzer.search.trial_map import TrialMap
from tests.unit.search.surfaces import limits, model, subject

# Inferences per second of `sim_gpu` (see `model-analyzer init`) on Triton 2.51 with 3 instances and
# a batch limit of 4, by requests in flight: without queue delay, and with one of 20 ms.
AT_ONCE = {1: 104, 3: 218, 4: 227, 6: 320, 8: 402, 12: 556, 16: 678}
DELAYED = {1: 33, 3: 94, 4: 330, 6: 327, 8: 637, 12: 687, 16: 694}
ALONE = 120.0  # per second, of an inference alone: what the law calls one


def settings(
    loads: Sequence[float],
    *,
    instances: int = 3,
    batch: int = 4,
    delay_s: float = 0.0,
    client: int = 1,
    stations: int = 1,
) -> Settings:
    """Models in a row under so many requests of a client batch; the last one may wait."""
    column = np.ones((len(loads), stations))
    delay = delay_s * column
    delay[:, :-1] = 0
    flight = client * np.array(loads, dtype=float)
    return Settings(instances * column, batch * column, flight, client * np.ones(len(loads)), delay)


def likeliest(at: Settings) -> Floats:
    """Inferences per second of the server that is expected before anything is measured."""
    flow = closed_loop(np.zeros((1, parameter_count(at.delay.shape[1]))), at, np.array([ALONE]))
    return np.asarray(ALONE * np.exp(flow.throughput[0]))


# -- queue delays ------------------------------------------------------------------------------


@pytest.mark.parametrize(("delay_s", "measured"), [(0.0, AT_ONCE), (0.02, DELAYED)])
def test_throughput_by_load_is_as_triton_batches(
    delay_s: float, measured: Mapping[int, int]
) -> None:
    expected = likeliest(settings([*measured], delay_s=delay_s))

    assert expected == pytest.approx([*measured.values()], rel=0.35)


def test_a_rest_that_fills_no_batch_waits_for_answers_or_goes_after_the_delay() -> None:
    four, six, eight = likeliest(settings([4, 6, 8], delay_s=0.02))
    assert six == pytest.approx(four, rel=0.05)
    assert eight == pytest.approx(2 * four, rel=0.1)

    four, six, eight = likeliest(settings([4, 6, 8], delay_s=0.002))
    assert four < six < eight


def test_a_delay_does_not_matter_where_batches_are_full_anyway() -> None:
    loads = [64, 256]
    assert likeliest(settings(loads, delay_s=0.02)) == pytest.approx(likeliest(settings(loads)))


def test_a_batch_that_cannot_take_another_request_is_full() -> None:
    at_once, delayed = (
        likeliest(settings([1, 2], client=3, delay_s=delay_s)) for delay_s in (0.0, 0.02)
    )
    assert delayed == pytest.approx(at_once)


def test_a_model_of_an_ensemble_waits_for_itself() -> None:
    alone = [likeliest(settings([1], delay_s=delay_s))[0] for delay_s in (0.0, 0.02)]
    row = [likeliest(settings([1], stations=2, delay_s=delay_s))[0] for delay_s in (0.0, 0.02)]

    assert 1 / row[1] - 1 / row[0] == pytest.approx(1 / alone[1] - 1 / alone[0], rel=0.2)


@pytest.mark.parametrize(
    ("rate", "batch", "waits_s"),
    [
        pytest.param(5, 4, 0.1, id="nobody comes"),
        # three come in 60 ms: the first waits for all of that, the last not at all
        pytest.param(50, 4, 0.03, id="it fills"),
        # and a batch of thirty is worked on for longer
        pytest.param(300, 64, 0.08, id="it does not fill"),
    ],
)
def test_at_a_request_rate_batches_wait_for_what_comes(
    rate: float, batch: int, waits_s: float
) -> None:
    def latency_s(delay_s: float) -> float:
        at = settings([rate], instances=1, batch=batch, delay_s=delay_s)
        flow = open_loop(np.zeros((1, parameter_count(1))), at, np.array([ALONE]))
        return float(np.exp(flow.latency[0, 0])) / ALONE

    assert latency_s(0.1) - latency_s(0.0) == pytest.approx(waits_s, rel=0.5)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("tried", "known_delay_s", "unknown", "unknown_delay_s"),
    [
        pytest.param(AT_ONCE, 0.0, DELAYED, 0.02, id="a delay"),
        pytest.param(DELAYED, 0.02, AT_ONCE, 0.0, id="no delay"),
    ],
)
def test_untried_delays_are_predicted(
    tried: Mapping[int, int],
    known_delay_s: float,
    unknown: Mapping[int, int],
    unknown_delay_s: float,
    seed: int,
) -> None:
    loads = (3, 4, 6, 8)
    here = settings([*tried], delay_s=known_delay_s)
    there = settings(loads, delay_s=unknown_delay_s)
    surrogate = Surrogate(1, is_open=False, seed=seed)
    surrogate.learn(
        Points(here, np.zeros((len(here), 1))),
        {THROUGHPUT: np.array([*tried.values()], dtype=float)},
    )
    predictions = surrogate.predict(Points(there, np.ones((len(there), 1))))

    foreseen = np.median(predictions.values[THROUGHPUT], axis=0)
    off = np.abs(np.log(foreseen / np.array([unknown[load] for load in loads])))
    assert np.exp(off.mean()) < 1.4
    assert np.exp(off.max()) < 1.6
    # what is known at these loads says less
    assert off.mean() < 0.8 * np.abs(np.log([tried[load] / unknown[load] for load in loads])).mean()


@pytest.mark.parametrize(
    ("own", "listed", "expected"),
    [
        ({}, [{"max_queue_delay_microseconds": us} for us in (0, 5000)], [0, 0, 0.005]),
        ({"max_queue_delay_microseconds": 700}, [{}, None], [0.0007, 0.0007, 0.0007]),
        ({"max_queue_delay_microseconds": 700}, [], [0.0007, 0.0007]),
        # it waits for four, not until it is full
        ({"max_queue_delay_microseconds": 700, "preferred_batch_size": [4]}, [], [0, 0]),
    ],
)
def test_delays_are_the_listed_ones_or_the_models_own(
    own: Mapping[str, Any], listed: Sequence[Any], expected: Sequence[float]
) -> None:
    searched = subject(
        model(dynamic_batching=own), parameters={"dynamic_batching": listed} if listed else {}
    )
    trial_map = TrialMap(searched, limits(mode=SearchMode.ADAPTIVE), use_formula=False)
    dimensions = trial_map.space.dimensions
    listing = [number for number, dimension in enumerate(dimensions) if not dimension.is_ordered]
    coordinates = [
        tuple(value * (number in listing) for number in range(len(dimensions)))
        for value in range(max(len(listed), 1))
    ]

    default = trial_map.default(VariantNames())
    points = Encoding(searched, trial_map.space).encode(0, coordinates, [default])

    assert points.settings.delay[:, 0] == pytest.approx(expected)


# -- latencies ---------------------------------------------------------------------------------


def test_batches_are_uneven_between_an_instance_for_each_request_and_enough_to_fill_all() -> None:
    few, some, many, very_many = unevenness(settings([3, 16, 64, 1024], instances=4, batch=16))

    assert few == 0
    assert some > 1
    assert some > 2 * many
    assert very_many < 0.02
    assert unevenness(settings([2, 8, 64], instances=1, batch=16)) == pytest.approx(0)
    assert unevenness(settings([16], instances=2, batch=16)) < some


# -- memory ------------------------------------------------------------------------------------


def test_measuring_the_same_memory_again_does_not_tell_which_model_needs_it() -> None:
    def spread(times: int) -> float:
        """Of what two instances of the second model alone need."""
        counts = np.array([[1, 1]] * times + [[2, 2]], dtype=float)
        memory = np.array([850.0] * times + [1300.0])
        surrogate = Surrogate(2, is_open=False, seed=0)
        surrogate.learn(
            _points(counts), {THROUGHPUT: np.full(times + 1, 100.0), "cpu_used_ram": memory}
        )
        predictions = surrogate.predict(_points(np.array([[1.0, 2.0]])))
        return float(predictions.values["cpu_used_ram"].std())

    assert spread(20) > 0.7 * spread(1)


def _points(instances: Floats) -> Points:
    """Of a chain of models with so many instances each, all else equal."""
    ones, column = np.ones_like(instances), np.ones(len(instances))
    return Points(Settings(instances, 8 * ones, 16 * column, column, 0 * ones), instances / 2)
