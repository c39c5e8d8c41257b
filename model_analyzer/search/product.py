# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Several models at once, with what is listed for each: every combination is measured.

First the defaults of all models with each other, then their other variants with each other; the
first model varies slowest. Nothing is cut short: a list says what is wanted.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import product

from model_analyzer.domain.models import ModelVariant, VariantNames
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import SearchSettings
from model_analyzer.domain.trials import Workload
from model_analyzer.search.plan import Plan, PlannedSearch, SearchedModel, Subject, load_values
from model_analyzer.search.variants import listed_variants

log = logging.getLogger(__name__)


def product_search(
    subject: Subject, settings: SearchSettings, names: VariantNames
) -> PlannedSearch:
    """The search over all combinations of the models' listed variants and loads."""
    defaults = [
        _workloads(model, [names.default(model.facts)], settings) for model in subject.models
    ]
    others = [
        _workloads(model, listed_variants(model, names), settings) for model in subject.models
    ]

    def plan() -> Plan:
        log.info("Starting manual brute search")
        records = []
        for workloads in (*product(*defaults), *product(*others)):
            trial = subject.trial(*workloads)
            if not trial.is_legal:
                log.info("Skipping illegal run configuration: %s", trial)
                continue
            outcome = yield trial
            records.append(TrialRecord(trial=trial, outcome=outcome))
        log.info("Done with brute mode search.")
        return records

    most = sum(len(list(product(*group))) for group in (defaults, others))
    return PlannedSearch(plan(), most)


def _workloads(
    model: SearchedModel, variants: Sequence[ModelVariant], settings: SearchSettings
) -> Sequence[Workload]:
    return [
        model.workload(variant, value, batch_size)
        for variant in variants
        for batch_size in model.settings.batch_sizes
        for value in load_values(model, settings)
    ]
