# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The life of a checkpoint directory: the journal, numbered checkpoints, files of others."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.domain.profiles import StopReason, TrialRecord
from model_analyzer.domain.slots import Lane, SharedHost, Shift
from model_analyzer.domain.trials import FailureReason
from model_analyzer.errors import CheckpointError, UnusableCheckpoint
from model_analyzer.state.checkpoint import load
from model_analyzer.state.contents import checkpoint_lines
from model_analyzer.state.format.codec import FORMAT, encode_conclusion, encode_shared_host
from model_analyzer.state.format.decoder import decode_conclusion, decode_shared_host
from model_analyzer.state.merge import merge
from model_analyzer.state.profile_state import ProfileState
from model_analyzer.writing import replace_file
from tests.unit.builders import conclusion, goal
from tests.unit.state.samples import (
    concurrencies,
    entries,
    failure,
    files,
    measurement,
    record,
    rich_failure,
    rich_trial,
    several,
    trial,
)

# -- the journal -------------------------------------------------------------------------------


def test_a_run_that_never_saved_loses_nothing(tmp_path: Path) -> None:
    record(tmp_path, 1, 2, 3, save=False)

    assert files(tmp_path) == {"journal"}
    assert concurrencies(tmp_path) == [1, 2, 3]


def test_an_outcome_is_in_the_journal_when_record_returns(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        for number, sample in enumerate(several(3), start=1):
            state.record(sample, measurement(number))
            assert concurrencies(tmp_path) == list(range(1, number + 1))


def test_the_journal_of_an_earlier_run_is_continued(tmp_path: Path) -> None:
    record(tmp_path, 1, 2, save=False)
    record(tmp_path, 3, save=False)

    assert concurrencies(tmp_path) == [1, 2, 3]
    kinds = [entry["entry"] for entry in entries(tmp_path / "journal")]
    assert kinds.count("header") == 2  # each says where its outcomes were measured


def test_where_a_continued_journal_was_measured_is_reported_by_its_newest_header(
    tmp_path: Path,
) -> None:
    for name in ("A", "B"):
        with ProfileState(tmp_path) as state:
            state.describe(devices=[], host={"Host": name})
            state.record(trial({"A": 1, "B": 2}[name]), measurement())

    assert load(tmp_path).header.host == {"Host": "B"}


def test_a_checkpoint_names_its_parent_also_after_a_journal(tmp_path: Path) -> None:
    record(tmp_path, 1)
    record(tmp_path, 2, save=False)
    record(tmp_path, 3)

    first, second = (entries(tmp_path / f"{index}.ckpt")[0] for index in (0, 1))
    assert second["parent"] == first["uuid"]


def test_a_retried_trial_comes_last_and_counts_after_a_reload(tmp_path: Path) -> None:
    record(tmp_path, 2, save=False)
    with ProfileState(tmp_path) as state:
        state.record(trial(1), failure())
        state.record(trial(3), measurement())
    with ProfileState(tmp_path, retry_failed=True) as state:
        assert state.outcome_of(trial(1)) is None
        state.record(trial(1), measurement(7))

    assert concurrencies(tmp_path) == [2, 3, 1]
    with ProfileState(tmp_path) as state:
        assert state.outcome_of(trial(1)) == measurement(7)


@pytest.mark.parametrize(
    ("limit_s", "is_kept"), [(20.0, True), (20.4, True), (31.0, False), (None, False)]
)
def test_a_failure_at_the_end_of_a_budget_is_tried_again_if_more_is_left(
    tmp_path: Path, limit_s: float | None, is_kept: bool
) -> None:
    ended = replace(failure(), reason=FailureReason.BUDGET, duration_s=20.4)
    other = replace(failure(), duration_s=20.4)
    with ProfileState(tmp_path) as state:
        state.record(trial(1), ended)
        state.record(trial(2), other)
        assert state.outcome_of(replace(trial(1), limit_s=limit_s)) == ended  # in the same run
    with ProfileState(tmp_path) as state:
        found = state.outcome_of(replace(trial(1), limit_s=limit_s))
        assert found == (ended if is_kept else None)
        assert state.outcome_of(replace(trial(2), limit_s=limit_s)) == other


def test_the_directory_is_created_with_its_parents(tmp_path: Path) -> None:
    record(tmp_path / "a" / "b", 1)

    assert concurrencies(tmp_path / "a" / "b") == [1]


# -- saving ------------------------------------------------------------------------------------


def test_saving_folds_the_journal_into_a_checkpoint_and_empties_it(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement())
        state.record(trial(2), failure())

        assert state.save() == state.newest == tmp_path / "0.ckpt"
        assert (tmp_path / "journal").read_bytes() == b""
        assert files(tmp_path) == {"0.ckpt", "journal", "lock"}
    assert concurrencies(tmp_path) == [1, 2]


def test_a_checkpoint_holds_everything_since_the_beginning(tmp_path: Path) -> None:
    record(tmp_path, 1, 2)
    record(tmp_path, 3, save=False)
    record(tmp_path, 4)
    (tmp_path / "0.ckpt").unlink()

    assert concurrencies(tmp_path) == [1, 2, 3, 4]


def test_the_index_goes_up_with_each_save(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        saved = []
        for sample in several(3):
            state.record(sample, measurement())
            saved.append(state.save())
    record(tmp_path, 4)

    assert saved == [tmp_path / "0.ckpt", tmp_path / "1.ckpt", tmp_path / "2.ckpt"]
    assert (tmp_path / "3.ckpt").exists()
    assert [entries(tmp_path / f"{index}.ckpt")[0]["index"] for index in range(4)] == [0, 1, 2, 3]


def test_indices_are_compared_as_numbers(tmp_path: Path) -> None:
    record(tmp_path, 1)
    (tmp_path / "0.ckpt").rename(tmp_path / "9.ckpt")
    record(tmp_path, 2)
    record(tmp_path, 3)

    assert files(tmp_path) == {"9.ckpt", "10.ckpt", "11.ckpt"}
    assert concurrencies(tmp_path) == [1, 2, 3]


def test_earlier_checkpoints_are_never_touched(tmp_path: Path) -> None:
    record(tmp_path, 1)
    first = (tmp_path / "0.ckpt").read_bytes()
    record(tmp_path, 2)

    assert (tmp_path / "0.ckpt").read_bytes() == first


def test_saving_without_changes_writes_nothing(tmp_path: Path, caplog) -> None:
    record(tmp_path, 1)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("*.ckpt")}

    path = tmp_path / "1.ckpt"
    with caplog.at_level("INFO"), ProfileState(tmp_path) as state:
        assert state.save() is None
        state.record(trial(2), measurement())
        assert state.save() == path
        assert state.save() is None

    assert {name: (tmp_path / name).stat().st_mtime_ns for name in before} == before
    assert files(tmp_path) == {"0.ckpt", "1.ckpt"}
    # after one was saved, the same words would deny it
    message = "No changes made to analyzer data, no checkpoint saved."
    assert caplog.messages.count(message) == 1
    assert caplog.messages.index(message) < caplog.messages.index(f"Saved checkpoint to {path}")


def test_a_conclusion_is_stored_until_another_one_replaces_it(tmp_path: Path) -> None:
    first, second = (conclusion(trial(), trials) for trials in (1, 2))
    with ProfileState(tmp_path) as state:
        state.record(trial(), measurement())
        state.record_conclusion(Lane("m"), first)
        state.record_conclusion(Lane("n"), first)
        assert load(tmp_path).conclusions == {Lane("m"): first, Lane("n"): first}
        state.save()
        state.record_conclusion(Lane("m"), first)
        assert state.save() is None
        assert [path.name for path in tmp_path.glob("*.ckpt")] == ["0.ckpt"]
        state.record_conclusion(Lane("m"), second)
        state.save()

    assert (tmp_path / "1.ckpt").exists()
    loaded = load(tmp_path)
    assert loaded.damage == ()
    assert loaded.profile.conclusions == {Lane("m"): second, Lane("n"): first}


def test_the_test_of_a_shared_host_is_stored_and_no_trial(tmp_path: Path) -> None:
    first = SharedHost(
        host="gpu1", slots=4, model="m", trial="key", started=7.0,
        throughput=Shift(-3.0, 1.0), latency_p99=None,
    )  # fmt: skip
    second = replace(first, host="gpu2", latency_p99=Shift(11.0, 4.0))
    newer = replace(first, slots=8)
    with ProfileState(tmp_path) as state:
        state.record(trial(), measurement())
        state.record_shared_host(first)
        state.record_shared_host(second)
        assert load(tmp_path).profile.shared_hosts == {"gpu1": first, "gpu2": second}
        state.save()
        state.record_shared_host(newer)
        state.save()

    loaded = load(tmp_path)
    assert loaded.damage == ()
    assert loaded.profile.shared_hosts == {"gpu1": newer, "gpu2": second}
    assert len(loaded.records) == 1
    assert merge([loaded, loaded]).checkpoint.shared_hosts == loaded.shared_hosts


@pytest.mark.parametrize(
    "change",
    [
        {"slots": 0},
        {"throughput": [1.0]},
        {"throughput": None},
        {"latency_p99": [0, -1]},
        {"host": ""},
    ],
)
def test_a_malformed_test_of_a_shared_host_is_refused(change: dict[str, Any]) -> None:
    shared = SharedHost(
        host="gpu1", slots=4, model="m", trial="key",
        throughput=Shift(-3.0, 1.0), latency_p99=None,
    )  # fmt: skip
    assert decode_shared_host(encode_shared_host(shared)) == shared

    with pytest.raises(ValueError, match=next(iter(change))):
        decode_shared_host({**encode_shared_host(shared), **change})


def test_a_conclusion_from_before_trials_were_counted_is_read() -> None:
    kept = conclusion(trial(), 2)
    entry = dict(encode_conclusion(Lane("m"), kept))
    entry["outcomes"] = entry.pop("trials")

    assert decode_conclusion(entry) == (Lane("m"), kept)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("it may take no more", StopReason.LIMIT),
        ("the time is used up", StopReason.BUDGET),
        ("nothing else is worth a measurement", StopReason.NOTHING_WORTH),
        ("something that no version says", StopReason.UNKNOWN),
    ],
)
def test_a_conclusion_whose_reason_is_a_sentence_is_read(text: str, expected: StopReason) -> None:
    entry = dict(encode_conclusion(Lane("m"), conclusion(trial(), 2)))
    entry["reason"] = text
    del entry["limit"], entry["has_default_limit"]

    _, read = decode_conclusion(entry)

    assert (read.reason, read.limit, read.has_default_limit) == (expected, None, True)


