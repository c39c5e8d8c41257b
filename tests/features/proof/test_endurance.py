# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a configuration holds, judged by samples, and how samples are taken."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from model_analyzer.domain.profiles import Verdict
from model_analyzer.features.proof.facts.endurance import (
    FREE,
    LATENCY,
    MEMORY,
    OTHERS,
    Sample,
    judged,
    span,
)
from model_analyzer.features.proof.soak import Counts, SampleJournal, Sampling

MINUTES = 15


def samples(
    rate: Callable[[float], float] = lambda minute: 100.0,
    *,
    noise: float = 0.02,
    memory: Callable[[float], float] = lambda minute: 50.0,
    others: Callable[[float], float] = lambda minute: 0.1,
    still: Callable[[int], float] = lambda second: 0.0,
    latency: Callable[[float], float] | None = None,
    minutes: float = MINUTES,
    seed: int = 1,
) -> list[Sample]:
    """Ten seconds each. Noise remembers the last sample, as neighbours make it. `still` is the part
    of a second without answers.
    """
    random, level, made = np.random.default_rng(seed), 0.0, []
    for number in range(round(6 * minutes)):
        minute = (number + 0.5) / 6
        level = 0.6 * level + random.normal(0, 0.8 * noise)
        answered = rate(minute) * math.exp(level)
        ticks = [(1.0, answered * (1 - still(10 * number + tick))) for tick in range(10)]
        values = {MEMORY: memory(minute), FREE: 3000.0, OTHERS: others(minute)}
        if latency is not None:
            values[LATENCY] = latency(minute)
        made.append(Sample(begin=10.0 * number, run=0, ticks=ticks, values=values))
    return made


@pytest.mark.parametrize("seed", range(5))
def test_a_steady_load_holds(seed: int) -> None:
    result = judged(samples(seed=seed), is_open=False)

    assert result.verdict is Verdict.PASSED
    assert result.sentence.startswith("held for 15 min: ")
    assert not result.may_be_restored


@pytest.mark.parametrize("seed", range(5))
def test_a_slow_loss_is_found_and_a_reload_shows_whose_it_is(seed: int) -> None:
    series = samples(lambda minute: 100 * (1 - 0.01 * minute), seed=seed)

    assert judged(series, is_open=False).may_be_restored
    restored = judged(series, samples(minutes=1), is_open=False)
    assert restored.verdict is Verdict.FAILED
    assert restored.sentence.endswith("%/min, a reload restores it")
    assert -75 < restored.numbers["change_percent_per_hour"] < -45
    lasting = judged(series, series[-6:], is_open=False)
    assert lasting.sentence.endswith("a reload does not restore it")


def test_a_sudden_loss_is_a_step() -> None:
    result = judged(samples(lambda minute: 100 if minute < 8 else 80), is_open=False)
    assert result.sentence.startswith("loses ")
    assert "% after 8 min" in result.sentence


def test_what_neighbours_take_is_no_loss() -> None:
    def others(minute: float) -> float:
        return 0.2 + 0.02 * minute + 0.1 * math.sin(minute)

    result = judged(samples(lambda m: 100 * (1 - 0.5 * others(m)), others=others), is_open=False)
    assert result.verdict is Verdict.PASSED


def test_on_a_busy_machine_only_a_loss_that_a_reload_restores_is_the_servers() -> None:
    series = samples(lambda minute: 100 * (1 - 0.02 * minute), others=lambda minute: 0.9)

    assert judged(series, series[-6:], is_open=False).verdict is Verdict.UNKNOWN
    assert judged(series, samples(minutes=1), is_open=False).verdict is Verdict.FAILED


def test_noise_that_could_hide_a_loss_proves_nothing() -> None:
    result = judged(samples(noise=0.3), is_open=False)
    assert result.verdict is Verdict.UNKNOWN
    assert "the noise of 15 min is too large" in result.sentence


def test_an_open_load_is_judged_by_its_latency() -> None:
    series = samples(latency=lambda minute: 20 * (1 + 0.02 * minute))
    assert judged(series, is_open=True).sentence.startswith("slows down ")
    assert judged(series, is_open=False).verdict is Verdict.PASSED


