# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Optuna search: a share of all combinations, chosen by what the earlier ones gave.

The default is measured first; every trial is scored against it. Optuna's TPE sampler proposes
the next one. The sampler is seeded, so that the same answers bring the same questions.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from types import ModuleType

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import OptunaSettings, SearchSettings
from model_analyzer.domain.trials import Failure
from model_analyzer.errors import ConfigError, Problem
from model_analyzer.search.plan import Plan, Subject
from model_analyzer.search.space import Coordinate
from model_analyzer.search.trial_space import Axis, TrialSpace

log = logging.getLogger(__name__)

# Any will do, as long as it stays: a search is continued by repeating it.
_SEED = 0

# The least score by objectives alone, which is that of no throughput against some.
_LEAST_SCORE = -2.0


def require_optuna() -> ModuleType:
    """Optuna, without a voice. Raises ConfigError where the extra `optuna` is not installed."""
    try:
        import optuna  # at the moment of use: it is an extra, and slow to import
    except ImportError as error:
        raise ConfigError(
            Problem(
                where="run_config_search_mode",
                what=f"search mode optuna needs the extra of that name ({error})",
                hint="pip install 'model-analyzer[optuna]'",
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
        seed: int = _SEED,
    ) -> None:
        self._subject = subject
        self._names = names
        self._space = TrialSpace(subject, settings, use_formula=optuna.use_concurrency_formula)
        self._least, self._most = trial_counts(self._space.size, optuna)
        self._patience = optuna.early_exit_threshold
        self._sampler = _Sampler(self._space, seed)

    @property
    def most_trials(self) -> int:
        """How many trials there are at most, the default's included."""
        return 1 + self._most

    def plan(self) -> Plan:
        log.info("")
        log.info("Starting Optuna mode search to find optimal configs")
        log.info("")
        self._describe()
        log.info("Measuring default configuration to establish a baseline measurement")
        log.info("")
        trial = self._space.default(self._names)
        baseline = yield trial
        records = [TrialRecord(trial=trial, outcome=baseline)]
        if isinstance(baseline, Failure):
            log.error(
                "%s: the search ends here, since the default configuration is what everything"
                " is compared with, and it failed (%s). Make it work, or use search mode quick",
                self._subject.name,
                baseline.message,
            )
            return records
        best, best_score, best_number = trial, _score(baseline, baseline, self._subject.goal), 0
        for number in range(1, self._most + 1):
            coordinate = self._sampler.ask()
            if coordinate is None:
                break
            trial = self._space.trial(coordinate, self._names)
            outcome = yield trial
            records.append(TrialRecord(trial=trial, outcome=outcome))
            score = _score(outcome, baseline, self._subject.goal)
            self._sampler.tell(score)
            if score is not None and (best_score is None or score > best_score):
                best, best_score, best_number = trial, score, number
            log.debug(
                "Objective score for %s: %s --- Best: %s (%s)",
                trial.variants, _percent(score), best.variants, _percent(best_score),
            )  # fmt: skip
            if number >= self._least and number - best_number >= self._patience:
                break
        return records

    def _describe(self) -> None:
        log.debug("Number of configs in search space: %d", self._space.size)
        for model in dict.fromkeys(axis.model for axis in self._space.axes):
            log.debug("Model %s:", model)
            for axis in self._space.axes:
                if axis.model == model and len(axis.values) > 1:
                    log.debug("  %s", axis)
        log.debug("Minimum number of trials: %d", self._least)
        log.debug("Maximum number of trials: %d", self._most)
        log.debug("")


def trial_counts(size: int, settings: OptunaSettings) -> tuple[int, int]:
    """The least and the largest number of trials in a space of that size, the default apart.

    Of a share and a number, the smaller one is the limit and the larger one the minimum, which
    is not above it. There is one trial at least, and none twice.
    """

    def given(share: int | None, number: int | None) -> Sequence[int]:
        shares = () if share is None else (size * share // 100,)
        return shares if number is None else (*shares, number)

    def kept(count: int, most: int) -> int:
        return min(max(count, 1), most)

    most = kept(min(given(settings.max_percentage, settings.max_trials)), size)
    return kept(max(given(settings.min_percentage, settings.min_trials)), most), most


def _score(outcome: Outcome, baseline: Measurement, goal: Goal) -> float | None:
    """How much better than the default, or None for a failure.

    What misses constraints is below all that keeps them, the further it misses the lower.
    """
    if isinstance(outcome, Failure):
        return None
    shortfall = goal.shortfall(outcome)
    return _LEAST_SCORE - shortfall / 100 if shortfall else goal.score(outcome, baseline)


def _percent(score: float | None) -> str:
    return "none" if score is None else str(int(100 * score))


class _Sampler:
    """Optuna behind coordinates: each is asked for once, and what it gave is learnt.

    Where the sampler comes back to one that it knows, or to an illegal one, it gets the nearest
    new one instead, so that no trial is wasted.
    """

    def __init__(self, space: TrialSpace, seed: int) -> None:
        self._optuna = require_optuna()
        self._space = space
        self._study = self._optuna.create_study(
            direction="maximize", sampler=self._optuna.samplers.TPESampler(seed=seed)
        )
        self._ranges = {axis.name: self._range(axis) for axis in space.axes}
        self._known: set[Coordinate] = set()

    def _range(self, axis: Axis) -> object:
        indices = range(len(axis.values))
        distributions = self._optuna.distributions
        if axis.is_ordered:
            return distributions.IntDistribution(0, indices[-1])
        return distributions.CategoricalDistribution(indices)

    def ask(self) -> Coordinate | None:
        """The next coordinate to try; None when all are known."""
        self._asked = self._study.ask(self._ranges)
        drawn = tuple(self._asked.params[name] for name in self._ranges)
        new = self._space.nearest(drawn, self._known)
        if new is None:
            return None
        if new != drawn:
            # without an answer it counts for nothing
            self._study.tell(self._asked, state=self._optuna.trial.TrialState.FAIL)
            self._study.enqueue_trial(dict(zip(self._ranges, new, strict=True)))
            self._asked = self._study.ask(self._ranges)
        self._known.add(new)
        return new

    def tell(self, score: float | None) -> None:
        """The score of the coordinate asked last; None, which is worse than any, if it failed."""
        if score is None:
            self._study.tell(self._asked, state=self._optuna.trial.TrialState.PRUNED)
        else:
            self._study.tell(self._asked, score)
