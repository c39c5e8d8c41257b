# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""One damaged line costs one outcome at most, which is named, whatever is on that line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model_analyzer.domain.hardware import Device
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.models import freeze
from model_analyzer.domain.trials import Trial
from model_analyzer.state.checkpoint import Checkpoint, load, read_file
from model_analyzer.state.find import verify
from model_analyzer.state.node import Follower, NodeJournal
from model_analyzer.state.profile_state import ProfileState
from tests.sizes import small_and_full
from tests.unit.state.samples import (
    failure,
    measurement,
    rich_failure,
    rich_measurement,
    rich_trial,
    trial,
)

NAMES = ["0.ckpt", "journal"]


def pairs() -> list[tuple[Trial, Outcome]]:
    """Outcomes that share all definitions, some, and none."""
    named = [trial(number, name=f"m_config_{number % 2}") for number in range(1, 6)]
    alone = trial(9, name="alone")
    return [
        *((sample, measurement(float(number))) for number, sample in enumerate(named)),
        (rich_trial(4), rich_measurement()),
        (rich_trial(5), rich_failure()),
        (rich_trial(6), rich_measurement()),
        (replace(alone, setup=replace(alone.setup, version="1")), failure()),
    ]


def written(directory: Path) -> Mapping[str, bytes]:
    """A checkpoint and a journal that hold the same."""
    for name in NAMES:
        with ProfileState(directory / name) as state:
            state.describe(devices=[Device(uuid="G", name="g", memory=1.0)], host={"cpu": "c"})
            state.record_server_only({"G": {"gpu_used_memory": 1.0}})
            state.record_metadata({"k": "v"})
            for sample, outcome in pairs():
                state.record(sample, outcome)
            if name == "0.ckpt":
                state.save()
    return {name: (directory / name / name).read_bytes() for name in NAMES}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, bytes]:
    return written(tmp_path_factory.mktemp("written"))


def check(directory: Path, name: str, raw: bytes, where: object) -> None:
    """What is read of a file with one fault is right, and lacks one outcome at most."""
    directory.mkdir(exist_ok=True)
    (directory / name).write_bytes(raw)
    loaded = load(directory)
    expected = {sample.key: outcome for sample, outcome in pairs()}
    outcomes = {key: record.outcome for key, record in loaded.records.items()}
    assert outcomes.items() <= expected.items(), where
    lost = expected.keys() - outcomes.keys()
    assert len(lost) <= 1, where
    assert_named(loaded, lost, where)


def assert_named(loaded: Checkpoint, lost: set[str], where: object) -> None:
    (damage,) = loaded.damage
    if not lost:
        assert damage.endswith("lost: no outcome)"), (where, damage)
    else:
        assert "lost: an outcome" in damage, (where, damage)


@pytest.mark.parametrize("name", NAMES)
def test_any_line_may_be_missing(tmp_path: Path, files: Mapping[str, bytes], name: str) -> None:
    lines = files[name].splitlines(keepends=True)
    # see below for the last line of a journal
    for number in range(len(lines) - (name == "journal")):
        (tmp_path / name).write_bytes(b"".join([*lines[:number], *lines[number + 1 :]]))
        loaded = load(tmp_path)
        lost = {sample.key for sample, _ in pairs()} - loaded.records.keys()
        assert len(lost) <= 1, number
        assert not lost or "lost: an outcome" in loaded.damage[0], number


@pytest.mark.parametrize("name", NAMES)
def test_a_line_that_no_outcome_needs_may_be_missing(
    tmp_path: Path, files: Mapping[str, bytes], name: str
) -> None:
    lines = files[name].splitlines(keepends=True)
    for number, line in enumerate(lines):
        if re.match(rb'{"entry":"(measurement|failure|setup|variant|generator)"', line):
            continue
        (tmp_path / name).write_bytes(b"".join([*lines[:number], *lines[number + 1 :]]))
        assert len(load(tmp_path).records) == len(pairs()), line


def test_the_last_outcome_of_a_journal_may_be_missing(
    tmp_path: Path, files: Mapping[str, bytes]
) -> None:
    """Nothing behind it tells that it was there: that of a live run is noticed by the run."""
    lines = files["journal"].splitlines(keepends=True)
    (tmp_path / "journal").write_bytes(b"".join(lines[:-1]))

    assert len(load(tmp_path).records) == len(pairs()) - 1


def test_an_outcome_that_is_missing_in_a_checkpoint_is_called_by_its_name(
    tmp_path: Path, files: Mapping[str, bytes]
) -> None:
    lines = files["0.ckpt"].splitlines(keepends=True)
    place = next(n for n, line in enumerate(lines) if b'"name":"alone"' in line and b"key" in line)
    (tmp_path / "0.ckpt").write_bytes(b"".join([*lines[:place], *lines[place + 1 :]]))

    (damage,) = load(tmp_path).damage
    assert damage.endswith("(the digest does not match; lost: an outcome of alone)")
    assert verify(tmp_path / "0.ckpt").loss == f"1 of {len(lines) - 1} entries: an outcome of alone"


