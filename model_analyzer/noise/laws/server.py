# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the server: what its own times and counts say about those of the client."""

from __future__ import annotations

from model_analyzer.domain.measurements import Doubt
from model_analyzer.domain.models import ModelConfig, ModelVariant, is_cached, is_decoupled
from model_analyzer.domain.numbers import number_text
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.noise.laws.case import Case
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
