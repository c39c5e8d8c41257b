# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Damaged files: the rest is used, the damage is named, and nothing is invented.

One damaged line costs one outcome at most, which is named, whatever is on that line.
"""

from __future__ import annotations

import random
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
from model_analyzer.domain.profiles import TrialRecord
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

# concurrency -> outcome
OUTCOMES: dict[int, Outcome] = {
    1: measurement(1.0),
    2: failure("größe"),
    3: measurement(3.0),
    4: failure(),
    5: measurement(5.0),
}


def record(directory: Path, concurrencies: Sequence[int], *, save: bool = False) -> None:
    with ProfileState(directory) as state:
        for concurrency in concurrencies:
            state.record(trial(concurrency), OUTCOMES[concurrency])
        if save:
            state.save()


def loads_of(loaded: Checkpoint) -> list[int]:
    """The concurrencies of the records, each of which is as it was recorded."""
    values = []
    for record in loaded.profile.records:
        value = record.trial.workloads[0].load.value
        assert record == TrialRecord(trial=trial(value), outcome=OUTCOMES[value])
        assert record.trial.key == trial(value).key
        values.append(value)
    return values


def test_line_ends_that_a_copy_changed_cost_nothing(tmp_path: Path) -> None:
    record(tmp_path, [1, 2, 3], save=True)
    record(tmp_path, [4])
    for file in tmp_path / "0.ckpt", tmp_path / "journal":
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    record(tmp_path, [5])
    loaded = load(tmp_path)
    assert (loads_of(loaded), loaded.damage) == ([1, 2, 3, 4, 5], ())


def complete_lines(raw: bytes) -> int:
    return raw.count(b"\n")


def complete_outcomes(raw: bytes) -> int:
    complete_lines = raw[: raw.rfind(b"\n") + 1]
    return complete_lines.count(b'{"entry":"measurement"') + complete_lines.count(
        b'{"entry":"failure"'
    )


def cuts(raw: bytes, step: int) -> list[int]:
    """Lengths to cut to: around the end of every line, and one of so many between."""
    return [
        length
        for length in range(len(raw))
        if length % step == 0 or b"\n" in raw[max(length - 2, 0) : length + 2]
    ]


# -- the journal -------------------------------------------------------------------------------


@small_and_full("step", 13, 1)
def test_a_journal_cut_anywhere_holds_every_complete_record(tmp_path: Path, step: int) -> None:
    record(tmp_path, [1, 2, 3])
    journal = tmp_path / "journal"
    raw = journal.read_bytes()
    for length in [*cuts(raw, step), len(raw)]:
        journal.write_bytes(raw[:length])
        loaded = load(tmp_path)

        expected = complete_outcomes(raw[:length])
        assert loads_of(loaded) == [1, 2, 3][:expected], f"cut at {length}"
        torn = raw[:length].rpartition(b"\n")[2]
        line = complete_lines(raw[:length]) + 1
        assert len(loaded.damage) == (1 if torn else 0), f"cut at {length}"
        for damage in loaded.damage:
            assert damage.startswith(f"{journal} is damaged (line {line} is cut off"), length
            if b'"name":"m_config_default"' in torn and b'"workloads":' in torn:
                assert "lost: an outcome of m_config_default" in damage, length


@small_and_full("step", 53, 7)
def test_a_run_continues_a_journal_cut_anywhere(tmp_path: Path, step: int) -> None:
    record(tmp_path, [1, 2])
    journal = tmp_path / "journal"
    raw = journal.read_bytes()

    for length in [*cuts(raw, step), len(raw)]:
        journal.write_bytes(raw[:length])
        expected = complete_outcomes(raw[:length])

        record(tmp_path, [3])

        loaded = load(tmp_path)
        assert loaded.damage == (), f"cut at {length}"
        assert loads_of(loaded) == [*[1, 2][:expected], 3], f"cut at {length}"


@small_and_full("times", 60, 300)
def test_a_full_journal_survives_a_random_cut(tmp_path: Path, times: int) -> None:
    with ProfileState(tmp_path) as state:
        state.record(rich_trial(1), rich_measurement())
        state.record(rich_trial(2), rich_failure())
        state.record(rich_trial(3), rich_measurement())
    journal = tmp_path / "journal"
    raw = journal.read_bytes()
    outcomes = [rich_measurement(), rich_failure(), rich_measurement()]

    for length in random.Random(1).sample(range(len(raw)), times):
        journal.write_bytes(raw[:length])
        records = load(tmp_path).profile.records
        assert len(records) == complete_outcomes(raw[:length])
        assert [record.outcome for record in records] == outcomes[: len(records)]


def test_a_torn_journal_is_named_in_the_log_once(tmp_path: Path, caplog) -> None:
    record(tmp_path, [1, 2])
    journal = tmp_path / "journal"
    journal.write_bytes(journal.read_bytes()[:-10])

    with caplog.at_level("WARNING"):
        record(tmp_path, [3])
        record(tmp_path, [4])

    assert caplog.messages == [
        f"{journal} is damaged (line 9 is cut off; lost: an outcome of m_config_default (line 9)):"
        " using the intact part"
    ]
    assert loads_of(load(tmp_path)) == [1, 3, 4]


def test_a_torn_line_longer_than_a_block_is_dropped(tmp_path: Path) -> None:
    record(tmp_path, [1])
    with open(tmp_path / "journal", "ab") as journal:
        journal.write(b"x" * 200_000)

    record(tmp_path, [2])

    loaded = load(tmp_path)
    assert loaded.damage == ()
    assert loads_of(loaded) == [1, 2]


def test_a_journal_of_one_torn_line_starts_again(tmp_path: Path) -> None:
    (tmp_path / "journal").write_bytes(b'{"entry":"header","format":1')

    record(tmp_path, [1, 2])

    assert load(tmp_path).damage == ()
    assert loads_of(load(tmp_path)) == [1, 2]


def test_an_empty_journal_is_not_damaged(tmp_path: Path) -> None:
    (tmp_path / "journal").write_bytes(b"")

    loaded = load(tmp_path)

    assert (loaded.damage, loaded.path, tuple(loaded.profile.records)) == ((), None, ())


def test_zeros_in_the_place_of_a_record_cost_that_record_only(tmp_path: Path) -> None:
    record(tmp_path, [1, 2, 3])
    journal = tmp_path / "journal"
    lines = journal.read_bytes().splitlines(keepends=True)
    assert lines[8].startswith(b'{"entry":"failure"')
    lines[8] = b"\0" * (len(lines[8]) - 1) + b"\n"
    journal.write_bytes(b"".join(lines))

    loaded = load(tmp_path)

    assert loads_of(loaded) == [1, 3]
    assert loaded.damage == (
        f"{journal} is damaged (line 9: no checksum at its end; lost: an outcome before line 10)",
    )


def test_outcomes_whose_variant_is_lost_are_left_out_and_named(tmp_path: Path) -> None:
    record(tmp_path, [1, 2])
    journal = tmp_path / "journal"
    lines = journal.read_bytes().splitlines(keepends=True)
    kinds = (b'{"entry":"variant"', b'{"entry":"copy"')
    journal.write_bytes(b"".join(line for line in lines if not line.startswith(kinds)))

    loaded = load(tmp_path)

    assert loads_of(loaded) == []
    (damage,) = loaded.damage
    assert damage.startswith(f"{journal} is damaged (line 4: an unusable measurement entry")
    assert damage.endswith(
        "lost: an outcome of m_config_default (line 4), an outcome of m_config_default (line 5))"
    )
    assert "\n" not in damage


def test_after_damage_everything_measured_is_saved(tmp_path: Path) -> None:
    record(tmp_path, [1, 2, 3])
    journal = tmp_path / "journal"
    lines = journal.read_bytes().splitlines(keepends=True)
    del lines[4]  # an outcome
    journal.write_bytes(b"".join(lines))

    record(tmp_path, [4, 5], save=True)

    loaded = load(tmp_path)
    assert loads_of(loaded) == [2, 3, 4, 5]
    assert loaded.damage == ()


# -- numbered checkpoints ----------------------------------------------------------------------


@pytest.fixture
def three_files(tmp_path: Path) -> Path:
    """1 and 2 in 0.ckpt, 1 to 4 in 1.ckpt, 5 in the journal."""
    record(tmp_path, [1, 2], save=True)
    record(tmp_path, [3, 4], save=True)
    record(tmp_path, [5])
    return tmp_path


@small_and_full("step", 53, 7)
def test_a_checkpoint_cut_anywhere_gives_way_to_the_lower_one(three_files: Path, step: int) -> None:
    newest = three_files / "1.ckpt"
    raw = newest.read_bytes()

    for length in cuts(raw, step):
        newest.write_bytes(raw[:length])
        loaded = load(three_files)

        # what precedes the outcomes: header, setup, variant, generator
        intact = max(0, complete_lines(raw[:length]) - 4)
        expected = sorted({1, 2, 5} | {1, 2, 3, 4} & set(range(1, intact + 1)))
        assert sorted(loads_of(loaded)) == expected, f"cut at {length}"
        assert loaded.path == three_files / "0.ckpt"
        (damage,) = loaded.damage
        assert damage.startswith(f"{newest} is damaged ("), f"cut at {length}"
        assert "\n" not in damage


@small_and_full("step", 101, 11)
def test_a_run_goes_on_from_a_checkpoint_cut_anywhere(three_files: Path, step: int) -> None:
    newest = three_files / "1.ckpt"
    raw, journal = newest.read_bytes(), (three_files / "journal").read_bytes()

    for length in range(0, len(raw), step):
        newest.write_bytes(raw[:length])
        (three_files / "journal").write_bytes(journal)
        with ProfileState(three_files) as state:
            for concurrency in (3, 4):
                if state.outcome_of(trial(concurrency)) is None:
                    state.record(trial(concurrency), OUTCOMES[concurrency])
            saved = state.save()

        assert saved == three_files / "2.ckpt"
        loaded = load(three_files)
        assert (sorted(loads_of(loaded)), loaded.damage) == ([1, 2, 3, 4, 5], ()), (
            f"cut at {length}"
        )
        assert newest.read_bytes() == raw[:length], "damaged files are kept as they are"
        saved.unlink()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (b"\n", "line 1: no checksum at its end"),
        (b"{}", "line 1 is cut off"),
        (
            b'{"ResultManager.results":{}}\n',
            "not a checkpoint of Triton Model Analyzer that can be read:"
            " ResultManager.results has no _results",
        ),
        (b"\x1f\x8b\x08\0\xff\xfe", "line 1 is cut off"),
    ],
)
def test_a_checkpoint_that_is_none_is_named_and_passed(
    three_files: Path, content: bytes, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    newest = three_files / "2.ckpt"
    newest.write_bytes(content)

    with caplog.at_level("INFO"), ProfileState(three_files) as state:
        assert state.newest == three_files / "1.ckpt"
        assert [record.trial for record in state.profile.records] == [trial(n) for n in range(1, 6)]
        assert state.save() == three_files / "3.ckpt"

    assert caplog.messages[:2] == [
        f"{newest} is damaged ({reason}): nothing in it can be read; using the older"
        f" {three_files / '1.ckpt'}",
        f"Loaded checkpoint from file {three_files / '1.ckpt'}",
    ]


@pytest.mark.parametrize("damaged", [["1.ckpt"], ["0.ckpt", "1.ckpt"]])
def test_where_checkpoints_are_empty_the_others_and_the_journal_count(
    three_files: Path, damaged: list[str]
) -> None:
    for name in damaged:
        (three_files / name).write_bytes(b"")

    loaded = load(three_files)

    assert loads_of(loaded) == ([5] if "0.ckpt" in damaged else [1, 2, 5])
    assert sorted(loaded.damage) == [
        f"{three_files / name} is damaged (it is empty)" for name in damaged
    ]


def test_a_checkpoint_without_its_end_is_damaged(three_files: Path) -> None:
    newest = three_files / "1.ckpt"
    newest.write_bytes(b"".join(newest.read_bytes().splitlines(keepends=True)[:-1]))

    loaded = load(three_files)

    assert loaded.damage == (f"{newest} is damaged (the end is missing; lost: no outcome)",)
    assert sorted(loads_of(loaded)) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("change", "lost"),
    [
        ("left out", "an outcome of m_config_default"),
        ("twice", "no outcome"),
        ("exchanged", "no outcome"),
    ],
)
def test_a_checkpoint_with_other_lines_than_were_written_is_damaged(
    three_files: Path, change: str, lost: str
) -> None:
    newest = three_files / "1.ckpt"
    lines = newest.read_bytes().splitlines(keepends=True)
    match change:
        case "left out":
            del lines[5]
        case "twice":
            lines.insert(5, lines[5])
        case _:
            lines[4], lines[5] = lines[5], lines[4]
    newest.write_bytes(b"".join(lines))

    loaded = load(three_files)

    assert loaded.damage == (f"{newest} is damaged (the digest does not match; lost: {lost})",)
    assert set(loads_of(loaded)) >= {1, 2, 5}


def test_a_lower_checkpoint_is_not_looked_at_while_the_highest_is_intact(three_files: Path) -> None:
    (three_files / "0.ckpt").write_bytes(b"")

    loaded = load(three_files)

    assert (loads_of(loaded), loaded.damage) == ([1, 2, 3, 4, 5], ())


# -- single bits -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["journal", "0.ckpt"])
@small_and_full("times", 80, 400)
def test_a_flipped_bit_invents_nothing_and_every_loss_is_reported(
    tmp_path: Path, name: str, times: int
) -> None:
    record(tmp_path, [1, 2, 3, 4, 5], save=name == "0.ckpt")
    path = tmp_path / name
    raw = path.read_bytes()
    dice = random.Random(7)

    for _ in range(times):
        position, bit = dice.randrange(len(raw)), dice.randrange(8)
        flipped = bytearray(raw)
        flipped[position] ^= 1 << bit
        path.write_bytes(flipped)

        loaded = load(tmp_path)

        values = loads_of(loaded)
        where = f"bit {bit} of byte {position}"
        assert set(values) <= set(OUTCOMES), where
        assert loaded.damage or values == list(OUTCOMES), where
        assert all(str(path) in damage for damage in loaded.damage), where


@small_and_full("times", 20, 100)
def test_a_flipped_bit_does_not_keep_a_run_from_starting(tmp_path: Path, times: int) -> None:
    record(tmp_path, [1, 2], save=True)
    record(tmp_path, [3])
    dice = random.Random(11)
    names = ("0.ckpt", "journal")
    contents = {name: (tmp_path / name).read_bytes() for name in names}

    for _ in range(times):
        for name in names:
            flipped = bytearray(contents[name])
            flipped[dice.randrange(len(flipped))] ^= 1 << dice.randrange(8)
            (tmp_path / name).write_bytes(flipped)
        with ProfileState(tmp_path) as state:
            state.record(trial(4), OUTCOMES[4])

        assert 4 in loads_of(load(tmp_path))


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
