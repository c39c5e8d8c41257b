# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Quick search: measures the default, then climbs from the smallest sizes of all models.

Every variant is measured under one load, which keeps it busy.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from functools import cached_property

from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.models import ModelVariant, VariantNames
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import SearchMode, unsupported_loads
from model_analyzer.domain.trials import Trial
from model_analyzer.errors import Problem
from model_analyzer.search.climb import Climb
from model_analyzer.search.modes.mode import RefiningMode
from model_analyzer.search.plan import (
    PartialPlan,
    Plan,
    SearchedModel,
    log_skipped,
    recorded,
    side_by_side,
)
from model_analyzer.search.trial_map import UNBOUNDED, Coordinate, Space, sizes_at, space_of_sizes
from model_analyzer.search.variants import RefusedVariants, sized_variant

log = logging.getLogger(__name__)

# A climb takes about `_CLIMB + _CLIMB_PER_DIMENSION * dimensions` trials, and more under
# constraints. A longer climb takes a few more.
_CLIMB, _CLIMB_PER_DIMENSION = 5, 2
_CLIMB_ALONG_CONSTRAINTS = 3
_LEAST_LEFT = 3.0


class QuickMode(RefiningMode):
    """Climbs in the space of all sizes; its bounds are those that the user gave, if any."""

    title = "quick"
    has_one_load = True

    def problems(self) -> Iterator[Problem]:
        """The lists of loads, where quick is the default mode of these models."""
        for model in self.subject.models:
            for message, hint in unsupported_loads(model.settings, SearchMode.QUICK):
                yield Problem(where=model.settings.name, message=message, hint=hint)

    def left_out(self) -> Iterator[RefusedVariants]:
        """Nothing that could be counted: it climbs from the smallest sizes that a server takes."""
        yield from ()

    @cached_property
    def space(self) -> Space:
        low, high = UNBOUNDED
        bounds = self.settings.quick
        return space_of_sizes(
            self.subject,
            batch_limits=lambda _: (
                bounds.min_model_batch_size or low,
                bounds.max_model_batch_size or high,
            ),
            instances=(bounds.min_instance_count or low, bounds.max_instance_count or high),
        )

    def strategy(self, names: VariantNames, seed: int) -> QuickSearch:
        return QuickSearch(self, names)

    def left(self, done: int) -> float:
        usual = _CLIMB + _CLIMB_PER_DIMENSION * len(self.space.dimensions)
        usual += _CLIMB_ALONG_CONSTRAINTS if self.subject.goal.has_constraints else 0
        return max(usual - done, _LEAST_LEFT)


class QuickSearch:
    """The plan of a quick search over one model, or over several that are measured together."""

    most_trials = None

    def __init__(self, mode: QuickMode, names: VariantNames) -> None:
        self._subject = mode.subject
        self._bounds = mode.settings.quick
        self._names = names
        self._space = mode.space
        self._outcomes: dict[tuple[str, str], Outcome] = {}
        self._records: list[TrialRecord] = []

    def plan(self) -> Plan:
        log.info("")
        log.info("Starting quick mode search to find optimal configs")
        log.info("")
        yield from side_by_side(self._steps())
        return self._records

    def _steps(self) -> Iterator[PartialPlan[object] | None]:
        yield self._measure(self._default())
        climb = Climb(self._space, self._subject.goal)
        while True:
            coordinate = climb.ask()
            yield None if coordinate is None else self._step(climb, coordinate)

    def _step(self, climb: Climb, coordinate: Coordinate) -> PartialPlan[None]:
        measurement = yield from self._measure(self._at(coordinate))
        climb.tell(coordinate, measurement)

    def _measure(self, trial: Trial) -> PartialPlan[Measurement | None]:
        """The measurement of `trial`; None if it is illegal or failed. Each trial is asked for
        once: several coordinates may stand for the same sizes.
        """
        if not trial.is_legal:
            log_skipped(trial)
            return None
        identity = (trial.key, trial.variants)
        if identity not in self._outcomes:
            record = yield from recorded(trial)
            if identity not in self._outcomes:  # it may have been under way already
                self._outcomes[identity] = record.outcome
                self._records.append(record)
        outcome = self._outcomes[identity]
        return outcome if isinstance(outcome, Measurement) else None

    def _default(self) -> Trial:
        gpus = len(self._subject.setup.devices)
        variants = [self._names.default(model.facts) for model in self._subject.models]
        return self._trial(variants, gpus=gpus)

    def _at(self, coordinate: Coordinate) -> Trial:
        sizes = sizes_at(self._space.point(coordinate))
        variants = [sized_variant(model, sizes, self._names) for model in self._subject.models]
        # a size counts the instances in total, whatever the number of GPUs
        return self._trial(variants, gpus=1)

    def _trial(self, variants: Sequence[ModelVariant], *, gpus: int) -> Trial:
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
        load = max(variant.filling_concurrency(gpus=gpus), low)
        return load if high is None else min(load, high)

    @staticmethod
    def _batch_size(model: SearchedModel) -> int:
        (batch_size,) = model.settings.batch_sizes
        return batch_size


MODE = QuickMode
