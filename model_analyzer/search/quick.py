# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Quick search: climbs from the smallest sizes of all models towards better ones.

Around a home, a few coordinates are measured that differ in as many dimensions as possible; what
they gained over it says in which direction the next home lies, and how far. Where constraints
begin to fail, the walk looks at every adjacent coordinate instead and takes the best that passes.
It ends when home stays where it is.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Generator, Mapping

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.models import ModelVariant, VariantNames, step_models
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import QuickSettings
from model_analyzer.domain.trials import Trial
from model_analyzer.search.neighbourhood import Neighbourhood
from model_analyzer.search.plan import Plan, SearchedModel, Subject
from model_analyzer.search.space import UNBOUNDED, Coordinate, SearchSpace, search_space
from model_analyzer.search.variants import sized_variant

log = logging.getLogger(__name__)

# So many neighbours tell a direction.
_ENOUGH = 3

# A gain per unit of distance above each of these makes the step longer by one.
_STEPS = (0.09, 0.3, 1.0)

# A coordinate that was home as often is not worth another look.
_MOST_VISITS = 2


def quick_space(subject: Subject, bounds: QuickSettings) -> SearchSpace:
    """Where a quick search may go: anywhere, but for the bounds that the user gave."""
    low, high = UNBOUNDED
    return search_space(
        subject,
        batch_limits=(bounds.min_model_batch_size or low, bounds.max_model_batch_size or high),
        instances=(bounds.min_instance_count or low, bounds.max_instance_count or high),
    )


class QuickSearch:
    """The plan of a quick search over one model, or over several that are measured together."""

    def __init__(self, subject: Subject, bounds: QuickSettings, names: VariantNames) -> None:
        self._subject = subject
        self._bounds = bounds
        self._names = names
        self._space = quick_space(subject, bounds)
        self._outcomes: dict[tuple[str, str], Outcome] = {}
        self._records: list[TrialRecord] = []

    def plan(self) -> Plan:
        log.info("")
        log.info("Starting quick mode search to find optimal configs")
        log.info("")
        yield from self._measure(self._default())
        climb = Climb(self._space, self._subject.goal)
        coordinate: Coordinate | None = self._space.start
        while coordinate is not None:
            measurement = yield from self._measure(self._at(coordinate))
            coordinate = climb.after(coordinate, measurement)
        return self._records

    def _measure(self, trial: Trial) -> Generator[Trial, Outcome, Measurement | None]:
        """The measurement of `trial`, which is asked for once: several coordinates may stand for
        the same sizes.
        """
        if not trial.is_legal:
            log.info("Skipping illegal run configuration: %s", trial)
            return None
        identity = (trial.key, trial.variants)
        if identity not in self._outcomes:
            outcome = yield trial
            self._outcomes[identity] = outcome
            self._records.append(TrialRecord(trial=trial, outcome=outcome))
        known = self._outcomes[identity]
        return known if isinstance(known, Measurement) else None

    def _default(self) -> Trial:
        gpus = len(self._subject.setup.devices)
        variants = [self._names.default(model.facts) for model in self._subject.models]
        return self._trial(variants, gpus=gpus)

    def _at(self, coordinate: Coordinate) -> Trial:
        sizes = self._space.sizes(coordinate)
        variants = [sized_variant(model, sizes, self._names) for model in self._subject.models]
        # a size is the number of instances that was asked for, on however many GPUs they are
        return self._trial(variants, gpus=1)

    def _trial(self, variants: list[ModelVariant], *, gpus: int) -> Trial:
        return self._subject.trial(
            *(
                model.workload(variant, self._load(model, variant, gpus), self._batch_size(model))
                for model, variant in zip(self._subject.models, variants, strict=True)
            )
        )

    def _load(self, model: SearchedModel, variant: ModelVariant, gpus: int) -> int:
        if model.settings.loads:
            (load,) = model.settings.loads
            return load
        low, high = self._bounds.min_concurrency or 1, self._bounds.max_concurrency
        wanted = max(filling_concurrency(variant, gpus=gpus), low)
        return wanted if high is None else min(wanted, high)

    @staticmethod
    def _batch_size(model: SearchedModel) -> int:
        (batch_size,) = model.settings.batch_sizes
        return batch_size


def filling_concurrency(variant: ModelVariant, *, gpus: int) -> int:
    """Requests in flight that keep the variant busy: twice what its instances work on at once.

    An ensemble is as busy as the step that needs the fewest.
    """
    steps = step_models(variant.config)
    if steps:
        parts = [part for part in variant.composing if part.model in steps]
        return min(filling_concurrency(part, gpus=gpus) for part in parts)
    instances = sum(count for count, _ in variant.instances(gpus=gpus))
    return 2 * max(variant.max_batch_size, 1) * instances


