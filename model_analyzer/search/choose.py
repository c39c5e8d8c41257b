# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Settings and model facts in, the search that fits out."""

from __future__ import annotations

import logging

from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.settings import SearchSettings
from model_analyzer.search.brute import BruteSearch
from model_analyzer.search.plan import Plan, PlannedSearch, Subject, load_values
from model_analyzer.search.product import product_search
from model_analyzer.search.refine import refine

log = logging.getLogger(__name__)


def choose(
    subject: Subject, settings: SearchSettings, names: VariantNames, *, best: int
) -> PlannedSearch:
    """The search for the models of `subject`; the `best` variants are refined at its end."""
    if len(subject.models) > 1:
        return product_search(subject, settings, names)
    brute = BruteSearch(subject, settings, names)
    refined = 0 if subject.lists_loads else best + 1

    def plan() -> Plan:
        records = yield from brute.plan()
        if refined:
            records += yield from refine(
                subject,
                records,
                best=best,
                loads=load_values(subject.models[0], settings),
                steps=settings.max_binary_search_steps,
            )
            log.info("Done gathering concurrency sweep measurements for reports")
        return records

    boundaries = refined if any(model.constraints for model in subject.goal.models) else 0
    most = brute.most_trials + boundaries * settings.max_binary_search_steps
    return PlannedSearch(plan(), most)
