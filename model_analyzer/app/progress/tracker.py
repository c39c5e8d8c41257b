# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Follows a run, and sends a sink events with the best trial so far and the time left."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from model_analyzer import __version__
from model_analyzer.app.progress import events
from model_analyzer.domain.goals import Goal
from model_analyzer.domain.hardware import place_text
from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.metrics import canonical
from model_analyzer.domain.profiles import MeasuredTrial, Outlook
from model_analyzer.domain.slots import Overdue, Slot
from model_analyzer.domain.trials import Failure, Trial
from model_analyzer.forecast.time_left import TimeLeft, TrialStage, stage_of
from model_analyzer.noise.noise import Interval
from model_analyzer.noise.noise_model import NoiseModel, intervals_of
from model_analyzer.noise.pooling import pool
from model_analyzer.profiling import loop
from model_analyzer.results.answer import Answer, Gain, gain_over
from model_analyzer.search.plan import Subject, by_name

log = logging.getLogger(__name__)

# Up to this number of outcomes, each outcome updates the estimate; later ones less often.
_ESTIMATES = 40

_PHASES = {
    TrialStage.SEARCH: events.Phase.MEASURING,
    TrialStage.REFINEMENT: events.Phase.REFINING,
    TrialStage.FINALISTS: events.Phase.FINALISTS,
}


_MOST = 3

_THROUGHPUT, _LATENCY = "perf_throughput", "perf_latency_p99"
_TOKENS, _FIRST_TOKEN = "output_token_throughput", "time_to_first_token_p99"


def shown_tags(subject: Subject) -> tuple[str, ...]:
    """The metrics to show: the first wish of the goal, the metrics of constraints, the other
    wishes, then throughput and latency (of tokens, for a language model).
    """
    of_tokens = any(model.times_tokens for model in subject.models)
    throughput, latency = (_TOKENS, _FIRST_TOKEN) if of_tokens else (_THROUGHPUT, _LATENCY)
    wishes = [*subject.goal.wishes]
    bounds = [canonical(bound.tag) for goal in subject.goal.models for bound in goal.constraints]
    if of_tokens and subject.goal.is_for_throughput:
        wishes.insert(0, _TOKENS)  # throughput is the default objective
    tags = [*wishes[:1], *bounds, *wishes[1:]]
    if throughput not in tags:
        tags.append(throughput)
    family = latency.rpartition("_")[0]
    if not any(tag.startswith(family) for tag in tags):
        tags.append(latency)
    return tuple(dict.fromkeys(tags))[:_MOST]


