# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Brute search over several models that are measured together: every combination of their variants.

First the defaults of all models together, then all other variants together; the first model varies
slowest. No rule stops early: the user asked for all of them.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from model_analyzer.domain.models import ModelVariant, VariantNames
from model_analyzer.domain.settings import SearchSettings
from model_analyzer.domain.trials import Trial, Workload
from model_analyzer.search.plan import (
    Plan,
    SearchedModel,
    Subject,
    legal_workloads,
    load_values,
    recorded,
    side_by_side,
)
from model_analyzer.search.variants import (
    brute_groups,
    count_brute_variants,
    is_manual,
    make_variant,
)

log = logging.getLogger(__name__)


class ProductSearch:
    """The search over all combinations of the models' variants and loads."""

    def __init__(self, subject: Subject, settings: SearchSettings, names: VariantNames) -> None:
        self._subject = subject
        self._settings = settings
        self._is_manual = all(is_manual(model, settings) for model in subject.models)
        self._defaults = [[names.default(model.facts)] for model in subject.models]
        self._others = [_Variants(model, settings, names) for model in subject.models]

    @property
    def most_trials(self) -> int:
        """The number of trials, if none is illegal and all differ."""
        loads = math.prod(
            len(model.settings.batch_sizes) * len(load_values(model, self._settings))
            for model in self._subject.models
        )
        return loads * (1 + math.prod(map(len, self._others)))

    def trials(self) -> Iterator[Trial]:
        """Every trial in order; trials with the same content occur once."""
        seen = set()
        for variants in (self._defaults, self._others):
            for workloads in self._combinations(variants):
                trial = self._subject.trial(*workloads)
                if trial.key not in seen:
                    seen.add(trial.key)
                    yield trial

    def plan(self) -> Plan:
        log.info("Starting %s brute search", "manual" if self._is_manual else "automatic")
        records = yield from side_by_side(map(recorded, self.trials()))
        log.info("Done with brute mode search.")
        return records

    def _combinations(
        self, variants: Sequence[Iterable[ModelVariant]]
    ) -> Iterator[tuple[Workload, ...]]:
        """The combinations of workloads of the first models, one for each element of `variants`;
        the last model varies fastest. An iterator, because there are too many for a list.
        """
        if not variants:
            yield ()
            return
        *others, last = variants
        model = self._subject.models[len(others)]
        for preceding in self._combinations(others):
            for variant in last:
                for workload in legal_workloads(model, variant, self._settings):
                    yield (*preceding, workload)


class _Variants:
    """The variants of a model, created on demand; the default only, if nothing is varied."""

    def __init__(self, model: SearchedModel, settings: SearchSettings, names: VariantNames) -> None:
        self._count = max(count_brute_variants(model, settings), 1)
        self._made: list[ModelVariant] = []
        parameters = chain.from_iterable(brute_groups(model, settings))
        self._further = (make_variant(model.facts, values, names) for values in parameters)
        self._default = names.default(model.facts)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[ModelVariant]:
        for position in range(len(self)):
            if position == len(self._made):
                self._made.append(next(self._further, self._default))
            yield self._made[position]
