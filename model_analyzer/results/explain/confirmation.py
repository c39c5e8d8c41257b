# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a tested advice really changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from model_analyzer.domain.models import ModelFacts, ModelVariant, VariantNames, apply_parameters
from model_analyzer.domain.trials import Failure, Workload
from model_analyzer.results.explain.finding import Change, Finding
from model_analyzer.results.explain.situation import Situation

# Smaller changes of throughput or p99 may be noise.
_REAL = 0.1


class Effect(Enum):
    """What a change did."""

    HELPS = "it helps"
    NOTHING = "it changes nothing"
    HARMS = "it makes it worse"
    MIXED = "one gets better, the other worse"
    FAILED = "it could not be measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """The advice of a finding, tested: the situation after the change, or why there is none."""

    finding: Finding
    work: Workload
    after: Situation | Failure

    @property
    def effect(self) -> Effect:
        """Judged by throughput and p99; changes that may be noise do not count."""
        if isinstance(self.after, Failure):
            return Effect.FAILED
        before = self.finding.under
        gains = [
            _gain(self.after.throughput, before.throughput),
            _gain(before.value("perf_latency_p99"), self.after.value("perf_latency_p99")),
        ]
        is_better, is_worse = max(gains) > 1 + _REAL, min(gains) < 1 / (1 + _REAL)
        if is_better and is_worse:
            return Effect.MIXED
        return Effect.HELPS if is_better else Effect.HARMS if is_worse else Effect.NOTHING


def _gain(better: float, worse: float) -> float:
    return better / worse if better and worse else 1.0


def changed(work: Workload, change: Change, names: VariantNames) -> Workload:
    """The workload with a change of its variant, or of one that it calls, and of its flags."""
    variant = _changed(work.variant, change, names)
    flags: Mapping[str, Any] = work.flags
    if change.flags:
        replaced = ("sync", "max-threads") if "async" in change.flags else ()
        kept = {name: value for name, value in work.flags.items() if name not in replaced}
        flags = {**kept, **change.flags}
    return replace(work, variant=variant, flags=flags)


def _changed(variant: ModelVariant, change: Change, names: VariantNames) -> ModelVariant:
    parts = [_changed(part, change, names) for part in variant.composing]
    parameters = change.parameters if variant.model == change.model else {}
    config = apply_parameters(variant.config, parameters)
    if config == variant.config and parts == list(variant.composing):
        return variant
    facts = ModelFacts(name=variant.model, config=variant.config, files=variant.files)
    return names.variant(facts, parameters, parts)
