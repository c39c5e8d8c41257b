# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Optuna search: measures a share of all combinations, which Optuna's TPE sampler proposes.

The first trial is the default, or the smallest legal trial if the default is illegal; all scores
are relative to it. The sampler is seeded: the same outcomes lead to the same trials.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any
from warnings import catch_warnings, simplefilter

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import OptunaSettings
from model_analyzer.domain.trials import Failure, Trial
from model_analyzer.errors import wrong
from model_analyzer.extras import check_extra, install_command
from model_analyzer.search.modes.mode import RefiningMode
from model_analyzer.search.plan import PartialPlan, Plan, log_skipped, recorded, side_by_side
from model_analyzer.search.trial_map import Coordinate, Dimension, TrialMap

log = logging.getLogger(__name__)

_BASELINE_FAILED = (
    "%s: the search stops, because optuna compares all trials with %s, which failed (%s)."
    " Fix that configuration, or use another search mode, for example --search adaptive"
)

# The lowest score from objectives alone: no throughput compared with some.
_MIN_SCORE = -2.0

# It stops after `early_exit_threshold` trials without a better one. Better ones make the wait
# longer by about this factor.
_BETTER_TRIALS = 1.5


class OptunaMode(RefiningMode):
    """Asks Optuna for a share of all combinations."""

    title = "Optuna"

    def check(self) -> None:
        require_optuna()
        super().check()

    def strategy(self, names: VariantNames, seed: int) -> OptunaSearch:
        return OptunaSearch(self, names, seed)

    def left(self, done: int) -> float:
        least, _ = trial_counts(self.space.size, self.settings.optuna)
        usual = max(1 + least, self.settings.optuna.early_exit_threshold * _BETTER_TRIALS)
        return max(usual - done, 1.0)

    @cached_property
    def trial_map(self) -> TrialMap:
        use_formula = self.settings.optuna.use_concurrency_formula
        return TrialMap(self.subject, self.settings, use_formula=use_formula)


def require_optuna() -> ModuleType:
    """Imports optuna and silences its log. Raises ConfigError if it is not installed."""
    try:
        check_extra("optuna")
        import optuna  # imported on use: it is optional, and slow to import
    except ImportError as error:
        raise wrong(
            "--search",
            f"search mode optuna needs the package optuna: {error}",
            install_command("optuna"),
        ) from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


