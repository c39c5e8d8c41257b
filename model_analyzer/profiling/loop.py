# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The main loop: ask the search, look up or measure the trial, record and tell its outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.protocols import Executor, Search, State
from model_analyzer.domain.slots import Lost, Slot
from model_analyzer.domain.trials import Trial
from model_analyzer.profiling.events import Event, TrialFinished, TrialLost, TrialStarted
from model_analyzer.profiling.losses import Losses
from model_analyzer.profiling.patience import Patience
from model_analyzer.profiling.placing import best_slot
from model_analyzer.profiling.questions import Questions


def profile(
    search: Search,
    executor: Executor,
    state: State,
    *,
    subject: str = "",
    is_stopping: Callable[[], bool] = lambda: False,
) -> Iterator[Event]:
    """Runs the search for a subject to its end, with as many trials at once as there are slots.

    Once `is_stopping`, it starts no further trials and ends with those under way. To stop at once,
    stop iterating.
    """
    questions = Questions(search, state, subject, records=len(executor.slots) > 1)
    patience = Patience()
    losses = Losses(state)
    under_way: set[str] = set()

    def finish(answered: Iterable[tuple[Trial, Outcome]], slot: Slot | None) -> Iterator[Event]:
        for trial, outcome in answered:
            # on disk before anything else happens
            state.record(trial, outcome, node="" if slot is None else slot.node)
            yield TrialFinished(trial, outcome, slot)
            patience.add(trial, outcome, is_new=slot is not None)
            slot = None  # further trials have the same content: they are known now

    yield from finish(questions.replay(), None)
    while True:
        while not (patience.is_exhausted or is_stopping()) and executor.free:
            trial = questions.next()
            if trial is None:
                break
            outcome = state.outcome_of(trial)
            if outcome is not None:
                yield from finish(questions.answer(trial.key, outcome), None)
            elif trial.key not in under_way and not is_stopping():
                slot = best_slot(executor.free, trial, lost_on=losses.hosts(trial))
                yield TrialStarted(trial, slot)
                under_way.add(trial.key)
                executor.start(trial, slot)
        if not under_way:
            break
        finished = executor.wait()
        trial, slot, result = finished.trial, finished.slot, finished.result
        under_way.remove(trial.key)
        if isinstance(result, Lost):
            outcome = losses.add(trial, slot, result)
            if outcome is None:
                questions.again(trial)
                yield TrialLost(trial, slot, result.reason)
                continue
            result = outcome
        yield from finish(questions.answer(trial.key, result), slot)
    if patience.given_up is not None:
        yield patience.given_up
