# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Forecasts of searches, before anything is measured.

The forecast of a brute search lists its trials, unless there are too many. Other searches choose
trials while they run: their forecasts have only the space and the limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Any

from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.settings import SearchMode, SearchSettings
from model_analyzer.domain.trials import LoadKind, Trial
from model_analyzer.search.choose import mode_for, mode_of
from model_analyzer.search.modes.mode import ListedStrategy, RefiningMode
from model_analyzer.search.plan import Subject
from model_analyzer.search.refine import most_confirmed
from model_analyzer.search.trial_map import BATCH_LIMIT, INSTANCES, UNBOUNDED, Dimension
from model_analyzer.search.variants import other_parameters

# How many values of an unbounded dimension are shown, and of any other one.
_FIRST, _MOST_VALUES = 4, 1000

# Longer lists, which would take days to measure, are not made.
_MOST_TRIALS = 50_000

# Parameters of the client: changing them does not load another variant.
_CLIENT = ("batch_sizes", *(kind.value for kind in LoadKind))

_SIZES = (INSTANCES, BATCH_LIMIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Varied:
    """A parameter of a model and its values; if not `is_bounded`, more values follow."""

    model: str
    parameter: str
    values: Sequence[Any]
    is_bounded: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """The mode of a search, the parameters that it varies, and the number of combinations (`size`;
    None if unbounded).

    `trials` lists all possible trials in their order; None if the search chooses them, or if it
    `has_list` and there are too many. `is_exact` means that it measures exactly these, and at most
    `confirmed` of them again. `most_trials` is the limit; it may be higher than their number, since
    some trials depend on outcomes. `variants` is the largest number of different contents of a
    server, and `loads` of changes between them.
    """

    mode: SearchMode
    varied: tuple[Varied, ...]
    size: int | None
    trials: tuple[Trial, ...] | None
    is_exact: bool
    most_trials: int | None
    variants: int | None
    loads: int | None
    confirmed: int = 0
    has_list: bool = False


def forecast(subject: Subject, settings: SearchSettings, *, slots: int = 1) -> Forecast:
    """The forecast of the search for a `subject` that was checked, with so many `slots`."""
    mode = mode_for(subject, settings)
    if isinstance(mode, RefiningMode) and (listed := mode.listed()) is not None:
        return _listed(mode, listed)
    search = mode.search(VariantNames(), slots=slots)
    varied = [*map(_varied, mode.space.dimensions)]
    return _unlisted(mode_of(subject, settings), varied, search.most_trials)


def _listed(mode: RefiningMode, search: ListedStrategy) -> Forecast:
    """The forecast of a search that lists its trials."""
    subject, settings = mode.subject, mode.settings
    kind = mode_of(subject, settings)
    trials = tuple(islice(search.trials(), _MOST_TRIALS + 1))
    varied = _shown(_values_of(subject, trials))
    if len(trials) > _MOST_TRIALS:
        most = search.most_trials
        return Forecast(
            mode=kind,
            # the rest of the list may have more sizes
            varied=tuple(
                replace(item, is_bounded=False) if item.parameter in _SIZES else item
                for item in varied
            ),
            size=most,
            trials=None,
            is_exact=False,
            most_trials=most + mode.most_refined,
            variants=None,
            loads=None,
            has_list=True,
        )
    contents = [trial.content for trial in trials]
    variants = len(set(contents))
    stops_early = settings.early_exit or not subject.lists_loads
    refined = mode.most_swept(min(settings.refined, variants - 1))
    loads = min(len(contents), 1) + sum(a != b for a, b in pairwise(contents))
    # the list leaves out loads where throughput no longer grows; other objectives may need them
    if refined or (mode.sweeps_loads and not subject.goal.is_for_throughput):
        loads += min(settings.refined + 1, variants)  # the best are loaded again
    confirmed = most_confirmed(subject, settings)
    if variants > 1:
        loads += confirmed  # in turn
    return Forecast(
        mode=kind,
        varied=tuple(varied),
        size=len(trials),
        trials=trials,
        is_exact=len(subject.models) > 1 or not stops_early,
        most_trials=len(trials) + refined + confirmed,
        variants=variants,
        loads=loads,
        confirmed=confirmed,
        has_list=True,
    )


def _unlisted(mode: SearchMode, varied: Sequence[Varied], most_trials: int | None) -> Forecast:
    is_bounded = all(item.is_bounded for item in varied)
    # with the default
    contents = 1 + math.prod(len(item.values) for item in varied if item.parameter not in _CLIENT)
    return Forecast(
        mode=mode,
        varied=tuple(_shown(varied)),
        size=math.prod(len(item.values) for item in varied) if is_bounded else None,
        trials=None,
        is_exact=False,
        most_trials=most_trials,
        variants=min(contents, most_trials or contents) if is_bounded else most_trials,
        loads=most_trials,
    )


def _shown(varied: Iterable[Varied]) -> Iterator[Varied]:
    """Copies with the values that are shown. A load with its own times has no values."""
    for item in varied:
        if item.parameter != LoadKind.REQUEST_INTERVALS.value:
            values = tuple(item.values[:_MOST_VALUES])
            is_whole = len(values) == len(item.values)
            yield replace(item, values=values, is_bounded=item.is_bounded and is_whole)


def _varied(dimension: Dimension) -> Varied:
    """The dimension; without a bound that the user gave, with its first values."""
    is_bounded = not dimension.is_open or dimension.values[-1] < UNBOUNDED[1]
    return Varied(
        model=dimension.model,
        parameter=dimension.parameter,
        values=dimension.values if is_bounded else dimension.values[:_FIRST],
        is_bounded=is_bounded,
    )


def _values_of(subject: Subject, trials: Sequence[Trial]) -> Iterator[Varied]:
    """The values of the trials; those of the default count only if there is no other variant."""
    for index, model in enumerate(subject.models):
        works = [trial.workloads[index] for trial in trials]
        works = [work for work in works if not work.variant.is_default] or works
        for varied in model.varied.values():
            name = varied.facts.name
            parts = [part for work in works for part in work.variant.served if part.model == name]
            if parts:
                sizes = (
                    {sum(count for count, _ in part.instances(gpus=1)) for part in parts},
                    {part.max_batch_size for part in parts},
                )
                for parameter, values in zip(_SIZES, sizes, strict=True):
                    yield Varied(model=name, parameter=parameter, values=tuple(sorted(values)))
            for parameter, options in other_parameters(varied).items():
                yield Varied(model=name, parameter=parameter, values=options)
        batch_sizes = sorted({work.load.batch_size for work in works})
        yield Varied(model=model.facts.name, parameter="batch_sizes", values=tuple(batch_sizes))
        loads = sorted({work.load.value for work in works})
        kind = model.settings.load_kind.value
        yield Varied(model=model.facts.name, parameter=kind, values=tuple(loads))
