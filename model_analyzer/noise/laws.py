# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What must hold for every measurement. Each law is a pure function of stored values.

There are laws of the server: what its own times and counts say about those of the client; and laws
of times and loads: what follows from the order of events, from the definitions of numbers, from the
number of requests in flight, and from their arrivals. Tolerances for loads come from 1,800 real
measurements of 60 models, with 1 to 16 requests in flight.

Where the time of a request goes: which times of the server follow one another.

Triton adds up the times of all steps of an ensemble, also of those that run at the same time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from operator import itemgetter
from types import MappingProxyType
from typing import Any, NamedTuple

from model_analyzer.domain.arrivals import is_random, traffic_of
from model_analyzer.domain.measurements import (
    Doubt,
    Measurement,
    ModelMeasurement,
    ModelStatistics,
    Outcome,
)
from model_analyzer.domain.metrics import METRICS, PERCENTILES
from model_analyzer.domain.models import ModelConfig, ModelVariant, is_cached, is_decoupled
from model_analyzer.domain.traffic import Arrivals
from model_analyzer.domain.trials import (
    Failure,
    FailureReason,
    LoadKind,
    ServerSetup,
    Trial,
    Workload,
    workload_words,
)
from model_analyzer.domain.words import counted, number_text


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


# Names of a model's `evidence`: the share of its exported requests that ended before they were sent
# (0 to 1); and in the windows that perf_analyzer reports, the tokens for each request, and the
# responses with content by its own count.
IMPOSSIBLE = "impossible_share"
TOKENS, RESPONSES = "tokens_per_request", "responses_per_request"
# Requests per second of an open load that were due, were sent and were answered, by their times.
DUE, SENT, ANSWERED = "due_per_s", "sent_per_s", "answered_per_s"


# one for each measurement, and a tuple is made in a third of the time
class Case(NamedTuple):
    """A model of a measurement that is made of so many `runs`, with its workload."""

    trial: Trial
    measurement: Measurement
    work: Workload
    model: ModelMeasurement
    runs: int = 1

    @property
    def name(self) -> str:
        """The variant and its load in words, for the beginning of a sentence."""
        return workload_words(self.work)

    @property
    def counts(self) -> ModelStatistics | None:
        """What the server counted for this model; None if unknown."""
        return self.measurement.statistics.get(self.work.variant.model)

    @property
    def again(self) -> str:
        """What to do if the client's values are wrong."""
        if self.measurement.is_round:
            return "compare with --measurement perf_analyzer, which takes perf_analyzer's own table"
        return "measure it again (--measurement auto takes the times of single requests)"

    @property
    def edge(self) -> float:
        """How far two counts of this measurement may differ because requests were in flight when it
        began and ended: a share of its requests. With an unknown number of requests, 0.1.

        A client with n requests in flight answers up to n more or fewer in a period than the mean
        latency of those that ended in it tells. If latencies are uneven, each of the n may have
        waited as long as the slowest.
        """
        work, requests = self.work, self.model.requests
        if not requests:
            return 0.1
        is_closed = work.load.kind is LoadKind.CONCURRENCY
        in_flight = self.runs * (work.load.value if is_closed else 2) / requests
        if not is_closed or not self.model.seconds:
            return in_flight
        p99_ms = self.model.values.get("perf_latency_p99", 0.0)
        return max(in_flight, self.runs * p99_ms / (1000.0 * self.model.seconds))


# A law gives a doubt if a case breaks it. There may be a million measurements: return early.
Law = Callable[[Case], Doubt | None]


# Server and client count other requests: the server also those that the client leaves out, and
# these are slower on a busy machine. Real parts were up to 1.25 of the latency, and instances busy
# for up to 1.24 of the time; on a quiet machine up to 1.00 and 1.11.
_PARTS, _PARTS_MS, _BUSY = 1.3, 0.1, 1.3
_GROSS = 2.0

