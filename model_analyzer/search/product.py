# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Several models at once, each with every variant of a brute search: every combination is measured.

First the defaults of all models with each other, then their other variants with each other; the
first model varies slowest. Nothing is cut short: a list says what is wanted.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Sequence
from itertools import chain, product

from model_analyzer.domain.models import ModelVariant, VariantNames
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import SearchSettings
from model_analyzer.domain.trials import Trial, Workload
from model_analyzer.search.plan import Plan, SearchedModel, Subject, load_values
from model_analyzer.search.variants import brute_groups, is_manual, make_variant

log = logging.getLogger(__name__)


class ProductSearch:
    """The search over all combinations of the models' variants and loads."""

    def __init__(self, subject: Subject, settings: SearchSettings, names: VariantNames) -> None:
        self._subject = subject
        self._is_manual = all(is_manual(model, settings) for model in subject.models)
        self._defaults = [
            _workloads(model, [names.default(model.facts)], settings) for model in subject.models
        ]
        self._others = [
            _workloads(model, _variants(model, settings, names), settings)
            for model in subject.models
        ]

    @property
    def most_trials(self) -> int:
        """How many trials there are, if none is illegal and none comes to the same as another."""
        return sum(math.prod(map(len, group)) for group in (self._defaults, self._others))

    def trials(self) -> Iterator[Trial]:
        """Every trial in its order."""
        return (trial for trial in self._combinations() if trial.is_legal)

    def plan(self) -> Plan:
        log.info("Starting %s brute search", "manual" if self._is_manual else "automatic")
        records = []
        for trial in self._combinations():
            if not trial.is_legal:
                log.info("Skipping illegal run configuration: %s", trial)
                continue
            outcome = yield trial
            records.append(TrialRecord(trial=trial, outcome=outcome))
        log.info("Done with brute mode search.")
        return records

    def _combinations(self) -> Iterator[Trial]:
        """Every trial, legal or not; what comes to the same is one."""
        known = set()
        for workloads in chain(product(*self._defaults), product(*self._others)):
            trial = self._subject.trial(*workloads)
            if trial.key not in known:
                known.add(trial.key)
                yield trial


def _variants(
    model: SearchedModel, settings: SearchSettings, names: VariantNames
) -> Sequence[ModelVariant]:
    """Every variant of the model; the default one where nothing is varied."""
    groups = brute_groups(model, settings)
    variants = [
        make_variant(model.facts, parameters, names) for group in groups for parameters in group
    ]
    return variants or [names.default(model.facts)]


def _workloads(
    model: SearchedModel, variants: Sequence[ModelVariant], settings: SearchSettings
) -> Sequence[Workload]:
    return [
        model.workload(variant, value, batch_size)
        for variant in variants
        for batch_size in model.settings.batch_sizes
        for value in load_values(model, settings)
    ]