@pytest.mark.parametrize("name", NAMES)
@small_and_full("bits", [3], [0, 3])
def test_one_bit_in_each_part_of_a_line_may_be_flipped(
    tmp_path: Path, files: Mapping[str, bytes], name: str, bits: Sequence[int]
) -> None:
    raw = files[name]
    ends = [position for position, byte in enumerate(raw) if byte == ord("\n")]
    starts = [0, *(end + 1 for end in ends[:-1])]
    for start, end in zip(starts, ends, strict=True):
        for position in (start, start + 1, start + 12, (start + end) // 2, end - 5, end - 1, end):
            for bit in bits:
                flipped = bytearray(raw)
                flipped[position] ^= 1 << bit
                check(tmp_path, name, bytes(flipped), (position, bit))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_bit_of_a_file_may_be_flipped(
    tmp_path: Path, files: Mapping[str, bytes], name: str
) -> None:
    raw = files[name]
    for position in range(len(raw)):
        flipped = bytearray(raw)
        flipped[position] ^= 1 << position % 8
        check(tmp_path, name, bytes(flipped), position)


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bit_may_be_flipped(
    tmp_path: Path, files: Mapping[str, bytes], data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(NAMES))
    raw = bytearray(files[name])
    position = data.draw(st.integers(0, len(raw) - 1))
    raw[position] ^= 1 << data.draw(st.integers(0, 7))
    check(tmp_path / name, name, bytes(raw), position)


@small_and_full("step", 307, 31)
def test_any_byte_may_have_become_a_line_end(
    tmp_path: Path, files: Mapping[str, bytes], step: int
) -> None:
    for name in NAMES:
        for position in range(0, len(files[name]), step):
            raw = bytearray(files[name])
            if raw[position] != ord("\n"):
                raw[position] = ord("\n")
                check(tmp_path / name, name, bytes(raw), position)


def test_a_run_writes_a_checkpoint_that_is_whole_again(
    tmp_path: Path, files: Mapping[str, bytes]
) -> None:
    lines = files["0.ckpt"].splitlines(keepends=True)
    place = next(n for n, line in enumerate(lines) if line.startswith(b'{"entry":"setup"'))
    (tmp_path / "0.ckpt").write_bytes(b"".join([*lines[:place], *lines[place + 1 :]]))

    with ProfileState(tmp_path) as state:
        state.record(trial(50), measurement())
        state.save()

    assert len(read_file(tmp_path / "1.ckpt").records) == len(pairs()) + 1


def test_a_header_that_is_lost_is_restored(tmp_path: Path, files: Mapping[str, bytes]) -> None:
    (tmp_path / "0.ckpt").write_bytes(files["0.ckpt"].partition(b"\n")[2])

    assert [device.uuid for device in load(tmp_path).header.devices] == ["G"]
    assert load(tmp_path).header.uuid


def test_a_follower_uses_copies_too(tmp_path: Path) -> None:
    with NodeJournal(tmp_path, "a") as node:
        for number in range(1, 4):
            node.record(trial(number), measurement())
    journal = tmp_path / "journal-a"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(line for line in lines if b'"entry":"variant"' not in line))

    assert len(Follower(journal, "a").read()) == 3


def test_copies_cost_little(tmp_path: Path) -> None:
    """In a checkpoint as runs make it: each variant under a few loads."""
    base = rich_trial()
    plain = base.workloads[1]
    commands = ("perf_analyzer -m plain -b 1 --concurrency-range 16 " + "--flag value " * 20,)
    with ProfileState(tmp_path) as state:
        for number in range(20):
            config = freeze({**plain.variant.config, "instance_group": [{"count": number + 1}]})
            variant = replace(plain.variant, name=f"plain_config_{number}", config=config)
            for load_value in range(1, 7):
                load_ = replace(plain.load, value=load_value)
                work = replace(plain, variant=variant, load=load_)
                outcome = rich_measurement()
                outcome = replace(
                    outcome, models=outcome.models[:1], started=1e9 + number, commands=commands
                )
                state.record(replace(base, workloads=(work,)), outcome)
        journal = (tmp_path / "journal").read_bytes()
        state.save()
    for raw in (journal, (tmp_path / "0.ckpt").read_bytes()):
        extra = [
            line
            for line in raw.splitlines(keepends=True)
            if line.startswith((b'{"entry":"copy"', b'{"entry":"contents"'))
        ]
        assert sum(map(len, extra)) / (len(raw) - sum(map(len, extra))) < 0.05
