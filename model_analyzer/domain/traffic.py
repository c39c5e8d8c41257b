# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How the requests of an open load arrive: users do not wait for each other's answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

# The most requests of a log or of stages.
MOST_REQUESTS = 5_000_000


class Arrivals(Enum):
    """How requests arrive. The values are those in configurations and checkpoints."""

    CLOSED = "closed"  # each request waits for a response to an earlier one
    CONSTANT = "constant"  # at equal distances
    POISSON = "poisson"  # like those of independent users
    GAMMA = "gamma"  # in bursts
    STAGES = "stages"  # at a rate that changes with time
    REPLAY = "replay"  # at the times of a log
    FILE = "file"  # at the intervals of perf_analyzer's flag


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of a load: `rate` requests per second on average, for so many seconds."""

    rate: float
    seconds: float

    def __str__(self) -> str:
        return f"{self.rate:g}/s for {self.seconds:g} s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """An arrival process, without its rate: a `Load` has that.

    `cv` is the coefficient of variation of the times between requests (standard deviation over
    mean), for gamma arrivals: 0 is even, 1 is Poisson, more is bursts. `stages` and `log` have
    their own times and no other rate; arrivals within a stage are Poisson. `log` is the path of a
    file with times of requests, which pass `speed` times as fast; its column `input`, unless "",
    numbers the entries of the input data that requests have. Its content is part of a workload's
    inputs. Equal seeds give equal times. So many `generators` send the requests, each a part.
    """

    arrivals: Arrivals
    cv: float = 1.0
    seed: int = 0
    stages: tuple[Stage, ...] = ()
    speed: float = 1.0
    column: str = ""
    unit: str = ""
    input: str = ""
    generators: int = 1
    log: str = field(default="", compare=False)

    @property
    def has_own_times(self) -> bool:
        """Whether it determines the number of requests and the length of a measurement."""
        return self.arrivals in (Arrivals.STAGES, Arrivals.REPLAY)

    @property
    def seconds(self) -> float:
        """The length of all stages together; 0 if there are none."""
        return sum(stage.seconds for stage in self.stages)

    @property
    def mean_rate(self) -> float:
        """The requests per second of all stages together; 0 if there are none."""
        return sum(stage.rate * stage.seconds for stage in self.stages) / (self.seconds or 1.0)

    @property
    def meaning(self) -> Mapping[str, Any]:
        """What changes a measurement, in plain values."""
        meaning: dict[str, Any] = {"arrivals": self.arrivals.value, "seed": self.seed}
        if self.generators > 1:
            meaning["generators"] = self.generators
        match self.arrivals:
            case Arrivals.GAMMA:
                meaning["cv"] = self.cv
            case Arrivals.STAGES:
                meaning["stages"] = [[stage.rate, stage.seconds] for stage in self.stages]
            case Arrivals.REPLAY:
                meaning |= {"speed": self.speed, "column": self.column, "unit": self.unit}
                if self.input:
                    meaning["input"] = self.input
        return meaning

    def __str__(self) -> str:
        match self.arrivals:
            case Arrivals.GAMMA:
                return f"gamma arrivals (cv {self.cv:g})"
            case Arrivals.STAGES:
                return f"stages ({', '.join(map(str, self.stages))})"
            case Arrivals.REPLAY:
                speed = "" if self.speed == 1 else f" at {self.speed:g} times its speed"
                return f"a replayed log{' with its inputs' if self.input else ''}{speed}"
            case _:
                name = "Poisson" if self.arrivals is Arrivals.POISSON else self.arrivals.value
                return f"{name} arrivals"
