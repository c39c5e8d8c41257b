# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Predictions for a model that was not measured; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.settings import SearchSettings
from model_analyzer.domain.trials import Trial
from model_analyzer.results.columns import instances_text
from model_analyzer.search.adaptive.candidates import evaluate
from model_analyzer.search.adaptive.donors import donors_among, foretell, interval
from model_analyzer.search.adaptive.encoding import stations_of
from model_analyzer.search.adaptive.surrogate import Predictions
from model_analyzer.search.modes.adaptive import spread
from model_analyzer.search.plan import Subject
from model_analyzer.search.trial_map import TrialMap

# The trials to choose from, and the number of variants to propose.
_TRIALS, _PROPOSED = 400, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """The trials of the default and of the best variants by what the `donors`, models on a kind of
    hardware, predict; each with 90 % intervals and medians by metric tag. Without donors, none.
    """

    model: str
    donors: Sequence[tuple[str, str]]
    trials: Sequence[tuple[Trial, Mapping[str, tuple[float, float, float]]]]


def prediction(subject: Subject, settings: SearchSettings) -> Prediction:
    """The prediction for the only model of a subject."""
    (model,), names = subject.models, VariantNames()
    name, stations = model.facts.name, len(stations_of(names.default(model.facts)))
    known = subject.earlier.records
    donors = [*donors_among(known, stations, model.settings.load_kind)]
    if not donors:
        return Prediction(model=name, donors=(), trials=())
    trial_map = TrialMap(subject, settings, use_formula=False)
    chosen = islice(spread(trial_map, ()), _TRIALS)
    trials = [trial_map.default(names), *(trial_map.trial(each, names) for each in chosen)]
    samples = foretell(donors, name, subject.setup.kind, trials)
    prospect = evaluate(subject.goal, [Predictions(samples, dict.fromkeys(samples, 0.0))], 0)
    merit = prospect.score.mean(axis=0) + np.log(np.maximum(prospect.passes.mean(axis=0), 1e-3))
    first = {trials[0].content: 0}  # of each variant
    for row in np.argsort(-merit, kind="stable").tolist():
        first.setdefault(trials[row].content, row)
    return Prediction(
        model=name,
        donors=[(donor.model, donor.hardware) for donor in donors],
        trials=[
            (trials[row], {tag: interval(values[:, row]) for tag, values in samples.items()})
            for row in islice(first.values(), 1 + _PROPOSED)
        ],
    )


def sizes_text(trial: Trial) -> str:
    """The configuration of a trial in words."""
    variant = trial.workloads[0].variant
    batching = "" if variant.has_dynamic_batching else ", no dynamic batching"
    instances = instances_text(variant, gpus=trial.gpus)
    return f"{instances}, batches up to {max(variant.max_batch_size, 1)}{batching}"
