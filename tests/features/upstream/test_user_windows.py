# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Windows that upstream enlarged by itself are part of a measurement, not of its conditions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.domain.measurements import Measurement, NoticeKind
from model_analyzer.domain.models import freeze
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.features.upstream.reader import UpstreamCheckpoint
from model_analyzer.state.profile_state import ProfileState
from tests.features.upstream.samples import raw, read, read_changed, results

COUNT = "measurement-request-count"
INTERVAL = "measurement-interval"

Pairs = dict[str, list[Any]]


def asked(checkpoint: UpstreamCheckpoint, flag: str) -> set[str | None]:
    """The values of a flag that trials were asked for with."""
    return {
        work.flags.get(flag)
        for record in checkpoint.profile.records
        for work in record.trial.workloads
    }


def client_setups(checkpoint: UpstreamCheckpoint) -> set[tuple[str, ...]]:
    return {
        tuple(work.client_setup for work in record.trial.workloads)
        for record in checkpoint.profile.records
    }


def longer(checkpoint: UpstreamCheckpoint) -> list[str]:
    """What notices say of longer windows."""
    return [
        notice.text
        for item in checkpoint.profile.measured
        for notice in item.measurement.notices
        if notice.kind is NoticeKind.LONGER_WINDOW
    ]


def raised(record: TrialRecord) -> dict[str, Any]:
    assert isinstance(record.outcome, Measurement)
    return dict(record.outcome.models[0].raised)


def flags_of_run(pair: list[Any]) -> dict[str, Any]:
    arguments: dict[str, Any] = pair[0]["_model_run_configs"][0]["_perf_config"]["_args"]
    return arguments


def changed(name: str, change: Callable[[Pairs], object]) -> UpstreamCheckpoint:
    """A sample after a change of its variants' pairs."""
    return read_changed(name, lambda document: change(next(iter(results(document).values()))))


# -- counts of requests ----------------------------------------------------------------------------


def test_a_count_that_upstream_raised_was_not_asked_for() -> None:
    checkpoint = read("raised_count")

    assert len(checkpoint.profile.records) == 15
    assert asked(checkpoint, COUNT) == {None}
    assert len(client_setups(checkpoint)) == 1
    assert longer(checkpoint) == [
        f"add_sub_config_{name} at concurrency 1: measured over a longer window"
        f" (measurement-request-count 50 → {count})"
        for name, count in (("2", 150), ("3", 100))
    ]


def test_an_enlarged_count_is_stored_of_the_first_measurement_only() -> None:
    of_one = [
        record
        for record in read("raised_count").profile.records
        if record.trial.variants == "add_sub_config_2"
    ]

    assert [raised(record) for record in of_one] == [{COUNT: 150}, {}, {}]


def test_a_count_that_a_user_gave_is_asked_for_by_every_trial() -> None:
    checkpoint = read("bls_combinations")

    assert asked(checkpoint, COUNT) == {"70"}
    assert len(client_setups(checkpoint)) == 1
    assert longer(checkpoint) == [
        "bls_chain_config_1 at concurrency 8: measured over a longer window"
        " (measurement-request-count 70 → 170)"
    ]


def test_if_all_variants_have_enlarged_windows_the_user_set_none() -> None:
    def raise_all(document: Pairs) -> None:
        for pair in document.values():
            flags_of_run(pair)[COUNT] = 200

    checkpoint = changed("plain", raise_all)

    assert asked(checkpoint, COUNT) == {None}
    assert len(longer(checkpoint)) == len(
        {record.trial.variants for record in checkpoint.profile.records}
    )


def test_a_count_raised_as_text_is_folded_as_well() -> None:
    checkpoint = changed(
        "plain", lambda document: flags_of_run(document["add_sub_config_3"]).update({COUNT: "100"})
    )

    assert len(client_setups(checkpoint)) == 1
    assert len(longer(checkpoint)) == 2  # of each load: nobody knows better


# -- intervals -------------------------------------------------------------------------------------


def test_an_interval_that_upstream_raised_was_not_asked_for() -> None:
    checkpoint = read("raised_interval")

    assert len(checkpoint.profile.records) == 10
    assert asked(checkpoint, INTERVAL) == {"1000"}
    assert len(client_setups(checkpoint)) == 1
    assert longer(checkpoint) == [
        "add_sub_config_1 at concurrency 4: measured over a longer window"
        " (measurement-interval 1000 → 4000 ms)"
    ]


def test_a_second_measurement_with_the_original_window_is_a_repetition() -> None:
    *_, first, second = read("raised_interval").profile.records

    assert (raised(first), raised(second)) == ({INTERVAL: "4000"}, {})
    assert (first.trial.repetition, second.trial.repetition) == (0, 1)
    assert second.trial.first.key == first.trial.key


def test_the_newest_measurement_may_have_the_enlarged_window() -> None:
    checkpoint = changed(
        "raised_interval", lambda document: document["add_sub_config_1"][1].popitem()
    )

    assert len(checkpoint.profile.records) == 9
    assert len(client_setups(checkpoint)) == 1


@pytest.mark.parametrize("place", [0, 4, 9])
@pytest.mark.parametrize("interval", ["1500", "2000", "8000"])
def test_wherever_an_interval_was_raised(place: int, interval: str) -> None:
    def raise_one(document: Pairs) -> None:
        pair, key = [(pair, key) for pair in document.values() for key in pair[1]][place]
        larger = key.replace(f"{INTERVAL}=1000", f"{INTERVAL}={interval}")
        pair[1] = {larger if name == key else name: value for name, value in pair[1].items()}
        if key == next(iter(pair[1]), None):
            flags_of_run(pair)[INTERVAL] = int(interval)

    checkpoint = changed("plain", raise_one)

    assert len(checkpoint.profile.records) == 10
    assert len({record.trial.key for record in checkpoint.profile.records}) == 10
    assert len(client_setups(checkpoint)) == 1
    assert len(longer(checkpoint)) == 1


def test_the_default_interval_is_not_written() -> None:
    def forget(document: Pairs) -> None:
        for number, pair in enumerate(document.values()):
            flags_of_run(pair)[INTERVAL] = None
            flag = f" --{INTERVAL}=8000" if number == 2 else ""
            pair[1] = {
                key.replace(f" --{INTERVAL}=1000", flag): value for key, value in pair[1].items()
            }

    checkpoint = changed("plain", forget)

    assert asked(checkpoint, INTERVAL) == {None}
    assert all("(measurement-interval 5000 → 8000 ms)" in text for text in longer(checkpoint))
    assert len(longer(checkpoint)) == 2


# -- going on --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("raised_count", {}),
        ("raised_interval", {"measurement-mode": "time_windows", INTERVAL: "1000"}),
        ("bls_combinations", {COUNT: "70"}),
    ],
)
def test_a_measurement_with_an_enlarged_window_answers_the_original_trial(
    tmp_path: Path, name: str, flags: dict[str, str]
) -> None:
    (tmp_path / "0.ckpt").write_bytes(raw(name))

    with ProfileState(tmp_path) as state:
        for record in read(name).profile.records:
            (work,) = record.trial.workloads
            ours = replace(work, variant=replace(work.variant, files="f"), flags=freeze(flags))
            setup = replace(record.trial.setup, launch="local", version="2.51.0")
            asked_for = replace(record.trial, workloads=(ours,), setup=setup)
            assert state.outcome_of(asked_for) == record.outcome