class OptunaSearch:
    """The plan of an Optuna search over one model, or over several that are measured together."""

    def __init__(self, mode: OptunaMode, names: VariantNames, seed: int) -> None:
        self._subject = mode.subject
        self._names = names
        self._trials = mode.trial_map
        self._least, self._most = trial_counts(mode.space.size, mode.settings.optuna)
        self._patience = mode.settings.optuna.early_exit_threshold
        self._sampler = _Sampler(self._trials, seed)
        self._records: list[TrialRecord] = []
        self._best: tuple[Trial, float]
        self._best_number = 0

    @property
    def most_trials(self) -> int:
        """The largest number of trials, the default included."""
        return 1 + self._most

    def plan(self) -> Plan:
        log.info("")
        log.info("Starting Optuna mode search to find optimal configs")
        log.info("")
        self._describe()
        baseline = yield from recorded(self._baseline())
        self._records.append(baseline)
        if isinstance(baseline.outcome, Failure):
            message = baseline.outcome.message
            log.error(_BASELINE_FAILED, self._subject.name, baseline.trial.variants, message)
            return self._records
        self._best = baseline.trial, self._score(baseline.outcome, baseline.outcome)
        yield from side_by_side(self._proposals(baseline.outcome))
        return self._records

    def _proposals(self, baseline: Measurement) -> Iterator[PartialPlan[None]]:
        for _ in range(self._most):
            proposal = None if self._has_converged else self._sampler.ask()
            if proposal is None:
                return
            yield self._try(proposal, baseline)

    def _try(self, proposal: _Proposal, baseline: Measurement) -> PartialPlan[None]:
        trial = self._trials.trial(proposal.coordinate, self._names)
        record = yield from recorded(trial)
        self._records.append(record)
        outcome = record.outcome
        score = None if isinstance(outcome, Failure) else self._score(outcome, baseline)
        self._sampler.tell(proposal, score)
        if score is not None and score > self._best[1]:
            self._best, self._best_number = (trial, score), self._tried
        _log_score((trial, score), self._best)

    @property
    def _tried(self) -> int:
        """The number of outcomes so far, without the baseline."""
        return len(self._records) - 1

    @property
    def _has_converged(self) -> bool:
        is_patient = self._tried - self._best_number < self._patience
        return self._tried >= self._least and not is_patient

    def _baseline(self) -> Trial:
        """The trial that all others are compared with."""
        default = self._trials.default(self._names)
        if default.is_legal:
            log.info("Measuring default configuration to establish a baseline measurement")
            log.info("")
            return default
        log_skipped(default)
        return self._trials.trial(self._sampler.take_smallest(), self._names)

    def _score(self, measurement: Measurement, baseline: Measurement) -> float:
        """The score relative to the baseline.

        Trials that violate constraints score below all feasible ones, by their shortfall.
        """
        shortfall = self._subject.goal.shortfall(measurement)
        if shortfall:
            return _MIN_SCORE - shortfall / 100
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
    """The smallest and the largest number of trials in a space of `size` trials, without the
    default.

    If both a percentage and a number are given, the smaller one is the maximum and the larger one
    the minimum. A minimum above the maximum is lowered to it; a maximum that is only a default is
    raised instead. Both are between 1 and `size`.
    """

    def given(share: int | None, number: int | None) -> Sequence[int]:
        shares = () if share is None else (size * share // 100,)
        return shares if number is None else (*shares, number)

    def clamped(count: int, maximum: int) -> int:
        return min(max(count, 1), maximum)

    minimum = max(given(settings.min_percentage, settings.min_trials))
    maximum = min(given(settings.max_percentage, settings.max_trials))
    maximum = clamped(max(minimum, maximum) if settings.limit_gives_way else maximum, size)
    return clamped(minimum, maximum), maximum


def _log_score(latest: tuple[Trial, float | None], best: tuple[Trial, float]) -> None:
    text = [
        (trial.variants, "none" if score is None else str(int(100 * score)))
        for trial, score in (latest, best)
    ]
    log.debug("Objective score for %s: %s --- Best: %s (%s)", *text[0], *text[1])


@dataclass(frozen=True, slots=True)
class _Proposal:
    """A coordinate to try, and its Optuna trial."""

    coordinate: Coordinate
    ticket: Any


class _Sampler:
    """Optuna's sampler for coordinates: it proposes each coordinate once and learns its score.

    If the sampler proposes a known or illegal coordinate, the nearest new one replaces it, so that
    no trial is wasted.
    """

    def __init__(self, trials: TrialMap, seed: int) -> None:
        self._optuna = require_optuna()
        self._trials = trials
        with catch_warnings():
            simplefilter("ignore")  # some versions call `constant_liar` experimental
            # it keeps trials that are under way at the same time apart
            sampler = self._optuna.samplers.TPESampler(seed=seed, constant_liar=True)
        self._study = self._optuna.create_study(direction="maximize", sampler=sampler)
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
        """The next coordinate; None if all are known."""
        ticket = self._study.ask(self._ranges)
        drawn = tuple(ticket.params[name] for name in self._ranges)
        coordinate = self._trials.nearest(drawn, self._known)
        if coordinate is None:
            return None
        if coordinate != drawn:
            # Optuna ignores failed trials without a value
            self._study.tell(ticket, state=self._optuna.trial.TrialState.FAIL)
            self._study.enqueue_trial(dict(zip(self._ranges, coordinate, strict=True)))
            ticket = self._study.ask(self._ranges)
        self._known.add(coordinate)
        return _Proposal(coordinate, ticket)

    def take_smallest(self) -> Coordinate:
        """The smallest legal coordinate; it is not proposed again."""
        smallest = self._trials.smallest
        self._known.add(smallest)
        return smallest

    def tell(self, proposal: _Proposal, score: float | None) -> None:
        """Records the score; None, for a failure, is worse than any score."""
        if score is None:
            self._study.tell(proposal.ticket, state=self._optuna.trial.TrialState.PRUNED)
        else:
            self._study.tell(proposal.ticket, score)


MODE = OptunaMode
