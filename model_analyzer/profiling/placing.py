# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Chooses the slot for a trial."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from model_analyzer.domain.slots import Slot
from model_analyzer.domain.trials import Trial


def best_slot(free: Sequence[Slot], trial: Trial, *, lost_on: Collection[str] = ()) -> Slot:
    """The slot of `free` (at least one) that measures `trial` soonest.

    That is a slot with its variants loaded, then one that has loaded nothing. A host that lost this
    trial comes last.
    """

    def cost(slot: Slot) -> tuple[bool, bool, bool]:
        return slot.host in lost_on, slot.loaded != trial.content, bool(slot.loaded)

    return min(free, key=cost)
