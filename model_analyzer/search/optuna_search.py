# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Optuna search: a share of all combinations, chosen by what the earlier ones gave.

The default is measured first, or the smallest trial where no server could run that; every trial
is scored against it. Optuna's TPE sampler proposes the next one. The sampler is seeded, so that
the same answers bring the same questions.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import OptunaSettings, SearchSettings
from model_analyzer.domain.trials import Failure, Trial
from model_analyzer.errors import ConfigError, Problem
from model_analyzer.search.plan import SEED, Plan, Subject
from model_analyzer.search.space import Coordinate, Dimension
from model_analyzer.search.trial_map import TrialMap

log = logging.getLogger(__name__)

_BASELINE_FAILED = (
    "%s: the search stops, because optuna compares all trials with %s, which failed (%s)."
    " Fix that configuration, or use another search mode, for example --search adaptive"
)

# The least score by objectives alone, which is that of no throughput against some.
_LEAST_SCORE = -2.0


def require_optuna() -> ModuleType:
    """Optuna, without a voice. Raises ConfigError where it is not installed."""
    try:
        import optuna  # at the moment of use: it is an extra, and slow to import
    except ImportError as error:
        raise ConfigError(
            Problem(
                where="--search",
                what=f"search mode optuna needs the package optuna: {error}",
                hint="pip install optuna",
            )
        ) from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


class OptunaSearch:
    """The plan of an Optuna search over one model, or over several that are measured together."""

    def __init__(
        self,
        subject: Subject,
        settings: SearchSettings,
        optuna: OptunaSettings,
        names: VariantNames,
        *,
        seed: int = SEED,
    ) -> None:
        self._subject = subject
        self._names = names
        self._trials = TrialMap(subject, settings, use_formula=optuna.use_concurrency_formula)
        self._least, self._most = trial_counts(self._trials.space.size, optuna)
        self._patience = optuna.early_exit_threshold
        self._sampler = _Sampler(self._trials, seed)

    @property
    def most_trials(self) -> int:
        """How many trials there are at most, the default's included."""
        return 1 + self._most

    def plan(self) -> Plan:
        log.info("")
        log.info("Starting Optuna mode search to find optimal configs")
        log.info("")
        self._describe()
        trial = self._baseline()
        baseline = yield trial
        records = [TrialRecord(trial=trial, outcome=baseline)]
        if isinstance(baseline, Failure):
            log.error(_BASELINE_FAILED, self._subject.name, trial.variants, baseline.message)
            return records
        best, best_number = (trial, self._score(baseline, baseline)), 0
        for number in range(1, self._most + 1):
            proposal = self._sampler.ask()
            if proposal is None:
                break
            trial = self._trials.trial(proposal.coordinate, self._names)
            outcome = yield trial
            records.append(TrialRecord(trial=trial, outcome=outcome))
            score = None if isinstance(outcome, Failure) else self._score(outcome, baseline)
            self._sampler.tell(proposal, score)
            if score is not None and score > best[1]:
                best, best_number = (trial, score), number
            _tell((trial, score), best)
            if number >= self._least and number - best_number >= self._patience:
                break
        return records

    def _baseline(self) -> Trial:
        """What all is compared with."""
        default = self._trials.default(self._names)
        if default.is_legal:
            log.info("Measuring default configuration to establish a baseline measurement")
            log.info("")
            return default
        log.info("Skipping illegal run configuration: %s", default)
        return self._trials.trial(self._sampler.take_smallest(), self._names)

    def _score(self, measurement: Measurement, baseline: Measurement) -> float:
        """How much better than the default.

        What misses constraints is below all that keeps them, the further it misses the lower.
        """
        shortfall = self._subject.goal.shortfall(measurement)
        if shortfall:
            return _LEAST_SCORE - shortfall / 100
        return self._subject.goal.score(measurement, baseline)

    def _describe(self) -> None:
        space = self._trials.space
        log.debug("Number of configs in search space: %d", space.size)
        for model in dict.fromkeys(dimension.model for dimension in space.dimensions):
            log.debug("Model %s:", model)
            for dimension in space.dimensions:
                if dimension.model == model and len(dimension.values) > 1:
                    log.debug("  %s", dimension)
        log.debug("Minimum number of trials: %d", self._least)
        log.debug("Maximum number of trials: %d", self._most)
        log.debug("")


def trial_counts(size: int, settings: OptunaSettings) -> tuple[int, int]:
    """The least and the largest number of trials in a space of that size, the default apart.

    Of a share and a number, the smaller one is the limit and the larger one the minimum, which
    is not above it, unless nobody gave the limit. There is one trial at least, and none twice.
    """

    def given(share: int | None, number: int | None) -> Sequence[int]:
        shares = () if share is None else (size * share // 100,)
        return shares if number is None else (*shares, number)

    def kept(count: int, most: int) -> int:
        return min(max(count, 1), most)

    least = max(given(settings.min_percentage, settings.min_trials))
    most = min(given(settings.max_percentage, settings.max_trials))
    most = kept(max(least, most) if settings.limit_gives_way else most, size)
    return kept(least, most), most


def _tell(scored: tuple[Trial, float | None], best: tuple[Trial, float]) -> None:
    text = [
        (trial.variants, "none" if score is None else str(int(100 * score)))
        for trial, score in (scored, best)
    ]
    log.debug("Objective score for %s: %s --- Best: %s (%s)", *text[0], *text[1])


@dataclass(frozen=True, slots=True)
class _Proposal:
    """A coordinate to try, and what Optuna calls it."""

    coordinate: Coordinate
    ticket: Any


class _Sampler:
    """Optuna behind coordinates: each is asked for once, and what it gave is learnt.

    Where the sampler comes back to one that it knows, or to an illegal one, it gets the nearest
    new one instead, so that no trial is wasted.
    """

    def __init__(self, trials: TrialMap, seed: int) -> None:
        self._optuna = require_optuna()
        self._trials = trials
        self._study = self._optuna.create_study(
            direction="maximize", sampler=self._optuna.samplers.TPESampler(seed=seed)
        )
        self._ranges = {
            dimension.name: self._range(dimension) for dimension in trials.space.dimensions
        }
        self._known: set[Coordinate] = set()

    def _range(self, dimension: Dimension) -> object:
        indices = range(len(dimension.values))
        distributions = self._optuna.distributions
        if dimension.is_ordered:
            return distributions.IntDistribution(0, indices[-1])
        return distributions.CategoricalDistribution(indices)

    def ask(self) -> _Proposal | None:
        """What to try next; None when everything is known."""
        ticket = self._study.ask(self._ranges)
        drawn = tuple(ticket.params[name] for name in self._ranges)
        new = self._trials.nearest(drawn, self._known)
        if new is None:
            return None
        if new != drawn:
            # what fails without a value counts for nothing
            self._study.tell(ticket, state=self._optuna.trial.TrialState.FAIL)
            self._study.enqueue_trial(dict(zip(self._ranges, new, strict=True)))
            ticket = self._study.ask(self._ranges)
        self._known.add(new)
        return _Proposal(new, ticket)

    def take_smallest(self) -> Coordinate:
        """The smallest trial, which is not asked for again."""
        smallest = self._trials.smallest
        self._known.add(smallest)
        return smallest

    def tell(self, proposal: _Proposal, score: float | None) -> None:
        """What came of it; None, if it failed, is worse than any score."""
        if score is None:
            self._study.tell(proposal.ticket, state=self._optuna.trial.TrialState.PRUNED)
        else:
            self._study.tell(proposal.ticket, score)
