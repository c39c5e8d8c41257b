# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What earlier runs teach: models that were measured before predict for one that was not.

A donor is a model on a kind of hardware, with the surrogate that its measurements leave. It knows
how metrics change with sizes and loads, and how high they are only for itself. So its predictions
are shifted until they fit what was measured of the new model, and a donor that does not fit the
differences between these measurements has no say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, takewhile

import numpy as np
import numpy.typing as npt

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import Failure, LoadKind, Trial
from model_analyzer.search.adaptive.encoding import encode_measured, stations_of
from model_analyzer.search.adaptive.outcomes import relative_errors
from model_analyzer.search.adaptive.queueing_model import Floats, Settings
from model_analyzer.search.adaptive.surrogate import (
    THROUGHPUT,
    Points,
    Predictions,
    Surrogate,
    Values,
)

# What is learned of a donor.
TAGS = (THROUGHPUT, "perf_latency_avg", "perf_latency_p99")

_LEAST_TRIALS = 4  # of a donor: fewer say little
_MOST_DONORS = 16  # each takes time to learn from
_SEED = 0
# The largest error of the logarithm of a throughput that a donor may have after the shift; and the
# logarithm of the throughput of what does not load, negative.
_WRONG, _REFUSED = 0.7, 20.0
# How much the logarithms of metrics differ between models or kinds of hardware: as a whole, for the
# same model on the same hardware or for others, and for single trials. The first counts as much as
# so many donors.
_SAME_LEVEL, _OTHER_LEVEL, _DETAIL, _USUAL = 0.3, 0.6, 0.15, 3


@dataclass(frozen=True, slots=True)
class Donor:
    """A model on a kind of hardware that was measured before. `refused` are the settings of its
    variants that did not load.
    """

    model: str
    hardware: str
    surrogate: Surrogate
    refused: Settings | None

    def refuses(self, at: Settings) -> npt.NDArray[np.bool_]:
        """Which settings are at least as large as one that did not load."""
        if self.refused is None:
            return np.zeros(len(at), dtype=bool)
        sizes, known = (np.hstack([each.instances, each.batch]) for each in (at, self.refused))
        return np.asarray(np.any(np.all(sizes[:, None] >= known, axis=2), axis=1))


def donors_among(records: Iterable[TrialRecord], stations: int, kind: LoadKind) -> Iterator[Donor]:
    """The latest donors with so many models that process a request, under this kind of load."""
    groups: dict[tuple[str, str, str], list[TrialRecord]] = {}
    for record in records:
        trial = record.trial
        work = trial.workloads[0]
        is_alike = work.load.kind is kind and len(stations_of(work.variant)) == stations
        if is_alike and len(trial.workloads) == 1:
            groups.setdefault((work.variant.model, work.base, trial.setup.kind), []).append(record)
    for (model, _, hardware), group in [*groups.items()][-_MOST_DONORS:]:
        runs: dict[str, list[tuple[Trial, Measurement]]] = {}
        for trial, outcome, _ in group:
            if isinstance(outcome, Measurement) and (outcome.model_value(0, THROUGHPUT) or 0) > 0:
                runs.setdefault(trial.first.key, []).append((trial, outcome))
        if len(runs) >= _LEAST_TRIALS:
            surrogate = Surrogate(stations, is_open=kind is LoadKind.REQUEST_RATE, seed=_SEED)
            _teach(surrogate, [*runs.values()])
            refused = [
                trial
                for trial, outcome, _ in group
                if isinstance(outcome, Failure) and outcome.is_of_variant
            ]
            settings = encode_measured(refused).settings if refused else None
            yield Donor(model, hardware, surrogate, settings)


def _teach(surrogate: Surrogate, runs: Sequence[Sequence[tuple[Trial, Measurement]]]) -> None:
    """Teaches the measurements of each trial: step by step, because the sampler cannot follow many
    at once.
    """
    steps = takewhile(lambda step: step < len(runs), (2**number for number in count(1)))
    for step in (*steps, len(runs)):
        known = [[outcome for _, outcome in group] for group in runs[:step]]
        points = encode_measured([trial for group in runs[:step] for trial, _ in group])
        columns = {
            tag: [each.model_value(0, tag) for group in known for each in group] for tag in TAGS
        }
        values = {tag: np.array(column, dtype=float) for tag, column in columns.items()}
        values = {tag: column for tag, column in values.items() if (column > 0).all()}
        relative = {tag: relative_errors(known, tag, 0) for tag in values}
        surrogate.learn(points, values, None, relative)


def anchored(
    donors: Iterable[Donor], points: Points, measured: Points, values: Values
) -> Predictions | None:
    """What the donors predict at the `points`, each shifted so that it fits the `values` that were
    measured; None if no donor fits them. What a donor could not load has no throughput.
    """
    drawn: list[dict[str, Floats]] = []
    for donor in donors if (values[THROUGHPUT] > 0).all() else ():
        here = donor.surrogate.predict(measured).values
        errors = np.log(values[THROUGHPUT]) - np.log(here[THROUGHPUT]).mean(axis=0)
        if np.abs(errors - errors.mean()).max() > _WRONG:
            continue
        shifted = {
            tag: samples * np.exp(np.log(values[tag] / here[tag]).mean(axis=1, keepdims=True))
            for tag, samples in donor.surrogate.predict(points).values.items()
            if tag in values and (values[tag] > 0).all()
        }
        shifted[THROUGHPUT][:, donor.refuses(points.settings)] = np.exp(-_REFUSED)
        drawn.append(shifted)
    tags = [tag for tag in TAGS if drawn and all(tag in each for each in drawn)]
    pooled = {tag: np.concatenate([each[tag] for each in drawn]) for tag in tags}
    return Predictions(pooled, dict.fromkeys(pooled, 0.0)) if pooled else None


def foretell(
    donors: Sequence[Donor], model: str, hardware: str, trials: Sequence[Trial]
) -> Mapping[str, Floats]:
    """Samples of the metrics of trials of a model without any measurement, by tag: arrays by sample
    (rows) and trial (columns). Donors of the same name on the same hardware are the closest, then
    those of the same name: if there are any, others do not count.
    """
    same = [each for each in donors if each.model == model]
    closest = [each for each in same if each.hardware == hardware]
    levels = _SAME_LEVEL if closest else _OTHER_LEVEL
    chosen, points = closest or same or donors, encode_measured(trials)
    drawn = [each.surrogate.predict(points).values for each in chosen]
    generator = np.random.default_rng([_SEED, len(chosen)])
    foretold = {}
    for tag in TAGS:
        samples = [np.log(values[tag]) for values in drawn if tag in values]
        if samples:
            means = np.array([each.mean() for each in samples])
            squares = _USUAL * levels**2 + np.square(means - means.mean()).sum()
            spread = np.sqrt(squares / (_USUAL + len(means) - 1) * (1 + 1 / len(means)))
            around = np.concatenate([each - each.mean() for each in samples])
            level = means.mean() + spread * generator.standard_normal((len(around), 1))
            detail = _DETAIL * generator.standard_normal(around.shape)
            foretold[tag] = np.exp(around + level + detail)
    return foretold


def interval(samples: Floats) -> tuple[float, float, float]:
    """The 90 % interval of samples, with their median between its ends."""
    low, middle, high = np.quantile(samples, [0.05, 0.5, 0.95])
    return float(low), float(middle), float(high)
