# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Runs one search on one surface, in this process: the main loop with simulated outcomes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from benchmarks.search.beaten import better_measured
from benchmarks.search.durations import LOADING_S, SERVER_S
from benchmarks.search.machine import Point
from benchmarks.search.surface import Surface
from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.profiles import Conclusion, Outlook, Profile, TrialRecord
from model_analyzer.domain.protocols import Executor, Runner, Search
from model_analyzer.domain.settings import SearchMode
from model_analyzer.domain.slots import Asked, Lane
from model_analyzer.domain.trials import Failure, FailureReason, Trial
from model_analyzer.errors import ConfigError
from model_analyzer.noise.first_look import in_flight, is_short
from model_analyzer.profiling.loop import profile
from model_analyzer.results.ranking import rank
from model_analyzer.runner.load.time_limits import RequestRates
from model_analyzer.runner.trial_runner import LocalExecutor
from model_analyzer.search.choose import check, choose
from model_analyzer.search.plan import EarlierRuns

# The share of its space that a random search measures, in percent.
_SHARE = 4

# The number of variants that the product reports and refines.
_BEST = 3


@dataclass(frozen=True, slots=True)
class Moment:
    """The recommendation so many seconds after the begin, and whether it claims to meet the
    constraints.
    """

    seconds: float
    recommended: Point | None
    passes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The result of a search: the number of measurements (with repetitions and failures), of
    different variants, of changes of the served variants, and of server starts; its recommendation,
    and whether it claims that this meets the constraints; the decision time before each trial in
    seconds; the `seconds` of the whole run; its stated chance of a better configuration, if any;
    the trials that are `better` than the recommendation by its own measurements; and `moments`, if
    they were asked for.
    """

    measurements: int
    variants: int
    loads: int
    server_starts: int
    recommended: Point | None
    passes: bool
    thinking_s: Sequence[float]
    seconds: float = 0.0
    chance: float | None = None
    better: Sequence[Point] = ()
    moments: Sequence[Moment] = ()
    records: Sequence[TrialRecord] = ()


def run(
    surface: Surface,
    mode: str,
    seed: int,
    executor: Callable[[Runner], Executor] = LocalExecutor,
    *,
    in_rounds: bool = False,
    with_moments: bool = False,
    loading_s: float = LOADING_S,
    known: Sequence[TrialRecord] = (),
    until: Callable[[Sequence[TrialRecord]], bool] = lambda _: False,
) -> Run | None:
    """The run of a mode (`random:10` draws 10 % of the space, `random` 4 %). The seed determines
    the noise and the random choices. None if the mode does not support the models.
    Unless `in_rounds`, trials are measured in perf_analyzer's own windows. `with_moments`, the
    run also has the recommendations on the way. Loading a variant takes `loading_s` seconds. The
    search has the outcomes `known` of others. It ends early once `until` is true of its records.

    `executor` makes the slots from a runner that answers at once.
    """
    try:
        began = time.perf_counter()
        search = _Timed(search_of(surface, mode, seed, known), began)
    except ConfigError:
        return None
    answers = _Answers(surface, seed, in_rounds=in_rounds, loading_s=loading_s)
    names = ",".join(facts.name for facts in surface.facts)
    for _ in profile({Lane(names): search}, executor(answers), answers):
        if until(answers.records):
            break
    conclusion = search.conclusion
    conclusions = {} if conclusion is None else {Lane(names): conclusion}
    recorded = Profile(records=answers.records, conclusions=conclusions)
    (ranking,) = rank(recorded, names, surface.goal)
    results = ranking.results
    contents = [trial.content for trial in answers.trials]
    better: Sequence[Point] = ()
    if results:
        chosen, sigma = results[0].best.trial, surface.noise.sigma
        those = better_measured(answers.records, chosen, surface.goal, sigma)
        better = [Point.of(trial) for trial in those]
    return Run(
        measurements=len(contents),
        variants=len(set(contents)),
        loads=changes(contents),
        # after a failed load, the server is restarted
        server_starts=1 + answers.failed_loads,
        recommended=Point.of(results[0].best.trial) if results else None,
        passes=bool(results) and results[0].passes,
        thinking_s=search.thinking_s,
        seconds=SERVER_S * (1 + answers.failed_loads) + answers.seconds + sum(search.thinking_s),
        chance=None if conclusion is None else conclusion.chance,
        better=better,
        moments=_moments(answers, search.thinking_s, names, surface) if with_moments else (),
        records=answers.records,
    )


# A recommendation on the way follows when this factor more time has passed.
_LATER = 1.1


def _moments(
    answers: _Answers, thinking_s: Sequence[float], names: str, surface: Surface
) -> Sequence[Moment]:
    """What would be recommended if the search ended on the way, by its measurements so far."""
    moments: list[Moment] = []
    due = 0.0
    thought = [*accumulate(thinking_s)]
    for number, (record, measured_s) in enumerate(
        zip(answers.records, answers.ends_s, strict=True), start=1
    ):
        seconds = SERVER_S + measured_s + thought[number - 1]
        if seconds < due and record is not answers.records[-1]:
            continue
        due = _LATER * seconds
        (ranking,) = rank(Profile(records=answers.records[:number]), names, surface.goal)
        if ranking.results:
            best = ranking.results[0]
            moments.append(Moment(seconds, Point.of(best.best.trial), best.passes))
        else:
            moments.append(Moment(seconds, None, passes=False))
    return moments


def changes(contents: Sequence[object]) -> int:
    """The number of changes in a sequence, with the first item."""
    pairs = zip(contents, [None, *contents], strict=False)
    return sum(content != previous for content, previous in pairs)


def search_of(surface: Surface, mode: str, seed: int, known: Sequence[TrialRecord] = ()) -> Search:
    """The search of a mode on a surface. Raises ConfigError if it does not support the models."""
    name, _, share = mode.partition(":")
    settings = surface.settings(SearchMode(name))
    subject = replace(surface.subject(settings), earlier=EarlierRuns(records=known))
    search = replace(settings.search, refined=_BEST)
    if name == "random":
        percent = int(share or _SHARE)
        shares = replace(search.optuna, min_percentage=percent, max_percentage=percent)
        search = replace(search, optuna=shares)
    check([subject], search)
    # the product's fixed seed would only show the luck of that seed
    return choose(subject, search, VariantNames(), seed=seed)


class _Answers:
    """The runner and state of the loop: the surface gives the outcome of each trial, once."""

    def __init__(self, surface: Surface, seed: int, *, in_rounds: bool, loading_s: float) -> None:
        self._surface = surface
        self._seed = seed
        self._in_rounds = in_rounds
        self._loading_s = loading_s
        self._rates = RequestRates()
        self._loaded = ""
        self._outcomes: dict[str, Outcome] = {}
        self.trials: list[Trial] = []
        self.records: list[TrialRecord] = []
        self.failed_loads = 0
        self.seconds = 0.0
        self.ends_s: list[float] = []

    def run(self, trial: Trial) -> Outcome:
        outcome = self._round(trial) if self._in_rounds else self._measure(trial)
        loading_s = self._loading_s if trial.content != self._loaded else 0.0
        self._loaded = trial.content
        if isinstance(outcome, Measurement):
            outcome = replace(
                outcome, loading_s=loading_s, duration_s=outcome.duration_s + loading_s
            )
        self.seconds += outcome.duration_s
        self.trials.append(trial)
        if isinstance(outcome, Failure) and outcome.reason is FailureReason.MODEL_NOT_LOADED:
            self.failed_loads += 1
        return outcome

    def _measure(self, trial: Trial, seconds: float | None = None) -> Outcome:
        return self._surface.measure(Point.of(trial), self._seed, trial.repetition, seconds)

    def _round(self, trial: Trial) -> Outcome:
        """A round; a first look that was much too short is repeated, as in the product."""
        asked_s = trial.round_s or self._first_look_s(trial)
        least_s = max(map(self._rates.least_s, trial.workloads))
        outcome = self._measure(trial, max(asked_s, least_s))
        if isinstance(outcome, Failure):
            return outcome
        short_s = outcome.models[0].seconds
        for work, model in zip(trial.workloads, outcome.models, strict=True):
            self._rates.learn(work, model.values["perf_throughput"] / work.load.batch_size)
        wanted_s = self._first_look_s(trial)
        if trial.round_s or not any(
            is_short(short_s, wanted_s, model.requests or 0, in_flight(work))
            for work, model in zip(trial.workloads, outcome.models, strict=True)
        ):
            return outcome
        again = self._measure(trial, wanted_s)
        return replace(again, duration_s=outcome.duration_s + again.duration_s)

    def _first_look_s(self, trial: Trial) -> float:
        return max(map(self._rates.first_look_s, trial.workloads))

    def outcome_of(self, trial: Trial) -> Outcome | None:
        return self._outcomes.get(trial.key)

    def record(self, trial: Trial, outcome: Outcome, node: str = "") -> None:
        if trial.key not in self._outcomes:
            self.records.append(TrialRecord(trial=trial, outcome=outcome))
            self.ends_s.append(self.seconds)
        self._outcomes[trial.key] = outcome

    def record_loss(self, trial: Trial, node: str) -> Outcome | None:
        return None

    def asked(self, lane: Lane) -> Sequence[Asked]:
        return ()

    def record_asked(self, lane: Lane, number: int, asked: Asked) -> None:
        pass


class _Timed:
    """A search with the times of its decisions, without the time of the surface."""

    def __init__(self, search: Search, began: float) -> None:
        self._search = search
        self.thinking_s: list[float] = []
        self._thought = time.perf_counter() - began

    @property
    def most_trials(self) -> int | None:
        return self._search.most_trials

    def ask(self) -> Trial | None:
        began = time.perf_counter()
        trial = self._search.ask()
        self.thinking_s.append(self._thought + time.perf_counter() - began)
        return trial

    def tell(self, trial: Trial, outcome: Outcome) -> None:
        began = time.perf_counter()
        self._search.tell(trial, outcome)
        self._thought = time.perf_counter() - began

    @property
    def outlook(self) -> Outlook | None:
        return self._search.outlook

    @property
    def conclusion(self) -> Conclusion | None:
        return self._search.conclusion
