# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints as programs use them: `from model_analyzer import Checkpoint`."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import model_analyzer
from model_analyzer import Checkpoint, list_checkpoints
from model_analyzer.domain.measurements import Measurement, ModelMeasurement
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.errors import CheckpointError
from model_analyzer.state.contents import checkpoint_lines
from model_analyzer.state.format.codec import Encoder, encode
from model_analyzer.state.format.header import Header
from model_analyzer.state.profile_state import ProfileState
from model_analyzer.state.records import Records
from model_analyzer.state.stores import DirectoryCheckpointer
from tests.unit.builders import one_round, variant
from tests.unit.builders import trial as trial_of
from tests.unit.state.samples import (
    failure,
    measurement,
    rich_measurement,
    rich_trial,
    several,
    trial,
)

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "python.md"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Two checkpoints, of which the first has the best throughput, and a journal."""
    path = tmp_path / "checkpoints"
    with ProfileState(path) as state:
        state.record(trial(1), measurement(50_000.0))
        state.save()
    with ProfileState(path) as state:
        state.record(trial(1), measurement(50.0))
        state.record(trial(2), failure())
        state.save()
        state.record(rich_trial(), rich_measurement())
    return path


def numbers(directory: Path) -> list[int | None]:
    return [checkpoint.header.index for checkpoint in list_checkpoints(directory)]


def test_the_worked_example_works(directory: Path, monkeypatch, capsys) -> None:
    pytest.importorskip("pandas")
    monkeypatch.chdir(directory.parent)
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 5
    exec(compile("\n".join(blocks), "docs/python.md", "exec"), {"__name__": "example"})
    assert "checkpoints/2.ckpt True" in capsys.readouterr().out


def test_importing_the_package_imports_nothing_else() -> None:
    program = (
        "import sys, model_analyzer; assert 'Checkpoint' in dir(model_analyzer)\n"
        "print([name for name in sys.modules if name.startswith('model_analyzer.')])"
    )
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert process.stdout.strip() == "[]", process.stderr
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        model_analyzer.Nothing  # noqa: B018  the look is what raises


def test_a_directory_opens_with_everything_in_it(directory: Path) -> None:
    checkpoint = Checkpoint.open(directory)
    keys = [sample.key for sample in (trial(1), trial(2), rich_trial())]
    assert [record.trial.key for record in checkpoint.records] == keys
    assert [item.trial.key for item in checkpoint.measurements()] == [keys[0], keys[2]]


def test_one_of_a_directory_is_named(directory: Path) -> None:
    first, second = list_checkpoints(str(directory))
    for which in (0, "0", first.header.uuid, first.header.uuid[:20]):
        opened = Checkpoint.open(str(directory), which)
        assert opened.path == directory / "0.ckpt"
        assert opened.holds_same_as(first)
    assert Checkpoint.open(directory / "1.ckpt").holds_same_as(second)
    with pytest.raises(CheckpointError, match="no checkpoint 'nobody'"):
        Checkpoint.open(directory, "nobody")
    with pytest.raises(CheckpointError, match="cannot be read: No such file"):
        Checkpoint.open(directory / "7.ckpt")


def test_a_prefix_has_its_own(tmp_path: Path) -> None:
    for prefix in ("", "run-1"):
        with ProfileState(tmp_path, prefix=prefix) as state:
            state.record(trial(), measurement())
            state.save()
    opened = Checkpoint.open(tmp_path, 0, prefix="run-1")
    assert opened.path == tmp_path / "run-1-0.ckpt"
    assert opened.with_metadata(a=1).save() == tmp_path / "run-1-1.ckpt"
    assert len(list_checkpoints(tmp_path)) == 1
    assert len(list_checkpoints(tmp_path, "run-1")) == 2


def test_what_is_in_the_journal_is_saved_with_it(directory: Path) -> None:
    path = Checkpoint.open(directory).save()
    assert path == directory / "2.ckpt"
    assert numbers(directory) == [0, 1, 2]
    assert Checkpoint.open(directory / "2.ckpt").holds_same_as(Checkpoint.open(directory))
    assert Checkpoint.open(directory).save() == path, "nothing has changed since"
    assert Checkpoint.open(directory).save(force=True) == directory / "3.ckpt"


def test_saving_keeps_everything_in_the_directory(directory: Path) -> None:
    everything = Checkpoint.open(directory)
    noted = Checkpoint.open(directory, 0).with_metadata(note=1)
    path = noted.save()
    assert Checkpoint.open(directory).holds_same_as(noted)
    assert Checkpoint.open(path).header.parent == noted.header.uuid
    assert any(listed.holds_same_as(everything) for listed in list_checkpoints(directory))


def test_notes_win_over_older_ones_in_the_journal(directory: Path) -> None:
    with ProfileState(directory) as state:
        state.record_metadata({"note": "old"})
    Checkpoint.open(directory).with_metadata(note="new").save()
    assert Checkpoint.open(directory).metadata == {"note": "new"}


def test_a_note_after_others_is_one_more_file(directory: Path) -> None:
    Checkpoint.open(directory).save()
    with ProfileState(directory) as state:
        state.record_metadata({"note": "old", "other": 1})

    path = Checkpoint.open(directory).with_metadata(note="new").with_metadata(third=3).save()

    assert path == directory / "3.ckpt"
    assert Checkpoint.open(directory).metadata == {"note": "new", "other": 1, "third": 3}


def test_a_note_to_an_outdated_checkpoint_loses_nothing(directory: Path) -> None:
    opened = Checkpoint.open(directory)
    with ProfileState(directory) as state:
        state.record_metadata({"other": 1})

    path = opened.with_metadata(note="new").save()

    assert path == directory / "3.ckpt"
    assert Checkpoint.open(directory / "2.ckpt").metadata == {"other": 1}
    assert Checkpoint.open(path).metadata == {"note": "new"}


def test_it_is_saved_elsewhere(directory: Path, tmp_path: Path) -> None:
    checkpoint = Checkpoint.open(directory)
    assert checkpoint.save(tmp_path / "new" / "place") == tmp_path / "new" / "place" / "0.ckpt"
    assert checkpoint.save(str(tmp_path / "new" / "place")).name == "0.ckpt"
    assert numbers(directory) == [0, 1]
    received = Checkpoint.from_bytes(checkpoint.to_bytes())
    with pytest.raises(CheckpointError, match="give the directory to save it in"):
        received.save()
    assert received.save(tmp_path / "other").name == "0.ckpt"


def test_a_run_in_the_directory_is_not_disturbed(directory: Path) -> None:
    checkpoint = Checkpoint.open(directory).with_metadata(a=1)
    with ProfileState(directory), pytest.raises(CheckpointError, match="in use by another run"):
        checkpoint.save()
    assert numbers(directory) == [0, 1]


def test_damaged_checkpoints_are_listed_with_their_damage(directory: Path) -> None:
    (directory / "1.ckpt").write_bytes(b"")
    _, damaged = list_checkpoints(directory)
    assert "it is empty" in damaged.damage[0]


def test_a_table_has_a_row_for_each_model(directory: Path) -> None:
    pytest.importorskip("pandas")
    table = Checkpoint.open(directory).to_pandas()
    models = [work.variant.model for work in rich_trial().workloads]
    assert [*table["model"]] == ["m", *models]
    assert [*table["measurement"]] == [0, *[1] * len(models)]
    assert table["perf_throughput"][0] == 50.0
    assert [*table.columns[:8]] == [
        "measurement", "model", "variant", "instances", "max_batch_size", "load", "load_kind",
        "batch_size",
    ]  # fmt: skip
    assert len(Checkpoint().to_pandas()) == 0


def test_a_table_has_what_was_swept(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    with ProfileState(tmp_path) as state:
        for steps in ("40", "10"):
            of = variant(
                f"m_{steps}",
                max_batch_size=4,
                instance_group=[{"count": 3, "kind": "KIND_CPU"}],
                parameters={"iterations": {"string_value": steps}},
            )
            state.record(trial_of(of), measurement())
    table = Checkpoint.open(tmp_path).to_pandas()
    assert [*table["config.parameters.iterations.string_value"]] == ["40", "10"]
    assert [*table["instances"]] == [3, 3]
    assert [*table["max_batch_size"]] == [4, 4]


def test_a_table_has_the_pooled_value_of_a_trial(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    with ProfileState(tmp_path) as state:
        for repetition, seconds in enumerate((1.0, 2.0)):
            run = one_round([5.0] * 10, seconds=seconds)
            state.record(replace(trial(1), repetition=repetition), replace(run, started=seconds))
    checkpoint = Checkpoint.open(tmp_path)
    assert [*checkpoint.to_pandas()["perf_throughput"]] == [20 / 3]
    assert len([*checkpoint.measurements()]) == 2


def test_without_pandas_the_command_to_install_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        Checkpoint().to_pandas()


def test_the_measurements_of_many_are_distinguished(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        for sample in several(4):
            state.record(sample, measurement())
    assert len([*Checkpoint.open(tmp_path).measurements()]) == 4


# ------------------------------------------------------------------------------- sorted, limited


def test_checkpoints_are_listed_by_a_metric_or_by_time(tmp_path: Path) -> None:
    rows = (
        (5.0, 30.0, "2026-01-02T00:00:00+00:00"),
        (20.0, 10.0, "2026-01-01T00:00:00+00:00"),
        (10.0, None, ""),
    )
    for index, (throughput, latency, time) in enumerate(rows):
        values = {"perf_throughput": throughput, "perf_latency_p99": latency}
        present = {tag: value for tag, value in values.items() if value is not None}
        records = Records()
        record = TrialRecord(
            trial=trial(), outcome=Measurement(models=(ModelMeasurement(values=present),))
        )
        for entry in Encoder().record(record.trial.key, record):
            records.take(entry, encode(entry))
        checkpoint = Checkpoint(header=Header(uuid="u", index=index, time=time), records=records)
        (tmp_path / f"{index}.ckpt").write_bytes(checkpoint.to_bytes())

    def listed(**how: Any) -> list[int | None]:
        return [checkpoint.header.index for checkpoint in list_checkpoints(tmp_path, **how)]

    assert listed() == [0, 1, 2]
    assert listed(order="desc", limit=2) == [2, 1]
    assert listed(sort_by="perf_throughput") == [1, 2, 0]
    assert listed(sort_by="perf_throughput", order="asc") == [0, 2, 1]
    assert listed(sort_by="perf_latency_p99") == [1, 0, 2], "those without it come last"
    assert listed(sort_by="perf_latency_p99", order="desc", limit=9) == [0, 1, 2]
    assert listed(sort_by="time") == [1, 0, 2]
    assert listed(sort_by="time", order="desc", limit=1) == [0]


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"sort_by": "perf_troughput"}, "sort_by: unknown metric 'perf_troughput'"),
        ({"sort_by": 3}, "sort_by: unknown metric 3"),
        ({"order": "down"}, "order: expected 'asc' or 'desc', found 'down'"),
        ({"limit": 0}, "limit: expected a whole number from 1 on, found 0"),
        ({"limit": "2"}, "limit: expected a whole number from 1 on, found '2'"),
    ],
)
def test_an_invalid_listing_is_refused_in_one_line(
    directory: Path, how: dict[str, Any], says: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(says)) as raised:
        list_checkpoints(directory, **how)
    assert "\n" not in str(raised.value)


def test_one_of_a_newer_program_is_listed_as_damaged(directory: Path) -> None:
    (directory / "2.ckpt").write_bytes(encode({"entry": "header", "format": 99}))

    newer = list_checkpoints(directory)[-1]

    assert newer.header.index == 2
    assert "by a newer model-analyzer" in newer.damage[0]
    assert not newer.is_accessible


# -------------------------------------------------------------------------------- is it accessible


def is_accessible(directory: Path) -> list[bool]:
    return [checkpoint.is_accessible for checkpoint in list_checkpoints(directory)]


def test_it_is_accessible_while_its_file_is_intact(directory: Path) -> None:
    first, second = list_checkpoints(directory)
    everything = Checkpoint.open(directory)
    assert first.is_accessible
    assert everything.is_accessible
    assert Checkpoint.from_bytes(first.to_bytes()).is_accessible, "it came from no file"

    path = directory / "0.ckpt"
    path.write_bytes(path.read_bytes()[:-3])
    assert not first.is_accessible
    path.write_bytes(encode({"entry": "header", "format": 99}))
    assert not first.is_accessible
    path.unlink()
    assert not first.is_accessible
    path.mkdir()
    assert not first.is_accessible
    assert second.is_accessible
    assert is_accessible(directory) == [False, True]
    assert first.with_metadata(a=1).is_accessible is False


def test_it_is_accessible_if_the_part_of_each_node_is_in_it(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        for number in (1, 2):
            state.record(trial(number), measurement(), f"node-{number}")
        state.save()
    whole = Checkpoint.open(tmp_path, 0)
    lines = (tmp_path / "0.ckpt").read_bytes().splitlines(keepends=True)
    part = [line for line in lines[:-1] if b'"node":"node-2"' not in line]

    (tmp_path / "1.ckpt").write_bytes(b"".join(checkpoint_lines([], part)))

    assert whole.is_accessible
    assert not Checkpoint.open(tmp_path, 1).is_accessible
    assert dict(Checkpoint.open(tmp_path, 1).missing) == {"node-2": 1}


# ----------------------------------------------------------------------------------------- download


def test_one_is_downloaded_from_a_store(directory: Path, tmp_path: Path) -> None:
    new = tmp_path / "new"
    assert Checkpoint.download(str(directory), new) == new / "1.ckpt"
    assert Checkpoint.download(f"file://{directory}", str(new), 0) == new / "0.ckpt"
    assert Checkpoint.download(DirectoryCheckpointer(directory), new, "best") == new / "0.ckpt"
    for name in ("0.ckpt", "1.ckpt"):
        assert (new / name).read_bytes() == (directory / name).read_bytes()
    uuid = list_checkpoints(directory)[1].header.uuid
    assert Checkpoint.download(directory, tmp_path / "third", uuid[:13]).name == "1.ckpt"


def test_a_failed_download_is_reported_in_one_line(directory: Path, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no checkpoint '7': there are 0, 1"):
        Checkpoint.download(directory, tmp_path / "new", 7)
    (directory / "1.ckpt").write_bytes(b"")
    with pytest.raises(CheckpointError, match="is damaged"):
        Checkpoint.download(directory, tmp_path / "new", 1)
    assert not (tmp_path / "new").exists()
    assert Checkpoint.download(directory, tmp_path / "new").name == "0.ckpt", "the newest intact"
    (tmp_path / "new" / "0.ckpt").write_text("mine")
    with pytest.raises(CheckpointError, match="exists, and is another checkpoint"):
        Checkpoint.download(directory, tmp_path / "new", 0)


def test_one_of_a_run_with_a_prefix_is_downloaded_under_it(tmp_path: Path) -> None:
    with ProfileState(tmp_path / "there", prefix="night") as state:
        state.record(trial(), measurement())
        state.save()
    path = Checkpoint.download(tmp_path / "there", tmp_path / "here", prefix="night")
    assert path == tmp_path / "here" / "night-0.ckpt"
