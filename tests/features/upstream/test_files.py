# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Upstream's checkpoints where ours may be: in a directory, as a file, to go on from."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.trials import Trial
from model_analyzer.state.checkpoint import Checkpoint, load, read_file
from model_analyzer.state.profile_state import ProfileState
from tests.unit.state.samples import measurement

GOLDEN = Path(__file__).parents[2] / "golden" / "upstream"
SAMPLES = sorted(GOLDEN.glob("*.ckpt"))


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """One that upstream has left behind."""
    shutil.copy(GOLDEN / "plain.ckpt", tmp_path / "0.ckpt")
    return tmp_path


def verified(trial: Trial) -> Trial:
    """The same trial as a run of ours asks for it: files and version are known."""

    def verified(variant: ModelVariant) -> ModelVariant:
        return replace(variant, files="f", composing=tuple(map(verified, variant.composing)))

    return replace(
        trial,
        workloads=tuple(replace(work, variant=verified(work.variant)) for work in trial.workloads),
        setup=replace(trial.setup, version="2.51.0"),
    )


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_every_shape_is_a_checkpoint_like_ours(path: Path) -> None:
    checkpoint = read_file(path)

    assert len(checkpoint.records)
    assert checkpoint.header.uuid == read_file(path).header.uuid
    reread = Checkpoint.from_bytes(checkpoint.to_bytes())
    assert list(reread.records) == list(checkpoint.records)
    assert reread.metadata == checkpoint.metadata
    assert reread.server_only == checkpoint.server_only


def test_a_directory_of_upstream_is_gone_on_with(directory: Path) -> None:
    imported = list(load(directory).records)

    with ProfileState(directory) as state:
        for record in imported:
            trial = verified(record.trial)
            outcome = state.outcome_of(trial)
            assert outcome == record.outcome
            assert outcome is not None
            state.record(trial, outcome)  # as the loop does
        assert state.save() == directory / "1.ckpt"

    ours = list(read_file(directory / "1.ckpt").records)
    assert [record.outcome for record in ours] == [record.outcome for record in imported]
    assert not any(record.trial.is_unverified for record in ours), "each is there once"
    assert len(load(directory).records) == len(imported)


def test_a_run_killed_in_between_has_each_measurement_once(directory: Path) -> None:
    imported = list(load(directory).records)
    with ProfileState(directory) as state:
        state.record(verified(imported[1].trial), imported[1].outcome)

    loaded = list(load(directory).records)
    assert len(loaded) == len(imported)
    assert sum(record.trial.is_unverified for record in loaded) == len(imported) - 1


def test_a_new_measurement_replaces_an_imported_one(directory: Path) -> None:
    trial = verified(next(iter(load(directory).records)).trial)
    with ProfileState(directory) as state:
        state.record(trial, measurement(17))
        assert state.outcome_of(trial) == measurement(17)

    assert measurement(17) in [record.outcome for record in load(directory).records]


def test_all_but_a_bad_value_is_used(directory: Path) -> None:
    path = directory / "0.ckpt"
    intact = read_file(path)
    text = path.read_text()
    path.write_text(text.replace('"_value": 2473.33', '"_value": NaN'))

    for loaded in (read_file(path), load(directory)):
        assert [each.trial for each in loaded.records] == [each.trial for each in intact.records]
        (warning,) = loaded.damage_warnings
        assert warning == (
            f"{path} is damaged (perf_throughput of add_sub_config_default concurrency=1 is not a"
            " number; lost: a value of add_sub_config_default concurrency=1): using the intact part"
        )
    with ProfileState(directory / "new") as state:
        state.start_from(read_file(path))
        assert len(state.checkpoint.records) == len(intact.records)


def test_the_checkpoint_before_a_damaged_one_is_used(directory: Path) -> None:
    raw = (directory / "0.ckpt").read_bytes()
    (directory / "1.ckpt").write_bytes(raw[: len(raw) // 2])

    loaded = load(directory)

    assert loaded.path == directory / "0.ckpt"
    (damage,) = loaded.damage
    assert damage.startswith(f"{directory / '1.ckpt'} is damaged (not a checkpoint of Triton")