# These answer a request when its execution ends, so an instance executes one batch at a time.
# Others (vLLM, TensorRT-LLM) add requests to a running execution.
_ONE_AT_A_TIME = (
    "python", "onnxruntime", "tensorflow", "pytorch", "openvino", "tensorrt_plan", "dali", "fil",
    "identity",
)  # fmt: skip


def parts_fit(case: Case) -> Doubt | None:
    """queue + input + execution + output <= average latency: a request is in one place at a time.

    Within 30 % and 0.1 ms, and twice the edge. Only where the server does not add up what happens
    at the same time.
    """
    value = case.model.values.get
    compute, latency = value("perf_server_compute_infer"), value("perf_latency_avg")
    if not compute or latency is None:
        return None
    copying = value("perf_server_compute_input", 0.0) + value("perf_server_compute_output", 0.0)
    inside = value("perf_server_queue", 0.0) + compute + copying
    if inside <= latency or inside <= latency * (_PARTS + 2 * case.edge) + _PARTS_MS:
        return None
    if not add_up(case.work.variant, uncached=case.trial.setup.uncached):
        return None
    return Doubt(
        law="parts of a request",
        text=f"{case.name}: queue and execution in the server take {number_text(inside)} ms, more"
        f" than the whole request, {number_text(latency)} ms",
        hint="requests of other clients may count in the server: let nobody else use it",
    )


def instances_suffice(case: Case) -> Doubt | None:
    """throughput <= instances x batch / execution time, for the model and those that it calls.

    An instance executes one batch at a time, so it is never busy for more than all of the time.
    Within 30 % and twice the edge. Only for backends that execute so, and models that have the
    server for themselves. Gross if they had to be busy for twice the time.
    """
    statistics = case.measurement.statistics
    throughput = case.model.values.get("perf_throughput")
    if not statistics or not throughput or len(case.trial.workloads) > 1:
        return None
    top = statistics.get(case.work.variant.model)
    if top is None or not top.inferences:
        return None
    # inferences that were executed, or that the response cache answered
    hits = top.requests.hits if top.requests else 0
    inferences = top.inferences + hits * case.work.load.batch_size
    for part in case.work.variant.served:
        own = statistics.get(part.model)
        if own is None or not own.batches or not own.inferences:
            continue
        # executions at the same time
        running = own.busy_ms / inferences * throughput / 1000.0
        if running <= _BUSY + 2 * case.edge:
            continue  # one instance is enough, as for most measurements
        instances = _instances(part, case.trial.setup)
        if not instances or running <= instances * (_BUSY + 2 * case.edge):
            continue
        return Doubt(
            law="instances suffice",
            text=f"{case.name}: {number_text(throughput)} infer/sec would keep"
            f" {number_text(running)} instances of {part.model} busy, whose executions take"
            f" {number_text(own.busy_ms / own.executions)} ms, but it has {instances}",
            hint="the server may answer requests without executing them, for example from a cache",
            gross=running > _GROSS * instances * (1 + 2 * case.edge),
        )
    return None


def _instances(variant: ModelVariant, setup: ServerSetup) -> int:
    """The batches that it executes at the same time at most; 0 if unknown."""
    config = variant.config
    if is_decoupled(config) or (is_cached(config) and not setup.uncached):
        return 0
    if "sequence_batching" in config:
        return 0  # batches get smaller when the client lets its sequences end, after its windows
    if not variant.platform.startswith(_ONE_AT_A_TIME):
        return 0
    kinds = [str(group.get("kind", "")) for group in config.get("instance_group") or ()]
    if "KIND_MODEL" in kinds or ("KIND_GPU" in kinds and not setup.devices):
        return 0
    return _versions(config) * sum(count for count, _ in variant.instances(gpus=len(setup.devices)))


def _versions(config: ModelConfig) -> int:
    """The versions that are served at the same time, each with its own instances; 0 if unknown."""
    policy = config.get("version_policy", {})
    if "all" in policy:
        return 0
    if "specific" in policy:
        return len(policy["specific"].get("versions", ()))
    return int(policy.get("latest", {}).get("num_versions", 1))


# The server counts a request after its answer, so a reading may lack the last ones.
_LATE_SHARE, _LATE = 0.05, 2


