# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Files of each format are read in full, and gone on from."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from model_analyzer.domain.conclusions import StopReason
from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.slots import Lane
from model_analyzer.results.ranking import rank
from model_analyzer.state.checkpoint import Checkpoint, load, read_file
from model_analyzer.state.format.header import decode_header
from model_analyzer.state.format.lines import Entry, decode, encode
from model_analyzer.state.overview import verify
from model_analyzer.state.profile_state import ProfileState
from tests.unit.builders import goal
from tests.unit.state.samples import (
    failure,
    measurement,
    rich_failure,
    rich_measurement,
    trial,
)

FORMAT_2 = Path(__file__).parents[2] / "golden" / "checkpoints" / "format2"
FORMAT_3 = FORMAT_2.with_name("format3")
FORMAT_4 = FORMAT_2.with_name("format4")


def without_machine(outcome: Outcome) -> Outcome:
    """The outcome as formats before 4 have it."""
    return replace(outcome, machine=None)


def as_then(measurement: Measurement) -> Measurement:
    """The measurement without what was not kept in format 2."""
    statistics = {
        name: replace(each, requests=None) for name, each in measurement.statistics.items()
    }
    return replace(measurement, machine=None, resources=None, statistics=statistics)


IN_CHECKPOINT: list[tuple[int, Outcome]] = [
    (20, measurement(20.0)),
    (21, failure()),
    (4, as_then(rich_measurement())),
    (5, without_machine(rich_failure())),
    *((number, measurement(float(number))) for number in range(1, 5)),
]
SINCE: list[tuple[int, Outcome]] = [
    (4, without_machine(rich_failure())),
    (7, measurement(7.0)),
    (8, failure()),
    (22, measurement(22.0)),
]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FORMAT_2, tmp_path / "checkpoints"))


def outcomes(checkpoint: Checkpoint) -> list[tuple[int, Outcome]]:
    """The concurrency and the outcome of each record."""
    return [(record.trial.workloads[0].load.value, record.outcome) for record in checkpoint.records]


def in_any_order(pairs: list[tuple[int, Outcome]]) -> list[tuple[int, Outcome]]:
    return sorted(pairs, key=lambda pair: (pair[0], pair[1].started))


def test_a_checkpoint_of_format_2_is_read_in_full() -> None:
    checkpoint = read_file(FORMAT_2 / "0.ckpt")

    assert in_any_order(outcomes(checkpoint)) == in_any_order(IN_CHECKPOINT)
    assert checkpoint.header.uuid
    assert [device.uuid for device in checkpoint.header.devices] == ["GPU-aaaa"]
    assert checkpoint.header.host == {"cpu": "Pretend", "server": "2.51.0"}
    assert checkpoint.header.nodes == {"a": 2}
    assert checkpoint.server_only == {"GPU-aaaa": {"gpu_used_memory": 10.0}}
    assert checkpoint.metadata == {"owner": {"team": ("a", "größe")}, "gone": 1}
    assert checkpoint.searches["m"]["mode"] == "brute"
    assert checkpoint.goal_of("m") is not None
    assert checkpoint.conclusions[Lane("m")].reason is StopReason.LIMIT
    assert checkpoint.profile.bases == {"m": ("m",)}


@pytest.mark.parametrize(
    ("entry", "cores"),
    [
        ({"host": {"Processor": "CPU, 8 cores"}}, 8),
        ({"host": {"Processor": "CPU, 8 cores"}, "cores": 4}, 4),
        ({"host": {"Processor": "8 cores of a CPU"}}, None),
        ({"host": {}}, None),
    ],
)
def test_cores_that_are_only_in_the_text_about_the_processor_are_read(
    entry: Entry, cores: int | None
) -> None:
    assert decode_header(entry).cores == cores


def test_a_directory_of_format_2_is_read_in_full() -> None:
    loaded = load(FORMAT_2)

    again = {key for key, record in loaded.records.items() if record.outcome == IN_CHECKPOINT[3][1]}
    expected = [*IN_CHECKPOINT[:2], *IN_CHECKPOINT[3:], *SINCE]  # (4, rich) was measured again
    assert loaded.damage == ()
    assert len(again) == 2
    assert in_any_order(outcomes(loaded)) == in_any_order(expected)
    assert loaded.metadata == {"owner": {"team": ("a", "größe")}}
    assert set(loaded.searches) == {"m", "n"}
    assert set(loaded.conclusions) == {Lane("m"), Lane("n")}
    assert loaded.server_only == {"GPU-aaaa": {"gpu_used_memory": 11.0}}


@pytest.mark.parametrize("name", ["0.ckpt", "journal", "journal-a"])
def test_files_of_format_2_are_intact(name: str) -> None:
    verdict = verify(FORMAT_2 / name)

    assert (verdict.damage, verdict.loss) == ("", "")


