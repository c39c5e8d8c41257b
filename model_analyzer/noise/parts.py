# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Where the time of a request goes: which times of the server follow one another.

Triton adds up the times of all steps of an ensemble, also of those that run at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from model_analyzer.domain.models import ModelVariant, is_cached, is_decoupled


def add_up(variant: ModelVariant, *, uncached: bool = False) -> bool:
    """Whether the times that the server reports for a request follow one another, so that their sum
    is a part of its latency.

    Not if an ensemble has steps that run at the same time; if a model is decoupled, since it goes
    on after its answers; or with a response cache, whose times are those of misses only, unless the
    variant was measured `uncached` (see `ServerSetup`).
    """
    if is_decoupled(variant.config) or (is_cached(variant.config) and not uncached):
        return False
    if not variant.is_ensemble:
        return True
    return len(_critical(variant, lambda part: 1.0)) == len(_steps(variant)) and all(
        add_up(part, uncached=uncached) for part in variant.composing
    )


def longest_path(
    variant: ModelVariant, time: Callable[[ModelVariant], float]
) -> Sequence[ModelVariant]:
    """The steps of an ensemble that follow one another and take the longest `time` together: the
    critical path. A step that is an ensemble stands for its own path; a variant that is no ensemble
    is its only step. Steps without a known variant take no time.
    """
    if not variant.is_ensemble:
        return [variant]

    def whole(part: ModelVariant | None) -> float:
        return 0.0 if part is None else sum(map(time, longest_path(part, time)))

    parts = [part for part in _critical(variant, whole) if part is not None]
    return [inner for part in parts for inner in longest_path(part, time)]


def _critical(
    variant: ModelVariant, time: Callable[[ModelVariant | None], float]
) -> Sequence[ModelVariant | None]:
    """The parts of the longest path through the steps of an ensemble; None for unknown ones."""
    parts = {part.model: part for part in variant.composing}
    steps = _steps(variant)
    makers = {
        tensor: number
        for number, step in enumerate(steps)
        for tensor in step.get("output_map", {}).values()
    }
    paths: dict[int, tuple[float, Sequence[ModelVariant | None]]] = {}

    def path_to(number: int, above: frozenset[int]) -> tuple[float, Sequence[ModelVariant | None]]:
        if number not in paths:
            inputs = steps[number].get("input_map", {}).values()
            # a circle is invalid, but must not hang
            before = {makers[each] for each in inputs if each in makers} - above - {number}
            earlier = [path_to(maker, above | {number}) for maker in sorted(before)]
            seconds, path = max(earlier, key=itemgetter(0), default=(0.0, []))
            part = parts.get(str(steps[number].get("model_name", "")))
            paths[number] = seconds + time(part), [*path, part]
        return paths[number]

    every = [path_to(number, frozenset()) for number in range(len(steps))]
    return max(every, key=itemgetter(0), default=(0.0, []))[1]


def _steps(variant: ModelVariant) -> Sequence[Mapping[str, Any]]:
    steps: Sequence[Mapping[str, Any]] = variant.config["ensemble_scheduling"].get("step", ())
    return steps