def was_executed(case: Case) -> Doubt | None:
    """requests <= (inferences / batch size + cache hits) of the server, within 5 % or two requests
    for those that it counts late; and inferences > 0. What was not executed was not measured: a
    response cache answers in microseconds, whatever the variant.

    The server counts from the start of perf_analyzer to its end, the client only within windows: so
    it may count more, never less. (A server that counts nothing says nothing, and perf_analyzer
    refuses it.) Gross if nothing was executed, unless the variant is measured with its cache.
    """
    counts, requests = case.counts, case.model.requests
    if counts is None or counts.requests is None or not (requests and counts.requests.answered):
        return None
    hits = counts.requests.hits
    known = counts.inferences / case.work.load.batch_size + hits
    keeps_cache = not case.trial.setup.uncached and any(
        is_cached(part.config) for part in case.work.variant.with_parts()
    )
    if hits and not counts.inferences:
        return Doubt(
            law="executed",
            text=f"{case.name}: the model was not executed, since the response cache answered all"
            f" {counted(hits, 'request')}",
            hint="measure without the cache: `response_cache: off`, or a server that has none",
            gross=not keeps_cache,
        )
    if requests <= known * (1 + _LATE_SHARE) + _LATE:
        return None
    return Doubt(
        law="executed",
        text=f"{case.name}: {counted(requests, 'request')} were answered, but the server counted"
        f" only {counted(round(known), 'request')}",
        hint="something between perf_analyzer and the model answers, such as a proxy or another"
        " server: measure without it",
    )


def errors_agree(case: Case) -> Doubt | None:
    """Failed requests of the server = failed requests of the client, which are none:
    perf_analyzer stops at the first one. Others failed without its knowledge: requests of models
    that are called, whose errors the caller hides, or requests of other clients.
    """
    for part in case.work.variant.with_parts():
        counts = case.measurement.statistics.get(part.model)
        if counts is not None and counts.requests is not None and counts.requests.failed:
            failed = counts.requests.failed
            of_all = failed + counts.requests.answered
            cause = (
                "find out which other clients use the server, or whether it dropped sequences that"
                " waited for longer than max_sequence_idle_microseconds"
                if part.model == case.work.variant.model
                else f"the models that call it hide its errors: look into the log of {part.model}"
            )
            return Doubt(
                law="errors",
                text=f"{case.name}: {failed:,} of {counted(of_all, 'request')} to {part.model}"
                " failed on the server, and perf_analyzer got no error",
                hint=cause,
            )
    return None


_NEAR = 0.1


def tokens_are_responses(case: Case) -> Doubt | None:
    """tokens / requests = responses / requests by perf_analyzer's own count, in the windows that it
    reports, where a response is a token. Within 10 %; gross if there are twice as many.
    """
    evidence = case.model.evidence
    tokens, responses = evidence.get(TOKENS), evidence.get(RESPONSES)
    if not responses or tokens is None or abs(tokens / responses - 1) <= _NEAR:
        return None
    return Doubt(
        law="tokens are responses",
        text=f"{case.name}: a request has {number_text(tokens)} tokens, but perf_analyzer counted"
        f" {number_text(responses)} responses for each",
        hint=case.again,
        gross=tokens > _GROSS * responses,
    )


# Requests in flight by Little's law, as a share of the load. Real ones were between 0.90 and 1.01,
# and up to 1.22 on a busy machine. A client that copies large tensors between two requests has
# fewer in flight.
_LEAST, _MOST = 0.75, 1.25
# What contradicts itself so much is not one of several measurements that disagree.

# An open load is answered within this share; random arrivals deviate by so many standard errors.
_ANSWERED, _DEVIATIONS = 0.05, 4.0


