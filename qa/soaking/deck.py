# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Draws the fault and its moment for each round, from the seed."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

TRIALS = 6
_LONGEST_TRIAL_S = 0.8
_WINDING_UP_S = 3.0


@dataclass(frozen=True)
class Moment:
    """A time after a number of acknowledged outcomes: the same phase of the run on any machine."""

    outcomes: int
    delay_s: float

    def __str__(self) -> str:
        return f"{self.outcomes} outcomes + {self.delay_s:.3f} s"


@dataclass(frozen=True)
class Card:
    """The fault and moment of one round. All other random choices use `dice`."""

    number: int
    fault: str
    moment: Moment
    seed: str

    @property
    def dice(self) -> random.Random:
        """A new generator, always the same for this round."""
        return random.Random(f"{self.seed} dice")


def draw(number: int, faults: Mapping[str, int], seed: int) -> Card:
    """The card of a round (from 1). `faults` has the most outcomes before each fault. A deck has
    each fault once and is shuffled again when it is empty, so all faults come equally often.
    """
    deck, position = divmod(number - 1, len(faults))
    fault = random.Random(f"{seed} deck {deck}").sample(list(faults), len(faults))[position]
    name = f"{seed} round {number}"
    dice = random.Random(name)
    outcomes = dice.randint(0, faults[fault])
    longest = _WINDING_UP_S if outcomes == TRIALS else _LONGEST_TRIAL_S
    return Card(number, fault, Moment(outcomes, round(dice.uniform(0, longest), 3)), name)