@pytest.mark.parametrize(
    ("memory", "verdict"),
    [
        (lambda minute: 50 + minute, Verdict.FAILED),
        (lambda minute: 50 + 0.05 * minute, Verdict.PASSED),
        (lambda minute: 50 + 100 * (1 - math.exp(-minute / 2)), Verdict.PASSED),
        (lambda minute: 50 + 30 * (minute > 6), Verdict.PASSED),
    ],
    ids=["leak", "harmless", "cache that fills", "step"],
)
def test_memory_that_goes_on_growing_leaks(memory, verdict: Verdict) -> None:
    result = judged(samples(memory=memory), is_open=False)

    assert result.verdict is verdict
    if verdict is Verdict.FAILED:
        assert "memory of the server and its stubs grows 1.00" in result.sentence
        assert "MB/min: full in 2 days at this limit" in result.sentence


def test_a_reload_gives_back_what_leaked_since_the_last_start() -> None:
    later = [replace(each, run=1) for each in samples(memory=lambda minute: 38 + minute)]
    leaking = samples(memory=lambda minute: 50 + minute)[:72] + later[72:]
    assert "a reload restores it" in judged(leaking, samples(minutes=1), is_open=False).sentence


def test_regular_stalls_are_told_with_their_period() -> None:
    def still(second: int) -> float:
        return {100: 0.5, 101: 0.3}.get(second % 240, 0.0)

    result = judged(samples(still=still), is_open=False)

    assert result.verdict is Verdict.FAILED
    assert result.sentence == "stands still 0.8 s every 4 min"


def test_single_stalls_are_told_and_prove_nothing() -> None:
    result = judged(samples(still=lambda second: 0.9 * (second in (200, 250, 700))), is_open=False)

    assert result.verdict is Verdict.PASSED
    assert result.sentence.endswith("; stood still 3 times, for up to 0.9 s")


def test_a_server_that_was_started_again_may_have_another_level() -> None:
    series = samples(seed=3)
    later = [replace(each, run=1) for each in samples(lambda minute: 80.0, seed=4)]
    assert judged(series[:45] + later[45:], is_open=False).verdict is Verdict.PASSED


def test_a_minute_is_too_short() -> None:
    result = judged(samples(minutes=1), is_open=False)
    assert (result.verdict, result.sentence) == (
        Verdict.UNKNOWN,
        "whether it holds: 60 s are too short",
    )


def test_times_are_told_in_one_unit() -> None:
    assert [span(s) for s in (40, 89, 900, 18_000, 300_000)] == [
        "40 s", "89 s", "15 min", "5 h", "3 days",
    ]  # fmt: skip


def sampling(answers: Iterator[Counts | None], taken: list[Sample], seconds: float) -> Sampling:
    return Sampling(
        count=lambda: next(answers),
        measure=lambda: {MEMORY: 50.0},
        take=taken.append,
        seconds=seconds,
        sample_s=10.0,
        run=2,
        is_interrupted=lambda: False,
    )


def test_samples_follow_each_other_without_a_gap() -> None:
    taken: list[Sample] = []
    # one second each, and no answer at the fifth
    answers = (None if s == 5 else Counts(s, 100 * s, s * 10**9, s * 10**8) for s in count())
    limit = sampling(answers, taken, 30)

    while limit.look() is None:
        pass

    assert [each.seconds for each in taken] == [10, 10, 10]
    assert [each.rate for each in taken] == [100, 100, 100]
    assert taken[0].ticks[4] == (2, 200)
    assert taken[0].values == {MEMORY: 50, LATENCY: 10, "queue_ms": 1}
    assert {each.run for each in taken} == {2}


def test_a_journal_of_samples_continues_after_a_torn_line(tmp_path: Path) -> None:
    path, (first, second, *_) = tmp_path / "endurance-0.jsonl", samples()
    journal = SampleJournal(path)
    journal.add(first)
    journal.close()
    with path.open("ab") as file:
        file.write(path.read_bytes()[:50])

    journal = SampleJournal(path)
    journal.add(second)
    journal.close()

    journal = SampleJournal(path)
    assert [each.begin for each in journal.samples] == [0, 10]
    assert journal.seconds == 20
    journal.clear()
    journal.close()
    assert not path.exists()


@pytest.mark.parametrize("command", ["profile", "endure"])
def test_modes_without_a_server_of_their_own_are_refused(setting, command: str) -> None:
    if command == "endure":
        setting.succeeds()

    output = setting.fails(2, "--endurance", "1m", command=command, triton_launch_mode="c_api")

    assert "endurance needs a server: not with executor ray or triton_launch_mode c_api" in output
