# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Several checkpoints as one: nothing lost, nothing mixed up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from model_analyzer.domain.hardware import Device, Machine, kind_of
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.models import ModelVariant, VariantNames
from model_analyzer.domain.slots import Lane
from model_analyzer.domain.trials import ServerSetup, Trial
from model_analyzer.errors import CheckpointError
from model_analyzer.state.checkpoint import Checkpoint
from model_analyzer.state.merge import merge
from model_analyzer.state.profile_state import ProfileState
from tests.unit import builders
from tests.unit.state.samples import (
    SECRETS,
    failure,
    measurement,
    rich_failure,
    rich_measurement,
    rich_round,
    rich_trial,
    trial,
)

GPU = Device(uuid="GPU-1", name="NVIDIA A", memory=1000)


def checkpoint(
    directory: Path,
    *outcomes: tuple[Trial, Outcome],
    processor: str = "CPU A, 2 cores",
    devices: tuple[Device, ...] = (),
    metadata: Mapping[str, object] | None = None,
) -> Checkpoint:
    with ProfileState(directory) as state:
        state.describe(devices=devices, host={"Processor": processor})
        for sample, outcome in outcomes:
            state.record(sample, outcome)
        state.record_metadata(metadata or {})
        return replace(state.checkpoint, path=directory)


def outcomes(merged: Checkpoint) -> dict[str, Outcome]:
    return {str(record.trial): record.outcome for record in merged.records}


def trial_of(variant: ModelVariant) -> Trial:
    return builders.trial(variant)


def test_both_are_in_and_are_read_back(tmp_path: Path) -> None:
    first = checkpoint(
        tmp_path / "a", (trial(1), measurement(1)), (rich_trial(), rich_measurement())
    )
    second = checkpoint(tmp_path / "b", (trial(2), failure()), (rich_trial(8), rich_failure()))

    merged = merge([first, second])

    assert (merged.repetitions, merged.failures, merged.renamed) == (0, 0, 0)
    assert merged.checkpoint.records.keys() == first.records.keys() | second.records.keys()
    expected = {key: record for source in (first, second) for key, record in source.records.items()}
    reread = Checkpoint.from_bytes(merged.checkpoint.to_bytes())
    assert dict(reread.records.items()) == expected
    assert not any(secret.encode() in merged.checkpoint.to_bytes() for secret in SECRETS)


def test_an_outcome_of_both_checkpoints_is_merged_once(tmp_path: Path) -> None:
    first = checkpoint(tmp_path / "a", (trial(1), measurement(1)))
    second = checkpoint(tmp_path / "b", (trial(1), measurement(1)))

    merged = merge([first, second])

    assert merged.repetitions == 0
    assert len(merged.checkpoint.records) == 1


@pytest.mark.parametrize("is_swapped", [False, True])
def test_a_measurement_is_better_than_a_failure(tmp_path: Path, is_swapped: bool) -> None:
    first = checkpoint(tmp_path / "a", (trial(1), measurement(1)))
    second = checkpoint(tmp_path / "b", (trial(1), replace(failure(), started=99.0)))

    merged = merge([second, first] if is_swapped else [first, second])

    assert (merged.repetitions, merged.failures) == (0, 1)
    assert outcomes(merged.checkpoint) == {str(trial(1)): measurement(1)}


@pytest.mark.parametrize("is_swapped", [False, True])
def test_of_two_failures_the_newer_one_counts(tmp_path: Path, is_swapped: bool) -> None:
    older, newer = (replace(failure(), started=started) for started in (1.0, 2.0))
    first = checkpoint(tmp_path / "a", (trial(1), older))
    second = checkpoint(tmp_path / "b", (trial(1), newer))

    merged = merge([second, first] if is_swapped else [first, second])

    assert (merged.repetitions, merged.failures) == (0, 1)
    assert outcomes(merged.checkpoint) == {str(trial(1)): newer}


CAREFUL, NEWER_CAREFUL, *LOOKS = (
    replace(outcome, started=started)
    for outcome, started in (
        (rich_measurement(), 3.0),
        (rich_measurement(), 9.0),
        *((rich_round(), float(number)) for number in (1, 2, 4, 5)),
    )
)

# the repetitions of one trial
Repetitions = Sequence[Outcome]


def repeated(directory: Path, *repetitions: Outcome) -> Checkpoint:
    return checkpoint(
        directory,
        *(
            (replace(rich_trial(), repetition=number), outcome)
            for number, outcome in enumerate(repetitions)
        ),
    )


def repetitions_of(merged: Checkpoint) -> Repetitions:
    reread = Checkpoint.from_bytes(merged.to_bytes())
    by_number = {record.trial.repetition: record.outcome for record in reread.records}
    assert sorted(by_number) == [*range(len(reread.records))]
    return [by_number[number] for number in sorted(by_number)]