def test_a_run_goes_on_from_a_directory_of_format_2(directory: Path) -> None:
    before = outcomes(load(directory))

    with ProfileState(directory) as state:
        assert state.outcome_of(trial(7)) == measurement(7.0)
        state.record(trial(9), measurement(9.0))
        path = state.save()

    assert path == directory / "1.ckpt"
    assert in_any_order(outcomes(read_file(path))) == in_any_order([*before, (9, measurement(9.0))])
    assert any(isinstance(outcome, Measurement) for _, outcome in before)


@pytest.mark.parametrize("directory", [FORMAT_3, FORMAT_4], ids=["3", "4"])
@pytest.mark.parametrize("name", ["0.ckpt", "journal", "journal-a"])
def test_files_of_formats_3_and_4_are_intact(name: str, directory: Path) -> None:
    verdict = verify(directory / name)

    assert (verdict.damage, verdict.loss) == ("", "")


def test_a_directory_of_format_3_is_read_in_full() -> None:
    loaded = load(FORMAT_3)

    assert loaded.damage == ()
    assert len(loaded.records) == 16
    assert len(loaded.profile.failed) == 2
    assert len(loaded.header.devices) == len(loaded.server_only) == 2
    assert loaded.metadata == {
        "owner": {"team": "vision", "tickets": (7, {"id": 17})},
        "again": (1.5, True),
    }
    assert loaded.goal_of("m") is not None
    assert loaded.conclusions[Lane("m", "2 x A100")].reason is StopReason.NOTHING_WORTH
    assert loaded.profile.bases == {"m": ("another base",)}


def test_a_directory_of_format_4_is_read_in_full(tmp_path: Path) -> None:
    loaded = load(FORMAT_4)

    assert loaded.damage == ()
    assert Counter(record.trial.setup.kind for record in loaded.records) == {
        "2 x A100": 5, "1 x L4": 5, "no GPU": 1,
    }  # fmt: skip
    machines = [record.outcome.machine for record in loaded.records]
    assert Counter(machine and machine.host for machine in machines) == {
        "gpu1": 5, "gpu2": 5, None: 1,
    }  # fmt: skip
    assert [device.name for device in loaded.devices] == ["A100", "A100", "L4"]
    assert len(loaded.profile.failed) == 2
    assert loaded.profile.unfinished == frozenset()
    lanes = {Lane("m", "2 x A100"), Lane("m", "1 x L4")}
    assert set(loaded.conclusions) == lanes
    goal = loaded.goal_of("m")
    assert goal is not None
    rankings = rank(loaded.profile, "m", goal)
    assert {ranking.kind for ranking in rankings if ranking.conclusion} == {"2 x A100", "1 x L4"}
    shutil.copytree(FORMAT_4, tmp_path / "copy")
    with ProfileState(tmp_path / "copy") as state:
        assert {len(state.asked(lane)) for lane in lanes} == {3}


def test_rounds_are_read_and_pooled() -> None:
    profile = read_file(FORMAT_2.with_name("rounds") / "0.ckpt").profile

    (ranked,) = rank(profile, "m", goal())

    assert all(item.measurement.is_round for item in ranked.measured)
    by_load = {item.trial.workloads[0].load.value: item for item in ranked.measured}
    assert {load: len(item.runs) for load, item in by_load.items()} == {1: 3, 4: 3, 16: 3}
    pooled, runs = by_load[16].measurement, [run.models[0] for run in by_load[16].runs]
    requests = sum(run.requests or 0 for run in runs)
    seconds = sum(run.seconds for run in runs)
    assert pooled.models[0].requests == requests
    assert pooled.value("perf_throughput") == pytest.approx(requests / seconds)
    percentiles = sorted(run.values["perf_latency_p99"] for run in runs)
    assert percentiles[0] < (pooled.value("perf_latency_p99") or 0) < percentiles[-1]
    assert set(by_load[4].measurement.models[0].histograms) == {
        "perf_latency", "time_to_first_token", "inter_token_latency",
    }  # fmt: skip


def in_format_1(path: Path) -> bytes:
    """The lines of a journal as format 1 had them: each workload says how its load is generated."""
    entries = [dict(decode(line)) for line in path.read_bytes().splitlines(keepends=True)]
    generators = {entry["id"]: entry for entry in entries if entry["entry"] == "generator"}
    for entry in entries:
        for work in entry.get("workloads", ()):
            work |= {**generators[work.pop("generator")], "entry": None, "id": None}
    return b"".join(encode(entry) for entry in entries if entry["entry"] != "generator")


def test_in_format_1_each_workload_has_its_generator(tmp_path: Path) -> None:
    (tmp_path / "journal").write_bytes(in_format_1(FORMAT_2 / "journal"))

    loaded = load(tmp_path)

    assert not loaded.damage
    assert [*loaded.records] == [*read_file(FORMAT_2 / "journal").records]