def littles_law(case: Case) -> Doubt | None:
    """Requests in flight = throughput / batch size x average latency, at a constant concurrency.

    J. D. C. Little, 1961. From 0.75 to 1.25 times the concurrency, and the edge of the measurement.
    There are fewer if the client is busy between two requests; that is a doubt, too: a throughput
    that is not that of this load. A decoupled model may answer before it is ready for the next
    request, so it has no lower limit. Gross above twice the concurrency.
    """
    work, values = case.work, case.model.values
    latency, throughput = values.get("perf_latency_avg"), values.get("perf_throughput")
    load = work.load
    if latency is None or throughput is None:
        return None
    in_flight = throughput * latency / (1000.0 * load.batch_size)
    share = in_flight / load.value
    if _LEAST <= share <= _MOST or work.genai_perf or not _is_one_period(case):
        return None
    edge = case.edge
    if share < _LEAST - edge and not is_decoupled(work.variant.config):
        meaning = f"on average only {number_text(in_flight)} of {load.value} requests in flight"
        hint = (
            "the client may be slow between requests (give smaller inputs, or a machine of its"
            " own), it may round time up (leave request-count out of perf_analyzer_flags), or some"
            " requests never end (look at the model's queue policy and priorities)"
        )
    elif share > _MOST + edge:
        meaning = f"{number_text(in_flight)} requests in flight, but there were {load.value}"
        hint = case.again
    else:
        return None
    return Doubt(
        law="requests in flight",
        text=f"{case.name}: {number_text(throughput)} infer/sec with an average latency of"
        f" {number_text(latency)} ms mean {meaning}",
        hint=hint,
        gross=share > _GROSS + edge,
    )


def _is_one_period(case: Case) -> bool:
    """Whether throughput and latency are those of the same requests: a mean of several measurements
    is not their quotient.
    """
    return case.runs == 1 or case.measurement.is_round


def open_loads_are_answered(case: Case) -> Doubt | None:
    """answered >= due - requests in flight, and answered <= due, per second.

    Requests that a server has not answered at the end are in flight, each for at most twice the p99
    latency (which counts from the intended times): so at least 0.95 - 2 x p99 / duration of those
    that were due are answered, and at most 1.05 times as many. Random arrivals whose number is not
    known deviate by four standard errors. An overloaded server has long latencies, and breaks no
    law. Gross if twice as many are answered.
    """
    load, values = case.work.load, case.model.values
    throughput = values.get("perf_throughput")
    if throughput is None:
        return None
    evidence, answered = case.model.evidence, throughput / load.batch_size
    traffic = traffic_of(case.work)
    due = evidence.get(DUE) or load.value or (traffic.mean_rate if traffic else 0.0)
    p99 = values.get("perf_latency_p99")
    requests = case.model.requests
    if not due or p99 is None or not requests:
        return None
    seconds = case.model.seconds or requests / answered if answered else math.inf
    slack = _ANSWERED + case.edge + _chance(case, requests)
    share = min(answered, evidence.get(ANSWERED, answered)) / due
    if share > 1 + slack:
        problem, hint = "more than there were", case.again
    elif share < 1 - slack - 2 * case.runs * p99 / (1000 * seconds):
        problem = f"although p99 latency is only {number_text(p99)} ms"
        hint = (
            "the client may be too slow to send them: use a lower rate, smaller inputs or more"
            " generators"
        )
    else:
        return None
    sent = f", {number_text(evidence[SENT])} were sent" if SENT in evidence else ""
    return Doubt(
        law="open loads are answered",
        text=f"{case.name}: {number_text(due)} requests/sec were due{sent} and"
        f" {number_text(share * due)} were answered, {problem}",
        hint=hint,
        gross=share > _GROSS,
    )


def _chance(case: Case, requests: int) -> float:
    """How far the number of random arrivals may be from its mean, as a share of it."""
    if DUE in case.model.evidence or not is_random(case.work):
        return 0.0
    traffic = traffic_of(case.work)
    is_gamma = traffic is not None and traffic.arrivals is Arrivals.GAMMA
    return _DEVIATIONS * (traffic.cv if traffic and is_gamma else 1.0) / math.sqrt(requests)


# perf_analyzer's table has whole microseconds, and quantiles of histograms have three digits.
_ROUNDING = 1.01

