# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Brute search: every variant in a fixed order, with rules that stop when throughput plateaus.

Automatic: the default, then nested loops over instance counts, batch limits (doubling), client
batch sizes and loads (doubling). Manual: the default, then every combination of the listed model
configuration parameters. Order and stop rules are compatible with existing tools.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import ModelVariant, VariantNames
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import SearchSettings
from model_analyzer.domain.trials import Failure, Trial, Workload
from model_analyzer.domain.words import counted
from model_analyzer.errors import Problem
from model_analyzer.search.modes.mode import ListedStrategy, RefiningMode
from model_analyzer.search.plan import (
    SEED,
    PartialPlan,
    Plan,
    SearchedModel,
    Subject,
    goes_on,
    legal_workloads,
    load_values,
    log_skipped,
    recorded,
    side_by_side,
)
from model_analyzer.search.refine import are_noisy, has_plateaued, times_in_a_row
from model_analyzer.search.variants import (
    CORRECT,
    RefusedVariants,
    brute_groups,
    count_brute_variants,
    is_manual,
    make_variant,
    of_list,
    refused_as_it_is,
)

log = logging.getLogger(__name__)

_MIN_GAIN = 0.05


class BruteMode(RefiningMode):
    """Measures every trial of a list, and refines the load of the best where it is searched."""

    covers_loads = True

    def problems(self) -> Iterator[Problem]:
        ensembles = [model.facts.name for model in self.subject.models if model.facts.is_ensemble]
        if ensembles and not (self.settings.disable or self.subject.lists_loads):
            yield Problem(
                where="--search",
                message=f"search mode brute does not support ensembles such as {ensembles[0]}",
                hint="remove run_config_search_mode, or give --search quick or --search adaptive",
            )
        yield from self._nothing_left()

    def _nothing_left(self) -> Iterator[Problem]:
        """The models of which the server would refuse all variants."""
        parts = {part.model: part.count for part in self.left_out()}
        for model in self.subject.models:
            tried = count_brute_variants(model, self.settings)
            if parts.get(model.facts.name, 0) == tried:
                others = f", and the {counted(tried, 'other')} of the search" if tried else ""
                for name, reason in refused_as_it_is(model.facts, self.subject):
                    message = f"the server would refuse its own configuration{others}: {reason}"
                    yield Problem(where=name, message=message, hint=CORRECT)

    def check(self) -> None:
        """It has no space, and leaves out what is illegal."""

    def left_out(self) -> Iterator[RefusedVariants]:
        return of_list(self.subject, self.settings)

    def listed(self) -> ListedStrategy:
        return self.strategy(VariantNames(), SEED)

    def strategy(self, names: VariantNames, seed: int) -> ListedStrategy:
        kind = ProductSearch if len(self.subject.models) > 1 else BruteSearch
        return kind(self.subject, self.settings, names)

    def left(self, done: int) -> float:
        """The rest of the list."""
        return float(self.listed().most_trials - done)

    @property
    def sweeps_loads(self) -> bool:
        """Only if the loads are searched, since listed ones are all measured."""
        return len(self.subject.models) == 1 and not self.subject.lists_loads

    def _swept(self, plan: Plan) -> Plan:
        records = yield from plan
        if self.sweeps_loads:
            records += yield from self._sweep(records)
        return records


@dataclass(frozen=True, slots=True)
class Swept:
    """The trials of a sweep; none if all were illegal. `failed` if a failure ended it."""

    records: list[TrialRecord]
    failed: bool = False

    @property
    def is_noisy(self) -> bool:
        return are_noisy(record.outcome for record in self.records)

    @property
    def throughput(self) -> float | None:
        """The highest measured throughput."""
        return max(self.throughputs, default=None)

    @property
    def throughputs(self) -> list[float]:
        return [
            record.outcome.value("perf_throughput") or 0.0
            for record in self.records
            if isinstance(record.outcome, Measurement)
        ]


