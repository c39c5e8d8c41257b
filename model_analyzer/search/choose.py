# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Settings and model facts in, the search that fits out."""

from __future__ import annotations

import logging

from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.settings import SearchSettings
from model_analyzer.search.brute import BruteSearch, load_values
from model_analyzer.search.plan import Plan, PlannedSearch, Subject
from model_analyzer.search.refine import refine

log = logging.getLogger(__name__)


def choose(
    subject: Subject, settings: SearchSettings, names: VariantNames, *, best: int
) -> PlannedSearch:
    """The search for one model; the `best` variants are refined at its end."""
    brute = BruteSearch(subject, settings, names)

    def plan() -> Plan:
        records = yield from brute.plan()
        if not subject.settings.loads:
            records += yield from refine(
                subject,
                records,
                best=best,
                loads=load_values(subject, settings),
                steps=settings.max_binary_search_steps,
            )
            log.info("Done gathering concurrency sweep measurements for reports")
        return records

    refined = 0 if subject.settings.loads or not subject.settings.goal.constraints else best + 1
    most = brute.most_trials + refined * settings.max_binary_search_steps
    return PlannedSearch(plan(), most)
