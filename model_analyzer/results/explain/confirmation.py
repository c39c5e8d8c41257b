# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a tested advice really changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from model_analyzer.domain.goals import DEFAULT_OBJECTIVE
from model_analyzer.domain.models import ModelFacts, ModelVariant, VariantNames, apply_parameters
from model_analyzer.domain.trials import Failure, Workload
from model_analyzer.results.change import Change
from model_analyzer.results.explain.chance import change_between, fell, rose
from model_analyzer.results.explain.finding import AdvisedChange, Cause, FoundCause
from model_analyzer.results.explain.situation import Situation

# Smaller changes (percent) do not matter; an interval that reaches further says nothing.
_REAL, _VAGUE = 5.0, 25.0


class Effect(Enum):
    """What a change did."""

    HELPS = "it helps"
    NOTHING = "it changes nothing"
    HARMS = "it makes it worse"
    MIXED = "one gets better, the other worse"
    UNSURE = "the measurements differ too much to say"
    FAILED = "it could not be measured"


# The same throughput confirms these: fewer instances are enough, or memory is copied elsewhere.
_WITHOUT_GAIN = {Cause.TOO_MANY_INSTANCES, Cause.TENSORS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """The advice of a finding, tested: the situation before and after the change, or why there is
    none.
    """

    finding: FoundCause
    work: Workload
    before: Situation
    after: Situation | Failure

    @property
    def throughput(self) -> Change | None:
        """The change of the throughput, with its interval; None if it could not be measured."""
        return self._change(DEFAULT_OBJECTIVE)

    @property
    def p99(self) -> Change | None:
        """The same for the p99 latency."""
        return self._change("perf_latency_p99")

    @property
    def effect(self) -> Effect:
        """Judged by throughput and p99: a change counts if chance does not explain it."""
        throughput, p99 = self.throughput, self.p99
        if throughput is None or p99 is None:
            return Effect.FAILED
        signs = {_sign(throughput), -_sign(p99)}
        if signs == {1, -1}:
            return Effect.MIXED
        if signs != {0}:
            return Effect.HELPS if 1 in signs else Effect.HARMS
        # an open load is answered anyway: latencies show an effect
        decisive = throughput if self.before.is_closed else p99
        interval = decisive.interval
        if interval is None or max(-interval.low, interval.high) > _VAGUE:
            return Effect.UNSURE
        return Effect.NOTHING

    @property
    def refutes(self) -> bool:
        """Whether the change shows that the cause is none."""
        is_confirmed = self.finding.cause in _WITHOUT_GAIN
        return self.effect is Effect.HARMS or (self.effect is Effect.NOTHING and not is_confirmed)

    def _change(self, tag: str) -> Change | None:
        if isinstance(self.after, Failure):
            return None
        return change_between(self.before, self.after, tag)


def _sign(change: Change) -> int:
    """1 if a value rose by more than noise, -1 if it fell, 0 otherwise."""
    if abs(change.percent or 0.0) < _REAL:
        return 0
    return rose(change) - fell(change)


def changed(work: Workload, change: AdvisedChange, names: VariantNames) -> Workload:
    """The workload with a change of its variant, or of one that it calls, and of its flags."""
    variant = _changed(work.variant, change, names)
    flags: Mapping[str, Any] = work.flags
    if change.flags:
        replaced = ("sync", "max-threads") if "async" in change.flags else ()
        kept = {name: value for name, value in work.flags.items() if name not in replaced}
        flags = {**kept, **change.flags}
    return replace(work, variant=variant, flags=flags)


def _changed(variant: ModelVariant, change: AdvisedChange, names: VariantNames) -> ModelVariant:
    parts = [_changed(part, change, names) for part in variant.composing]
    parameters = change.parameters if variant.model == change.model else {}
    config = apply_parameters(variant.config, parameters)
    if config == variant.config and parts == list(variant.composing):
        return variant
    facts = ModelFacts(name=variant.model, config=variant.config, files=variant.files)
    return names.variant(facts, parameters, parts)
