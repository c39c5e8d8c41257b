# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What changed between two rankings of a model: of the best, and of each trial that both have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from model_analyzer.domain.metrics import METRICS, Better
from model_analyzer.domain.models import fingerprint
from model_analyzer.domain.noise import (
    Interval,
    Noise,
    around,
    log_ratio,
    ratio_noise,
    spread_of_groups,
    widest,
)
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.trials import Trial
from model_analyzer.results.change import Change, ChangeVerdict, change, median_change
from model_analyzer.results.ranking import Ranking


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A measurement of either side, and the change of each metric by its tag.

    `new_values` are where the metrics of the new one are, with what is known of the noise.
    """

    base: MeasuredTrial
    new: MeasuredTrial
    changes: Mapping[str, Change]
    new_values: Mapping[str, Interval | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A model (or several, measured together) on both sides, by the metrics of `tags`.

    `best` is None where the new side has no measurement, only failures. `trials` are those that
    both have, the one that got worst first; those measured only once are not among them, but
    `taken_over` counts them. `overall` is the median change of the trials.
    """

    model: str
    tags: tuple[str, ...]
    best: Pair | None
    trials: tuple[Pair, ...]
    taken_over: int
    overall: Mapping[str, Change]


def compare(base: Ranking, new: Ranking, tags: Sequence[str]) -> Comparison:
    """Compares two rankings by the same goal; that of the base has a measurement.

    The noise of a change is the wider of two: that of both measurements, as far as their rankings
    tell it (see `NoiseModel`), and that between the two checkpoints, which shows in how far apart
    the changes of a configuration are under its loads (see `spread_of_groups`).
    """
    tags = tuple(dict.fromkeys(tags))
    common = list(_common(base, new))
    fresh = [(one, other) for one, other in common if one.measurement != other.measurement]
    ratios = {tag: _ratios(fresh, tag) for tag in tags}
    spreads = {tag: spread_of_groups(ratios[tag]) for tag in tags}

    def pair(one: MeasuredTrial, other: MeasuredTrial) -> Pair:
        noises = {
            tag: (base.noise_model.of(one.runs, tag), new.noise_model.of(other.runs, tag))
            for tag in tags
        }
        return _pair(one, other, noises, spreads)

    pairs = [pair(one, other) for one, other in fresh]
    best = pair(base.results[0].best, new.results[0].best) if new.results else None
    return Comparison(
        model=base.model,
        tags=tags,
        best=best,
        trials=tuple(sorted(pairs, key=lambda pair: _gain(pair, tags[0]))),
        taken_over=len(common) - len(fresh),
        overall={tag: median_change([*chain(*ratios[tag])]) for tag in tags},
    )


def verdict(tag: str, of: Change) -> ChangeVerdict:
    """What can be said about the change of a metric."""
    return of.verdict(is_higher_better=METRICS[tag].better is Better.HIGHER)


def _common(base: Ranking, new: Ranking) -> Iterator[tuple[MeasuredTrial, MeasuredTrial]]:
    """The trials of both: the same models, configurations and loads. Files may differ, and how
    it was measured, too: that is said elsewhere.
    """
    exact = {_key(item.trial, verified=True): item for item in new.measured}
    alike = {_key(item.trial, verified=False): item for item in new.measured}
    seen = set()
    for item in base.measured:
        key = _key(item.trial, verified=False)
        other = exact.get(_key(item.trial, verified=True)) or alike.get(key)
        if other is not None and key not in seen:  # one configuration may have several names
            seen.add(key)
            yield item, other


def _key(trial: Trial, *, verified: bool) -> str:
    return fingerprint(
        [
            [
                work.variant.identity if verified else work.variant.unverified_identity,
                [work.load.kind.value, work.load.value, work.load.batch_size],
            ]
            for work in trial.workloads
        ]
    )


def _ratios(
    pairs: Sequence[tuple[MeasuredTrial, MeasuredTrial]], tag: str
) -> Sequence[Sequence[float]]:
    """The changes as logarithms, those of one configuration under its loads together."""
    found: dict[str, list[float]] = {}
    for one, other in pairs:
        ratio = log_ratio(one.measurement.value(tag), other.measurement.value(tag))
        if ratio is not None:
            found.setdefault(one.trial.content, []).append(ratio)
    return list(found.values())


def _pair(
    one: MeasuredTrial,
    other: MeasuredTrial,
    noises: Mapping[str, tuple[Noise | None, Noise | None]],
    spreads: Mapping[str, Noise | None],
) -> Pair:
    """`noises` are those of both measurements, `spreads` those between them."""
    base, new = one.measurement, other.measurement
    changes: dict[str, Change] = {}
    values: dict[str, Interval | None] = {}
    for tag, spread in spreads.items():
        noise = widest(ratio_noise(*noises[tag]), spread)
        if base == new:
            noise = Noise(error=0, freedom=1)
        changes[tag] = change(base.value(tag), new.value(tag), noise)
        value = new.value(tag)
        # a change has the noise of two values
        own = widest(noises[tag][1], None if spread is None else spread.of_mean(2))
        values[tag] = None if value is None else around(value, own)
    return Pair(base=one, new=other, changes=changes, new_values=values)


def _gain(pair: Pair, tag: str) -> float:
    """How much better it got, in percent; without a change 0."""
    return METRICS[tag].gain(pair.changes[tag].percent or 0.0, 0.0)
