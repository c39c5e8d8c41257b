# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of versions that masked less: read, gone on from, and no longer shown as they are."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from model_analyzer.domain.models import freeze
from model_analyzer.domain.secrets import Veil
from model_analyzer.domain.trials import ServerSetup, Trial
from model_analyzer.results.conditions import Conditions
from model_analyzer.state.checkpoint import load
from model_analyzer.state.own_key import own_key
from model_analyzer.state.profile_state import ProfileState
from tests.unit.state.samples import measurement, trial

OLD = Path(__file__).parents[2] / "golden" / "masked" / "2026-11.ckpt"


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    directory = tmp_path / "checkpoints"
    directory.mkdir()
    shutil.copy(OLD, directory / "0.ckpt")
    return directory


def same_trial(**environment: str) -> Trial:
    """What was measured for that checkpoint, as a run of today asks for it."""
    setup = ServerSetup(
        version="2.51.0",
        flags=freeze(
            {"cache-config": ["redis,password=planted-1"], "backend-config": ("x,pwd=planted-2",)}
        ),
        environment={
            "OMP_NUM_THREADS": "2",
            "MODE": "fast",
            "HF_TOKEN": "planted-3",
            "PGPASSWORD": "planted-4",
            "DATABASE": "postgres://me:planted-5@db/x",
            "BLOB": "https://b/c?sig=planted-6",
            **environment,
        },
        container=freeze(
            {
                "image": "triton:1",
                "environment": ["API_TOKEN=planted-7", "MODE=fast", "LOGIN=planted-8"],
            }
        ),
        veil=Veil(key=own_key()),
    )
    first = trial(3)
    (work,) = first.workloads
    flags = freeze({"http-header": ("X-A: planted-9",), "string-data": "password=planted-10"})
    return replace(first, setup=setup, workloads=(replace(work, flags=flags),))


def test_the_trials_of_the_same_environment_are_found(directory: Path) -> None:
    with ProfileState(directory) as state:
        assert state.outcome_of(same_trial()) == measurement(3.0)
        assert state.outcome_of(same_trial(MODE="slow")) is None
        assert state.outcome_of(same_trial(HF_TOKEN="another")) == measurement(3.0)


def test_they_are_ranked_with_those_of_today(directory: Path) -> None:
    (record,) = load(directory).records
    assert Conditions.of(record.trial) == Conditions.of(same_trial())


def test_secrets_of_old_checkpoints_are_masked_in_output(directory: Path) -> None:
    (record,) = load(directory).records
    shown = str(record.trial.setup.meaning)
    assert "planted" not in shown
    assert "'OMP_NUM_THREADS': '2'" in shown


def test_new_checkpoints_have_no_secrets_and_are_read_back_equal(directory: Path) -> None:
    today = same_trial(MODE="slow")
    with ProfileState(directory / "new") as state:
        state.record(today, measurement(4.0))
        state.save()
    assert b"planted" not in (directory / "new" / "0.ckpt").read_bytes()
    (record,) = load(directory / "new").records
    assert Conditions.of(record.trial) == Conditions.of(today)
    assert record.trial.key == today.key


def test_nobody_without_the_key_can_find_out_a_value_by_trying(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = same_trial()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "of somebody else"))
    guess = same_trial()
    assert mine.key != guess.key
    assert not set(mine.setup.kept_environment.values()) & {
        value for value in guess.setup.kept_environment.values() if value.startswith("******")
    }


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33])
def test_a_damaged_key_is_reported_and_not_used(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    content: bytes,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    key = tmp_path / "model-analyzer" / "fingerprint.key"
    key.parent.mkdir()
    key.write_bytes(content)
    key.chmod(0o600)
    assert len(own_key()) == 32
    assert own_key() == own_key()
    assert key.read_bytes() == content
    assert "does not hold 32 bytes" in caplog.text


def test_a_key_that_others_can_read_or_a_link_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name, mode in (("open", 0o644), ("link", 0o600)):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))
        key = tmp_path / name / "model-analyzer" / "fingerprint.key"
        key.parent.mkdir(parents=True)
        target = tmp_path / f"{name} target" if name == "link" else key
        target.write_bytes(b"k" * 32)
        target.chmod(mode)
        if name == "link":
            key.symlink_to(target)
        assert own_key() != b"k" * 32
    assert caplog.text.count("fingerprint.key") == 2
