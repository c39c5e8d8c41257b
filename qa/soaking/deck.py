# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Draws the faults and their moments for each round, from the seed."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

_LONGEST_TRIAL_S = 0.8
_WITHIN_TRIAL_S = 0.4  # between two faults of a round
_WINDING_UP_S = 3.0
_LAST_TRIALS = 2  # after the latest moment of a fault that needs a trial
_MOST_BETWEEN = 1  # outcomes between two faults of a round


@dataclass(frozen=True)
class Moment:
    """A time after a number of acknowledged outcomes: the same phase of the run on any machine."""

    outcomes: int
    delay_s: float

    def __str__(self) -> str:
        return f"{self.outcomes} outcomes + {self.delay_s:.3f} s"


@dataclass(frozen=True)
class Blow:
    """A fault, and its moment since the previous one, or since the start of the run. All other
    random choices use `dice`.
    """

    fault: str
    moment: Moment
    seed: str

    @property
    def dice(self) -> random.Random:
        """A new generator, always the same for this blow."""
        return random.Random(f"{self.seed} dice")

    def __str__(self) -> str:
        return f"{self.fault}, {self.moment}"


@dataclass(frozen=True)
class Card:
    """The blows of one round."""

    number: int
    seed: str
    blows: tuple[Blow, ...]


@dataclass(frozen=True)
class Deck:
    """The faults by name, and whether a trial has to follow them. A round has `size` blows. Each
    pass through the deck has every fault once, so all come equally often.
    """

    faults: Mapping[str, bool]
    seed: int
    size: int = 1

    def draw(self, number: int, trials: int) -> Card:
        """The card of a round (from 1), whose runs have about so many outcomes without a fault."""
        name = f"{self.seed} round {number}"
        first = (number - 1) * self.size
        blows = (self._blow(first + n, f"{name} blow {n}", trials) for n in range(self.size))
        return Card(number, name, tuple(blows))

    def _blow(self, index: int, seed: str, trials: int) -> Blow:
        turn, position = divmod(index, len(self.faults))
        shuffled = random.Random(f"{self.seed} deck {turn}")
        fault = shuffled.sample([*self.faults], len(self.faults))[position]
        latest = trials - _LAST_TRIALS if self.faults[fault] else trials
        dice = random.Random(seed)
        if self.size > 1:
            outcomes, longest = dice.randint(0, _MOST_BETWEEN), _WITHIN_TRIAL_S
        else:
            outcomes = dice.randint(0, latest)
            longest = _WINDING_UP_S if outcomes == trials else _LONGEST_TRIAL_S
        return Blow(fault, Moment(outcomes, round(dice.uniform(0, longest), 3)), seed)
