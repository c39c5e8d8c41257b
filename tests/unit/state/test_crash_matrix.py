# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Every way a disk can fail while something is kept: what was acknowledged is there afterwards.

The small files of test_damage.py are cut at every byte; here are large ones, and faults of the
system calls themselves.

A writer that is killed again and again loses nothing that it has acknowledged.
"""

from __future__ import annotations

import builtins
import errno
import os
import random
import time
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import IO, Any

import pytest

from model_analyzer.errors import CheckpointError
from model_analyzer.state.checkpoint import load
from model_analyzer.state.profile_state import ProfileState
from tests.sizes import small_and_full
from tests.unit.state.processes import acknowledged, kill, writer
from tests.unit.state.samples import measurement, rich_measurement, rich_trial, several, trial

ERRORS = [errno.ENOSPC, errno.EIO]
LARGE = 150  # records, of about 1 kB each


def keys(directory: Path) -> set[str]:
    return {record.trial.key for record in load(directory).records}


# -- faults of system calls --------------------------------------------------------------------


class Disk:
    """Counts what is asked of the disk, and fails the one request that it was told to fail."""

    def __init__(self, error: int) -> None:
        self._error = error
        self._requests = 0
        self.failing = 0  # from 1; none is 0

    def request(self) -> None:
        self._requests += 1
        if self._requests == self.failing:
            raise OSError(self._error, os.strerror(self._error))

    def begin(self, failing: int) -> None:
        self._requests, self.failing = 0, failing

    @property
    def has_failed(self) -> bool:
        return self._requests >= self.failing > 0


class FaultyFile:
    """A file in which each line is written by a request of its own."""

    def __init__(self, file: IO[bytes], disk: Disk) -> None:
        self._file, self._disk = file, disk

    def __enter__(self) -> FaultyFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def writelines(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            self._disk.request()
            self._file.write(line)

    def flush(self) -> None:
        self._disk.request()
        self._file.flush()

    def fileno(self) -> int:
        return self._file.fileno()


@pytest.fixture(params=ERRORS, ids=errno.errorcode.get)
def disk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Disk:
    """A disk for everything that is written in this process."""
    made = Disk(request.param)

    def faulty(call: Callable[..., Any]) -> Callable[..., Any]:
        def asked(*arguments: Any, **named: Any) -> Any:
            made.request()
            return call(*arguments, **named)

        return asked

    for name in ("write", "fsync", "link", "ftruncate"):
        monkeypatch.setattr(os, name, faulty(getattr(os, name)))

    def opened(path: Path, mode: str = "r") -> Any:
        file = builtins.open(path, mode)  # noqa: SIM115
        return FaultyFile(file, made) if mode == "xb" else file

    monkeypatch.setattr("model_analyzer.writing.open", opened, raising=False)
    return made


def test_no_failing_request_of_a_save_loses_an_acknowledged_outcome(
    tmp_path: Path, disk: Disk
) -> None:
    errors: list[str] = []
    for failing in count(1):
        directory = tmp_path / str(failing)
        disk.begin(0)
        with ProfileState(directory) as state:
            for sample in several(3):
                state.record(sample, measurement())
            state.save()
            state.record(rich_trial(), rich_measurement())
            acknowledged = keys(directory)
            disk.begin(failing)
            try:
                state.save()
            except CheckpointError as error:
                errors.append(str(error))
            has_failed = disk.has_failed
            disk.begin(0)
        assert keys(directory) == acknowledged, f"request {failing}"
        with ProfileState(directory) as state:  # a start succeeds, and can go on
            state.record(trial(9), measurement())
            state.save()
        assert keys(directory) == acknowledged | {trial(9).key}, f"request {failing}"
        assert load(directory).damage == ()
        if not has_failed:
            break
    assert not any("\n" in error for error in errors)
    assert len(errors) >= 10  # one for each line, flush, two fsyncs and the rename


def test_no_failing_request_of_a_record_loses_an_acknowledged_outcome(
    tmp_path: Path, disk: Disk
) -> None:
    errors: list[str] = []
    for failing in count(1):
        directory = tmp_path / str(failing)
        disk.begin(0)
        acknowledged = set()
        with ProfileState(directory) as state:
            disk.begin(failing)
            for sample in several(3):
                try:
                    state.record(sample, measurement())
                except CheckpointError as error:
                    errors.append(str(error))
                else:
                    acknowledged.add(sample.key)
            has_failed = disk.has_failed
            disk.begin(0)
        assert keys(directory) >= acknowledged, f"request {failing}"
        if not has_failed:
            break
    assert not any("\n" in error for error in errors)
    assert len(errors) == 6  # a write and an fsync for each


# -- large files -------------------------------------------------------------------------------


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A directory with a large checkpoint, and as much again in the journal."""
    with ProfileState(tmp_path) as state:
        for number in range(1, LARGE + 1):
            state.record(rich_trial(number), rich_measurement())
        state.save()
        for number in range(LARGE + 1, 2 * LARGE + 1):
            state.record(rich_trial(number), rich_measurement())
    return tmp_path