# More requests than this share must not be impossible: a clock that is set for a moment moves few.
_MANY = 0.01


def _ladder(family: str) -> Sequence[str]:
    """The metrics of a family of latencies, which rise in this order."""
    percentiles = sorted(tag for tag in PERCENTILES if PERCENTILES[tag][0] == family)
    every = (f"{family}_min", *percentiles, f"{family}_max")
    return tuple(tag for tag in every if tag in METRICS)


_LATENCY = "perf_latency"
_FAMILIES: Mapping[str, Sequence[str]] = MappingProxyType(
    {family: _ladder(family) for family in (_LATENCY, "time_to_first_token", "inter_token_latency")}
)


def latencies_rise(case: Case) -> Doubt | None:
    """0 < min <= p50 <= p90 <= p95 <= p99 <= max, of latencies, times to the first token and times
    between tokens; within 1 %, since they are rounded. By definition.

    Gross if a latency is not positive: no answer ends before its request began. Tokens may come at
    the same time.
    """
    values = case.model.values
    doubt = _rising(case, _LATENCY)
    if doubt is None and "time_to_first_token_avg" in values:
        doubt = _rising(case, "time_to_first_token") or _rising(case, "inter_token_latency")
    return doubt


def _rising(case: Case, family: str) -> Doubt | None:
    value = case.model.values.get
    if family == _LATENCY:  # usually they rise, and there may be a million
        p50, p90, p95, p99 = map(value, _FAMILIES[family])
        if p50 and p90 and p95 and p99 and 0.0 < p50 <= p90 <= p95 <= p99:
            return None
    below, lower = 0.0, ""
    for tag in _FAMILIES[family]:
        latency = value(tag)
        if latency is None:
            continue
        if latency < 0 or (latency == 0 and family == _LATENCY):
            return Doubt(
                law="latencies rise",
                text=f"{case.name}: {METRICS[tag].name} is {latency:g} ms, so answers ended before"
                " their requests began",
                hint=case.again,
                gross=True,
            )
        if below > latency * _ROUNDING:
            return Doubt(
                law="latencies rise",
                text=f"{case.name}: {METRICS[tag].name} is {number_text(latency)} ms, less than"
                f" {METRICS[lower].name}, {number_text(below)} ms",
                hint=case.again,
            )
        below, lower = latency, tag
    return None


def averages_fit(case: Case) -> Doubt | None:
    """The average latency is at least (1 - share) x percentile, for each percentile: so many of all
    requests took at least that long (Markov's inequality). Within 1 %, since they are rounded; the
    percentiles of a few requests lie between two of them, so within the edge as well.
    """
    value = case.model.values.get
    average = value("perf_latency_avg")
    if average is None:
        return None
    for tag, share in (("perf_latency_p50", 0.5), ("perf_latency_p99", 0.01)):
        latency = value(tag)
        if latency is not None and average < share * latency:
            break
    else:
        return None
    if average * _ROUNDING * (1 + case.edge) >= share * latency:
        return None
    return Doubt(
        law="averages fit",
        text=f"{case.name}: the average latency is {number_text(average)} ms, too little for a"
        f" {METRICS[tag].name} of {number_text(latency)} ms",
        hint=case.again,
    )


def answers_follow_requests(case: Case) -> Doubt | None:
    """No exported answer comes before its request was sent. Such requests do not count. Gross if
    they are more than 1 % of all requests: then the other times are not to be trusted either.
    """
    share = case.model.evidence.get(IMPOSSIBLE, 0.0)
    if not share:
        return None
    return Doubt(
        law="answers follow requests",
        text=f"{case.name}: by the times that perf_analyzer exported, {100 * share:.2g} % of the"
        " requests were answered before they were sent",
        hint="see if the clock of the client's machine was set meanwhile, and measure it again",
        gross=share > _MANY,
    )


