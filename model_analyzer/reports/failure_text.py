# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The failures of a configuration that also has measurements, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from model_analyzer.domain.loads import under
from model_analyzer.domain.profiles import FailedTrial
from model_analyzer.domain.words import counted


def failure_text(name: str, failed: Sequence[FailedTrial]) -> str:
    """What happened first to the configuration of this name, and how often it failed again; without
    a full stop.
    """
    trial, failure = failed[0]
    others = f", and {counted(len(failed) - 1, 'time')} more" if len(failed) > 1 else ""
    return f"{name} failed {under(trial)}{others}: {failure.message.rstrip('.;')}"


def failure_advice(name: str, failed: Sequence[FailedTrial]) -> str:
    """The same as a sentence, with what to do."""
    return f"{'; '.join(filter(None, (failure_text(name, failed), failed[0].failure.hint)))}."
