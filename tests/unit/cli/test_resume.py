# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a run asks before it begins."""

from __future__ import annotations

import io
from contextlib import ExitStack
from pathlib import Path

import pytest

from model_analyzer.cli.resume import open_state
from model_analyzer.domain.settings import CheckpointSettings, OnMismatch
from model_analyzer.errors import ModelAnalyzerError
from model_analyzer.state.checkpoint import load
from model_analyzer.state.profile_state import ProfileState
from tests.unit.state.samples import measurement, trial


class Terminal(io.StringIO):
    """What a user types."""

    def isatty(self) -> bool:
        return True


def test_a_journal_alone_is_not_removed_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement())  # and killed, before it saved a checkpoint
    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    settings = CheckpointSettings(
        directory=tmp_path,
        prefix="",
        load_directory=None,
        load_file=None,
        resume_from=None,
        every=None,
        fresh=True,
        assume_yes=False,
        disabled=False,
        on_mismatch=OnMismatch.ASK,
        storage=None,
        retry_failed=False,
    )

    with ExitStack() as stack, pytest.raises(ModelAnalyzerError, match="nothing was removed"):
        open_state(settings, tmp_path, stack, impatience=lambda: lambda: False)

    assert len(load(tmp_path).records) == 1
