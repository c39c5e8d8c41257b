# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What is in a directory, at a glance; what is wrong with a file, where, and what is lost; which
checkpoint somebody means by a number, a uuid, a path or a word.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.errors import CheckpointError
from model_analyzer.state.checkpoint import Checkpoint
from model_analyzer.state.contents import checkpoint_lines
from model_analyzer.state.find import Overview, files_of, find, overviews, verify
from model_analyzer.state.format.codec import FORMAT, Encoder, encode
from model_analyzer.state.format.header import Header, header_entry
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.profile_state import ProfileState
from model_analyzer.writing import replace_file
from tests.unit.state.samples import failure, measurement, trial

TAGS = ("perf_throughput", "perf_latency_p99")


def all_overviews(directory: Path) -> list[Overview]:
    return list(overviews(Layout(directory), TAGS))


def node_journal(layout: Layout, node: str, numbers: Iterable[int]) -> None:
    """The journal of a node of a cluster with outcomes of these numbers."""
    encoder = Encoder()
    lines = [
        encode(entry)
        for number in numbers
        for entry in encoder.record(
            trial(number).key,
            TrialRecord(trial=trial(number), outcome=measurement(number), node=node),
        )
    ]
    layout.journal(node).write_bytes(b"".join(lines))


def test_each_checkpoint_is_counted_by_itself_and_then_the_journal(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement(5.0))
        state.record(trial(2), failure())
        state.save()
        state.record(trial(1, name="m_config_0"), measurement(7.0))
        state.save()
        state.record(trial(3), measurement(6.0))

    first, second, journal = all_overviews(tmp_path)

    assert (first.header.index, second.header.index, journal.header.index) == (0, 1, None)
    assert second.header.parent == first.header.uuid
    assert (first.models, first.variants, first.measurements, first.failures) == (("m",), 1, 1, 1)
    assert (second.variants, second.measurements, second.failures) == (2, 2, 1)
    assert journal.measurements == 1
    assert [overview.best["perf_throughput"] for overview in (first, second, journal)] == [
        5.0,
        7.0,
        6.0,
    ]
    assert first.best["perf_latency_p99"] is None
    assert [overview.state for overview in (first, second, journal)] == [
        "intact",
        "intact",
        "in the journal only",
    ]


def test_a_damaged_checkpoint_is_listed_with_its_intact_part(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement(5.0))
        state.save()
    path = tmp_path / "0.ckpt"
    path.write_bytes(path.read_bytes()[:-3])

    (overview,) = all_overviews(tmp_path)

    assert overview.state.startswith("damaged: 0.ckpt: line ")
    assert overview.state.endswith("is cut off")
    assert overview.measurements == 1


def test_a_damaged_journal_is_listed_by_its_path(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement(5.0))
        state.record(trial(2), measurement(5.0))
        path = tmp_path / "journal"
        path.write_bytes(path.read_bytes()[:-3])

        (overview,) = all_overviews(tmp_path)

    assert overview.state.startswith(f"{path} is damaged (line ")


def test_one_of_a_newer_program_does_not_hide_the_others(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement(5.0))
        state.save()
    (tmp_path / "1.ckpt").write_bytes(encode({"entry": "header", "format": 99}))

    first, second = all_overviews(tmp_path)

    assert first.state == "intact"
    assert "newer model-analyzer" in second.state