@pytest.mark.parametrize("is_swapped", [False, True])
@pytest.mark.parametrize(
    ("one", "other", "first"),
    [
        pytest.param([CAREFUL], [LOOKS[3]], CAREFUL, id="a newer first look"),
        pytest.param([CAREFUL], [LOOKS[0]], CAREFUL, id="an older first look"),
        pytest.param([CAREFUL], LOOKS, CAREFUL, id="several rounds"),
        pytest.param([CAREFUL, LOOKS[3]], LOOKS[:2], CAREFUL, id="both"),
        pytest.param(LOOKS[:2], LOOKS[2:], LOOKS[0], id="the same parts of two runs"),
        pytest.param(LOOKS[:2], [LOOKS[0], LOOKS[3]], LOOKS[0], id="a common beginning"),
        pytest.param(LOOKS[:3], LOOKS[:2], LOOKS[0], id="a run, and the same continued"),
        pytest.param([CAREFUL], [NEWER_CAREFUL], NEWER_CAREFUL, id="own windows of two runs"),
        pytest.param([LOOKS[0]], [CAREFUL, LOOKS[0]], CAREFUL, id="set aside in one of them"),
        pytest.param(
            LOOKS[:3], [CAREFUL, LOOKS[1], LOOKS[0]], CAREFUL, id="set aside in another order"
        ),
    ],
)
def test_no_measurement_of_a_trial_is_lost_and_none_counts_twice(
    tmp_path: Path, one: Repetitions, other: Repetitions, first: Outcome, is_swapped: bool
) -> None:
    pair = [repeated(tmp_path / "a", *one), repeated(tmp_path / "b", *other)]

    merged = merge([*reversed(pair)] if is_swapped else pair)

    kept = repetitions_of(merged.checkpoint)
    assert kept[0] == first
    assert sorted(outcome.started for outcome in kept) == sorted(
        {outcome.started for outcome in [*one, *other]}
    )
    assert all(outcome in [*one, *other] for outcome in kept)
    assert merged.failures == 0
    again = merge([merged.checkpoint, *pair])
    assert (again.repetitions, again.failures) == (0, 0)
    assert repetitions_of(again.checkpoint) == kept


@pytest.mark.parametrize("is_swapped", [False, True])
def test_a_round_beside_failed_own_windows_counts_once(tmp_path: Path, is_swapped: bool) -> None:
    pair = [repeated(tmp_path / "a", LOOKS[0]), repeated(tmp_path / "b", rich_failure(), LOOKS[0])]

    merged = merge([*reversed(pair)] if is_swapped else pair)

    measured = [item.measurement for item in merged.checkpoint.measurements()]
    assert measured == [LOOKS[0]]


def test_own_windows_of_two_names_of_a_configuration_are_not_hidden(tmp_path: Path) -> None:
    """A run that continues the merged checkpoint gets own windows, not the first look."""
    default, other = (builders.variant(f"m_config_{name}") for name in ("default", "0"))
    careful = replace(measurement(1), started=1.0)
    look = replace(builders.one_round([5.0] * 10), started=2.0)
    pair = [
        checkpoint(tmp_path / "a", (trial_of(default), careful)),
        checkpoint(tmp_path / "b", (trial_of(other), look)),
    ]

    for order in (pair, [*reversed(pair)]):
        records = merge(order).checkpoint.records
        record = records.of_trial(trial_of(default).key)
        assert record is not None
        assert record.outcome == careful
        assert look in [each.outcome for each in records]


@pytest.mark.parametrize("is_swapped", [False, True])
def test_a_measurement_of_upstream_stays_beside_ours_of_the_same_trial(
    tmp_path: Path, is_swapped: bool
) -> None:
    """Whether the files of its model are the same is unknown: it is no repetition."""
    unverified, verified = (builders.variant("m_config_0", files=files) for files in ("", "now"))
    first = checkpoint(tmp_path / "a", (trial_of(unverified), measurement(1)))
    second = checkpoint(tmp_path / "b", (trial_of(verified), measurement(2)))
    resumed = checkpoint(tmp_path / "c", (trial_of(verified), measurement(1)))

    def rates(*pair: Checkpoint) -> list[tuple[str, float | None]]:
        merged = merge([*reversed(pair)] if is_swapped else pair)
        reread = Checkpoint.from_bytes(merged.checkpoint.to_bytes())
        return [
            (item.trial.workloads[0].variant.files, item.measurement.value("perf_throughput"))
            for item in reread.measurements()
        ]

    assert rates(first, second) == [("now", 2.0), ("", 1.0)]
    assert rates(first, resumed) == [("now", 1.0)]


def test_a_name_stands_for_one_configuration(tmp_path: Path) -> None:
    small, large, huge = (
        builders.variant(name, max_batch_size=size)
        for name, size in (("m_config_0", 1), ("m_config_0", 8), ("m_config_1", 16))
    )
    first = checkpoint(tmp_path / "a", (trial_of(small), measurement(1)))
    second = checkpoint(
        tmp_path / "b", (trial_of(large), measurement(2)), (trial_of(huge), measurement(3))
    )

    merged = merge([first, second])

    sizes = {variant.name: variant.max_batch_size for variant in merged.checkpoint.profile.variants}
    assert len(sizes) == 3
    assert sizes["m_config_0"] == 1
    assert set(sizes.values()) == {1, 8, 16}
    assert merged.checkpoint.records.keys() == first.records.keys() | second.records.keys()
    assert merged.renamed > 0
    VariantNames.known(merged.checkpoint.profile.variants)