class Tracker:
    """Receives the steps of a run, in order, and sends events to the `sink`.

    `clock` returns seconds. The tracker enters `hypothetically` while searches list their trials:
    the block suppresses their log lines.
    """

    def __init__(
        self,
        sink: events.Sink,
        *,
        clock: Callable[[], float],
        hypothetically: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._sink = sink
        self._clock = clock
        self._hypothetically = hypothetically
        self._began = clock()
        self._last_outcome: dict[str, float] = {}  # when, by kind of hardware
        self._rest: _Rest | None = None
        self._subjects: Sequence[Sequence[Subject]] = ()  # each on all kinds of hardware
        self._model = ""
        self._best: dict[str, _Best] = {}  # by kind
        self._phase: tuple[events.Phase, str] | None = None
        self._count, self._failures, self._given_up = 0, 0, False
        self._under_way = 0
        self._latest: Trial | None = None  # what was started last
        self._slots: tuple[str, ...] = ()  # empty if there is one
        self._is_replaying = False

    def run_started(self, models: Sequence[str]) -> None:
        self._sink.show(
            events.RunStarted(elapsed_s=self._elapsed_s, version=__version__, models=tuple(models))
        )

    def phase(self, phase: events.Phase, model: str = "") -> None:
        """A phase begins, unless it is the current one."""
        if self._phase != (phase, model):
            self._phase = (phase, model)
            self._sink.show(
                events.PhaseStarted(elapsed_s=self._elapsed_s, phase=phase, model=model)
            )

    def searches(
        self, subjects: Sequence[Subject], estimate: Callable[[Sequence[Subject]], TimeLeft]
    ) -> None:
        """Sets the subjects to search, on each kind of hardware, and the function that estimates
        the time left.
        """
        self._subjects = by_name(subjects)
        with self._hypothetically():
            self._rest = _Rest(estimate(subjects))

    def model_started(self, index: int, slots: Sequence[Slot] = ()) -> None:
        """The searches for the subject with this index begin, on these slots."""
        subjects = self._subjects[index]
        subject = subjects[0]
        self._slots = tuple(slot.name for slot in slots) if len(slots) > 1 else ()
        self._model = subject.name
        self._best = {each.setup.kind: _Best(each.goal) for each in subjects}
        self._count, self._failures, self._given_up = 0, 0, False
        self._under_way = 0
        self._last_outcome = dict.fromkeys(self._best, self._clock())
        self._expected.left.begin(index)
        self._expected.update(self._elapsed_s)
        self._sink.show(
            events.ModelStarted(
                elapsed_s=self._elapsed_s,
                time_left_s=self._expected.time_left_s(self._elapsed_s),
                model=subject.name,
                number=index + 1,
                of=len(self._subjects),
                most_trials=self._expected.left.most_trials,
                goal=subject.goal,
                tags=shown_tags(subject),
                slots=self._slots,
                kinds=tuple(self._best) if len(self._best) > 1 else (),
            )
        )

    def tell(self, event: loop.Event) -> None:
        """Takes an event of the search."""
        match event:
            case loop.TrialStarted(trial, slot, outlook):
                self._started(trial, slot, outlook)
            case loop.TrialFinished(trial, outcome, slot):
                self._finished(trial, outcome, slot)
            case loop.TrialOverdue(trial, slot, overdue):
                self._still_measuring(trial, overdue, self._name_of(slot))
            case loop.TrialLost(trial, slot, reason):
                self._under_way -= 1
                log.warning("%s: lost on %s (%s): measuring it again", trial, slot.name, reason)
                self._sink.show(
                    events.TrialLost(
                        elapsed_s=self._elapsed_s, trial=trial, slot=slot.name, reason=reason
                    )
                )
            case loop.GivenUp(failures, last, resumed, kind):
                self._given_up = True
                log.error(
                    "The first %d attempts%s failed and none succeeded: skipping the rest of this"
                    " model. %s%s",
                    failures,
                    f" {place_text(kind)}" if len(self._best) > 1 else "",
                    last.message,
                    ". This happened in an earlier run: --retry-failed tries again"
                    if resumed
                    else "",
                )

    def overdue(self, overdue: Overdue) -> None:
        """The only trial under way takes long."""
        if self._latest is not None and self._under_way:
            self._still_measuring(self._latest, overdue, "")

    def model_finished(self) -> None:
        self._sink.show(
            events.ModelFinished(
                elapsed_s=self._elapsed_s,
                model=self._model,
                trials=self._count,
                failures=self._failures,
                given_up=self._given_up,
            )
        )

    def answered(self, answer: Answer, sentence: str, files: Iterable[Path]) -> None:
        self._sink.show(
            events.Answered(
                elapsed_s=self._elapsed_s,
                answer=answer,
                sentence=sentence,
                files=tuple(map(str, files)),
            )
        )

    def run_finished(self, exit_status: int) -> None:
        self._sink.show(events.RunFinished(elapsed_s=self._elapsed_s, exit_status=exit_status))

    def paused(self) -> AbstractContextManager[None]:
        """A block in which other code may write to the terminal and ask questions."""
        return self._sink.paused()

    def close(self) -> None:
        self._sink.close()

    # -- within a model ----------------------------------------------------------------------

    def _started(self, trial: Trial, slot: Slot, outlook: Outlook | None) -> None:
        if self._is_replaying:
            self._is_replaying = False
            self._last_outcome = dict.fromkeys(self._best, self._clock())
            self._expected.update(self._elapsed_s)
        self.phase(_PHASES[stage_of(trial)], self._model)
        self._under_way += 1
        self._latest = trial
        self._best[trial.setup.kind].outlook = outlook
        self._sink.show(
            events.TrialStarted(
                elapsed_s=self._elapsed_s,
                time_left_s=self._expected.time_left_s(self._elapsed_s),
                trial=trial,
                number=self._count + self._under_way,
                expected_trials=max(self._expected.trials, self._count + self._under_way),
                slot=self._name_of(slot),
                outlook=outlook,
            )
        )

    def _still_measuring(self, trial: Trial, overdue: Overdue, slot: str) -> None:
        limit_s, expected_s = overdue.limit_s, overdue.expected_s
        self._sink.show(
            events.StillMeasuring(
                elapsed_s=self._elapsed_s,
                trial=trial,
                for_s=round(overdue.for_s, 1),
                expected_s=None if expected_s is None else round(expected_s, 2),
                limit_s=None if limit_s is None else round(limit_s, 1),
                slot=slot,
            )
        )

    def _finished(self, trial: Trial, outcome: Outcome, slot: Slot | None) -> None:
        time, resumed = self._clock(), slot is None
        self._count += 1
        self._under_way -= not resumed
        kind = trial.setup.kind
        seconds = None if resumed else time - self._last_outcome[kind]
        self._expected.left.record(trial, outcome, seconds, self._name_of(slot))
        self._last_outcome[kind] = time
        if resumed:
            self._is_replaying = True  # one estimate is enough, after the replay
        elif self._count % max(self._count // _ESTIMATES, 1) == 0:
            self._expected.update(self._elapsed_s)
        best_so_far = self._best[kind]
        if isinstance(outcome, Failure):
            self._failures += 1
            leader = None
            if not resumed:
                _log_failure(outcome)
        else:
            leader = best_so_far.add(trial, outcome)
        self._sink.show(
            events.TrialEnded(
                elapsed_s=self._elapsed_s,
                time_left_s=self._expected.time_left_s(self._elapsed_s),
                trial=trial,
                number=self._count,
                expected_trials=max(self._expected.trials, self._count),
                goal=best_so_far.goal,
                outcome=outcome,
                resumed=resumed,
                slot=self._name_of(slot),
            )
        )
        if leader is not None:
            best, measurement = leader
            self._sink.show(
                events.BestChanged(
                    elapsed_s=self._elapsed_s,
                    trial=best,
                    measurement=measurement,
                    times=best_so_far.times(best),
                    goal=best_so_far.goal,
                    gain=best_so_far.gain(best),
                    outlook=best_so_far.outlook,
                    intervals=best_so_far.intervals(best),
                    kind=kind if len(self._best) > 1 else "",
                )
            )

    def _name_of(self, slot: Slot | None) -> str:
        return slot.name if slot is not None and self._slots else ""

    @property
    def _expected(self) -> _Rest:
        assert self._rest is not None, "call `searches` first"
        return self._rest

    @property
    def _elapsed_s(self) -> float:
        return round(self._clock() - self._began, 3)


def _log_failure(failure: Failure) -> None:
    hint = f" ({failure.hint})" if failure.hint else ""
    log.warning("%s%s", failure.message, hint)
    for line in failure.log:
        log.debug("    %s", line)


class _Rest:
    """What is expected of a run: the `trials` of the model under way, and when it ends. It
    changes only by an update.
    """

    def __init__(self, left: TimeLeft) -> None:
        self.left = left
        self.trials = 0
        self._end_s = 0.0

    def update(self, elapsed_s: float) -> None:
        self.trials = round(self.left.trials())
        self._end_s = elapsed_s + self.left.seconds()

    def time_left_s(self, elapsed_s: float) -> float:
        return round(max(self._end_s - elapsed_s, 0.0), 1)


class _Best:
    """The best trial so far on a kind of hardware; repeated measurements of a trial count as their
    mean.
    """

    def __init__(self, goal: Goal) -> None:
        self.goal = goal
        self.outlook: Outlook | None = None  # what its search last expected of further trials
        self._measured: dict[str, list[Measurement]] = {}
        self._trials: dict[str, Trial] = {}
        self._shown: tuple[str, int] | None = None

    def add(self, trial: Trial, measurement: Measurement) -> tuple[Trial, Measurement] | None:
        """The best trial and its mean measurement; None if neither has changed."""
        first = trial.first
        self._trials[first.key] = first
        self._measured.setdefault(first.key, []).append(measurement)
        best = self.goal.best_first(self._measured, self._mean)[0]
        shown = (best, len(self._measured[best]))
        if shown == self._shown:
            return None
        self._shown = shown
        return self._trials[best], self._mean(best)

    def times(self, trial: Trial) -> int:
        """The number of measurements of the trial."""
        return len(self._measured[trial.first.key])

    def gain(self, trial: Trial) -> Gain | None:
        """The gain over the best load of the default configuration, by the same rules as in the
        answer; see `BestChanged`.
        """
        defaults = [key for key, measured in self._trials.items() if _is_default(measured)]
        if _is_default(trial) or not defaults:
            return None
        ordered = self.goal.best_first(defaults, self._mean)
        best = self._item(trial.first.key)
        of_variant = [
            self._item(key) for key, each in self._trials.items() if each.content == trial.content
        ]
        items = [*map(self._item, ordered)]
        return gain_over(self.goal, self._noise_model, best, items, of_variant=of_variant)

    def intervals(self, trial: Trial) -> Mapping[str, Interval]:
        """The 95 % intervals of its mean, as in the answer."""
        return intervals_of(self._noise_model, self.goal, self._measured[trial.first.key])

    @property
    def _noise_model(self) -> NoiseModel:
        return NoiseModel(self._measured.values())

    def _item(self, key: str) -> MeasuredTrial:
        runs = tuple(self._measured[key])
        mean = self._mean(key)
        return MeasuredTrial(trial=self._trials[key], measurement=mean, repetitions=runs)

    def _mean(self, key: str) -> Measurement:
        return pool(self._measured[key])


def _is_default(trial: Trial) -> bool:
    return all(work.variant.is_default for work in trial.workloads)