class Climb:
    """The walk: told what was measured at a coordinate, it says which one is next."""

    def __init__(self, space: SearchSpace, goal: Goal) -> None:
        self._space = space
        self._goal = goal
        self._measured: dict[Coordinate, Measurement | None] = {}
        self._around = Neighbourhood(space, space.start)
        self._visits = Counter([space.start])
        self._is_careful = False

    def after(self, coordinate: Coordinate, measurement: Measurement | None) -> Coordinate | None:
        """The coordinate to measure next, or None at the end of the walk. A coordinate may come
        again, to be told again what is known.
        """
        self._measured[coordinate] = measurement
        if coordinate == self._home and self._has_gone_too_far:
            return self._step_back()
        if self._looks_all_around:
            missing = (near for near in self._around.adjacent if near not in self._measured)
            return next(missing, None) or self._move(self._best_around())
        if len(self._neighbours) >= _ENOUGH:
            return self._move(self._uphill())
        return self._most_different()

    @property
    def _home(self) -> Coordinate:
        return self._around.home

    @property
    def _neighbours(self) -> Mapping[Coordinate, Measurement]:
        """What gave a measurement around home, without home."""
        return {
            coordinate: measurement
            for coordinate, measurement in self._measured.items()
            if measurement is not None and coordinate != self._home and coordinate in self._around
        }

    def _passes(self, coordinate: Coordinate) -> bool:
        measurement = self._measured.get(coordinate)
        return measurement is not None and self._goal.passes(measurement)

    @property
    def _has_gone_too_far(self) -> bool:
        """Whether home cannot be used, or fails where an earlier home passed."""
        if self._measured[self._home] is None:
            return True
        return not self._passes(self._home) and any(map(self._passes, self._visits))

    @property
    def _looks_all_around(self) -> bool:
        """Whether the border between passing and failing is near."""
        if self._is_careful:
            return True
        if self._measured.get(self._home) is None:
            return False
        passes = self._passes(self._home)
        return any(self._passes(near) is not passes for near in self._neighbours)

    def _move(self, to: Coordinate) -> Coordinate | None:
        if to == self._home or self._visits[to] >= _MOST_VISITS:
            return None
        log.debug("Quick search steps from %s to %s", self._home, to)
        self._around = Neighbourhood(self._space, to)
        self._visits[to] += 1
        self._is_careful = False
        return to

    def _step_back(self) -> Coordinate | None:
        """Goes to the coordinate around here that is nearest to the best so far, carefully."""
        seen = [at for at, measurement in self._measured.items() if measurement is not None]
        if not seen:
            return None
        best = self._best(seen)
        nearest = next(self._around.by_worth(lambda at, index: -((best[at] - index) ** 2)))
        moved = self._move(nearest)
        self._is_careful = True
        return moved

    def _best_around(self) -> Coordinate:
        """The best that passes around home, or home."""
        passing = [at for at in (self._home, *self._neighbours) if self._passes(at)]
        return self._best(passing) if passing else self._home

    def _best(self, coordinates: list[Coordinate]) -> Coordinate:
        def measurement(at: Coordinate) -> Measurement:
            found = self._measured[at]
            assert found is not None
            return found

        return self._goal.best_first(coordinates, measurement)[0]

    def _uphill(self) -> Coordinate:
        """Home, moved in each dimension by how much its neighbours gain in that direction."""
        home = self._measured[self._home]
        assert home is not None
        gains, distances = [0.0] * len(self._home), [0] * len(self._home)
        for coordinate, measurement in self._neighbours.items():
            gain = self._gain(measurement, home)
            for dimension, offset in enumerate(self._around.offsets(coordinate)):
                if offset:
                    gains[dimension] += gain if offset > 0 else -gain
                    distances[dimension] += abs(offset)
        steps = [
            _step(gain / distance) if distance else 0
            for gain, distance in zip(gains, distances, strict=True)
        ]
        return self._space.nearest(
            tuple(here + step for here, step in zip(self._home, steps, strict=True))
        )

    def _gain(self, new: Measurement, home: Measurement) -> float:
        if self._goal.passes(home):
            return self._goal.score(new, home)
        return (self._goal.shortfall(home) - self._goal.shortfall(new)) / 100

    def _most_different(self) -> Coordinate | None:
        """The neighbour with most values that none of the others has."""
        seen = [set(indices) for indices in zip(*self._neighbours, strict=True)]

        def is_new(dimension: int, index: int) -> int:
            return int(not seen or index not in seen[dimension])

        around = self._around.by_worth(is_new)
        found = next((near for near in around if near not in self._measured), None)
        if found is None:
            log.info("No coordinate to measure. Exiting")
        return found


def _step(gain: float) -> int:
    size = sum(abs(gain) > threshold for threshold in _STEPS)
    return size if gain > 0 else -size