def test_one_configuration_has_one_name(tmp_path: Path) -> None:
    small, large = (builders.variant(f"m_config_{n}", max_batch_size=1) for n in (0, 5))
    first = checkpoint(tmp_path / "a", (trial_of(small), failure()))
    second = checkpoint(tmp_path / "b", (trial_of(large), measurement(2)))

    merged = merge([first, second])

    assert (merged.failures, merged.renamed) == (1, 1)
    assert [variant.name for variant in merged.checkpoint.profile.variants] == ["m_config_0"]


def test_composing_variants_are_renamed_too(tmp_path: Path) -> None:
    def ensemble(size: int) -> ModelVariant:
        part = builders.variant("p_config_0", model="p", max_batch_size=size)
        return builders.variant("e_config_0", model="e", composing=[part])

    first = checkpoint(tmp_path / "a", (trial_of(ensemble(1)), measurement(1)))
    second = checkpoint(tmp_path / "b", (trial_of(ensemble(2)), measurement(2)))

    merged = merge([first, second])

    names = {
        variant.full_name: variant.composing[0].max_batch_size
        for variant in merged.checkpoint.profile.variants
    }
    assert names == {"e_config_0: p_config_0": 1, "e_config_1: p_config_1": 2}


def test_the_default_stays_the_default(tmp_path: Path) -> None:
    first, second = (
        checkpoint(
            tmp_path / str(size),
            (
                trial_of(builders.variant("m_config_default", max_batch_size=size)),
                measurement(size),
            ),
        )
        for size in (1, 2)
    )

    merged = merge([first, second])

    assert [variant.is_default for variant in merged.checkpoint.profile.variants] == [True, True]


def test_later_conclusions_win(tmp_path: Path) -> None:
    first, second = (
        replace(
            checkpoint(tmp_path / str(size), (trial(size), measurement(1))),
            conclusions=MappingProxyType(
                {Lane(name): builders.conclusion(trial(size), size) for name in names}
            ),
        )
        for size, names in ((1, "ab"), (2, "b"))
    )

    merged = merge([first, second]).checkpoint

    assert merged.conclusions == {
        Lane("a"): first.conclusions[Lane("a")],
        Lane("b"): second.conclusions[Lane("b")],
    }


def test_later_metadata_and_memory_of_the_server_win(tmp_path: Path) -> None:
    first = checkpoint(tmp_path / "a", (trial(1), measurement(1)), metadata={"a": 1, "b": {"x": 1}})
    second = checkpoint(tmp_path / "b", (trial(2), measurement(1)), metadata={"b": {"y": 2}})
    idle = MappingProxyType({"GPU-1": MappingProxyType({"gpu_used_memory": 1.0})})

    merged = merge([replace(first, server_only=idle), second]).checkpoint

    assert merged.metadata == {"a": 1, "b": {"y": 2}}
    assert merged.server_only == idle


def on(place: Machine, number: int) -> tuple[Trial, Outcome]:
    """A trial on a machine, and its outcome."""
    setup = ServerSetup(devices=kind_of(place.devices))
    return replace(trial(number), setup=setup), replace(measurement(number), machine=place)


def test_kinds_of_gpus_stay_apart_and_each_outcome_keeps_its_machine(tmp_path: Path) -> None:
    a = Machine(host="a", devices=(GPU,), processor="CPU A", cores=2)
    b = Machine(host="b", processor="CPU B", cores=4)
    first, second = checkpoint(tmp_path / "a", on(a, 1)), checkpoint(tmp_path / "b", on(b, 1))

    merged = merge([first, second])

    reread = Checkpoint.from_bytes(merged.checkpoint.to_bytes())
    assert merged.repetitions == 0
    assert {record.outcome.machine for record in reread.records} == {a, b}
    assert {record.trial.setup.kind for record in reread.records} == {"1 x NVIDIA A", "no GPU"}
    assert reread.devices == (GPU,)


def test_conclusions_of_each_kind_are_kept(tmp_path: Path) -> None:
    first, second = (
        replace(
            checkpoint(tmp_path / kind, (trial(1), measurement(1))),
            conclusions=MappingProxyType({Lane("m", kind): builders.conclusion(trial(1), 1)}),
        )
        for kind in ("1 x NVIDIA A", "no GPU")
    )

    assert set(merge([first, second]).checkpoint.conclusions) == {
        Lane("m", "1 x NVIDIA A"),
        Lane("m"),
    }


def test_one_kind_on_different_processors_is_refused(tmp_path: Path) -> None:
    first = checkpoint(tmp_path / "a", (trial(1), measurement(1)))
    second = checkpoint(tmp_path / "b", (trial(2), measurement(1)), processor="CPU B, 2 cores")

    with pytest.raises(CheckpointError, match="different processors") as raised:
        merge([first, second])
    assert "CPU A, 2 cores in the first, CPU B, 2 cores in the other" in str(raised.value)
