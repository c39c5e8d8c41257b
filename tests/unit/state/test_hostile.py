# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Files made to harm: refused in one line, within bounds of memory and time, and nothing is run."""

from __future__ import annotations

import os
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from model_analyzer.errors import CheckpointError
from model_analyzer.state import records
from model_analyzer.state.checkpoint import load, read_file
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.profile_state import ProfileState
from tests.unit.state.samples import measurement, trial

MB = 2**20


def line(body: str) -> bytes:
    """A line with the checksum that it should have."""
    raw = body.encode()
    return raw[:-1] + b',"crc":"%08x"}\n' % zlib.crc32(raw)


@pytest.fixture
def good(tmp_path: Path) -> list[bytes]:
    """The lines of a small journal: header, setup, variant, generator, measurement."""
    with ProfileState(tmp_path / "good") as state:
        state.record(trial(1), measurement(1.0))
    return Layout(tmp_path / "good").journal().read_bytes().splitlines(keepends=True)


def body(raw: bytes) -> str:
    """A line without its checksum."""
    return raw[: raw.rindex(b',"crc"')].decode() + "}"


def peak_mb(call: Callable[[], object]) -> float:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1] / MB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kept", [0, 100_000], ids=["among very many", "among few"])
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"perf_throughput":1.0', '"perf_throughput":NaN', "NaN is not a number"),
        ('"perf_throughput":1.0', '"perf_throughput":Infinity', "Infinity is not a number"),
        ('"perf_throughput":1.0', '"perf_throughput":1e999', "expected a number from"),
        (
            '"perf_throughput":1.0',
            f'"perf_throughput":{"9" * 400}',
            "perf_throughput: expected a number",
        ),
        ('"perf_throughput":1.0', f'"perf_throughput":{"9" * 10_000}', "limit"),
        (
            '"perf_throughput":1.0',
            '"perf_throughput":"1"',
            "models[0].values.perf_throughput: expected",
        ),
        ('"perf_throughput":1.0', '"perf_throughput":1.0,"perf_throughput":2.0', "twice"),
        ('"windows":[]', '"windows":[1e999]', "models[0].windows[0]: expected"),
        ('"windows":[]', '"windows":' + "[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ('"windows":[]', '"windows":[],"seconds":-1', "models[0].seconds: expected a number"),
        ('"windows":[]', '"windows":[],"histograms":{"a":7}', "histograms.a: expected a list of 2"),
        (
            '"windows":[]',
            '"windows":[],"histograms":{"a":["A B",1]}',
            "models[0].histograms.a: expected a histogram, found 'A B'",
        ),
        (
            '"windows":[]',
            f'"windows":[],"histograms":{{"a":["{"B" * 10_000}",1]}}',
            "models[0].histograms.a: expected a histogram",
        ),
        (
            '"windows":[]',
            '"windows":[],"histograms":{"a":["AB",0]}',
            "models[0].histograms.a: expected a number from 1",
        ),
        ('"models":[', '"models":7,"x":[', "(models: expected a list, found 7)"),
        ('"workloads":[', '"workloads":null,"x":[', "(workloads: expected a list, found None)"),
        (
            '"kind":"concurrency"',
            '"kind":["concurrency"]',
            "workloads[0].kind: expected one of concurrency",
        ),
        ('"value":1', '"value":"1"', "workloads[0].value: expected a whole number"),
        ('"key":', '"no key":', "(key: expected a text of 1 to 1000 characters, found nothing)"),
        ('"key":', '"node":["n"],"key":', "node: expected the name of a node"),
        ('"models":[', '"models":[],"x":[', "fewer models"),
        ('"workloads":[', '"workloads":[],"x":[', "fewer models"),
        ('"started":0.0', '"started":1e300', "started: expected a number"),
        ('"started":0.0', '"started":"now"', "started: expected a number"),
    ],
)
def test_an_entry_that_means_harm_is_left_out_and_named(
    tmp_path: Path,
    good: list[bytes],
    monkeypatch: pytest.MonkeyPatch,
    old: str,
    new: str,
    message: str,
    kept: int,
) -> None:
    monkeypatch.setattr(records, "_KEPT", kept)
    assert old in body(good[4])
    bad = tmp_path / "bad"
    bad.mkdir()
    (bad / "journal").write_bytes(b"".join([*good[:4], line(body(good[4]).replace(old, new))]))

    checkpoint = load(bad)

    assert len(checkpoint.records) == 0
    (damage,) = checkpoint.damage
    assert message in damage
    assert "\n" not in damage
    assert len(damage) < 1000