def test_a_conclusion_keeps_its_reason_and_limit() -> None:
    kept = replace(
        conclusion(trial(), 2), reason=StopReason.LIMIT, limit=13, has_default_limit=False
    )

    assert decode_conclusion(json.loads(json.dumps(encode_conclusion(Lane("m"), kept)))) == (
        Lane("m"),
        kept,
    )


def test_recording_the_same_outcome_again_changes_nothing(tmp_path: Path) -> None:
    record(tmp_path, 1)

    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement(1))
        assert (tmp_path / "journal").read_bytes() == b""
        assert state.save() is None


def test_a_journal_left_by_an_earlier_run_is_a_reason_to_save(tmp_path: Path) -> None:
    record(tmp_path, 1, save=False)

    with ProfileState(tmp_path) as state:
        assert state.save() == tmp_path / "0.ckpt"

    assert concurrencies(tmp_path) == [1]


def test_a_run_that_died_between_saving_and_emptying_the_journal_counts_nothing_twice(
    tmp_path: Path,
) -> None:
    record(tmp_path, 1, 2, save=False)
    journal = (tmp_path / "journal").read_bytes()
    record(tmp_path)
    (tmp_path / "journal").write_bytes(journal)

    assert concurrencies(tmp_path) == [1, 2]
    record(tmp_path, 3)
    assert concurrencies(tmp_path) == [1, 2, 3]


