# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""All measurements that explain a variant, in the orders in which they are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from model_analyzer.domain.models import ModelVariant
from model_analyzer.results.explain.situation import Situation


@dataclass(frozen=True, kw_only=True)
class VariantPicture:
    """The measurements of a variant, and what else is known.

    `loads` has the situations with arrivals and client batch size as in `focus`, by ascending
    load: each once, repetitions pooled. `focus` is the one to explain. `course` has the single
    measurements of the variant while it stayed loaded, in order of time. `others` are other
    variants under loads like these; those that rank lower by the goal are `worse` (their
    identities).
    """

    loads: tuple[Situation, ...]
    focus: Situation
    course: tuple[Situation, ...]
    others: tuple[Situation, ...] = ()
    worse: frozenset[str] = frozenset()

    @property
    def variant(self) -> ModelVariant:
        return self.focus.variant

    @property
    def lowest(self) -> Situation:
        """The situation under the lowest load."""
        return self.loads[0]

    @property
    def highest(self) -> Situation:
        """The situation under the highest load."""
        return self.loads[-1]

    @cached_property
    def calmest(self) -> Situation:
        """The situation in which requests wait least for each other, among those with requests
        enough for a tail; the lowest load if none has enough.
        """
        many = [each for each in self.loads if _requests(each) >= _ENOUGH] or [self.lowest]
        return min(many, key=lambda each: each.times.share(each.times.queue))

    @cached_property
    def calm(self) -> Situation:
        """The situation with the most requests, among those in which requests hardly wait: rare
        slow ones may be missing among few.
        """
        waiting = self.calmest.times.share(self.calmest.times.queue)
        calm = [each for each in self.loads if each.times.share(each.times.queue) < waiting + _CALM]
        return max(calm, key=_requests)

    def without(self, unusual: Sequence[Situation]) -> VariantPicture:
        """The picture without measurements that are not representative; the picture itself if
        nothing would be left.
        """
        left = tuple(
            each for each in self.loads if not any(_is_of(each, other) for other in unusual)
        )
        if not left:
            return self
        course = tuple(each for each in self.course if each not in unusual)
        focus = self.focus if self.focus in left else left[-1]
        return replace(self, loads=left, focus=focus, course=course)

    @cached_property
    def by_instances(self) -> Sequence[Pair]:
        """The variant with each one that differs from it in nothing but the number of instances,
        under the highest load that both have.
        """
        own = {each.work.load: each for each in self.loads}
        pairs: dict[str, Pair] = {}
        for each in sorted(self.others, key=lambda each: each.work.load.value):
            if each.work.load in own and _but_instances(self.variant) == _but_instances(
                each.variant
            ):
                pair = Pair(own=own[each.work.load], other=each)
                if pair.added:
                    pairs[each.variant.identity] = pair
        return list(pairs.values())


def earliest(situation: Situation) -> Situation:
    """The situation by its first measurement."""
    first = min(situation.runs, key=lambda run: run.started)
    return replace(situation, runs=(first,))


def latest(situation: Situation) -> Situation:
    """The situation by its last measurement. If loads were measured again, in another order, what
    only time changed is no effect of the load.
    """
    last = max(situation.runs, key=lambda run: run.started)
    return replace(situation, runs=(last,))


# Requests for a 99th percentile that is more than the slowest few.
_ENOUGH = 100

# Requests wait hardly longer if the share of the queue differs by less.
_CALM = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The variant and one with another number of instances, under the same load."""

    own: Situation
    other: Situation

    @property
    def added(self) -> int:
        """How many instances the other one has more; negative if it has fewer."""
        return _instances(self.other) - _instances(self.own)

    @property
    def gain(self) -> float:
        """The throughput of the other one, as a multiple of the own."""
        return self.other.throughput / self.own.throughput if self.own.throughput else 1.0


def _requests(situation: Situation) -> int:
    return situation.measurement.models[0].requests or 0


def _is_of(pooled: Situation, single: Situation) -> bool:
    """Whether a situation contains a single measurement."""
    return pooled.work == single.work and (pooled.measurement.started == single.measurement.started)


def _instances(situation: Situation) -> int:
    return sum(count for count, _ in situation.variant.instances(gpus=situation.gpus))


def _but_instances(variant: ModelVariant) -> tuple[object, ...]:
    config = {key: value for key, value in variant.config.items() if key != "instance_group"}
    return variant.model, config, variant.files, [part.identity for part in variant.composing]
