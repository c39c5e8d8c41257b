# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Where the time of an average request goes: the one source for charts and explanations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from model_analyzer.domain.measurements import Measurement, Values
from model_analyzer.domain.models import ModelVariant, empty, is_cached
from model_analyzer.noise.laws import add_up, longest_path

# For streamed responses, the server's statistics may cover only the start of the response. Below
# this share of the latency, the parts would be misleading.
_MIN_COVERAGE = 0.5
_STREAMED = frozenset(
    {"time_to_first_token_p99", "time_to_first_token_avg", "output_token_throughput"}
)


NOT_MEASURED = "not known: the server's times were not measured"
_NO_PARTS = (
    "not known: the server's times are no parts of a request, since steps run at the same time,"
    " after the response, or only if the response cache has no answer"
)


class TimePart(Enum):
    """A part of a request's time."""

    QUEUE = "queue"
    FIRST_TOKEN = "first_token"  # from the queue to the first token
    FURTHER_TOKENS = "further_tokens"
    INPUTS = "inputs"
    COMPUTE = "compute"
    OUTPUTS = "outputs"
    OUTSIDE = "outside"  # client, network, and what the server does not count


SERVER_TAGS: Mapping[TimePart, str] = {
    TimePart.QUEUE: "perf_server_queue",
    TimePart.INPUTS: "perf_server_compute_input",
    TimePart.COMPUTE: "perf_server_compute_infer",
    TimePart.OUTPUTS: "perf_server_compute_output",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeParts:
    """The `parts` of a request's average time, in ms, as far as they are known; `why` none is, as a
    phrase, otherwise "". `total` is the whole time; 0 if it is unknown. There is OUTSIDE only if
    the times in queues and of executing are known: else, they would be in it.
    """

    total: float
    parts: Mapping[TimePart, float]
    why: str = ""

    @property
    def are_known(self) -> bool:
        """Whether all time has a place in or outside the models."""
        return TimePart.OUTSIDE in self.parts

    # for the sake of sums, a part that is not known counts as 0

    @property
    def queue(self) -> float:
        return self.parts.get(TimePart.QUEUE, 0.0)

    @property
    def inputs(self) -> float:
        return self.parts.get(TimePart.INPUTS, 0.0)

    @property
    def compute(self) -> float:
        return self.parts.get(TimePart.COMPUTE, 0.0)

    @property
    def outputs(self) -> float:
        return self.parts.get(TimePart.OUTPUTS, 0.0)

    @property
    def outside(self) -> float:
        """If it is not known, the time that is not known to be inside."""
        inside = max(self.total - sum(self.parts.values()), 0.0)
        return self.parts.get(TimePart.OUTSIDE, inside)

    def share(self, part: float) -> float:
        """A part of the total, 0 to 1."""
        return part / self.total if self.total else 0.0


def time_parts(
    variants: Sequence[ModelVariant], measurement: Measurement, *, uncached: bool
) -> TimeParts:
    """The parts of the time of a request to these models, which were measured together; `uncached`
    as in `ServerSetup`. Of a language model, the queue, and the time to the first and the last
    token; of an ensemble those of its steps, on its critical path if they run at the same time.
    Its own statistics lack the queues of its steps, and those have none of steps further inside.
    """
    total = _total(measurement)
    tokens = _of_tokens(measurement)
    if tokens:
        return TimeParts(total=total, parts=tokens)
    inside: Mapping[TimePart, float] | None = None
    if len(variants) == 1 and variants[0].is_ensemble:
        inside = _on_critical_path(variants[0], measurement, uncached=uncached)
    if inside is None and all(add_up(variant, uncached=uncached) for variant in variants):
        lacking = {TimePart.QUEUE} if any(variant.is_ensemble for variant in variants) else set()
        known = _known(measurement)
        inside = {part: time for part, time in known.items() if part not in lacking}
    if not inside:
        why = _NO_PARTS if inside is None else NOT_MEASURED
        return TimeParts(total=total, parts=empty(), why=why)
    covered = _covered(measurement, total, sum(inside.values()))
    if covered < _MIN_COVERAGE:
        why = (
            f"not known: server times cover only {100 * covered:.0f} % of the average latency of a"
            " streamed response"
        )
        return TimeParts(total=total, parts=empty(), why=why)
    return TimeParts(total=total, parts=_within(inside, total))


def _total(measurement: Measurement) -> float:
    average = measurement.value("perf_latency_avg")
    wait = measurement.value("perf_client_response_wait")
    if average is None and wait is not None:
        average = wait + (measurement.value("perf_client_send_recv") or 0.0)
    return average or 0.0


def _of_tokens(measurement: Measurement) -> Mapping[TimePart, float]:
    """The time in the queue, from there to the first token, and to the last; empty if unknown."""
    latency = measurement.value("perf_latency_avg")
    first = measurement.value("time_to_first_token_avg")
    if latency is None or first is None or first > latency:
        return {}
    queue = measurement.value(SERVER_TAGS[TimePart.QUEUE])
    waiting = {} if queue is None else {TimePart.QUEUE: min(queue, first)}
    return {
        **waiting,
        TimePart.FIRST_TOKEN: first - sum(waiting.values()),
        TimePart.FURTHER_TOKENS: latency - first,
    }


def _known(measurement: Measurement) -> Mapping[TimePart, float]:
    values = {part: measurement.value(tag) for part, tag in SERVER_TAGS.items()}
    return {part: value for part, value in values.items() if value is not None}


def _on_critical_path(
    variant: ModelVariant, measurement: Measurement, *, uncached: bool
) -> Mapping[TimePart, float] | None:
    """The times of the steps that follow one another and take longest. None if a response cache
    answers for an ensemble, whose steps then have times of misses only; or if a step is unknown.
    """
    (model,) = measurement.models
    ensembles = (part for part in variant.with_parts() if part.is_ensemble)
    if not uncached and any(is_cached(part.config) for part in ensembles):
        return None

    def of(part: ModelVariant) -> Values:
        return model.composing.get(part.model, {})

    if not all(map(of, variant.served)):
        return None
    path = longest_path(
        variant, lambda part: sum(of(part).get(tag, 0.0) for tag in SERVER_TAGS.values())
    )
    inside = {
        part: sum(of(step)[tag] for step in path)
        for part, tag in SERVER_TAGS.items()
        if all(tag in of(step) for step in path)
    }
    return inside if path and TimePart.COMPUTE in inside else None


def _covered(measurement: Measurement, total: float, inside: float) -> float:
    """The share of the latency that server times account for (0 to 1). It is 1 without streaming,
    where the remaining time is network time.
    """
    if not total or all(_STREAMED.isdisjoint(model.values) for model in measurement.models):
        return 1.0
    return min(1.0, inside / total)


def _within(inside: Mapping[TimePart, float], total: float) -> Mapping[TimePart, float]:
    """The parts with what is outside, if that is known. The server also counts requests that the
    client leaves out, so its times may exceed those of the client: then they are made to fit.
    """
    if not total:
        return inside
    seconds = sum(inside.values())
    share = min(total / seconds, 1.0) if seconds else 1.0
    fitting = {part: time * share for part, time in inside.items()}
    if not {TimePart.QUEUE, TimePart.COMPUTE} <= inside.keys():
        return fitting
    return {**fitting, TimePart.OUTSIDE: max(total - seconds, 0.0)}
