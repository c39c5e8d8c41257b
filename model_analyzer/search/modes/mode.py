# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A search mode as an object: what it accepts, its space, its plan, and what is left of it."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Protocol

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import SearchSettings
from model_analyzer.domain.trials import Trial
from model_analyzer.errors import Problem
from model_analyzer.search.plan import SEED, Plan, PlannedSearch, Subject, load_values
from model_analyzer.search.refine import confirm, most_confirmed, refine
from model_analyzer.search.trial_map import Space, TrialMap
from model_analyzer.search.variants import RefusedVariants, of_space

log = logging.getLogger(__name__)


class Strategy(Protocol):
    """The search of one subject, without what follows it in every mode."""

    @property
    def most_trials(self) -> int | None:
        """The largest number of trials; None if unknown."""

    def plan(self) -> Plan:
        """Its plan, which may be asked for once."""


class ListedStrategy(Strategy, Protocol):
    """A strategy whose possible trials are known before anything is measured."""

    @property
    def most_trials(self) -> int: ...

    def trials(self) -> Iterator[Trial]:
        """All of them in their order, as if no rule ends the search early."""


class Mode(ABC):
    """A way of searching a subject under these settings. What `config` has to know of it is in
    `ModeFacts`.
    """

    # which loads of each variant it measures by itself: all, only one, or as it chooses
    covers_loads = False
    has_one_load = False

    def __init__(self, subject: Subject, settings: SearchSettings) -> None:
        self.subject = subject
        self.settings = settings

    def problems(self) -> Iterator[Problem]:
        """What it does not accept of the models, beside what no search accepts."""
        yield from ()

    def check(self) -> None:
        """Raises ConfigError if a package is missing, or if nothing in its space is legal."""
        _ = self.space

    def left_out(self) -> Iterator[RefusedVariants]:
        """The variants that it leaves out, because a server would refuse them."""
        return of_space(self.subject, self.settings)

    @cached_property
    def space(self) -> Space:
        """What it chooses from. Raises ConfigError if nothing is legal."""
        return self.trial_map.space

    @cached_property
    def trial_map(self) -> TrialMap:
        """The trials of the space; by default all sizes, batch sizes, loads and listed values."""
        return TrialMap(self.subject, self.settings, use_formula=False)

    @abstractmethod
    def search(self, names: VariantNames, *, seed: int = SEED, slots: int = 1) -> PlannedSearch:
        """The whole search. All random choices follow from the seed. `slots`, the number of trials
        at once, has an effect on `most_trials` only.
        """


class RefiningMode(Mode):
    """A mode whose search is followed by a sweep over the loads of the best variants, and by
    further rounds of the best trials.
    """

    # its name in the log
    title: str

    @abstractmethod
    def strategy(self, names: VariantNames, seed: int) -> Strategy:
        """The search itself."""

    def listed(self) -> ListedStrategy | None:
        """The search itself, if its trials are known before: then it has no space."""
        return None

    @abstractmethod
    def left(self, done: int) -> float:
        """The expected number of further trials of the search itself after `done` of them."""

    def search(self, names: VariantNames, *, seed: int = SEED, slots: int = 1) -> PlannedSearch:
        own = self.strategy(names, seed)
        most = own.most_trials
        return PlannedSearch(
            self._confirmed(own.plan()), None if most is None else most + self.most_refined
        )

    @property
    def sweeps_loads(self) -> bool:
        """Whether a load sweep follows: unless a load is fixed or the models have different lists
        of loads.
        """
        lists = {model.settings.loads for model in self.subject.models}
        return not self.settings.sweep_disable and len(lists) == 1 and len(*lists) != 1

    def most_swept(self, best: int) -> int:
        """The largest number of trials of the load sweep for `best` variants, beside those of the
        search.
        """
        if not self.sweeps_loads:
            return 0
        boundary = self.subject.goal.has_constraints and not self.subject.lists_loads
        steps = self.settings.max_binary_search_steps if boundary else 0
        loads = 0 if self.covers_loads else len(self._loads)
        return (best + 1) * (loads + steps)

    @property
    def most_refined(self) -> int:
        """The largest number of trials behind the search itself: see `most_swept` and `confirm`."""
        swept = self.most_swept(self.settings.refined)
        return swept + most_confirmed(self.subject, self.settings)

    def load_sweep(self, records: Sequence[TrialRecord]) -> Plan:
        """The sweep over the loads of the best variants in `records`."""
        subject, settings = self.subject, self.settings
        return refine(
            subject,
            records,
            best=settings.refined,
            loads=self._loads,
            # no loads beside those that the user lists
            steps=0 if subject.lists_loads else settings.max_binary_search_steps,
        )

    @property
    def _loads(self) -> Sequence[int]:
        return load_values(self.subject.models[0], self.settings)

    def _confirmed(self, plan: Plan) -> Plan:
        records = yield from self._swept(plan)
        records += yield from confirm(self.subject, self.settings, records)
        return records

    def _swept(self, plan: Plan) -> Plan:
        """The plan followed by the load sweep, unless nothing was measured."""
        records = yield from plan
        if not any(isinstance(record.outcome, Measurement) for record in records):
            return records
        done = f"Done with {self.title} mode search."
        if not self.sweeps_loads:
            log.info("%s", done)
        else:
            log.info("%s Gathering concurrency sweep measurements for reports", done)
            records += yield from self._sweep(records)
        return records

    def _sweep(self, records: Sequence[TrialRecord]) -> Plan:
        added = yield from self.load_sweep(records)
        log.info("Done gathering concurrency sweep measurements for reports")
        return added
