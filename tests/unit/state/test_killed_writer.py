# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A writer that is killed again and again loses nothing that it has acknowledged."""

from __future__ import annotations

import random
import time
from pathlib import Path

from model_analyzer.state.checkpoint import load
from model_analyzer.state.profile_state import ProfileState
from tests.sizes import small_and_full
from tests.unit.state.processes import acknowledged, kill, writer
from tests.unit.state.samples import measurement, trial


@small_and_full("kills", 5, 200)
def test_killed_writers_lose_no_acknowledged_outcome(tmp_path: Path, kills: int) -> None:
    dice = random.Random(3)
    first, keys = 1, []

    for _ in range(kills):
        with writer(tmp_path, first=first) as process:
            assert process.stdout is not None
            keys += [process.stdout.readline().strip() for _ in range(dice.randrange(1, 30))]
            time.sleep(dice.uniform(0, 0.01))
            kill(process)
            keys += acknowledged(process)
        records = load(tmp_path).profile.records
        # It may have died between the end of `record` and the acknowledgement.
        assert [record.trial.key for record in records][: len(keys)] == keys
        assert len(records) <= len(keys) + 1
        keys = [record.trial.key for record in records]
        first = len(keys) + 1

    # Nothing was invented, and nothing changed on the way.
    assert len(keys) >= kills
    for number, record in enumerate(records, start=1):
        assert (record.trial, record.outcome) == (trial(number), measurement(number))
    with ProfileState(tmp_path) as state:
        state.record(trial(first), measurement())
        assert state.save() is not None
    assert load(tmp_path).damage == ()
    assert len(load(tmp_path).profile.records) == first