@pytest.mark.parametrize(
    "config", ["[1]", "7", '{"a":' + "[" * 400 + "]" * 400 + "}"], ids=["list", "number", "deep"]
)
def test_a_variant_that_means_harm_is_left_out(
    tmp_path: Path, good: list[bytes], config: str
) -> None:
    old = '"config":{"name":"m"}'
    assert old in body(good[2])
    bad = line(body(good[2]).replace(old, f'"config":{config}'))
    (tmp_path / "journal").write_bytes(b"".join([*good[:2], bad, *good[3:]]))

    checkpoint = load(tmp_path)

    assert len(checkpoint.records) == 0
    assert len(checkpoint.damage) == 1


@pytest.mark.parametrize(
    "header",
    [
        '{"entry":"header","format":2,"devices":7}',
        '{"entry":"header","format":2,"devices":[7]}',
        '{"entry":"header","format":2,"host":[1]}',
        '{"entry":"header","format":2,"nodes":{"a":"many"}}',
        '{"entry":"header","format":2,"index":"x"}',
        '{"entry":"header","format":2,"index":1e999}',
        '{"entry":"header","format":2,"nodes":{"a":1e999}}',
        '{"entry":"nonsense"}',
        '{"entry":"metadata"}',
        '{"entry":"metadata","key":"k","value":1e999}',
        '{"entry":"header","format":2,"devices":[{"uuid":"G","name":"g","memory":1e999}]}',
        '{"entry":"metadata","key":"k","value":' + "[" * 400 + "]" * 400 + "}",
        '{"entry":"search"}',
        '{"entry":"server-only","gpus":[1]}',
    ],
)
def test_odd_entries_do_not_keep_a_run_from_starting(
    tmp_path: Path, good: list[bytes], header: str
) -> None:
    (tmp_path / "journal").write_bytes(b"".join([*good, line(header)]))

    with ProfileState(tmp_path) as state:
        assert state.outcome_of(trial(1)) == measurement(1.0)
        state.save()
    assert not load(tmp_path).damage


def test_a_line_of_half_a_gigabyte_is_not_read_into_memory(
    tmp_path: Path, good: list[bytes]
) -> None:
    path = tmp_path / "journal"
    path.write_bytes(b"".join(good))
    with open(path, "ab") as file:
        file.truncate(path.stat().st_size + 512 * MB)  # a hole: zeros that take no room
        file.seek(0, os.SEEK_END)
        file.write(b"\n")

    checkpoints = []
    assert peak_mb(lambda: checkpoints.append(load(tmp_path))) < 300
    assert len(checkpoints[0].records) == 1
    assert checkpoints[0].damage == (
        f"{path} is damaged (line 6: a line of more than 64 MiB; lost: no outcome)",
    )


def test_a_number_without_a_next_one_is_no_number_of_a_checkpoint(
    tmp_path: Path, good: list[bytes]
) -> None:
    """A file has at most 255 characters in its name."""
    (tmp_path / f"{'9' * 250}.ckpt").write_bytes(b"".join(good))

    with ProfileState(tmp_path) as state:
        state.record(trial(9), measurement(99.0))
        state.save()

    assert Layout(tmp_path).indices() == [0]
    assert len(load(tmp_path).records) == 1


def test_special_files_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "0.ckpt")
    (tmp_path / "1.ckpt").symlink_to("/dev/zero")

    assert [damage.partition(" is ")[2] for damage in load(tmp_path).damage] == [
        "damaged (cannot be read: Not a regular file)"
    ] * 2
    with pytest.raises(CheckpointError, match="Not a regular file"):
        read_file(tmp_path / "0.ckpt")


def test_paths_in_a_checkpoint_are_never_written_to(tmp_path: Path, good: list[bytes]) -> None:
    directory = tmp_path / "deep" / "down"
    directory.mkdir(parents=True)
    outside = "../../outside"
    lines = b"".join(good).replace(b"m_config_default", outside.encode())
    bodies = [line(body(text)) for text in lines.splitlines(keepends=True)]
    (directory / "journal").write_bytes(b"".join(bodies))
    before = {*tmp_path.rglob("*")}

    with ProfileState(directory) as state:
        assert [record.trial.variants for record in state.profile.records] == [outside]
        state.save()

    assert {*tmp_path.rglob("*")} == {*before, directory / "0.ckpt"} - {directory / "journal"}