def starts_with(directory: Path, intact: set[str], name: str, where: str) -> set[str]:
    """A start succeeds, has everything that is intact, and says what is damaged; what it has."""
    loaded = load(directory)
    read_keys = {record.trial.key for record in loaded.records}
    assert intact <= read_keys, where
    (damage,) = loaded.damage
    assert damage.startswith(f"{directory / name} is damaged ("), where
    return read_keys


@small_and_full("times", 5, 2000)
@pytest.mark.parametrize("name", ["0.ckpt", "journal"])
def test_a_large_file_cut_anywhere(large: Path, name: str, times: int) -> None:
    path = large / name
    raw = path.read_bytes()
    path.write_bytes(b"")
    other_keys = keys(large)  # what the other file has
    for position in random.Random(times).sample(range(1, len(raw)), times):
        if raw[position - 1] == ord("\n") and name == "journal":
            continue  # between two lines of a journal nothing is missing that could be named
        path.write_bytes(raw[:position])
        starts_with(large, other_keys, name, f"cut at {position}")


@small_and_full("times", 5, 1000)
@pytest.mark.parametrize("name", ["0.ckpt", "journal"])
def test_a_large_file_with_a_flipped_bit(large: Path, name: str, times: int) -> None:
    path = large / name
    raw = path.read_bytes()
    everything = keys(large)
    path.write_bytes(b"")
    other_keys = keys(large)
    dice = random.Random(times)
    for _ in range(times):
        position, bit = dice.randrange(len(raw)), dice.randrange(8)
        flipped = bytearray(raw)
        flipped[position] ^= 1 << bit
        path.write_bytes(flipped)
        read_keys = starts_with(large, other_keys, name, f"bit {bit} of byte {position}")
        assert len(everything - read_keys) <= 1, position


@small_and_full("kills", 5, 200)
def test_killed_writers_lose_no_acknowledged_outcome(tmp_path: Path, kills: int) -> None:
    dice = random.Random(3)
    first, keys = 1, []

    for _ in range(kills):
        with writer(tmp_path, first=first) as process:
            assert process.stdout is not None
            keys += [process.stdout.readline().strip() for _ in range(dice.randrange(1, 30))]
            time.sleep(dice.uniform(0, 0.01))
            kill(process)
            keys += acknowledged(process)
        records = load(tmp_path).profile.records
        # It may have died between the end of `record` and the acknowledgement.
        assert [record.trial.key for record in records][: len(keys)] == keys
        assert len(records) <= len(keys) + 1
        keys = [record.trial.key for record in records]
        first = len(keys) + 1

    # Nothing was invented, and nothing changed on the way.
    assert len(keys) >= kills
    for number, record in enumerate(records, start=1):
        assert (record.trial, record.outcome) == (trial(number), measurement(number))
    with ProfileState(tmp_path) as state:
        state.record(trial(first), measurement())
        assert state.save() is not None
    assert load(tmp_path).damage == ()
    assert len(load(tmp_path).profile.records) == first
