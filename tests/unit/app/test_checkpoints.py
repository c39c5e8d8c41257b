# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The use cases of `model-analyzer checkpoint`, without a terminal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.app.checkpoints.files import (
    Damaged,
    Downloaded,
    Top,
    Uploaded,
    download_checkpoints,
    export_checkpoint,
    measure,
    merge_into,
    read_metadata,
    remove_metadata,
    set_metadata,
    start_directory,
    upload_checkpoints,
    verify_files,
)
from model_analyzer.app.checkpoints.show import (
    best_variants,
    choose_trials,
    content_tables,
    list_checkpoints,
    parse_query,
)
from model_analyzer.domain.goals import Constraint, GoalOverride
from model_analyzer.domain.models import freeze
from model_analyzer.domain.slots import SharedHost, Shift
from model_analyzer.domain.trials import Trial
from model_analyzer.domain.words import setting_text
from model_analyzer.errors import CheckpointError, ConfigError
from model_analyzer.state.checkpoint import load
from model_analyzer.state.profile_state import ProfileState
from tests.unit.builders import failure, measurement, trial, variant


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Two checkpoints; the second adds a slower variant and one that fails."""
    path = tmp_path / "checkpoints"
    with ProfileState(path) as state:
        state.record(trial(variant("m_config_default")), measurement(300.0, 30.0))
        state.save()
        state.record(trial(variant("m_config_0", max_batch_size=2)), measurement(200.0, 10.0))
        state.record(trial(variant("m_config_1", max_batch_size=4)), failure())
        state.record_metadata({"owner": {"team": "vision", "tickets": [7, {"id": 17}]}})
        state.save()
    return path


def damage(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize(
    ("options", "indices"),
    [
        ({}, [0, 1]),
        ({"order": "desc"}, [1, 0]),
        ({"sort_by": "perf_latency_p99"}, [1, 0]),
        ({"sort_by": "perf_latency_p99", "order": "desc", "limit": 1}, [0]),
        ({"sort_by": "state", "order": "desc"}, [1, 0]),
    ],
)
def test_checkpoints_are_listed_in_order(
    directory: Path, options: dict[str, Any], indices: list[int]
) -> None:
    damage(directory / "1.ckpt")

    listing = list_checkpoints(directory, **options)

    assert [document["index"] for document in listing.documents()] == indices
    assert [row[0] for row in listing.table().rows] == list(map(str, indices))


def test_slots_that_share_a_host_are_shown_with_what_they_change(directory: Path) -> None:
    shared = SharedHost(
        host="gpu1",
        slots=4,
        model="m",
        trial="key",
        throughput=Shift(-3.14, 1.2),
        latency_p99=Shift(11.4, 4.4),
    )
    checkpoint = replace(load(directory), shared_hosts={"gpu1": shared})
    (table,) = (table for title, table in content_tables(checkpoint) if "share a host" in title)
    assert table.headers == ("Host", "Slots", "Tested with", "Throughput (%)", "p99 Latency (%)")
    assert table.rows == (("gpu1", 4, "m", "-3.1 ± 1.2", "+11 ± 4"),)


def test_a_directory_without_checkpoints_is_not_listed(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no checkpoints found"):
        list_checkpoints(tmp_path)


def test_the_content_is_in_titled_tables(directory: Path) -> None:
    tables = dict(content_tables(load(directory), "perf_latency_p99"))

    assert list(tables) == ["Checkpoint", "Variants, each at its best p99 Latency (ms)", "Metadata"]
    assert ("Failures", "1") in tables["Checkpoint"].rows


@pytest.mark.parametrize(
    ("older", "reason"),
    [
        (trial(variant("m_config_0", files="old")), "files of m have changed since"),
        (trial(variant("m_config_0"), flags={"percentile": "9"}), "different conditions"),
    ],
)
def test_variants_that_cannot_be_compared_have_a_table_of_their_own(
    tmp_path: Path, older: Trial, reason: str
) -> None:
    with ProfileState(tmp_path) as state:
        state.record(older, measurement(900.0))
        state.record(trial(variant("m_config_0")), measurement(200.0))
    tables = dict(content_tables(load(tmp_path)))

    (title,) = [name for name in tables if name.startswith("Left out of rankings")]
    (current,) = tables["Variants, each at its best Throughput (infer/sec)"].rows
    (left_out,) = tables[title].rows
    assert 200 in current
    assert 900 not in current
    assert 900 in left_out
    assert reason in str(left_out[-1])


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        ("None", "not set"),
        ("True", "yes"),
        ("()", "none"),
        ("(1, 2)", "1, 2"),
        ("{'a': [None]}", '{"a": [null]}'),
        ("64", "64"),
        ("Max p99 Latency: 20 ms", "Max p99 Latency: 20 ms"),
        ("(" * 9_000, "(" * 9_000),
    ],
)
def test_a_setting_is_shown_in_words(setting: str, text: str) -> None:
    assert setting_text(setting) == text


@pytest.mark.parametrize(
    ("where", "sort_by", "order", "variants"),
    [
        ([], None, None, ["m_config_default", "m_config_0"]),
        ([], None, "desc", ["m_config_0", "m_config_default"]),
        ([], "perf_latency_p99", None, ["m_config_0", "m_config_default"]),
        ([], "perf_throughput", "asc", ["m_config_0", "m_config_default"]),
        (["perf_latency_p99<20"], None, None, ["m_config_0"]),
        (["perf_latency_p99<20", "perf_throughput>250"], None, None, []),
    ],
)
def test_trials_are_filtered_and_sorted(
    directory: Path, where: list[str], sort_by: str | None, order: str | None, variants: list[str]
) -> None:
    chosen = choose_trials(load(directory), parse_query(where, sort_by, order, None))

    assert [row["variant"] for row in chosen.rows] == variants
    assert chosen.encoded("csv").count(b"\n") == 1 + len(variants)


@pytest.mark.parametrize(
    ("where", "sort_by", "option"), [(["x<1"], None, "--where"), ([], "x", "--sort-by")]
)
def test_a_query_names_the_option_that_is_wrong(where: list[str], sort_by, option: str) -> None:
    with pytest.raises(ConfigError, match=f"{option}: unknown column 'x'"):
        parse_query(where, sort_by, None, None)


def test_variants_are_ranked_by_the_goal_that_is_asked_for(directory: Path, tmp_path: Path) -> None:
    bound = Constraint(tag="perf_latency_p99", maximum=20.0)
    asked = GoalOverride(constraints=(bound,))

    variants = best_variants(load(directory), asked, count=1, directory=tmp_path / "deploy")

    (answer,) = variants.answers
    assert answer.best is not None
    assert answer.best.name == "m_config_0"
    assert variants.write(answer) == [tmp_path / "deploy/m/m_config_0/config.pbtxt"]
    assert best_variants(load(directory), asked, count=1).write(answer) == ()


def test_notes_are_set_read_and_removed(directory: Path) -> None:
    assert read_metadata(directory, key="owner.tickets.1.id") == 17
    set_metadata(directory, "", "note", "[1, {}]")
    assert read_metadata(directory)["note"] == [1, {}]
    remove_metadata(directory, "", "owner")
    assert list(read_metadata(directory)) == ["note"]
    with pytest.raises(CheckpointError, match="no metadata 'owner': there is note"):
        remove_metadata(directory, "", "owner")


@pytest.mark.parametrize(
    ("text", "value"), [("12", 12), ("true", True), ('"12"', "12"), ("NaN", "NaN"), ("ü {", "ü {")]
)
def test_a_note_is_json_or_else_text(directory: Path, text: str, value: object) -> None:
    set_metadata(directory, "", "key", text)

    assert load(directory).metadata["key"] == freeze(value)


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("owner.team", "x", "set the whole top-level value"),
        ("key", "null", "use `metadata remove`"),
        ("key", "[1e999]", "a number that is too large"),
        ("key", "[" * 65 + "]" * 65, "more than 64 levels deep"),
    ],
)
def test_a_note_that_cannot_be_kept(directory: Path, key: str, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        set_metadata(directory, "", key, text)


def test_files_and_directories_are_verified(directory: Path, tmp_path: Path) -> None:
    assert verify_files((), directory).is_intact
    damage(directory / "1.ckpt")

    verification = verify_files([directory, tmp_path / "none.ckpt"], directory)

    assert [each["intact"] for each in verification.documents()] == [True, False, False]
    assert [*verification.lines()][-1].endswith("none.ckpt: does not exist")


def test_statistics_measure_loading_and_writing(directory: Path) -> None:
    moments = iter((1.0, 1.5, 3.5))

    statistics = measure("latest", directory, clock=lambda: next(moments))

    assert (statistics.load_s, statistics.serialise_s) == (0.5, 2.0)
    assert (statistics.outcomes, statistics.dominant, statistics.remark) == (3, None, "")
    assert [title for title, _ in statistics.tables()] == [str(statistics.path)]
    assert statistics.document()["bytes_per_entry"] == statistics.size / statistics.entries


def test_checkpoints_are_merged_into_a_new_one(directory: Path, tmp_path: Path) -> None:
    with ProfileState(tmp_path / "other") as state:
        state.record(trial(variant("m_config_0", max_batch_size=8)), measurement(1.0))

    path, merged = merge_into(tmp_path / "both", [load(directory), load(tmp_path / "other")])

    assert (len(merged.checkpoint.records), merged.repetitions, merged.renamed) == (4, 0, 1)
    assert path == tmp_path / "both/0.ckpt"


def test_a_directory_starts_from_a_file_once(directory: Path, tmp_path: Path) -> None:
    path, imported = start_directory(directory / "1.ckpt", tmp_path / "new")

    assert (path, len(imported.records)) == (tmp_path / "new/0.ckpt", 3)
    with pytest.raises(CheckpointError, match="already has measurements"):
        start_directory(directory / "1.ckpt", tmp_path / "new")


def test_an_export_counts_what_the_format_cannot_hold(directory: Path) -> None:
    rows, upstream = (export_checkpoint(load(directory), form) for form in ("json", "upstream"))

    assert (rows.description, rows.remarks) == ("3 rows", ())
    assert upstream.remarks == ["failures left out, because this format cannot hold them: 1"]


def test_damaged_checkpoints_are_not_copied(directory: Path, tmp_path: Path) -> None:
    damage(directory / "1.ckpt")
    store, copies = str(tmp_path / "store"), tmp_path / "copies"

    uploaded, damaged = upload_checkpoints(None, directory, "", store)
    assert uploaded == Uploaded(name="0.ckpt", store=store, number=0, is_new=False)
    assert isinstance(damaged, Damaged)
    left_out, downloaded = download_checkpoints(str(directory), Top(count=1), copies)
    assert isinstance(left_out, Damaged)
    assert downloaded == Downloaded(path=copies / "0.ckpt", is_new=True)
    assert [*download_checkpoints(store, "latest", copies)] == [
        Downloaded(path=copies / "0.ckpt", is_new=False)
    ]
