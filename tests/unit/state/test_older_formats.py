# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Files of each format are read in full, and gone on from; until format 3, trials had the UUIDs of
GPUs in their keys: what becomes of their checkpoints.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.domain.hardware import Device
from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.profiles import StopReason, TrialRecord
from model_analyzer.domain.slots import Asked, Lane
from model_analyzer.domain.trials import ServerSetup, Trial
from model_analyzer.results.ranking import rank
from model_analyzer.state.checkpoint import Checkpoint, load, read_file
from model_analyzer.state.find import verify
from model_analyzer.state.format.codec import (
    Encoder,
    Entry,
    decode,
    encode,
    encode_asked,
    encode_conclusion,
)
from model_analyzer.state.format.header import decode_header
from model_analyzer.state.profile_state import ProfileState
from tests.unit.builders import conclusion, goal
from tests.unit.state.samples import (
    failure,
    measurement,
    rich_failure,
    rich_measurement,
    rich_trial,
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


OF_FORMAT_3 = Path(__file__).parents[2] / "golden" / "checkpoints" / "format3"
LANE = Lane("m", "2 x A100")

A = Device(uuid="GPU-a", name="L4", memory=24000.0)
B = Device(uuid="GPU-b", name="L4", memory=24000.0)
SERVED = Device(uuid="GPU-c", name="GPU", memory=16000.0)


@pytest.fixture
def upgraded_directory(tmp_path: Path) -> Path:
    return Path(shutil.copytree(OF_FORMAT_3, tmp_path / "checkpoints"))


def setups(path: Path) -> list[list[str]]:
    lines = map(json.loads, path.read_bytes().split(b"\n")[:-1])
    return [line["devices"] for line in lines if line["entry"] == "setup"]


def test_keys_are_those_of_the_same_trials_on_gpus_of_this_kind() -> None:
    records = load(OF_FORMAT_3).records

    assert {record.trial.setup.devices for record in records} == {("A100", "A100")}
    assert all(key == record.trial.key for key, record in records.items())


def test_conclusions_follow_the_keys_of_their_trials() -> None:
    loaded = load(OF_FORMAT_3)

    assert set(loaded.conclusions) == {LANE}
    assert {loaded.conclusions[LANE].recommended} <= loaded.records.keys()


def test_a_run_on_equal_gpus_measures_nothing_again(upgraded_directory: Path) -> None:
    sample = rich_trial(5)
    before_that_option = replace(sample, setup=replace(sample.setup, uncached=False))
    with ProfileState(upgraded_directory) as state:
        state.describe(devices=[replace(A, name="A100")], host={})
        known = state.outcome_of(before_that_option)
        state.record(rich_trial(6), rich_measurement())
        path = state.save()

    assert known is not None
    assert path is not None
    assert set(map(tuple, setups(path))) == {("A100", "A100")}
    assert load(upgraded_directory).records == read_file(path).records


def test_what_is_written_next_is_of_this_format_and_has_everything(
    upgraded_directory: Path,
) -> None:
    before = load(upgraded_directory)

    with ProfileState(upgraded_directory) as state:
        state.record_metadata({"a": 1})
        state.fold()
        state.save()

    (upgraded_directory / "0.ckpt").unlink()
    assert not (upgraded_directory / "journal-a").exists(), "its outcomes are in the checkpoint"
    after = load(upgraded_directory)
    assert after.records == before.records
    assert after.conclusions == before.conclusions


# -- journals of format 3 --------------------------------------------------------------------------


def on(*uuids: str, number: int = 1) -> Trial:
    return replace(trial(number), setup=ServerSetup(devices=uuids))


def journal(path: Path, *parts: tuple[tuple[Device, ...], list[Trial]]) -> None:
    """A journal as format 3 wrote it: for each run its GPUs, and the trials that it measured."""
    with path.open("wb") as file:
        for devices, trials in parts:
            header = {"entry": "header", "format": 3, "devices": [*map(asdict, devices)]}
            file.write(encode(header))
            encoder = Encoder()
            for each in trials:
                for entry in encoder.record(each.key, TrialRecord(each, measurement())):
                    file.write(encode(entry))


@pytest.mark.parametrize(
    ("devices", "uuids", "names"),
    [
        ((A, B), ("GPU-a", "GPU-b"), ("L4", "L4")),
        ((A,), ("GPU-a", "GPU-x"), ("GPU-x", "L4")),
        ((), ("GPU-x",), ("GPU-x",)),
        ((SERVED,), ("GPU-c",), ("GPU (16000 MB)",)),
        ((replace(SERVED, memory=0.0),), ("GPU-c",), ("GPU",)),
        ((A,), (), ()),
    ],
)
def test_gpus_have_the_names_that_the_header_knows(
    tmp_path: Path, devices: tuple[Device, ...], uuids: tuple[str, ...], names: tuple[str, ...]
) -> None:
    journal(tmp_path / "journal", (devices, [on(*uuids)]))

    (record,) = load(tmp_path).records

    assert record.trial.setup.devices == names
    assert load(tmp_path).records.keys() == {on(*names).key}


def test_each_run_of_a_journal_has_its_own_gpus(tmp_path: Path) -> None:
    other = Device(uuid="GPU-d", name="H100", memory=80000.0)
    journal(
        tmp_path / "journal",
        ((A,), [on("GPU-a", number=1)]),
        ((other,), [on("GPU-d", number=1), on("GPU-d", number=2)]),
    )
    with ProfileState(tmp_path) as state:
        state.describe(devices=(B,), host={})
        assert state.outcome_of(on("L4", number=2)) is None
        state.record(on("L4", number=2), measurement(2.0))

    assert load(tmp_path).records.keys() == {
        on("L4", number=1).key,
        on("H100", number=1).key,
        on("H100", number=2).key,
        on("L4", number=2).key,
    }


def test_two_gpus_of_a_kind_have_measured_the_same_trial(tmp_path: Path) -> None:
    journal(tmp_path / "journal", ((A,), [on("GPU-a")]), ((B,), [on("GPU-b")]))

    assert len(load(tmp_path).records) == 1


def test_questions_follow_the_keys_of_their_trials(tmp_path: Path) -> None:
    first, second = on("GPU-a", number=1), on("GPU-a", number=2)
    journal(tmp_path / "journal", ((A,), [first, second]))
    with (tmp_path / "journal").open("ab") as file:
        questions = (Asked(key=first.key, after=()), Asked(key="unknown", after=(first.key,)))
        for number, asked in enumerate(questions):
            file.write(encode(encode_asked(Lane("m"), number, asked)))
        file.write(encode(encode_conclusion(Lane("m"), conclusion(second, 2))))

    loaded = load(tmp_path)

    new = on("L4", number=1).key
    lane = Lane("m", "1 x L4")
    assert loaded.asked == {lane: (Asked(key=new, after=()), Asked(key="unknown", after=(new,)))}
    assert loaded.conclusions[lane].recommended == on("L4", number=2).key


def test_a_key_that_does_not_follow_from_its_trial_stays(tmp_path: Path) -> None:
    journal(tmp_path / "journal", ((A,), [on("GPU-a")]))
    path = tmp_path / "journal"
    path.write_bytes(_again(path.read_bytes(), lambda entry: entry | {"key": "another"}))

    ((key, record),) = load(tmp_path).records.items()

    assert key == "another"
    assert record.trial.setup.devices == ("L4",)


def _again(content: bytes, change: Callable[[dict[str, Any]], dict[str, Any]]) -> bytes:
    """The lines, outcomes changed, with right checksums."""

    def lines() -> Iterator[bytes]:
        for line in content.splitlines():
            entry = json.loads(line)
            del entry["crc"]
            yield encode(change(entry) if entry["entry"] == "measurement" else entry)

    return b"".join(lines())


# -- damage ----------------------------------------------------------------------------------------


def test_any_damaged_line_costs_one_outcome_at_most(upgraded_directory: Path) -> None:
    path = upgraded_directory / "0.ckpt"
    (upgraded_directory / "journal").unlink()
    whole, lines = (
        load(upgraded_directory).records.keys(),
        path.read_bytes().splitlines(keepends=True),
    )
    for number, line in enumerate(lines):
        broken = b'{"' + bytes(reversed(line[2:-1])) + b"\n"
        path.write_bytes(b"".join([*lines[:number], broken, *lines[number + 1 :]]))

        damaged = load(upgraded_directory).records.keys()

        assert damaged <= whole, f"line {number}: a key of the older format"
        assert len(whole - damaged) <= 1, f"line {number}"


def test_without_its_header_a_journal_keeps_its_outcomes_as_they_are(tmp_path: Path) -> None:
    """Its checkpoint may be of other GPUs, so only its own header names them."""
    journal(tmp_path / "journal", ((A,), [on("GPU-a")]))
    header, *others = (tmp_path / "journal").read_bytes().splitlines(keepends=True)
    (tmp_path / "journal").write_bytes(b"".join([header.replace(b"L4", b"H4"), *others]))

    assert load(tmp_path).records.keys() == {on("GPU-a").key}
