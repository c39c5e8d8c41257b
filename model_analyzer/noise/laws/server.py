# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the server: what its own times and counts say about those of the client."""

from __future__ import annotations

from model_analyzer.domain.measurements import Doubt
from model_analyzer.domain.models import ModelConfig, ModelVariant, is_cached, is_decoupled
from model_analyzer.domain.numbers import number_text
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.domain.words import counted
from model_analyzer.noise.laws.case import RESPONSES, TOKENS, Case
from model_analyzer.noise.parts import add_up

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
    at the same time (`noise.parts`).
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