def durations_fit(case: Case) -> Doubt | None:
    """p99 latency <= duration of the trial without loading. A client cannot wait for longer than it
    measures. Gross, since a duration is measured by one clock, and latencies by another.
    """
    measurement = case.measurement
    if not measurement.duration_s or not case.model.seconds:
        return None
    p99 = case.model.values.get("perf_latency_p99")
    if p99 is None:
        return None
    seconds = measurement.duration_s - measurement.loading_s
    if p99 <= 1000 * seconds:
        return None
    return Doubt(
        law="durations fit",
        text=f"{case.name}: p99 latency is {number_text(p99)} ms, but measuring took only"
        f" {number_text(seconds)} s",
        hint="see if the clock of the client's machine was set meanwhile, and measure it again",
        gross=True,
    )


# By what they need: a checkpoint may have a million measurements, and most have little of it.
_FOR_ALL: Sequence[Law] = (latencies_rise, averages_fit, durations_fit, parts_fit)
_FOR_LOADS: Mapping[LoadKind, Law] = MappingProxyType(
    {
        LoadKind.CONCURRENCY: littles_law,
        LoadKind.REQUEST_RATE: open_loads_are_answered,
        LoadKind.REQUEST_INTERVALS: open_loads_are_answered,
    }
)
_FOR_EVIDENCE: Sequence[Law] = (answers_follow_requests, tokens_are_responses)
_FOR_STATISTICS: Sequence[Law] = (instances_suffice, was_executed, errors_agree)

# By kind of load, and whether there is evidence and whether there are statistics.
_LAWS: Mapping[tuple[LoadKind, bool, bool], Sequence[Law]] = MappingProxyType(
    {
        (kind, evidence, statistics): (
            *_FOR_ALL,
            for_load,
            *(_FOR_EVIDENCE if evidence else ()),
            *(_FOR_STATISTICS if statistics else ()),
        )
        for kind, for_load in _FOR_LOADS.items()
        for evidence in (False, True)
        for statistics in (False, True)
    }
)


def doubts_of(trial: Trial, measurement: Measurement, runs: int = 1) -> tuple[Doubt, ...]:
    """A doubt for each law that a model of the measurement, made of so many `runs`, breaks."""
    doubts = []
    has_statistics = bool(measurement.statistics)
    for work, model in zip(trial.workloads, measurement.models, strict=True):
        case = Case(trial, measurement, work, model, runs)
        for law in _LAWS[work.load.kind, bool(model.evidence), has_statistics]:
            doubt = law(case)
            if doubt is not None:
                doubts.append(doubt)
    return tuple(doubts)


def with_doubts(trial: Trial, pooled: Measurement, runs: int) -> Measurement:
    """So many `runs` that were pooled, with the doubts about all together and about single ones."""
    return replace(pooled, doubts=_PooledDoubts(trial, pooled, runs))


class _PooledDoubts(Sequence[Doubt]):
    """They are found when they are read: a ranking has many trials, and few are shown."""

    def __init__(self, trial: Trial, pooled: Measurement, runs: int) -> None:
        self._trial, self._pooled, self._runs = trial, pooled, runs

    @cached_property
    def _found(self) -> Sequence[Doubt]:
        own = doubts_of(self._trial, self._pooled, self._runs)
        laws = {doubt.law for doubt in own}
        return (*own, *[doubt for doubt in self._pooled.doubts if doubt.law not in laws])

    def __getitem__(self, place: Any) -> Any:
        return self._found[place]

    def __len__(self) -> int:
        return len(self._found)


def judged(trial: Trial, outcome: Outcome) -> Outcome:
    """The outcome with its doubts; a failure if one of them is gross."""
    if isinstance(outcome, Failure):
        return outcome
    doubts = doubts_of(trial, outcome)
    if not doubts:
        return outcome
    gross = next((doubt for doubt in doubts if doubt.gross), None)
    if gross is None:
        return replace(outcome, doubts=doubts)
    return Failure(
        reason=FailureReason.IMPOSSIBLE_VALUES,
        message=gross.text,
        hint=gross.hint,
        commands=outcome.commands,
        started=outcome.started,
        duration_s=outcome.duration_s,
        machine=outcome.machine,
    )
