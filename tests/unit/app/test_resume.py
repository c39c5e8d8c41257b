# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a run asks before it begins."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from model_analyzer.app.resume import open_state
from model_analyzer.domain.settings import CheckpointSettings, OnMismatch
from model_analyzer.errors import ModelAnalyzerError
from model_analyzer.state.checkpoint import load
from model_analyzer.state.profile_state import ProfileState
from tests.unit.state.samples import measurement, trial


class Answers:
    """A user who answers every question alike, and remembers the questions."""

    def __init__(self, *, agrees: bool) -> None:
        self.agrees = agrees
        self.questions: list[str] = []

    def confirm(self, text: str) -> bool:
        self.questions.append(text)
        return self.agrees

    def choose(self, text: str, choices: Sequence[str], default: str) -> str | None:
        self.questions.append(text)
        return default


def test_a_journal_alone_is_not_removed_unasked(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement())  # and killed, before it saved a checkpoint
    user = Answers(agrees=False)
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
        open_state(settings, tmp_path, stack, ask=user, impatience=lambda: lambda: False)

    assert len(load(tmp_path).records) == 1
    assert user.questions == [f"Remove 1 file with measurements from {tmp_path}?"]
