# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Changes and their intervals, on synthetic noise with fixed seeds."""

from __future__ import annotations

import math
from random import Random

import pytest

from model_analyzer.noise.noise import (
    FEWEST_CHANGES,
    Interval,
    Noise,
    log_ratio,
    ratio_noise,
    spread,
    spread_of_groups,
)
from model_analyzer.results.change import Change, ChangeVerdict, change, median_change

RUNS = 2000


def measured(random: Random, true: float, noise: float, windows: int = 3) -> list[float]:
    return [true * random.gauss(1, noise) for _ in range(windows)]


def mean_noise(windows: list[float]) -> Noise | None:
    noise = spread(windows)
    return None if noise is None else noise.of_mean(len(windows))


def windows_change(base: list[float], new: list[float]) -> Change:
    noise = ratio_noise(mean_noise(base), mean_noise(new))
    return change(sum(base) / len(base), sum(new) / len(new), noise)


def covers(of: Change, percent: float) -> bool:
    assert of.interval is not None
    return of.interval.low <= percent <= of.interval.high


@pytest.mark.parametrize("noises", [(0.02, 0.02), (0.01, 0.04)])
@pytest.mark.parametrize("true", [0, -10])
def test_the_interval_from_windows_holds_the_true_change(
    noises: tuple[float, float], true: float
) -> None:
    random = Random(7)
    held = sum(
        covers(
            windows_change(
                measured(random, 100, noises[0]), measured(random, 100 + true, noises[1])
            ),
            true,
        )
        for _ in range(RUNS)
    )
    assert 0.92 <= held / RUNS <= 0.98  # three windows tell little where noises are unlike


@pytest.mark.parametrize("groups", [(2,) * 9, (1,) * 8, (4, 1, 5)])
def test_the_interval_from_the_spread_holds_the_true_change(groups: tuple[int, ...]) -> None:
    """Also where each configuration has a change of its own, if it was measured more than once."""
    random = Random(11)
    held = 0
    for _ in range(RUNS):
        own = 0.0 if max(groups) == 1 else 0.2
        changes = [
            [(random.gauss(0, 0.05), size) for size in [random.uniform(-own, own)] * count]
            for count in groups
        ]
        noise = spread_of_groups([[error + size for error, size in group] for group in changes])
        error, size = changes[0][0]
        held += covers(change(1, math.exp(error + size), noise), math.expm1(size) * 100)
    assert 0.94 <= held / RUNS <= 0.99


@pytest.mark.parametrize("count", [6, 9, 20, 101])
def test_the_interval_of_the_median_holds_the_true_median(count: int) -> None:
    """Whatever the noise: here it has far outliers."""
    random = Random(13)
    held = sum(
        covers(median_change([random.gauss(0, 1) ** 3 / 10 for _ in range(count)]), 0)
        for _ in range(RUNS)
    )
    assert 0.94 <= held / RUNS <= 0.99


def test_noise_alone_is_hardly_ever_a_change() -> None:
    random = Random(17)
    verdicts = [
        windows_change(measured(random, 100, 0.01), measured(random, 100, 0.01)).verdict(
            is_higher_better=True
        )
        for _ in range(RUNS)
    ]
    assert verdicts.count(ChangeVerdict.SAME) > 0.85 * RUNS
    assert verdicts.count(ChangeVerdict.WORSE) < 0.04 * RUNS


def test_a_true_change_is_found() -> None:
    random = Random(19)
    verdicts = [
        windows_change(measured(random, 100, 0.01), measured(random, 90, 0.01)).verdict(
            is_higher_better=True
        )
        for _ in range(RUNS)
    ]
    assert verdicts.count(ChangeVerdict.WORSE) > 0.95 * RUNS
    assert verdicts.count(ChangeVerdict.BETTER) == 0


def test_a_small_change_of_all_trials_shows_in_their_median() -> None:
    random = Random(23)
    median = median_change([math.log(0.97) + random.gauss(0, 0.03) for _ in range(40)])

    assert median.verdict(is_higher_better=True) is ChangeVerdict.WORSE
    assert median.verdict(is_higher_better=False) is ChangeVerdict.BETTER


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        (None, ChangeVerdict.UNKNOWN),
        (Interval(low=1.5, high=40), ChangeVerdict.BETTER),
        (Interval(low=-40, high=-0.1), ChangeVerdict.WORSE),
        (Interval(low=-3, high=9), ChangeVerdict.SAME),
        (Interval(low=-3, high=11), ChangeVerdict.UNKNOWN),
        (Interval(low=-0.9, high=-0.2), ChangeVerdict.SAME),
    ],
)
def test_a_verdict_needs_a_narrow_interval(
    interval: Interval | None, expected: ChangeVerdict
) -> None:
    of = Change(base=1, new=1, percent=0, interval=interval)

    assert of.verdict(is_higher_better=True) is expected


def test_too_few_changes_have_no_spread() -> None:
    few = [0.01 * number for number in range(FEWEST_CHANGES - 1)]

    assert spread_of_groups([few]) is None
    assert median_change(few).interval is None
    assert median_change([]).percent is None
    assert spread_of_groups([[*few, 0.2]]) is not None
    assert median_change([*few, 0.2]).interval is not None


@pytest.mark.parametrize("values", [(None, 1.0), (1.0, None), (0.0, 1.0), (1.0, 0.0), (-1.0, 1.0)])
def test_values_without_a_ratio_have_no_change(values: tuple[float | None, float | None]) -> None:
    result = change(*values, Noise(error=0.1, freedom=3))

    assert (result.percent, result.interval) == (None, None)


def test_zero_to_zero_is_no_change() -> None:
    assert log_ratio(0, 0) == 0


def test_extreme_numbers_give_finite_intervals() -> None:
    result = change(1e-308, 1e308, spread_of_groups([[-700.0, 700.0] * 4]))

    assert result.interval is not None
    assert math.isfinite(result.interval.high)