def test_leftovers_of_a_killed_run_are_no_obstacle(tmp_path: Path) -> None:
    record(tmp_path, 1, save=False)
    (tmp_path / ".0.ckpt.tmp").write_bytes(b'{"entry":"header","form')

    assert concurrencies(tmp_path) == [1]
    record(tmp_path, 2)

    assert concurrencies(tmp_path) == [1, 2]
    assert files(tmp_path) == {"0.ckpt"}


# -- the file ----------------------------------------------------------------------------------


def test_a_checkpoint_begins_with_a_header_and_ends_with_count_and_digest(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(rich_trial(), rich_failure())
        state.record(trial(), measurement())
        path = state.save()
    assert path is not None

    raw = path.read_bytes()
    header, *_, end = entries(path)
    body = raw[: raw.rstrip(b"\n").rindex(b"\n") + 1]

    assert header["entry"] == "header"
    assert header["format"] == FORMAT
    assert header["index"] == 0
    assert end["entry"] == "end"
    assert end["entries"] == len(entries(path)) - 1
    assert end["digest"] == hashlib.sha256(body).hexdigest()


def test_every_line_is_plain_json(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(rich_trial(), rich_failure())
        state.save()
        state.record(rich_trial(5), rich_failure())

    for name in ("0.ckpt", "journal"):
        raw = (tmp_path / name).read_bytes()
        assert raw.endswith(b"\n")
        for line in raw.split(b"\n")[:-1]:
            assert "entry" in json.loads(line)


def test_a_checkpoint_names_its_parent(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        for sample in several(2):
            state.record(sample, measurement())
            state.save()
    with ProfileState(tmp_path) as state:
        state.record(trial(3), measurement())
        state.save()

    first, second, third = (entries(tmp_path / f"{index}.ckpt")[0] for index in range(3))
    assert first["parent"] == ""
    assert second["parent"] == first["uuid"]
    assert third["parent"] == second["uuid"]
    assert len({first["uuid"], second["uuid"], third["uuid"]}) == 3


# -- starting ----------------------------------------------------------------------------------


def test_a_fresh_directory_is_a_fresh_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"), ProfileState(tmp_path) as state:
        assert state.newest is None
        assert tuple(state.profile.records) == ()

    assert caplog.messages == ["No checkpoint file found, starting a fresh run."]


def test_a_later_run_says_what_it_starts_from(tmp_path: Path, caplog) -> None:
    record(tmp_path, 1)
    record(tmp_path, 2)

    with caplog.at_level("INFO"), ProfileState(tmp_path) as state:
        assert state.newest == tmp_path / "1.ckpt"
        assert tuple(state.profile.records) == tuple(
            TrialRecord(trial=trial(value), outcome=measurement(value)) for value in (1, 2)
        )

    assert caplog.messages == [f"Loaded checkpoint from file {tmp_path / '1.ckpt'}"]


def test_a_run_after_one_that_never_saved_starts_from_the_journal(tmp_path: Path) -> None:
    record(tmp_path, 1, save=False)

    with ProfileState(tmp_path) as state:
        assert state.newest == tmp_path / "journal"


def test_a_missing_directory_has_no_outcomes(tmp_path: Path) -> None:
    loaded = load(tmp_path / "nowhere")

    assert tuple(loaded.profile.records) == ()
    assert loaded.path is None
    assert not (tmp_path / "nowhere").exists()


def test_saving_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        record(tmp_path, 1)

    assert caplog.messages[-1] == f"Saved checkpoint to {tmp_path / '0.ckpt'}"


@pytest.mark.parametrize(
    "name",
    [
        "x.ckpt",
        "3.old.ckpt",
        "notes.txt",
        "-1.ckpt",
        "007.ckpt",
        "1.5.ckpt",
        ".ckpt",
        "٣.ckpt",
        "²",
    ],
)
def test_files_of_others_are_left_alone(tmp_path: Path, name: str) -> None:
    content = b"not ours\n\xff\0"
    (tmp_path / name).write_bytes(content)

    record(tmp_path, 1)
    record(tmp_path, 2)

    assert files(tmp_path) == {name, "0.ckpt", "1.ckpt"}
    assert (tmp_path / name).read_bytes() == content
    assert concurrencies(tmp_path) == [1, 2]


def test_a_directory_of_others_that_looks_like_a_checkpoint_is_named_and_passed(
    tmp_path: Path,
) -> None:
    record(tmp_path, 1)
    (tmp_path / "7.ckpt").mkdir()

    loaded = load(tmp_path)
    assert len(loaded.profile.records) == 1
    assert loaded.damage == (f"{tmp_path / '7.ckpt'} is damaged (cannot be read: Is a directory)",)

    with ProfileState(tmp_path) as state:
        state.record(trial(2), measurement())
        assert state.save() == tmp_path / "8.ckpt"


# -- what cannot be used -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["0.ckpt", "journal"])
def test_a_newer_format_is_refused_clearly(tmp_path: Path, name: str) -> None:
    header = {"entry": "header", "format": FORMAT + 1, "tool": "9.9.9"}
    replace_file(tmp_path / name, checkpoint_lines([header], []))
    before = (tmp_path / name).read_bytes()

    for _ in range(2):  # the second attempt shows that the first one left no lock behind
        with pytest.raises(CheckpointError) as caught:
            ProfileState(tmp_path)
        message = str(caught.value)
        assert str(tmp_path / name) in message
        assert f"format {FORMAT + 1}" in message
        assert "9.9.9" in message
        assert "update" in message
        assert "\n" not in message
    with pytest.raises(CheckpointError, match="newer"):
        load(tmp_path)
    assert (tmp_path / name).read_bytes() == before


def test_a_newer_format_among_older_checkpoints_does_not_matter(tmp_path: Path) -> None:
    header = {"entry": "header", "format": FORMAT + 1, "tool": "9.9.9"}
    replace_file(tmp_path / "0.ckpt", checkpoint_lines([header], []))
    (tmp_path / "0.ckpt").rename(tmp_path / "hidden")
    record(tmp_path, 1)
    (tmp_path / "0.ckpt").rename(tmp_path / "1.ckpt")
    (tmp_path / "hidden").rename(tmp_path / "0.ckpt")

    assert concurrencies(tmp_path) == [1]


@pytest.mark.parametrize("below", ["", "x", "x/y"])
def test_a_directory_that_cannot_be_created_is_refused_in_one_line(
    tmp_path: Path, below: str
) -> None:
    (tmp_path / "file").write_text("in the way")
    directory = tmp_path / "file" / below

    with pytest.raises(CheckpointError) as caught:
        ProfileState(directory)

    message = str(caught.value)
    assert message.startswith(f"{directory}: cannot be created: ")
    assert "--checkpoint-directory" in message
    assert "\n" not in message


def test_reading_below_a_file_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(CheckpointError, match="cannot be read") as caught:
        load(tmp_path / "file")

    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["journal", "lock"])
def test_a_directory_in_place_of_our_file_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()

    for _ in range(2):
        with pytest.raises(UnusableCheckpoint, match="cannot be opened") as caught:
            ProfileState(tmp_path)
        assert str(tmp_path / name) in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_search_without_its_conclusion_is_unfinished(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        for subject, mode in (("m", "adaptive"), ("n", "adaptive"), ("o", "brute")):
            state.record_search(subject, {"search.mode": mode}, goal())
        state.record_conclusion(Lane("n"), conclusion(trial(), 1))
        assert state.profile.unfinished == {Lane("m")}