class BruteSearch:
    """The plan of a brute search over one model."""

    def __init__(self, subject: Subject, settings: SearchSettings, names: VariantNames) -> None:
        (self._model,) = subject.models
        self._subject = subject
        self._settings = settings
        self._names = names
        self._is_manual = is_manual(self._model, settings)
        # The user wants all listed values measured; automatic ones may be skipped.
        self._stops_early = settings.early_exit or not subject.lists_loads

    @property
    def most_trials(self) -> int:
        """The number of trials if no rule stops a loop and none is illegal."""
        return (
            (1 + count_brute_variants(self._model, self._settings))
            * len(self._model.settings.batch_sizes)
            * len(load_values(self._model, self._settings))
        )

    def trials(self) -> Iterator[Trial]:
        """Every trial in order, as if no rule stops a loop."""
        default = self._names.default(self._model.facts)
        groups = chain.from_iterable(brute_groups(self._model, self._settings))
        for variant in chain([default], map(self._variant, groups)):
            for workload in legal_workloads(self._model, variant, self._settings):
                yield self._subject.trial(workload)

    def plan(self) -> Plan:
        log.info("")
        log.info("Starting %s brute search", "manual" if self._is_manual else "automatic")
        log.info("")
        parts = yield from side_by_side(self._parts())
        log.info("Done with brute mode search.")
        return [record for swept in parts for record in swept.records]

    def _parts(self) -> Iterator[PartialPlan[Swept]]:
        """The default, then each group of variants. No rule to stop looks beyond one part, so the
        trials do not depend on the order in which parts are measured.
        """
        yield self._sweep_variant(self._names.default(self._model.facts))
        for group in self._groups():
            if self._stops_at_batch_plateau:
                yield self._sweep_batch_limits(group)
            else:
                yield from map(self._sweep_variant, group)

    def _sweep_batch_limits(self, group: Iterable[ModelVariant]) -> PartialPlan[Swept]:
        """Measures variants that differ in their batch limit only, until throughput no longer
        increases.
        """
        records: list[TrialRecord] = []
        highest, without_growth = -1.0, 0
        for variant in group:
            swept = yield from self._sweep_variant(variant)
            records += swept.records
            if not swept.records:
                continue
            if swept.throughput is None:
                break
            without_growth = without_growth + 1 if swept.throughput <= highest else 0
            if without_growth >= times_in_a_row(is_noisy=swept.is_noisy):
                log.info("No longer increasing max_batch_size because throughput has plateaued")
                break
            highest = max(highest, swept.throughput)
        return Swept(records)

    @property
    def _stops_at_batch_plateau(self) -> bool:
        return self._settings.early_exit or not self._is_manual

    def _groups(self) -> Iterable[Iterable[ModelVariant]]:
        """The variants in order; inside a group, only the batch limit varies."""
        groups = brute_groups(self._model, self._settings)
        if self._is_manual:
            # all variants get their names before the first is measured
            return [[*map(self._variant, group)] for group in groups]
        return (map(self._variant, group) for group in groups)

    def _variant(self, parameters: Mapping[str, Any]) -> ModelVariant:
        return make_variant(self._model.facts, parameters, self._names)

    def _sweep_variant(self, variant: ModelVariant) -> PartialPlan[Swept]:
        """Measures every client batch size with every load; a failure that ends a sweep over loads
        ends both loops.
        """
        records: list[TrialRecord] = []
        best: list[float] = []
        for batch_size in self._model.settings.batch_sizes:
            swept = yield from self._sweep_loads(variant, batch_size)
            records += swept.records
            if swept.failed:
                break
            if swept.throughput is not None:
                best.append(swept.throughput)
            if self._stops_early and has_plateaued(best, is_flat, is_noisy=swept.is_noisy):
                log.info("No longer increasing client batch size as throughput has plateaued")
                break
        return Swept(records)

    def _sweep_loads(self, variant: ModelVariant, batch_size: int) -> PartialPlan[Swept]:
        records: list[TrialRecord] = []
        values = load_values(self._model, self._settings)
        for number, value in enumerate(values, start=1):
            trial = self._subject.trial(self._model.workload(variant, value, batch_size))
            if not trial.is_legal:
                # it is illegal under any other load too
                log_skipped(trial)
                break
            outcome = yield trial
            records.append(TrialRecord(trial=trial, outcome=outcome))
            if isinstance(outcome, Failure):
                rest, has_measured = values[number:], bool(Swept(records).throughputs)
                if goes_on(self._subject, trial, outcome, rest, has_measured=has_measured):
                    continue
                return Swept(records, failed=True)
            swept = Swept(records)
            if self._stops_early and has_plateaued(
                swept.throughputs, is_flat, is_noisy=swept.is_noisy
            ):
                kind = self._model.settings.load_kind.value.replace("_", " ")
                log.info("No longer increasing %s as throughput has plateaued", kind)
                break
        return Swept(records)


class ProductSearch:
    """The plan of a brute search over several models: all combinations of their variants and loads.

    First the defaults of all models together, then all other variants together; the first model
    varies slowest. No rule stops early: the user asked for all of them.
    """

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


def is_flat(throughputs: Sequence[float]) -> bool:
    """Whether the best of them exceeds the first by at most 5 %."""
    return max(throughputs) - throughputs[0] <= _MIN_GAIN * throughputs[0]


MODE = BruteMode