def test_a_part_that_is_nowhere_is_missing(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    header = Header(uuid="u", index=0, nodes={"node-1": 2, "node-2": 1})
    replace_file(layout.checkpoint(0), checkpoint_lines([header_entry(header)], []))

    node_journal(layout, "node-1", [1])
    first, journal = all_overviews(tmp_path)

    assert first.state == "incomplete: lacks 2 of node-1, 1 of node-2"
    assert (journal.state, journal.measurements) == ("in the journal only", 1)


def test_journals_of_nodes_count_only_what_no_checkpoint_has(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement(5.0), "node-1")
        state.record(trial(2), failure(), "node-2")
        state.save()
        node_journal(Layout(tmp_path), "node-1", [1])
        assert [overview.state for overview in all_overviews(tmp_path)] == ["intact"]

        node_journal(Layout(tmp_path), "node-2", [2, 3])
        _, journals = all_overviews(tmp_path)

    assert (journals.state, journals.measurements) == ("in the journal only", 2)


def test_an_empty_directory_has_nothing(tmp_path: Path) -> None:
    assert all_overviews(tmp_path) == []
    assert all_overviews(tmp_path / "none") == []


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """Of three outcomes; there are two more in the journal."""
    with ProfileState(tmp_path) as state:
        for concurrency in (1, 2, 3):
            state.record(trial(concurrency), measurement(concurrency))
        state.save()
        for concurrency in (4, 5):
            state.record(trial(concurrency), measurement(concurrency))
    return tmp_path / "0.ckpt"


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def test_intact_files_have_no_damage(checkpoint: Path) -> None:
    files = files_of(Layout(checkpoint.parent))

    assert [path.name for path in files] == ["0.ckpt", "journal"]
    assert [(verdict.outcomes, verdict.damage, verdict.loss) for verdict in map(verify, files)] == [
        (3, "", ""),
        (2, "", ""),
    ]
    assert verify(checkpoint).size == checkpoint.stat().st_size


def test_a_flipped_bit_costs_its_line(checkpoint: Path) -> None:
    lines = lines_of(checkpoint)
    place = next(n for n, line in enumerate(lines) if b'"measurement"' in line)
    lines[place] = lines[place].replace(b'"perf_throughput"', b'"perf_throughpux"')
    checkpoint.write_bytes(b"".join(lines))

    verdict = verify(checkpoint)

    assert verdict.damage == f"line {place + 1}: the checksum does not match"
    assert verdict.loss == f"1 of {len(lines) - 1} entries: an outcome of m_config_default"
    assert verdict.outcomes == 2


def test_a_line_that_is_gone_is_counted(checkpoint: Path) -> None:
    lines = lines_of(checkpoint)
    place = next(n for n, line in enumerate(lines) if b'"measurement"' in line)
    checkpoint.write_bytes(b"".join([*lines[:place], *lines[place + 1 :]]))

    verdict = verify(checkpoint)

    assert verdict.damage == "the digest does not match"
    assert verdict.loss == f"1 of {len(lines) - 1} entries: an outcome of m_config_default"


def test_lines_in_another_order_lose_nothing(checkpoint: Path) -> None:
    lines = lines_of(checkpoint)
    lines[-3], lines[-2] = lines[-2], lines[-3]
    checkpoint.write_bytes(b"".join(lines))

    verdict = verify(checkpoint)

    assert verdict.damage == "the digest does not match"
    assert verdict.loss == "no entry"
    assert verdict.outcomes == 3


def test_the_loss_of_a_cut_checkpoint_is_unknown(checkpoint: Path) -> None:
    lines = lines_of(checkpoint)
    checkpoint.write_bytes(b"".join(lines[:-2]))

    verdict = verify(checkpoint)

    assert verdict.damage == "the end is missing"
    assert verdict.loss == f"what came after entry {len(lines) - 2}, and the end"


def test_a_torn_journal_loses_its_last_line(checkpoint: Path) -> None:
    journal = checkpoint.with_name("journal")
    lines = lines_of(journal)
    journal.write_bytes(journal.read_bytes()[:-4])

    verdict = verify(journal)

    assert verdict.damage == f"line {len(lines)} is cut off"
    name = f"m_config_default (line {len(lines)})"
    assert verdict.loss == f"1 of {len(lines)} lines: an outcome of {name}"
    assert verdict.outcomes == 1


def test_of_an_empty_or_foreign_file_all_is_lost(checkpoint: Path) -> None:
    for content in (b"", b"something else\n"):
        checkpoint.write_bytes(content)
        assert verify(checkpoint).damage
        assert verify(checkpoint).loss == "all of it"


def test_missing_and_too_new_files_are_reported(checkpoint: Path) -> None:
    assert verify(checkpoint.with_name("7.ckpt")).damage.startswith("cannot be read")
    checkpoint.write_bytes(encode({"entry": "header", "format": FORMAT + 1}))
    assert verify(checkpoint).damage.startswith(f"written in format {FORMAT + 1} by a newer")


def run(directory: Path, *throughputs: float, prefix: str = "", save: bool = True) -> None:
    """A run that measures so much at concurrencies that nobody has measured."""
    with ProfileState(directory, prefix=prefix) as state:
        count = len(state.profile.records)
        for concurrency, throughput in enumerate(throughputs, start=count + 1):
            state.record(trial(concurrency), measurement(throughput))
        if save:
            state.save()


def with_uuid(directory: Path, index: int, uuid: str) -> None:
    checkpoint = Checkpoint(header=Header(uuid=uuid, index=index))
    replace_file(Layout(directory).checkpoint(index), checkpoint.lines())


def why_not(which: str, directory: Path, prefix: str = "") -> str:
    with pytest.raises(CheckpointError) as raised:
        find(which, directory, prefix)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_a_number_is_that_checkpoint_and_the_latest_is_all(tmp_path: Path) -> None:
    run(tmp_path, 1.0)
    run(tmp_path, 2.0)
    run(tmp_path, 3.0, save=False)

    assert len(find("0", tmp_path).records) == 1
    assert len(find("1", tmp_path).records) == 2
    assert len(find("latest", tmp_path).records) == 3


def test_a_unique_beginning_of_a_uuid_is_enough(tmp_path: Path) -> None:
    with_uuid(tmp_path, 0, "abcd1111-0000")
    with_uuid(tmp_path, 1, "abce2222-0000")

    assert find("abcd", tmp_path).header.index == 0
    assert find("ABCE2222-0000", tmp_path).header.index == 1
    assert why_not("abc", tmp_path) == (
        f"{tmp_path}: the uuids of 0, 1 begin with 'abc': give more of it"
    )


def test_a_short_number_is_never_a_uuid(tmp_path: Path) -> None:
    with_uuid(tmp_path, 0, "42424242-0000")

    assert "no checkpoint '42': there is 0" in why_not("42", tmp_path)
    assert find("42424242", tmp_path).header.index == 0


def test_a_path_selects_a_file_in_any_directory(tmp_path: Path, monkeypatch) -> None:
    run(tmp_path / "a", 1.0)
    monkeypatch.chdir(tmp_path / "a")

    assert len(find(str(tmp_path / "a" / "0.ckpt"), tmp_path / "b").records) == 1
    assert len(find("0.ckpt", tmp_path / "b").records) == 1
    assert "cannot be read" in why_not("./7.ckpt", tmp_path / "a")


def test_best_is_the_newest_with_the_highest_throughput(tmp_path: Path) -> None:
    run(tmp_path, 5.0)
    run(tmp_path, 9.0)
    with ProfileState(tmp_path) as state:
        state.start_from(Checkpoint())
        state.record(trial(1), measurement(7.0))
        state.save()

    assert find("best", tmp_path).header.index == 1

    run(tmp_path, 11.0, save=False)
    assert len(find("best", tmp_path).records) == 2  # all that is known, with the journal


def test_a_damaged_checkpoint_is_not_the_best(tmp_path: Path) -> None:
    run(tmp_path, 5.0)
    with ProfileState(tmp_path) as state:
        state.start_from(Checkpoint())
        state.record(trial(1), measurement(3.0))
        state.save()
    first = tmp_path / "0.ckpt"
    first.write_bytes(first.read_bytes()[:-5])

    assert find("best", tmp_path).header.index == 2
    assert "is damaged" in why_not("0", tmp_path)


def test_an_error_lists_the_existing_checkpoints(tmp_path: Path) -> None:
    assert "no checkpoint '3': there is none" in why_not("3", tmp_path)
    assert "no checkpoint found" in why_not("latest", tmp_path)
    assert "no checkpoint found" in why_not("best", tmp_path)


def test_a_directory_without_intact_checkpoints_is_reported(tmp_path: Path) -> None:
    (tmp_path / "0.ckpt").write_bytes(b"")

    assert why_not("latest", tmp_path) == (
        f"nothing can be read: {tmp_path}/0.ckpt is damaged (it is empty)"
    )
    for index in range(3):
        with_uuid(tmp_path, index, f"{index:08}")
    assert "no checkpoint '3': there are 0, 1, 2" in why_not("3", tmp_path)
    assert "no checkpoint '': there are 0, 1, 2" in why_not("", tmp_path)
    for index in range(20):
        with_uuid(tmp_path, index, f"{index:08}")
    assert "there are 20 from 0 to 19" in why_not("zz", tmp_path)


def test_a_prefix_has_checkpoints_of_its_own(tmp_path: Path) -> None:
    run(tmp_path, 1.0)
    run(tmp_path, 1.0, 2.0, prefix="run1")

    assert len(find("0", tmp_path, "run1").records) == 2
    assert "there is none" in why_not("0", tmp_path, "run2")
